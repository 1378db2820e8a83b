"""Points in time as people write them: whose clock is meant is always said."""

import pytest

from thresher.admin.times import point_in_time
from thresher.core.clock import as_text
from thresher.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-20 08:00 UTC", "2026-11-20T08:00:00"),
        ("2026-11-20T08:00:30Z", "2026-11-20T08:00:30"),
        (" 2026-11-20 08:00+01:00 ", "2026-11-20T07:00:00"),
        ("2026-11-20 08:00 -05:30", "2026-11-20T13:30:00"),
        ("2026-07-01 08:00 Europe/Berlin", "2026-07-01T06:00:00"),
        ("2026-10-25 02:30 +01:00", "2026-10-25T01:30:00"),
        ("2099-12-31 23:59 utc", "2099-12-31T23:59:00"),
    ],
)
def test_a_time_is_read_with_its_zone(text, at):
    assert (as_text(point_in_time(text)) or "").startswith(at)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tomorrow", "is not a point in time"),
        ("2026-11-20", "is not a point in time"),
        ("20.11.2026 08:00 UTC", "is not a point in time"),
        ("٢٠٢٦-11-20 08:00 UTC", "is not a point in time"),
        ("2026-11-20 08:00", "does not say its time zone"),
        ("2026-02-30 08:00 UTC", "of the calendar"),
        ("2026-11-20 25:00 UTC", "of the calendar"),
        ("2026-11-20 08:00 +99:00", "of the calendar"),
        ("2026-11-20 08:00 Mars/Olympus", "no time zone 'Mars/Olympus'"),
        ("2026-11-20 08:00 Europe", "no time zone 'Europe'"),
        ("2026-11-20 08:00 Europe/../../etc/passwd", "is not a point in time"),
        ("2026-11-20 08:00 etc//passwd", "no time zone"),
        (
            "2026-03-29 02:30 Europe/Berlin",
            "does not exist in Europe/Berlin: clocks are set forward to 03:30",
        ),
        ("2026-10-25 02:30 Europe/Berlin", "comes twice in Europe/Berlin"),
        ("2026-10-25 02:30 Europe/Berlin", "+02:00 or +01:00"),
        ("\x1b[31m" * 50, "is not a point in time"),
    ],
)
def test_what_is_no_single_moment_is_refused_with_what_to_write(text, says):
    with pytest.raises(UsageError) as refused:
        point_in_time(text)
    assert says in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_the_ends_of_the_calendar_are_times_too():
    first, last = (
        point_in_time(text) for text in ("0001-01-01 00:00 Asia/Tokyo", "9999-12-31 23:59 America/Lima")
    )
    assert first < 0 < last
