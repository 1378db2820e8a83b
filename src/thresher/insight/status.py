"""The whole queue at a glance."""

from dataclasses import dataclass
from typing import Any

from thresher.insight.gates import GateView, closed_gates
from thresher.insight.waiting import unserved_sentences
from thresher.insight.workers import WorkerView, list_workers
from thresher.store import groups, overview, tasks
from thresher.store.migrate import version_now
from thresher.store.store import Store

Counts = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Status:
    """`counts` is kind to state to number; `waiting` tells due ones from delayed ones and names the next
    time.

    `unserved` has a sentence for each kind and stage whose tasks wait for a worker that knows it.
    """

    at: int
    schema: int
    counts: Counts
    waiting: dict[str, Any]
    oldest: dict[str, Any] | None
    workers: list[WorkerView]
    closed: list[GateView]
    runs: int  # that have not ended
    unserved: list[str]


def read_status(store: Store) -> Status:
    """One look at everything, in one transaction."""
    with store.read() as session:
        now = store.backend.now(session)
        return Status(
            now,
            version_now(session, store.backend.dialect),
            tasks.counts(session),
            tasks.waiting(session, now),
            overview.oldest_waiting(session),
            list_workers(session, now),
            closed_gates(session, now),
            groups.running_runs(session),
            unserved_sentences(session, now),
        )
