"""Numbers as people write them in different countries, found in a text and turned into exact values.

`1.234,56`, `1,234.56`, `1 234,56` and `1'234.56` are one number; `12.345` is twelve thousand, except in a
currency with three digits after the point; `15.08.2017` is no number at all. What cannot be one is given no
value.
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = re.compile(
    r"(?<!\d)(?:\d{1,3}(?:[ '’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"  # 1 234,56   1.234,56
    r"|(?<![\w.,])[.,]\d{1,2}(?!\d)"  # ,99; in "Rs.75" the point belongs to the sign
)
_MAX_DIGITS = 15  # more is a number of a thing, not an amount
# What pages put between and around digits and no reader sees: joiners, direction marks, soft hyphens.
_UNSEEN = dict.fromkeys(
    [0x00AD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0xFEFF]
)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number and where it stands. `value` is None where the digits are grouped as no number is."""

    start: int
    end: int
    written: str

    def value(self, *, thousandths: bool = False) -> Decimal | None:
        """The exact value; with `thousandths`, three digits after a point are a fraction."""
        return _value(self.written, thousandths=thousandths)


def plain_digits(text: str) -> str:
    """The text on one line with ASCII digits, ordinary spaces and nothing invisible."""
    if not text.isascii():
        text = (
            text.translate(_UNSEEN).replace("٫", ".").replace("٬", ",").replace("，", ",").replace("．", ".")
        )
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return " ".join(text.split())


def numerals(line: str) -> list[Numeral]:
    """Every number in a line that went through `plain_digits`, in order."""
    return [Numeral(each.start(), each.end(), each[0]) for each in _NUMBER.finditer(line)]


def _value(written: str, *, thousandths: bool) -> Decimal | None:
    if sum(char.isdigit() for char in written) > 3 * _MAX_DIGITS:
        return None
    spaced = any(mark in written for mark in " '’")
    bare = re.sub(r"[ '’]", "", written)
    marks = [char for char in bare if char in ".,"]
    if not marks:
        return _whole(bare)
    if bare[0] in ".,":
        return Decimal(f"0.{bare[1:]}")
    last = marks[-1]
    if len(set(marks)) == 2:  # both marks: the last one is the decimal mark
        other = "," if last == "." else "."
        head, _, tail = bare.rpartition(last)
        return _joined(head.replace(other, ""), tail) if last not in head and _grouped(head, other) else None
    if len(marks) > 1:
        return _whole(bare.replace(last, "")) if _grouped(bare, last) else None
    head, _, tail = bare.partition(last)
    grouping = len(tail) == 3 and len(head) <= 3 and not head.startswith("0") and not spaced
    return _whole(head + tail) if grouping and not thousandths else _joined(head, tail)


def _grouped(digits: str, mark: str) -> bool:
    """Groups of three, or as in India: three last, pairs before."""
    first, *middle, last = digits.split(mark)
    sizes = {len(each) for each in middle}
    return len(last) == 3 and 1 <= len(first) <= 3 and sizes in (set(), {2}, {3})


def _whole(digits: str) -> Decimal | None:
    if len(digits) > _MAX_DIGITS or (len(digits) > 1 and digits.startswith("0")):
        return None
    return Decimal(digits)


def _joined(head: str, tail: str) -> Decimal | None:
    whole = _whole(head)
    return None if whole is None else Decimal(f"{whole}.{tail[: 2 * _MAX_DIGITS]}")
