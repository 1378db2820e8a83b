"""Parse and match robots.txt (RFC 9309), pure. Fetching and caching the file is `robots_cache.py`.

Where authors, the RFC and the large crawlers disagree, the more careful reading counts: what some reader
would take as forbidden is not fetched. So a Disallow is compared after every escape has been undone, an Allow
almost as it is written.

A rule is a few literal pieces with `*` between them, matched one after the other from the left. That takes
time in proportion to the URL, whatever the pattern.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from string import ascii_letters, digits

# RFC 9309 §2.5: at least this much has to be read. What comes after it is not.
MAX_BYTES = 500 * 1024
# A longer line is cut, as the large crawlers do.
MAX_LINE = 16_384

_UNRESERVED_MARKS = "-._~"
_UNRESERVED = ascii_letters + digits + _UNRESERVED_MARKS
# Characters that stay as they are. `*` and `$` are not among them: in a URL they are ordinary, in a rule they
# are not.
_PLAIN = _UNRESERVED + ":/?#[]@!&'()+,;="
_SPELLED = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{re.escape(_PLAIN)}]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_FIELD = re.compile(r"\s*([^:\s]+(?:\s+agent)?)\s*(?::|\s)\s*(.*)", re.IGNORECASE | re.DOTALL)
_NAMES = {
    "user-agent": "agent",
    "useragent": "agent",
    "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "crawl-delay": "delay",
    "crawldelay": "delay",
    "sitemap": "sitemap",
    "site-map": "sitemap",
}
_PRODUCT = re.compile(r"[A-Za-z_-]*")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?(?![0-9])")
_WAY = re.compile(r"(?://|[^/?;#]*://)?[^/?;#]*([^#]*)", re.DOTALL)
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class RobotsRuling:
    """Whether a URL may be fetched, and the line that says so; None where no line speaks of it."""

    allowed: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One Allow or Disallow line. `pieces` stand in this order, with anything in between; `whole`: nothing
    may follow the last.
    """

    allows: bool
    written: str
    pieces: tuple[str, ...]
    whole: bool = False

    @property
    def length(self) -> int:
        """How specific it is: the rule with the most octets decides."""
        return sum(map(len, self.pieces)) + len(self.pieces) - 1 + self.whole

    def covers(self, path: str) -> bool:
        first, *others = self.pieces
        if self.whole and not others:
            return path == first
        if not path.startswith(first):
            return False
        last = others.pop() if self.whole else ""
        at = len(first)
        for piece in others:
            # The leftmost place leaves the most to those that follow, so nothing is ever tried twice.
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return path.endswith(last) and at + len(last) <= len(path)


