"""All facts of a posting, with their evidence, from any data whatever."""

from datetime import date
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from thresher.core import stored
from thresher.core.errors import Malformed
from thresher.core.evidence import Place
from thresher.hiring.facts import MAX_LENGTH, read_facts
from thresher.hiring.opening import (
    Employment,
    Experience,
    Level,
    Opening,
    Workplace,
    as_json,
    facts_of,
    of_json,
    opening_of,
    places_of,
)
from thresher.hiring.records import PostingRecord

TODAY = date(2031, 5, 20)
TEXT = """We are a remote-first company and raised $5M last year.

**What you bring**
- 5+ years of experience with Python and PostgreSQL
- A good temper

The base salary range is $120,000 – $150,000 a year. 401(k) after 1 year.
This is a full-time position."""
POSTING = {
    "title": "Senior Software Engineer",
    "company_name": "Mill & Harrow",
    "location": "Portland, OR; Remote - US",
    "url": "https://mill.example/1",
    "posted": "2031-05-18",
    "description": TEXT,
}


def facts_in(key: str, data: dict[str, Any], **how: Any) -> Opening:
    return read_facts(stored.read(PostingRecord, data, key=key), **how)


def read(**changes: Any) -> Opening:
    return facts_in("b/1", {**POSTING, **changes}, today=TODAY, source="abc")


def test_everything_that_a_posting_says_is_read():
    found = read()
    assert found.pay is not None
    assert (found.pay.year_low, found.pay.year_high, found.pay.currency, found.pay.period) == (
        120_000,
        150_000,
        "USD",
        "year",
    )
    assert [(spot.city, spot.country, spot.remote) for spot in found.spots] == [
        ("Portland", "US", False),
        (None, "US", True),
    ]
    assert (found.workplace, found.level, found.experience) == (Workplace.REMOTE, Level.SENIOR, Experience(5))
    assert (found.employment, found.posted) == ((Employment.FULL_TIME,), date(2031, 5, 18))
    assert {"python", "postgresql"} <= set(found.skills)
    assert (found.title, found.company, found.text) == ("Senior Software Engineer", "Mill & Harrow", TEXT)


@pytest.mark.promise(14)
def test_every_fact_says_where_it_stands():
    found = read()
    places = found.evidence.places
    assert found.evidence.source == "abc"
    assert {
        "pay",
        "spots.0",
        "spots.1",
        "workplace",
        "level",
        "experience",
        "employment.0",
        "posted",
        "skills.0",
    } <= places.keys()
    assert places["level"] == Place("Senior", path="title")
    assert places["posted"] == Place("2031-05-18", path="posted")
    pay = places["pay"]
    assert pay is not None
    assert (pay.quote, TEXT[pay.start : pay.end]) == ("$120,000 – $150,000 a year",) * 2


def test_a_field_of_its_own_speaks_before_the_description():
    found = read(
        workplace="hybrid",
        salary={"text": "90-95K", "low": 90_000, "high": 95_000, "currency": "USD"},
        employment_type="CONTRACTOR",
    )
    assert found.pay is not None
    assert (found.workplace, found.pay.year_high, found.employment) == (
        Workplace.HYBRID,
        95_000,
        (Employment.CONTRACT,),
    )
    assert found.evidence.places["pay"] == Place("90-95K", path="salary.text")
    assert found.evidence.places["workplace"] == Place("hybrid", path="workplace")


def test_a_salary_of_numbers_alone_is_quoted_by_its_number():
    found = read(salary={"low": 90_000, "high": 95_000, "currency": "USD", "period": "year"})
    assert found.evidence.places["pay"] == Place("90000", path="salary.low")


def test_a_salary_without_numbers_leaves_the_word_to_the_description():
    found = read(salary={"text": "Competitive"})
    assert found.pay is not None
    assert found.pay.year_low == 120_000


def test_a_posting_that_says_nothing_is_an_opening_of_which_nothing_is_known():
    found = facts_in("b/2", {"title": "Baker"}, today=TODAY)
    assert (
        found.pay,
        found.spots,
        found.workplace,
        found.level,
        found.experience,
        found.employment,
        found.skills,
        found.posted,
    ) == (
        None,
        (),
        None,
        None,
        None,
        (),
        (),
        None,
    )
    assert dict(found.evidence.places) == {}


def test_not_remote_in_a_field_is_not_on_site():
    assert facts_in("b/3", {"title": "Baker", "remote": False}, today=TODAY).workplace is None
    assert facts_in("b/3", {"title": "Baker", "remote": True}, today=TODAY).workplace is Workplace.REMOTE


def test_a_labelled_line_says_where_if_no_field_does():
    found = facts_in(
        "b/4", {"title": "Baker", "description": "Bread.\nLocation: Leeds, UK\nMore bread."}, today=TODAY
    )
    assert [(spot.city, spot.country) for spot in found.spots] == [("Leeds", "GB")]
    place = found.evidence.places["spots.0"]
    assert place is not None
    assert (place.quote, place.path) == ("Leeds, UK", None)


def test_a_day_is_counted_back_from_today():
    assert facts_in("b/5", {"title": "Baker", "posted": "3 days ago"}, today=TODAY).posted == date(
        2031, 5, 17
    )
    assert facts_in("b/5", {"title": "Baker", "posted": "30+ days ago"}, today=TODAY).posted is None


