"""Exchange rates of days, from a file that the user supplies, and conversion with the rate of the day.

Amounts count the smallest unit of their currency. Everything is exact until the last step, which rounds half
up; where there is no rate of the day or of a few days before it, there is no amount either.
"""

import csv
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from io import StringIO

from thresher.core.errors import UsageError
from thresher.reading.values.currency import CODES, minor_digits

MAX_TEXT = 50_000_000  # characters of a file: thirty currencies for a hundred years are 20 million
MAX_RATE_TEXT = 40  # characters of one number
MAX_RATE = Decimal(10) ** 12
DEFAULT_MAX_AGE = 7  # days: a rate of Friday holds over Easter

_DAY_NAMES = ("day", "date", "datum", "time_period")
_RATE_NAMES = ("rate", "value", "obs_value", "kurs")
_CURRENCY_NAMES = ("currency", "code", "iso")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_NONE = frozenset({"", "n/a", "na", "-", "null"})  # the ECB writes N/A where a currency has no rate yet


@dataclass(frozen=True, slots=True)
class DayRate:
    """1 of the base was worth `rate` of `currency` on that day."""

    day: date
    currency: str
    rate: Decimal


@dataclass(frozen=True, slots=True)
class _Series:
    """The rates of one currency by day, the oldest first."""

    days: tuple[date, ...]
    rates: tuple[Decimal, ...]

    def on(self, day: date, max_age: int) -> Decimal | None:
        """The rate of this day, else the last one of at most so many days before it."""
        at = bisect_right(self.days, day) - 1
        if at < 0 or (day - self.days[at]).days > max_age:
            return None
        return self.rates[at]


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of several currencies against one base. `max_age` is how many days a rate holds."""

    base: str
    by_currency: Mapping[str, _Series]
    max_age: int = DEFAULT_MAX_AGE

    @classmethod
    def of(cls, base: str, rates: Sequence[DayRate], max_age: int = DEFAULT_MAX_AGE) -> "Rates":
        """Rates in any order. Of two of one day and currency the later one in the list counts."""
        found: dict[str, dict[date, Decimal]] = {}
        for each in rates:
            found.setdefault(each.currency, {})[each.day] = each.rate
        ordered = {
            currency: sorted(by_day.items(), key=lambda pair: pair[0]) for currency, by_day in found.items()
        }
        series = {
            currency: _Series(tuple(day for day, _ in pairs), tuple(rate for _, rate in pairs))
            for currency, pairs in ordered.items()
        }
        return cls(base, series, max_age)

    def convert(self, minor: int, currency: str, into: str, on: date) -> int | None:
        """An amount in the smallest unit of another currency; None where a rate is missing. Two currencies
        that are not the base are converted through it.
        """
        if currency == into:
            return minor
        one, other = self._rate(currency, on), self._rate(into, on)
        if one is None or other is None:
            return None
        shift = Fraction(10) ** (minor_digits(into) - minor_digits(currency))
        exact = Fraction(minor) * Fraction(other) / Fraction(one) * shift
        return _half_up(exact)

    def _rate(self, currency: str, on: date) -> Decimal | None:
        if currency == self.base:
            return Decimal(1)
        series = self.by_currency.get(currency)
        return None if series is None else series.on(on, self.max_age)


NO_RATES = Rates("EUR", {})


def _half_up(exact: Fraction) -> int:
    """The nearest whole number; a half goes away from zero."""
    whole = (2 * abs(exact.numerator) + exact.denominator) // (2 * exact.denominator)
    return whole if exact >= 0 else -whole


def read_rates_file(text: str, file: str, base: str) -> list[DayRate]:
    """The rates of a CSV file: a line for each day and currency (`day,currency,rate`), or a column for each
    currency (`Date,USD,JPY`), as central banks publish them. A rate says how much of the currency 1 of the
    base is worth. Raises UsageError that names the line.
    """
    if base not in CODES:
        raise UsageError(f"{base[:20]!r} is no currency; write an ISO 4217 code such as EUR")
    if len(text) > MAX_TEXT:
        raise UsageError(
            f"{file} has {len(text):,} characters; at most {MAX_TEXT:,} are read. Split it by years"
        )
    lines = _lines(text, file)
    number, header = next(lines, (1, []))
    names = [each.strip().lower() for each in header]
    if not names or names[0] not in _DAY_NAMES:
        raise UsageError(
            f"{file}, line {number}: the first column must be the day; write `day,currency,rate`, or `Date` and a "
            f"column for each currency, got {','.join(header)[:60]!r}"
        )
    wide = not (set(names) & set(_RATE_NAMES) and set(names) & set(_CURRENCY_NAMES))
    found = _wide(header, number, lines, file) if wide else _long(names, number, lines, file)
    return _distinct(found, file, base)


def _lines(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The lines with their numbers, without empty ones."""
    text = text.removeprefix("\ufeff")
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as problem:
        raise UsageError(f"{file}, line {reader.line_num}: {problem}") from None


