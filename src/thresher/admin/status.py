"""The state of the queue: tasks by state, workers, and the progress of a run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from thresher.admin.failures import FailureGroup, group_failures
from thresher.admin.gates import GateView, closed_gates, unserved_sentences
from thresher.admin.rows import Fields, HeldTask, OldestWaiting, Waiting
from thresher.core.clock import DAY
from thresher.core.task import TERMINAL, State
from thresher.core.trace import has_trace
from thresher.store import groups, lanes, overview, tasks
from thresher.store.migrate import version_now
from thresher.store.session import Session
from thresher.store.store import Store

HELD_SHOWN = 5


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker that has not signed off. `holds` counts its tasks; `tasks` shows the longest-running few;
    `serves` names kinds.
    """

    id: int
    name: str
    host: str
    pid: int
    alive: bool
    started_at: int
    lease_until_at: int
    holds: int
    tasks: list[Annotated[Fields, HeldTask]]
    serves: list[str]


def list_workers(session: Session, now: int) -> list[WorkerView]:
    """Everybody who is working, or vanished while working."""
    served = lanes.served_by(session)
    return [_view(session, row, now, served.get(row["id"], [])) for row in overview.workers(session)]


def _view(session: Session, row: dict[str, Any], now: int, serves: list[str]) -> WorkerView:
    alive = row["lost_at"] is None and row["lease_until"] >= now
    held = overview.held_by(session, row["id"], HELD_SHOWN) if row["holds"] else []
    return WorkerView(
        row["id"],
        row["name"],
        row["host"],
        row["pid"],
        alive,
        row["started_at"],
        row["lease_until"],
        row["holds"],
        held,
        serves,
    )


NO_WORKER = "No worker is running: tasks wait, and schedules do not fire. Start one in another terminal: thresher worker"


def worker_notice(store: Store) -> str | None:
    """Say who would do the work if nobody does; None while a worker is running."""
    with store.read(autocommit=True) as session:
        return None if lanes.is_anyone_alive(session, store.backend.now(session)) else NO_WORKER


def other_workers(store: Store, name: str) -> list[str]:
    """Return the names of the workers that hold a lease beside this one."""
    with store.read(autocommit=True) as session:
        now = store.backend.now(session)
        found = [row for row in overview.workers(session) if row["name"] != name]
        return [row["name"] for row in found if row["lost_at"] is None and row["lease_until"] >= now]


def is_working(store: Store, *, name: str | None = None, host: str | None = None) -> bool:
    """Tell whether a worker of this name, or else any on this host, holds its lease."""
    with store.read(autocommit=True) as session:
        now = store.backend.now(session)
        return any(
            each["lost_at"] is None
            and each["lease_until"] >= now
            and (each["host"] == host if name is None else each["name"] == name)
            for each in overview.workers(session)
        )


Counts = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Status:
    """`counts` is kind to state to number; `waiting` tells due ones from delayed ones and names the next
    time.

    `unserved` has a sentence for each kind and stage whose tasks wait for a worker that knows it. `refused`
    counts the spawns that the loop guard refused in the last 24 hours, by rule; `deep` the lineages that have
    grown deeper than `lineage.alert_depth` in that time.
    """

    at: int
    schema: int
    counts: Counts
    waiting: Annotated[Fields, Waiting]
    oldest: Annotated[Fields, OldestWaiting] | None
    workers: list[WorkerView]
    closed: list[GateView]
    runs: int  # that have not ended
    unserved: list[str]
    refused: dict[str, int]
    deep: int


def read_status(store: Store) -> Status:
    """One look at everything, in one transaction."""
    with store.read() as session:
        now = store.backend.now(session)
        return Status(
            now,
            version_now(session, store.backend.dialect),
            tasks.counts(session),
            tasks.waiting(session, now),
            overview.oldest_waiting(session),
            list_workers(session, now),
            closed_gates(session, now),
            groups.running_runs(session),
            unserved_sentences(session, now),
            overview.refused_since(session, now - DAY),
            overview.deep_since(session, now - DAY),
        )


