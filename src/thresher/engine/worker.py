"""The worker: claim, perform, decide, settle, until told to stop.

It claims only what it can start at once, or alone (`workload.py`). How it settles and claims stands in
`turns.py`.
"""

import asyncio
import contextlib
import logging
import os
import random
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from thresher.config.settings import MACHINE
from thresher.core.clock import SECOND, Clock, SystemClock, monotonic
from thresher.core.decide import settle_error
from thresher.core.errors import DatabaseProblem
from thresher.core.settlement import Settlement
from thresher.core.task import Task, WorkerId
from thresher.engine.attempts import AttemptRules, Claim, Running, Workload, attempt, overdue
from thresher.engine.chores import chores_of, keep_doing
from thresher.engine.heartbeat import Heartbeat
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services, StageContext
from thresher.engine.subscribers import Subscribers
from thresher.engine.turns import Turns, WorkerTally, seconds_to_wait
from thresher.store import workers
from thresher.store.backend import Turn
from thresher.store.lanes import Scope
from thresher.store.store import Store

# Wake-ups from elsewhere: a thread that listens, so that an idle worker starts at once. Only ever a hint;
# the poll is the floor.

wake_log = logging.getLogger("thresher.wake")


class Wake:
    """Calls `on_wake` when there may be work."""

    def __init__(self, store: Store, on_wake: Callable[[], None], poll: float) -> None:
        self._store, self._on_wake, self._poll = store, on_wake, poll
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="wake", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._store.backend.nudge()
        self._thread.join()

    def _listen(self) -> None:
        while not self._stop.is_set():
            try:
                if self._store.backend.listen(self._store.backend.dialect.listen_seconds):
                    self._on_wake()
            except Exception as problem:  # noqa: BLE001  whatever it is, listening goes on when the database is back
                wake_log.debug("listening failed: %s", problem)
                self._stop.wait(self._poll)


log = logging.getLogger("thresher.worker")

# A group of settlements may wait this long for company.
LINGER_SECONDS = 0.002
WATCH_SECONDS = 0.1
# How long a stage that ignores its cancellation, or a database that is away, may hold up a stopping worker.
FLUSH_SECONDS = 5.0
STOPPED = "its worker was stopped"


