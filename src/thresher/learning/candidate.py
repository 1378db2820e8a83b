"""Candidates: every rule that might read a field, made from the occurrences of its value on one page."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from thresher.core.schema import Field
from thresher.learning.locator import (
    Css,
    Data,
    Family,
    How,
    Label,
    Line,
    Locator,
    Pattern,
    is_header,
    selectors,
)
from thresher.learning.outline import MAX_CLIMB, Outline
from thresher.learning.wording import one_line, says, squeezed, word_spans
from thresher.reading.html.parser import Element, Node
from thresher.reading.structured.embedded import walk

# Occurrences: everywhere that a known value stands on a page, in its texts, its attributes and its data.

MAX_OCCURRENCES = 40
MAX_ELEMENTS = 20_000
MAX_SCALARS = 20_000
MAX_ATTRIBUTE = 500
WIDEST = 12  # leaves that one value may be spread over
_LAST_ATTRIBUTES = frozenset({"style", "onclick", "d", "points", "srcset"})


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place of a value. `whole`: nothing else stands there. The leaves `first` to `last`, an element, or
    both.
    """

    whole: bool
    node: Node | None = None
    attribute: str = ""
    first: int | None = None
    last: int | None = None


def occurrences(outline: Outline, truths: Sequence[Any]) -> list[Occurrence]:
    """Where one of these values stands in the texts and attributes of a page: whole places first, then parts
    of places.
    """
    shown = [each for truth in truths for each in _shown(outline, truth)]
    hidden = [each for truth in truths for each in _in_attributes(outline, truth)]
    ordered = sorted(
        [*shown[: 2 * MAX_OCCURRENCES], *hidden[:MAX_OCCURRENCES]],
        key=lambda each: (not each.whole, bool(each.attribute)),
    )
    return ordered[: 2 * MAX_OCCURRENCES]


def _shown(outline: Outline, truth: Any) -> Iterator[Occurrence]:
    wanted = squeezed(str(truth))
    for at, leaf in enumerate(outline.leaves):
        if says(leaf.text, truth):
            yield Occurrence(True, outline.holder(at, at), first=at, last=at)
        elif wanted and wanted.startswith(leaf.key) and (last := _spread(outline, at, wanted)) is not None:
            yield Occurrence(True, outline.holder(at, last), first=at, last=last)
        elif word_spans(leaf.text, truth):
            yield Occurrence(False, outline.holder(at, at), first=at, last=at)


def _spread(outline: Outline, first: int, wanted: str) -> int | None:
    """The last of the leaves that say the value together."""
    said = ""
    for at in range(first, min(first + WIDEST, len(outline.leaves))):
        said += outline.leaves[at].key
        if said == wanted:
            return at
        if not wanted.startswith(said):
            return None
    return None


def _in_attributes(outline: Outline, truth: Any) -> Iterator[Occurrence]:
    body = outline.document.root
    for node in islice(body.walk(), MAX_ELEMENTS):
        if node.tag in ("script", "style", "meta"):
            continue
        for name, value in node.attributes.items():
            if name in _LAST_ATTRIBUTES or not value or len(value) > MAX_ATTRIBUTE:
                continue
            line = one_line(value)
            whole = says(line, truth) or (
                name in ("href", "src") and outline.document.absolute(value) == truth
            )
            if whole or word_spans(line, truth):
                yield Occurrence(whole, node, name)


def in_data(outline: Outline, truths: Sequence[Any]) -> Iterator[Data]:
    """The ways to the values through the structured data, the embedded data and the meta tags of a page."""
    for source, root in _roots(outline):
        for path, value in islice(_scalars(root), MAX_SCALARS):
            if any(_speaks_of(value, truth) for truth in truths):
                yield Data(source, path)
                if "[0]" in path:
                    yield Data(source, path.replace("[0]", "[]"))
    for name, content in outline.facts.meta.items():
        if any(_speaks_of(content, truth) for truth in truths):
            yield Data(f"meta:{name}", "")
    if any(_speaks_of(outline.document.title, truth) for truth in truths):
        yield Data("title:", "")


