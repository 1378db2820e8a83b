"""Requests for tasks: parse them from arguments or a file, and say whether each created a task, met one that
is live, or was already known.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.admin.tasks import Added, add_entries
from thresher.admin.times import seconds
from thresher.core.errors import InvalidPayload, UnknownName, UsageError
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
            f"{request.what}: queued as task {made.id}.",
        )
    return RequestResult(
        request.what,
        request.key,
        Answered.WAITING,
        made.id,
        f"{request.what}: already queued as task {made.id}.",
    )


# Parse requests for tasks: arguments of a command, or a file with one JSON object per line.

FIELDS = ("kind", "payload", "url", "key", "priority", "delay")


def parse_payload(text: str, where: str) -> dict[str, Any]:
    """A JSON object, or an error that says where it stops being one."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise InvalidPayload(
            f"{where} is not JSON: {problem}; names and texts stand in double quotes"
        ) from None
    except RecursionError:
        raise InvalidPayload(f"{where} is nested too deeply") from None
    if not isinstance(value, dict):
        raise InvalidPayload(f'{where} must be a JSON object such as {{"id": 1}}, got {_kind_of(value)}')
    return value


def read_lines(registry: Registry, lines: Iterable[str], name: str) -> list[Entry]:
    """The tasks in a file, all checked. The first bad line is named, and then none is taken."""
    entries = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                entries.append(registry.admit(new_task(parse_payload(line, "the line"))))
            except UsageError as problem:
                raise type(problem)(f"{name}:{number}: {problem}. Nothing was added.") from None
    return entries


def new_task(fields: Mapping[str, Any]) -> NewTask:
    """A request from plain fields, each of the right type."""
    for name in fields:
        if name not in FIELDS:
            raise InvalidPayload(f"there is no field {name!r}; a task has {', '.join(FIELDS)}")
    if "kind" not in fields:
        raise InvalidPayload("the kind is missing; every task needs one")
    delay = _want(fields, "delay", (int, float, str), 0)
    return NewTask(
        kind=_want(fields, "kind", (str,), ""),
        payload=_want(fields, "payload", (dict,), {}),
        url=_want(fields, "url", (str,), None),
        key=_want(fields, "key", (str,), None),
        priority=_want(fields, "priority", (int,), 0),
        delay=seconds(delay) if isinstance(delay, str) else delay,
    )


def _want(fields: Mapping[str, Any], name: str, types: tuple[type, ...], default: Any) -> Any:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, types) or isinstance(value, bool):
        words = {str: "text", dict: "an object", int: "a whole number", float: "a number"}
        raise InvalidPayload(
            f"{name} must be {' or '.join(words[each] for each in types)}, got {_kind_of(value)}"
        )
    return value


def _kind_of(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
