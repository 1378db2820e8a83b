"""Failed tasks: group them by error class, kind and source, and retry them in bulk. Tasks that are tried
again are grouped likewise.
"""

from dataclasses import dataclass, field
from typing import Any

from thresher.admin.tasks import Retried
from thresher.core.clock import to_us
from thresher.core.errors import UsageError
from thresher.core.task import State
from thresher.store import overview, search, tasks
from thresher.store.backend import gates_in
from thresher.store.session import Session
from thresher.store.sources import through_gate
from thresher.store.store import Store

# How people call the states of a task that had an error.
STATES = {"failed": State.FAILED, "retrying": State.RETRYABLE}


@dataclass(frozen=True, slots=True)
class Rescue:
    """How many failed tasks match, some of them, and, if it was not a dry run, what became of them."""

    matched: int
    applied: bool
    examples: list[int] = field(default_factory=list)
    result: Retried = field(default_factory=lambda: Retried([]))


def retry_failures(store: Store, *, apply: bool, **filters: Any) -> Rescue:
    """Send all failed tasks that match back to waiting; without `apply` only count them."""
    with store.read() as session:
        ids = overview.matching_ids(session, state="failed", **filters)
    return _retry(store, ids, apply=apply)


# What one click on a page sends back: more would keep the browser waiting.
MAX_RETRIED = 5_000
MAX_LOOKS = 10
MAX_EXAMPLES = 10
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """The failed tasks that a retry would send back, the newest first, up to `MAX_RETRIED`. `more` says that
    there are others, or that not all were looked at.
    """

    ids: list[int]
    more: bool


def plan_retry(store: Store, **filters: Any) -> RetryPlan:
    """Find the newest failed tasks that match; nothing is changed."""
    ids, before = list[int](), None
    with store.read() as session:
        for _ in range(MAX_LOOKS):
            most = min(_AT_ONCE, MAX_RETRIED - len(ids))
            found = search.find_tasks(session, state=State.FAILED, before=before, limit=most, **filters)
            ids += [task["id"] for task in found.rows]
            before = found.older
            if before is None or len(ids) >= MAX_RETRIED:
                break
    return RetryPlan(ids, before is not None)


def retry_newest_failures(store: Store, *, apply: bool = True, **filters: Any) -> Rescue:
    """Send the newest failed tasks that match back to waiting, as `plan_retry` has shown them; without
    `apply` only count them.
    """
    return _retry(store, plan_retry(store, **filters).ids, apply=apply)


def _retry(store: Store, ids: list[int], *, apply: bool) -> Rescue:
    examples = ids[:MAX_EXAMPLES]
    if not apply:
        return Rescue(len(ids), applied=False, examples=examples)
    done: list[int] = []
    for at in range(0, len(ids), tasks.MAX_AT_ONCE):
        done += tasks.revive(store, ids[at : at + tasks.MAX_AT_ONCE])
    return Rescue(
        len(ids), applied=True, examples=examples, result=Retried(done, sorted(set(ids) - set(done)))
    )


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failed tasks that look alike, or tasks that are tried again (`state` is failed or retrying).

    `example` is the newest of them, `message` what it said; `next_at` is when the first is tried again.
    """

    state: str
    error: str | None
    kind: str
    source: str | None
    count: int
    example: int
    message: str | None
    first_at: int
    last_at: int
    next_at: int | None


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
        **through_gate(source),
        "finished_before": None if older is None else now - to_us(older),
        "finished_after": None if newer is None else now - to_us(newer),
    }


# The more errors there are, the fewer failures of each are counted for a page: it reads so many in all.
MAX_OF_ERRORS = 10_000
MIN_OF_ERROR = 50


def counted_of_each(store: Store, most: int) -> int:
    """How many failures of each error may be counted where all errors are looked at."""
    with store.read() as session:
        errors = max(1, overview.count_errors(session))
    return min(most, max(MIN_OF_ERROR, MAX_OF_ERRORS // errors // 100 * 100))


def group_failures(
    store: Store, state: str | None = None, most: int | None = None, **filters: Any
) -> list[FailureGroup]:
    """The groups, or those in one state: what failed first, and of each the largest first. With `most`, only
    so many of each error are counted, the newest.
    """
    if state is not None and state not in STATES:
        raise UsageError(f"the states of failures are {' and '.join(STATES)}, got {state!r}")
    with store.read() as session:
        merged: dict[tuple[str, str | None, str, str | None], list[dict[str, Any]]] = {}
        for name in (state,) if state else STATES:
            for row in _rows(session, STATES[name], most, filters):
                merged.setdefault((name, row["error"], row["kind"], _origin(row["lane"])), []).append(row)
        reasons = overview.reasons(session, [max(row["example"] for row in rows) for rows in merged.values()])
    groups = [_group(key, rows, reasons) for key, rows in merged.items()]
    return sorted(groups, key=lambda group: (group.state, -group.count, group.kind, group.error or ""))


def _rows(session: Session, state: State, most: int | None, filters: dict[str, Any]) -> list[dict[str, Any]]:
    if most is None:
        return overview.failure_groups(session, state=state, **filters)
    return overview.newest_failure_groups(session, state=state, most=most, **filters)


def _group(
    key: tuple[str, str | None, str, str | None], rows: list[dict[str, Any]], reasons: dict[int, str | None]
) -> FailureGroup:
    example = max(row["example"] for row in rows)
    first, last = min(row["first_at"] for row in rows), max(row["last_at"] for row in rows)
    count, times = sum(row["count"] for row in rows), [row["next_at"] for row in rows if row["next_at"]]
    return FailureGroup(*key, count, example, reasons.get(example), first, last, min(times, default=None))


def _origin(lane: str) -> str | None:
    """The source a lane goes through, or else its first gate."""
    gates = gates_in(lane)
    named = [gate for gate in gates if gate.startswith("source:")]
    return next(iter([*named, *gates]), None)
