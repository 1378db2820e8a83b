"""When a page itself says that there is nothing, and when it is a shell that a script must fill first.

Nothing found is not nothing there. Only the page's own statement counts, where it is the main content: in its
title or a headline, or alone in a block while no rows are shown. Text hidden for a script to show later is no
statement.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import islice
from urllib.parse import parse_qsl, urlsplit

from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, Text
from thresher.reading.text.vocabulary import plain, vocabulary, words

LITTLE = 1_500  # characters of text on the whole page
MAX_LENGTH = 240  # characters: a statement is a sentence, not a paragraph that happens to hold the words
MAX_BLOCKS = 20_000
MAX_TEXT = 100_000
MAX_LEVELS = 60
_BLOCKS = ("p", "div", "span", "li", "td", "strong", "b", "h4", "h5", "h6", "section", "article", "em", "dd")
_SPAN = re.compile(
    r"(?<!\d)\d{1,6}\s?[-–]\s?\d{1,6} (?:of|von|de|di|van|sur|av|af|z|из|out of) (?:about |over )?[1-9]"
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNSEEN = re.compile(r"(?<![a-zA-Z])(?:hidden|hide|d-none|invisible|ng-hide|is-hidden|collapse)(?![a-zA-Z])")
_WORDS_BETWEEN = r"(?:[^\s\d]\S* ){0,6}"


@dataclass(frozen=True, slots=True)
class Statement:
    """What the page says, and whether it says so in its title or a headline."""

    quote: str
    is_headline: bool


def statement(document: Document) -> Statement | None:
    """The page's own statement that there is nothing, the most prominent one."""
    headlines = [
        document.title,
        *(node.line for node in document.root.css("h1, h2")[:10] if not _is_hidden(node)),
    ]
    for headline in headlines:
        if _says_so(headline):
            return Statement(headline[:MAX_LENGTH], is_headline=True)
    if not _may_say_so(document):
        return None
    return next(
        (Statement(line, is_headline=False) for node in _blocks(document) if (line := _said(node))), None
    )


def is_main(said: Statement, document: Document, characters: int) -> bool:
    """Whether the statement is what the page is about: in its headline, on a page of results, or with little
    else beside it.

    A map widget that says "no results" on a page about a restaurant says nothing about the restaurant.
    """
    return said.is_headline or characters <= LITTLE or _is_search(document.url)


def _is_search(url: str) -> bool:
    parts = urlsplit(url)
    asked = any(
        name.lower() in vocabulary("empty")["asked"] and value for name, value in parse_qsl(parts.query)
    )
    return asked or any(
        segment.partition(".")[0] in vocabulary("empty")["sought"]
        for segment in parts.path.lower().split("/")
    )


def counts_rows(document: Document, text: str) -> bool:
    """Whether the page counts more than none: in its title or a headline, or as "1 - 20 of 406" anywhere."""
    headlines = (document.title, *(node.line for node in document.root.css("h1, h2")[:10]))
    return (
        any(_some().search(plain(line)) for line in headlines if len(line) <= MAX_LENGTH)
        or _SPAN.search(text[:MAX_TEXT]) is not None
    )


def _says_so(line: str) -> bool:
    """In a headline a count of nothing will do; elsewhere it may count a shopping basket."""
    return (
        bool(line)
        and len(line) <= MAX_LENGTH
        and (words("empty").names(line) or bool(_zero().search(plain(line))))
    )


def says_none(line: str) -> bool:
    """Whether a sentence that is known to be about the results of a search says that there are none.

    More is understood than on a page, where the same words may be about something else.
    """
    return _says_so(line) or (
        len(line) <= MAX_LENGTH
        and _none().search(plain(line)) is not None
        and _some().search(plain(line)) is None
    )


@cache
def _none() -> re.Pattern[str]:
    """`No python developer jobs found in Boston`, `keine passenden Stellen`."""
    none, counted = (
        "|".join(map(re.escape, sorted(vocabulary("empty")[name], key=len, reverse=True)))
        for name in ("none", "counted")
    )
    return re.compile(rf"(?<!\w)(?:{none}) {_WORDS_BETWEEN}(?:{counted})(?!\w)")


@cache
def _some() -> re.Pattern[str]:
    """A count of something: `1,240 openings`, `12 Rust developer positions`."""
    counted = "|".join(map(re.escape, sorted(vocabulary("empty")["counted"], key=len, reverse=True)))
    return re.compile(
        rf"(?<![\d.,])(?=[\d.,]{{0,12}}[1-9])\d[\d.,]{{0,12}}\+? {_WORDS_BETWEEN}(?:{counted})(?!\w)"
    )


