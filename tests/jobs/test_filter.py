"""The strike filter: every rule at its bound, the order of the hard ones, and that what is not said is never held against a posting."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.house.paper import ROOT
from tests.jobs.opening import PORTLAND, RULES, TEXT, TODAY, ago, opening, pay, profile
from tests.jobs.test_negation import MEANT, TAKEN_BACK
from thresher.apps.jobs.filtering.filter import Judgement, judge
from thresher.apps.jobs.filtering.rejection import Severity, as_json, of_json
from thresher.apps.jobs.filtering.rules import PREFIX, Rules
from thresher.apps.jobs.person.wants import Levels, Profile, Rank, Salary, Skill, Stops, Workplaces
from thresher.config.settings import BY_NAME
from thresher.core.evidence import Evidence, Place
from thresher.hiring.facts import read_facts
from thresher.hiring.opening import Experience, Level, Opening, Spot, Workplace

pytestmark = pytest.mark.promise(13)


def judged(said: Opening | None = None, who: Profile | None = None, rules: Rules = RULES, **facts: Any) -> Judgement:
    return judge(said or opening(**facts), who or profile(), rules, TODAY)


def hard(**facts: Any) -> str | None:
    found = judged(**facts).hard
    return found and found.name


def struck(who: Profile | None = None, rules: Rules = RULES, **facts: Any) -> dict[str, int]:
    found = judged(who=who, rules=rules, **facts)
    assert found.hard is None
    return {each.name: each.points for each in found.strikes}


def test_a_posting_that_nothing_speaks_against_passes_with_nothing():
    assert judged(posted=TODAY) == Judgement(None, (), 0, 5)
    assert judged(posted=TODAY).passed


# --- what is not said


def test_a_posting_that_says_nothing_but_its_title_gets_one_strike_for_that():
    found = judge(Opening("k", "Engineer"), profile(), RULES, TODAY)
    assert (found.hard, [each.name for each in found.strikes], found.passed) == (None, ["short_description"], True)


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


BERLIN = Spot("Berlin, Germany", "Berlin", None, "DE")
MAINE = Spot("Portland, ME", "Portland", "ME", "US")
COUNTRY = Spot("United States", None, None, "US")


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
    assert judged(who=profile(city=None, region=None), workplace=Workplace.HYBRID, spots=(BERLIN,)).hard is None


@pytest.mark.parametrize(("posted", "rule"), [(ago(7), None), (ago(8), "too_old"), (None, None), (ago(-3), None), (date.min, "too_old")])
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


# --- strikes, each at its bound


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"pay": pay(120_000, 149_999)}, {"salary_target": 2}),
        ({"pay": pay(120_000, 150_000)}, {}),
        ({"pay": pay(120_000, 140_000, "EUR")}, {}),
        ({"experience": Experience(5)}, {"little_experience": 1}),
        ({"experience": Experience(6)}, {}),
        ({"experience": Experience(3, 5)}, {"little_experience": 1}),
        ({"experience": Experience(4, 6)}, {}),
        ({"title": "Mid-Level Engineer"}, {"unwanted_level": 2}),
        ({"title": "Engineer II", "level": Level.MID}, {"unwanted_level": 2}),
        ({"title": "Principal Engineer"}, {"unwanted_level": 1}),
        ({"title": "Director of Engineering"}, {"unwanted_level": 1}),
        ({"title": "Engineering Manager"}, {"unwanted_level": 1}),
        ({"title": "Principal Engineering Manager and Director"}, {"unwanted_level": 1}),
        ({"title": "Management Engineer"}, {}),
        ({"skills": ("python", "java")}, {"disliked_technology": 2}),
        ({"skills": ("rust",)}, {"no_required_technology": 1}),
        ({"skills": ()}, {"no_required_technology": 1}),
        ({"text": "x" * 199}, {"short_description": 1}),
        ({"text": "x" * 200}, {}),
        ({"text": " " * 500}, {"short_description": 1}),
        ({"text": "We want a rockstar and a ninja. " + TEXT}, {"buzzword": 1}),
        ({"title": "Guru Engineer"}, {"buzzword": 1}),
        ({"text": "We do not look for rockstars or a ninja. " + TEXT}, {}),
        ({"posted": ago(1)}, {}),
        ({"posted": ago(2)}, {"not_fresh": 1}),
        ({"posted": ago(-1)}, {}),
    ],
)
def test_a_strike_costs_its_points_from_its_bound_on(facts: dict[str, Any], expected: dict[str, int]):
    assert struck(**facts) == expected


def test_each_disliked_technology_costs_its_points():
    who = profile(skills={"python": Skill(Rank.REQUIRED), "java": Skill(Rank.STRIKE), "php": Skill(Rank.STRIKE)})
    assert judged(who=who, skills=("python", "java", "php")).total == 4


def test_without_required_technologies_none_can_be_missing():
    assert struck(who=profile(skills={"java": Skill(Rank.STRIKE)}), skills=("rust",)) == {}


def test_a_description_too_short_to_name_a_technology_is_not_blamed_for_naming_none():
    assert struck(text="Short.", skills=()) == {"short_description": 1}


def test_a_skill_that_is_no_technology_is_looked_for_in_the_text():
    who = profile(skills={"welding": Skill(Rank.REQUIRED)})
    assert struck(who=who, text="You know welding well. " + TEXT) == {}
    assert struck(who=who) == {"no_required_technology": 1}


def test_unwanted_levels_without_points_cost_what_the_setting_says():
    who = profile(levels=Levels(unwanted={"principal": None}))
    assert struck(who=who, title="Principal Engineer") == {"unwanted_level": 1}
    assert struck(who=who, rules=replace(RULES, level_points=3), title="Principal Engineer") == {"unwanted_level": 3}


def test_three_mild_findings_reach_the_threshold_as_they_always_did():
    found = judged(posted=ago(2), pay=pay(120_000, 140_000), skills=("python", "java"))
    assert [each.points for each in found.strikes] == [2, 2, 1]
    assert (found.total, found.threshold, found.passed) == (5, 5, False)


def test_one_point_below_the_threshold_passes():
    found = judged(posted=TODAY, pay=pay(120_000, 140_000), skills=("python", "java"))
    assert (found.total, found.passed) == (4, True)
    assert judged(posted=ago(2), pay=pay(120_000, 140_000), skills=("python", "java"), rules=replace(RULES, threshold=6)).passed


def test_a_rejection_reads_back_as_it_was_kept():
    for each in (*judged(posted=ago(2), skills=("java",), pay=pay(1, 120_000)).strikes, judged(title="Sales").hard):
        assert each is not None
        assert of_json(as_json(each)) == each


# --- the weaknesses of old


def read(text: str, **data: Any) -> Opening:
    return read_facts("k", {"title": "Senior Software Engineer", "description": f"{text}\n{TEXT}", **data}, today=TODAY)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (read("Our 401k is matched. Salary: $160,000 - $180,000."), "401k is no salary"),
        (read("We have been in business for 25 years. You bring 7+ years of experience."), "25 years in business are no experience"),
        (read("This role does not require relocation."), "relocation is taken back"),
        (read("No clearance required."), "clearance is taken back"),
        (read("Fully remote.", location="Remote - US"), "a country alone is no office"),
        (read("Work from anywhere in the country.", location="United States"), "a country alone is no office"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_used_to_be_misread_speaks_against_nobody(said: Opening, why: str):
    found = judged(said)
    assert (found.hard, found.strikes) == (None, ()), why


def test_twenty_five_years_in_business_do_not_make_up_for_little_experience():
    said = read("In business for 25 years. You have 2 years of experience.")
    assert [each.name for each in judged(said).strikes] == ["little_experience"]


def test_the_word_or_is_not_oregon():
    said = read("Hybrid.", location="Portland or Boston (Hybrid)")
    maine = replace(said, spots=(MAINE,), workplace=Workplace.HYBRID)
    assert judged(maine).hard is not None


# --- attacks by chance

PIECES = [
    "security clearance required", "no security clearance", "commission only", "rockstar", "sales team", "join", "Java", "Python", "COBOL",
    "junior", "senior", "$90k", "$200,000 a year", "5+ years of experience", "remote", "hybrid", "on-site", "Portland, OR", "not", "no",
    "without",
    ".", "\n", ",", ":", "İstanbul", "ß", "\x00", "\ud800", "\u2019", "401k", "25 years in business", "Security Clearance", "ninja",
]  # fmt: skip
PROSE = st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join) | st.text(max_size=100)
DATES = st.none() | st.dates(TODAY - timedelta(days=12), TODAY + timedelta(days=2)) | st.dates()
AMOUNTS = st.none() | st.integers(0, 400_000)
SPOTS = st.sampled_from([PORTLAND, MAINE, BERLIN, COUNTRY, Spot("Remote", remote=True), Spot("")])


@st.composite
def openings(draw: Callable[..., Any]) -> Opening:
    """Facts in any combination, however little they belong together."""
    return Opening(
        draw(st.text(max_size=5)), draw(PROSE), draw(PROSE), draw(st.none() | PROSE), draw(st.none() | PROSE), draw(DATES),
        draw(st.none() | st.builds(pay, AMOUNTS, AMOUNTS, st.sampled_from(["USD", "EUR", None]), PROSE)),
        tuple(draw(st.lists(SPOTS, max_size=3))), draw(st.none() | st.sampled_from(Workplace)), draw(st.none() | st.sampled_from(Level)),
        draw(st.none() | st.builds(Experience, st.integers(-5, 50), st.none() | st.integers(-5, 50))),
        skills=tuple(draw(st.lists(st.sampled_from(["python", "java", "cobol", "rust", ""]), max_size=4))),
    )  # fmt: skip


def said_by(posting: Opening) -> str:
    """Everything that a posting says, one thing a line."""
    facts = [posting.title, posting.text, posting.company, posting.url, posting.posted and posting.posted.isoformat()]
    return "\n".join(each for each in [*facts, posting.pay and posting.pay.text, *(spot.text for spot in posting.spots)] if each)


def check(found: Judgement, said: str) -> None:
    assert found.total == sum(each.points for each in found.strikes)
    assert found.passed == (found.hard is None and found.total < found.threshold)
    assert found.hard is None or (found.hard.severity, found.hard.points, found.strikes) == (Severity.HARD, 0, ())
    assert all(each.severity is Severity.STRIKE for each in found.strikes)
    for each in found.rejections:
        assert each.reason
        assert each.quote is None or each.quote in said
        as_json(each)


@given(openings(), st.sampled_from([profile(), Profile(), profile(salary=Salary(0, 0), skills={}, excluded=Stops(companies=("no",)))]))
def test_it_never_fails_adds_up_and_quotes_what_stands_in_the_posting(posting: Opening, who: Profile):
    check(judge(posting, who, RULES, TODAY), said_by(posting))


@given(PROSE, PROSE, st.sampled_from(["", "Portland, OR", "Remote - US", "Berlin (hybrid)", "3 Locations"]), PROSE)
def test_the_same_holds_for_facts_that_were_read(title: str, text: str, location: str, salary: str):
    data = {"title": title, "description": text, "location": location, "salary": {"text": salary}, "posted": "2026-02-01"}
    posting = read_facts("k", data, today=TODAY)
    check(judge(posting, profile(), RULES, TODAY), "\n".join((title, text, location, salary, "2026-02-01", said_by(posting))))


@given(openings())
def test_to_say_less_never_brings_a_rejection_by_what_was_not_said(posting: Opening):
    """Unknown is not no: without salary, date, workplace, level and experience no rule about them speaks."""
    bare = replace(posting, pay=None, posted=None, workplace=None, level=None, experience=None, company=None)
    silent = {"salary_floor", "salary_target", "too_old", "not_fresh", "little_experience", "excluded_company"}
    names = {each.name for each in judge(bare, profile(), RULES, TODAY).rejections}
    assert not names & silent
    assert not any(name.endswith("_not_wanted") for name in names)


# --- the paper


def test_the_reference_names_every_rule_and_every_setting():
    page = (ROOT / "docs" / "reference" / "filter.md").read_text("utf-8")
    rooms = ROOT / "src" / "thresher" / "apps" / "jobs"
    code = "".join((rooms / name).read_text("utf-8") for name in ("filtering/refusals.py", "filtering/strikes.py", "filtering/stops.py"))
    rules = set(re.findall(r'"(?:type|seniority|company|keyword|salary|domain|age|technology|experience|quality)", "([a-z_]+)"', code))
    assert len(rules) > 15
    assert [rule for rule in sorted(rules) if f"`{rule}`" not in page] == []
    ours = [name for name in BY_NAME if name.startswith(("jobs.filter.", "jobs.score."))]
    assert [name for name in ours if f"`{name}`" not in page] == []


def test_every_number_of_the_filter_is_a_setting_and_every_setting_is_used():
    assert {PREFIX + field.name for field in fields(Rules)} == {name for name in BY_NAME if name.startswith(PREFIX)}
