"""Idempotency keys, attacked on every database: races, servers that die at the worst moment, late ones."""

import os
import signal
import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.forks import Fork
from tests.harness.tasks import entry, put, rows
from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.errors import NotAllowed
from thresher.runtime import open_backend
from thresher.store import idempotency
from thresher.store.idempotency import (
    LEASE_US,
    Attempt,
    KeptAnswer,
    KeyRefusal,
    NamedRequest,
    attempting,
)
from thresher.store.prune import prune
from thresher.store.store import Store

pytestmark = pytest.mark.promise(17)

ASKED = NamedRequest("key 1", "k", "what")
ANSWER = KeptAnswer(201, "application/json", b'{"id": 7}\x00\xff')


def begin(store, named=ASKED, *, keep_us=DAY, most=100):
    return idempotency.begin(store.backend, named, keep_us=keep_us, most=most)


def end(store, attempt, answer=ANSWER):
    idempotency.end(store.backend, attempt, answer)


def begun(store, named=ASKED) -> Attempt:
    found = begin(store, named)
    assert isinstance(found, Attempt)
    return found


def change(store, attempt):
    with attempting(attempt):
        put(store, entry())


def tasks(store) -> int:
    return int(rows(store, "select count(*) from tasks")[0][0])


def test_what_was_done_is_answered_as_before(store):
    attempt = begun(store)
    change(store, attempt)
    end(store, attempt)
    assert begin(store) == ANSWER
    assert begin(store) == ANSWER


def test_another_request_under_the_same_key_is_refused_and_other_callers_have_their_own(store):
    end(store, begun(store))
    assert begin(store, NamedRequest("key 1", "k", "something else")) is KeyRefusal.REUSED
    assert isinstance(begin(store, NamedRequest("key 2", "k", "something else")), Attempt)
    assert isinstance(begin(store, NamedRequest("key 1", "l", "what")), Attempt)


def test_while_the_first_is_under_way_the_second_is_told_so(store):
    begun(store)
    assert begin(store) is KeyRefusal.UNDER_WAY
    assert begin(store, NamedRequest("key 1", "k", "something else")) is KeyRefusal.REUSED


def test_a_server_that_dies_before_the_change_is_replaced_after_its_lease(store, clock):
    begun(store)
    clock.advance(LEASE_US + SECOND)
    second = begun(store)
    change(store, second)
    end(store, second)
    assert tasks(store) == 1


def test_a_server_that_dies_between_the_change_and_the_answer_never_doubles_the_change(store, clock):
    change(store, begun(store))
    assert begin(store) is KeyRefusal.UNDER_WAY
    clock.advance(LEASE_US + SECOND)
    assert begin(store) is KeyRefusal.LOST
    assert tasks(store) == 1


def test_an_attempt_that_was_given_up_can_change_nothing_any_more(store, clock):
    late = begun(store)
    clock.advance(LEASE_US + SECOND)
    second = begun(store)
    with pytest.raises(NotAllowed, match="begun again"):
        change(store, late)
    assert tasks(store) == 0
    change(store, second)
    end(store, late, KeptAnswer(200, None, b"late"))
    assert tasks(store) == 1
    end(store, second)
    assert begin(store) == ANSWER


def test_a_change_that_is_rolled_back_is_no_change(store):
    attempt = begun(store)

    def break_off():
        with attempting(attempt), store.write() as session:
            session.run(
                "insert into blobs (hash, size, body, created_at) values ('a', 1, :body, 0)", {"body": b"a"}
            )
            raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        break_off()
    assert not attempt.changed
    idempotency.give_up(store.backend, attempt)
    assert isinstance(begin(store), Attempt)


def test_a_refused_request_frees_its_key_unless_it_changed_something(store):
    attempt = begun(store)
    with attempting(attempt), store.write() as session:
        session.rows("select count(*) from tasks")
    idempotency.give_up(store.backend, attempt)
    second = begun(store)
    change(store, second)
    idempotency.give_up(store.backend, second)
    assert begin(store) is KeyRefusal.LOST


