"""The strike filter: every rule at its bound, the order of the hard ones, and that what is not said is never
held against a posting."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from tests.apps.jobs.judging import BERLIN, COUNTRY, MAINE, judged
from tests.apps.jobs.opening import PORTLAND, RULES, TEXT, TODAY, ago, opening, pay, profile
from tests.apps.jobs.test_negation import MEANT, TAKEN_BACK
from thresher.apps.jobs.filtering.filter import Judgement, judge
from thresher.apps.jobs.person.wants import Profile, Stops, Workplaces
from thresher.core.evidence import Evidence, Place
from thresher.hiring.opening import Level, Opening, Spot, Workplace

pytestmark = pytest.mark.promise(13)


def hard(**facts: Any) -> str | None:
    found = judged(**facts).hard
    return found and found.name


def test_a_posting_that_nothing_speaks_against_passes_with_nothing():
    assert judged(posted=TODAY) == Judgement(None, (), 0, 5)
    assert judged(posted=TODAY).passed


# --- what is not said


def test_a_posting_that_says_nothing_but_its_title_gets_one_strike_for_that():
    found = judge(Opening("k", "Engineer"), profile(), RULES, TODAY)
    assert (found.hard, [each.name for each in found.strikes], found.passed) == (
        None,
        ["short_description"],
        True,
    )


def test_an_empty_posting_is_not_an_error():
    assert judge(Opening("", ""), Profile(), RULES, TODAY).hard is None


# --- hard rejections, each at its bound


@pytest.mark.parametrize(
    ("title", "rule"),
    [
        ("Sales Engineer", "excluded_type"),
        ("Engineer, HR Systems", "excluded_type"),
        ("Customer Success Engineer", "excluded_type"),
        ("Salesforce Engineer", None),
        ("Shrimp Farm Engineer", None),
        ("Supporting Engineer", None),
        ("Junior Engineer", "excluded_level"),
        ("Engineer (Entry Level)", "excluded_level"),
        ("Co-op Engineer", "excluded_level"),
        ("Internal Tools Engineer", None),
        ("Associate Engineer", "excluded_level"),
        ("Engineer - no juniors", None),
        ("Engineer (not junior)", None),
    ],
)
def test_types_and_levels_are_whole_words_of_the_title(title: str, rule: str | None):
    assert hard(title=title) == rule


def test_a_level_that_was_read_from_other_words_counts_too():
    assert hard(title="Werkstudent Software", level=Level.INTERN) == "excluded_level"
    assert hard(title="Software Engineer", level=Level.SENIOR) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("You will join our sales team.", "excluded_type"),
        ("We are hiring for our sales team.", "excluded_type"),
        ("We are looking for a recruiter.", "excluded_type"),
        ("Responsibilities: customer success and more", "excluded_type"),
        ("You will work with the sales team.", None),
        ("Partner with sales, support and the product team.", None),
        ("Our team will support you.", None),
        ("Join a team that can support a family.", None),
        ("This role is not in sales.", None),
        ("Sales went up last year. Join the team that did it.", None),
        ("As a critical member of the customer success team you advise.", "excluded_type"),
        ("The sales team is hiring.", "excluded_type"),
        ("Support: a team that helps you to grow.", None),
        ("You provide technical support to the team.", None),
        ("6 years of experience in a pre-sales role.", None),
        ("Write guides that help our sales team.", None),
        ("The hr team is hiring.", None),
    ],
)
def test_a_type_in_the_text_counts_only_as_the_role(text: str, rule: str | None):
    assert hard(title="Specialist", text=text + "\n" + TEXT) == rule


def test_a_title_that_is_wanted_is_not_asked_about_again():
    """An engineer who joins the sales team is an engineer; the title has said what the work is."""
    assert hard(title="Software Engineer", text="You will join our sales team.") is None


def test_types_in_the_text_can_be_left_alone():
    said = opening(title="Specialist", text="You will join our sales team.")
    assert judged(said, rules=replace(RULES, type_distance=0)).hard is None


def test_companies_are_excluded_by_name_and_not_by_letters():
    who = profile(excluded=Stops(companies=("Meta",)))
    assert judged(who=who, company="Meta Platforms").hard is not None
    assert judged(who=who, company="Metabase").hard is None
    assert judged(who=who, company=None).hard is None


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_a_keyword_that_is_taken_back_rejects_nothing(text: str):
    assert hard(text=text + "\n" + TEXT) is None


@pytest.mark.parametrize("text", MEANT)
def test_a_keyword_that_is_meant_rejects_with_its_sentence(text: str):
    found = judged(text=text + "\n" + TEXT).hard
    assert found is not None
    assert found.name == "excluded_keyword"
    assert "clearance" in (found.quote or "").lower()


@pytest.mark.parametrize(
    ("salary", "rule"),
    [
        (pay(80_000, 99_999), "salary_floor"),
        (pay(80_000, 100_000), None),
        (pay(None, 99_999), "salary_floor"),
        (pay(90_000, None, text="$90,000"), "salary_floor"),
        (pay(90_000, None, text="from $90,000"), None),
        (pay(90_000, None, text="$90,000+"), None),
        (pay(80_000, 90_000, "EUR"), None),
        (pay(80_000, 90_000, None), None),
        (pay(401, 401), None),
        (pay(9_999, 9_999), None),
        (pay(10_000, 10_000), "salary_floor"),
        (None, None),
    ],
)
def test_the_floor_is_compared_with_the_most_that_is_paid(salary: Any, rule: str | None):
    assert hard(pay=salary) == rule


def test_an_amount_without_a_currency_is_the_persons_where_the_work_is_in_their_country():
    assert hard(pay=pay(80_000, 90_000, None), spots=(PORTLAND,)) == "salary_floor"
    assert hard(pay=pay(80_000, 90_000, None), spots=(Spot("Remote", remote=True),)) is None
    assert hard(pay=pay(80_000, 90_000, None), spots=(Spot("Germany", None, None, "DE"),)) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("This position is commission-only.", "commission_only"),
        ("100% commission", "commission_only"),
        ("Be your own boss!", "commission_only"),
        ("Multi-level marketing", "commission_only"),
        ("Multilevel marketing", "commission_only"),
        ("It is not commission only.", None),
        ("We are no MLM.", None),
        ("The European Commission only funds a part.", "commission_only"),
    ],
)
def test_commission_alone_is_rejected(text: str, rule: str | None):
    """The last is a known price of plain phrases: the list is the person's to change."""
    assert hard(text=text + "\n" + TEXT) == rule


