"""How a list goes on, as a configuration can say it: an address with `{page_num}` or `{offset}` in it.

`thresher.reading.lists` finds the links of a pager. Here their addresses are compared: the one number that
changes with the label counts pages, from 1 or from 0, or rows. A list that only ever names its next page is
followed page by page. Nothing is believed of how many pages there are; that is for the samples to prove.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import ClassVar
from urllib.parse import parse_qsl, urlsplit

from thresher.apps.extractions.model import Pagination, PagingKind
from thresher.apps.extractions.walking.paging import HOLES, URL, paged_url
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.lists.pager import MORE, Pager
from thresher.reading.lists.pagination import pagination
from thresher.reading.text.vocabulary import vocabulary

PAGE_NUM, OFFSET = HOLES[PagingKind.PAGE_NUM], HOLES[PagingKind.OFFSET]
MAX_NUMBER = 1_000_000_000  # of a page: more is no number but an id
MAX_PAGES = 1_000_000  # a list that claims more is not believed
MAX_POINTS = 60
MAX_TEXT = 20_000  # characters that are searched for a count
MAX_NODES = 50_000
MAX_ABOVE = 60  # elements above a button
COUNTED_HERE = "courses?|programs?|programmes?|records?|entries|articles?|statements|einträge|hits"
OVERLOOKED = 1.25  # times the rows that were seen, a page may have in truth
_DIGITS = re.compile(r"\d+")
_PAGE_NAMES = re.compile(
    r"(?:.*[_.\[-])?(?:page|paged|pg|p|pn|pageno|page_?num|pagenumber|page_?index|current_?page|seite|pagina|strona|sida|side)\]?",
    re.IGNORECASE,
)
_OFFSET_NAMES = re.compile(
    r"(?:.*[_.\[-])?(?:start|offset|from|skip|begin|first|startrow|start_?index|startat|o)\]?", re.IGNORECASE
)
_CURSOR_NAMES = re.compile(r"(?:.*[_.-])?(?:cursor|after|page_?token|continuation|next|since)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z][\w-]{0,60}")


@dataclass(frozen=True, slots=True)
class Paging:
    """What one page says about how its list goes on. `step` is the number of rows that an offset skips, 1
    where pages are counted; `first` the number in the address of the first page. `number` is the page it
    stands on, counted from 1, `last` the highest that it names, `total` the rows that it claims.
    """

    NOT_STORED: ClassVar = (None, ())

    kind: PagingKind = PagingKind.NEXT_LINK
    url_pattern: str | None = None
    first: int = 1
    step: int = 1
    number: int | None = None
    last: int | None = None
    total: int | None = None
    next: str | None = None
    selector: str | None = None
    disagreements: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        return self.url_pattern is not None

    def claimed_pages(self, rows: int) -> int | None:
        """The number of pages that the page claims; None where it does not say."""
        size = self.step if self.kind is PagingKind.OFFSET else rows
        by_total = math.ceil(self.total / size) if self.total and size else None
        found = self.last or by_total
        return found if found is not None and found <= MAX_PAGES else None


def page_address(paging: Paging, place: int, list_url: str) -> str | None:
    """The address of a page of a counted list, as the walk will make it; 0 is the first."""
    return paged_url(as_pagination(paging), list_url, place)


def read_paging(document: Document, rows: int) -> Paging | None:
    """How the list of a page goes on; None where the page does not say that it does."""
    found, pager = pagination(document), Pager(document)
    labelled = [(each.number, each.url) for each in pager.numbered if each.number is not None]
    counted = _counted(labelled, found.number, document.url) or _by_next(found.next, document.url, rows)
    total = found.total if found.total is not None else _stated_total(document, rows)
    # The walk counts offsets from 0. A list that counts them from 1 is followed link by link.
    if counted is not None and (labelled or total) and not (OFFSET in counted[0] and counted[1]):
        url_pattern, first, step = counted
        kind = PagingKind.OFFSET if OFFSET in url_pattern else PagingKind.PAGE_NUM
        return Paging(
            kind,
            url_pattern,
            first,
            step,
            found.number,
            found.last_number,
            total,
            found.next,
            disagreements=found.disagreements,
        )
    if found.next is not None:
        kind = PagingKind.CURSOR if _is_cursor(found.next, document.url) else PagingKind.NEXT_LINK
        return Paging(
            kind, number=found.number, total=total, next=found.next, disagreements=found.disagreements
        )
    if found.more is not None and (selector := _more_selector(document)) is not None:
        return Paging(PagingKind.LOAD_MORE, total=total, selector=selector)
    return None


# --- addresses that count


@dataclass(frozen=True, slots=True)
class _Numbers:
    """An address with its numbers taken out: what is left, and the numbers in order."""

    rest: tuple[str, ...]
    numbers: tuple[int, ...]


def _apart(url: str) -> _Numbers | None:
    try:
        spelled = canonical_url(url)
    except InvalidUrl:
        return None
    start = len(spelled) - len(spelled.partition("://")[2].partition("/")[2])
    head, tail = spelled[:start], spelled[start:]
    numbers = tuple(int(each) if len(each) <= 10 else -1 for each in _DIGITS.findall(tail))
    return _Numbers((head, *_DIGITS.split(tail)), numbers)


def _counted(
    labelled: Sequence[tuple[int, str]], current: int | None, here: str
) -> tuple[str, int, int] | None:
    """The pattern, its first number and its step, where one number of the addresses follows the label. The
    first page is often written without a number, so a few may differ in the rest.
    """
    points = [(number, parts) for number, url in labelled[:MAX_POINTS] if (parts := _apart(url)) is not None]
    own = _apart(here) if current is not None else None
    if own is not None and current is not None:
        points.append((current, own))
    groups: dict[tuple[str, ...], dict[int, _Numbers]] = {}
    for number, parts in points:
        groups.setdefault(parts.rest, {})[number] = parts
    for group in sorted(groups.values(), key=len, reverse=True):
        if (found := _fitted(group)) is not None:
            return found
    return None


def _fitted(group: dict[int, _Numbers]) -> tuple[str, int, int] | None:
    size = len(next(iter(group.values())).numbers)
    moving = [at for at in range(size) if len({parts.numbers[at] for parts in group.values()}) > 1]
    if len(group) == 1:
        (label, parts), moving = next(iter(group.items())), list(range(size))
        return next((_lone(label, parts, at) for at in reversed(moving) if _lone(label, parts, at)), None)
    if len(moving) != 1:
        return None
    at = moving[0]
    values = {label: parts.numbers[at] for label, parts in group.items()}
    line = _line(values)
    if line is None:
        return None
    step, first = line
    return _pattern(next(iter(group.values())), at, step), first, step


def _line(values: dict[int, int]) -> tuple[int, int] | None:
    """Step and first number of values that lie on one line over their labels; None where they do not."""
    (low, at_low), (high, at_high) = min(values.items()), max(values.items())
    step, rest = divmod(at_high - at_low, high - low)
    if rest or not 0 < step < MAX_NUMBER or min(values.values()) < 0:
        return None
    if any(value != at_low + (label - low) * step for label, value in values.items()):
        return None
    first = at_low - (low - 1) * step  # labels count from 1, whatever the addresses do
    if low == 0:
        first = at_low
    return (step, first) if first >= 0 else None


def _lone(label: int, parts: _Numbers, at: int) -> tuple[str, int, int] | None:
    """From one labelled address alone: only where the name of the parameter says what it counts."""
    name, value = _name_before(parts, at), parts.numbers[at]
    if _PAGE_NAMES.fullmatch(name) and value in (label, label - 1) and label > 1:
        return _pattern(parts, at, 1), value - label + 1, 1
    if _OFFSET_NAMES.fullmatch(name) and label > 1 and value >= label - 1 and value % (label - 1) in (0, 1):
        step = value // (label - 1)
        return (_pattern(parts, at, step), value - step * (label - 1), step) if step > 1 else None
    return None


def _name_before(parts: _Numbers, at: int) -> str:
    """The word in front of a number: the parameter's name, or the segment before it."""
    before = parts.rest[at + 1]
    return re.split(r"[/?&]", before.rstrip("=/-_"))[-1]


