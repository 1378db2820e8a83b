"""Tasks: add, retry, cancel, and start what the apps start with. A request that cannot be met whole changes
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thresher.core.errors import NotAllowed, UnknownName
from thresher.core.task import LIVE, REVIVABLE, Entry, NewTask, State
from thresher.engine.registry import Registry
from thresher.store import overview, tasks
from thresher.store.session import Session
from thresher.store.store import Store, Transaction


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
    _insist(store, wanted, LIVE.__contains__, "only tasks that wait or run can be cancelled")
    return tasks.cancel(store, wanted, reason)


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
