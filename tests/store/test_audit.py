"""Who changed what: a row in the transaction of the change, on every database; neither without the other."""

import asyncio
import os
import signal
import threading
from contextlib import suppress

import pytest

from tests.harness.databases import Database, with_processes
from tests.harness.forks import Fork
from tests.harness.tasks import entry, put, rows
from thresher.admin import keys
from thresher.admin.settings import set_setting
from thresher.admin.tasks import cancel
from thresher.core.clock import DAY
from thresher.runtime import open_backend
from thresher.store import audit
from thresher.store.audit import Actor, acting
from thresher.store.prune import prune
from thresher.store.store import Store

pytestmark = pytest.mark.promise(17)

_NEW = "insert into role_names (key, name, role_id) values (:key, :key, 1)"


def anna(action: str = "POST /sources/boards/pause") -> Actor:
    return Actor("anna", audit.PERSON, "operator", audit.DASHBOARD, action)


def written(store: Store) -> list[tuple[str, str]]:
    with store.read() as session:
        return [(each["who"], each["action"]) for each in audit.find_changes(session, limit=100)]


class _Broken(Exception):
    """Something went wrong in the middle."""


def test_a_change_brings_the_row_of_whoever_made_it(store, clock):
    with acting(anna()):
        set_setting(store, "retry.base", "7", "operator anna")
    with store.read() as session:
        (found,) = audit.find_changes(session, limit=9)
    assert found == {
        "id": found["id"],
        "at": clock.now(),
        "who": "anna",
        "kind": "person",
        "role": "operator",
        "via": "dashboard",
        "action": "POST /sources/boards/pause",
    }


def test_what_nobody_asked_for_leaves_no_row(store):
    set_setting(store, "retry.base", "7", "a test")
    put(store)
    assert written(store) == []


def test_a_change_that_is_rolled_back_takes_its_row_along(store):
    with acting(anna()):
        with suppress(_Broken), store.write() as session:
            session.run(_NEW, {"key": "lost"})
            raise _Broken
        assert (written(store), rows(store, "select key from role_names")) == ([], [])
        with store.write() as session:
            session.run(_NEW, {"key": "kept"})
    assert (len(written(store)), rows(store, "select key from role_names")) == (1, [("kept",)])


def test_a_row_that_cannot_be_written_takes_the_change_along(store):
    with (
        pytest.raises(Exception, match=r"(?i)check"),
        acting(Actor("anna", "nobody's kind", None, "api", "x")),
    ):
        set_setting(store, "retry.base", "7", "anna")
    assert (written(store), rows(store, "select name from settings")) == ([], [])


def test_who_only_looks_leaves_no_row(store):
    with acting(anna()):
        with store.read() as session:
            session.rows("select 1")
        with store.write() as session:
            session.rows(f"select id from admins{store.backend.dialect.lock}")
    assert written(store) == []


def test_a_request_that_changes_nothing_leaves_no_row(store):
    ids = put(store, entry(key="once"))
    with acting(anna()):
        assert store.enqueue([entry(key="once")]) == [None]
    cancel(store, ids, "over")
    with acting(anna()), suppress(Exception):
        cancel(store, ids, "again")
    assert written(store) == []


def test_one_request_leaves_one_row_however_many_transactions_it_takes(store):
    with acting(anna()):
        for text in ("7", "8", "9"):
            set_setting(store, "retry.base", text, "anna")
    assert len(written(store)) == 1


def test_a_task_is_enqueued_in_the_transaction_of_its_row(store, monkeypatch):
    with acting(anna("POST /api/tasks")):
        put(store, entry(gates=("host:example.com",)))
    assert written(store) == [("anna", "POST /api/tasks")]

    def refuse(*_: object) -> None:
        raise _Broken

    monkeypatch.setattr(audit, "record", refuse)
    with suppress(_Broken), acting(anna()):
        store.enqueue([entry(key="not without its row")])
    assert rows(store, "select count(*) from tasks") == [(1,)]


def test_many_rows_in_one_statement_are_a_change(store):
    with acting(anna()), store.write() as session:
        session.many(_NEW, [{"key": "one"}, {"key": "two"}])
    assert len(written(store)) == 1


def test_who_acts_is_known_on_the_threads_of_the_database(store):
    async def change() -> None:
        with acting(anna()):
            await store.run(set_setting, store, "retry.base", "7", "anna")
        await store.run(set_setting, store, "retry.base", "8", "nobody")

    asyncio.run(change())
    assert len(written(store)) == 1


def test_changes_at_the_same_time_have_a_row_each(make_store):
    stores = {f"operator {n}": make_store() for n in range(8)}

    def change(name: str) -> None:
        with acting(Actor(name, audit.PERSON, "operator", audit.API, f"PUT by {name}")):
            set_setting(stores[name], "retry.base", "7", name)

    threads = [threading.Thread(target=change, args=(name,)) for name in stores]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(written(make_store())) == [(name, f"PUT by {name}") for name in stores]


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred\x1b[0m",
        "two\nlines",
        "\u202eright to left",
        "nul \0 byte",
        "half \ud800 a letter",
        "x" * 100_000,
    ],
)
def test_hostile_words_are_one_line_of_text_and_end(store, text):
    with acting(Actor(text, audit.KEY, None, audit.API, text)):
        set_setting(store, "retry.base", "7", "a key")
    ((who, action),) = written(store)
    assert len(who) <= audit.MAX_WHO
    assert len(action) <= audit.MAX_ACTION
    assert all(each.isprintable() or each == "\N{ZERO WIDTH SPACE}" for each in who + action)


def test_the_secret_of_a_new_key_is_in_no_row(store):
    with acting(anna("POST /keys name='dice'")):
        made = keys.create_key(store, "dice", ["read"])
    assert made.token[17:] not in str(rows(store, "select * from audit"))


def test_changes_are_found_by_who_made_them_the_newest_first(store):
    for number, name in enumerate(("anna", "bert", "anna")):
        with acting(Actor(name, audit.PERSON, "admin", audit.API, f"change {number}")):
            set_setting(store, "retry.base", f"{number}", name)
    with store.read() as session:
        every = audit.find_changes(session, limit=9)
        assert [each["action"] for each in every] == ["change 2", "change 1", "change 0"]
        assert [each["action"] for each in audit.find_changes(session, limit=9, who="anna")] == [
            "change 2",
            "change 0",
        ]
        assert audit.find_changes(session, limit=9, before=every[1]["id"]) == every[2:]


def test_rows_go_when_they_are_older_than_history_audit_says(make_store, clock):
    store = make_store(history__audit=30.0)
    with acting(anna("old")):
        set_setting(store, "retry.base", "7", "anna")
    clock.advance(31 * DAY)
    with acting(anna("new")):
        set_setting(store, "retry.base", "8", "anna")
    prune(store)
    assert [action for _, action in written(store)] == ["new"]


def _die_in_the_middle(url: str) -> None:
    """Change something, write the row, and be gone before the commit."""

    def die(session: object, actor: Actor, at: int, record=audit.record) -> None:
        record(session, actor, at)
        os.kill(os.getpid(), signal.SIGKILL)

    audit.record = die
    store = Store(open_backend(url if "://" in url else f"sqlite:///{url}"))
    with acting(anna()):
        set_setting(store, "retry.base", "7", "anna")


@with_processes
def test_a_crash_between_the_row_and_the_commit_leaves_neither(database: Database):
    store = database.open()
    child = Fork(_die_in_the_middle, database.url)
    assert child.wait(60) == -signal.SIGKILL
    assert (written(store), rows(store, "select name from settings")) == ([], [])