@pytest.mark.parametrize(
    ("workplace", "spots", "rule"),
    [
        (None, (), None),
        (None, (COUNTRY,), None),
        (None, (BERLIN,), None),
        (Workplace.REMOTE, (BERLIN,), None),
        (Workplace.HYBRID, (PORTLAND,), None),
        (Workplace.HYBRID, (BERLIN, PORTLAND), None),
        (Workplace.HYBRID, (Spot("Portland", "Portland"),), None),
        (Workplace.HYBRID, (MAINE,), "hybrid_not_wanted"),
        (Workplace.HYBRID, (BERLIN,), "hybrid_not_wanted"),
        (Workplace.HYBRID, (COUNTRY,), None),
        (Workplace.HYBRID, (), None),
        (Workplace.ONSITE, (PORTLAND,), "onsite_not_wanted"),
        (Workplace.ONSITE, (), "onsite_not_wanted"),
        (Workplace.ONSITE, (PORTLAND, Spot("Remote", remote=True)), None),
    ],
)
def test_remote_is_fine_hybrid_only_at_home_and_offices_are_not(workplace: Any, spots: Any, rule: str | None):
    assert hard(workplace=workplace, spots=spots) == rule


@pytest.mark.parametrize(
    ("wants", "workplace", "spots", "rule"),
    [
        (Workplaces(remote=False), Workplace.REMOTE, (), "remote_not_wanted"),
        (Workplaces(hybrid_in=("Berlin",)), Workplace.HYBRID, (BERLIN,), None),
        (Workplaces(hybrid_in=("Portland, ME",)), Workplace.HYBRID, (MAINE,), None),
        (Workplaces(hybrid_in=("Portland, ME",)), Workplace.HYBRID, (PORTLAND,), "hybrid_not_wanted"),
        (Workplaces(hybrid_in=()), Workplace.HYBRID, (PORTLAND,), "hybrid_not_wanted"),
        (Workplaces(onsite=True), Workplace.ONSITE, (BERLIN,), None),
        (Workplaces(onsite_in=("Berlin, Germany",)), Workplace.ONSITE, (BERLIN,), None),
        (Workplaces(onsite_in=("Berlin",)), Workplace.ONSITE, (PORTLAND,), "onsite_not_wanted"),
        (Workplaces(onsite_in=("Berlin",)), Workplace.ONSITE, (), None),
    ],
)
def test_a_person_says_where_they_work(wants: Workplaces, workplace: Any, spots: Any, rule: str | None):
    found = judged(who=profile(workplace=wants), workplace=workplace, spots=spots).hard
    assert (found and found.name) == rule


def test_without_a_city_hybrid_work_is_not_judged():
    assert (
        judged(who=profile(city=None, region=None), workplace=Workplace.HYBRID, spots=(BERLIN,)).hard is None
    )


@pytest.mark.parametrize(
    ("posted", "rule"),
    [(ago(7), None), (ago(8), "too_old"), (None, None), (ago(-3), None), (date.min, "too_old")],
)
def test_age_is_rejected_after_its_limit(posted: date | None, rule: str | None):
    assert hard(posted=posted) == rule


def test_a_technology_that_is_out_of_the_question_rejects_unless_it_is_taken_back():
    assert hard(skills=("python", "cobol")) == "failed_technology"
    text = "There is no COBOL here. " + TEXT
    place = Place("COBOL", text.index("COBOL"), text.index("COBOL") + 5)
    named = opening(text=text, skills=("cobol",), evidence=Evidence({"skills.0": place}))
    assert judged(named).hard is None
    again = replace(named, text=text + " You will maintain COBOL.")
    found = judged(again).hard
    assert found is not None
    assert found.quote == "You will maintain COBOL"


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "excluded_type": ("title", {"title": "Sales"}),
    "excluded_level": ("title", {"title": "Junior"}),
    "excluded_company": ("company", {"company": "Rival"}),
    "excluded_keyword": ("text", {"text": "Security clearance required. "}),
    "salary_floor": ("pay", {"pay": pay(50_000, 60_000)}),
    "commission_only": ("text", {"text": "Commission only. "}),
    "onsite_not_wanted": ("workplace", {"workplace": Workplace.ONSITE}),
    "too_old": ("posted", {"posted": ago(100)}),
    "failed_technology": ("skills", {"skills": ("cobol",)}),
}


@pytest.mark.parametrize("first", range(len(WRONG)))
def test_of_several_hard_rejections_the_first_in_the_list_is_given(first: int):
    who = profile(excluded=replace(Stops(), companies=("Rival",)))
    facts: dict[str, Any] = {}
    for field, said in list(WRONG.values())[first:]:
        facts[field] = f"{facts[field]} {said[field]}" if isinstance(facts.get(field), str) else said[field]
    found = judged(who=who, **facts)
    assert found.hard is not None
    assert found.hard.name == list(WRONG)[first]
    assert (found.strikes, found.total, found.passed) == ((), 0, False)
