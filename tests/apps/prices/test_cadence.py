"""When an item is looked for again: a table of ages and quiet looks."""

import pytest

from thresher.apps.prices.cadence import QUIET_LOOKS, PriceCadence, price_cadence_of
from thresher.core.clock import DAY, HOUR

USUAL = PriceCadence(DAY, 30 * DAY)


@pytest.mark.parametrize(
    ("age", "quiet", "own", "days"),
    [
        # Prices that have moved: after the shortest wait, however old the item is.
        (DAY, 0, 0, 1),
        (400 * DAY, 0, 0, 1),
        # Nothing moved: by age.
        (DAY, 1, 0, 1),
        (6 * DAY, 2, 0, 1),
        (7 * DAY, 1, 0, 2),
        (89 * DAY, 2, 0, 2),
        (90 * DAY, 1, 0, 4),
        # Every three quiet looks double it.
        (DAY, 3, 0, 2),
        (DAY, 5, 0, 2),
        (DAY, 6, 0, 4),
        (30 * DAY, 3, 0, 4),
        (400 * DAY, 6, 0, 16),
        # Never longer than the longest.
        (400 * DAY, 9, 0, 30),
        (400 * DAY, 10**9, 0, 30),
        # What a person has set wins over all of it.
        (400 * DAY, 10**9, DAY // 24, 1 / 24),
        (DAY, 0, 90 * DAY, 90),
    ],
)
def test_the_wait_follows_from_age_quiet_looks_and_what_a_person_has_set(
    age: int, quiet: int, own: int, days: float
) -> None:
    assert USUAL.wait(age=age, quiet=quiet, own=own) == days * DAY


def test_a_longest_wait_below_the_shortest_never_makes_it_shorter() -> None:
    assert PriceCadence(10 * DAY, DAY).wait(age=0, quiet=50) == 10 * DAY


def test_more_quiet_looks_never_shorten_the_wait_and_neither_does_age() -> None:
    waits = [USUAL.wait(age=age * DAY, quiet=1) for age in range(200)]
    assert waits == sorted(waits)
    waits = [USUAL.wait(age=DAY, quiet=quiet) for quiet in range(10 * QUIET_LOOKS)]
    assert waits == sorted(waits)


def test_the_settings_are_hours() -> None:
    said = {"prices.refresh_min": 6.0, "prices.refresh_max": 48.0}
    assert price_cadence_of(said.__getitem__) == PriceCadence(6 * HOUR, 48 * HOUR)
