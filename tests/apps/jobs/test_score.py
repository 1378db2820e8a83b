"""The score: what each part brings, that the parts add up, and that what is not known costs nothing."""

from dataclasses import fields
from datetime import date, timedelta
from typing import Any

import pytest

from tests.apps.jobs.judging import BERLIN, COUNTRY, MAINE
from tests.apps.jobs.opening import POINTS, PORTLAND, TEXT, TODAY, ago, pay, profile
from tests.apps.jobs.scoring import found, scored
from thresher.apps.jobs.person.profile import Profile
from thresher.apps.jobs.person.wants import Levels, Rank, Size, Skill
from thresher.apps.jobs.scoring.points import PREFIX, Employer, Points, employer_of, usual_points
from thresher.apps.jobs.settings import DEFAULTS
from thresher.core.record import Found
from thresher.hiring.opening import Level, Spot, Workplace
from thresher.hiring.records import CompanyRecord

pytestmark = pytest.mark.promise(13)
INDIA = Spot("Remote - India", None, None, "IN", remote=True)
NEW_YORK = Spot("New York, NY", "New York", "NY", "US")


def part(name: str, *, who: Profile | None = None, firm: Employer | None = None, **facts: Any) -> int:
    return found(scored(who, firm, **facts), name).points


@pytest.mark.promise(12)
def test_every_number_of_the_score_is_a_setting_and_every_setting_is_used():
    assert {PREFIX + field.name for field in fields(Points)} == {
        name for name in DEFAULTS if name.startswith(PREFIX)
    }
    assert usual_points() == POINTS


# --- the parts


@pytest.mark.parametrize(
    ("skills", "worth"),
    [((), 0), (("python",), 6), (("postgresql",), 4), (("python", "postgresql"), 10), (("rust",), 0)],
)
def test_technologies_count_by_rank_and_years(skills: tuple[str, ...], worth: int):
    """Python is required and known for 8 years, of which 5 count: 4 + 2.5, which is 6. PostgreSQL is fine,
    for 4 years: 2 + 2."""
    assert part("skills", skills=skills) == worth


def test_technologies_together_are_bounded():
    many = {f"skill{number}": Skill(Rank.REQUIRED, 10) for number in range(30)}
    assert part("skills", who=profile(skills=many), text=" ".join(many)) == POINTS.skill_most


def test_technologies_that_the_profile_does_not_name_are_gaps():
    whole = scored(skills=("python", "rust", "kafka"))
    assert (found(whole, "gaps").points, whole.gaps, whole.matched) == (-2, ("rust", "kafka"), ("python",))
    assert part("gaps", skills=tuple(f"s{number}" for number in range(50))) == POINTS.gap_least


def test_disliked_technologies_cost_and_are_bounded():
    assert part("disliked", skills=("java",)) == POINTS.disliked
    hated = {f"skill{number}": Skill(Rank.STRIKE) for number in range(30)}
    assert part("disliked", who=profile(skills=hated), text=" ".join(hated)) == POINTS.disliked_least


@pytest.mark.parametrize(
    ("facts", "worth"),
    [
        ({"level": Level.SENIOR}, 15),
        ({"level": Level.STAFF}, 15),
        ({"level": Level.PRINCIPAL}, -10),
        ({"level": Level.JUNIOR}, -10),
        ({"level": Level.EXECUTIVE, "title": "Vice President, Software"}, 0),
        ({"level": None, "title": "Senior Engineer"}, 15),
        ({"level": None, "title": "Engineering Manager"}, -10),
        ({"level": None, "title": "Engineer"}, 0),
        ({"level": Level.MANAGER, "title": "Senior Engineering Manager"}, -10),
    ],
)
def test_the_level_is_wanted_unwanted_or_neither(facts: dict[str, Any], worth: int):
    assert part("level", **facts) == worth


def test_levels_of_ones_own_words_are_looked_for_in_the_title():
    assert (
        part("level", who=profile(levels=Levels(wanted=("architect",))), title="Software Architect")
        == POINTS.level_wanted
    )


@pytest.mark.parametrize(
    ("title", "worth"), [("Senior Software Engineer", 10), ("Account Executive", -15), ("Engineering", -15)]
)
def test_the_title_is_one_that_is_looked_for_or_not(title: str, worth: int):
    assert part("title", title=title) == worth


def test_without_titles_no_title_is_wrong():
    assert part("title", who=profile(titles=()), title="Account Executive") == 0


@pytest.mark.parametrize(
    ("facts", "worth"),
    [
        ({"workplace": Workplace.REMOTE}, 5),
        ({"spots": (INDIA,)}, 5),
        ({"workplace": Workplace.HYBRID}, 0),
        ({"workplace": None}, 0),
    ],
)
def test_remote_work_brings_its_points(facts: dict[str, Any], worth: int):
    assert part("remote", **facts) == worth


