"""Windows follow the wall clock, through whole years and both changes of the clock."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.queries.outputs.hours import Hours, NightWindow, is_open, local_time, moment, next_window
from thresher.core.clock import MINUTE, SECOND

MADRID = "Europe/Madrid"
NIGHT = Hours(180, 360, MADRID)
# Half an hour's change, changes at midnight, and none at all.
ZONES = [
    MADRID,
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Havana",
    "Asia/Kolkata",
    "UTC",
    "Africa/Casablanca",
]


def at(text: str, zone: str = MADRID, fold: int = 0) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()) * SECOND


def shown(window: NightWindow, zone: str = MADRID) -> tuple[str, str]:
    return tuple(local_time(each, zone).isoformat()[:22] for each in window)


@pytest.mark.parametrize(
    ("now", "hours", "window"),
    [
        ("2026-11-18T12:00", (180, 360), ("2026-11-19T03:00:00+01:0", "2026-11-19T06:00:00+01:0")),
        ("2026-11-18T02:59", (180, 360), ("2026-11-18T03:00:00+01:0", "2026-11-18T06:00:00+01:0")),
        ("2026-11-18T03:00", (180, 360), ("2026-11-18T03:00:00+01:0", "2026-11-18T06:00:00+01:0")),
        ("2026-11-18T06:00", (180, 360), ("2026-11-19T03:00:00+01:0", "2026-11-19T06:00:00+01:0")),
        # the night when the clock jumps from 02:00 to 03:00
        ("2027-03-27T23:00", (180, 360), ("2027-03-28T03:00:00+02:0", "2027-03-28T06:00:00+02:0")),
        ("2027-03-27T23:00", (150, 300), ("2027-03-28T03:00:00+02:0", "2027-03-28T05:00:00+02:0")),
        ("2027-03-27T23:00", (130, 160), ("2027-03-29T02:10:00+02:0", "2027-03-29T02:40:00+02:0")),
        # the night when 02:00 to 03:00 comes twice
        ("2026-10-24T23:00", (180, 360), ("2026-10-25T03:00:00+01:0", "2026-10-25T06:00:00+01:0")),
        ("2026-10-24T23:00", (150, 300), ("2026-10-25T02:30:00+01:0", "2026-10-25T05:00:00+01:0")),
        ("2026-10-24T23:00", (60, 150), ("2026-10-25T01:00:00+02:0", "2026-10-25T02:30:00+02:0")),
        ("2026-10-24T23:00", (130, 160), ("2026-10-25T02:10:00+01:0", "2026-10-25T02:40:00+01:0")),
        # over midnight
        ("2026-11-18T23:30", (1_380, 60), ("2026-11-18T23:00:00+01:0", "2026-11-19T01:00:00+01:0")),
        ("2026-11-19T00:30", (1_380, 60), ("2026-11-18T23:00:00+01:0", "2026-11-19T01:00:00+01:0")),
        ("2026-11-19T00:30", (0, 1_440), ("2026-11-19T00:00:00+01:0", "2026-11-20T00:00:00+01:0")),
    ],
)
def test_the_next_window(now, hours, window):
    assert shown(next_window(at(now), Hours(*hours, MADRID))) == tuple(each[:22] for each in window)


hours = st.builds(Hours, st.integers(0, 1_439), st.integers(0, 1_440), st.sampled_from(ZONES)).filter(
    lambda each: each.first != each.last
)
moments = st.integers(at("2025-01-01T00:00"), at("2028-01-01T00:00"))


def within(wall: datetime, each: Hours) -> bool:
    minute = wall.hour * 60 + wall.minute
    if each.first < each.last:
        return each.first <= minute < each.last
    return minute >= each.first or minute < each.last


@given(moments, hours)
def test_no_moment_of_a_window_lies_outside_its_hours(now, each):
    window = next_window(now, each)
    assert now < window.end
    assert window.start < window.end
    for moment_in in (
        window.start,
        window.end - SECOND,
        (window.start + window.end) // 2,
        max(now, window.start),
    ):
        assert within(local_time(moment_in, each.timezone), each)


@given(moments, hours)
def test_where_the_clock_does_not_change_a_window_is_open_exactly_in_its_hours(now, each):
    wall = local_time(now, each.timezone)
    offsets = {(wall + timedelta(hours=step)).utcoffset() for step in range(-49, 50)}
    if len(offsets) == 1:
        assert is_open(now, each) == within(wall, each)


@pytest.mark.parametrize("zone", ZONES)
def test_every_night_of_two_years_has_its_window_once(zone):
    each = Hours(180, 360, zone)
    now, nights = at("2026-01-01T12:00", zone), []
    while now < at("2028-01-01T12:00", zone):
        window = next_window(now, each)
        nights.append(local_time(window.start, zone).date())
        assert window.end - window.start == 180 * MINUTE
        now = window.end
    assert nights == [date(2026, 1, 2) + timedelta(days=at) for at in range(731)]


def test_a_skipped_minute_is_the_moment_of_the_jump():
    assert moment(date(2027, 3, 28), 150, MADRID) == at("2027-03-28T03:00")


def test_hours_that_are_none_are_never_open():
    assert not is_open(at("2026-11-18T03:00"), Hours(180, 180, MADRID))
