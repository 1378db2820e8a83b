"""Find a person's phrases in a text as whole words, ignoring case, dashes and spacing.

It searches for the longest word first; only where that occurs is the whole phrase compared. So a list of
phrases costs microseconds, and a hostile text no more than its length.

A keyword may be a pattern: `*` stands for any characters without a space. Nothing else is special, and no
pattern backtracks: each part is looked for once, where it comes first.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

_GAP = re.compile(r"([\s\-\u2010-\u2015_]+)")
_SPACE = r"[\s\-\u2010-\u2015]{1,3}"
_DASH = r"[\s\-\u2010-\u2015]{0,2}"  # entry-level, entry level and entrylevel are one word
_EDGE = re.compile(r"[.!?;\n\r]")
AROUND = 80
STAR = "*"
MAX_STARS = 4
MIN_LETTERS = 3  # letters and digits that a pattern must have besides its stars
MAX_RUN = 80  # characters that one star stands for
_BETWEEN = re.compile(r"([\s\-\u2010-\u2015_]+|\*)")
# What is special in regular expressions, and means nothing in the words of a posting.
_REGULAR = re.compile(r"[.\])}][*+?]|\\[a-zA-Z.]|\(\?|\[\^|^\^|\|\||\w\|\w|\{\d+,?\d*\}")


def folded(text: str) -> str:
    """In lower case, with every character at its place: a few grow when they are lowered."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
    return low.replace("\u2019", "'")


def pattern_problem(text: str) -> str | None:
    """Why a keyword cannot be used as it is written, or None."""
    if _REGULAR.search(text):
        return (
            "looks like a regular expression; only * is special in a keyword, for any characters without a "
            "space, such as intern* or *coin"
        )
    if STAR not in text:
        return None
    if text.count(STAR) > MAX_STARS or STAR * 2 in text:
        return f"may have at most {MAX_STARS} stars, no two of them together"
    if any(not piece.strip(STAR) for piece in _GAP.split(text.strip())[::2]):
        return "has a star that stands alone; put it next to letters, such as intern*"
    if sum(map(str.isalnum, text)) < MIN_LETTERS:
        return f"must have at least {MIN_LETTERS} letters or digits besides its stars, or it excludes nearly everything"
    return None


@dataclass(frozen=True)
class Phrase:
    """One phrase. `text` is as the person wrote it; `starred`: a star in it stands for other characters."""

    text: str
    starred: bool = False

    @cached_property
    def head(self) -> str:
        return self._pieces[0]

    @cached_property
    def _pieces(self) -> list[str]:
        """Words at even places, and what stands between them at odd ones. A star at an end is left out."""
        text = folded(self.text).strip()
        return _BETWEEN.split(text.strip(STAR)) if self.starred else _GAP.split(text)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        first, *rest = self._pieces
        text = self.text.strip()
        begins = "" if self.starred and text.startswith(STAR) else r"(?<!\w)"
        ends = "" if self.starred and text.endswith(STAR) else r"(?!\w|\+\+|#)"
        # A run after a star is atomic: once the next part is found, it is never looked for further on.
        parts = [begins + re.escape(first)]
        for gap, word in zip(rest[::2], rest[1::2], strict=True):
            if gap == STAR:
                parts.append(re.escape(word))
            else:
                parts[-1] += (_SPACE if gap.isspace() else _DASH) + re.escape(word)
        parts[-1] += ends
        runs = (rf"(?>\S{{0,{MAX_RUN}}}?{part})" for part in parts[1:])
        return re.compile(parts[0] + "".join(runs))

    @cached_property
    def anchor(self) -> str:
        """The longest word: a text without it is done with."""
        return max(reversed(self._pieces[::2]), key=len)

    def hits(self, low: str) -> Iterator[tuple[int, int]]:
        """Where the phrase stands in a folded text."""
        if self.anchor not in low:
            return
        head = self.head
        at = low.find(head)
        while at >= 0:
            if match := self.pattern.match(low, at):
                yield match.span()
            at = low.find(head, at + 1)

    def __contains__(self, low: str) -> bool:
        return self.anchor in low and next(self.hits(low), None) is not None


def counted(number: int, noun: str) -> str:
    """A number with its noun: 1 day, 2 days."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def phrases(texts: Iterable[str]) -> tuple[Phrase, ...]:
    """Each text as a phrase."""
    return tuple(Phrase(text) for text in texts)


def keywords(texts: Iterable[str]) -> tuple[Phrase, ...]:
    """Each text as a phrase in which a star is one. What is no pattern, of an older profile, is taken
    literally.
    """
    return tuple(Phrase(text, starred=STAR in text and not pattern_problem(text)) for text in texts)


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch of a text that a person should read about characters `start` to `end`: their sentence, as
    far as it is short.
    """
    floor, ceiling = max(0, start - AROUND), min(len(text), end + AROUND)
    before = [match.end() for match in _EDGE.finditer(text, floor, start)]
    after = _EDGE.search(text, end, ceiling)
    left = before[-1] if before else _word_edge(text, floor, start, 1)
    right = after.start() if after else _word_edge(text, ceiling, end, -1)
    while left < start and text[left].isspace():
        left += 1
    while right > end and text[right - 1].isspace():
        right -= 1
    return left, right


def _word_edge(text: str, at: int, stop: int, step: int) -> int:
    """From `at` towards `stop` to the next space, so that no word is cut in half. The ends of the text cut
    none.
    """
    if at in (0, len(text)):
        return at
    spot = at if step > 0 else at - 1
    while spot != stop and not text[spot].isspace():
        spot += step
        if (step > 0 and spot >= stop) or (step < 0 and spot < stop):
            return stop
    return spot if step > 0 else spot + 1
