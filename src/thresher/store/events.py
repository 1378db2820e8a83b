"""Events: rows about what happened to gates, workers, the queue itself, and to what apps keep."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from thresher.core.clock import as_text
from thresher.core.errors import UsageError
from thresher.core.event import CheckedEvent, EventKind
from thresher.core.redaction import redact_json
from thresher.store.session import Session, one

# What closes something or gives something up: it is also logged, by the process that writes it.
WARNED = frozenset(
    (
        EventKind.GATE_PAUSED,
        EventKind.GATE_DISABLED,
        EventKind.GATE_TRIPPED,
        EventKind.LINEAGE_DEEP,
        EventKind.TASK_QUARANTINED,
    )
)
_GATE = "select name from gates where id = :id"
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
    text = redact_json(orjson.dumps(detail).decode())
    session.run(
        _INSERT, {"at": at, "kind": str(kind), "task_id": task_id, "gate_id": gate_id, "detail": text}
    )
    if kind in WARNED:
        session.warnings.append(_sentence(session, str(kind), task_id, gate_id, detail))


def record_events(session: Session, events: Sequence[CheckedEvent], at: int, task_id: int) -> None:
    """Write the events that the attempt of a task brings."""
    for event in events:
        values = {"at": at, "kind": event.kind, "task_id": task_id, "gate_id": None, "detail": event.detail}
        session.run(_INSERT, values)
        if event.warns:
            session.warnings.append(_sentence(session, event.kind, task_id, None, orjson.loads(event.detail)))


def _sentence(
    session: Session, kind: str, task_id: int | None, gate_id: int | None, detail: Mapping[str, Any]
) -> str:
    """An event as a line of the log."""
    name = one(session, _GATE, {"id": gate_id}) if gate_id is not None else None
    about = name[0] if name else f"task {task_id}" if task_id is not None else ""
    said = {**detail, **({"until": as_text(until)} if (until := detail.get("until")) else {})}
    told = ", ".join(f"{key} {value}" for key, value in said.items() if value is not None)
    return " ".join(word for word in (f"{kind}:", about, f"({told})" if told else "") if word)
