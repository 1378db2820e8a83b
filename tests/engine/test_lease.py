"""Leases: kept alive by the heartbeat, given up before they end, and never pretended to be held."""

import asyncio
import itertools
import threading
import time

import pytest

from tests.engine.workshop import PATIENCE, Interruption, at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.gates import gate_row
from tests.harness.tasks import events, rows
from thresher import Done, NewTask, Record, Source
from thresher.core.errors import DatabaseProblem
from thresher.engine.chores import reap_lost
from thresher.engine.lease import Heartbeat
from thresher.engine.worker import WATCH_SECONDS
from thresher.store import tasks, workers

pytestmark = with_processes

LONG = 60_000_000


class FirstHangs:
    """A stage whose first attempt hangs until it is cancelled, and whose others are done at once."""

    def __init__(self, *, brings=None):
        self.begun, self.dropped = asyncio.Event(), asyncio.Event()
        self._brings = brings

    async def __call__(self, ctx):
        if ctx.task.claim > 1:
            return Done(records=(Record("visit", str(ctx.task.id)),))
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.dropped.set()
            if self._brings is None:
                raise
        return self._brings


def hanging_app(hangs):
    async def visit(ctx):
        return await hangs(ctx)

    return one_stage("visit", visit, through=("source:web",), sources=(Source("web", in_flight=1),))


@pytest.mark.promise(20)
def test_a_running_task_that_a_person_cancels_is_stopped_by_the_next_heartbeat(workshop):
    async def play():
        hangs = FirstHangs()
        registry = workshop.set_up(hanging_app(hangs))
        (task_id,) = workshop.put(registry, NewTask("visit"))
        async with at_work(workshop.worker(registry)):
            await soon(hangs.begun.wait())
            assert tasks.cancel(workshop.store, [task_id], "not needed").asked == [task_id]
            await soon(hangs.dropped.wait())
            await workshop.store.until(lambda: workshop.state(task_id) == "cancelled")
        return task_id

    task_id = asyncio.run(play())
    assert workshop.endings(task_id) == ["cancelled"]
    assert gate_row(workshop.store, "source:web")["in_flight"] == 0


@pytest.mark.promise(2)
@pytest.mark.parametrize(
    "brings", [None, Done(records=(Record("zombie", "x"),))], ids=["cancelled", "finishes anyway"]
)
def test_a_worker_that_lost_its_lease_writes_nothing_and_starts_over_as_a_new_one(workshop, brings):
    async def play():
        hangs = FirstHangs(brings=brings)
        registry = workshop.set_up(hanging_app(hangs))
        (task_id,) = workshop.put(registry, NewTask("visit"))
        other = workshop.machine()
        worker = workshop.worker(registry)
        async with at_work(worker):
            await soon(hangs.begun.wait())
            workshop.clock.advance(LONG)
            reap_lost(other)
            await soon(hangs.dropped.wait())
            await workshop.store.until(lambda: workshop.state(task_id) == "succeeded")
        assert worker.tally.lost == 1
        return task_id

    task_id = asyncio.run(play())
    # Until its heartbeat tells it, it may claim again as the one who is already given up: that claim is taken
    # away, too.
    *crashes, last = workshop.endings(task_id)
    assert (set(crashes), last) == ({"crashed"}, "done")
    assert rows(workshop.store, "select kind, seen from records") == [("visit", 1)]
    assert rows(workshop.store, "select count(*) from workers") == [(2,)]
    assert {kind for kind, *_ in events(workshop.store)} <= {"worker_lost", "stale_settlement"}


@pytest.mark.promise(2)
@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_a_worker_that_cannot_renew_drops_its_tasks_before_its_lease_ends(workshop, how):
    broken, mended = threading.Event(), threading.Event()

    async def play():
        hangs = FirstHangs()
        registry = workshop.set_up(hanging_app(hangs), worker__lease=3.0)
        (task_id,) = workshop.put(registry, NewTask("visit"))
        beat = workshop.machine()
        write = beat.backend.write

        def trouble():
            if broken.is_set() and not mended.is_set():
                if how == "hangs":
                    mended.wait(PATIENCE)
                raise DatabaseProblem("no route to the database")
            return write()

        beat.backend.write = trouble
        worker = workshop.worker(registry, beat=beat)
        async with at_work(worker):
            await soon(hangs.begun.wait())
            broken.set()
            await soon(hangs.dropped.wait())
            # The database's clock stands still: nobody else could have taken the task yet, and nothing was
            # written.
            assert workshop.endings(task_id) == []
            assert worker.tally.lost >= 1
            mended.set()
            workshop.clock.advance(LONG)
            await workshop.store.until(lambda: workshop.state(task_id) == "succeeded")
        return task_id

    assert workshop.endings(asyncio.run(play()))[-1] == "done"
    assert rows(workshop.store, "select kind, seen from records") == [("visit", 1)]