def refused_sentence(refused: dict[str, int]) -> str:
    """How many spawns were refused, and by which rules."""
    rules = ", ".join(f"{rule} {number:,}" for rule, number in refused.items())
    return f"{sum(refused.values()):,} in the last 24 hours ({rules})"


def deep_sentence(deep: int) -> str:
    """How many lineages have grown deep."""
    return (
        f"{deep:,} {'lineage has' if deep == 1 else 'lineages have'} grown deeper than lineage.alert_depth "
        "in the last 24 hours"
    )


# Waits are grouped over so many tasks, those whose time comes first: reading more would take long.
MAX_DELAYED = 1_000


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """Tasks that wait for a later time with the same words. `example` is the next of them."""

    kind: str
    error: str | None
    reason: str | None
    count: int
    next_at: int
    example: int


@dataclass(frozen=True, slots=True)
class RunRest:
    """What a run leaves behind: what failed in it, what waits and why.

    `unserved` counts the tasks of each kind that could start, but that this run does not serve; `unexpected`
    those that an error in the code of their app interrupted in this run, and that are tried again.
    """

    failures: list[FailureGroup]
    waits: list[WaitGroup]
    unserved: dict[str, int]
    unexpected: int


def read_rest(store: Store, serves: Iterable[tuple[str, str]], since: int) -> RunRest:
    """What a run that began at `since` leaves behind."""
    failures = group_failures(store, "failed", finished_after=since)
    served = set(serves)
    with store.read() as session:
        delayed = overview.delayed(session, store.backend.now(session), MAX_DELAYED)
        unserved = Counter[str]()
        for scope, count in overview.due_by_scope(session).items():
            if scope not in served:
                unserved[scope[0]] += count
    unexpected = sum((row["started_at"] or 0) >= since and has_trace(row["reason"]) for row in delayed)
    return RunRest(failures, _wait_groups(delayed), dict(unserved), unexpected)


def _wait_groups(rows: list[dict[str, Any]]) -> list[WaitGroup]:
    """The groups, the largest first."""
    found: dict[tuple[str, str | None, str | None], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["kind"], row["error"], row["reason"]), []).append(row)
    groups = [WaitGroup(*key, len(each), each[0]["run_at"], each[0]["id"]) for key, each in found.items()]
    return sorted(groups, key=lambda group: (-group.count, group.next_at))


@dataclass(frozen=True, slots=True)
class KindProgress:
    """One kind. `done` counts every task that has ended, however it ended."""

    kind: str
    done: int
    total: int
    running: int
    retrying: int
    succeeded: int
    filtered: int
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class Progress:
    """All kinds, what waits for a later time, and the gates that are closed."""

    at: int
    kinds: list[KindProgress]
    due: int
    delayed: int
    next_at: int | None
    closed: list[GateView]

    @property
    def done(self) -> int:
        return sum(kind.done for kind in self.kinds)

    @property
    def total(self) -> int:
        return sum(kind.total for kind in self.kinds)


def read_progress(store: Store) -> Progress:
    """One look."""
    with store.read() as session:
        now = store.backend.now(session)
        kinds = [_kind(kind, states) for kind, states in tasks.counts(session).items()]
        waiting = tasks.waiting(session, now)
        return Progress(
            now, kinds, waiting["due"], waiting["delayed"], waiting["next_at"], closed_gates(session, now)
        )


def _kind(kind: str, states: dict[str, int]) -> KindProgress:
    done = sum(number for state, number in states.items() if State(state) in TERMINAL)
    return KindProgress(
        kind,
        done,
        sum(states.values()),
        states.get(State.RUNNING, 0),
        states.get(State.RETRYABLE, 0),
        states.get(State.SUCCEEDED, 0),
        states.get(State.FILTERED, 0),
        states.get(State.SKIPPED, 0),
        states.get(State.FAILED, 0),
    )
