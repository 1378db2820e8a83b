"""A worker's turn over a connection of the event loop: the same promises without a thread in between."""

import asyncio
import itertools

import psycopg
import pytest

from tests.engine.workshop import QUICK, one_stage
from tests.harness.databases import only_postgres
from tests.harness.tasks import rows
from thresher import Done, NewTask
from thresher.config.settings import Settings
from thresher.core.errors import DatabaseProblem, InvalidPayload
from thresher.core.settlement import Settlement
from thresher.store import workers
from thresher.store.store import Store

pytestmark = only_postgres


@pytest.fixture
def store(workshop):
    """A plain store: its turns go over the wire."""
    found = Store(workshop.database.backend(), threads=4, settings=Settings(QUICK))
    yield found
    found.close()


class Visits:
    def __init__(self, workshop, number):
        self.performed = []
        self.registry = workshop.set_up(one_stage("visit", self._visit))
        self.ids = workshop.put(self.registry, *(NewTask("visit") for _ in range(number)))

    async def _visit(self, ctx):
        self.performed.append(ctx.task.id)
        return Done()


def no_thread(*_):
    raise AssertionError("a turn went through a database thread")


def test_a_worker_claims_and_settles_without_a_thread(workshop, store):
    visits = Visits(workshop, 50)
    store.backend.turn = no_thread
    tally = workshop.drain(visits.registry, store=store, pumps=2)
    assert sorted(visits.performed) == sorted(visits.ids)
    assert tally.settled == 50
    assert {workshop.state(each) for each in visits.ids} == {"succeeded"}


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_claims_and_settlements_whose_answer_was_lost_on_the_wire_are_made_up_for(workshop, store):
    visits = Visits(workshop, 30)
    turn, calls = store.backend.turn_on_loop, itertools.count()

    async def interrupted(*asked):
        answer = await turn(*asked)
        if next(calls) < 3:
            raise DatabaseProblem("the answer was lost")
        return answer

    store.backend.turn_on_loop = interrupted
    workshop.drain(visits.registry, store=store)
    assert {workshop.state(each) for each in visits.ids} == {"succeeded"}
    assert [workshop.endings(each).count("done") for each in visits.ids] == [1] * 30
    assert rows(store, "select sum(failures), sum(crashes) from tasks") == [(0, 0)]


@pytest.mark.promise(1)
def test_a_server_that_hangs_up_in_the_middle_costs_nothing_but_time(workshop, store):
    visits = Visits(workshop, 40)
    turn, calls = store.backend.turn_on_loop, itertools.count()

    async def cut_off(*asked):
        if next(calls) == 1:
            for line in store.backend._wire._idle:
                rows(workshop.store, "select pg_terminate_backend(:pid)", pid=line.pid)
        return await turn(*asked)

    store.backend.turn_on_loop = cut_off
    workshop.drain(visits.registry, store=store)
    assert {workshop.state(each) for each in visits.ids} == {"succeeded"}


def test_a_conflict_is_tried_again_and_nobody_hears_of_it(workshop, store):
    send, left = store.backend._wire.rows, [3]

    async def in_conflict(params):
        if left[0]:
            left[0] -= 1
            raise DatabaseProblem("again") from psycopg.errors.SerializationFailure()
        return await send(params)

    store.backend._wire.rows = in_conflict
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)
    visits = Visits(workshop, 1)
    turn = asyncio.run(store.take_turn([], 5, worker_id))
    assert [task.id for task in turn.tasks] == visits.ids


@pytest.mark.promise(2)
def test_the_fence_refuses_over_the_wire_what_it_refuses_elsewhere(workshop, store):
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)
    Visits(workshop, 1)

    async def play():
        (task,) = (await store.take_turn([], 5, worker_id)).tasks
        first = await store.take_turn([Settlement.done(task)], 0, worker_id)
        second = await store.take_turn([Settlement.done(task)], 0, worker_id)
        return first.stale, second.stale

    first, second = asyncio.run(play())
    assert (first, len(second)) == ([], 1)
    assert rows(store, "select count(*) from events where kind = 'stale_settlement'") == [(1,)]


@pytest.mark.promise(2)
def test_a_task_that_is_settled_twice_in_one_turn_is_settled_once(workshop, store):
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)
    visits = Visits(workshop, 2)

    async def play():
        one, two = (await store.take_turn([], 5, worker_id)).tasks
        return await store.take_turn(
            [Settlement.done(one), Settlement.done(two), Settlement.done(one)], 0, worker_id
        )

    turn = asyncio.run(play())
    assert [each.task_id for each in turn.stale] == visits.ids[:1]
    assert {workshop.state(each) for each in visits.ids} == {"succeeded"}


def test_a_turn_that_is_larger_than_the_wire_takes_at_once_arrives_whole(workshop, store):
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)
    visits = Visits(workshop, 400)
    why = "because " * 2_000

    async def play():
        tasks = (await store.take_turn([], 400, worker_id)).tasks
        return await store.take_turn([Settlement.skipped(task, reason=why) for task in tasks], 0, worker_id)

    assert asyncio.run(play()).stale == []
    assert rows(store, "select count(*), min(reason), max(reason) from tasks where state = 'skipped'") == [
        (len(visits.ids), why, why)
    ]


def test_what_the_server_says_is_an_error_here_too_and_the_next_turn_has_a_new_line(workshop, store):
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)

    async def play():
        await store.take_turn([], 1, worker_id)
        (before,) = [line.pid for line in store.backend._wire._idle]
        with pytest.raises(InvalidPayload, match="out of range"):
            await store.take_turn([], 2**40, worker_id)
        await store.take_turn([], 1, worker_id)
        (after,) = [line.pid for line in store.backend._wire._idle]
        return before != after

    assert asyncio.run(play())


def test_every_loop_has_connections_of_its_own_and_closing_leaves_none(workshop):
    store = Store(workshop.database.backend(), threads=4, settings=Settings(QUICK))
    worker_id = workers.register(store, name="w", host="h", pid=1, lease_us=60_000_000)
    pids = []
    for _ in range(2):
        asyncio.run(store.take_turn([], 1, worker_id))
        pids += [line.pid for line in store.backend._wire._idle]
    assert len(set(pids)) == 2
    store.close()
    assert store.backend._wire._idle == []
