"""The filter on any opening: it never fails, adds up, and quotes what stands there."""

import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.judging import PROSE, openings, said_by
from tests.apps.jobs.opening import RULES, TODAY, profile
from tests.house.paper import ROOT
from thresher.apps.jobs.filtering.filter import Judgement, judge
from thresher.apps.jobs.filtering.rejection import PREFIX, Rules, Severity, spoken_rejection
from thresher.apps.jobs.person.wants import Profile, Salary, Stops
from thresher.apps.jobs.settings import DEFAULTS
from thresher.core.stored import read
from thresher.hiring.facts import read_facts
from thresher.hiring.opening import Opening
from thresher.hiring.records import PostingRecord

pytestmark = pytest.mark.promise(13)


def check(found: Judgement, said: str) -> None:
    assert found.total == sum(each.points for each in found.strikes)
    assert found.passed == (found.hard is None and found.total < found.threshold)
    assert found.hard is None or (found.hard.severity, found.hard.points, found.strikes) == (
        Severity.HARD,
        0,
        (),
    )
    assert all(each.severity is Severity.STRIKE for each in found.strikes)
    for each in found.rejections:
        assert each.reason
        assert each.quote is None or each.quote in said
        spoken_rejection(each)


@given(
    openings(),
    st.sampled_from(
        [profile(), Profile(), profile(salary=Salary(0, 0), skills={}, excluded=Stops(companies=("no",)))]
    ),
)
def test_it_never_fails_adds_up_and_quotes_what_stands_in_the_posting(posting: Opening, who: Profile):
    check(judge(posting, who, RULES, TODAY), said_by(posting))


@given(
    PROSE,
    PROSE,
    st.sampled_from(["", "Portland, OR", "Remote - US", "Berlin (hybrid)", "3 Locations"]),
    PROSE,
)
def test_the_same_holds_for_facts_that_were_read(title: str, text: str, location: str, salary: str):
    data = {
        "title": title,
        "description": text,
        "location": location,
        "salary": {"text": salary},
        "posted": "2026-02-01",
    }
    posting = read_facts(read(PostingRecord, data, key="k"), today=TODAY)
    check(
        judge(posting, profile(), RULES, TODAY),
        "\n".join((title, text, location, salary, "2026-02-01", said_by(posting))),
    )


@given(openings())
def test_to_say_less_never_brings_a_rejection_by_what_was_not_said(posting: Opening):
    """Unknown is not no: without salary, date, workplace, level and experience no rule about them speaks."""
    bare = replace(posting, pay=None, posted=None, workplace=None, level=None, experience=None, company=None)
    silent = {
        "salary_floor",
        "salary_target",
        "too_old",
        "not_fresh",
        "little_experience",
        "excluded_company",
    }
    names = {each.name for each in judge(bare, profile(), RULES, TODAY).rejections}
    assert not names & silent
    assert not any(name.endswith("_not_wanted") for name in names)


# --- the paper


def test_the_reference_names_every_rule_and_every_setting():
    page = (ROOT / "docs" / "reference" / "filter.md").read_text("utf-8")
    rooms = ROOT / "src" / "thresher" / "apps" / "jobs"
    code = "".join(
        (rooms / name).read_text("utf-8") for name in ("filtering/refusals.py", "filtering/filter.py")
    )
    rules = set(
        re.findall(
            r'"(?:type|seniority|company|keyword|salary|domain|age|technology|experience|quality)",\s*"([a-z_]+)"',
            code,
        )
    )
    assert len(rules) > 15
    assert [rule for rule in sorted(rules) if f"`{rule}`" not in page] == []
    ours = [name for name in DEFAULTS if name.startswith(("jobs.filter.", "jobs.score."))]
    assert [name for name in ours if f"`{name}`" not in page] == []


def test_every_number_of_the_filter_is_a_setting_and_every_setting_is_used():
    assert {PREFIX + field.name for field in fields(Rules)} == {
        name for name in DEFAULTS if name.startswith(PREFIX)
    }
