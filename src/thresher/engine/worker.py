"""The worker: claim, perform, decide, settle, until told to stop.

It claims only what it can start at once. Settlements are gathered while a turn is under way and go out together with
the next claim, in one transaction. What the database says it holds and what it has in hand are compared after every
trouble, so that an answer lost on the wire strands nothing.
"""

import asyncio
import contextlib
import logging
import math
import os
import random
import socket
from concurrent.futures import ThreadPoolExecutor

from thresher.config.settings import setting
from thresher.core.clock import SECOND, Clock, SystemClock, monotonic
from thresher.core.decide import settle_error
from thresher.core.errors import DatabaseProblem
from thresher.core.ids import WorkerId
from thresher.core.record import clean
from thresher.core.settlement import Error, Settlement
from thresher.core.task import Task
from thresher.engine.attempt import attempt, overdue
from thresher.engine.chores import CHORES, keep_doing
from thresher.engine.hands import Hands
from thresher.engine.heartbeat import Heartbeat
from thresher.engine.pace import NUDGE_SECONDS, seconds_to_wait
from thresher.engine.reach import Reach
from thresher.engine.registry import Registry
from thresher.engine.running import Running, give_back
from thresher.engine.tally import Tally
from thresher.engine.wake import Wake
from thresher.store import workers
from thresher.store.backend import Turn
from thresher.store.store import Store

log = logging.getLogger("thresher.worker")

