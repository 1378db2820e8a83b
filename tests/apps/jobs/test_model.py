"""Matches, decisions and saved searches as they are stored."""

from typing import Any, get_type_hints

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stored_values import all_fit, said_of, stored_types, whole
from thresher.apps.jobs.decision import explain
from thresher.apps.jobs.model import (
    DecisionRecord,
    MatchFields,
    MatchRecord,
    ReviewRecord,
    SavedView,
    match_entry,
)
from thresher.apps.jobs.notify import headline, letter
from thresher.apps.jobs.service.matches import Search, search_of
from thresher.core.record import Found
from thresher.core.stored import read, written

RECORDS = (DecisionRecord, MatchRecord, ReviewRecord, SavedView)


def of_any(values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(RECORDS).flatmap(lambda kind: st.tuples(st.just(kind), values(kind)))


@given(of_any(said_of))
def test_a_record_that_says_anything_is_read_and_what_makes_no_sense_is_left_out(
    case: tuple[Any, Any],
) -> None:
    kind, said = case
    assert all_fit(kind.of(Found("any", "key", said)))


@given(of_any(lambda kind: whole(kind, key="key")))
def test_a_record_is_read_back_as_it_was_written(case: tuple[Any, Any]) -> None:
    kind, value = case
    assert read(kind, orjson.loads(orjson.dumps(written(value))), key="key") == value


@pytest.mark.promise(13)
@given(said_of(DecisionRecord))
def test_a_decision_of_any_release_is_explained(said: Any) -> None:
    assert all(isinstance(each, str) and each for each in explain(read(DecisionRecord, said, key="")))


@given(st.lists(said_of(MatchRecord), min_size=1, max_size=3))
def test_matches_that_say_anything_can_be_told_of(said: list[Any]) -> None:
    news = [MatchRecord.of(Found("match", str(at), each)) for at, each in enumerate(said)]
    assert headline(news)
    assert isinstance(letter(news), str)


def test_a_saved_search_leaves_out_what_this_release_does_not_know() -> None:
    view = SavedView("mine", {"status": "new", "min_score": "high", "colour": "red"})
    assert search_of(view) == Search(status="new")


def test_what_a_task_may_write_of_a_match_is_what_is_read() -> None:
    assert get_type_hints(MatchFields) == stored_types(MatchRecord)


@pytest.mark.promise(2)
def test_a_match_that_is_judged_again_leaves_what_the_person_said_alone() -> None:
    assert set(match_entry("a", {"score": 91}).data) == {"score"}


def test_a_decision_and_a_saved_search_are_stored_whole() -> None:
    decision = DecisionRecord("a", posting="a", outcome="filtered", at=5).record()
    assert (decision.merge, set(decision.data)) == (False, set(stored_types(DecisionRecord)))
    view = SavedView("mine", {"status": "new"}).record()
    assert (view.key, view.merge, view.data) == ("mine", False, {"of": "match", "filters": {"status": "new"}})
