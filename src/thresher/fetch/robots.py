"""What a robots.txt says to us: RFC 9309, pure. Getting the file, and keeping it, is `rulebook.py`.

The matching is protego's. Before it sees the file, the lines for agents that cannot be us are folded into one: a file
of ten thousand agents times ten thousand rules would otherwise become a hundred million rules in memory.
"""

import codecs
import re
from dataclasses import dataclass, field

from protego import Protego
from protego._utils import _quote_path

# RFC 9309 §2.5: at least this much has to be read. What comes after it is not.
MOST_BYTES = 500 * 1024
# A line longer than this says nothing that a URL could match.
MOST_LINE = 16_384
_NOBODY = "-"

_AGENT_LINE = re.compile(r"\s*(?:user-agent|useragent|user\s+agent)\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether a URL may be fetched, and the line that says so; None where no line speaks of it."""

    allowed: bool
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What one file says to one agent. `crawl_delay` is in seconds."""

    agent: str
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()
    _file: Protego | None = field(default=None, repr=False, compare=False)

    def allows(self, url: str) -> bool:
        """Whether a URL may be fetched. /robots.txt itself always may."""
        return self._file is None or self._file.can_fetch(url, self.agent)

    def ruling(self, url: str) -> Ruling:
        """Whether, and by which line: slower, for whoever has to be told."""
        return Ruling(self.allows(url), self._line(url))

    def _line(self, url: str) -> str | None:
        """The line that decided. Protego does not tell, so its own rules are asked once more, in its own order."""
        group = self._file._get_matching_rule_set(self.agent) if self._file else None  # noqa: SLF001  there is no public way
        if group is None:
            return None
        path = _quote_path(url)
        deciding = (rule for rule in group._rules if rule.value.match(path))  # noqa: SLF001
        return next((f"{rule.field.capitalize()}: {rule.value._pattern}" for rule in deciding), None)  # noqa: SLF001


def read_rules(body: bytes, agent: str) -> Rules:
    """The rules in a file, for the agent with this product token. What is no rule file has no rules."""
    text = _text(body)
    if text.lstrip()[:1] == "<":
        return Rules(agent)  # a page that came instead of the file: a login form forbids nothing
    file = Protego.parse(_for_us(text, agent.lower()))
    return Rules(agent, file.crawl_delay(agent), tuple(file.sitemaps), file)


def _text(body: bytes) -> str:
    whole = body[:MOST_BYTES]
    coding = next((coding for bom, coding in _BOMS if whole.startswith(bom)), "utf-8")
    text = whole.decode(coding, "replace").removeprefix("\ufeff").replace("\x00", "")
    # The last line of a cut file may be half of one: "Disallow: /pri" forbids more than was meant.
    return text if len(body) <= MOST_BYTES else text[: max(text.rfind("\n"), text.rfind("\r")) + 1]


def _for_us(text: str, agent: str) -> str:
    return "\n".join(_folded(line, agent) for line in text.splitlines() if len(line) <= MOST_LINE)


def _folded(line: str, agent: str) -> str:
    found = _AGENT_LINE.match(line)
    if not found:
        return line
    named = found[1].strip().lower()
    return line if not named or named == "*" or named.replace("*", "") in agent else f"User-agent: {_NOBODY}"
