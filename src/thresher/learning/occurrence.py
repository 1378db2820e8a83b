"""Occurrences: everywhere that a known value stands on a page, in its texts, its attributes and its data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from thresher.learning.locator import Data
from thresher.learning.outline import Outline
from thresher.learning.wording import one_line, says, squeezed, word_spans
from thresher.reading.html.parser import Node
from thresher.reading.structured.embedded import walk

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