def test_a_heartbeat_gives_up_the_lease_of_a_worker_whose_loop_stands_still(workshop):
    worker_id = workers.register(workshop.store, name="anna", host="here", pid=1, lease_us=100_000)
    lost, why = threading.Event(), []

    def on_lost(reason):
        why.append(reason)
        lost.set()

    heartbeat = Heartbeat(
        workshop.machine(), worker_id, 3.0, stall=0.25, on_lost=on_lost, on_cancel=lambda claims: None
    )
    heartbeat.start()
    assert heartbeat.safe
    assert lost.wait(PATIENCE)
    assert "been blocked" in why[0]
    assert not heartbeat.safe
    heartbeat.stop()


def test_a_heartbeat_with_a_pulse_goes_on_and_renews(workshop):
    worker_id = workers.register(workshop.store, name="anna", host="here", pid=1, lease_us=100_000)
    store, renewed = workshop.machine(), threading.Semaphore(0)
    write = store.backend.write

    def counted():
        renewed.release()
        heartbeat.pulse()
        return write()

    store.backend.write = counted
    heartbeat = Heartbeat(
        store, worker_id, 0.6, stall=0.5, on_lost=lambda why: None, on_cancel=lambda claims: None
    )
    heartbeat.start()
    assert all(renewed.acquire(timeout=PATIENCE) for _ in range(4))
    assert heartbeat.safe
    heartbeat.stop()


@pytest.mark.promise(1)
def test_claims_whose_answer_was_lost_go_back_and_every_task_is_done_once(workshop):
    performed = []

    async def visit(ctx):
        performed.append(ctx.task.id)
        return Done(records=(Record("visit", str(ctx.task.id)),))

    registry = workshop.set_up(one_stage("visit", visit))
    ids = workshop.put(registry, *(NewTask("visit") for _ in range(30)))
    workshop.store.backend.turn = Interruption(workshop.store.backend.turn, times=2)
    workshop.drain(registry)
    assert {workshop.state(each) for each in ids} == {"succeeded"}
    assert sorted(performed) == sorted(ids)
    assert rows(workshop.store, "select count(*), sum(seen) from records") == [(30, 30)]
    assert rows(workshop.store, "select count(*) > 0 from attempts where ending = 'handed_back'")[0][0]
    assert rows(workshop.store, "select sum(failures), sum(crashes) from tasks") == [(0, 0)]


@pytest.mark.promise(1)
def test_a_claim_that_reaches_the_database_after_everything_was_compared_is_found_a_lease_later(workshop):
    """The connection broke, the server had not noticed yet: it goes on with the claim when we have already
    looked."""
    turn, calls = workshop.store.backend.turn, itertools.count()

    def late(settlements, limit, worker_id, rules, scopes):
        number = next(calls)
        if number == 0:
            raise DatabaseProblem("the connection broke")
        if number == 1:
            assert turn([], 1, worker_id, rules, scopes).tasks
        return turn(settlements, limit, worker_id, rules, scopes)

    async def visit(ctx):
        return Done()

    async def play():
        registry = workshop.set_up(one_stage("visit", visit), worker__lease=2.0)
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(5)))
        workshop.store.backend.turn = late
        async with at_work(workshop.worker(registry)):
            await workshop.store.until(lambda: {workshop.state(each) for each in ids} == {"succeeded"})
        return ids

    endings = sorted(workshop.endings(each) for each in asyncio.run(play()))
    assert endings == [["done"]] * 4 + [["handed_back", "done"]]


@pytest.mark.promise(2)
def test_settlements_whose_answer_was_lost_are_sent_again_and_count_once(workshop):
    async def visit(ctx):
        if ctx.task.depth == 0:
            return Done(
                children=(NewTask("visit", url=f"https://a.example/{ctx.task.id}"),),
                records=(Record("visit", "all"),),
            )
        return Done()

    registry = workshop.set_up(one_stage("visit", visit))
    ids = workshop.put(registry, *(NewTask("visit") for _ in range(10)))
    workshop.store.settle = Interruption(workshop.store.settle, times=2)
    workshop.drain(registry)
    assert [workshop.endings(each) for each in ids] == [["done"]] * 10
    assert rows(workshop.store, "select seen from records") == [(10,)]
    assert rows(
        workshop.store, "select count(*) from tasks where parent_id is not null and state = 'succeeded'"
    ) == [(10,)]