@cache
def _zero() -> re.Pattern[str]:
    """A count of nothing: `0 forklift drivers in Leeds: 0 results`, but not `10 results` nor `$0
    delivery`.
    """
    counted = "|".join(map(re.escape, sorted(vocabulary("empty")["counted"], key=len, reverse=True)))
    return re.compile(rf"(?:^|[\s(:|])0 {_WORDS_BETWEEN}(?:{counted})(?!\w)")


def _may_say_so(document: Document) -> bool:
    text = plain(document.html)
    return any(phrase in text for phrase in words("empty").phrases)


def _blocks(document: Document) -> list[Node]:
    body = document.root.css_first("body") or document.root
    return list(islice(body.walk(*_BLOCKS), MAX_BLOCKS))


def _said(node: Node) -> str | None:
    """The statement of this block, if it is one: in its own text, short, and shown."""
    own = " ".join(node.own_text.split())
    if not own or len(own) > MAX_LENGTH or not words("empty").names(own) or _is_hidden(node):
        return None
    return own


def _is_hidden(node: Node) -> bool:
    for each in (node, *islice(node.ancestors, MAX_LEVELS)):
        if each.tag in (
            "template",
            "noscript",
            "nav",
            "header",
            "footer",
            "aside",
            "dialog",
            "option",
            "select",
        ):
            return True
        if each.attribute("hidden") is not None or (each.attribute("aria-hidden") or "").lower() == "true":
            return True
        if _HIDDEN.search(each.attribute("style") or "") or _UNSEEN.search(each.attribute("class") or ""):
            return True
    return False


# Script shells: pages that are empty until a script has fetched and drawn everything.

LITTLE_TEXT = 600  # characters of visible text above which there is something to read
LITTLE_PROSE = 300  # the same without links, menus and forms
LONG_LINK = 22  # characters: links of menus are shorter
ENOUGH_ROWS = 5
_NO_PROSE = frozenset(
    (
        *("nav", "header", "footer", "aside", "button", "select", "dialog", "menu"),
        *("script", "style", "noscript", "template", "svg", "iframe", "head"),
    )
)
_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main-app, #react-root, #app-root, #application, "
    "app-root, [ng-app], [ng-version], [data-reactroot], [data-server-rendered], [id$='-root'], [id$='-app']"
)


def shell(document: Document) -> str | None:
    """Why the page must be rendered before it can be read; None where it can be read as it is."""
    body = document.root.css_first("body") or document.root
    unscripted = [node.line for node in body.css("noscript")[:20]]
    shown = _without(body.line, unscripted)
    if document.root.css_first("script") is None:
        return None
    if len(shown) > LITTLE_TEXT:
        return _menus_around_nothing(body, shown, unscripted)
    if any(words("shell").names(line) for line in unscripted):
        return "the page asks for JavaScript and shows nothing without it"
    if any(_is_bare(node) for node in body.css(_ROOTS)[:50]):
        return "the page is an empty frame for a script to fill"
    if words("shell", "waiting").names(shown):
        return "the page only says that it is loading"
    return None


def _menus_around_nothing(body: Node, shown: str, unscripted: list[str]) -> str | None:
    """Why a page with much text has nothing to read: all of it is menus around the place that a script
    fills.
    """
    prose, rows = _prose(body)
    if prose > LITTLE_PROSE or prose * 4 > len(shown) or rows >= ENOUGH_ROWS:
        return None
    roots = any(_prose(node)[0] <= LITTLE_PROSE for node in body.css(_ROOTS)[:5])
    asks = any(words("shell").names(line) for line in unscripted)
    return "the page shows its menus and leaves the rest to a script" if roots or asks else None


def _prose(node: Node) -> tuple[int, int]:
    """The characters that are neither link nor menu nor form, and the links outside of menus that say as much
    as the row of a list does.
    """
    prose = rows = 0
    stack: list[Element] = [node.raw]
    while stack:
        for child in stack.pop():
            if isinstance(child, Text):
                prose += len(child.data.strip())
            elif isinstance(child, Element) and child.tag == "a":
                rows += len(child.text.strip()) >= LONG_LINK
            elif isinstance(child, Element) and child.tag not in _NO_PROSE:
                stack.append(child)
    return prose, rows


def is_shell(page: Page) -> bool:
    """Whether a page must be rendered before it can be read."""
    return shell(Document.of(page)) is not None


def _without(text: str, pieces: list[str]) -> str:
    for piece in pieces:
        text = text.replace(piece, "", 1) if piece else text
    return text


def _is_bare(node: Node) -> bool:
    return len(node.line) < LITTLE_TEXT // 2