_Numbered = tuple[int, DayRate]


def _wide(
    header: Sequence[str], line: int, lines: Iterator[tuple[int, list[str]]], file: str
) -> Iterator[_Numbered]:
    codes = [each.strip().upper() for each in header[1:]]
    for code in codes:
        if code and code not in CODES:
            raise UsageError(
                f"{file}, line {line}: {code[:20]!r} is no currency; a column is named by its code, such as USD"
            )
    for number, cells in lines:
        if len(cells) > len(header):
            raise UsageError(f"{file}, line {number}: has {len(cells)} values; the header has {len(header)}")
        day = _day(cells[0], number, file)
        for code, cell in zip(codes, cells[1:], strict=False):
            if code and cell.strip().lower() not in _NONE:
                yield number, DayRate(day, code, _rate(cell, number, file))


def _long(
    names: Sequence[str], line: int, lines: Iterator[tuple[int, list[str]]], file: str
) -> Iterator[_Numbered]:
    currency_at = next(at for at, name in enumerate(names) if name in _CURRENCY_NAMES)
    rate_at = next(at for at, name in enumerate(names) if name in _RATE_NAMES)
    for number, cells in lines:
        if len(cells) <= max(currency_at, rate_at):
            raise UsageError(
                f"{file}, line {number}: has {len(cells)} values; the header in line {line} has {len(names)}"
            )
        code = cells[currency_at].strip().upper()
        if code not in CODES:
            raise UsageError(
                f"{file}, line {number}: {code[:20]!r} is no currency; write an ISO 4217 code such as USD"
            )
        yield number, DayRate(_day(cells[0], number, file), code, _rate(cells[rate_at], number, file))


def _day(text: str, line: int, file: str) -> date:
    """A day as 2026-11-18, or as the daily file of the ECB has it: 18 November 2026."""
    words = text.strip()[:40].split()
    try:
        if len(words) == 3 and words[1].lower() in _MONTHS:
            return date(int(words[2]), _MONTHS.index(words[1].lower()) + 1, int(words[0]))
        if len(words) == 1 and len(words[0]) == 10:
            return date.fromisoformat(words[0])
    except ValueError:
        pass
    raise UsageError(f"{file}, line {line}: {text[:40]!r} is no day; write it as 2026-11-18")


def _rate(text: str, line: int, file: str) -> Decimal:
    """A rate as it is written; a comma may stand for the point."""
    plain = text.strip()
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    try:
        rate = Decimal(plain) if len(plain) <= MAX_RATE_TEXT else None
    except InvalidOperation:
        rate = None
    if rate is None or not rate.is_finite():
        raise UsageError(f"{file}, line {line}: {text[:40]!r} is no rate; write a number such as 1.0856")
    if not 1 / MAX_RATE <= rate <= MAX_RATE:
        raise UsageError(f"{file}, line {line}: a rate of {text[:40]} is not believed; it must be above 0")
    return rate


def _distinct(found: Iterator[_Numbered], file: str, base: str) -> list[DayRate]:
    """Each rate once; two that differ for one day are a mistake of the file."""
    known: dict[tuple[date, str], _Numbered] = {}
    for number, each in found:
        if each.currency == base:
            if each.rate != 1:
                raise UsageError(
                    f"{file}, line {number}: 1 {base} cannot be worth {each.rate} {base}; is the base another currency?"
                )
            continue
        earlier = known.get((each.day, each.currency))
        if earlier is not None and earlier[1].rate != each.rate:
            raise UsageError(
                f"{file}, line {number}: {each.currency} on {each.day} is {each.rate} here and {earlier[1].rate} in line {earlier[0]}"
            )
        known[each.day, each.currency] = number, each
    if not known:
        raise UsageError(f"{file} has no rates; each line needs a day and a rate")
    return [each for _, each in known.values()]
