"""Matches, decisions and saved searches as they are stored."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stored_values import all_fit, said_of, whole
from thresher.apps.jobs.decision import explain
from thresher.apps.jobs.model import DecisionRecord, MatchRecord, SavedView
from thresher.apps.jobs.notify import headline, letter
from thresher.apps.jobs.service.matches import Search, search_of
from thresher.core.record import Found
from thresher.core.stored import read, written

RECORDS = (DecisionRecord, MatchRecord, SavedView)


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
    assert all(isinstance(each, str) and each for each in explain(said))


@given(st.lists(said_of(MatchRecord), min_size=1, max_size=3))
def test_matches_that_say_anything_can_be_told_of(said: list[Any]) -> None:
    news = [MatchRecord.of(Found("match", str(at), each)) for at, each in enumerate(said)]
    assert headline(news)
    assert isinstance(letter(news), str)


def test_a_saved_search_leaves_out_what_this_release_does_not_know() -> None:
    view = SavedView("mine", {"status": "new", "min_score": "high", "colour": "red"})
    assert search_of(view) == Search(status="new")
