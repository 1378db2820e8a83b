"""Bodies as stages save them."""

from tests.harness.tasks import done, running, settle
from thresher.core.task import Task
from thresher.store import blobs
from thresher.store.store import Store


def saved(store: Store, body: bytes, task: Task | None = None) -> str:
    """Save a body for a task, or for one that has ended."""
    if task is None:
        task = running(store)
        settle(store, done(task))
    return blobs.save(store, body, task)
