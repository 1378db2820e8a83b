"""A worker's lease: taken when it registers, kept alive by a heartbeat, given up in time, and taken again.

The heartbeat has its own thread and its own connection, so that a busy event loop cannot make a worker look
dead. It fences itself: when it cannot renew in time, the worker drops everything *before* the lease ends, so
that the next owner never meets a living predecessor. It also stops when the event loop itself has stood still
for too long: a worker that only its heartbeat keeps alive helps nobody.
"""

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context

from thresher.core.clock import SECOND, monotonic
from thresher.core.task import WorkerId
from thresher.store import workers
from thresher.store.lanes import Scope
from thresher.store.store import Store
from thresher.store.workers import Renewal, renew

log = logging.getLogger("thresher.heartbeat")

# Of a lease: when to give up.
GIVE_UP_SHARE = 0.8

Claims = frozenset[tuple[int, int]]


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
        on_cancel: Callable[[Claims], None],
    ) -> None:
        self.worker_id = worker_id
        self._store, self._lease, self._stall = store, lease, stall
        self._every = every or lease / 3
        self._on_lost, self._on_cancel = on_lost, on_cancel
        self._stop = threading.Event()
        self.lost = False
        self._renewed = self._pulse = monotonic()
        said = copy_context()  # its log lines name the worker, too
        self._thread = threading.Thread(target=said.run, args=(self._beat,), name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing and wait for the thread, unless it hangs in a call to the database."""
        self._stop.set()
        self._thread.join(self._lease)

    def give_up(self) -> None:
        """Mark the lease as lost, whoever noticed; it is never safe again."""
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
                return self._lose(f"the event loop has been blocked for {self._stall:g} seconds")
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


class Lease:
    """Who a worker is at the moment: its id, the scopes it claims from, and whether its claims are still its
    own.

    `on_lost` is called once for every lease that is lost, and `on_cancel` with claims that a person has
    cancelled; both through `post`, which calls a function on the event loop.
    """

    worker_id: WorkerId
    scopes: tuple[int, ...]

    def __init__(
        self,
        store: Store,
        heartbeat_store: Store,
        *,
        name: str | None,
        serves: Iterable[Scope],
        on_lost: Callable[[str], None],
        on_cancel: Callable[[Claims], None],
        post: Callable[..., None],
    ) -> None:
        self._store, self._heartbeat_store, self._serves = store, heartbeat_store, list(serves)
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._on_lost, self._on_cancel, self._post = on_lost, on_cancel, post
        self._gone: WorkerId | None = None

    async def take(self) -> None:
        """Register as a new worker, and keep its lease alive from now on."""
        settings = self._store.settings
        lease_us = settings.us("worker.lease")
        worker_id = await self._store.run(
            workers.register,
            self._store,
            name=self.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            lease_us=lease_us,
            marks_begun=True,
        )
        scopes = await self._store.run(workers.serve, self._store, worker_id, self._serves)
        # From here on at one stroke: a new id beside the old, lost lease would be taken for lost as well.
        self.worker_id, self.scopes = worker_id, scopes
        self._heartbeat = Heartbeat(
            self._heartbeat_store,
            worker_id,
            lease_us / SECOND,
            every=min(float(settings["worker.heartbeat"]), lease_us / SECOND / 2),
            stall=float(settings["worker.stall"]),
            on_lost=lambda why: self._post(self.lose, worker_id, why),
            on_cancel=lambda claims: self._post(self._on_cancel, claims),
        )
        self._heartbeat.start()

    @property
    def safe(self) -> bool:
        """Whether it is certainly still ours."""
        return self._heartbeat.safe

    @property
    def lost(self) -> bool:
        """Whether it is known to be lost."""
        return self._heartbeat.lost

    def pulse(self) -> None:
        """The event loop is moving. Give the lease up if it was not renewed: the heartbeat itself may hang in
        a call to a database that does not answer.
        """
        self._heartbeat.pulse()
        if not self._heartbeat.safe:
            self.lose(self.worker_id, "the lease was not renewed in time")

    def lose(self, worker_id: WorkerId, why: str) -> None:
        """Handle the loss of this lease. Ignore old news: a second report, or one about an earlier lease."""
        if worker_id != self.worker_id or self._gone == worker_id:
            return
        self._gone = worker_id
        self._heartbeat.give_up()
        self._on_lost(why)

    async def give_back(self) -> None:
        """Sign off, so that others need not wait for this lease to end."""
        await self._store.run(workers.stop, self._store, self.worker_id)

    def close(self) -> None:
        """Stop the heartbeat."""
        self._heartbeat.stop()