def test_an_answer_that_must_not_be_kept_is_not_kept(store):
    attempt = begun(store)
    change(store, attempt)
    end(store, attempt, None)
    assert begin(store) is KeyRefusal.LOST
    assert rows(store, "select status, media, body from idempotency_keys") == [(None, None, None)]


def test_a_key_is_free_again_after_its_time_and_pruned(store, clock):
    end(store, begun(store))
    clock.advance(DAY + SECOND)
    again = begun(store)
    assert begin(store) is KeyRefusal.UNDER_WAY
    end(store, again)
    clock.advance(DAY - HOUR)
    prune(store)
    assert begin(store) == ANSWER
    clock.advance(2 * HOUR)
    prune(store)
    assert rows(store, "select id from idempotency_keys") == []


def test_a_caller_has_a_bounded_number_of_keys_and_takes_none_from_others(store):
    for n in range(3):
        end(store, begin(store, NamedRequest("key 1", str(n), "what"), most=3))
    assert begin(store, NamedRequest("key 1", "3", "what"), most=3) is KeyRefusal.FULL
    assert begin(store, NamedRequest("key 1", "2", "what"), most=3) == ANSWER
    assert isinstance(begin(store, NamedRequest("key 2", "3", "what"), most=3), Attempt)


@with_processes
def test_of_many_servers_that_get_the_same_request_one_does_it(database):
    stores = [database.open() for _ in range(4)]
    start, found = threading.Barrier(len(stores)), []

    def send(store):
        start.wait()
        attempt = begin(store)
        if isinstance(attempt, Attempt):
            change(store, attempt)
            end(store, attempt)
        found.append(attempt)

    threads = [threading.Thread(target=send, args=(store,)) for store in stores]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == len(stores)
    assert sum(isinstance(each, Attempt) for each in found) == 1
    assert all(isinstance(each, Attempt) or each in (ANSWER, KeyRefusal.UNDER_WAY) for each in found)
    assert tasks(stores[0]) == 1


@with_processes
def test_a_late_change_and_a_new_attempt_never_both_count(database):
    """The late server commits while the new one asks: either the change stands and the new one is told, or
    the new one begins and the change is rolled back."""
    late, new = database.open(), database.open()
    attempt = begun(late)
    database.clock.advance(LEASE_US + SECOND)
    inside, outcome = threading.Event(), []

    def commit():
        try:
            with attempting(attempt), late.write() as session:
                session.run("update idempotency_keys set until_at = until_at where id = 0")
                inside.set()
                session.run(
                    "insert into blobs (hash, size, body, created_at) values ('a', 1, :body, 0)",
                    {"body": b"a"},
                )
        except NotAllowed as refused:
            outcome.append(refused)

    thread = threading.Thread(target=commit)
    thread.start()
    inside.wait()
    found = begin(new)
    thread.join()
    stands = rows(new, "select count(*) from blobs")[0][0] == 1
    assert stands == (found is KeyRefusal.LOST) == (not outcome)
    assert stands != isinstance(found, Attempt)


def _die(url: str, moment: str) -> None:
    """A server that is killed in the middle of a request: before its change is committed, or just after."""
    store = Store(open_backend(url if "://" in url else f"sqlite:///{url}"))
    attempt = begun(store)
    with attempting(attempt), store.write() as session:
        session.run(
            "insert into blobs (hash, size, body, created_at) values ('a', 1, :body, 0)", {"body": b"a"}
        )
        if moment == "inside":
            os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


@with_processes
@pytest.mark.parametrize(("moment", "changes"), [("inside", 0), ("after", 1)])
def test_a_server_that_is_killed_has_made_its_change_and_says_so_or_leaves_it_to_the_next(
    database, moment, changes
):
    store = database.open()
    child = Fork(_die, database.url, moment)
    assert child.wait(60) == -signal.SIGKILL
    assert rows(store, "select count(*) from blobs") == [(changes,)]
    # The dead server read the real clock.
    with store.write() as session:
        session.run(
            "update idempotency_keys set begun_at = :now, until_at = :now", {"now": database.clock.now()}
        )
    found = begin(store)
    if changes:
        assert found is KeyRefusal.LOST
    else:
        assert isinstance(found, Attempt)
        assert found.number == 2