@pytest.mark.parametrize(
    ("spots", "firm", "bonus"),
    [
        ((PORTLAND,), Employer(), True),
        ((BERLIN, PORTLAND), Employer(), True),
        ((MAINE,), Employer(), False),
        ((COUNTRY,), Employer(), False),
        ((), Employer(headquarters="Portland, Oregon"), True),
        ((), Employer(headquarters="Portland, ME"), False),
        ((), Employer(headquarters="Portland Cement Works, Boston, MA"), False),
        ((), Employer(), False),
    ],
)
def test_the_preferred_city_lowers_what_is_needed(spots: Any, firm: Employer, bonus: bool):
    whole = scored(firm=firm, spots=spots)
    assert (whole.city_bonus, whole.needed, found(whole, "city").points) == (
        (True, 65, 5) if bonus else (False, 80, 0)
    )


def test_without_a_city_there_is_no_bonus():
    assert not scored(who=profile(city=None), spots=(PORTLAND,)).city_bonus


@pytest.mark.parametrize(
    ("spots", "worth"),
    [
        ((BERLIN,), -15),
        ((BERLIN, COUNTRY), 0),
        ((PORTLAND,), 0),
        ((Spot("Anywhere"),), 0),
        ((), 0),
        ((BERLIN, Spot("?")), 0),
    ],
)
def test_work_that_is_only_in_other_countries_costs(spots: Any, worth: int):
    assert part("country", spots=spots) == worth


@pytest.mark.parametrize(
    ("facts", "worth"),
    [
        ({"spots": (PORTLAND,)}, 5),
        ({"spots": (Spot("Denver, CO", "Denver", "CO", "US"),)}, -2),
        ({"spots": (NEW_YORK,)}, -5),
        ({"spots": (Spot("São Paulo, Brazil", "São Paulo", None, "BR"),)}, -10),
        ({"spots": (BERLIN,)}, -20),
        ({"spots": (INDIA,)}, -20),
        ({"spots": (BERLIN, NEW_YORK)}, -5),
        ({"spots": (COUNTRY,)}, 0),
        ({"spots": ()}, 0),
        ({"spots": (BERLIN,), "text": "You overlap with Pacific Time. " + TEXT}, 5),
        ({"text": "Core hours are 9 to 5 ET. " + TEXT}, -5),
        ({"text": "Time zone: UTC+1. " + TEXT}, -20),
        ({"text": "Time zone: UTC-8. " + TEXT}, 5),
        ({"text": "We meet ET and other friendly aliens. " + TEXT}, 0),
        ({"firm": Employer(headquarters="New York, NY")}, -5),
        ({"firm": Employer(Size.LARGE, headquarters="New York, NY")}, 0),
        ({"firm": Employer(headquarters="New York, NY"), "spots": (COUNTRY,)}, 0),
    ],
)
def test_the_clock_of_the_team_counts_text_before_place_before_company(facts: dict[str, Any], worth: int):
    assert part("time zone", **facts) == worth


def test_an_opening_at_the_other_end_of_the_world_is_no_match_however_well_it_fits():
    best = {
        "skills": ("python", "postgresql"),
        "level": Level.SENIOR,
        "posted": TODAY,
        "pay": pay(150_000, 200_000),
    }
    assert scored(**best, spots=(Spot("Remote - US", None, None, "US", remote=True),)).passed
    assert not scored(**best, spots=(INDIA,)).passed


@pytest.mark.parametrize(
    ("salary", "worth"),
    [
        (pay(100_000, 150_000), 5),
        (pay(100_000, 149_999), -2),
        (pay(100_000, 135_000), -2),
        (pay(100_000, 134_999), -4),
        (pay(10_000, 10_001), -10),
        (pay(100_000, 149_999, "EUR"), 0),
        (pay(40, 40), 0),
        (None, 0),
    ],
)
def test_salary_meets_the_target_or_misses_it_by_tenths(salary: Any, worth: int):
    assert part("salary", pay=salary) == worth


@pytest.mark.parametrize(
    ("posted", "worth"),
    [(TODAY, 5), (ago(2), 5), (ago(3), 0), (ago(7), 0), (ago(8), -3), (ago(15), -6), (None, 0), (ago(-5), 0)],
)
def test_freshness_counts_a_little(posted: date | None, worth: int):
    assert part("freshness", posted=posted) == worth


def test_age_does_not_dominate():
    """Between the freshest and the oldest posting lies less than between a wanted level and one that is not
    said."""
    ages = [part("freshness", posted=TODAY - timedelta(days=days)) for days in (0, 3, 8, 400)]
    assert max(ages) - min(ages) < POINTS.level_wanted
    assert max(ages) - min(ages) < abs(POINTS.zone_opposite)


