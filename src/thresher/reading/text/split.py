"""Splitting a long page where it comes apart by itself, so that each part can be read alone.

A part never begins in the middle of a thing: cuts are made between sections, between the repeats of a
repeated block, between paragraphs, list items and table rows, in this order, and inside a sentence only where
one is longer than a part may be. The coarsest cut that fits is taken, and what stands together stays together
as long as there is room.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from thresher.core.errors import UsageError

MIN_PART = 200  # characters a part must be allowed to have
MAX_PERIOD = 12  # blocks that a repeated block is made of
SHORT = 80  # characters of a line that is a label rather than a sentence

_BLOCK = re.compile(r"\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S[^\n]*)", re.MULTILINE)
_TITLE = re.compile(
    r"^(?:\*\*[^*\n]{1,200}\*\*|\[[^\[\]\n]{1,300}\]\([^()\s]{1,2000}\))[ \t]*$", re.MULTILINE
)
_ITEM = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_INNER_ITEM = re.compile(r"^[ \t]+(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_LINE = re.compile(r"^(?=[^\n]*\S)", re.MULTILINE)
_WRITTEN = re.compile(r"\S[^\n]*")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)]?\s+(?=\S)|(?<=[。！？])")
_SPACE = re.compile(r"(?<=\s)(?=\S)")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Characters `start` to `end` of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a text. `depth` is 1 for the greatest."""

    depth: int
    title: str
    start: int
    end: int


def split(markdown: str, most: int) -> list[TextPart]:
    """Parts of at most `most` characters, in order, that leave out nothing but white space."""
    if most < MIN_PART:
        raise UsageError(f"parts of {most} characters are too small to be useful; allow at least {MIN_PART}")
    whole = _trimmed(markdown, 0, len(markdown))
    if whole is None:
        return []
    return [part for part in _divided(markdown, whole, most, 0) if part is not None]


def headings(markdown: str) -> list[Heading]:
    """The headings of a text, outside of code."""
    fences = [each.start() for each in _FENCE.finditer(markdown)]
    found = _HEADING.finditer(markdown)
    return [
        Heading(len(each[1]), each[2].strip(), *each.span())
        for each in found
        if bisect_right(fences, each.start()) % 2 == 0
    ]


def trail(markdown: str, part: TextPart) -> tuple[str, ...]:
    """The headings above a part, from the greatest down: what a reader of the part would not know."""
    found = headings(markdown)
    over = parents(found)
    at = sum(heading.start < part.start for heading in found) - 1
    depth = next((heading.depth for heading in found if heading.start == part.start), 7)
    titles: list[str] = []
    while at >= 0:
        if found[at].depth < depth:
            titles.append(found[at].title)
        at = over[at]
    return tuple(reversed(titles))


def parents(found: Sequence[Heading]) -> list[int]:
    """For each heading the number of the greater one that it stands under, -1 for none."""
    over: list[int] = []
    for at, heading in enumerate(found):
        above = at - 1
        while above >= 0 and found[above].depth >= heading.depth:
            above = over[above]
        over.append(above)
    return over


def _trimmed(text: str, start: int, end: int) -> TextPart | None:
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return None
    lead = len(piece) - len(piece.lstrip())
    return TextPart(start + lead, start + lead + len(bare))


def _divided(text: str, part: TextPart, most: int, rule: int) -> Iterator[TextPart]:
    """Cut by the first rule that cuts here, fill parts with what fits, and cut further what does not."""
    if part.end - part.start <= most:
        yield part
        return
    if rule == len(RULES):
        yield from _chopped(text, part, most)
        return
    units = _units(text, part, RULES[rule](text, part))
    waiting: TextPart | None = None
    for each in units:
        unit = each
        if waiting is not None and unit.end - waiting.start <= most:
            waiting = TextPart(waiting.start, unit.end)
            continue
        if (
            waiting is not None
            and unit.end - unit.start > most
            and _HEADING.fullmatch(text, waiting.start, waiting.end)
        ):
            unit = TextPart(waiting.start, unit.end)  # a heading stays with what it heads
        elif waiting is not None:
            yield waiting
        waiting = None
        if unit.end - unit.start <= most:
            waiting = unit
        else:
            yield from _divided(text, unit, most, rule + 1)
    if waiting is not None:
        yield waiting


def _units(text: str, part: TextPart, cuts: Sequence[int]) -> list[TextPart]:
    edges = [part.start, *(cut for cut in cuts if part.start < cut < part.end), part.end]
    return [unit for start, end in pairwise(edges) if (unit := _trimmed(text, start, end)) is not None]


