"""Many postings filed at once: by few statements, through the indexes, and the same on every database."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.databases import only_postgres
from thresher.apps.roles.store import arrivals as module
from thresher.apps.roles.store.arrivals import Ending, Filed, file_arrivals, hold_arrivals
from thresher.core.errors import DatabaseProblem
from thresher.core.record import Filing, Link
from thresher.store.bulk import among, insert_rows, new_ids, pour
from thresher.store.records import file_record, find_record, find_records
from thresher.store.session import Session
from thresher.store.store import Store


@dataclass(frozen=True)
class Posting:
    key: str
    content: str | None = None
    data: dict[str, Any] = field(default_factory=lambda: {"title": "Nurse"})


def file(store: Store, role: int, *postings: Posting, now: int = 1) -> list[Filed]:
    with store.write() as session:
        hold_arrivals(store.backend.dialect, session)
        return file_arrivals(store.backend.dialect, session, role, postings, now)


def endings(filed: list[Filed]) -> list[str]:
    return [each.ending.value for each in filed]


def test_a_portion_is_filed_in_its_order(store: Store) -> None:
    assert file(store, 1, Posting("b/1", "x"), Posting("a/1", "y")) == [
        Filed(1, Ending.IMPORTED),
        Filed(2, Ending.IMPORTED),
    ]
    assert endings(
        file(store, 1, Posting("a/1", "y"), Posting("c/1"), Posting("b/1", "x", {"title": "Doctor"}))
    ) == [
        "unchanged",
        "imported",
        "updated",
    ]
    assert endings(file(store, 2, Posting("c/1"))) == ["linked"]


@pytest.mark.promise(9)
def test_a_record_that_another_app_filed_under_the_key_is_the_same_record(store: Store) -> None:
    """It keeps what it has, the evidence of what did not change included, and gains the links."""
    evidence = {
        "source": "s",
        "places": {"title": {"quote": "Nurse"}, "pay": {"quote": "5"}, "facts.pay": {"quote": "5"}},
    }
    data = {"title": "Nurse", "pay": 5, "facts": {"pay": 5}, "state": "open", "board": "b"}
    with store.write() as session:
        filing = Filing(
            "posting",
            "url/1",
            json.dumps(data),
            (Link("board", "b"),),
            json.dumps(evidence),
            marks=("state", "board"),
        )
        known = file_record(session, filing, 7, 1)
    assert file(store, 4, Posting("url/1", "c", {"title": "Doctor", "content": "c"}), now=9) == [
        Filed(known, Ending.LINKED)
    ]
    with store.read() as session:
        found = find_record(session, "posting", "url/1")
    assert found is not None
    assert found.data == {
        "title": "Doctor",
        "pay": 5,
        "state": "open",
        "board": "b",
        "seen_at": 9,
        "first_seen": 9,
        "content": "c",
    }
    assert found.marks == {"state": "open", "board": "b", "content": "c", "seen_at": 9}
    assert found.links == (Link("board", "b"), Link("id", "url/1"), Link("role", "4"))
    assert found.evidence is not None
    assert set(found.evidence.places) == {"pay"}
    assert endings(file(store, 4, Posting("url/1", "c", {"title": "Doctor", "content": "c"}), now=9)) == [
        "unchanged"
    ]


def test_records_of_other_kinds_with_the_same_names_are_none_of_its_business(store: Store) -> None:
    with store.write() as session:
        file_record(
            session,
            Filing("person", "a/1", '{"content": "x"}', (Link("id", "a/1"),), marks=("content",)),
            0,
            1,
        )
    assert endings(file(store, 1, Posting("a/1", "x"))) == ["imported"]


@pytest.mark.promise(9)
@pytest.mark.promise(19)
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)  # every example begins with empty tables
@given(st.data())
def test_whatever_comes_each_posting_is_there_once_with_every_link(store: Store, data: st.DataObject) -> None:
    """Against a plain model: a posting is known by its key, else by its content, the oldest first."""
    with store.write() as session:
        for table in ("links", "marks", "records"):
            session.run(f"delete from {table}")
    keys, contents = (
        st.sampled_from([f"p/{number}" for number in range(6)]),
        st.sampled_from([None, "x", "y", "z"]),
    )
    ids: dict[str, int] = {}
    known: dict[str, int] = {}
    roles: dict[int, set[int]] = {}
    for _ in range(data.draw(st.integers(1, 4))):
        role = data.draw(st.integers(1, 2))
        portion = [
            Posting(key, data.draw(contents), {"title": data.draw(st.sampled_from("ab"))})
            for key in data.draw(st.lists(keys, unique=True, max_size=5))
        ]
        for posting, filed in zip(portion, file(store, role, *portion), strict=True):
            meant = ids.get(posting.key) or (known.get(posting.content) if posting.content else None)
            assert (meant is None) is (filed.ending is Ending.IMPORTED)
            assert filed.record_id == (meant or filed.record_id)
            assert (filed.ending is Ending.LINKED) is (meant is not None and role not in roles[meant])
            ids.setdefault(posting.key, filed.record_id)
            if meant is None and posting.content:
                known[posting.content] = filed.record_id
            roles.setdefault(filed.record_id, set()).add(role)
        with store.write() as session:  # what a model of contents has no say in
            session.run("delete from marks where name = 'content'")
            insert_rows(
                store.backend.dialect,
                session,
                "marks",
                module._CONTENT,
                [(number, word) for word, number in known.items()],
            )
    with store.read() as session:
        found = find_records(session, kind="posting")
    assert {each.id: set(map(int, each.linked("role"))) for each in found} == roles
    assert {name: each.id for each in found for name in each.linked("id")} == ids


class Overtaking:
    """A session in which somebody else files a record between the question and the insert."""

    def __init__(self, session: Session, times: int) -> None:
        self._session, self._times, self._number = session, times, 0

    def rows(self, sql: str, params: Any = {}) -> Any:
        return self._session.rows(sql, params)

    def run(self, sql: str, params: Any = {}) -> int:
        self._overtake(sql)
        return self._session.run(sql, params)

    def many(self, sql: str, rows: Any) -> None:
        self._overtake(sql)
        self._session.many(sql, rows)

    def _overtake(self, sql: str) -> None:
        if sql.startswith("insert into records") and self._number < self._times:
            self._number += 1
            file_record(self._session, Filing("posting", f"a/{self._number}", "{}"), 1, 1)


@only_postgres  # on SQLite whoever writes is alone
@pytest.mark.promise(2)
def test_a_record_that_came_in_between_is_a_conflict_to_be_tried_again(store: Store) -> None:
    with pytest.raises(DatabaseProblem, match="same moment") as told, store.write() as session:
        file_arrivals(store.backend.dialect, Overtaking(session, 2), 1, [Posting("a/1"), Posting("a/2")], 1)
    assert getattr(told.value.__cause__, "sqlstate", "") == "40001"
    with store.read() as session:
        assert find_records(session, kind="posting") == []


@only_postgres
@pytest.mark.promise(9)
def test_a_record_that_came_in_between_once_is_found_at_the_second_look(store: Store) -> None:
    with store.write() as session:
        filed = file_arrivals(
            store.backend.dialect, Overtaking(session, 1), 1, [Posting("a/1"), Posting("a/2")], 1
        )
    assert endings(filed) == ["linked", "imported"]


def test_nothing_to_file_asks_nothing(store: Store) -> None:
    assert file(store, 1) == []
    with store.write() as session:
        pour(store.backend.dialect, session, "no statement at all", module._UPDATED, [])
        assert among(store.backend.dialect, session, "no question {keys}", []) == []


def test_ids_are_new(store: Store) -> None:
    with store.write() as session:
        taken = file_record(session, Filing("posting", "a", "{}"), 0, 1)
        ids = list(new_ids(store.backend.dialect, session, "records", 3))
        assert taken not in ids
        assert len(set(ids)) == 3
        rows = [(number, f"k{number}", "{}") for number in ids]
        insert_rows(store.backend.dialect, session, "records", module._RECORD, rows, now=1)
        assert file_record(session, Filing("posting", "z", "{}"), 0, 1) not in ids


@pytest.mark.parametrize("number", [0, 1, 9, 110, 234, 1_111])
def test_rows_that_are_there_already_are_not_counted(store: Store, number: int) -> None:
    rows = [(at + 1, f"k{at}", "{}") for at in range(number)]
    with store.write() as session:
        insert = partial(insert_rows, store.backend.dialect, session, "records", module._RECORD, now=1)
        assert insert(rows[::2], "on conflict do nothing") == len(rows[::2])
        assert insert(rows, "on conflict do nothing") == len(rows) - len(rows[::2])
        assert session.rows("select count(*) from records")[0][0] == number


@pytest.mark.parametrize("number", [1, 11, 501])
def test_what_is_the_same_in_all_rows_is_given_once(store: Store, number: int) -> None:
    columns = (
        ("id", "bigint"),
        ("kind", ":kind"),
        ("key", "text"),
        ("data", "'{}'"),
        ("first_task", ":task"),
        ("last_task", ":task"),
        ("created_at", "7"),
        ("updated_at", ":now"),
    )
    with store.write() as session:
        rows = [(at + 1, f"k{at}") for at in range(number)]
        assert (
            insert_rows(
                store.backend.dialect, session, "records", columns, rows, now=9, task=3, kind="it's :now"
            )
            == number
        )
        found = session.rows(
            "select id, kind, key, data, first_task, last_task, created_at, updated_at from records order by id"
        )
    assert found == [(at + 1, "it's :now", f"k{at}", "{}", 3, 3, 7, 9) for at in range(number)]


@only_postgres
@pytest.mark.parametrize("sql", ["_BY_ID", "_BY_CONTENT", "_BY_KEY", "_KNOWN", "_OF_ROLE"])
def test_every_question_goes_through_an_index_to_what_it_asks_for(store: Store, sql: str) -> None:
    """A plan that names an index can still walk through all of it: so the rows are counted that were looked
    at for nothing."""
    file(store, 1, *(Posting(f"p/{number}", f"c{number}") for number in range(400)))
    keys = {"_BY_CONTENT": ["c1", "c2"], "_KNOWN": [1, 2], "_OF_ROLE": [1, 2]}.get(sql, ["p/1", "p/2"])
    others = {"role": "1"} if sql == "_OF_ROLE" else {}
    with store.write() as session:
        lines = [
            row[0]
            for row in among(
                store.backend.dialect, session, "explain analyze " + getattr(module, sql), keys, **others
            )
        ]
    assert not any("Seq Scan" in line for line in lines), lines
    removed = [int(line.split(":")[1]) for line in lines if "Removed by Filter" in line]
    assert sum(removed) < 20, lines
