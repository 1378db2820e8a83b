"""Companies, boards and postings as they are stored."""

from typing import Any, get_type_hints

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.stored_values import ANY_JSON, all_fit, said_of, stored_types, whole
from thresher.apps.jobs.scraping.board_diff import unchanged_record
from thresher.core.record import Found
from thresher.core.stored import read, written
from thresher.hiring.kinds import BOARD, POSTING
from thresher.hiring.records import (
    MAX_REASON,
    BoardFields,
    BoardRecord,
    CompanyFields,
    CompanyRecord,
    GroupRecord,
    LastLook,
    PostingFields,
    PostingRecord,
    ScorePart,
    TriedAddress,
    company_entry,
    group_entry,
    posting_entry,
)
from thresher.reading.platforms.boards import Board

RECORDS = (BoardRecord, CompanyRecord, GroupRecord, PostingRecord)
PARTS = (LastLook, ScorePart, TriedAddress)


def of_any(kinds: tuple[type, ...], values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(kinds).flatmap(lambda kind: st.tuples(st.just(kind), values(kind)))


@pytest.mark.promise(1)
@given(of_any(RECORDS, said_of))
def test_a_record_that_says_anything_is_read_and_what_makes_no_sense_is_left_out(
    case: tuple[Any, Any],
) -> None:
    kind, said = case
    assert all_fit(kind.of(Found("any", "key", said)))


@given(of_any(RECORDS, lambda kind: whole(kind, key="key")) | of_any(PARTS, whole))
def test_a_record_is_read_back_as_it_was_written(case: tuple[Any, Any]) -> None:
    kind, value = case
    stored = orjson.loads(orjson.dumps(written(value)))
    assert read(kind, stored, **({"key": "key"} if kind in RECORDS else {})) == value


@pytest.mark.parametrize(
    ("kind", "writes"),
    [(BoardRecord, BoardFields), (CompanyRecord, CompanyFields), (PostingRecord, PostingFields)],
)
def test_what_a_task_may_write_is_what_is_read(kind: type, writes: type) -> None:
    assert get_type_hints(writes) == stored_types(kind)


def test_a_board_that_a_task_knew_a_part_of_has_the_rest_by_default() -> None:
    board = BoardRecord.of(Found(BOARD, "lever:acme", {"status": "active", "failures": None}))
    assert (board.key, board.status, board.failures, board.last_look) == ("lever:acme", "active", 0, None)


def test_the_address_of_a_board_is_called_whatever_its_record_says() -> None:
    odd = {"platform": ["x"], "token": {"a": 1}, "parts": [1], "url": 5}
    assert BoardRecord.of(Found(BOARD, "board", odd)).address == Board("site", None, "", {})


@given(ANY_JSON, ANY_JSON)
def test_the_pay_of_a_posting_is_a_text_or_nothing_whatever_it_says(salary: object, pay: object) -> None:
    said = {"salary": salary, "facts": {"pay": pay}}
    found = PostingRecord.of(Found(POSTING, "posting", said)).pay
    assert found is None or (isinstance(found, str) and found)


@pytest.mark.promise(1)
def test_a_look_that_changes_nothing_keeps_what_the_last_one_said_and_what_a_newer_release_knows() -> None:
    said = {"verdict": "found", "found": 3, "total": None, "complete": True, "hash": "h", "at": 5, "mood": 1}
    board = BoardRecord.of(Found(BOARD, "lever:acme", {"last_look": said}))
    assert board.last_look is not None
    after = unchanged_record(board, board.last_look, now=9, due_at=20).data["last_look"]
    assert after.items() >= (said | {"at": 9}).items()


@pytest.mark.promise(1)
def test_a_task_writes_the_fields_that_it_knows_and_no_other() -> None:
    assert posting_entry("a/1", {"missed": 2}).data == {"missed": 2}
    assert company_entry("acme.com", {"tried": (TriedAddress("look", "https://acme.com/"),)}).data == {
        "tried": [{"method": "look", "url": "https://acme.com/", "verdict": ""}]
    }


def test_a_group_is_written_whole() -> None:
    group = GroupRecord("group/a", "a", "the same page", ("a", "b"))
    assert group_entry(group).data == {"lead": "a", "reason": "the same page", "members": ["a", "b"]}


def test_the_reason_of_a_tried_address_is_no_longer_than_a_person_reads() -> None:
    assert len(TriedAddress(reason="x" * 1_000).reason or "") == MAX_REASON