def _speaks_of(value: Any, truth: Any) -> bool:
    text = one_line(str(value).lower() if isinstance(value, bool) else str(value))
    return says(text, truth) or bool(word_spans(text[:MAX_ATTRIBUTE], truth))


def _roots(outline: Outline) -> Iterator[tuple[str, Any]]:
    for thing in outline.facts.structured.things:
        if thing.syntax != "opengraph":  # the meta tags say the same
            yield f"{thing.syntax}:{thing.type}", thing.properties
    for each in outline.facts.embedded:
        yield f"embedded:{each.name}", each.value


def _scalars(root: Any) -> Iterator[tuple[str, Any]]:
    for path, holder in walk(root):
        inner = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in inner:
            if isinstance(value, str | int | float) and not (
                isinstance(key, str) and any(char in key for char in ".[]^")
            ):
                step = f"[{key}]" if isinstance(key, int) else f".{key}"
                yield (path + step).removeprefix("$").removeprefix("."), value


MAX_CANDIDATES = 3_000
REACH = 3  # leaves between a label and its value
MAX_LABEL = 80
_LEANS = {Family.DATA: 3.0, Family.LABEL: 2.6, Family.NAME: 2.5, Family.PATTERN: 2.0, Family.META: 1.6}
_WORD = re.compile(r"[a-z]+|\d+")
_DISTANCE = {
    How.CELL: 0.0,
    How.REST: 0.0,
    How.INLINE: 0.0,
    How.UNDER: 0.1,
    How.LEAF: 0.1,
    How.BLOCK: 0.15,
}


def candidates(outline: Outline, truths: Sequence[Any], constant: Collection[str]) -> list[Locator]:
    """Locators that find the value on this page, each once. `constant` are the texts that stand on every
    page.
    """
    found: dict[Locator, None] = {}
    places = occurrences(outline, truths)
    for locator in islice(_all(outline, truths, places, constant), MAX_CANDIDATES):
        found.setdefault(locator)
    return list(found)


def _all(
    outline: Outline, truths: Sequence[Any], places: Sequence[Occurrence], constant: Collection[str]
) -> Iterator[Locator]:
    yield from in_data(outline, truths)
    for place in places:
        if place.first is not None and not place.attribute:
            yield from _labelled(outline, place.first, constant)
            yield from _prefixed(outline, place.first, truths)
            yield from _inline(outline, place.first, truths)
    for place in places:
        for node, attribute in _holders(place):
            yield from (Css(selector, attribute) for selector in selectors(node))


MAX_LINES = 12
MAX_LINE_SELECTORS = 20


def lines(outline: Outline, truths: Sequence[Any]) -> Iterator[Line]:
    """The ways to a value by the number of its line in a box with a name."""
    for place in occurrences(outline, truths):
        if place.whole and place.first is not None and place.first == place.last:
            for box, span in _boxes(outline, place.first):
                for selector in islice(selectors(box), MAX_LINE_SELECTORS):
                    yield Line(selector, place.first - span[0])
                    yield Line(selector, place.first - span[1] - 1)


def _boxes(outline: Outline, first: int) -> Iterator[tuple[Node, tuple[int, int]]]:
    """The elements around a line that hold a few others too."""
    for element in islice(outline.leaves[first].node.ancestors, MAX_CLIMB):
        span = outline.span(element) if isinstance(element, Element) else None
        if span is None or span[1] - span[0] >= MAX_LINES:
            return
        if span[0] < span[1] and isinstance(element, Element):
            yield Node(element), span


def _holders(place: Occurrence) -> Iterator[tuple[Any, str]]:
    if place.node is None:
        return
    yield place.node, place.attribute
    parent = place.node.parent
    if not place.attribute and parent is not None and parent.tag not in ("body", "html", "table", "tr"):
        yield parent, ""  # the value may be a part of what stands in the parent


