"""Walls: is this the page that was asked for, or what a protection put in its place?

A wall is a short page whose main matter is to keep us out. So nothing here judges by one word: an article
about CAPTCHAs is long, a contact form with a CAPTCHA has other fields, and a shop behind a protection loads
its script on every page. The wall's own scripts, its own words in the title or headings, and how little else
there is decide together.
"""

from collections.abc import Mapping
from functools import cached_property

from thresher.reading.html.parser import Node, parse
from thresher.reading.text.vocabulary import plain, vocabulary, words

LARGE = 600_000  # characters of markup: walls are smaller, even those that carry their script inside
LITTLE = 1_500  # characters of visible text under which a wall's words in the text are enough
SHORT = 3_500  # above it no page is a wall, whatever it loads
MAX_TRANSLATED = 12_000  # unless its title is a wall's: some say all they say in ten languages
ENOUGH = 3 * SHORT  # characters of which more than SHORT are letters, on any page of text
MAX_WALL_FIELDS = 1
MANY_LINKS = 30
MAX_LINKS = 100
_REFUSALS = frozenset({401, 403, 405, 406, 418, 429, 451, 503})
_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_UNSHOWN = (
    "script, style, template, noscript, noembed, noframes, textarea, select, datalist, svg, iframe, object"
)
_FIELDS = "input[type=text], input[type=email], input[type=tel], input[type=search], input:not([type]), textarea, select"


class _Shown:
    """What a reader would see of the page. Each part is read when it is first asked for: for most pages, few
    are.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self.body = root.css_first("body") or root
        self.line = self.body.line

    @property
    def length(self) -> int:
        """The length of `text`, without making it: there is one letter that takes two in lower case."""
        return len(self.line) + self.line.count("İ")

    @cached_property
    def text(self) -> str:
        return plain(self.line)

    @cached_property
    def title(self) -> str:
        return " ".join(node.line for node in self.root.css("head > title, h1")[:4])

    @cached_property
    def headline(self) -> str:
        return " ".join(node.line for node in self.root.css("head > title, h1, h2, h3")[:12])

    @cached_property
    def fields(self) -> int:
        return len(self.body.css(_FIELDS))

    @cached_property
    def links(self) -> int:
        return len(self.body.css("a[href]"))

    @cached_property
    def password(self) -> bool:
        return self.body.css_first("input[type=password]") is not None


def wall(status: int, headers: Mapping[str, str], text: str) -> str | None:
    """Why we think that a wall stands here, as a phrase to put after "blocked by"; None for an ordinary page.

    `headers` have lower-case names; `text` is the markup as it came, or the text of an answer that is not
    HTML.
    """
    return wall_of_html(status, text) if needs_tree(headers, text) else wall_without_tree(headers, text)


def needs_tree(headers: Mapping[str, str], text: str) -> bool:
    """Whether only the tree of the page can tell. Of most answers that are no page, and of large pages, there
    is no need to build it.
    """
    if _by_header(headers) or len(text) > LARGE or text.count("<a ") > MAX_LINKS:
        return False
    return text.lstrip()[:1] not in ("{", "[")


def wall_without_tree(headers: Mapping[str, str], text: str) -> str | None:
    """What `wall` says where no tree is needed."""
    if why := _by_header(headers):
        return why
    return _by_data(text) if len(text) <= LARGE and text.lstrip()[:1] in ("{", "[") else None


def wall_of_html(status: int, text: str) -> str | None:
    """What `wall` says of a page, from its tree."""
    root = parse(text)
    return None if _shows_much(root) and not _is_titled(root) else _thorough(status, text, root)


def _shows_much(root: Node) -> bool:
    """Whether the page shows more than any wall does, counted without laying its text out: that would take
    longer than all the rest.

    Letters only, and none of what stands in elements that show their text differently or not at all. So it is
    too low rather than too high, and the thorough look decides about the rest.
    """
    body = root.css_first("body") or root
    text = body.text
    if len(text) <= SHORT:
        return False
    unshown = sum(len(node.text) for node in body.css(_UNSHOWN))
    beginning = text[: ENOUGH + unshown] if unshown <= ENOUGH else ""
    return len(beginning) - sum(map(beginning.count, _SPACES)) - unshown > SHORT


def _is_titled(root: Node) -> bool:
    """Whether the page is titled as a wall. Headings do not count: an article about walls has such ones."""
    title = root.css_first("head > title")
    return title is not None and words("wall").names(title.line)


def thorough(status: int, text: str) -> str | None:
    """What `wall` says of HTML, from the whole page."""
    return _thorough(status, text, parse(text))


def _thorough(status: int, text: str, root: Node) -> str | None:
    shown = _Shown(root)
    if shown.length > SHORT:
        is_candidate = shown.length <= MAX_TRANSLATED and _is_titled(root)
        return _by_script(text.lower(), shown) if is_candidate else None
    if shown.length > LITTLE and status not in _REFUSALS and not words("wall").names(shown.headline):
        return None  # a page of some length that was not refused is a wall only if its headline says so
    markup = text.lower()
    if not any(root in markup for root in vocabulary("wall")["roots"]):
        return _by_words(status, "", shown) or _by_sign_in(status, shown)
    return (
        _by_script(markup, shown)
        or _by_words(status, markup, shown)
        or _by_consent(markup, shown)
        or _by_sign_in(status, shown)
    )


def _by_header(headers: Mapping[str, str]) -> str | None:
    return next(
        (why for name, piece, why in vocabulary("wall")["headers"] if piece in headers.get(name, "").lower()),
        None,
    )


def _by_data(text: str) -> str | None:
    """Where JSON was asked for, some walls answer with JSON that only says where their puzzle is."""
    markup = text.lower() if len(text) <= LITTLE else ""
    return next(
        (
            why
            for why, needles in vocabulary("wall")["scripts"].items()
            if any(needle in markup for needle in needles)
        ),
        None,
    )


def _by_script(markup: str, shown: _Shown) -> str | None:
    """The wall's own script; a page that shows the words as text only writes about it."""
    for why, needles in vocabulary("wall")["scripts"].items():
        if any(needle in markup and needle not in shown.text for needle in needles):
            return str(why)
    return None