def _pattern(parts: _Numbers, at: int, step: int) -> str:
    hole = PAGE_NUM if step == 1 else OFFSET
    filled = [hole if place == at else str(number) for place, number in enumerate(parts.numbers)]
    between = zip(parts.rest[1:], [*filled, ""], strict=True)
    return parts.rest[0] + "".join(text + number for text, number in between)


def _by_next(following: str | None, here: str, rows: int) -> tuple[str, int, int] | None:
    """The same from the link to the next page alone, seen from the first page."""
    parts = _apart(following) if following else None
    if parts is None:
        return None
    for at in range(len(parts.numbers) - 1, -1, -1):
        value, name = parts.numbers[at], _name_before(parts, at)
        if _says(here, name):
            return None  # this is not the first page: nobody knows what the first one is called
        if _PAGE_NAMES.fullmatch(name) and value in (1, 2):
            return _pattern(parts, at, 1), value - 1, 1
        if _OFFSET_NAMES.fullmatch(name) and (size := _page_size(value, rows, parts)):
            return _pattern(parts, at, size), value - size, size
    return None


def _page_size(value: int, rows: int, parts: _Numbers) -> int | None:
    """The rows of a page, where the second one begins at `value`: as the address says beside it, or as many
    as were seen. A row or two may have been overlooked.
    """
    beside = [number for number in parts.numbers if number in (value, value - 1)]
    if len(beside) > 1:
        return min(beside)
    if value - 1 == rows:
        return rows
    return value if rows and rows <= value <= OVERLOOKED * rows + 2 else None