@pytest.mark.promise(2)
def test_what_another_pump_has_just_claimed_is_not_taken_for_lost(workshop):
    """One pump is in trouble and compares; the other's claim is committed, its answer still on the way."""
    performed, given_back, second_is_in = [], threading.Event(), threading.Event()
    store, calls = workshop.machine(worker__batch=10, worker__concurrency=20), itertools.count()
    store._threads._max_workers = 4
    turn, settle = store.backend.turn, store.settle

    def noticed(settlements, **how):
        stale = settle(settlements, **how)
        given_back.set()
        return stale

    def play_turn(settlements, limit, worker_id, rules, scopes):
        number = next(calls)
        if number == 0:
            second_is_in.wait(PATIENCE)
            raise DatabaseProblem("the line is cut")
        answer = turn(settlements, limit, worker_id, rules, scopes)
        if number == 1:
            second_is_in.set()
            given_back.wait(0.5)  # long enough for a comparison that does not wait for us
        return answer

    async def visit(ctx):
        performed.append(ctx.task.id)
        return Done()

    store.backend.turn, store.settle = play_turn, noticed
    registry = workshop.set_up(one_stage("visit", visit))
    ids = workshop.put(registry, *(NewTask("visit") for _ in range(8)))
    workshop.drain(registry, store=store, pumps=2)
    assert [workshop.endings(each) for each in ids] == [["done"]] * 8
    assert sorted(performed) == sorted(ids)


@pytest.mark.promise(1)
def test_a_claim_by_a_worker_that_was_given_up_meanwhile_is_found_and_done_by_somebody(workshop):
    """Frozen in the middle of a claim: the others write it off and forget it, then it thaws and takes a
    task."""
    other = workshop.machine()
    turn, left = workshop.store.backend.turn, [1]

    def thawed(settlements, limit, worker_id, rules, scopes):
        if left and limit and workshop.store.turns:
            left.pop()
            workshop.clock.advance(LONG)
            reap_lost(other)
            reap_lost(other)
        return turn(settlements, limit, worker_id, rules, scopes)

    async def visit(ctx):
        return Done(records=(Record("visit", str(ctx.task.id)),))

    async def play():
        registry = workshop.set_up(one_stage("visit", visit))
        async with at_work(workshop.worker(registry)):
            await workshop.store.until(lambda: workshop.store.turns > 0)
            workshop.store.backend.turn = thawed
            (task_id,) = workshop.put(registry, NewTask("visit"))
            await workshop.store.until(lambda: workshop.state(task_id) == "succeeded")
        return task_id

    task_id = asyncio.run(play())
    assert workshop.endings(task_id).count("done") == 1
    assert rows(workshop.store, "select seen from records") == [(1,)]


@pytest.mark.promise(1)
def test_a_worker_that_starts_over_slowly_starts_over_once(workshop, monkeypatch):
    """Between its new name and its new lease the old, lost lease is still there to be seen; a second new self
    would strand tasks."""
    serve, calls = workers.serve, itertools.count()

    def slowly(*args):
        if next(calls) == 1:
            time.sleep(5 * WATCH_SECONDS)  # long enough for several looks at the lease
        return serve(*args)

    async def visit(ctx):
        return Done()

    async def play():
        registry = workshop.set_up(one_stage("visit", visit))
        async with at_work(worker := workshop.worker(registry)):
            await workshop.store.until(lambda: workshop.store.turns > 0)
            workshop.clock.advance(LONG)
            reap_lost(workshop.machine())
            (task_id,) = workshop.put(registry, NewTask("visit"))
            await workshop.store.until(lambda: workshop.state(task_id) == "succeeded")
        return worker.tally.lost

    monkeypatch.setattr(workers, "serve", slowly)
    assert asyncio.run(play()) == 1
    assert rows(
        workshop.store, "select count(*) from workers where stopped_at is null and lost_at is null"
    ) == [(0,)]


@pytest.mark.promise(8)
def test_a_task_that_lost_its_worker_three_times_is_quarantined_and_the_others_go_on(workshop):
    async def visit(ctx):
        return Done()

    registry = workshop.set_up(one_stage("visit", visit))
    (poison,) = workshop.put(registry, NewTask("visit"))
    for number in range(3):
        victim = workers.register(
            workshop.store, name=f"victim-{number}", host="here", pid=1, lease_us=1_000_000
        )
        assert [task.id for task in workshop.store.turn([], 1, victim).tasks] == [poison]
        workshop.clock.advance(2_000_000)
        assert reap_lost(workshop.store) == "1 tasks of lost workers went back to waiting"
    (healthy,) = workshop.put(registry, NewTask("visit"))
    workshop.drain(registry)
    fields = workshop.fields(poison)
    assert (fields["state"], fields["error"], fields["crashes"], fields["failures"]) == (
        "failed",
        "Quarantined",
        3,
        0,
    )
    assert workshop.state(healthy) == "succeeded"
    assert [kind for kind, *_ in events(workshop.store, "task_quarantined")] == ["task_quarantined"]
