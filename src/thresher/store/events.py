"""Events: rows about what happened to gates, workers and the queue itself."""

from typing import Any

import orjson

from thresher.core.event import EventKind
from thresher.store.session import Session

_INSERT = (
    "insert into events (at, kind, task_id, gate_id, detail) values (:at, :kind, :task_id, :gate_id, :detail)"
)


def record_event(
    session: Session,
    kind: EventKind,
    at: int,
    *,
    task_id: int | None = None,
    gate_id: int | None = None,
    **detail: Any,
) -> None:
    """Write one event in the caller's transaction: it is true exactly if that commits."""
    text = orjson.dumps(detail).decode()
    session.run(
        _INSERT, {"at": at, "kind": str(kind), "task_id": task_id, "gate_id": gate_id, "detail": text}
    )