def test_an_opening_comes_back_as_it_was_kept():
    found = read()
    assert of_json(as_json(found), text=found.text) == found
    kept = stored.read(PostingRecord, {**POSTING, "facts": facts_of(found)}, key=found.key)
    assert opening_of(kept, places_of(found)) == found


@pytest.mark.promise(1)
def test_facts_that_a_newer_release_knows_more_of_are_read_as_far_as_they_are_known():
    found = read()
    facts = as_json(found)
    for part in (facts["pay"], facts["experience"], *facts["spots"], *facts["evidence"]["places"].values()):
        part["sureness"] = 0.7
    assert of_json(facts | {"mood": "cheerful"}, text=found.text) == found


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"key": "a", "level": "king"},
        {"key": "a", "spots": [{"town": "x"}]},
        {"key": "a", "pay": {"text": "x", "low": "many"}},
    ],
)
def test_facts_that_are_none_are_refused_with_advice(facts: dict[str, Any]):
    with pytest.raises(Malformed, match="read them again"):
        of_json(facts)


def test_a_posting_without_facts_says_so():
    with pytest.raises(Malformed, match="has no facts yet"):
        opening_of(PostingRecord("b/1", title="Baker"), None)


PIECES = st.sampled_from(
    [
        "remote",
        "hybrid",
        "not ",
        "on-site",
        "5+ years",
        "of experience",
        "$",
        "€",
        "120,000",
        "60-75K",
        " - ",
        "per hour",
        "a year",
        "\n",
        "**",
        " ",
        "Portland, OR",
        "Location:",
        "full-time",
        "contract",
        "position",
        "days a week",
        "in the office",
        "İ",
        "ß",
        "\u00a0",
        "—",
        "401k",
        "401(k)",
        "Python",
        "Go",
        "#LI-",
        "USD",
        "٣",
        "𝟙𝟚",
        "1" * 40,
        "999,999,999,999",
        "0",
        ".",
        ",",
        "years",
        "Jahre",
        "&amp;",
        "\ud800",
        "\x00",
    ]
)
ANYTHING = st.one_of(
    st.text(max_size=400),
    st.lists(PIECES, max_size=60).map("".join),
    st.lists(PIECES, max_size=60).map(" ".join),
)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), ANYTHING, st.lists(st.integers(), max_size=2))
SALARIES = st.one_of(
    VALUES,
    st.fixed_dictionaries({}, optional=dict.fromkeys(("text", "low", "high", "currency", "period"), VALUES)),
)
DATA = st.fixed_dictionaries(
    {"title": ANYTHING, "description": ANYTHING},
    optional={
        "location": VALUES,
        "salary": SALARIES,
        "employment_type": VALUES,
        "posted": VALUES,
        "remote": VALUES,
        "workplace": VALUES,
        "company_name": VALUES,
    },
)


@pytest.mark.promise(14)
@given(DATA)
@example({"title": "", "description": "$" * 2_000})
@example({"title": "", "description": "1 - " * 2_000})
@example({"title": "x", "description": "remote " * 2_000})
def test_whatever_a_posting_says_every_quote_stands_where_it_is_said_to(data: dict[str, Any]):
    found = facts_in("k", data, today=TODAY)
    for name, place in found.evidence.places.items():
        assert place is not None, name
        if place.path is None:
            assert place.start is not None
            assert place.quote == data["description"][place.start : place.end], name
            assert place.quote.strip(), name
        else:
            field, _, part = place.path.partition(".")
            said = data[field][part] if part else data[field]
            assert place.quote in str(said), name
    assert of_json(as_json(found), text=found.text) == found


@given(DATA)
def test_facts_agree_with_their_evidence(data: dict[str, Any]):
    """A fact has a place, and a place has a fact."""
    found = facts_in("k", data, today=TODAY)
    known = {
        name
        for name in ("pay", "workplace", "level", "experience", "posted")
        if getattr(found, name) is not None
    }
    for name in ("spots", "employment", "skills"):
        known |= {f"{name}.{at}" for at in range(len(getattr(found, name)))}
    assert known == set(found.evidence.places)


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "piece",
    [
        "remote ",
        "$1 - ",
        "5 years ",
        "not " * 3,
        "1,",
        "(((",
        "a@",
        "hybrid or ",
        "\n",
        "days a week office ",
        "USD",
        "Portland, ",
    ],
)
def test_a_flood_of_one_thing_is_read_within_bounds(piece: str):
    flood = piece * (4 * MAX_LENGTH // len(piece))
    found = facts_in(
        "k",
        {"title": flood, "location": flood, "description": flood, "salary": flood, "employment_type": flood},
        today=TODAY,
    )
    assert len(found.text) <= MAX_LENGTH
    assert len(found.evidence.places) < 250


def test_a_field_about_the_hours_does_not_hide_what_the_title_says_of_the_contract():
    found = facts_in(
        "k", {"title": "Software Engineering Intern", "employment_type": "Full time"}, today=TODAY
    )
    assert found.employment == (Employment.FULL_TIME, Employment.INTERNSHIP)
    assert found.evidence.places["employment.1"].quote == "Intern"
    assert found.evidence.places["employment.0"].path == "employment_type"
    plain = facts_in(
        "k", {"title": "Internal Auditor, part-time possible", "employment_type": "Full time"}, today=TODAY
    )
    assert plain.employment == (Employment.FULL_TIME,)