# A group of settlements may wait this long for company.
LINGER_SECONDS = 0.002
WATCH_SECONDS = 0.1
# How long a stage that ignores its cancellation, or a database that is away, may hold up a stopping worker.
FLUSH_SECONDS = 5.0
TROUBLE_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class Worker:
    """One worker in one process. `run()` returns when it was stopped, or, with `until_idle`, when nothing is left to do."""

    def __init__(
        self, store: Store, registry: Registry, *, heartbeat_store: Store | None = None,
        name: str | None = None, until_idle: bool = False, pumps: int = 1, concurrency: int | None = None,
        patience: float = 0.0, reach: Reach | None = None, clock: Clock | None = None,
    ) -> None:  # fmt: skip
        self._reach = reach or Reach()
        self._store, self._registry, self._concurrency, self._patience = store, registry, concurrency, patience
        self._heartbeat_store = heartbeat_store or store
        self._name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._until_idle, self._pumps = until_idle, pumps
        self._clock = clock or SystemClock()
        self._hand: dict[tuple[int, int], Running] = {}
        self._outbox: list[tuple[Task, Settlement]] = []
        self._stopping = False
        self._troubles = self._under_way = self._asked = 0
        self._reconciling = self._compare = False
        self._doubt_at = math.inf
        self._lost: WorkerId | None = None
        self._rebirth: asyncio.Task[None] | None = None
        self.tally = Tally()

    async def run(self) -> Tally:
        """Work until stopped."""
        self._loop = asyncio.get_running_loop()
        self._signal = asyncio.Event()
        # As many threads as there may ever be tasks in hand, made when they are needed: whatever is claimed can start.
        self._threads = ThreadPoolExecutor(int(setting("worker.concurrency").high), "stage")
        await self._register()
        wake = Wake(self._store, self._nudge, float(self._store.settings["worker.poll"]))
        wake.start()
        background = [asyncio.create_task(keep_doing(chore, self._store)) for chore in CHORES]
        background.append(asyncio.create_task(self._watch()))
        try:
            await asyncio.gather(*(self._pump() for _ in range(self._pumps)))
            await self._finish()
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            if self._rebirth:
                await asyncio.gather(self._rebirth, return_exceptions=True)
            self._heartbeat.stop()
            wake.stop()
            self._threads.shutdown(wait=False, cancel_futures=True)
            await self._reach.close()
        return self.tally

    def stop(self) -> None:
        """Claim no more; finish or hand back what is in hand. Safe to call from a signal handler of the loop."""
        self._stopping = True
        self._signal.set()

    def stop_now(self) -> None:
        """Wait for nobody: hand back at once what is in hand. Nothing is lost by it."""
        self.stop()
        for running in self._hand.values():
            if running.ending is None:
                running.cut_short(Settlement.hand_back(running.task, reason="its worker was stopped"))

    async def _register(self) -> None:
        settings = self._store.settings
        lease = settings.us("worker.lease")
        self._worker_id: WorkerId = await self._store.run(
            workers.register, self._store, name=self._name, host=socket.gethostname(), pid=os.getpid(), lease_us=lease
        )
        worker_id = self._worker_id
        self._heartbeat = Heartbeat(
            self._heartbeat_store, worker_id, lease / SECOND, stall=float(settings["worker.stall"]),
            on_lost=lambda why: self._post(self._lose, worker_id, why), on_cancel=lambda claims: self._post(self._cancel, claims),
        )  # fmt: skip
        self._heartbeat.start()

    def _post(self, act: object, *args: object) -> None:
        self._loop.call_soon_threadsafe(act, *args)  # type: ignore[arg-type]

    def _nudge(self) -> None:
        self._post(self._signal.set)

    async def _watch(self) -> None:
        """Show the heartbeat that the loop is moving, and cut attempts short that take too long.

        One look at all of them a few times a second: a timer for each would cost more than many a task.
        """
        while True:
            self._heartbeat.pulse()
            if not self._heartbeat.safe:
                # The heartbeat itself may hang in a call to a database that does not answer.
                self._lose(self._worker_id, "the lease was not renewed in time")
            now = monotonic()
            for running in list(self._hand.values()):
                if running.deadline < now and running.ending is None:
                    running.cut_short(overdue(running.task, running.seconds, self._registry, self._store.settings))
            await asyncio.sleep(WATCH_SECONDS)

    # --- the heart: claim, perform, decide, settle

    async def _pump(self) -> None:
        while not self._stopping:
            alone = await self._is_alone()
            outgoing, room = self._take_outgoing(), self._room()
            if not outgoing and room <= 0:
                await self._rest(None)
                continue
            self._asked += room
            try:
                turn = await self._turn(outgoing, room)
            finally:
                self._asked -= room
            if turn is None:
                continue
            if turn.lost:
                self._lose(self._worker_id, "the lease had ended and others have taken over")
                continue
            begin = self._return_unopened if self._stopping else self._start
            for task in turn.tasks:
                begin(task)
            if turn.tasks:
                await asyncio.sleep(0)  # let the quick ones finish, so that they share the next turn
            elif alone and self._is_idle(turn):
                self.stop()
            elif room > 0 and not self._outbox:
                await self._rest(turn)

    def _take_outgoing(self) -> list[tuple[Task, Settlement]]:
        outgoing, self._outbox = self._outbox, []
        return outgoing

    def _room(self) -> int:
        settings = self._store.settings
        most = self._concurrency or settings.count("worker.concurrency")
        # What another pump has asked for counts as taken: both answers may come at once. So none may ask for everything.
        free, share = most - len(self._hand) - self._asked, -(-most // self._pumps)
        return max(0, min(settings.count("worker.batch"), share, free))

    def _start(self, task: Task) -> None:
        self.tally.claimed += 1
        self._registry.settings = self._store.settings
        seconds = self._seconds_for(task)
        attempt = self._loop.create_task(self._perform(task))
        self._hand[task.id, task.claim] = Running(task, attempt, monotonic() + seconds, seconds)

    def _return_unopened(self, task: Task) -> None:
        """Its claim was on its way when we were told to stop."""
        self.tally.claimed += 1
        self._outbox.append((task, Settlement.hand_back(task, reason="its worker was stopped")))

    def _seconds_for(self, task: Task) -> float:
        pipeline = self._registry.pipeline(task.kind)
        stage = pipeline.stage(task.stage) if pipeline else None
        return (stage and stage.timeout) or float(self._store.settings["worker.timeout"])

    async def _perform(self, task: Task) -> None:
        claim = (task.id, task.claim)
        hands = Hands(task, self._store, self._clock.now, self._registry, self._reach)
        settlement: Settlement | None
        try:
            settlement = await attempt(task, hands, self._registry, self._store.settings, self._threads)
        except asyncio.CancelledError as problem:
            # Without an ending nobody here asked for it: the stage cancelled itself, and that is its failure.
            settlement = self._hand[claim].ending if claim in self._hand else None
            settlement = settlement or self._failure(task, problem)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001  what no table foresaw must still end the attempt
            settlement = self._failure(task, problem)
        if self._hand.pop(claim, None):  # else the lease was lost: nothing of this attempt may be written, whatever it brought
            self._outbox.append((task, settlement))
            self._signal.set()

    def _failure(self, task: Task, problem: BaseException) -> Settlement:
        surprise = RuntimeError(f"the stage ended with {type(problem).__name__}")
        return settle_error(task, surprise, self._registry, backoff=self._store.settings.backoff(), luck=random.random())

    async def _turn(self, outgoing: list[tuple[Task, Settlement]], room: int) -> Turn | None:
        """Settle and claim. None when it did not work out; then nothing is lost and the next turn tries again."""
        # Comparing what we hold with what the database says needs everybody else's turn to be over.
        if not self._heartbeat.safe or self._reconciling or (self._in_doubt and self._under_way):
            self._outbox = [*outgoing, *self._outbox]
            await asyncio.sleep(NUDGE_SECONDS)
            return None
        worker_id = self._worker_id
        self._under_way += 1
        try:
            if self._in_doubt:
                await self._reconcile(outgoing)
            turn = await self._store.take_turn([settlement for _, settlement in outgoing], room, worker_id)
        except DatabaseProblem as problem:
            if worker_id == self._worker_id and not self._heartbeat.lost:
                self._outbox = [*outgoing, *self._outbox]
            await self._wait_out(problem)
            return None
        except Exception as problem:  # noqa: BLE001  one settlement cannot be written; it must not take the others along
            log.warning("a group of settlements failed (%s); settling one by one", problem)
            await self._settle_singly(outgoing)
            await self._wait_out(problem)
            return None
        finally:
            self._under_way -= 1
        if outgoing or not self._outbox:  # else another pump has what could not be written, and this turn wrote nothing
            self._troubles = 0
        self._count(outgoing, turn.stale)
        if worker_id != self._worker_id or not self._heartbeat.safe:
            return None  # the lease went while the answer was on its way: these tasks are no longer ours
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
                await self._settle_one(task, settlement)
            except DatabaseProblem:
                self._outbox.append((task, settlement))

    async def _settle_one(self, task: Task, settlement: Settlement) -> None:
        try:
            stale = await self._store.run(self._store.settle, [settlement])
        except DatabaseProblem:
            raise
        except Exception as problem:  # what this attempt brought cannot be stored: that is its failure
            log.exception("task %s brought something that cannot be stored", task.id)
            settlement = Settlement.fail(task, error=Error(type(problem).__name__, clean(str(problem))[:2_000]))
            stale = await self._store.run(self._store.settle, [settlement])
        self._count([(task, settlement)], stale)

    async def _wait_out(self, problem: Exception) -> None:
        """Wait longer with every trouble since the last turn that worked: a database that can be read may still refuse to be written."""
        wait = TROUBLE_SECONDS[min(self._troubles, len(TROUBLE_SECONDS) - 1)]
        self._troubles += 1
        self._compare = True
        log.warning("%s; trying again in %.1f seconds", problem, wait)
        await asyncio.sleep(wait * random.uniform(0.8, 1.2))

    async def _reconcile(self, outgoing: list[tuple[Task, Settlement]]) -> None:
        """After trouble: give back what the database thinks we hold and we never got."""
        self._reconciling = True
        try:
            held = await self._store.run(workers.held, self._store, self._worker_id)
            ours = {*self._hand, *((task.id, task.claim) for task, _ in (*outgoing, *self._outbox))}
            unknown = [(task_id, claim) for task_id, claim in held.items() if (task_id, claim) not in ours]
            if unknown:
                back = [give_back(task_id, claim) for task_id, claim in unknown]
                await self._store.run(self._store.settle, back)
                log.warning("%d claims whose answer was lost went back to waiting", len(unknown))
            # Once more a lease later: what was lost on the way may still have been on its way when we looked.
            self._doubt_at = monotonic() + float(self._store.settings["worker.lease"]) if self._compare else math.inf
            self._compare = False
        finally:
            self._reconciling = False

    @property
    def _in_doubt(self) -> bool:
        """Whether the database may think that we hold what we never got."""
        return self._compare or monotonic() > self._doubt_at

    async def _rest(self, turn: Turn | None) -> None:
        """Sleep until something happens: an attempt ends, a wake-up comes, a timer is due, or the poll is over."""
        try:
            async with asyncio.timeout(seconds_to_wait(turn, float(self._store.settings["worker.poll"]))):
                await self._signal.wait()
            if self._hand and len(self._outbox) < self._store.settings.count("worker.batch"):
                await asyncio.sleep(LINGER_SECONDS)
        except TimeoutError:
            pass
        finally:
            self._signal.clear()

    def _is_idle(self, turn: Turn) -> bool:
        """Nothing in hand, nothing on its way, nothing ready, and no timer that would ring within a poll, or our patience."""
        if not self._until_idle or self._hand or self._outbox or self._under_way or turn.more:
            return False
        soon = turn.now + round(max(self._patience, float(self._store.settings["worker.poll"])) * SECOND)
        return turn.next_at is None or turn.next_at > soon

    async def _is_alone(self) -> bool:
        """Whether nobody else holds a task: the living may yet ask for more, and what the dead held comes back."""
        if not self._until_idle or self._hand:
            return False
        with contextlib.suppress(DatabaseProblem):
            return not await self._store.run(workers.others_hold, self._store, self._worker_id)
        return False

    # --- endings

    def _cancel(self, claims: frozenset[tuple[int, int]]) -> None:
        for claim in claims:
            running = self._hand.get(claim)
            if running and running.ending is None:
                running.cut_short(Settlement.cancelled(running.task, reason="cancelled by a person"))

    def _lose(self, worker_id: WorkerId, why: str) -> None:
        """The lease is gone: drop everything, write nothing, and start over as a new worker."""
        if worker_id != self._worker_id or self._lost == worker_id:
            return  # old news: heard of twice, or of somebody we no longer are
        self._lost = worker_id
        self._heartbeat.give_up()
        self.tally.lost += 1
        self._outbox.clear()
        for running in self._hand.values():
            running.cut_short(None)
        self._hand.clear()
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
        await self._let_finish(grace)
        for running in list(self._hand.values()):
            if running.ending is None:
                running.cut_short(Settlement.hand_back(running.task, reason="its worker was stopped"))
        await self._let_finish(FLUSH_SECONDS)
        deadline = monotonic() + grace + FLUSH_SECONDS
        while self._outbox and self._heartbeat.safe and monotonic() < deadline:
            await self._turn(self._take_outgoing(), 0)
        if self._hand or self._outbox:
            log.warning("%d tasks could not be settled; they go back when the lease ends", len(self._hand) + len(self._outbox))
        try:
            await self._store.run(workers.stop, self._store, self._worker_id)
        except DatabaseProblem as problem:
            log.warning("could not sign off, the lease will end by itself: %s", problem)

    async def _let_finish(self, seconds: float) -> None:
        """Settle what ends within this time, as it ends."""
        until = monotonic() + seconds
        while self._hand and (left := until - monotonic()) > 0:
            if self._outbox:
                await self._turn(self._take_outgoing(), 0)
            else:
                attempts = [running.attempt for running in self._hand.values()]
                await asyncio.wait(attempts, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.sleep(LINGER_SECONDS)
