"""What tasks hand back: written in the transaction that settles them, removed with them."""

from collections.abc import Sequence
from typing import Any

import orjson

from thresher.core.task import State, TaskId, TaskStatus
from thresher.store.backend import Settled
from thresher.store.session import Session, one

_WRITE = "insert into results (task_id, value) values (:task_id, :value)"
_READ = "select value from results where task_id = :id"
_STATUS = """select t.id, t.kind, t.stage, t.state, t.error_name, t.reason, t.created_at, t.finished_at, r.value
    from tasks t left join results r on r.task_id = t.id where t.id = :id"""


def write_results(session: Session, hits: Sequence[Settled]) -> None:
    """Keep the results that these settlements bring."""
    rows = [
        {"task_id": hit.settlement.task_id, "value": hit.settlement.result}
        for hit in hits
        if hit.settlement.result is not None
    ]
    if rows:
        session.many(_WRITE, rows)


def read_result(session: Session, task_id: int) -> Any:
    """The result of a task; None where it has none."""
    row = one(session, _READ, {"id": task_id})
    return None if row is None else orjson.loads(row[0])


def read_status(session: Session, task_id: int) -> TaskStatus | None:
    """How a task stands, with its result."""
    row = one(session, _STATUS, {"id": task_id})
    if row is None:
        return None
    found, kind, stage, state, error, reason, created_at, finished_at, value = row
    result = None if value is None else orjson.loads(value)
    return TaskStatus(
        TaskId(found), kind, stage, State(state), result, error, reason, created_at, finished_at
    )
