"""Tasks: add, retry, cancel, list, show and wait for them, and enqueue the first tasks of the apps.

A request that cannot be carried out completely changes nothing.
"""

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from time import monotonic, sleep
from typing import Any

from thresher.admin.gates import GateView, gates_before, why_it_waits
from thresher.admin.rows import AttemptFields, EventFields, Fields, RefusalFields, RunFields, TaskFields
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.group import GroupStatus
from thresher.core.keys import canonical_url
from thresher.core.record import Found
from thresher.core.task import LIVE, REVIVABLE, Entry, NewTask, State, TaskStatus
from thresher.engine.registry import Registry
from thresher.store import groups, overview, records, search, tasks
from thresher.store.session import Session
from thresher.store.settle import read_result, read_status
from thresher.store.sources import gate_called
from thresher.store.store import Store, Transaction

MAX_MEMBERS_READ = 20_000
# Groups below groups: each look ends one level, and a run whose tasks go on spawning is not followed for
# ever.
MAX_LOOKS = 100
CANCEL_POLL = 0.5  # seconds


@dataclass(frozen=True, slots=True)
class Added:
    """One request: the task that was made, or the live one that already has its key."""

    id: int | None
    kind: str
    key: str | None
    new: bool


@dataclass(frozen=True, slots=True)
class Retried:
    """Tasks sent back to waiting, and those left as they are because a live task has their key."""

    retried: list[int]
    key_taken: list[int] = field(default_factory=list)


def add(store: Store, registry: Registry, new: NewTask) -> Added:
    """Accept one task."""
    return add_entries(store, [registry.admit(new)])[0]


def add_entries(store: Store, entries: Sequence[Entry]) -> list[Added]:
    """Accept checked requests, all or none."""
    ids = store.enqueue(entries)
    with store.read() as session:
        return [_added(session, entry, task_id) for entry, task_id in zip(entries, ids, strict=True)]


def add_within(transaction: Transaction, entries: Sequence[Entry]) -> list[Added]:
    """Accept checked requests if and when this transaction commits."""
    ids = transaction.enqueue(entries)
    return [_added(transaction.session, entry, task_id) for entry, task_id in zip(entries, ids, strict=True)]


def _added(session: Session, entry: Entry, task_id: int | None) -> Added:
    if task_id is None and entry.key is not None:
        return Added(overview.live_with_key(session, entry.kind, entry.key), entry.kind, entry.key, new=False)
    return Added(task_id, entry.kind, entry.key, new=True)


def start(store: Store, registry: Registry, *, again: bool = False) -> list[Added]:
    """Enqueue what each app starts with, if none of its kinds ever had a task here, or if asked to do so
    again.
    """
    with store.read() as session:
        fresh = [
            app
            for app in registry.apps
            if again or not overview.known_kinds(session, [pipeline.kind for pipeline in app.pipelines])
        ]
    entries = [registry.admit(new) for app in fresh for new in app.start]
    return add_entries(store, entries) if entries else []


def retry(store: Store, ids: Sequence[int]) -> Retried:
    """Send ended tasks back to waiting, with a fresh budget."""
    wanted = sorted(set(ids))
    _insist(store, wanted, REVIVABLE.__contains__, f"only tasks that are {_list(REVIVABLE)} can be retried")
    done: list[int] = []
    for at in range(0, len(wanted), tasks.MAX_AT_ONCE):
        done += tasks.revive(store, wanted[at : at + tasks.MAX_AT_ONCE])
    return Retried(done, sorted(set(wanted) - set(done)))


def cancel(store: Store, ids: Sequence[int], reason: str) -> tasks.Cancelled:
    """Cancel waiting tasks at once, and ask the workers of running ones to stop."""
    wanted = sorted(set(ids))
    _insist(store, wanted, LIVE.__contains__, "only waiting or running tasks can be cancelled")
    return tasks.cancel(store, wanted, reason)


@dataclass(frozen=True, slots=True)
class RunCancelled:
    """How many tasks of a run were cancelled, how many running ones were asked to stop, and how many had not
    ended when this was written.
    """

    run: int
    cancelled: int
    asked: int
    live: int


def count_run(store: Store, group_id: int) -> GroupStatus:
    """Return how many tasks of a run or group, and of the groups below it, have not ended, and how the others
    have.
    """
    with store.read() as session:
        found = groups.get(session, group_id)
    if found is None:
        raise UnknownName(f"there is no run or group {group_id}; thresher runs list --all shows them")
    return found


