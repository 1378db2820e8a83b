"""The days that a text names, each read by itself: a line may name several, and a field asks for one of them.

`03/04/2025` is read only where the text tells which comes first: by another date, or by its language. "3 days
ago" is a day only for somebody who knows what day it was.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice

from thresher.evidence.plain_text import BREAKS
from thresher.reading.text.language import language
from thresher.reading.values.dates import MONTHS, Day, folded, read_day

MAX_DAYS = 20_000
RELATIVE = 80  # characters of a line that may be nothing but "posted 3 days ago"
# Two digits are a year of this century up to ten years after this day; only for texts without a date of their
# own.
PIVOT = date(2030, 1, 1)

_DIGITS = re.compile(
    r"(?<![\w/.-])\d{4}([-/.])\d{1,2}\1\d{1,2}(?![\d/-]|\.\d)(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"
    r"|(?<![\w/.-])\d{1,2}([/.-])\d{1,2}\2(?:\d{4}|\d{2})(?![\w/-]|\.\d)"
)
_EASTERN = re.compile(r"(?<![\d.])(\d{4})\s?[年년.]\s?(\d{1,2})\s?[月월.]\s?(\d{1,2})\s?[日일.](?!\d)")
_ORDERED = re.compile(r"(?<![\w/.-])(\d{1,2})([/-])(\d{1,2})\2(?:\d{4}|\d{2})(?![\w/-]|\.\d)")
_WORD = re.compile(r"[^\W\d_]{3,12}(?![^\W\d_])")
_BEFORE = re.compile(
    r"(?:(?<!\d)\d{4}[.\s\-/]{1,3}|(?<![\d.,:/-])\d{1,2}(?:st|nd|rd|th|er|o|a|º|ª|\.)?[ \-/]{0,2}(?:de |of |di )?)$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\.?[ \-/]{0,2}\d{1,2}(?:st|nd|rd|th|\.)?,?[ \-/]{1,2}(?:de |del |of )?\d{4}(?!\d)"  # March 5, 2025
    r"|[. \-/]{0,3}(?:de |del |of )?['’]?\d{4}(?!\d)"  # 5 March 2025, March 2025
    r"|[. \-/]{0,3}(?:de |del |of )?['’]?\d{2}(?![\d:])",  # 5 March 25, 2025 March 5
    re.IGNORECASE,
)
# Two days of one month: 5-10 March 2025, March 5-10, 2025.
_FROM_BEFORE = re.compile(r"(?<![\d.,:/-])(\d{1,2})\.?\s?[-–—]\s?$")
_TWO_AFTER = re.compile(r"\.? (\d{1,2})\s?[-–—]\s?(\d{1,2}),? (\d{4})(?!\d)")
_LINE = re.compile(f"[^{BREAKS}]+")


@dataclass(frozen=True, slots=True)
class FoundDay:
    """A day of the plain text. `precision` is "day", "month" or "year"."""

    day: date
    precision: str
    start: int
    end: int


def days(text: str, *, day_first: bool | None, today: date | None = None) -> Iterator[FoundDay]:
    """Every day that is named for certain, those in digits first. `day_first` is the text's `order`."""
    alone = (*islice(_in_digits(text), MAX_DAYS), *islice(in_words(text), MAX_DAYS))
    for start, end, written in (
        *((start, end, text[start:end]) for start, end in alone),
        *islice(_in_ranges(text), MAX_DAYS),
    ):
        read = read_day(written, today=today or PIVOT, day_first=day_first)
        if isinstance(read, Day):
            yield FoundDay(read.day, read.precision, start, end)
    yield from islice(_eastern(text), MAX_DAYS)
    if today is not None:
        yield from islice(_relative(text, today), MAX_DAYS)


def order(text: str) -> bool | None:
    """Whether the day comes before the month: as the text's own dates show, else as its language has it.
    None: no telling.
    """
    shown = {
        int(each[1]) > 12
        for each in islice(_ORDERED.finditer(text), MAX_DAYS)
        if (int(each[1]) > 12) != (int(each[3]) > 12)
    }
    if shown:
        return shown.pop() if len(shown) == 1 else None
    spoken = language(text)
    return None if spoken.code in (None, "en") or spoken.confidence < 0.5 else True


def _in_digits(text: str) -> Iterator[tuple[int, int]]:
    return (each.span() for each in _DIGITS.finditer(text))


def in_words(text: str) -> Iterator[tuple[int, int]]:
    """Where a month is named with a day or a year."""
    for word in _WORD.finditer(text):
        if folded(word[0]) not in MONTHS or text[word.start() - 1 : word.start()].isalpha():
            continue
        start, end = word.span()
        if (front := _BEFORE.search(text[max(0, start - 14) : start])) is not None:
            start -= len(front[0])
        if (back := _AFTER.match(text, end)) is not None:
            yield start, back.end()


def _in_ranges(text: str) -> Iterator[tuple[int, int, str]]:
    """The days of a range that share a month and a year, each written out."""
    for start, end in in_words(text):
        if (
            text[start].isdigit()
            and (low := _FROM_BEFORE.search(text[max(0, start - 8) : start])) is not None
        ):
            month = re.sub(r"^\d{1,2}", "", text[start:end])
            yield start - len(low[0]), end, f"{low[1]}{month}"
    for word in _WORD.finditer(text):
        if folded(word[0]) in MONTHS and (two := _TWO_AFTER.match(text, word.end())) is not None:
            yield from ((word.start(), two.end(), f"{word[0]} {day}, {two[3]}") for day in (two[1], two[2]))


def _eastern(text: str) -> Iterator[FoundDay]:
    for each in _EASTERN.finditer(text):
        try:
            day = date(int(each[1]), int(each[2]), int(each[3]))
        except ValueError:
            continue
        yield FoundDay(day, "day", each.start(), each.end())


def _relative(text: str, today: date) -> Iterator[FoundDay]:
    """Lines that count back from today in days; weeks and months are not a day."""
    for line in _LINE.finditer(text):
        if len(line[0]) > RELATIVE or _DIGITS.search(line[0]):
            continue
        read = read_day(line[0], today=today)
        if isinstance(read, Day) and read.precision == "day" and not (read.approximate or read.or_earlier):
            yield FoundDay(read.day, "day", line.start(), line.end())


@dataclass(frozen=True, slots=True)
class WantedDay:
    """The day that a value names."""

    day: date
    precision: str


def wanted_day(value: str, *, day_first: bool | None, today: date | None) -> WantedDay | None:
    """What day a value means; where month and day are in doubt, they come as in the text that it is from."""
    if (eastern := next(_eastern(value), None)) is not None:
        return WantedDay(eastern.day, eastern.precision)
    read = read_day(value, today=today or PIVOT, day_first=day_first)
    if (
        not isinstance(read, Day)
        or read.approximate
        or read.or_earlier
        or (today is None and not _is_absolute(value))
    ):
        return None
    return WantedDay(read.day, read.precision)


def _is_absolute(value: str) -> bool:
    return re.search(r"\d{4}|\d[/.\-]\d{1,2}[/.\-]\d|['’ ]\d{2}$", value) is not None
