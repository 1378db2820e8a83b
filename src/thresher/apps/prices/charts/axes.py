"""Where on a chart a value or a time stands, and which values and times its axes name."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from thresher.core.clock import SECOND

STEPS = (1, 2, 5)
MAX_DAYS = 75  # named by the day; longer spans by months
MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps numbers from `low` to `high` to places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def round_steps(low: int, high: int, about: int) -> list[int]:
    """Round numbers that cover a range of amounts: about so many, evenly apart."""
    step = _round_step((high - low) / max(about, 1))
    first = low // step * step
    last = -(-high // step) * step
    if last == first:
        last += step
    return list(range(first, last + 1, step))


def _round_step(least: float) -> int:
    size = 1
    while True:
        for step in STEPS:
            if step * size >= least:
                return step * size
        size *= 10


def day_steps(low: int, high: int, about: int) -> list[tuple[int, str]]:
    """Times in a range that a reader would name, each with its name: at most about so many days, months or
    years.
    """
    first, last = _day(low), _day(high)
    if (last - first).days <= MAX_DAYS:
        every = max(1, -(-(last - first).days // about))
        days = (first + timedelta(days=each) for each in range(0, (last - first).days + 1, every))
        return [(_at(day), f"{day.day} {day:%b}") for day in days if low <= _at(day) <= high]
    whole = (last.year - first.year) * 12 + last.month - first.month
    every = next(each for each in MONTHS if whole // each <= about or each == MONTHS[-1])
    start = first.year * 12 + first.month - 1
    months = range(-(-start // every) * every, start + whole + 1, every)
    named = "%Y" if every % 12 == 0 else "%b %Y"
    found = [date(month // 12, month % 12 + 1, 1) for month in months]
    return [(_at(day), day.strftime(named)) for day in found if low <= _at(day) <= high]


def _day(at: int) -> date:
    return datetime.fromtimestamp(at / SECOND, UTC).date()


def _at(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * SECOND
