"""Somebody who is no developer: their profile names the skills of their trade, and postings are scored by
them."""

from datetime import date

import pytest

from tests.apps.jobs.opening import POINTS, RULES, TODAY
from tests.hiring.trades import POSTINGS
from thresher.apps.jobs.filtering.case import case_of
from thresher.apps.jobs.person.profile import Profile, read_profile
from thresher.apps.jobs.person.wants import Rank, Skill
from thresher.apps.jobs.scoring.points import Employer
from thresher.apps.jobs.scoring.score import Score, score
from thresher.hiring.facts import read_facts
from thresher.hiring.opening import Opening
from thresher.hiring.records import PostingRecord

pytestmark = pytest.mark.promise(13)
PROFILES = {
    "accountant": (
        "skills: {IFRS: required, month end closing: required, A/P: ok, SAP FI: ok, QuickBooks: ok, payroll: ok}",
        ("month-end close", "accounts payable", "ifrs", "sap", "quickbooks"),
    ),
    "nurse": (
        "skills: {RN: required, IV therapy: ok, wound care: ok, ACLS: ok, dialysis: ok}",
        ("registered nurse", "iv therapy", "wound care", "acls"),
    ),
    "welder": (
        "skills: {GMAW: required, TIG welding: required, blueprints: ok, forklift license: ok}",
        ("mig welding", "tig welding", "blueprint reading", "forklift operation"),
    ),
    "teacher": (
        "skills: {lesson plans: required, classroom management: ok, PGCE: ok}",
        ("lesson planning", "classroom management", "teaching licence"),
    ),
}


def opening(trade: str) -> Opening:
    title, text, _ = POSTINGS[trade]
    return read_facts(PostingRecord("acme/1", title=title, description=text), today=date(2026, 2, 9))


def scored(trade: str, who: Profile) -> Score:
    return score(opening(trade), Employer(), who, RULES, POINTS, TODAY)


@pytest.mark.parametrize("trade", PROFILES)
def test_a_profile_of_any_trade_is_matched_by_the_skills_that_the_posting_names(trade: str) -> None:
    text, met = PROFILES[trade]
    found = scored(trade, read_profile(text, "me.yaml"))
    assert sorted(found.matched) == sorted(met)
    assert set(found.gaps) <= set(opening(trade).skills) - set(found.matched)
    assert found.gaps
    worth = next(each for each in found.components if each.name == "skills")
    assert worth.points > 0
    assert worth.place is not None


@pytest.mark.parametrize("trade", PROFILES)
def test_a_skill_that_the_profile_names_counts_once(trade: str) -> None:
    text, _ = PROFILES[trade]
    named = [each.name for each in case_of(opening(trade), read_profile(text, "me.yaml"), TODAY).skills]
    assert len(named) == len(set(named))


def test_the_skills_of_another_trade_are_no_gaps_of_a_developer() -> None:
    who = Profile(skills={"python": Skill(Rank.REQUIRED)})
    assert scored("welder", who).gaps == ()
    assert scored("accountant", who).gaps == ("excel", "sap")


def test_a_posting_that_was_read_before_its_skills_were_known_is_matched_by_the_word() -> None:
    who = read_profile("skills: {accounts payable: required}", "me.yaml")
    stored = Opening("acme/1", "Clerk", "You look after accounts payable.", skills=())
    assert [each.name for each in case_of(stored, who, TODAY).skills] == ["accounts payable"]


def test_two_names_of_one_skill_are_refused_with_the_name_that_they_share() -> None:
    with pytest.raises(Exception, match="another name for accounts payable"):
        read_profile("skills: {A/P: ok, accounts payable: ok}", "me.yaml")
