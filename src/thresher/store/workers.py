"""Workers and their leases, the tasks of lost workers, and the chores that all workers share.

A worker's lease is one row, renewed by its heartbeat. Losing it is final: once `lost_at` is set, a renewal
finds nothing to renew, and the worker knows that its tasks are no longer its own.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from thresher.core.errors import DatabaseProblem
from thresher.core.event import EventKind
from thresher.core.settlement import Settlement
from thresher.core.task import TaskId, WorkerId
from thresher.store import lanes
from thresher.store.events import record_event
from thresher.store.lanes import Scope
from thresher.store.session import Session, one
from thresher.store.store import Store

_REGISTER = """insert into workers (name, host, pid, lease_us, lease_until, started_at, marks_begun)
    values (:name, :host, :pid, :lease_us, :until, :now, :marks_begun) returning id"""
_RENEW = "update workers set lease_until = :now + lease_us where id = :id and lost_at is null and stopped_at is null"
_CANCELLING = "select id, claim from tasks where worker_id = :id and state = 'running' and cancelling = 1"
# Only without tasks: tasks that could not be settled are given back when the lease ends, as for any lost
# worker.
_STOP = """update workers set stopped_at = :now where id = :id and stopped_at is null
    and not exists (select 1 from tasks t where t.worker_id = workers.id and t.state = 'running')"""
# A lease can end no later than now plus its own length. If it does, the clock was set back: a living worker
# renews it, and a dead one must not be waited for until the clock has caught up.
_CLAMP = """update workers set lease_until = :now + lease_us where stopped_at is null and lost_at is null
    and lease_until > :now + lease_us"""
_END = "update workers set lease_until = :now - 1 where stopped_at is null and lost_at is null and lease_until >= :now"
_LOSE = """update workers set lost_at = :now where stopped_at is null and lost_at is null
    and lease_until < :now returning id, name"""
_LOST = """select id, name from workers where stopped_at is null and lost_at is not null"""
# A worker that is lost or stopped holds nothing, even what it claimed later: a frozen process may thaw in the
# middle of a claim, and be killed before it learns that it was given up. It may even thaw when its row has
# been pruned: then there is none, though its id was given out. In the order of the index of running tasks: in
# that of their ids, finding none would mean to read all tasks there are.
_ORPHANS = """select t.id, t.claim, t.stage, t.crashes, t.begun, coalesce(w.marks_begun, 0), coalesce(w.name, 'a worker of long ago')
    from tasks t left join workers w on w.id = t.worker_id
    where t.state = 'running' and (w.lost_at is not null or w.stopped_at is not null
        or (w.id is null and t.worker_id < (select max(id) from workers))) order by t.worker_id, t.id limit :most"""
_CLOSE = """update workers set stopped_at = :now where stopped_at is null and lost_at is not null and id = :id
    and not exists (select 1 from tasks t where t.worker_id = workers.id and t.state = 'running')"""
_BEGIN = "update tasks set begun = claim where id = :id and claim = :claim and state = 'running'"
_OTHERS_HOLD = "select id from tasks where state = 'running' and worker_id <> :id limit 1"
_HELD = "select id, claim from tasks where worker_id = :id and state = 'running'"


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a heartbeat learns: whether the lease still stands, and which of its claims a person has
    cancelled.
    """

    alive: bool
    cancelling: frozenset[tuple[int, int]] = frozenset()


def register(
    store: Store, *, name: str, host: str, pid: int, lease_us: int, marks_begun: bool = False
) -> WorkerId:
    """A new worker. Every start is a new row, so an old process can never pass for the new one.

    With `marks_begun` it calls `begin_suspect` before it performs a task that lost its worker before.
    """
    with store.write() as session:
        now = store.backend.now(session)
        values = {
            "name": name,
            "host": host,
            "pid": pid,
            "lease_us": lease_us,
            "until": now + lease_us,
            "now": now,
            "marks_begun": int(marks_begun),
        }
        rows = session.rows(_REGISTER, values)
    if not rows:
        raise DatabaseProblem("the worker could not be registered")
    return WorkerId(rows[0][0])


def serve(store: Store, worker_id: WorkerId, wanted: Iterable[Scope]) -> tuple[int, ...]:
    """Write down what a worker serves, and return the numbers that its claims name."""
    with store.write() as session:
        return lanes.serve(session, worker_id, wanted)