def _says(url: str, name: str) -> bool:
    try:
        return any(each == name for each, _ in parse_qsl(urlsplit(url).query))
    except ValueError:
        return False


def _is_cursor(following: str, here: str) -> bool:
    """Whether the next page is named by a token that only the site can make."""
    try:
        own, asked = dict(parse_qsl(urlsplit(here).query)), parse_qsl(urlsplit(following).query)
    except ValueError:
        return False
    changed = [(name, value) for name, value in asked if own.get(name) != value]
    return any(_CURSOR_NAMES.fullmatch(name) and not value.isdecimal() for name, value in changed)


def relative(pattern: str, list_url: str) -> str | None:
    """A pattern as it holds for other lists of the same level: `?page={page_num}`. None where the address of
    a page does not contain that of its list.
    """
    hole = PAGE_NUM if PAGE_NUM in pattern else OFFSET
    base, _, query = canonical_url(list_url).partition("?")
    head, _, asked = pattern.partition("?")
    own = {pair.partition("=")[0]: pair for pair in query.split("&") if pair}
    if head.rstrip("/") == base.rstrip("/"):
        fresh = [pair for pair in asked.split("&") if hole in pair]
        kept = [pair for pair in asked.split("&") if pair and hole not in pair]
        same = all(own.get(pair.partition("=")[0]) in (pair, None) for pair in kept)
        extra = "".join(f"&{pair}" for pair in kept if pair.partition("=")[0] not in own)
        return f"?{fresh[0]}{extra}" if len(fresh) == 1 and same else None
    tail = head.removeprefix(base.rstrip("/"))
    return f"{URL}{tail}" if tail != head and tail.startswith("/") and hole in tail and not asked else None


# --- totals and buttons


def _stated_total(document: Document, rows: int) -> int | None:
    """`84 results`: the first such count that is no smaller than what the page shows."""
    body = document.root.css_first("main") or document.root.css_first("body")
    text = body.line[:MAX_TEXT] if body else ""
    for match in _counts().finditer(text):
        count = int(re.sub(r"\D", "", match[1]))
        if count >= max(rows, 1):
            return count
    return None


@cache
def _counts() -> re.Pattern[str]:
    words = "|".join(map(re.escape, sorted(vocabulary("empty")["counted"], key=len, reverse=True)))
    number = r"(?<![\d.,])(\d{1,3}(?:[.,\u00a0 ]\d{3}){1,3}|\d{1,9})"
    return re.compile(rf"{number}\s{{1,3}}(?:{words}|{COUNTED_HERE})(?!\w)", re.IGNORECASE)


def _more_selector(document: Document) -> str | None:
    """A selector of our own making for the button that loads more: by id, by class, or by its place."""
    for node in document.root.css("button, a[role=button], a[class*='more' i], input[type=button]")[:500]:
        said = node.line or node.attribute("value") or ""
        if len(said) <= 40 and MORE.fullmatch(said.strip(" .…+↓")):
            return _named(document, node) or _placed(node)
    return None


def _named(document: Document, node: Node) -> str | None:
    """By a plain name that is the button's alone. Any other name could mean something in a selector."""
    every = list(islice(document.root.walk(), MAX_NODES))
    name = node.attribute("id") or ""
    if _NAME.fullmatch(name) and sum(each.attribute("id") == name for each in every) == 1:
        return f"#{name}"
    alike = [each for each in every if each.tag == node.tag]
    plain = [each for each in node.classes if _NAME.fullmatch(each)]
    alone = (each for each in plain if sum(each in other.classes for other in alike) == 1)
    return next((f"{node.tag}.{each}" for each in alone if _NAME.fullmatch(node.tag)), None)


def _placed(node: Node) -> str | None:
    """By its place: the tags above it, each with its number."""
    steps: list[str] = []
    for each in (node, *node.ancestors):
        if not _NAME.fullmatch(each.tag) or len(steps) >= MAX_ABOVE:
            return None
        beside = [other for other in each.parent.children if other.tag == each.tag] if each.parent else [each]
        steps.append(f"{each.tag}:nth-of-type({beside.index(each) + 1})" if len(beside) > 1 else each.tag)
    return " > ".join(reversed(steps))


def as_pagination(
    paging: Paging, *, total_pages: int | None = None, pattern: str | None = None
) -> Pagination:
    """What is stored in the configuration."""
    if paging.kind is PagingKind.LOAD_MORE:
        return Pagination(PagingKind.LOAD_MORE, selector=paging.selector)
    if not paging.kind.is_counted:
        return Pagination(paging.kind)
    size = paging.step if paging.kind is PagingKind.OFFSET else None
    return Pagination(paging.kind, pattern or paging.url_pattern, paging.first, size, total_pages)
