"""Normalise a text for comparison: letters and digits in one case and form, and the gaps between them.

Two texts are equal if their letters are equal and their gaps agree. The width of a gap decides what it may
match: a hyphen can be left out, a space cannot, and the border between two table cells cannot stand inside a
name.
"""

import re
import unicodedata
from array import array
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from thresher.evidence.plain_text import BLOCK, BREAK, CELL, ITEM, PlainText


class Gap(IntEnum):
    """What stands before a letter. From `EDGE` on, a word may begin or end here."""

    NONE = 0  # inside a word
    SEAM = 1  # between a digit and a letter: "12GB"
    DOT = 2  # between two letters: "acme.com", "U.S."
    EDGE = 3  # beside a letter of a script without spaces, or a sign: "$5"
    TIGHT = 4  # a hyphen or an apostrophe
    SPACE = 5
    MARK = 6  # punctuation
    LINE = 7  # a line break
    ITEM = 8  # the next of a list
    BLOCK = 9  # a paragraph, a heading, a table cell


UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_ODD = "\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2150-\u215f\u2189\u2460-\u249b"
_SIGNS = "%$¢£¤¥֏؋৲৳৻૱௹฿៛\u20a0-\u20c0﷼﹩＄￠￡￥￦"
# The points of 555.123.4567 are no decimal points.
_TELEPHONE = r"(?!(?<=\d{3})\.\d{3}\.\d{4}(?!\d))(?!(?<=\d{3}\.\d{3})\.\d{4}(?!\d))"
_DIVIDER = re.compile("[|•·»›→▪◦‣]")
_LETTERLESS = {"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}


@dataclass(frozen=True, slots=True)
class Folded:
    """`letters`, the gap before each, and the character of the level text that each was made of (`at` to
    `until`).
    """

    letters: str
    gaps: bytearray
    at: "array[int]"
    until: "array[int]"

    def starts_word(self, at: int) -> bool:
        return at == 0 or self.gaps[at] >= Gap.EDGE

    def ends_word(self, end: int) -> bool:
        return end >= len(self.letters) or self.gaps[end] >= Gap.EDGE


@cache
def _tokens() -> re.Pattern[str]:
    marks = _marks()
    kinds = (
        r"(?P<digit>\d+)",
        rf"(?P<unspaced>[{UNSPACED}][{marks}]*)",
        rf"(?P<odd>[{_ODD}])",
        rf"(?P<word>(?:[^\W\d_{UNSPACED}{_ODD}][{marks}]*)+)",
        r"(?P<address>[\ue000-\uf8ff]+)",
        rf"(?P<sign>[{_SIGNS}])",
        rf"(?P<inner>{_TELEPHONE}(?<=\d)[.,:](?=\d)|(?<=[^\W_])(?:\+{{1,2}}|#)(?![\w+#]))",
        r"(?P<lead>(?<![\w.])\.(?=[^\W\d_])|(?<![\w)\]])-(?=\d))",
    )
    return re.compile("|".join(kinds))


def _marks() -> str:
    """The combining characters, as a character class: they belong to the letter before them."""
    ranges = (
        (0x300, 0x1B00),
        (0x1DC0, 0x1E00),
        (0x20D0, 0x2100),
        (0x302A, 0x3030),
        (0x3099, 0x309B),
        (0xA66F, 0xABFF),
        (0xFE20, 0xFE30),
    )
    return "".join(
        chr(code)
        for low, high in ranges
        for code in range(low, high)
        if unicodedata.category(chr(code))[0] == "M"
    )


def fold(level: PlainText, *, bare: bool = False) -> Folded:
    """Fold a text. `bare` drops the accents of Latin, Greek and Cyrillic letters, for a value that has
    none.
    """
    pieces: list[str] = []
    gaps, at, until = bytearray(), array("l"), array("l")
    text, before, kind = level.text, 0, ""
    for token in _tokens().finditer(text):
        here = token.lastgroup or ""
        gap = _gap(text, before, token.start(), kind, here)
        letters = token[0]
        if letters.isascii():
            pieces.append(letters.lower())
            at.extend(range(token.start(), token.end()))
            until.extend(range(token.start() + 1, token.end() + 1))
            count = len(letters)
        else:
            count = _fold_letters(letters, token.start(), pieces, at, until, bare=bare)
        if count:
            gaps.append(gap)
            gaps.extend(bytes(count - 1))
        before, kind = token.end(), here
    return Folded("".join(pieces), gaps, at, until)


def _fold_letters(
    word: str, start: int, pieces: list[str], at: "array[int]", until: "array[int]", *, bare: bool
) -> int:
    """Each letter together with its marks; several letters may come of one."""
    count, here = 0, 0
    while here < len(word):
        end = here + 1
        while end < len(word) and unicodedata.category(word[end])[0] == "M":
            end += 1
        folded = _letter(word[here:end], bare=bare)
        pieces.append(folded)
        at.extend([start + here] * len(folded))
        until.extend([start + end] * len(folded))
        count, here = count + len(folded), end
    return count


def _letter(cluster: str, *, bare: bool) -> str:
    if len(cluster) > 32:  # a tower of marks, piled up to cost time
        cluster = cluster[:32]
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    if bare:
        folded = _without_accents(folded)
    return (
        folded
        if len(folded) == 1
        else "".join(char for char in folded if char.isalnum() or unicodedata.category(char)[0] in "MC")
    )


def _without_accents(text: str) -> str:
    kept: list[str] = []
    base = ""
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.category(char) != "Mn":
            base = char
            kept.append(_LETTERLESS.get(char, char))
        elif not _accents(char, base):
            kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def _accents(mark: str, base: str) -> bool:
    """Whether a mark is an accent, and not a letter of its own as over `и` or `か`."""
    if not "\u0300" <= mark <= "\u036f":
        return False
    latin_or_greek = base < "\u0400" or "\u1e00" <= base < "\u2000"
    return latin_or_greek or mark == "\u0301" or (mark == "\u0308" and base == "е")


def _gap(text: str, end: int, start: int, before: str, here: str) -> Gap:
    if end == start:
        return _touching(before, here)
    between = text[end:start]
    if len(between) == 1:
        return _one(between, text[end - 1], text[start])
    if BLOCK in between or CELL in between:
        return Gap.BLOCK
    if ITEM in between or _DIVIDER.search(between):
        return Gap.ITEM
    if BREAK in between:
        return Gap.LINE
    return Gap.SPACE if between.isspace() else Gap.MARK


_ONES = {" ": Gap.SPACE, BREAK: Gap.LINE, ITEM: Gap.ITEM, CELL: Gap.BLOCK, BLOCK: Gap.BLOCK}


def _one(between: str, left: str, right: str) -> Gap:
    if (known := _ONES.get(between)) is not None:
        return known
    if _DIVIDER.match(between):
        return Gap.ITEM
    if between in "-‐‑'’ʼ_" and not (left.isdigit() and right.isdigit()):
        return Gap.TIGHT
    if between == "." and left.isalpha() and right.isalpha():
        # "end.Next": a space was forgotten.
        return Gap.MARK if left.islower() and right.isupper() else Gap.DOT
    return Gap.MARK


def _touching(before: str, here: str) -> Gap:
    kinds = {before, here}
    if before == "" or "inner" in kinds or before == "lead":
        return Gap.NONE
    if kinds == {"odd", "digit"}:
        return Gap.SPACE  # "5²" is no fifty-two
    if kinds & {"unspaced", "sign", "address", "lead"}:
        return Gap.EDGE
    return Gap.SEAM
