"""The worker: claim, perform, decide, settle, until told to stop.

It claims only what it can start at once. Settlements are gathered while a turn is under way and go out together with
the next claim, in one transaction. What the database says it holds and what it has in hand are compared after every
trouble, so that an answer lost on the wire strands nothing.
"""

import asyncio
import logging
import os
import random
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from thresher.core.clock import SECOND, SystemClock, monotonic
from thresher.core.errors import DatabaseProblem
from thresher.core.ids import TaskId, WorkerId
from thresher.core.settlement import Error, Settlement
from thresher.core.task import Task
from thresher.engine.attempt import Hands, attempt
from thresher.engine.chores import CHORES, keep_doing
from thresher.engine.heartbeat import Heartbeat
from thresher.engine.registry import Registry
from thresher.engine.wake import Wake
from thresher.store import workers
from thresher.store.backend import Turn
from thresher.store.store import Store

log = logging.getLogger("thresher.worker")

# A group of settlements may wait this long for company.
LINGER_SECONDS = 0.002
# After an empty turn that promised more (another claimer holds a lane or a gate).
NUDGE_SECONDS = 0.003
TROUBLE_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(slots=True)
class Tally:
    """What a worker has done so far."""

    claimed: int = 0
    stale: int = 0
    lost: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def settled(self) -> int:
        return sum(self.endings.values())