def cancel_run(store: Store, group_id: int, reason: str, *, wait: float = 0.0) -> RunCancelled:
    """Cancel all live tasks of a run or group and of the groups below it; safe to repeat.

    Waiting tasks are cancelled, a portion per transaction; running ones are asked to stop. One that ends of
    itself before it hears of that may still bring children: with `wait`, they are cancelled, too, for so many
    seconds at most. The task that follows the run is made when the last member has ended.
    """
    count_run(store, group_id)
    until, cancelled, asked = monotonic() + wait, 0, 0
    while True:
        now_cancelled, now_asked = _cancel_members(store, group_id, reason)
        cancelled, asked = cancelled + now_cancelled, asked + now_asked
        left = until - monotonic()
        live = count_run(store, group_id).live
        if not live or left <= 0:
            return RunCancelled(group_id, cancelled, asked, live)
        sleep(min(left, CANCEL_POLL))


def _cancel_members(store: Store, group_id: int, reason: str) -> tuple[int, int]:
    """Cancel whoever is live now. A group that ends may bring the task that follows it, as a member of the
    group above; so look again until nobody is found.
    """
    cancelled = asked = 0
    for _ in range(MAX_LOOKS):
        found = 0
        for ids in _members_to_cancel(store, group_id):
            done = tasks.cancel(store, ids, reason)
            found += len(done.cancelled) + len(done.asked)
            cancelled, asked = cancelled + len(done.cancelled), asked + len(done.asked)
        if not found:
            break
    return cancelled, asked


def _members_to_cancel(store: Store, group_id: int) -> Iterator[list[int]]:
    """The ids in portions that one transaction cancels. Many are read at once, for each look sorts all."""
    after = 0
    while True:
        with store.read() as session:
            ids = groups.members_to_cancel(session, group_id, after=after, limit=MAX_MEMBERS_READ)
        if not ids:
            return
        for at in range(0, len(ids), tasks.MAX_AT_ONCE):
            yield ids[at : at + tasks.MAX_AT_ONCE]
        after = ids[-1]


def _insist(store: Store, ids: Sequence[int], allowed: Callable[[State], bool], rule: str) -> None:
    with store.read() as session:
        states = overview.states(session, ids)
    missing = [str(task_id) for task_id in ids if task_id not in states]
    if missing:
        raise UnknownName(
            f"there is no task {', '.join(missing)}; thresher tasks list shows them. Nothing was changed."
        )
    wrong = [
        f"{task_id} is {state}" for task_id, state in sorted(states.items()) if not allowed(State(state))
    ]
    if wrong:
        raise NotAllowed(f"task {', '.join(wrong)}; {rule}. Nothing was changed.")


def _list(states: frozenset[State]) -> str:
    return ", ".join(sorted(states))


MAX_CHILDREN = 1_000
MAX_IN_TREE = 5_000
MAX_RECORDS = 50
MAX_EVENTS = 50


@dataclass(frozen=True, slots=True)
class Written:
    """A record that a task was the last to write. `evidence` is the quote of every value, by name; None: the
    value was not found where it was read, so it is unverified.
    """

    kind: str
    key: str
    is_new: bool
    updated_at: int
    evidence: dict[str, str | None]

    @property
    def verified(self) -> int:
        return sum(quote is not None for quote in self.evidence.values())


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """Everything known of one task. `waits` says, sentence by sentence, what it waits for; empty when it has
    ended. `run` is the group that it belongs to or follows. Records and events are the first `MAX_RECORDS`
    and the newest `MAX_EVENTS`; children are all if `has_all_children` is set.
    """

    task: TaskFields
    waits: list[str]
    attempts: list[AttemptFields]
    parent: TaskFields | None
    children: list[TaskFields]
    refusals: list[RefusalFields]
    gates: list[GateView]
    result: Any = None
    has_all_children: bool = True
    run: RunFields | None = None
    records: list[Written] = field(default_factory=list)
    events: list[EventFields] = field(default_factory=list)


@dataclass(slots=True)
class Branch:
    """One task of a tree, what it spawned, and what it was refused."""

    task: Fields
    children: list["Branch"] = field(default_factory=list)
    refusals: list[Fields] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LineageTree:
    """A tree from its root, or from the oldest task that is left of it. `whole` is False where it has more
    tasks than were read.
    """

    root: Branch
    shown: int
    whole: bool


