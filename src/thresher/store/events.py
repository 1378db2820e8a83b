"""Events: rows about what happened to gates, workers, the queue itself, and to what apps keep."""

from collections.abc import Sequence
from typing import Any

import orjson

from thresher.core.errors import UsageError
from thresher.core.event import CheckedEvent, EventKind
from thresher.store.session import Session

_INSERT = (
    "insert into events (at, kind, task_id, gate_id, detail) values (:at, :kind, :task_id, :gate_id, :detail)"
)


def record_event(
    session: Session,
    kind: EventKind | str,
    at: int,
    /,
    *,
    task_id: int | None = None,
    gate_id: int | None = None,
    **detail: Any,
) -> None:
    """Write one event in the caller's transaction: it is true exactly if that commits. An app writes those
    that it lists (`App.events`).
    """
    known = session.app_events
    if known is not None and kind not in known and not isinstance(kind, EventKind):
        raise UsageError(
            f"there is no event kind {kind!r} here; an app lists its own: App(events={{{kind!r}: SENTENCE}})"
        )
    text = orjson.dumps(detail).decode()
    session.run(
        _INSERT, {"at": at, "kind": str(kind), "task_id": task_id, "gate_id": gate_id, "detail": text}
    )


def record_events(session: Session, events: Sequence[CheckedEvent], at: int, task_id: int) -> None:
    """Write the events that the attempt of a task brings."""
    for event in events:
        values = {"at": at, "kind": event.kind, "task_id": task_id, "gate_id": None, "detail": event.detail}
        session.run(_INSERT, values)
