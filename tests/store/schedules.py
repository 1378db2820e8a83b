"""The races of the queue as schedules: step by step, always in the same order. Each returns what went wrong,
or nothing.

They are played against the real code in `test_races.py` and against code with one rule removed in
`test_mutants.py`.
"""

from collections.abc import Callable, Iterator

from tests.harness.databases import Database
from tests.harness.gates import gate, gate_row
from tests.harness.hand import hands
from tests.harness.image import look
from tests.harness.tasks import (
    LEASE_US,
    SOMEBODY,
    claim,
    claim_one,
    done,
    entry,
    failed,
    put,
    retry,
    rows,
    running,
    settle,
    state_of,
    worker,
)
from thresher.core.clock import DAY, SECOND, FrozenClock
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.store import sources
from thresher.store.backend import unscoped
from thresher.store.lanes import serve
from thresher.store.prune import prune, prune_hosts
from thresher.store.store import Store
from thresher.store.tasks import cancel
from thresher.store.workers import reap

Schedule = Callable[[Database, Store, FrozenClock], Iterator[str]]


def left_behind(store: Store, expected: int) -> Iterator[str]:
    """What is wrong with the committed state, and whether the work can still be claimed."""
    yield from look(store).wrongs()
    found = len(claim(store, 10))
    if found != expected:
        yield f"{found} of {expected} tasks can be claimed"


def lane_of(store: Store, *gates: str) -> int:
    return int(rows(store, "select id from lanes where key = :key", key="\n".join(gates))[0][0])


