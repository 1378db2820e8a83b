"""What a board usually gives, and the alarm when it gives less: rows that stay away, a field that is empty
from one day to the next.

A scraper seldom breaks with an error. It goes on, and reads less. So every look is compared with those before
it, and what fell is said in a sentence for a person.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.reading.postings.posting import Posting

FIELDS = ("location", "posted", "salary", "description", "url")
MAX_YIELDS = 12


@dataclass(frozen=True, slots=True)
class CoverageLimits:
    """An alarm is raised when the yield falls by more than `yield_drop`, a field's coverage by more than
    `field_drop` (shares).

    Boards with fewer than `least` postings are too small to speak of shares.
    """

    yield_drop: float = 0.5
    field_drop: float = 0.5
    least: int = 5
    zeros: int = 2


USUAL = CoverageLimits()


@dataclass(frozen=True, slots=True)
class CoverageFields:
    """The fields of a board's record that say how well it is read. `fallen` are fields that it says no more,
    as it seems by mistake.
    """

    coverage: Mapping[str, float]
    yields: tuple[int, ...]
    alarms: tuple[str, ...]
    fallen: tuple[str, ...] = ()


def coverage(postings: Sequence[Posting]) -> dict[str, float]:
    """The share of postings that say each field, in hundredths."""
    if not postings:
        return {}
    return {
        name: round(sum(_says(posting, name) for posting in postings) / len(postings), 2) for name in FIELDS
    }


def _says(posting: Posting, name: str) -> bool:
    if name == "salary":
        return posting.salary is not None
    return bool(posting.posted_date if name == "posted" else getattr(posting, name))


def health(
    postings: Sequence[Posting],
    before: Mapping[str, float],
    yields: Sequence[int],
    *,
    complete: bool,
    limits: CoverageLimits = USUAL,
) -> CoverageFields:
    """The board after one more look. A look that was not complete says nothing about how many there are,
    unless there were none.
    """
    found = len(postings)
    history = (*yields, found)[-MAX_YIELDS:] if complete or not found else tuple(yields)
    now = coverage(postings)
    fallen = tuple(_fallen(before, now, found, limits))
    lost = (
        f"{name} is given by {now[name]:.0%} of the rows, down from {before[name]:.0%}" for name in fallen
    )
    return CoverageFields(
        now or dict(before), history, (*_fallen_yield(yields, found, complete, limits), *lost), fallen
    )


def _fallen_yield(yields: Sequence[int], found: int, complete: bool, limits: CoverageLimits) -> Iterator[str]:
    last = next((number for number in reversed(yields) if number), 0)
    if not found:
        zeros = 1 + _zeros(yields)
        if last and zeros == 1:
            yield f"no rows, after {last} last time"
        if zeros >= limits.zeros:
            yield f"no rows {zeros} times in a row" + (f", after {last}" if last else "")
    elif complete and last >= limits.least and found < last * (1 - limits.yield_drop):
        yield f"{found} rows, after {last} last time: {100 * (last - found) // last} % fewer"


def _zeros(yields: Sequence[int]) -> int:
    """How many looks in a row found nothing, up to now."""
    return next((place for place, number in enumerate(reversed(yields)) if number), len(yields))


def _fallen(
    before: Mapping[str, float], now: Mapping[str, float], found: int, limits: CoverageLimits
) -> Iterator[str]:
    """The fields that most rows said, and now hardly any."""
    if found >= limits.least:
        yield from (name for name, share in now.items() if before.get(name, 0.0) - share > limits.field_drop)
