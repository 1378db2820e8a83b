"""Failed tasks: group them by error class, kind and source, and retry them in bulk."""

from dataclasses import dataclass, field
from typing import Any

from thresher.admin.tasks import Retried
from thresher.core.clock import to_us
from thresher.store import overview, tasks
from thresher.store.backend import gates_in
from thresher.store.sources import gate_called
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class Rescue:
    """How many failed tasks match, and, if it was not a dry run, what became of them."""

    matched: int
    applied: bool
    result: Retried = field(default_factory=lambda: Retried([]))


def retry_failures(store: Store, *, apply: bool, **filters: Any) -> Rescue:
    """Send all failed tasks that match back to waiting; without `apply` only count them."""
    with store.read() as session:
        ids = overview.matching_ids(session, state="failed", **filters)
    if not apply:
        return Rescue(len(ids), applied=False)
    done: list[int] = []
    for at in range(0, len(ids), tasks.MAX_AT_ONCE):
        done += tasks.revive(store, ids[at : at + tasks.MAX_AT_ONCE])
    return Rescue(len(ids), applied=True, result=Retried(done, sorted(set(ids) - set(done))))


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed tasks that look alike. `example` is the newest of them, `message` what it said."""

    error: str | None
    kind: str
    source: str | None
    count: int
    example: int
    message: str | None
    first_at: int
    last_at: int


def failure_filters(
    store: Store,
    *,
    error: str | None,
    kind: str | None,
    source: str | None,
    older: float | None,
    newer: float | None,
) -> dict[str, Any]:
    """Convert filters to what the store expects. `older` and `newer` are ages in seconds."""
    with store.read() as session:
        now = store.backend.now(session)
    return {
        "error": error,
        "kind": kind,
        "gate": gate_called(source) if source else None,
        "finished_before": None if older is None else now - to_us(older),
        "finished_after": None if newer is None else now - to_us(newer),
    }


def group_failures(store: Store, **filters: Any) -> list[FailureGroup]:
    """The groups, the largest first."""
    with store.read() as session:
        merged: dict[tuple[str | None, str, str | None], list[dict[str, Any]]] = {}
        for row in overview.failure_groups(session, **filters):
            merged.setdefault((row["error"], row["kind"], _origin(row["lane"])), []).append(row)
        reasons = overview.reasons(session, [max(row["example"] for row in rows) for rows in merged.values()])
    groups = [_group(key, rows, reasons) for key, rows in merged.items()]
    return sorted(groups, key=lambda group: (-group.count, group.kind, group.error or ""))


def _group(
    key: tuple[str | None, str, str | None], rows: list[dict[str, Any]], reasons: dict[int, str | None]
) -> FailureGroup:
    example = max(row["example"] for row in rows)
    first, last = min(row["first_at"] for row in rows), max(row["last_at"] for row in rows)
    return FailureGroup(*key, sum(row["count"] for row in rows), example, reasons.get(example), first, last)


def _origin(lane: str) -> str | None:
    """The source a lane goes through, or else its first gate."""
    gates = gates_in(lane)
    named = [gate for gate in gates if gate.startswith("source:")]
    return next(iter([*named, *gates]), None)