def renew(store: Store, worker_id: WorkerId) -> Renewal:
    """Hold on for another lease."""
    with store.write() as session:
        if session.run(_RENEW, {"now": store.backend.now(session), "id": worker_id}) == 0:
            return Renewal(alive=False)
        return Renewal(
            alive=True,
            cancelling=frozenset((row[0], row[1]) for row in session.rows(_CANCELLING, {"id": worker_id})),
        )


def begin_suspect(store: Store, task_id: TaskId, claim: int) -> bool:
    """Note that a task which lost its worker before begins now. False when the claim is no longer ours.

    Only from now on a lost worker counts against it: those that were claimed, and waited for their turn, have
    done nothing.
    """
    with store.write() as session:
        return session.run(_BEGIN, {"id": task_id, "claim": claim}) == 1


def end_leases(session: Session, now: int) -> None:
    """End the lease of every worker: in a copy of a database nobody holds anything. Its first worker gives
    their tasks back, as those of any lost worker.
    """
    session.run(_END, {"now": now})


def stop(store: Store, worker_id: WorkerId) -> None:
    """Stop a worker that holds nothing."""
    with store.write() as session:
        session.run(_STOP, {"now": store.backend.now(session), "id": worker_id})


def held(store: Store, worker_id: WorkerId) -> dict[int, int]:
    """The claims the database says this worker holds: task id to claim."""
    with store.read() as session:
        return dict(session.rows(_HELD, {"id": worker_id}))


def others_hold(store: Store, worker_id: WorkerId) -> bool:
    """Whether any task is in other hands."""
    with store.read() as session:
        return bool(session.rows(_OTHERS_HOLD, {"id": worker_id}))


def reap(store: Store, most: int) -> int:
    """Return the tasks of lost workers to waiting, at most so many; the fence is checked again for each.
    Return how many.
    """
    with store.write() as session:
        now = store.backend.now(session)
        session.run(_CLAMP, {"now": now})
        for worker_id, name in session.rows(_LOSE, {"now": now}):
            record_event(session, EventKind.WORKER_LOST, now, worker=worker_id, name=name)
        orphans = session.rows(_ORPHANS, {"most": most})
        lost = session.rows(_LOST)
        if not orphans:
            for worker_id, _ in lost:
                session.run(_CLOSE, {"now": now, "id": worker_id})
            return 0
    spread = store.settings.us("retry.crash_spread")
    budget = store.rules.max_crashes
    crashes = []
    for task_id, claim, stage, number, begun, marks_begun, name in orphans:
        crashes.append(
            Settlement.crash(
                TaskId(task_id),
                claim,
                stage,
                crashes=number,
                max_crashes=budget,
                lost=name,
                spread_us=round(random.random() * spread),
                begun=not (number and marks_begun) or begun == claim,
            )
        )
    stale = store.settle(crashes, report=False)
    _report_quarantined(store, [each for each in crashes if each.error and each not in stale])
    store.backend.ping()
    return len(crashes) - len(stale)


def _report_quarantined(store: Store, quarantined: list[Settlement]) -> None:
    if quarantined:
        with store.write() as session:
            now = store.backend.now(session)
            for each in quarantined:
                record_event(
                    session, EventKind.TASK_QUARANTINED, now, task_id=each.task_id, reason=each.reason
                )


# Shared chores: whichever worker comes first when a round is due does it. No leader.

_LAST = "select at from chore_rounds where name = :name"
# A time ahead of us was written before the clock was set back.
_BEGIN_ROUND = """insert into chore_rounds (name, at) values (:name, :now)
    on conflict (name) do update set at = excluded.at where chore_rounds.at <= :due or chore_rounds.at > :now_too"""


def begin_round(store: Store, name: str, every_us: int) -> bool:
    """Tell whether this worker does this round: the last one began long enough ago, and no other worker has
    begun it.
    """
    with store.read(autocommit=True) as session:
        now, last = store.backend.now(session), one(session, _LAST, {"name": name})
    if last is not None and now - every_us < last[0] <= now:
        return False
    with store.write() as session:
        now = store.backend.now(session)
        return (
            session.run(_BEGIN_ROUND, {"name": name, "now": now, "due": now - every_us, "now_too": now}) > 0
        )
