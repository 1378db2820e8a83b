"""One posting as a scraper sends it: kept whole, kept with a note, or skipped with a reason that names the
member."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.roles.arrival import MAX_DESCRIPTION, Arrival, Reason, Skip, read_arrival
from thresher.core.json_stream import Passed
from thresher.hiring import fingerprint

JOB: dict[str, Any] = {
    "external_job_id": "monster-123456",
    "platform": "monster",
    "title": "Senior Python Developer",
    "company": "TechCorp",
    "location": "San Francisco, CA",
    "description": "We build things.",
    "skills": ["Python", "Django", "AWS"],
    "salary_min": 120_000,
    "salary_max": 180_000,
    "job_url": "https://monster.com/jobs/1",
    "posted_date": "2024-01-15",
}
MEMBERS = (
    *JOB,
    "salary",
    "salary_currency",
    "salary_period",
    "experience_min",
    "experience_max",
    "experience",
    "experience_text",
    "is_remote",
    "remote",
    "requirements",
)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.text(st.characters(categories=["Cs", "Cc", "Lu"]), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def kept(**said: Any) -> Arrival:
    found = read_arrival(3, JOB | said)
    assert isinstance(found, Arrival), found
    return found


def skipped(**said: Any) -> Skip:
    found = read_arrival(3, JOB | said)
    assert isinstance(found, Skip), found
    return found


def test_a_posting_of_the_contract_is_kept_whole() -> None:
    found = kept()
    assert (found.at, found.key, found.platform, found.notes) == (3, "monster/monster-123456", "monster", ())
    assert found.data == {
        "title": "Senior Python Developer",
        "company_name": "TechCorp",
        "location": "San Francisco, CA",
        "description": "We build things.",
        "skills": ["Python", "Django", "AWS"],
        "url": "https://monster.com/jobs/1",
        "posted": "2024-01-15",
        "number": "monster-123456",
        "platform": "monster",
        "content": found.content,
        "salary": {
            "text": "120,000 - 180,000",
            "low": 120_000,
            "high": 180_000,
            "currency": None,
            "period": None,
        },
    }


@pytest.mark.promise(18)
@given(st.dictionaries(st.sampled_from(MEMBERS), ANYTHING), st.sets(st.sampled_from(MEMBERS)))
def test_whatever_comes_is_kept_or_skipped_and_fits_into_both_databases(
    said: dict[str, Any], without: set[str]
) -> None:
    found = read_arrival(0, {name: value for name, value in (JOB | said).items() if name not in without})
    if isinstance(found, Skip):
        assert found.reason is Reason.INVALID
        assert found.detail
        return
    text = orjson.dumps(found.data).decode()  # refuses half characters and numbers that are none
    assert "\\u0000" not in text
    assert "\0" not in found.key + found.platform
    assert len(found.key) <= 512
    assert found.data["title"].strip()
    assert len(found.data.get("description", "")) <= MAX_DESCRIPTION


@pytest.mark.parametrize("value", [None, 1, "text", [], True, 1.5])
def test_what_is_no_object_is_skipped(value: Any) -> None:
    found = read_arrival(0, value)
    assert isinstance(found, Skip)
    assert found.reason is Reason.INVALID


@pytest.mark.parametrize(
    "said",
    [
        {"title": 5},
        {"title": None},
        {"title": "  "},
        {"company": []},
        {"location": {}},
        {"description": 1},
        {"skills": {"a": 1}},
        {"skills": ["a", 1]},
        {"salary_min": ["120000"]},
        {"salary_max": True},
        {"salary": 5},
        {"job_url": 7},
        {"posted_date": 20240115},
        {"is_remote": "yes"},
        {"remote": 1},
        {"external_job_id": 1.5},
        {"external_job_id": ["x"]},
        {"external_job_id": "x" * 400},
        {"platform": 1},
        {"platform": "p" * 90},
        {"experience_min": {}},
        {"requirements": ["Python"]},
    ],
)
def test_a_wrong_type_skips_the_posting_and_names_the_member(said: dict[str, Any]) -> None:
    found = skipped(**said)
    assert found.reason is Reason.INVALID
    assert next(iter(said)) in found.detail


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("120000", 120_000),
        ("120,000", 120_000),
        ("120.000", 120_000),
        ("120 000", 120_000),
        ("120k", 120_000),
        ("$120,000", 120_000),
        ("120000 EUR", 120_000),
        ("120000.50", 120_000.5),
        (" 0 ", 0),
    ],
)
def test_a_number_may_be_written_as_text(said: str, meant: float) -> None:
    found = kept(salary_min=said, salary_max="180k")
    assert (found.data["salary"]["low"], found.data["salary"]["high"]) == (meant, 180_000)
    assert found.notes == ()


@pytest.mark.promise(1)
@pytest.mark.parametrize("said", ["competitive", "120k-150k", "12O000", "-5", "1e5", "1 2", "5" * 500])
def test_text_that_is_no_number_is_kept_and_noted_by_its_member(said: str) -> None:
    found = kept(salary_min=said, salary_max=None)
    assert found.data["salary"] == {
        "text": said[:300],
        "low": None,
        "high": None,
        "currency": None,
        "period": None,
    }
    assert found.notes[0].startswith(f"salary_min is kept as text: {said[:40]!r} is not a number")
    years = kept(experience_min="two", experience_max="4")
    assert years.data["experience"] == {"text": None, "low": None, "high": 4}
    assert years.notes[0].startswith("experience_min is ignored: 'two' is not a number")


def test_a_number_in_quotes_that_is_empty_says_nothing() -> None:
    found = kept(salary_min="", salary_max="  ")
    assert ("salary" in found.data, found.notes) == (False, ())


def test_a_posting_needs_a_number_on_a_platform_or_an_address() -> None:
    assert "job_url" in skipped(external_job_id=None, job_url=None).detail
    assert "platform" in skipped(platform=None, job_url=None).detail
    assert kept(external_job_id=None).key.startswith("url/")
    assert kept(platform=None).key.startswith("url/")
    assert (
        kept(external_job_id=None).key
        == kept(external_job_id="  ", job_url="https://monster.com/jobs/1?utm_source=x#top").key
    )
    assert kept(external_job_id=77).key == "monster/77"


def test_platforms_are_compared_without_case_and_spaces() -> None:
    assert kept(platform=" Monster ").key == "monster/monster-123456"
    found = read_arrival(0, {name: value for name, value in JOB.items() if name != "platform"}, "dice")
    assert isinstance(found, Arrival)
    assert found.key == "dice/monster-123456"


def test_a_platform_that_the_key_may_not_bring_is_skipped() -> None:
    found = read_arrival(0, JOB, None, {"dice"})
    assert isinstance(found, Skip)
    assert (found.reason, found.number) == (Reason.PLATFORM_NOT_ALLOWED, "monster-123456")


def test_an_element_that_was_passed_over_is_too_large() -> None:
    found = read_arrival(4, Passed("nested too deeply"))
    assert found == Skip(4, None, Reason.TOO_LARGE, "it is nested too deeply")


@pytest.mark.parametrize(
    ("said", "gone", "note"),
    [
        ({"posted_date": "yesterday"}, "posted", "posted_date"),
        ({"posted_date": "2024-13-40"}, "posted", "posted_date"),
        ({"salary_min": 9, "salary_max": 5}, "salary", "salary_min is above"),
        ({"job_url": "javascript:alert(1)"}, "url", "job_url"),
        ({"job_url": "ftp://a.example/x"}, "url", "job_url"),
        ({"job_url": "https://"}, "url", "job_url"),
        ({"experience_min": -1}, "experience", "experience_min"),
        ({"salary_min": float("inf"), "salary_max": -3}, "salary", "salary_min"),
    ],
)
def test_a_value_that_makes_no_sense_is_left_out_and_noted(
    said: dict[str, Any], gone: str, note: str
) -> None:
    found = kept(**said)
    assert gone not in found.data
    assert note in found.notes[0]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-01-15T10:00:00Z", "2024-01-15"),
        ("2024-01-15T23:00:00+02:00", "2024-01-15"),
        (" 2024-01-15 ", "2024-01-15"),
    ],
)
def test_a_date_may_have_a_time(said: str, meant: str) -> None:
    assert kept(posted_date=said).data["posted"] == meant


def test_html_becomes_text_and_text_with_a_sign_in_it_stays() -> None:
    assert (
        kept(description="<p>We <b>build</b></p><ul><li>things</li></ul>").data["description"]
        == "We build\n\n- things"
    )
    assert kept(description="a < b and List<int> > c").data["description"] == "a < b and List<int> > c"


def test_a_long_description_is_cut_and_noted() -> None:
    found = kept(description="x" * (MAX_DESCRIPTION + 1))
    assert len(found.data["description"]) == MAX_DESCRIPTION
    assert "cut" in found.notes[0]


def test_requirements_stand_below_the_description_once() -> None:
    assert (
        kept(requirements="Five years of Python.").data["description"]
        == "We build things.\n\nFive years of Python."
    )
    assert kept(requirements="build").data["description"] == "We build things."
    assert kept(description=None, requirements="Python").data["description"] == "Python"


def test_skills_are_a_list_or_a_text_with_commas() -> None:
    assert kept(skills="Python,  django , python,,").data["skills"] == ["Python", "django"]
    assert "skills" not in kept(skills=[]).data
    assert len(kept(skills=[str(number) for number in range(500)]).data["skills"]) == 100


def test_a_number_that_cannot_be_read_does_not_hide_the_other() -> None:
    found = kept(salary_min=90_000, salary_max="abc", experience_min="some", experience_max=5)
    assert found.data["salary"] == {
        "text": "90,000",
        "low": 90_000,
        "high": None,
        "currency": None,
        "period": None,
    }
    assert found.data["experience"] == {"text": None, "low": None, "high": 5}
    assert sorted(found.notes) == [
        "experience_min is ignored: 'some' is not a number such as 120000, 120,000 or 120k",
        "salary_max is ignored: 'abc' is not a number such as 120000, 120,000 or 120k",
    ]
    worded = kept(salary="about 90k", salary_max="abc")
    assert (worded.data["salary"]["text"], worded.notes[0][:21]) == ("about 90k", "salary_max is ignored")
    assert kept(salary_min="competitive", salary_max="").data["salary"]["text"] == "competitive"


def test_salary_experience_and_remote_are_kept_as_they_were_stated() -> None:
    found = kept(
        salary="£50k a year",
        salary_min=None,
        salary_max=50_000.0,
        salary_currency="gbp",
        salary_period="yearly",
        is_remote=True,
        experience_min=2,
        experience_max=4.5,
        experience="2+ years",
    ).data
    assert found["salary"] == {
        "text": "£50k a year",
        "low": None,
        "high": 50_000,
        "currency": "GBP",
        "period": "year",
    }
    assert found["experience"] == {"text": "2+ years", "low": 2, "high": 4.5}
    assert (found["is_remote"], found["remote"]) == (True, "remote")
    assert "remote" not in kept(remote=False).data


def test_nul_and_half_characters_are_mended() -> None:
    found = kept(
        title="A\0B", company="C\ud800D", description="x\0y\udfff", skills=["a\0"], external_job_id="7\0"
    )
    assert found.data["title"] == "A\N{REPLACEMENT CHARACTER}B"
    assert found.data["company_name"] == "C?D"
    assert orjson.dumps(found.data)


def test_the_same_posting_in_other_clothes_has_the_same_content() -> None:
    assert (
        kept().content
        == kept(
            external_job_id="9", platform="dice", company="TechCorp, Inc.", title="senior  python-developer"
        ).content
    )
    assert kept().content != kept(location="Leeds").content
    assert kept().content != kept(description="Another team.").content
    assert kept(description=None).content != kept().content


@given(st.text("aB3_ -*\n", max_size=600))
def test_a_description_counts_by_its_first_letters_however_far_apart_they_stand(text: str) -> None:
    assert (
        fingerprint._beginning(text)
        == "".join(char for char in text[:400].lower() if char.isalnum() or char == "_")[:100]
    )


def test_a_posting_that_says_too_little_has_no_twin() -> None:
    assert kept(company=None).content is None
    assert kept(description=None, location=None).content is None