def _chopped(text: str, part: TextPart, most: int) -> Iterator[TextPart]:
    """A word longer than a part may be: there is nothing left to respect."""
    for start in range(part.start, part.end, most):
        if (piece := _trimmed(text, start, min(start + most, part.end))) is not None:
            yield piece


def _at(pattern: re.Pattern[str]) -> Callable[[str, TextPart], list[int]]:
    def cuts(text: str, part: TextPart) -> list[int]:
        return [each.start() for each in pattern.finditer(text, part.start, part.end)]

    return cuts


def _under(depth: int) -> Callable[[str, TextPart], list[int]]:
    def cuts(text: str, part: TextPart) -> list[int]:
        inside = headings(text[part.start : part.end])
        return [part.start + each.start for each in inside if each.depth == depth]

    return cuts


def _blocks(text: str, part: TextPart) -> list[TextPart]:
    """Paragraphs, and whatever else stands between empty lines."""
    return [TextPart(*each.span()) for each in _BLOCK.finditer(text, part.start, part.end)]


def repeats(text: str, *, lines: bool = False) -> list[list[int]]:
    """Where a repeated block begins, each time: title, text, price; title, text, price. Of paragraphs, or
    with `lines` of lines.

    It may be told from any of its blocks on; the likeliest telling comes first. Empty: nothing repeats
    itself.
    """
    return _repeats(text, TextPart(0, len(text)), lines=lines)


def _first_repeats(text: str, part: TextPart) -> list[int]:
    return next(iter(_repeats(text, part)), [])


def _repeats(text: str, part: TextPart, *, lines: bool = False) -> list[list[int]]:
    blocks = (
        [TextPart(*each.span()) for each in _WRITTEN.finditer(text, part.start, part.end)]
        if lines
        else _blocks(text, part)
    )
    found = _periodic([_shape(text[block.start : min(block.end, block.start + 2_000)]) for block in blocks])
    if found is None:
        return []
    start, turn, period, last = found
    tellings = []
    for first in ((turn - start + step) % period + start for step in range(period)):
        begins = [
            *([start] if first > start else []),
            *range(first, last, period),
            *([last] if last < len(blocks) else []),
        ]
        tellings.append([blocks[at].start for at in begins])
    return tellings


def _shape(block: str) -> str:
    """What kind of block it is, as far as it would look alike in each repeat."""
    heading = _HEADING.match(block)
    if heading is not None:
        return heading[1]
    if _TITLE.match(block):
        return "title"
    if _ITEM.match(block):
        return "list"
    if block.startswith("|"):
        return "table"
    if len(block) > SHORT:
        return "text"
    return "number" if any(char.isdigit() for char in block) else "label"


def _periodic(shapes: Sequence[str]) -> tuple[int, int, int, int] | None:
    """The longest stretch that repeats itself at least three times: its first block, the first that leads,
    its period, its end.
    """
    best: tuple[int, int, int] | None = None
    for period in range(2, min(MAX_PERIOD, len(shapes) // 3) + 1):
        for start, end in _runs(shapes, period):
            if len(set(shapes[start : start + period])) < 2:
                continue
            if end - start >= 3 * period and (best is None or end - start > best[2] - best[0]):
                best = (start, period, end)
    return None if best is None else (best[0], _turned(shapes, *best), best[1], best[2])


def _runs(shapes: Sequence[str], period: int) -> Iterator[tuple[int, int]]:
    start = 0
    for at in range(period, len(shapes) + 1):
        if at == len(shapes) or shapes[at] != shapes[at - period]:
            yield start, at
            start = at - period + 1


def _turned(shapes: Sequence[str], start: int, period: int, end: int) -> int:
    """Which of the blocks of a period comes first: a heading or a title, else as the stretch ends with a
    whole period.
    """
    for leader in ("#", "##", "###", "####", "#####", "######", "title"):
        if leader in shapes[start : start + period]:
            return start + shapes[start : start + period].index(leader)
    return start + (end - start) % period


# The coarsest first.
RULES: tuple[Callable[[str, TextPart], Sequence[int]], ...] = (
    *(_under(depth) for depth in range(1, 7)),
    _first_repeats,
    _at(_TITLE),
    lambda text, part: [block.start for block in _blocks(text, part)],
    _at(_ITEM),
    _at(_INNER_ITEM),
    _at(_LINE),
    lambda text, part: [each.end() for each in _SENTENCE.finditer(text, part.start, part.end)],
    _at(_SPACE),
)
