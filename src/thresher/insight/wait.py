"""Wait for tasks to end: look at the row, sleep until the database announces something, and never longer than
was asked for.
"""

import math
import threading
from collections.abc import Iterator
from time import monotonic

from thresher.core.errors import UnknownName
from thresher.core.task import TaskStatus
from thresher.store.results import read_status
from thresher.store.store import Store

MIN_PAUSE = 0.005
PAUSE_SHARE = 0.2


def status_of(store: Store, task_id: int) -> TaskStatus:
    """How a task stands."""
    with store.glance() as session:
        found = read_status(session, task_id)
    if found is None:
        raise UnknownName(f"there is no task {task_id} (ended tasks are removed after history.retention)")
    return found


class Waiter:
    """Waits for any number of tasks of one store, from any number of threads. One of them listens, the others
    listen to it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listening = threading.Lock()
        self._heard = threading.Condition()

    def wait(self, task_id: int, timeout: float | None = None) -> TaskStatus:
        """The task when it has ended. Raise TimeoutError if that takes longer than `timeout` seconds."""
        for look in self.looks(task_id, timeout):
            if isinstance(look, TaskStatus):
                return look
            self._pause(look)
        raise AssertionError  # the looks end with a status

    def looks(self, task_id: int, timeout: float | None) -> Iterator[float | TaskStatus]:
        """Look at the task until it has ended: how long to pause before the next look, and at last how the
        task stands.
        """
        started = monotonic()
        until = math.inf if timeout is None else started + timeout
        while not (found := status_of(self._store, task_id)).ended:
            now = monotonic()
            if now >= until:
                raise TimeoutError(
                    f"task {task_id} is still {found.state} after {timeout or 0:g} seconds; it goes on by itself"
                )
            # The pause grows with the wait: a short task is not waited for much longer than it takes, a long
            # one costs few looks.
            pause = max(MIN_PAUSE, (now - started) * PAUSE_SHARE)
            yield min(pause, self._store.backend.dialect.listen_seconds, until - now)
        yield found

    def _pause(self, seconds: float) -> None:
        if not self._listening.acquire(blocking=False):
            with self._heard:
                self._heard.wait(seconds)
            return
        try:
            self._store.backend.listen(seconds)
        finally:
            self._listening.release()
            with self._heard:
                self._heard.notify_all()