def list_tasks(
    store: Store,
    *,
    state: str | None = None,
    kind: str | None = None,
    source: str | None = None,
    error: str | None = None,
    url: str | None = None,
    run: int | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[TaskFields]:
    """Tasks that match, the newest first."""
    if state is not None and state not in list(State):
        raise UsageError(f"there is no state {state!r}; the states are {', '.join(State)}")
    wanted = {
        "state": state,
        "kind": kind,
        "error": error,
        "url": canonical_url(url) if url else None,
        "gate": gate_called(source) if source else None,
        "run": run,
    }
    with store.read() as session:
        return tasks.find(session, limit=limit, before=before, **wanted)


def show_task(store: Store, task_id: int) -> TaskDetail:
    """One task with its result, its attempts, its family, what it was refused, its gates, what it wrote, and
    why it waits.
    """
    with store.read() as session:
        task = _get(session, task_id)
        now = store.backend.now(session)
        gates = gates_before(session, task["gates"], now)
        children, has_all = search.children_of(session, task, MAX_CHILDREN)
        run = groups.group_of(session, task_id)
        return TaskDetail(
            task,
            why_it_waits(session, task, gates, now),
            _attempts(session, task_id),
            tasks.get(session, task["parent_id"]) if task["parent_id"] else None,
            children,
            tasks.refused_to(session, task_id),
            gates,
            read_result(session, task_id),
            has_all,
            run_fields(run) if run else None,
            [_written(each, task_id) for each in records.written_by(session, task_id, MAX_RECORDS)],
            search.find_events(session, task=task, limit=MAX_EVENTS).rows,
        )


def _attempts(session: Session, task_id: int) -> list[Fields]:
    """What was tried, in order, each with the name of its worker, if that is still known."""
    found = tasks.attempts(session, task_id)
    names = overview.worker_names(session, sorted({each["worker_id"] for each in found if each["worker_id"]}))
    return [{**each, "worker": names.get(each["worker_id"])} for each in found]


def _written(record: Found, task_id: int) -> Written:
    places = record.evidence.places if record.evidence else {}
    quotes = {name: place.quote if place else None for name, place in places.items()}
    return Written(record.kind, record.key, record.first_task == task_id, record.updated_at, quotes)


def last_message(task: Fields) -> str:
    """What a task or an attempt said last: its error with the message, or the reason."""
    return f"{task['error']}: {task['reason']}" if task["error"] else task["reason"] or ""


def run_fields(status: GroupStatus) -> RunFields:
    """A run or group by name."""
    fields = asdict(status)
    fields["counts"] = dict(status.counts)
    fields["since_at"], fields["until_at"] = fields.pop("since"), fields.pop("until")
    return {"state": "running" if status.is_running else "ended", "members": status.members, **fields}


def show_tree(store: Store, task_id: int, most: int = MAX_IN_TREE) -> LineageTree:
    """The lineage a task belongs to, from its root, with the spawns that were refused. Of one with more than
    `most` tasks: the task, those above it, and its children.
    """
    with store.read() as session:
        task = _get(session, task_id)
        family, whole = search.family_of(session, task, most)
        refused = tasks.refusals(session, task["tracking_id"])
    branches = {each["id"]: Branch(each) for each in family}
    for each in family:
        if each["parent_id"] in branches:
            branches[each["parent_id"]].children.append(branches[each["id"]])
    for refusal in refused:
        if refusal["parent_id"] in branches:
            branches[refusal["parent_id"]].refusals.append(refusal)
    top = branches[task_id]
    while top.task["parent_id"] in branches:
        top = branches[top.task["parent_id"]]
    return LineageTree(top, len(family), whole)


def _get(session: Session, task_id: int) -> Fields:
    task = tasks.get(session, task_id)
    if task is None:
        raise UnknownName(
            f"there is no task {task_id}; thresher tasks list shows them (old ones are removed after history.retention)"
        )
    return task


# `wait` reads the row, then sleeps until the database announces a change or the time is up.

MIN_PAUSE = 0.005
PAUSE_SHARE = 0.2


def status_of(store: Store, task_id: int) -> TaskStatus:
    """How a task stands."""
    with store.read(autocommit=True) as session:
        found = read_status(session, task_id)
    if found is None:
        raise UnknownName(f"there is no task {task_id} (ended tasks are removed after history.retention)")
    return found


class Waiter:
    """Waits for any number of tasks of one store, from any number of threads. One of them listens, the others
    listen to it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listening = threading.Lock()
        self._heard = threading.Condition()

    def wait(self, task_id: int, timeout: float | None = None) -> TaskStatus:
        """The task when it has ended. Raise TimeoutError if that takes longer than `timeout` seconds."""
        for look in self.looks(task_id, timeout):
            if isinstance(look, TaskStatus):
                return look
            self._pause(look)
        raise AssertionError  # the looks end with a status

    def looks(self, task_id: int, timeout: float | None) -> Iterator[float | TaskStatus]:
        """Look at the task until it has ended: how long to pause before the next look, and at last how the
        task stands.
        """
        started = monotonic()
        until = math.inf if timeout is None else started + timeout
        while not (found := status_of(self._store, task_id)).ended:
            now = monotonic()
            if now >= until:
                raise TimeoutError(
                    f"task {task_id} is still {found.state} after {timeout or 0:g} seconds; it "
                    "continues in the background"
                )
            # The pause grows with the wait: a short task is not waited for much longer than it takes, a long
            # one costs few looks.
            pause = max(MIN_PAUSE, (now - started) * PAUSE_SHARE)
            yield min(pause, self._store.backend.dialect.listen_seconds, until - now)
        yield found

    def _pause(self, seconds: float) -> None:
        if not self._listening.acquire(blocking=False):
            with self._heard:
                self._heard.wait(seconds)
            return
        try:
            self._store.backend.listen(seconds)
        finally:
            self._listening.release()
            with self._heard:
                self._heard.notify_all()
