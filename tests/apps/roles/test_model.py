"""A candidate as it is kept, and the words that are searched for on its behalf."""

from typing import Any, get_type_hints

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stored_values import all_fit, said_of, stored_types, whole
from thresher.apps.roles.model import (
    Candidate,
    CandidateRecord,
    ScrapedFields,
    ScrapedPosting,
    WantedTitle,
    keywords,
    role_keywords,
)
from thresher.core.record import Found
from thresher.core.stored import read, written

ADA = Candidate(
    "ada",
    "Ada",
    "Python Developer",
    skills=("SQL", "python developer", "Docker", "Git", "Linux", "Bash"),
    tech_stack=("Django", "sql", "AWS", "Redis"),
    specializations=("payments",),
    experience_years=8.5,
    remote=False,
)


def test_keywords_are_the_title_five_skills_three_tools_and_what_one_specialises_in_each_once():
    assert keywords(ADA) == ["Python Developer", "SQL", "Docker", "Git", "Linux", "Django", "AWS", "payments"]
    assert keywords(Candidate("b", "B", "Python", skills=("SQL", "python"))) == ["Python", "SQL"]
    assert keywords(Candidate("c", "C")) == []


def test_the_keywords_of_a_role_are_its_name_and_what_most_of_its_candidates_have():
    people = [
        ["Python Developer", "Django", "SQL"],
        ["python dev", "django", "Redis"],
        ["Python developer", "SQL", "Django"],
    ]
    assert role_keywords("Python Developer", people, 2, 20) == ("Python Developer", "Django", "SQL", "Redis")
    assert role_keywords("Python Developer", people, 2, 2) == ("Python Developer", "Django")
    assert role_keywords("Python Developer", people, 2, 0) == ()
    assert role_keywords("Nurse", [], 2, 20) == ("Nurse",)
    assert role_keywords("Backend", [keywords(ADA)], 1, 20) == ("Backend", *keywords(ADA)), (
        "in the order of the one who wrote them"
    )


@pytest.mark.promise(17)
def test_a_word_that_one_candidate_wrote_is_not_told_to_scrapers():
    people = [["Cook", "formerly at Chez Panisse", "Python"], ["Chef", "sous-vide"], ["Chef", "sous-vide"]]
    assert role_keywords("Cook", people, 2, 20) == ("Cook", "Chef", "sous-vide", "Python")


@given(st.lists(st.lists(st.text(max_size=4), max_size=4), max_size=6), st.integers(1, 3), st.integers(0, 5))
def test_keywords_do_not_depend_on_the_order_of_the_candidates(people, least, most):
    found = role_keywords("Cook", people, least, most)
    assert found == role_keywords("Cook", people[::-1], least, most)
    assert len(found) <= most
    assert len(found) == len({word.casefold() for word in found})


def test_a_candidate_comes_back_from_its_record_as_it_went_in():
    record = CandidateRecord.made(
        ADA, email="ada@example.com", titles=(WantedTitle("Python Developer", "python"),)
    )
    kept = Found("candidate", "ada", orjson.loads(orjson.dumps(record.stored())))
    assert CandidateRecord.of(kept) == record
    assert Candidate.of(kept) == ADA
    assert CandidateRecord.made(Candidate("c", "C")).stored() == {"name": "C", "keywords": [], "titles": []}


def test_no_is_kept_and_is_not_the_same_as_nothing_said():
    assert CandidateRecord.made(ADA).stored()["remote"] is False
    assert "remote" not in CandidateRecord.made(Candidate("c", "C")).stored()


def test_titles_that_lead_to_roles_are_each_asked_for_once():
    assert Candidate("c", "C", "Nurse", roles=("Midwife", "Nurse", "")).role_titles == ("Nurse", "Midwife")


RECORDS = (CandidateRecord, ScrapedPosting)


def of_any(values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(RECORDS).flatmap(lambda kind: st.tuples(st.just(kind), values(kind)))


@pytest.mark.promise(1)
@given(of_any(said_of))
def test_a_record_that_says_anything_is_read_and_what_makes_no_sense_is_left_out(case: tuple[Any, Any]):
    kind, said = case
    assert all_fit(kind.of(Found("any", "key", said)))


@given(of_any(lambda kind: whole(kind, key="key")))
def test_a_record_is_read_back_as_it_was_written(case: tuple[Any, Any]):
    kind, value = case
    assert read(kind, orjson.loads(orjson.dumps(written(value))), key="key") == value


def test_what_matching_reads_of_a_posting_is_what_scrapers_and_tasks_write():
    assert set(stored_types(ScrapedPosting)) <= set(get_type_hints(ScrapedFields))
