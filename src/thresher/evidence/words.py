"""Finding words: a text within a text, whole words only, wherever the two differ in nothing but their dress.

Never nearly: a search that forgives one wrong word verifies an invented one. What may differ are case, white
space, punctuation, hyphens, accents that the value leaves out, and the breaks that the page puts in the
middle.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thresher.evidence.normalise import Folded, Gap, fold
from thresher.evidence.plain_text import BREAKS, PlainText, level

MAX_PLACES = 2_000
MAX_WORK = (
    20_000_000  # letters that one search may compare; whoever builds a text against us is told "not found"
)
LONG = 100  # letters from which a value is a passage, that may run over paragraphs and lists
PROSE = 60  # characters of a line that was broken because it was full

_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{1,2}")
_NUMBERED = re.compile(r"\d{7,}x?")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Needle:
    """A value, folded. `bare` if none of its letters has an accent: then those of the page do not count."""

    folded: Folded
    bare: bool

    @property
    def letters(self) -> str:
        return self.folded.letters

    @property
    def gaps(self) -> bytearray:
        return self.folded.gaps


def needle(value: str) -> Needle | None:
    """None where the value has neither a letter nor a digit."""
    flat = level(value)
    folded = fold(flat)
    if not folded.letters:
        return None
    bare = folded if value.isascii() else fold(flat, bare=True)
    return Needle(folded, bare=bare.letters == folded.letters)


def spans(wanted: Needle, page: Folded, text: PlainText) -> Iterator[Span]:
    """Where the needle stands, as letters of the page, first to last."""
    size, found, work = len(wanted.letters), 0, 0
    joined = _NUMBERED.fullmatch(wanted.letters) is not None
    at = page.letters.find(wanted.letters)
    while at >= 0 and found < MAX_PLACES and work < MAX_WORK:
        if page.starts_word(at):
            end = at + size
            if page.ends_word(end):
                work += size + 32  # each look costs something, however short the value
                free = joined and _stands_free(page, at, end, text)
                if _agrees(wanted, page, at, text, joined=free) and _bordered(wanted.letters, page, at):
                    found += 1
                    yield at, end
            at = page.letters.find(wanted.letters, at + 1)
        else:
            start = _next_word(page, at)
            work += 1 + (start - at) // 64
            at = page.letters.find(wanted.letters, start)


_WORD_START = re.compile(b"[\x03-\x09]")


def _next_word(page: Folded, at: int) -> int:
    found = _WORD_START.search(page.gaps, at + 1)
    return found.start() if found else len(page.letters)


_MORE_BEFORE, _MORE_AFTER = re.compile(r"\d[-/.]$"), re.compile(r"[-/.]\d")


def _stands_free(page: Folded, at: int, end: int, text: PlainText) -> bool:
    """Whether a long number does not go on beyond a dash: only then may it be grouped in another way."""
    start, stop = page.at[at], page.until[end - 1]
    return not (
        _MORE_BEFORE.search(text.text[max(0, start - 2) : start]) or _MORE_AFTER.match(text.text, stop)
    )


def _bordered(letters: str, page: Folded, at: int) -> bool:
    """One or two Chinese characters in the middle of others are as often the halves of two words."""
    if not _HAN.fullmatch(letters):
        return True
    return at == 0 or page.gaps[at] != Gap.EDGE or not _HAN.fullmatch(page.letters[at - 1])


def _agrees(wanted: Needle, page: Folded, at: int, text: PlainText, *, joined: bool) -> bool:
    size = len(wanted.letters)
    ours, theirs = wanted.gaps, page.gaps[at : at + size]
    if ours[1:] == theirs[1:] and max(theirs[1:], default=0) < Gap.LINE:
        return True
    crossed: list[tuple[int, int, int]] = []
    for step in range(1, size):
        mine, other = ours[step], theirs[step]
        if other >= Gap.LINE:
            crossed.append((at + step, mine, other))
        elif not (_AGREE[mine][other] or (joined and mine <= Gap.MARK)):
            return False
    if not crossed:
        return True
    if size >= LONG:
        return all(mine >= Gap.EDGE or mine == Gap.SEAM for _, mine, _ in crossed)
    flush = _flush(page, at, at + size, text)
    return all(
        _may_cross(mine, other, flush=flush, prose=_prose(page, here, text)) for here, mine, other in crossed
    )


def _row(mine: Gap) -> tuple[bool, ...]:
    """With which gaps of the page a gap of the value agrees, as far as no line ends there."""
    if mine is Gap.NONE:
        allowed = {Gap.NONE, Gap.SEAM, Gap.DOT, Gap.EDGE, Gap.TIGHT}
    elif mine in (Gap.SEAM, Gap.EDGE):
        allowed = {Gap.NONE, Gap.SEAM, Gap.DOT, Gap.EDGE, Gap.TIGHT, Gap.SPACE}
    elif mine in (Gap.DOT, Gap.TIGHT):
        allowed = set(Gap) - {Gap.LINE, Gap.ITEM, Gap.BLOCK}
    else:
        allowed = {Gap.SEAM, Gap.DOT, Gap.EDGE, Gap.TIGHT, Gap.SPACE, Gap.MARK}
    return tuple(gap in allowed for gap in Gap)


_AGREE = tuple(_row(gap) for gap in Gap)


def _may_cross(mine: int, other: int, *, flush: bool, prose: bool) -> bool:
    """Whether a short value may run over the end of a line, of a list item, of a block.

    Over a line if that was broken for want of room, or if whole lines are joined; over an item if the value
    divides them too; over a block only if the value itself has a line break there.
    """
    if other == Gap.LINE:
        return (mine >= Gap.EDGE or mine == Gap.SEAM) and (flush or prose)
    return flush and mine >= (Gap.MARK if other == Gap.ITEM else Gap.LINE)


def _prose(page: Folded, here: int, text: PlainText) -> bool:
    """Whether the line that ends before this letter was full, or the next one goes on in small letters."""
    end = page.until[here - 1]
    begin = max((text.text.rfind(mark, 0, end) for mark in BREAKS), default=-1) + 1
    if end < len(text.text) and text.text[end] in ".!?:;":
        return False
    full = end - begin
    return full >= PROSE or (full >= PROSE * 2 // 3 and text.text[page.at[here]].islower())


def _flush(page: Folded, at: int, end: int, text: PlainText) -> bool:
    """Whether no word stands beside the value on its first and last line."""
    left = text.text[max(0, page.at[at] - 8) : page.at[at]].rstrip(" ")
    right = text.text[page.until[end - 1] : page.until[end - 1] + 8].lstrip(" ")
    return not left[-1:].isalnum() and not right[:1].isalnum() and not right.startswith(":")