@pytest.mark.parametrize(
    ("wanted", "size", "worth"),
    [
        (Size.LARGE, Size.LARGE, 5),
        (Size.LARGE, Size.SMALL, -5),
        (Size.LARGE, Size.MEDIUM, 0),
        (Size.SMALL, Size.LARGE, -5),
        (Size.SMALL, Size.SMALL, 5),
        (Size.MEDIUM, Size.SMALL, 0),
        (None, Size.LARGE, 0),
        (Size.LARGE, None, 0),
    ],
)
def test_the_size_of_the_company_counts_as_the_person_prefers(wanted: Any, size: Any, worth: int):
    assert part("size", who=profile(size=wanted), firm=Employer(size)) == worth


def test_what_the_company_is_counts_where_it_is_known():
    known = Employer(None, "S", remote_first=True, ai_focus=True)
    assert [part(name, firm=known) for name in ("tier", "remote first", "ai focus")] == [5, 3, 2]
    assert [part(name) for name in ("tier", "remote first", "ai focus")] == [0, 0, 0]
    assert [part("tier", firm=Employer(tier=tier)) for tier in "SABCD"] == [5, 3, 1, 0, 0]


def company(data):
    return CompanyRecord.of(Found("company", "acme.example", data))


def test_a_company_is_read_from_its_record_however_odd_that_is():
    data = {
        "size_category": "large",
        "tier": "A",
        "remote_first": True,
        "ai_focus": False,
        "headquarters": "Portland, OR",
    }
    assert employer_of(company(data)) == Employer(Size.LARGE, "A", True, False, "Portland, OR")
    assert employer_of(None) == Employer()
    odd = {
        "size_category": 5,
        "tier": ["S"],
        "remote_first": "yes",
        "ai_focus": 1,
        "headquarters": {},
        "score_parts": "x",
    }
    assert employer_of(company(odd)) == Employer()


def test_an_office_that_the_companys_pages_name_counts_as_being_in_the_city():
    parts = [
        {"rule": "city", "points": 50, "quote": "our office in Portland, Oregon"},
        {"rule": "ai focus", "points": 0, "quote": "no"},
        5,
    ]
    firm = employer_of(company({"score_parts": parts}))
    assert firm.said == {"city": "our office in Portland, Oregon"}
    assert scored(firm=firm).city_bonus
    assert (
        found(scored(firm=firm), "city").reason
        == "the company has an office in Portland: 'our office in Portland, Oregon'"
    )
    assert not scored(who=profile(city="Boise", region="ID"), firm=firm).city_bonus


@pytest.mark.parametrize(
    ("name", "facts", "reason"),
    [
        ("salary", {}, "it does not say what it pays"),
        ("salary", {"pay": pay(1, 100_000, "EUR")}, "what it pays cannot be compared with your target"),
        ("tier", {}, "the company has no tier yet"),
        ("tier", {"firm": Employer(tier="C")}, "the company's tier is C"),
        ("size", {"firm": Employer(Size.LARGE)}, "your profile prefers no size"),
        ("size", {"who": profile(size=Size.LARGE)}, "the size of the company is not known"),
        ("level", {"title": "Engineer"}, "it does not say its level"),
        ("remote", {}, "it does not say where the work is done"),
        ("city", {}, "nothing says that it is in Portland"),
        ("city", {"who": profile(city=None)}, "your profile names no city"),
        ("country", {}, "it does not say the country"),
        ("country", {"who": profile(country=None)}, "your profile names no country"),
        ("time zone", {}, "it does not say the team's time zone"),
        ("time zone", {"who": Profile()}, "your profile names no time zone"),
        ("freshness", {}, "it does not say when it was posted"),
        ("ai focus", {}, "nothing says that the company works on artificial intelligence"),
        ("skills", {"skills": ()}, "it names none of your skills"),
    ],
)
def test_what_brings_nothing_says_why(name: str, facts: dict[str, Any], reason: str):
    whole = scored(**facts)
    assert (found(whole, name).points, found(whole, name).reason) == (0, reason)


def test_a_person_who_names_no_time_zone_has_that_of_their_place():
    assert part("time zone", who=profile(timezone=None), spots=(NEW_YORK,)) == POINTS.zone_apart


def test_a_village_that_nobody_knows_is_the_persons_city_all_the_same():
    village = profile(city="Zigzag Corner", region="OR", country="US", timezone=None)
    assert scored(who=village, spots=(Spot("Zigzag Corner, OR", "Zigzag Corner", "OR", "US"),)).city_bonus
    assert not scored(who=village, spots=(Spot("Zigzag Corner, ME", "Zigzag Corner", "ME", "US"),)).city_bonus
    assert part("time zone", who=village, spots=(NEW_YORK,)) == POINTS.zone_apart