@dataclass(slots=True)
class _Group:
    """Agents that share rules, while the file is read. Only what may concern us is collected."""

    names_us: bool = False
    names_all: bool = False
    closed: bool = False
    rules: list[RobotsRule] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)

    @property
    def concerns_us(self) -> bool:
        return self.names_us or self.names_all


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one file says to one agent. `crawl_delay` is in seconds."""

    agent: str
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    _rules: tuple[RobotsRule, ...] = field(default=(), repr=False, compare=False)

    def allows(self, url: str) -> bool:
        """Whether a URL may be fetched. /robots.txt itself always may."""
        return self.ruling(url).allowed

    def ruling(self, url: str) -> RobotsRuling:
        """Whether, and by which line."""
        path = _path(url)
        if path == "/robots.txt":
            return RobotsRuling(allowed=True)
        forms = {True: _escaped(path, undone=_UNRESERVED_MARKS, foreign=False), False: _escaped(path)}
        rule = next((each for each in self._rules if each.covers(forms[each.allows])), None)
        return RobotsRuling(allowed=True) if rule is None else RobotsRuling(rule.allows, rule.written)


def read_rules(body: bytes, agent: str) -> RobotsRules:
    """The rules in a file, for the agent with this product token. What is no rule file has no rules."""
    text = _text(body)
    if text.lstrip()[:1] == "<":
        return RobotsRules(agent)  # a page that came instead of the file: a login form forbids nothing
    groups, sitemaps = _read(text, agent.lower())
    ours = [group for group in groups if group.names_us] or [group for group in groups if group.names_all]
    rules = [rule for group in ours for rule in group.rules]
    if " " in agent.strip():  # no product token, so nobody can have allowed it anything
        rules = [rule for group in groups for rule in group.rules if not rule.allows]
    delays = [delay for group in ours for delay in group.delays]
    ordered = sorted(rules, key=lambda rule: (-rule.length, not rule.allows))
    return RobotsRules(agent, max(delays, default=None), tuple(sitemaps), tuple(ordered))


def _text(body: bytes) -> str:
    whole = body[:MAX_BYTES]
    for bom, coding in _BOMS:
        if whole.startswith(bom):
            text = whole.decode(coding, "replace").removeprefix("\ufeff")
            break
    else:
        mark = next(
            (codecs.BOM_UTF8[:length] for length in (3, 2, 1) if whole.startswith(codecs.BOM_UTF8[:length])),
            b"",
        )
        text = whole.removeprefix(mark).decode(
            "utf-8", "surrogateescape"
        )  # other bytes are kept: they are compared escaped
    text = text.replace("\x00", "")
    # The last line of a cut file may be half of one: "Disallow: /pri" forbids more than was meant.
    return text if len(body) <= MAX_BYTES else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _read(text: str, agent: str) -> tuple[list[_Group], list[str]]:
    """The groups that concern us, and the sitemaps. Lines that nobody knows change nothing, wherever they
    stand.
    """
    groups: list[_Group] = [_Group(closed=True)]
    sitemaps: list[str] = []
    for name, value, cut in _lines(text):
        group = groups[-1]
        if name == "sitemap":
            sitemaps += [value] if value else []
        elif name == "agent":
            if group.closed:
                if not group.concerns_us:
                    groups.pop()
                group = _Group()
                groups.append(group)
            group.names_all |= value[:1] == "*" and not value[1:2].strip()
            group.names_us |= _names_us(value, agent)
        else:
            group.closed = True
            if group.concerns_us and name == "delay":
                group.delays += [float(found[0])] if (found := _SECONDS.match(value)) else []
            elif group.concerns_us and not (cut and name == "allow"):
                group.rules += _rules(name, value)
    return groups, sitemaps


def _lines(text: str) -> Iterator[tuple[str, str, bool]]:
    for line in _LINE_END.split(text):
        found = _FIELD.match(line[:MAX_LINE].partition("#")[0])
        name = _NAMES.get(" ".join(found[1].lower().split())) if found else None
        if found and name:
            yield name, found[2].strip(), len(line) > MAX_LINE


def _names_us(value: str, agent: str) -> bool:
    """Whether a User-agent line names our product: up to the first character that no product token has."""
    word = next(iter(value.lower().split()), "")
    if not word or word == "*" or not agent:
        return False
    named = agent in (word, _product(word), word.replace("*", "")) or word == _product(agent)
    return named or (" " in agent and word in agent)


def _product(name: str) -> str:
    found = _PRODUCT.match(name)
    return found[0] if found else ""


def _rules(name: str, value: str) -> Iterable[RobotsRule]:
    """The rules of one line; a second one where a line can be read in two ways."""
    if not value:
        return
    if name == "allow":
        yield _rule(True, value, value)
        if value.endswith("/index.html"):  # the page behind the folder's own address
            yield _rule(True, value, value.removesuffix("index.html") + "$")
        return
    pattern = value if value[0] in "/*" else f"/{value}"
    yield _rule(False, value, pattern)
    if pattern.endswith("$"):
        yield _rule(False, value, f"{pattern[:-1]}%24")


def _rule(allows: bool, written: str, pattern: str) -> RobotsRule:
    whole = pattern.endswith("$")
    undone = _UNRESERVED_MARKS if allows else _UNRESERVED
    pieces = tuple(_escaped(piece, undone=undone) for piece in pattern.removesuffix("$").split("*"))
    return RobotsRule(allows, f"{'Allow' if allows else 'Disallow'}: {written}", pieces, whole)


def _path(url: str) -> str:
    """Path and query of a URL, of whatever is left of one."""
    found = _WAY.match(url)
    rest = found[1] if found else ""
    return rest if rest.startswith("/") else f"/{rest}"


def _escaped(text: str, *, undone: str = _UNRESERVED, foreign: bool = True) -> str:
    """The one spelling in which rules and URLs are compared. Escapes of `undone` are undone, everything
    unusual is escaped.
    """

    def spelled(found: re.Match[str]) -> str:
        part = found[0]
        if len(part) == 3:
            meant = chr(int(part[1:], 16))
            return meant if meant in undone else part.upper()
        if not (foreign or part.isascii()):
            return part
        return "".join(f"%{octet:02X}" for octet in part.encode("utf-8", "surrogateescape"))

    return _SPELLED.sub(spelled, text)
