"""What is written down of a decision, and how it reads."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.judging import openings
from tests.apps.jobs.opening import POINTS, PORTLAND, RULES, TODAY, ago, opening, pay, profile
from thresher.apps.jobs import decision
from thresher.apps.jobs.filtering.filter import judge, stopped
from thresher.apps.jobs.model import AskedModel, DecisionRecord
from thresher.apps.jobs.scoring.points import Employer
from thresher.apps.jobs.scoring.score import score
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Record, pack
from thresher.core.stored import read
from thresher.hiring.opening import Level, Opening, Workplace

pytestmark = pytest.mark.promise(13)
AT = 1_770_000_000_000_000


def decided(posting: Opening, model: AskedModel | None = None) -> Record:
    who = profile()
    judged = judge(posting, who, RULES, TODAY)
    if not judged.passed:
        return decision.filtered(posting.key, judged, who, AT)
    return decision.scored(
        posting.key, judged, score(posting, Employer(), who, RULES, POINTS, TODAY), who, AT, model
    )


def lines(posting: Opening, model: AskedModel | None = None) -> list[str]:
    """As a person reads them later: from what was kept."""
    kept = json.loads(pack(decided(posting, model), 65_536).data)
    return list(decision.explain(read(DecisionRecord, kept, key=posting.key)))


def test_a_strike_reads_with_its_points_and_its_quote():
    said = pay(100_000, 120_000, text="$100k-$120k")
    quoted = Evidence({"pay": Place("salary: $100k-$120k", path="salary")})
    posting = opening(posted=ago(3), pay=said, skills=("python", "java"), evidence=quoted)
    assert lines(posting) == [
        "Filtered: 5 points of strikes, filtered from 5 on.",
        "-2: pays at most 120,000 USD a year; you aim at 150,000 - 'salary: $100k-$120k'",
        "-2: names java, which you would rather avoid",
        "-1: posted 3 days ago - '2026-02-07'",
        "No single strike is decisive; together they reach the threshold. Raise jobs.filter.threshold to see more of these.",
    ]


def test_a_hard_rejection_reads_as_one():
    assert lines(opening(title="Sales Engineer")) == [
        "Filtered: something in it rules it out.",
        "never: the title says sales, a type that you exclude - 'Sales Engineer'",
    ]


def test_a_score_reads_with_every_part_and_what_was_needed():
    posting = opening(skills=("python",), level=Level.SENIOR, spots=(PORTLAND,), workplace=Workplace.HYBRID)
    said = lines(posting, AskedModel("m"))
    assert said[0] == "Saved as a match; it passed the filter (0 points of strikes, filtered from 5 on)."
    assert "+40 start: the starting score of every opening" in said
    assert "+15 level: its level is senior, which you want - 'Senior Software Engineer'" in said
    assert "+0 salary: it does not say what it pays" in said
    assert said[-2:] == [
        "Score 81 of 100; 65 are needed, lower because of your city.",
        "A model was asked for its judgement: m.",
    ]


def test_a_skipped_one_says_that_it_fits_too_little():
    said = lines(opening(skills=(), title="Engineer"))
    assert said[0].startswith(
        "Skipped: it does not fit well enough; it passed the filter (1 point of strikes"
    )
    assert said[-1] == "Score 50 of 100; 80 are needed."


def test_a_decision_keeps_what_it_was_made_by():
    record = decided(opening(title="Sales Engineer"))
    assert (record.kind, record.key, record.marks, record.data["outcome"]) == (
        "decision",
        "acme/1",
        ("outcome",),
        "filtered",
    )
    assert record.data["profile"] == profile().digest
    assert record.data["rejections"][0] == {
        "category": "type",
        "name": "excluded_type",
        "reason": "the title says sales, a type that you exclude",
        "quote": "Sales Engineer",
        "place": {"path": "title"},
        "severity": "hard",
        "points": 0,
    }
    assert (record.data["score"], record.data["components"], record.data["at"]) == (None, [], AT)


def test_what_a_stop_list_decided_is_written_down_too():
    who = profile()
    found = stopped(who, title="Engineer, security clearance")
    assert found is not None
    record = decision.stopped("acme/1", found, who, AT, RULES.threshold)
    kept = read(DecisionRecord, record.data, key=record.key)
    assert list(decision.explain(kept))[1] == (
        "never: its title says 'security clearance', which you exclude - 'Engineer, security clearance'"
    )


def test_the_status_of_a_match_belongs_to_the_person():
    posting, who = opening(level=Level.SENIOR), profile()
    whole = score(posting, Employer(), who, RULES, POINTS, TODAY)
    record = decision.match(posting.key, decision.match_fields(posting, whole, AT))
    assert (record.kind, record.key, record.merge, record.initial) == (
        "match",
        "acme/1",
        True,
        {"status": "new", "notified_at": 0},
    )
    assert not {"status", "notified_at"} & set(record.data)
    assert set(record.marks) == {"status", "score", "priority", "decided_at", "notified_at"}
    assert (record.data["score"], record.data["priority"], record.data["matched_skills"]) == (
        whole.total,
        whole.priority,
        ["python"],
    )
    assert record.data["resume_intake"] is None


def test_a_models_words_reach_the_match_and_no_more_of_them_than_fields():
    posting = opening(skills=("python", "rust"))
    whole = score(posting, Employer(), profile(), RULES, POINTS, TODAY)
    answer = {
        "skill_gaps": ["Kafka"],
        "summary": "Builds harbours.",
        "ats_keywords": ["Python"],
        "status": "applied",
        "score": 100,
    }
    data = decision.match_fields(posting, whole, AT, answer)
    assert data["skill_gaps"] == ("Kafka",)
    assert data["resume_intake"]["summary"] == "Builds harbours."
    assert set(data["resume_intake"]) == {
        "summary",
        "prioritised_skills",
        "highlights",
        "projects",
        "achievement_angles",
        "ats_keywords",
    }
    assert (data["score"], "status" in data) == (whole.total, False)
    assert decision.match_fields(posting, whole, AT)["skill_gaps"] == ("rust",)


WORDS = st.none() | st.text() | st.lists(st.text(max_size=3)) | st.lists(st.just("x" * 20_000), max_size=5)


@given(openings(), st.none() | st.dictionaries(st.sampled_from(["skill_gaps", "summary", "projects"]), WORDS))
def test_any_decision_can_be_kept_and_explained(posting: Opening, answer: dict[str, Any] | None):
    assert all(isinstance(line, str) for line in lines(posting, answer and AskedModel("m", answer)))
    whole = score(posting, Employer(), profile(), RULES, POINTS, TODAY)
    pack(decision.match(posting.key, decision.match_fields(posting, whole, AT, answer)), 65_536)