def _labelled(outline: Outline, first: int, constant: Collection[str]) -> Iterator[Label]:
    """The text right before the value, or at the end of the paragraph before, where it stands on every
    page.
    """
    for at in range(first - 1, max(-1, first - 1 - REACH), -1):
        key = outline.leaves[at].key
        if key in constant and len(key) <= MAX_LABEL and any(char.isalpha() for char in key):
            if at == first - 1:
                yield Label(key, How.CELL)
                yield Label(key, How.LEAF)
            if outline.leaves[first].block - outline.leaves[at].block == 1:
                yield Label(key, How.BLOCK)
    yield from _above(outline, first, constant)


def _above(outline: Outline, first: int, constant: Collection[str]) -> Iterator[Label]:
    """The header of the column, where the value stands in a cell right below it."""
    holder = outline.holder(first, first)
    cell = holder.closest("td") if holder else None
    row = cell.parent if cell else None
    above = row.previous if row else None
    if cell is None or row is None or above is None or above.tag != "tr":
        return
    column, cells = row.children.index(cell), above.children
    if (
        column < len(cells)
        and is_header(cells[column], above)
        and (key := squeezed(cells[column].line)) in constant
    ):
        yield Label(key, How.UNDER)


def _prefixed(outline: Outline, first: int, truths: Sequence[Any]) -> Iterator[Label]:
    """The words with which the paragraph begins, where the value stands behind them."""
    text = " ".join(outline.blocks[outline.leaves[first].block].text.split())
    return (Label(key, How.REST) for key in _openings(text, truths))


def _inline(outline: Outline, first: int, truths: Sequence[Any]) -> Iterator[Label]:
    """The words with which a run of text begins, where the value stands behind them and the paragraph has
    other runs beside it: lines between breaks, each with its own label.
    """
    leaf = outline.leaves[first]
    if squeezed(outline.blocks[leaf.block].text) != leaf.key:
        yield from (Label(key, How.INLINE) for key in _openings(leaf.text, truths))


def _openings(text: str, truths: Sequence[Any]) -> Iterator[str]:
    """All that stands before the value, and its first words up to a colon: between the two another value may
    stand.
    """
    for truth in truths:
        for start, _ in word_spans(text, truth)[:2]:
            before = text[:start]
            for key in dict.fromkeys((squeezed(before), squeezed(before[: before.find(":") + 1]))):
                if 2 < len(key) <= MAX_LABEL and any(char.isalpha() for char in key):
                    yield key


def weight(field: Field, locator: Locator, whole: bool) -> float:
    """How much it tells about a place that a locator finds it: what it leans on, and whether that speaks of
    the field.
    """
    leans = _LEANS[locator.family]
    if isinstance(locator, Label) and not locator.key.endswith((":", "?")):
        leans -= 0.4
    return leans + _affinity(field, locator) + (0.3 if whole else 0.0) - _length(locator)


def _affinity(field: Field, locator: Locator) -> float:
    match locator:
        case Label():
            said = locator.key
        case Pattern():
            said = f"{locator.expression} {locator.after}"
        case Css():
            said = f"{locator.selector} {locator.attribute}"
        case Line():
            said = locator.selector
        case Data():
            said = f"{locator.source} {locator.path}"
    wanted, words = set(_WORD.findall(field.name.lower())), said.lower()
    return sum(word in words for word in wanted) / len(wanted)


def _length(locator: Locator) -> float:
    match locator:
        case Label():
            return _DISTANCE[locator.how]
        case Css():
            return (
                0.1 * locator.selector.count(" ")
                + (0.4 if locator.attribute else 0.0)
                + 0.002 * len(locator.selector)
            )
        case Line():
            return 0.5 + 0.1 * locator.selector.count(" ") + 0.002 * len(locator.selector)
        case Pattern():
            return 0.1 * (bool(locator.after) + bool(locator.before))
        case Data():
            return 0.05 * locator.path.count(".")
