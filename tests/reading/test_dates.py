"""Days as pages name them, and the ones that nobody can tell."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.values.dates import Day, NoDay, read_date, read_day

TODAY = date(2026, 1, 10)


def day(text: str, **options: object) -> Day:
    found = read_day(text, today=TODAY, **options)  # type: ignore[arg-type]
    assert isinstance(found, Day), found
    return found


@pytest.mark.parametrize(
    "text",
    [
        "2025-12-05",
        "2025-12-05T21:44:46Z",
        "2025-12-05 21:44:46 UTC",
        "2025-12-05T23:30:00.123-08:00",
        "2025/12/05",
        "20251205",
        "Fri, 05 Dec 2025 21:44:46 GMT",
        "1764971086",
        "1764971086000",
        "05.12.2025",
        "5. Dezember 2025",
        "5 décembre 2025",
        "5 de diciembre de 2025",
        "December 5, 2025",
        "Dec 5th 2025",
        "2025. december 5.",
        "5 grudnia 2025",
        "5 декабря 2025 г.",
        "05-Dec-25",
        "Posted on December 5, 2025 by Ann",
        "5 dicembre 2025",
        "5 december 2025",
        "5 aralık 2025",
        "5. prosince 2025",
    ],
)
def test_a_whole_date_is_read_in_any_spelling(text: str):
    assert (day(text).day, day(text).precision, day(text).approximate) == (date(2025, 12, 5), "day", False)


def test_a_moment_with_its_zone_is_kept_in_utc_and_the_day_as_written():
    found = day("2025-12-05T23:30:00-08:00")
    assert (found.day, found.at) == (date(2025, 12, 5), datetime(2025, 12, 6, 7, 30, tzinfo=UTC))
    assert day("March 3rd, 2024 at 5:30 PM UTC").at == datetime(2024, 3, 3, 17, 30, tzinfo=UTC)
    assert day("2025-12-05 21:44").at is None


@pytest.mark.promise(14)
def test_day_and_month_that_can_be_swapped_are_not_guessed():
    found = read_day("03/04/2025", today=TODAY)
    assert isinstance(found, NoDay)
    assert "month and day" in found.reason
    assert read_date("03/04/2025", today=TODAY) is None


def test_the_order_follows_from_the_numbers_the_language_or_the_caller():
    assert day("25/12/2025").day == day("12/25/2025").day == date(2025, 12, 25)
    assert day("03/03/2025").day == date(2025, 3, 3)
    assert day("03/04/2025", language="de").day == day("03/04/2025", day_first=True).day == date(2025, 4, 3)
    assert (
        day("03/04/2025", language="en-US").day == day("03/04/2025", day_first=False).day == date(2025, 3, 4)
    )
    assert read_date("03/04/2025", today=TODAY, language="en") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Posted 5 Days Ago", date(2026, 1, 5)),
        ("vor 3 Tagen", date(2026, 1, 7)),
        ("hace 2 días", date(2026, 1, 8)),
        ("il y a 3 jours", date(2026, 1, 7)),
        ("3 dagar sedan", date(2026, 1, 7)),
        ("3 giorni fa", date(2026, 1, 7)),
        ("3 дня назад", date(2026, 1, 7)),
        ("2 dagen geleden", date(2026, 1, 8)),
        ("Posted Today", TODAY),
        ("yesterday", date(2026, 1, 9)),
        ("Gestern", date(2026, 1, 9)),
        ("an hour ago", TODAY),
        ("vor 2 Stunden", TODAY),
        ("5d", date(2026, 1, 5)),
        ("Just posted", TODAY),
    ],
)
def test_days_are_counted_back_from_the_day_that_is_handed_in(text: str, expected: date):
    assert (day(text).day, day(text).approximate, day(text).or_earlier) == (expected, False, False)


def test_weeks_and_months_are_approximate():
    assert (day("2 weeks ago").day, day("2 weeks ago").approximate) == (date(2025, 12, 27), True)
    assert day("a month ago").approximate


@pytest.mark.parametrize(
    "text", ["Posted 30+ Days Ago", "hace más de 30 días", "more than 30 days ago", "30+d"]
)
def test_an_open_end_is_the_latest_day_it_can_have_been(text: str):
    assert (day(text).day, day(text).or_earlier) == (date(2025, 12, 11), True)


def test_a_month_is_a_month():
    assert [(day(text).day, day(text).precision) for text in ("December 2025", "2025-12")] == [
        (date(2025, 12, 1), "month")
    ] * 2
    assert (day("1983").day, day("1983").precision) == (date(1983, 1, 1), "year")


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Dec 5", "without a year"),
        ("apply within 5 days", "no date"),
        ("Closes in 3 days", "no date"),
        ("5 years", "no date"),
        ("a 5 day week", "no date"),
        ("2 Tage vor Ort", "no date"),
        ("31/02/2025", "calendar"),
        ("2025-13-45", "calendar"),
        ("May contain nuts", "no date"),
        ("Hier bewerben", "no date"),
        ("1.2.3", "no date"),
        ("", "empty"),
        ("Senior engineer 2025", "no date"),
        ("99/99/9999", "calendar"),
    ],
)
def test_no_year_no_deadline_and_no_day_is_made_up(text: str, says: str):
    found = read_day(text, today=TODAY)
    assert isinstance(found, NoDay)
    assert says in found.reason


@pytest.mark.promise(18)
def test_a_long_text_is_refused_before_it_is_read():
    assert read_date("2025-12-05 " * 100_000, today=TODAY) is None


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str):
    assert isinstance(read_day(text, today=TODAY), Day | NoDay)


@settings(deadline=None)
@given(st.text(alphabet="0123456789-/.: tzago+days vor december", max_size=120), st.dates())
def test_soup_of_digits_and_words_is_read_or_refused_on_any_day(text: str, today: date):
    assert isinstance(read_day(text, today=today), Day | NoDay)


@settings(deadline=None)
@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2200, 1, 1)))
def test_every_day_is_read_back_from_its_standard_spelling(when: date):
    assert day(when.isoformat()).day == day(when.strftime("%d %B %Y")).day == when
