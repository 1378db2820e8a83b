"""When schedules fire: wall clocks, time zones, the two bad nights of the year, and sleepers."""

from datetime import UTC, datetime

import pytest

from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.core.errors import ConfigError
from thresher.engine.calendar import check, due_firings, next_firing


def us(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp()) * SECOND


def text(at):
    return datetime.fromtimestamp(at / SECOND, UTC).strftime("%Y-%m-%d %H:%M")


def after(start, number, **rhythm):
    rhythm = {"cron": None, "every_us": None, "timezone": "UTC"} | rhythm
    found = []
    for _ in range(number):
        start = next_firing(start, **rhythm)
        found.append(text(start))
    return found


def due(first, now, missed="all", most=100, **rhythm):
    rhythm = {"cron": None, "every_us": None, "timezone": "UTC"} | rhythm
    return due_firings(first, now, missed=missed, most=most, **rhythm)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("UTC", "2024-06-01 09:00"),
        ("Europe/Berlin", "2024-06-01 07:00"),
        ("America/New_York", "2024-06-01 13:00"),
        ("Asia/Kolkata", "2024-06-01 03:30"),
    ],
)
def test_a_cron_line_follows_the_wall_clock_of_its_zone(zone, expected):
    assert after(us(2024, 6, 1), 1, cron="0 9 * * *", timezone=zone) == [expected]


def test_a_time_that_the_clock_skips_in_spring_fires_when_the_clock_jumps():
    assert after(us(2024, 3, 30, 12), 2, cron="30 2 * * *", timezone="Europe/Berlin") == [
        "2024-03-31 01:00",
        "2024-04-01 00:30",
    ]


def test_a_time_that_the_clock_shows_twice_in_autumn_fires_once():
    assert after(us(2024, 10, 26, 12), 2, cron="30 2 * * *", timezone="Europe/Berlin") == [
        "2024-10-27 00:30",
        "2024-10-28 01:30",
    ]


def test_every_hour_is_every_hour_on_both_nights():
    assert after(us(2024, 3, 30, 23, 30), 4, cron="0 * * * *", timezone="Europe/Berlin") == [
        "2024-03-31 00:00",
        "2024-03-31 01:00",
        "2024-03-31 02:00",
        "2024-03-31 03:00",
    ]
    assert after(us(2024, 10, 26, 23, 30), 4, cron="0 * * * *", timezone="Europe/Berlin") == [
        "2024-10-27 00:00",
        "2024-10-27 01:00",
        "2024-10-27 02:00",
        "2024-10-27 03:00",
    ]


def test_intervals_are_the_same_on_every_machine_whenever_it_started():
    starts = (us(2024, 6, 1, 0, 1), us(2024, 6, 1, 0, 9, 59))
    assert {next_firing(start, cron=None, every_us=10 * MINUTE, timezone="UTC") for start in starts} == {
        us(2024, 6, 1, 0, 10)
    }
    assert next_firing(us(2024, 6, 1, 0, 10), cron=None, every_us=10 * MINUTE, timezone="UTC") == us(
        2024, 6, 1, 0, 20
    )


@pytest.mark.parametrize(
    ("rhythm", "step"), [({"cron": "0 * * * *"}, HOUR), ({"every_us": HOUR}, HOUR)], ids=["cron", "interval"]
)
def test_missed_firings_are_made_up_for_as_the_schedule_says(rhythm, step):
    first = us(2024, 6, 1, 1)
    now = first + 4 * step + 30 * MINUTE
    everything = [first + n * step for n in range(5)]
    assert due(first, now, "all", **rhythm) == (everything, first + 5 * step)
    assert due(first, now, "one", **rhythm) == (everything[-1:], first + 5 * step)
    assert due(first, now, "skip", **rhythm) == ([], first + 5 * step)
    assert due(first, now, "all", most=2, **rhythm) == (everything[-2:], first + 5 * step)


@pytest.mark.parametrize("missed", ["all", "one", "skip"])
@pytest.mark.parametrize("rhythm", [{"cron": "0 * * * *"}, {"every_us": HOUR}], ids=["cron", "interval"])
def test_a_firing_that_is_only_just_due_fires_under_every_policy(missed, rhythm):
    first = us(2024, 6, 1, 1)
    assert due(first, first + SECOND, missed, **rhythm) == ([first], first + HOUR)
    assert due(first, first, missed, **rhythm) == ([first], first + HOUR)
    assert due(first, first - SECOND, missed, **rhythm) == ([], first)


