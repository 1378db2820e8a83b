import pytest

from thresher.core.clock import FOREVER, SECOND, FrozenClock, SystemClock, as_text, to_us


def test_a_frozen_clock_moves_only_when_told_to():
    clock = FrozenClock(5 * SECOND)
    assert (clock.now(), clock.now()) == (5 * SECOND, 5 * SECOND)
    assert clock.advance(-SECOND) == clock.now() == 4 * SECOND


def test_the_machines_clock_counts_microseconds_since_1970():
    assert 1_700_000_000 * SECOND < SystemClock().now() < 4_000_000_000 * SECOND


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (None, None),
        (FOREVER, "for ever"),
        (0, "1970-01-01T00:00:00.000Z"),
        (1_700_000_000_123_456, "2023-11-14T22:13:20.123Z"),
    ],
)
def test_times_are_written_for_people(at, text):
    assert as_text(at) == text


@pytest.mark.parametrize(("seconds", "us"), [(0, 0), (1, SECOND), (0.0000014, 1), (1.5, 1_500_000)])
def test_seconds_become_whole_microseconds(seconds, us):
    assert to_us(seconds) == us