class Worker:
    """One worker in one process. `run()` returns when it was stopped, or, with `until_idle`, when nothing is left to do."""

    def __init__(
        self, store: Store, registry: Registry, *, heartbeat_store: Store | None = None,
        name: str | None = None, until_idle: bool = False, pumps: int = 1,
    ) -> None:  # fmt: skip
        self._store, self._registry = store, registry
        self._heartbeat_store = heartbeat_store or store
        self._name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._until_idle, self._pumps = until_idle, pumps
        self._clock = SystemClock()
        self._hand: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._outbox: list[tuple[Task, Settlement]] = []
        self._cancelling: set[tuple[int, int]] = set()
        self._stopping = False
        self._troubles = self._under_way = 0
        self.tally = Tally()

    async def run(self) -> Tally:
        """Work until stopped."""
        self._loop = asyncio.get_running_loop()
        self._signal = asyncio.Event()
        self._threads = ThreadPoolExecutor(min(64, self._store.settings.count("worker.concurrency")), "stage")
        await self._register()
        wake = Wake(self._store, self._nudge, float(self._store.settings["worker.poll"]))
        wake.start()
        background = [asyncio.create_task(keep_doing(chore, self._store)) for chore in CHORES]
        background.append(asyncio.create_task(self._show_pulse()))
        try:
            await asyncio.gather(*(self._pump() for _ in range(self._pumps)))
            await self._finish()
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            self._heartbeat.stop()
            wake.stop()
            self._threads.shutdown(wait=False, cancel_futures=True)
        return self.tally

    def stop(self) -> None:
        """Claim no more; finish or hand back what is in hand. Safe to call from a signal handler of the loop."""
        self._stopping = True
        self._signal.set()

    async def _register(self) -> None:
        settings = self._store.settings
        lease = settings.us("worker.lease")
        self._worker_id: WorkerId = await self._store.run(
            workers.register, self._store, name=self._name, host=socket.gethostname(), pid=os.getpid(), lease_us=lease
        )
        self._heartbeat = Heartbeat(
            self._heartbeat_store, self._worker_id, lease / SECOND, stall=float(settings["worker.stall"]),
            on_lost=lambda why: self._post(self._lose, why), on_cancel=lambda claims: self._post(self._cancel, claims),
        )  # fmt: skip
        self._heartbeat.start()

    def _post(self, act: object, *args: object) -> None:
        self._loop.call_soon_threadsafe(act, *args)  # type: ignore[arg-type]

    def _nudge(self) -> None:
        self._post(self._signal.set)

    async def _show_pulse(self) -> None:
        while True:
            self._heartbeat.pulse()
            await asyncio.sleep(0.5)

    # --- the heart: claim, perform, decide, settle

    async def _pump(self) -> None:
        while not self._stopping:
            outgoing, room = self._take_outgoing(), self._room()
            if not outgoing and room <= 0:
                await self._rest(None)
                continue
            turn = await self._turn(outgoing, room)
            if turn is None:
                continue
            for task in turn.tasks:
                self._start(task)
            if turn.tasks:
                await asyncio.sleep(0)  # let the quick ones finish, so that they share the next turn
            elif self._is_idle(turn):
                self.stop()
            elif room > 0 and not self._outbox:
                await self._rest(turn)

    def _take_outgoing(self) -> list[tuple[Task, Settlement]]:
        outgoing, self._outbox = self._outbox, []
        return outgoing

    def _room(self) -> int:
        settings = self._store.settings
        return min(settings.count("worker.batch"), settings.count("worker.concurrency") - len(self._hand))

    def _start(self, task: Task) -> None:
        self.tally.claimed += 1
        self._hand[task.id, task.claim] = self._loop.create_task(self._perform(task))

    async def _perform(self, task: Task) -> None:
        claim = (task.id, task.claim)
        hands = Hands(task, self._store, self._clock.now)
        try:
            settlement = await attempt(task, hands, self._registry, self._store.settings, self._threads)
        except asyncio.CancelledError:
            if claim in self._cancelling:
                settlement = Settlement.cancelled(task, reason="cancelled by a person")
            elif self._stopping:
                settlement = Settlement.hand_back(task, reason="its worker was stopped")
            else:
                return  # the lease was lost: nothing of this attempt may be written
        finally:
            self._hand.pop(claim, None)
            self._cancelling.discard(claim)
        self._outbox.append((task, settlement))
        self._signal.set()

    async def _turn(self, outgoing: list[tuple[Task, Settlement]], room: int) -> Turn | None:
        """Settle and claim. None when it did not work out; then nothing is lost and the next turn tries again."""
        if not self._heartbeat.safe:
            self._outbox = [*outgoing, *self._outbox]
            await asyncio.sleep(NUDGE_SECONDS)
            return None
        self._under_way += 1
        try:
            if self._troubles:
                await self._reconcile(outgoing)
            turn = await self._store.run(self._store.turn, [settlement for _, settlement in outgoing], room, self._worker_id)
        except DatabaseProblem as problem:
            self._outbox = [*outgoing, *self._outbox]
            await self._wait_out(problem)
            return None
        except Exception as problem:  # noqa: BLE001  one settlement cannot be written; it must not take the others along
            log.warning("a group of settlements failed (%s); settling one by one", problem)
            await self._settle_singly(outgoing)
            return Turn([], [], more=True)
        finally:
            self._under_way -= 1
        self._count(outgoing, turn.stale)
        return turn

    def _count(self, outgoing: list[tuple[Task, Settlement]], stale: list[Settlement]) -> None:
        self.tally.stale += len(stale)
        refused = {(each.task_id, each.claim) for each in stale}
        for _, settlement in outgoing:
            if (settlement.task_id, settlement.claim) not in refused:
                self.tally.endings[settlement.ending] += 1

    async def _settle_singly(self, outgoing: list[tuple[Task, Settlement]]) -> None:
        for task, settlement in outgoing:
            try:
                stale = await self._store.run(self._store.settle, [settlement])
            except DatabaseProblem:
                self._outbox.append((task, settlement))
                continue
            except Exception as problem:  # noqa: BLE001  what this attempt brought cannot be stored: that is its failure
                log.exception("task %s brought something that cannot be stored", task.id)
                settlement = Settlement.fail(task, error=Error(type(problem).__name__, str(problem)[:2_000]))
                stale = await self._store.run(self._store.settle, [settlement])
            self._count([(task, settlement)], stale)

    async def _wait_out(self, problem: DatabaseProblem) -> None:
        wait = TROUBLE_SECONDS[min(self._troubles, len(TROUBLE_SECONDS) - 1)]
        self._troubles += 1
        log.warning("%s; trying again in %.1f seconds", problem, wait)
        await asyncio.sleep(wait * random.uniform(0.8, 1.2))

    async def _reconcile(self, outgoing: list[tuple[Task, Settlement]]) -> None:
        """After trouble: give back what the database thinks we hold and we never got."""
        held = await self._store.run(workers.held, self._store, self._worker_id)
        ours = {*self._hand, *((task.id, task.claim) for task, _ in (*outgoing, *self._outbox))}
        unknown = [(task_id, claim) for task_id, claim in held.items() if (task_id, claim) not in ours]
        if unknown:
            back = [_give_back(task_id, claim) for task_id, claim in unknown]
            await self._store.run(self._store.settle, back)
            log.warning("%d claims whose answer was lost went back to waiting", len(unknown))
        self._troubles = 0

    async def _rest(self, turn: Turn | None) -> None:
        """Sleep until something happens: an attempt ends, a wake-up comes, a timer is due, or the poll is over."""
        try:
            async with asyncio.timeout(self._seconds_to_wait(turn)):
                await self._signal.wait()
            if self._hand and len(self._outbox) < self._store.settings.count("worker.batch"):
                await asyncio.sleep(LINGER_SECONDS)
        except TimeoutError:
            pass
        finally:
            self._signal.clear()

    def _seconds_to_wait(self, turn: Turn | None) -> float:
        poll = float(self._store.settings["worker.poll"])
        if turn is None:
            return poll
        if turn.more:
            return NUDGE_SECONDS * random.uniform(0.5, 1.5)
        if turn.next_at is not None:
            return min(poll, max(0.0005, (turn.next_at - turn.now) / SECOND))
        return poll

    def _is_idle(self, turn: Turn) -> bool:
        """Nothing in hand, nothing on its way, nothing ready, and no timer that would ring within a poll."""
        if not self._until_idle or self._hand or self._outbox or self._under_way or turn.more:
            return False
        soon = turn.now + round(float(self._store.settings["worker.poll"]) * SECOND)
        return turn.next_at is None or turn.next_at > soon

    # --- endings

    def _cancel(self, claims: frozenset[tuple[int, int]]) -> None:
        for claim in claims:
            if claim in self._hand and claim not in self._cancelling:
                self._cancelling.add(claim)
                self._hand[claim].cancel()

    def _lose(self, why: str) -> None:
        """The lease is gone: drop everything, write nothing, and start over as a new worker."""
        self.tally.lost += 1
        self._outbox.clear()
        for running in self._hand.values():
            running.cancel()
        if not self._stopping:
            log.warning("starting over as a new worker: %s", why)
            self._rebirth = self._loop.create_task(self._start_over())

    async def _start_over(self) -> None:
        while not self._stopping:
            try:
                return await self._register()
            except DatabaseProblem as problem:
                await self._wait_out(problem)
        return None

    async def _finish(self) -> None:
        """Let what is in hand end within the grace, hand back the rest, flush, and sign off."""
        grace = float(self._store.settings["worker.grace"])
        if self._hand:
            await asyncio.wait(list(self._hand.values()), timeout=grace)
        for running in list(self._hand.values()):
            running.cancel()
        if self._hand:
            await asyncio.wait(list(self._hand.values()))
        deadline = monotonic() + grace + 5
        while self._outbox and self._heartbeat.safe and monotonic() < deadline:
            await self._turn(self._take_outgoing(), 0)
        await self._store.run(workers.stop, self._store, self._worker_id)


def _give_back(task_id: int, claim: int) -> Settlement:
    nobody = Task(TaskId(task_id), claim, "", "", {}, {}, None, TaskId(task_id), None, 0, 0, 0, has_gates=False)
    return Settlement.hand_back(nobody, reason="the answer to its claim was lost on the way")
