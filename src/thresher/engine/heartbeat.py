"""The heartbeat: on its own thread and its own connection, so that a busy event loop cannot make a worker
look dead.

It fences itself: when it cannot renew in time it tells the worker to drop everything *before* the lease ends,
so that the next owner never meets a living predecessor. It also stops when the event loop itself has stood
still for too long: a worker that only its heartbeat keeps alive helps nobody.
"""

import logging
import threading
from collections.abc import Callable

from thresher.core.clock import monotonic
from thresher.core.task import WorkerId
from thresher.store.store import Store
from thresher.store.workers import Renewal, renew

log = logging.getLogger("thresher.heartbeat")

# Of a lease: when to give up.
GIVE_UP_SHARE = 0.8


class Heartbeat:
    """Keeps one worker's lease alive until it is stopped, or says that it was lost."""

    def __init__(
        self,
        store: Store,
        worker_id: WorkerId,
        lease: float,
        *,
        every: float | None = None,
        stall: float,
        on_lost: Callable[[str], None],
        on_cancel: Callable[[frozenset[tuple[int, int]]], None],
    ) -> None:
        self.worker_id = worker_id
        self._store, self._lease, self._stall = store, lease, stall
        self._every = every or lease / 3
        self._on_lost, self._on_cancel = on_lost, on_cancel
        self._stop = threading.Event()
        self.lost = False
        self._renewed = self._pulse = monotonic()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing and wait for the thread, unless it hangs in a call to the database."""
        self._stop.set()
        self._thread.join(self._lease)

    def give_up(self) -> None:
        """The lease is lost, whoever noticed; it is never safe again."""
        self.lost = True
        self._stop.set()

    def pulse(self) -> None:
        """The event loop says that it is moving."""
        self._pulse = monotonic()

    @property
    def safe(self) -> bool:
        """Whether the lease is certainly still ours."""
        return not self.lost and monotonic() - self._renewed < self._lease * GIVE_UP_SHARE

    def _beat(self) -> None:
        wait = self._every
        while not self._stop.wait(wait):
            if not self.safe:
                return self._lose("the lease could not be renewed in time")
            if monotonic() - self._pulse > self._stall:
                return self._lose(f"the event loop has stood still for {self._stall:g} seconds")
            before = monotonic()
            renewal = self._renew()
            if self._stop.is_set():
                return None  # given up while the database kept us waiting
            if renewal is None:
                wait = self._every / 4
                continue
            if not renewal.alive:
                return self._lose("the lease had ended and others have taken over")
            self._renewed = before
            wait = self._every
            if renewal.cancelling:
                self._on_cancel(renewal.cancelling)
        return None

    def _renew(self) -> Renewal | None:
        try:
            return renew(self._store, self.worker_id)
        except Exception as problem:  # noqa: BLE001  whatever it is, the lease is not renewed, and the clock runs
            log.warning("worker %s could not renew its lease: %s", self.worker_id, problem)
            return None

    def _lose(self, why: str) -> None:
        log.error("worker %s lost its lease: %s", self.worker_id, why)
        self.lost = True
        self._on_lost(why)
