"""Requests for tasks of an app: whether each created a task, met one that is live, or was already known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from thresher.admin.tasks import Added, add_entries
from thresher.core.errors import UnknownName
from thresher.core.record import Found, clean
from thresher.core.task import Entry, NewTask
from thresher.engine.registry import Registry
from thresher.store.records import find_records
from thresher.store.store import Store

PERSON = "user"
# A person waits for it, so it goes ahead of what was discovered.
HEAD_START = 5


class Answered(StrEnum):
    """What became of a request."""

    ADDED = "added"
    WAITING = "waiting"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class RequestResult:
    """One request: the record it is about, the task if there is one, and a sentence for the person who
    asked.
    """

    what: str
    key: str
    answer: Answered
    task: int | None
    says: str


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One request before it is made. `known` says why there is nothing to do; None: there is."""

    what: str
    key: str
    new: NewTask
    known: str | None = None


def ask(store: Store, registry: Registry, requests: Sequence[TaskRequest]) -> list[RequestResult]:
    """Make the tasks of those requests that are not answered already, all or none; one of each key."""
    wanted: dict[tuple[str, str | None], NewTask] = {}
    for each in requests:
        if each.known is None:
            wanted.setdefault((each.new.kind, each.new.key), each.new)
    entries = [_admitted(registry, new) for new in wanted.values()]
    added = dict(zip(wanted, add_entries(store, entries) if entries else [], strict=True))
    return [_asked(each, added) for each in requests]


def look_up(store: Store, kind: str, keys: Iterable[str]) -> dict[str, Found]:
    """What is known under these keys."""
    wanted = list(dict.fromkeys(map(clean, keys)))
    with store.read() as session:
        return (
            {found.key: found for found in find_records(session, kind=kind, keys=wanted, limit=len(wanted))}
            if wanted
            else {}
        )


def _admitted(registry: Registry, new: NewTask) -> Entry:
    if registry.pipeline(new.kind) is None:
        raise UnknownName(
            f"no app of this project knows tasks of kind {new.kind!r}; add the app that does under apps: in thresher.yaml"
        )
    return registry.admit(new)


def _asked(request: TaskRequest, added: dict[tuple[str, str | None], Added]) -> RequestResult:
    if request.known is not None:
        return RequestResult(request.what, request.key, Answered.KNOWN, None, request.known)
    made = added[request.new.kind, request.new.key]
    if made.new:
        return RequestResult(
            request.what,
            request.key,
            Answered.ADDED,
            made.id,
            f"{request.what}: task {made.id} will look at it.",
        )
    return RequestResult(
        request.what,
        request.key,
        Answered.WAITING,
        made.id,
        f"{request.what}: task {made.id} is on it already.",
    )
