"""The numbers of a text, each with its value, and only those that stand for themselves.

The 12 in `v12`, `AB-12`, `12:30`, `12/05/2024` or a telephone number is not the number twelve. `12k` is
twelve thousand and nothing else. Whether `1.234` is a thousand or a bit more than one is decided by how the
same text writes other numbers.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from thresher.evidence.days import in_words
from thresher.reading.values.numbers import Numeral, numerals

MAX_NUMBERS = 200_000

_POINT = re.compile(r"\d\.(?:\d{1,2}|\d{4,})(?![\d.,])")
_COMMA = re.compile(r"\d,(?:\d{1,2}|\d{4,})(?![\d.,])")
# What looks like numbers and is none: telephones, dates, times, and runs of three or more joined by dashes,
# slashes or colons.
_OTHERS = re.compile(
    r"\+\d[\d ().\-/]{6,20}\d|\(\d{2,5}\)[ \-./]?\d[\d \-./]{3,15}|(?<![\d.,])0\d{1,5}[ /\-]\d[\d \-/]{3,15}"
    r"|(?<![\d.,])\d{3}[-. ]\d{3}[-. ]\d{4}(?!\d)|(?<!\d)\d{3}-\d{4}(?!\d)"
    r"|(?<!\d)\d{1,4}([-/:.])\d{1,4}(?:\1\d{1,4}){1,8}|(?<!\d)\d{1,2}:\d{2}(?!\d)"
    r"|(?<!\d)\d{4}\s?[年년]\s?\d{1,2}\s?[月월](?:\s?\d{1,2}\s?[日일])?"
)
_BEFORE = re.compile(r"[^\W\d_](?:[-_/.]|)$|[\d_][-_/.:]?$|[\d][.,]$")
_JOINED = re.compile(r"[-–/]\d|_|[^\W\d_]{1,30}\d")
_WORD_AFTER = re.compile(r"[^\W\d_]{1,30}")
_RANGE_AFTER = re.compile(r"[-–](\d{1,9})(?![\d\-–/:.,_])")
_RANGE_BEFORE = re.compile(r"(?<![\d\-–/:.,_\w])(\d{1,9})[-–]$")
_OUT_OF = re.compile(r"/(?:5|10|20|100)(?![\d/.,])")
_TIMES = re.compile(
    r"([kK]|M|bn)\b|\s?(thousand|tausend|tsd|mille|mil|тыс|mio|mln|million|millions|millionen|millones|milioni|млн|lakh|crore|"
    r"billion|billions|mrd|milliarden|млрд)\b\.?",
    re.IGNORECASE,
)
_POWERS = {
    "k": 3,
    "thousand": 3,
    "tausend": 3,
    "tsd": 3,
    "mille": 3,
    "mil": 3,
    "тыс": 3,
    "lakh": 5,
    "crore": 7,
    "bn": 9,
    "billion": 9,
    "billions": 9,
    "mrd": 9,
    "milliarden": 9,
    "млрд": 9,
}
_MINUS = re.compile(r"(?<![\w)-])-$")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# From two on: "one" is a word of every text. Small counts are what people write out.
_NAMES = {
    name: count
    for line in (
        "two three four five six seven eight nine ten eleven twelve",
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "deux trois quatre cinq six sept huit neuf dix onze douze",
        "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for count, name in enumerate(line.split(), 2)
    if name != "once"  # an English word as well
}
_NAMED = re.compile(rf"(?<![\w-])(?:{'|'.join(_NAMES)})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the plain text, and where it stands there."""

    value: Decimal
    start: int
    end: int


def numbers(text: str) -> Iterator[Number]:
    """Every reading of every number that stands for itself, in order, those in words last."""
    others = [each.span() for each in _OTHERS.finditer(text)]
    others = sorted(others + list(_days_of_months(text)))
    decimal_marks = _decimal_marks(text)
    behind = 0
    for numeral in islice(numerals(text), MAX_NUMBERS):
        while behind < len(others) and others[behind][1] <= numeral.start:
            behind += 1
        if behind < len(others) and others[behind][0] < numeral.end:
            continue
        yield from _readings(text, numeral, decimal_marks)
    for name in islice(_NAMED.finditer(text), MAX_NUMBERS):
        yield Number(Decimal(_NAMES[name[0].lower()]), name.start(), name.end())


def _days_of_months(text: str) -> Iterator[tuple[int, int]]:
    """The 12 of `12 March 2025`. The year may be asked for as a number, the day of the month never is."""
    for start, end in islice(in_words(text), MAX_NUMBERS):
        for numeral in numerals(text[start:end]):
            if len(numeral.written) <= 2:
                yield start + numeral.start, start + numeral.end


def _decimal_marks(text: str) -> str:
    """The marks that this text writes before decimals: none, one, or both."""
    return ("." if _POINT.search(text) else "") + ("," if _COMMA.search(text) else "")


def _readings(text: str, numeral: Numeral, decimal_marks: str) -> Iterator[Number]:
    start, end = numeral.start, numeral.end
    if end - start > 60 or not stands_alone(text, start, end):
        return
    values = _values(numeral, decimal_marks)
    if end < len(text) and (part := _fraction(text[end])) is not None:
        values, end = [value + part for value in values], end + 1
    elif (times := _TIMES.match(text, end)) is not None:
        word = (times[1] or times[2]).lower()
        values, end = [value * 10 ** _POWERS.get(word, 6) for value in values], times.end()
    if _negative(text, start):
        values, start = [-value for value in values], start - 1
    yield from (Number(value, start, end) for value in values)


def _values(numeral: Numeral, decimal_marks: str) -> list[Decimal]:
    grouped, exact = numeral.value(), numeral.value(thousandths=True)
    if grouped == exact or exact is None:
        return [] if grouped is None else [grouped]
    mark = "." if "." in numeral.written else ","
    readings = [] if decimal_marks == mark or grouped is None else [grouped]
    if mark in decimal_marks or (mark == "." and not decimal_marks):
        readings.append(exact)
    return readings


def _fraction(char: str) -> Decimal | None:
    if char in "½¼¾" or "\u2150" <= char <= "\u215e":
        return Decimal(str(unicodedata.numeric(char))).quantize(Decimal("0.001")).normalize()
    return None


def _negative(text: str, start: int) -> bool:
    return _MINUS.search(text[max(0, start - 2) : start]) is not None


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the digits from `start` to `end` are a number by themselves, not a part of a word, a code, a
    date or a longer number.
    """
    return _free_before(text, start, end) and _free_after(text, start, end)


def _free_before(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 12) : start]
    found = _BEFORE.search(before)
    if found is None or _UNSPACED.match(found[0]):
        return True
    lower = _RANGE_BEFORE.search(before)
    return lower is not None and _is_range(lower[1], text[start:end])


def _free_after(text: str, start: int, end: int) -> bool:
    if _OUT_OF.match(text, end):
        return True
    if (upper := _RANGE_AFTER.match(text, end)) is not None:
        return _is_range(text[start:end], upper[1])
    if _JOINED.match(text, end):
        return False
    word = _WORD_AFTER.match(text, end)  # a unit or an ending: "5kg", "3rd"
    return (
        word is None
        or len(word[0]) <= 4
        or _UNSPACED.match(word[0]) is not None
        or _TIMES.match(text, end) is not None
    )


def _is_range(low: str, high: str) -> bool:
    """`5-10` is two numbers, `555-1234` and `10-5` are something else."""
    if not (low.isdigit() and high.isdigit()) or (low.startswith("0") and low != "0") or high.startswith("0"):
        return False
    return int(low) < int(high) and (len(low), len(high)) != (3, 4)
