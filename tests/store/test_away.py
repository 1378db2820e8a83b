"""Which complaints of a database mean that it is away, and which that a value cannot be stored: the one is
waited out, the other is not."""

import secrets

import psycopg
import pytest

from tests.harness.databases import only_postgres, only_sqlite
from tests.harness.tasks import change
from thresher.core.errors import DatabaseProblem, InvalidPayload
from thresher.store.postgres.connection import is_away, is_unstorable

_SETTING = "insert into settings (name, value, changed_at, changed_by) values (:name, :value, 0, '')"
AWAY = (
    "08006 connection failure",
    "57P01 shutdown",
    "57014 cancelled",
    "53100 disk full",
    "53300 too many connections",
    "40001 serialization",
    "40P01 deadlock",
    "55P03 lock not available",
    "58030 input/output",
    "28P01 bad password",
    "25006 read-only",
    "25P03 idled too long",
)
UNSTORABLE = (
    "54000 index row too large",
    "54001 too complex",
    "22003 out of range",
    "22021 not in repertoire",
    "22P05 no such character",
)
NEITHER = ("42601 syntax", "23505 duplicate", "23502 null", "XX000 internal", "0A000 not supported")


def judged(code: str) -> tuple[bool, bool]:
    problem = psycopg.errors.lookup(code[:5])("no matter what it says")
    return is_away(problem), is_unstorable(problem)


@pytest.mark.promise(1)
@pytest.mark.parametrize("code", AWAY)
def test_trouble_of_the_server_is_waited_out(code):
    assert judged(code) == (True, False)


@pytest.mark.promise(1)
@pytest.mark.parametrize("code", UNSTORABLE)
def test_a_value_that_cannot_be_stored_is_not_taken_for_a_server_that_is_away(code):
    assert judged(code) == (False, True)


@pytest.mark.parametrize("code", NEITHER)
def test_any_other_complaint_is_a_surprise_and_fails_what_caused_it(code):
    assert judged(code) == (False, False)


@pytest.mark.promise(1)
def test_a_connection_that_broke_says_no_code_and_is_waited_out():
    assert is_away(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert is_unstorable(psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"))


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize("name", [secrets.token_hex(2_000), "a\x00b"], ids=["too long for an index", "nul"])
def test_postgresql_says_what_it_cannot_store(store, name):
    with pytest.raises(InvalidPayload, match="the database cannot store a value"):
        change(store, _SETTING, name=name, value="")


@pytest.mark.promise(1)
@only_sqlite
def test_sqlite_says_what_it_cannot_store(store):
    with pytest.raises(InvalidPayload, match="the database cannot store a value: string or blob too big"):
        change(store, "select zeroblob(2000000000)")


def test_a_statement_that_a_database_does_not_understand_is_a_surprise(store):
    with pytest.raises(Exception, match="syntax error") as raised:
        change(store, "selekt 1")
    assert not isinstance(raised.value, DatabaseProblem)


def test_a_table_that_is_not_there_yet_is_made_by_migrating(store):
    with pytest.raises(DatabaseProblem, match="bring it up to date with: thresher migrate"):
        change(store, "select * from nowhere")