def _by_words(status: int, markup: str, shown: _Shown) -> str | None:
    phrases = words("wall")
    captcha = any(needle in markup for needle in vocabulary("wall")["captchas"])
    said = phrases.quote(shown.headline)
    if said and (captcha or status in _REFUSALS or shown.length <= LITTLE):
        return f'a page that says "{said}"'
    said = words("wall", "headlines").quote(shown.headline) if shown.length <= LITTLE else None
    if (
        said
        and shown.fields <= MAX_WALL_FIELDS
        and (captcha or status in _REFUSALS or _says_little_else(shown))
    ):
        return f'a page with the heading "{said}"'
    said = phrases.quote(shown.text) if shown.length <= LITTLE else None
    if (
        said
        and shown.fields <= MAX_WALL_FIELDS
        and (captcha or status in _REFUSALS or _says_little_else(shown))
    ):
        return f'a page that says "{said}"'
    if captcha and shown.fields == 0 and not shown.password and _says_little_else(shown):
        return "a CAPTCHA with nothing else on the page"
    return None


def _by_consent(markup: str, shown: _Shown) -> str | None:
    known = vocabulary("wall")["consent"] + (
        vocabulary("wall")["consent_walls"] if shown.length <= LITTLE // 2 else ()
    )
    asks = any(needle in markup and needle not in shown.text for needle in known)
    return (
        "a page that asks for consent first"
        if asks and shown.fields == 0 and shown.links <= MANY_LINKS
        else None
    )


def _by_sign_in(status: int, shown: _Shown) -> str | None:
    """A page whose headline asks to sign in and that holds little but the form."""
    asked = words("wall", "sign_in").quote(shown.title) if shown.password else None
    if asked and shown.fields <= MAX_WALL_FIELDS + 1 and (status in _REFUSALS or shown.length <= LITTLE // 2):
        return f'a sign-in page ("{asked}")'
    return None


def _says_little_else(shown: _Shown) -> bool:
    return shown.length <= LITTLE // 3 and shown.links <= 15