def test_a_single_firing_that_was_slept_through_is_skipped_where_the_schedule_says_so():
    first = us(2024, 6, 1, 3)
    assert due(first, first + 20 * HOUR, "skip", cron="0 3 * * *") == ([], first + DAY)


@pytest.mark.parametrize(
    "rhythm",
    [{"cron": "* * * * *"}, {"cron": "*/5 1-3 * * *", "timezone": "Europe/Berlin"}, {"every_us": SECOND}],
    ids=["cron", "zone", "interval"],
)
@pytest.mark.parametrize("missed", ["all", "one", "skip"])
def test_years_of_sleep_are_not_counted_one_by_one(rhythm, missed):
    """Each of these would be millions of firings; what is kept are the newest, in order."""
    first, now = us(2004, 1, 1), us(2024, 1, 1)
    found, then = due(first, now, missed, most=50, **rhythm)
    assert len(found) <= (50 if missed == "all" else 1)
    assert found == sorted(set(found))
    assert all(first <= at <= now for at in found)
    assert then > now


@pytest.mark.parametrize(
    "line", ["30 2 * * *", "*/20 * * * *", "0 1,2,3 * * *", "15 */2 * * 0", "0 0 1 * *", "59 23 31 12 *"]
)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize(
    "night", [us(2024, 3, 31, 12), us(2024, 10, 27, 12), us(2024, 4, 7, 2), us(2024, 11, 3, 18)]
)
def test_looking_back_finds_the_same_firings_as_walking_forward(line, zone, night):
    begin, now = night - 36 * HOUR, night
    walked, at = [], next_firing(begin, cron=line, every_us=None, timezone=zone)
    while at is not None and at <= now:
        walked.append(at)
        at = next_firing(at, cron=line, every_us=None, timezone=zone)
    if walked:
        assert due(walked[0], now, "all", most=1_000, cron=line, timezone=zone) == (walked, at)


LINES = [
    "30 2 * * *",
    "15,45 2 * * *",
    "*/20 2 * * *",
    "0 1,2,3 * * *",
    "30 1-3 * * *",
    "0 * * * *",
    "*/20 * * * *",
    "59 2 * * *",
]
NIGHTS = [
    ("Europe/Berlin", us(2024, 3, 31, 1)),
    ("Europe/Berlin", us(2024, 10, 27, 1)),
    ("America/New_York", us(2024, 11, 3, 6)),
    ("Atlantic/Azores", us(2024, 10, 27, 1)),
]


@pytest.mark.promise(2)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(("zone", "change"), NIGHTS)
def test_whoever_looks_while_the_clock_changes_sees_the_same_firings(line, zone, change):
    """In the gap of spring and in the second hour of autumn, too: no firing comes twice, and none lies in the
    past."""
    walked, at = [], change - 30 * HOUR
    while at < change + 30 * HOUR:
        at = next_firing(at, cron=line, every_us=None, timezone=zone)
        walked.append(at)
    for now in range(change - 2 * HOUR, change + 2 * HOUR, 10 * MINUTE):
        assert next_firing(now, cron=line, every_us=None, timezone=zone) == next(
            each for each in walked if each > now
        )
        assert due(walked[0], now, "all", most=1_000, cron=line, timezone=zone)[0] == [
            each for each in walked if each <= now
        ]


@pytest.mark.parametrize(
    ("cron", "every", "timezone", "missed", "says"),
    [
        ("61 * * * *", None, "UTC", "one", "is not a cron expression"),
        ("* * *", None, "UTC", "one", "is not a cron expression"),
        ("0 0 30 2 *", None, "UTC", "one", "is not a cron expression"),
        (None, None, "UTC", "one", "either cron or every"),
        ("* * * * *", 60, "UTC", "one", "either cron or every"),
        (None, 0.5, "UTC", "one", "at least 1 second"),
        (None, float("nan"), "UTC", "one", "at least 1 second"),
        (None, 60, "Mars/Olympus", "one", "there is no time zone"),
        (None, 60, "../../etc/passwd", "one", "there is no time zone"),
        (None, 60, "UTC", "sometimes", "skip, one or all"),
    ],
)
def test_a_schedule_that_cannot_work_is_refused_by_name(cron, every, timezone, missed, says):
    with pytest.raises(ConfigError, match=says):
        check(cron, every, timezone, missed)