class Worker:
    """One worker in one process. `run()` returns when it was stopped, or, with `until_idle`, when nothing is
    left to do.
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        *,
        heartbeat_store: Store | None = None,
        name: str | None = None,
        until_idle: bool = False,
        pumps: int = 1,
        concurrency: int | None = None,
        patience: float = 0.0,
        services: Services | None = None,
        clock: Clock | None = None,
        recycle: bool = False,
        serves: Iterable[Scope] | None = None,
    ) -> None:
        """With `recycle` it stops when stages that nobody can end have worn it out, for whoever starts it
        afresh.
        """
        self._serves = registry.scopes() if serves is None else serves
        self._services = services or Services()
        self._store, self._registry, self._concurrency, self._patience = (
            store,
            registry,
            concurrency,
            patience,
        )
        self._heartbeat_store = heartbeat_store or store
        self._name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._until_idle, self._pumps, self._recycle = until_idle, pumps, recycle
        self._clock, self._load = clock or SystemClock(), Workload()
        self.worn_out: str | None = None
        self._stopping = self._starting = False
        self._asked = 0
        self._lost: WorkerId | None = None
        self._rebirth: asyncio.Task[None] | None = None
        self.tally = WorkerTally()
        self._turns = Turns(store, self._load, self.tally, lambda: self._heartbeat)

    async def run(self) -> WorkerTally:
        """Work until stopped."""
        self._loop = asyncio.get_running_loop()
        self._store.settings.heartbeat()  # refused at the start; who starts over later does what it can
        self._signal = asyncio.Event()
        # As many threads as there may ever be tasks in hand, made when they are needed: whatever is claimed
        # can start.
        self._threads = ThreadPoolExecutor(int(MACHINE["worker.concurrency"].high), "stage")
        chores = chores_of(self._registry)
        chore_threads = ThreadPoolExecutor(
            len(chores), "chore"
        )  # their own: whatever stages do, schedules fire and the lost are found
        await self._register()
        wake = Wake(self._store, self._nudge, float(self._store.settings["worker.poll"]))
        wake.start()
        background = [asyncio.create_task(keep_doing(chore, self._store, chore_threads)) for chore in chores]
        background += [
            asyncio.create_task(self._watch()),
            asyncio.create_task(self._turns.watch_schema(self.stop_now)),
        ]
        subscribers = Subscribers(self._store, self._registry.apps, self._clock.now)
        await subscribers.begin()
        self._turns.told = subscribers.settled if subscribers.wants_tasks else None
        subscribers.start()
        try:
            await asyncio.gather(*(self._pump() for _ in range(self._pumps)))
            await self._finish()
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            await subscribers.finish()
            if self._rebirth:
                await asyncio.gather(self._rebirth, return_exceptions=True)
            self._heartbeat.stop()
            wake.stop()
            for threads in (self._threads, chore_threads):
                threads.shutdown(wait=False, cancel_futures=True)
            await self._services.close()
        if self._turns.outdated:
            raise self._turns.outdated
        return self.tally

    def stop(self) -> None:
        """Claim no more; finish or hand back what is in hand. Safe to call from a signal handler of the
        loop.
        """
        self._stopping = True
        self._signal.set()

    def stop_now(self) -> None:
        """Wait for nobody: hand back at once what is in hand. Nothing is lost by it."""
        self.stop()
        self._hand_back()

    async def _register(self) -> None:
        settings = self._store.settings
        lease = settings.us("worker.lease")
        every = min(float(settings["worker.heartbeat"]), lease / SECOND / 2)
        host, pid = socket.gethostname(), os.getpid()
        worker_id = await self._store.run(
            workers.register,
            self._store,
            name=self._name,
            host=host,
            pid=pid,
            lease_us=lease,
            marks_begun=True,
        )
        scopes = await self._store.run(workers.serve, self._store, worker_id, self._serves)
        # From here on at one stroke: a new name beside the old, lost lease would be taken for lost as well.
        self._worker_id, self._turns.scopes = worker_id, scopes
        self._heartbeat = Heartbeat(
            self._heartbeat_store,
            worker_id,
            lease / SECOND,
            every=every,
            stall=float(settings["worker.stall"]),
            on_lost=lambda why: self._post(self._lose, worker_id, why),
            on_cancel=lambda claims: self._post(self._cancel, claims),
        )
        self._heartbeat.start()

    def _post(self, act: object, *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
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
            self._end_overdue(monotonic(), AttemptRules.of(self._store.settings))
            if self._load.suspects:
                self._signal.set()  # perhaps one of them may start now
            await asyncio.sleep(WATCH_SECONDS)

    def _end_overdue(self, now: float, rules: AttemptRules) -> None:
        for claim, running in list(self._load.running.items()):
            if running.cut_at is None and running.deadline < now:
                running.cut_short(
                    overdue(running.task, running.seconds, self._registry, self._store.settings)
                )
            elif running.thread is None and running.is_over(now, rules.cancel_grace):
                self._settle_without(claim, running)
        why = self._load.worn_out(now, rules)
        if why and self.worn_out is None:
            self.worn_out = why
            log.error(
                "this worker is worn out: %s%s",
                why,
                "; stopping, to be started afresh" if self._recycle else "; restart it",
            )
            if self._recycle:
                self.stop()

    def _settle_without(self, claim: Claim, running: Running) -> None:
        """It was cut short and does not end. Its settlement cannot wait for it; the fence refuses whatever it
        may still bring.
        """
        del self._load.running[claim]
        self._load.abandon(running, running.cut_at or monotonic())
        log.error(
            "stage %s of task %s ignores its cancellation; its task is settled without it",
            running.task.stage,
            running.task.id,
        )
        if running.ending:
            self._turns.put(running.task, running.ending)
            self._signal.set()

    # --- the heart: claim, perform, decide, settle

    async def _pump(self) -> None:
        while not self._stopping:
            alone = await self._is_alone()
            await self._start_suspects()
            outgoing, room = self._turns.take_outgoing(), self._room()
            if not outgoing and room <= 0:
                await self._rest(None)
                continue
            self._asked += room
            try:
                turn = await self._turns.take(outgoing, room)
            finally:
                self._asked -= room
            if turn is None:
                continue
            if turn.lost:
                self._lose(self._worker_id, "the lease had ended and others have taken over")
                continue
            self._begin(turn.tasks)
            if turn.tasks:
                await asyncio.sleep(0)  # let the quick ones finish, so that they share the next turn
            elif alone and self._is_idle(turn):
                self.stop()
            elif room > 0 and not self._turns.outbox:
                await self._rest(turn)

    def _room(self) -> int:
        settings = self._store.settings
        most = self._concurrency or settings.count("worker.concurrency")
        # What another pump has asked for counts as taken: both answers may come at once. So none may ask for
        # everything.
        return self._load.room(
            most - self._asked, min(settings.count("worker.batch"), -(-most // self._pumps))
        )

    def _begin(self, tasks: list[Task]) -> None:
        self.tally.claimed += len(tasks)
        if self._stopping:
            return self._return_unopened(tasks, STOPPED)
        fresh, too_many = self._load.sort(tasks)
        for task in fresh:
            self._start(task)
        self._return_unopened(
            too_many,
            "it lost its worker before and is performed alone; this worker has enough of those in hand",
        )
        return None

    async def _start_suspects(self) -> None:
        """Suspects start when nothing else is in hand, nor on its way to it or from it: whoever has ended
        must not fall with them.
        """
        while not (
            self._asked or self._stopping or self._starting or self._turns.outbox or self._turns.under_way
        ):
            task = self._load.next_suspect(monotonic(), AttemptRules.of(self._store.settings))
            if task is None:
                break
            self._starting = True
            try:
                is_ours = await self._store.run(workers.begin_suspect, self._store, task.id, task.claim)
            except DatabaseProblem as problem:
                await self._turns.wait_out(problem)
                break
            finally:
                self._starting = False
            if self._load.drop_suspect((task.id, task.claim)) and is_ours:
                self._start(task)

    def _start(self, task: Task) -> None:
        self._registry.settings = self._store.settings
        attempt = self._loop.create_task(self._perform(task))
        self._load.running[task.id, task.claim] = Running(task, attempt, monotonic(), self._seconds_for(task))

    def _return_unopened(self, tasks: Iterable[Task], reason: str) -> None:
        for task in tasks:
            self._turns.put(task, Settlement.hand_back(task, reason=reason))

    def _seconds_for(self, task: Task) -> float:
        pipeline = self._registry.pipeline(task.kind)
        stage = pipeline.stage(task.stage) if pipeline else None
        return (stage and stage.timeout) or float(self._store.settings["worker.timeout"])

    async def _perform(self, task: Task) -> None:
        claim = (task.id, task.claim)
        context = StageContext(task, self._store, self._clock.now, self._registry, self._services)
        settlement: Settlement | None
        try:
            settlement = await attempt(
                task, context, self._registry, self._store.settings, partial(self._submit, claim)
            )
        except asyncio.CancelledError as problem:
            # Without an ending nobody here asked for it: the stage cancelled itself, and that is its failure.
            running = self._load.running.get(claim)
            settlement = (running and running.ending) or self._failure(task, problem)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001  what no table foresaw must still end the attempt
            settlement = self._failure(task, problem)
        running = self._load.running.get(claim)
        if running and running.thread and not running.thread.done():
            # A thread cannot be stopped. As long as it runs, it is at its source, and its slot is taken.
            running.thread.add_done_callback(lambda _: self._post(self._end, claim, settlement))
        else:
            self._end(claim, settlement)

    def _submit(
        self, claim: Claim, perform: Callable[[StageContext], Any], context: StageContext
    ) -> "Future[Any]":
        thread = self._threads.submit(perform, context)
        if claim in self._load.running:
            self._load.running[claim].thread = thread
        return thread

    def _end(self, claim: Claim, settlement: Settlement) -> None:
        running = self._load.running.pop(claim, None)
        # else it was settled without it, or the lease was lost: nothing of this attempt may be written,
        # whatever it brought
        if running:
            self._turns.put(running.task, settlement)
            self._signal.set()

    def _failure(self, task: Task, problem: BaseException) -> Settlement:
        surprise = RuntimeError(f"the stage ended with {type(problem).__name__}")
        backoff = self._registry.backoff(task.kind, self._store.settings)
        return settle_error(task, surprise, self._registry, backoff=backoff, luck=random.random())

    async def _rest(self, turn: Turn | None) -> None:
        """Sleep until something happens: an attempt ends, a wake-up comes, a timer is due, or the poll is
        over.
        """
        try:
            async with asyncio.timeout(seconds_to_wait(turn, float(self._store.settings["worker.poll"]))):
                await self._signal.wait()
            if self._load.running and len(self._turns.outbox) < self._store.settings.count("worker.batch"):
                await asyncio.sleep(LINGER_SECONDS)
        except TimeoutError:
            pass
        finally:
            self._signal.clear()

    def _is_idle(self, turn: Turn) -> bool:
        """Nothing in hand, nothing on its way, nothing ready, and no timer that would ring within a poll, or
        our patience.
        """
        if (
            not self._until_idle
            or self._is_busy()
            or self._turns.outbox
            or self._turns.under_way
            or turn.more
        ):
            return False
        soon = turn.now + round(max(self._patience, float(self._store.settings["worker.poll"])) * SECOND)
        return turn.next_at is None or turn.next_at > soon

    async def _is_alone(self) -> bool:
        """Whether nobody else holds a task: the living may yet ask for more, and what the dead held comes
        back.
        """
        if not self._until_idle or self._is_busy():
            return False
        with contextlib.suppress(DatabaseProblem):
            return not await self._store.run(workers.others_hold, self._store, self._worker_id)
        return False

    def _is_busy(self) -> bool:
        return self._load.is_busy(monotonic(), float(self._store.settings["worker.cancel_grace"]))

    # --- endings

    def _cancel(self, claims: frozenset[tuple[int, int]]) -> None:
        for claim in claims:
            running, waiting = self._load.running.get(claim), self._load.drop_suspect(claim)
            if running and running.ending is None:
                running.cut_short(Settlement.cancelled(running.task, reason="cancelled by a person"))
            elif waiting:
                self._turns.put(waiting, Settlement.cancelled(waiting, reason="cancelled by a person"))
                self._signal.set()

    def _lose(self, worker_id: WorkerId, why: str) -> None:
        """The lease is gone: drop everything, write nothing, and start over as a new worker."""
        if worker_id != self._worker_id or self._lost == worker_id:
            return  # old news: heard of twice, or of somebody we no longer are
        self._lost = worker_id
        self._heartbeat.give_up()
        self.tally.lost += 1
        self._turns.outbox.clear()
        self._load.suspects.clear()
        for running in self._load.running.values():
            running.cut_short(None)
            self._load.abandon(running, monotonic())
        self._load.running.clear()
        if not self._stopping:
            log.warning("starting over as a new worker: %s", why)
            self._rebirth = self._loop.create_task(self._start_over())

    async def _start_over(self) -> None:
        while not self._stopping:
            try:
                return await self._register()
            except DatabaseProblem as problem:
                await self._turns.wait_out(problem)
        return None

    async def _finish(self) -> None:
        """Let what is in hand end within the grace, hand back the rest, flush, and sign off."""
        grace = float(self._store.settings["worker.grace"])
        self._return_unopened(self._load.suspects, STOPPED)
        self._load.suspects.clear()
        await self._let_finish(grace, lambda running: running.cut_at is None)
        self._hand_back()
        await self._let_finish(FLUSH_SECONDS, lambda running: running.thread is None)
        for claim, running in list(self._load.running.items()):
            self._settle_without(claim, running)
        deadline = monotonic() + grace + FLUSH_SECONDS
        while (
            self._turns.outbox
            and self._heartbeat.safe
            and monotonic() < deadline
            and not self._turns.outdated_in_trouble
        ):
            await self._turns.take(self._turns.take_outgoing(), 0)
        if self._turns.outbox:
            log.warning(
                "%d tasks could not be settled; they go back when the lease ends", len(self._turns.outbox)
            )
        try:
            await self._store.run(workers.stop, self._store, self._worker_id)
        except DatabaseProblem as problem:
            log.warning("could not sign off, the lease will end by itself: %s", problem)

    def _hand_back(self) -> None:
        for running in self._load.running.values():
            if running.ending is None:
                running.cut_short(Settlement.hand_back(running.task, reason=STOPPED))

    async def _let_finish(self, seconds: float, wanted: Callable[[Running], bool]) -> None:
        """Settle what ends within this time, as it ends; those that are wanted are waited for."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            attempts = [running.attempt for running in self._load.running.values() if wanted(running)]
            if not attempts:
                return
            if self._turns.outbox:
                await self._turns.take(self._turns.take_outgoing(), 0)
            else:
                await asyncio.wait(
                    attempts, timeout=min(left, WATCH_SECONDS), return_when=asyncio.FIRST_COMPLETED
                )
                await asyncio.sleep(LINGER_SECONDS)


# The event loop a worker runs on: uvloop where it is installed (`pip install 'thresher[speed]'`), else the
# standard one.

T = TypeVar("T")


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    try:
        import uvloop  # noqa: PLC0415  an extra
    except ImportError:
        return asyncio.run(work)
    found: T = uvloop.run(work)
    return found