def idle_against_enqueue(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A claim takes the last task of a lane and lays it to rest, while another is being put into it."""
    gate(store, "source:a")
    put(store, entry(gates=["source:a"]))
    with hands(database, store, 2) as (claimer, enqueuer):
        claimer.store.turn([], 5, SOMEBODY)
        enqueuer.begin(lambda store: put(store, entry(gates=["source:a"])))
        enqueuer.waits()
        claimer.commit()
        enqueuer.finish()
    yield from left_behind(store, 1)


def idle_against_requeue(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A claim lays a lane to rest, while a settlement sends a task back into it."""
    gate(store, "source:a")
    put(store, entry(gates=["source:a"]))
    held = claim_one(store)
    put(store, entry(gates=["source:a"]))
    with hands(database, store, 2) as (claimer, settler):
        claimer.store.turn([], 5, SOMEBODY)
        settler.begin(lambda store: store.turn([retry(held)], 0, SOMEBODY))
        settler.waits()
        claimer.commit()
        settler.finish()
    yield from left_behind(store, 1)


def zombie_while_the_next_owner_runs(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A worker that was given up is done, while the one that has the task now is about to be."""
    yield from _zombie(database, store, clock, done)


def zombie_that_fails_while_the_next_owner_runs(
    database: Database, store: Store, clock: FrozenClock
) -> Iterator[str]:
    """The same, with an answer that has something to say."""
    yield from _zombie(database, store, clock, failed)


def _zombie(
    database: Database, store: Store, clock: FrozenClock, answer: Callable[[Task], Settlement]
) -> Iterator[str]:
    gate(store, "source:a", slots=1)
    put(store, entry(gates=["source:a"]))
    old = claim_one(store, worker(store))
    clock.advance(LEASE_US + 1)
    reap(store, 10)
    new = claim_one(store)
    with hands(database, store, 2) as (owner, zombie):
        zombie.begin(lambda store: store.turn([answer(old)], 0, SOMEBODY).stale)
        if zombie.waits():
            yield "the zombie waits for a lock"
        if zombie.finish() != [answer(old)]:
            yield "the zombie was let through"
        if state_of(store, new.id) != "running":
            yield "the task is no longer its owner's"
        if gate_row(store, "source:a")["in_flight"] != 1:
            yield "the slot was given back by the wrong one"
        if owner.store.turn([done(new)], 0, SOMEBODY).stale:
            yield "the owner was refused"
        owner.commit()


def reaper_against_settlement(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A worker's answer is on its way, when the reaper gives its task to others."""
    put(store)
    task = claim_one(store, worker(store))
    clock.advance(LEASE_US + 1)
    with hands(database, store, 2) as (late, reaper):
        late.store.turn([done(task)], 0, SOMEBODY)
        reaper.begin(lambda store: reap(store, 10))
        reaper.waits()
        late.commit()
        if reaper.finish() != 0:
            yield "a settled task was given back"
    if state_of(store, task.id) != "succeeded":
        yield f"the task is {state_of(store, task.id)}"


def wake_meets_a_locked_lane(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A slot comes back for a lane that somebody just then works on: the wake-up is owed."""
    gate(store, "source:a", slots=1)
    gate(store, "source:b")
    put(store, entry(gates=["source:a"]))
    held = claim_one(store)
    put(store, entry(gates=["source:a", "source:b"]))
    claim(store)
    with hands(database, store, 2) as (busy, settler):
        busy.hold("lanes", lane_of(store, "source:a", "source:b"))
        settler.begin(lambda store: store.turn([done(held)], 0, SOMEBODY))
        if settler.waits():
            yield "the settlement waits for a lane"
        settler.finish()
        busy.commit()
    clock.advance(1_000)
    yield from left_behind(store, 1)


def claim_meets_a_gate_held_elsewhere(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A lane that carries the baton of a gate which the claim cannot see must not be laid aside at
    another."""
    gate(store, "source:a", slots=1)
    gate(store, "source:b", slots=1)
    gate(store, "source:c")
    put(store, entry(gates=["source:a"]), entry(gates=["source:b"]))
    held = {tuple(_gates_of(store, task.id)): task for task in claim(store, 2)}
    put(store, entry(gates=["source:b", "source:a"]))
    clock.advance(1)
    put(store, entry(gates=["source:b", "source:c"]))
    _park(store, "source:b", ("source:b", "source:a"), ("source:b", "source:c"))
    settle(store, done(held["source:b",]))  # wakes the first of the two, which cannot pass the other gate
    with hands(database, store, 2) as (busy, claimer):
        busy.hold("gates", gate_row(store, "source:b")["id"])
        claimer.begin(lambda store: store.turn([], 5, SOMEBODY))
        if claimer.waits():
            yield "the claim waits for a gate"
        turn = claimer.finish()
        if turn.tasks or not turn.more:
            yield f"the claim brought {len(turn.tasks)} tasks and more={turn.more}"
        busy.commit()
    yield from left_behind(store, 1)


def settlers_that_need_the_same_gates(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """Two settlements give slots back at the same two gates, named in opposite order."""
    gate(store, "source:a", slots=2)
    gate(store, "source:b", slots=2)
    put(store, entry(gates=["source:a", "source:b"]), entry(gates=["source:b", "source:a"]))
    one, two = claim(store, 2)
    first, second = (gate_row(store, name)["id"] for name in ("source:a", "source:b"))
    with hands(database, store, 4) as (busy, settler, other, prober):
        busy.hold("gates", first)
        for hand, task in ((settler, one), (other, two)):
            hand.begin(lambda store, task=task: store.turn([done(task)], 0, SOMEBODY))
            if not hand.waits():
                yield "a settlement did not wait for a gate that is held"
        prober.begin(lambda store: prober.hold("gates", second))
        if prober.waits():
            yield "a settlement that waits for the first gate holds the second"
        busy.commit()
        prober.finish()
        settler.finish()
        other.finish()
    if [gate_row(store, name)["in_flight"] for name in ("source:a", "source:b")] != [0, 0]:
        yield "slots were lost"


def park_against_release(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A claim finds a gate full and parks a lane, while the slot is being given back."""
    gate(store, "source:a", slots=1)
    gate(store, "source:b")
    put(store, entry(gates=["source:a"]))
    held = claim_one(store)
    put(store, entry(gates=["source:a", "source:b"]))
    with hands(database, store, 2) as (claimer, settler):
        claimer.store.turn([], 5, SOMEBODY)
        settler.begin(lambda store: store.turn([done(held)], 0, SOMEBODY))
        if not settler.waits():
            yield "the release did not wait for the gate"
        claimer.commit()
        settler.finish()
    yield from left_behind(store, 1)


def release_against_park(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """The same the other way round: the slot is not back yet when the claim looks."""
    gate(store, "source:a", slots=1)
    gate(store, "source:b")
    put(store, entry(gates=["source:a"]))
    held = claim_one(store)
    put(store, entry(gates=["source:a", "source:b"]))
    with hands(database, store, 2) as (settler, claimer):
        settler.store.turn([done(held)], 0, SOMEBODY)
        turn = claimer.store.turn([], 5, SOMEBODY)
        if turn.tasks or not turn.more:
            yield f"the claim brought {len(turn.tasks)} tasks and more={turn.more}"
        claimer.commit()
        settler.commit()
    yield from left_behind(store, 1)


def claim_against_cancel(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A person cancels the head of a lane, just when a claim comes for it."""
    gate(store, "source:a")
    (head,) = put(store, entry(gates=["source:a"]))
    put(store, entry(gates=["source:a"]))
    with hands(database, store, 2) as (person, claimer):
        cancel(person.store, [head], "not needed")
        claimer.begin(lambda store: store.turn([], 5, SOMEBODY))
        if claimer.waits():
            yield "the claim waits for a task"
        person.commit()
        claimer.finish()
    if state_of(store, head) != "cancelled":
        yield f"the cancelled task is {state_of(store, head)}"
    yield from left_behind(store, 1)


def rate_spent_while_others_are_parked(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A timer wakes as many lanes as the rate allows. Once that one has started, the others need a timer
    again."""
    gate(store, "source:rate", interval_us=SECOND)
    for name in ("source:b", "source:c", "source:d"):
        gate(store, name)
        put(store, entry(gates=["source:rate", name]))
    for _ in range(2):
        if len(claim(store, 5)) != 1:
            yield "the rate did not let exactly one pass"
        clock.advance(SECOND)
    yield from left_behind(store, 1)


def freed_slot_for_a_lane_that_cannot_use_it(
    database: Database, store: Store, clock: FrozenClock
) -> Iterator[str]:
    """A lane woken for one gate finds another closed. The next one in line must not sleep for it."""
    gate(store, "source:shared", slots=1)
    gate(store, "source:full", slots=1)
    gate(store, "source:free")
    put(store, entry(gates=["source:full"]))
    put(store, entry(gates=["source:shared"]))
    _, held = claim(store, 2)
    put(store, entry(gates=["source:shared", "source:full"]))
    claim(store, 5)
    clock.advance(1)
    put(store, entry(gates=["source:shared", "source:free"]))
    claim(store, 5)
    settle(store, done(held))
    yield from left_behind(store, 1)


def machines_that_meet_the_same_new_hosts(
    database: Database, store: Store, clock: FrozenClock
) -> Iterator[str]:
    """Two machines put tasks into lanes that nobody has met before, with the same hosts in another order."""
    for n in range(5):
        gate(store, f"source:{n}")
    with hands(database, store, 3) as (first, one, other):
        first.store.meet_lanes([unscoped("host:m")])
        one.begin(
            lambda store: store.meet_lanes(
                [unscoped(f"source:{n}", f"host:{name}") for n, name in enumerate("amb")]
            )
        )
        if not one.waits():
            yield "a gate was made twice"
        other.begin(
            lambda store: store.meet_lanes([unscoped("source:3", "host:b"), unscoped("source:4", "host:a")])
        )
        other.waits()
        first.commit()
        for hand in (one, other):
            try:
                hand.finish()
            except Exception as problem:
                yield f"they waited for each other in a circle: {problem}"
    if rows(store, "select count(*) from gates where name like 'host:%'") != [(3,)]:
        yield "not every host has one gate"


def claim_with_a_clock_read_too_early(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A timer has rung and woken a lane. A claim that read the clock just before finds the gate still
    closed."""
    gate(store, "source:rate", interval_us=SECOND)
    gate(store, "source:paused")
    gate(store, "source:free")
    put(store, entry(gates=["source:rate"]))
    claim_one(store)
    put(store, entry(gates=["source:rate", "source:paused"]))
    clock.advance(1)
    put(store, entry(gates=["source:rate", "source:free"]))
    claim(store, 5)
    sources.pause(store, "source:paused", 3_600 * SECOND, "maintenance")
    put(store, entry(priority=5))
    clock.advance(SECOND)
    store.turn(
        [], 1, SOMEBODY
    )  # the timer rings; the one task comes from elsewhere, and the lane stays ready
    clock.advance(-10)
    store.turn([], 1, SOMEBODY)
    clock.advance(10)
    yield from left_behind(store, 1)


def _scope(store: Store, stage: str) -> tuple[int, ...]:
    with store.write() as session:
        return serve(session, SOMEBODY, [("page", stage)])


def worker_that_knows_one_of_two_stages(
    database: Database, store: Store, clock: FrozenClock
) -> Iterator[str]:
    """An old worker claims, while tasks wait at a stage that only a newer one knows."""
    put(store, entry(stage="parse"), entry())
    taken = [task.stage for task in claim(store, 5, scopes=_scope(store, "fetch"))]
    if taken != ["fetch"]:
        yield f"a worker that knows fetch claimed {taken}"


def freed_slot_while_nobody_knows_the_first_in_line(
    database: Database, store: Store, clock: FrozenClock
) -> Iterator[str]:
    """A slot comes back; of the two lanes that wait for it, no living worker knows the first."""
    gate(store, "source:a", slots=1)
    held = running(store, entry(gates=["source:a"]))
    put(store, entry(gates=["source:a"], stage="alpha"))
    put(store, entry(gates=["source:a"]))
    claim(store, 5)
    store.turn([done(held)], 0, SOMEBODY)
    yield from look(store).wrongs()
    if len(claim(store, 5, scopes=_scope(store, "fetch"))) != 1:
        yield "the slot is free, and nobody takes it"


def _idle_host(store: Store, clock: FrozenClock) -> None:
    settle(store, done(running(store, entry(gates=["host:a.example"]))))
    clock.advance(62 * DAY)
    prune(store)


def pruning_against_enqueue(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A lane is about to be removed, while a task is put into it."""
    _idle_host(store, clock)
    with hands(database, store, 2) as (pruner, enqueuer):
        prune_hosts(pruner.store)
        enqueuer.begin(lambda store: put(store, entry(gates=["host:a.example"])))
        enqueuer.waits()
        pruner.commit()
        enqueuer.finish()
    yield from left_behind(store, 1)


def enqueue_against_pruning(database: Database, store: Store, clock: FrozenClock) -> Iterator[str]:
    """A task that is due later has been put into a lane, and is not yet committed, while idle lanes are
    removed."""
    _idle_host(store, clock)
    with hands(database, store, 2) as (enqueuer, pruner):
        put(enqueuer.store, entry(gates=["host:a.example"], delay_us=SECOND))
        prune_hosts(pruner.store)
        pruner.commit()
        enqueuer.commit()
    clock.advance(2 * SECOND)
    yield from left_behind(store, 1)


SCHEDULES: tuple[Schedule, ...] = (
    idle_against_enqueue,
    idle_against_requeue,
    zombie_while_the_next_owner_runs,
    zombie_that_fails_while_the_next_owner_runs,
    reaper_against_settlement,
    wake_meets_a_locked_lane,
    claim_meets_a_gate_held_elsewhere,
    settlers_that_need_the_same_gates,
    park_against_release,
    release_against_park,
    claim_against_cancel,
    rate_spent_while_others_are_parked,
    freed_slot_for_a_lane_that_cannot_use_it,
    machines_that_meet_the_same_new_hosts,
    claim_with_a_clock_read_too_early,
    worker_that_knows_one_of_two_stages,
    freed_slot_while_nobody_knows_the_first_in_line,
    pruning_against_enqueue,
    enqueue_against_pruning,
)


def _gates_of(store: Store, task_id: int) -> list[str]:
    return str(
        rows(
            store, "select l.key from lanes l join tasks t on t.lane_id = l.id where t.id = :id", id=task_id
        )[0][0]
    ).split("\n")


def _park(store: Store, at: str, *lanes: tuple[str, ...]) -> None:
    """Lay lanes aside at one of their closed gates, whichever of them a claim would choose."""
    gate_id = gate_row(store, at)["id"]
    with store.write() as session:
        for gates in lanes:
            values = {"gate": gate_id, "key": "\n".join(gates)}
            session.run("update lanes set status = 'parked', parked_on = :gate where key = :key", values)
