"""Failures in bulk: count them first, then send them back."""

from dataclasses import dataclass, field
from typing import Any

from thresher.control.tasks import Retried
from thresher.store import overview, tasks
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
