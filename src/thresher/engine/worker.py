"""The worker: claim, perform, decide, settle, until told to stop.

It claims only what it can start at once, or alone. Its parts can be read one by one:

    attempts.py   what is in hand: performing a stage, cutting it short, suspects that run alone
    turns.py      the way to the database: settling and claiming, trouble, reconciliation
    lease.py      who this worker is: registering, the heartbeat, losing the lease
    worker.py     the loop that joins them, and the shutdown
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from thresher.core.clock import SECOND, Clock, SystemClock, monotonic
from thresher.core.errors import DatabaseProblem
from thresher.core.log_context import set_log_context
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.engine.attempts import AttemptRules, Attempts, Running
from thresher.engine.chores import chores_of, keep_doing
from thresher.engine.lease import Lease
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.subscribers import Subscribers
from thresher.engine.turns import Turns, WorkerTally, seconds_to_wait
from thresher.engine.webhooks import forward_events
from thresher.store import workers
from thresher.store.backend import Turn
from thresher.store.lanes import Scope
from thresher.store.store import Store

log = logging.getLogger("thresher.worker")

# A group of settlements may wait this long for company.
LINGER_SECONDS = 0.002
WATCH_SECONDS = 0.1
# How long a stage that ignores its cancellation, or a database that is away, may hold up a stopping worker.
FLUSH_SECONDS = 5.0
STOPPED = "its worker was stopped"
TOO_MANY = "its worker crashed before, so it must run alone; this worker is busy with another such task"

T = TypeVar("T")


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
        self._store, self._registry, self._services = store, registry, services or Services()
        self._clock = clock or SystemClock()
        self._until_idle, self._patience, self._recycle = until_idle, patience, recycle
        self._pumps, self._concurrency = pumps, concurrency
        self._stopping = self._starting = False
        self._asked = 0
        self._starting_over: asyncio.Task[None] | None = None
        self.worn_out: str | None = None
        self.registered = asyncio.Event()  # the database knows this worker
        self.done = False  # nothing was left to do before anybody asked it to stop
        self.tally = WorkerTally()
        self._attempts = Attempts(
            store, registry, self._services, self._clock.now, settle=self._put, post=self._post
        )
        self._load = self._attempts.load
        self._lease = Lease(
            store,
            heartbeat_store or store,
            name=name,
            serves=registry.scopes() if serves is None else serves,
            on_lost=self._start_over,
            on_cancel=self._attempts.cancel,
            post=self._post,
        )
        self._turns = Turns(store, self._load, self.tally, self._lease, self._services.spans)

    @property
    def name(self) -> str:
        """As lists of workers show it."""
        return self._lease.name

    async def run(self) -> WorkerTally:
        """Work until stopped."""
        self._loop = asyncio.get_running_loop()
        set_log_context(lambda: {"worker": self._lease.name})
        self._store.settings.heartbeat()  # refused at the start; who starts over later does what it can
        self._signal = asyncio.Event()
        chores = chores_of(self._registry)
        # Threads of their own: whatever stages do, schedules fire and the lost are found.
        chore_threads = ThreadPoolExecutor(len(chores), "chore")
        await self._lease.take()
        self.registered.set()
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
            if self._starting_over:
                await asyncio.gather(self._starting_over, return_exceptions=True)
            self._lease.close()
            wake.stop()
            self._attempts.close()
            chore_threads.shutdown(wait=False, cancel_futures=True)
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
        """Hand back all tasks at once without waiting. Nothing is lost."""
        self.stop()
        self._attempts.hand_back(STOPPED)

    def _post(self, act: object, *args: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(act, *args)  # type: ignore[arg-type]

    def _nudge(self) -> None:
        self._post(self._signal.set)

    def _put(self, task: Task, settlement: Settlement) -> None:
        """An attempt has ended: it is settled with the next turn."""
        self._turns.put(task, settlement)
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
                self._lease.lose(self._lease.worker_id, "the lease had ended and others have taken over")
                continue
            self._begin(turn.tasks)
            if turn.tasks:
                await asyncio.sleep(0)  # let the quick ones finish, so that they share the next turn
            elif alone and self._is_idle(turn) and not await self._forwards():
                self.done = not self._stopping
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
            self._attempts.return_unopened(tasks, STOPPED)
            return
        self._use_settings()
        fresh, too_many = self._load.sort(tasks)
        for task in fresh:
            self._attempts.start(task)
        self._attempts.return_unopened(too_many, TOO_MANY)

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
                self._use_settings()
                self._attempts.start(task)

    def _use_settings(self) -> None:
        """Settings that have changed count for whatever starts from now on."""
        if self._registry.settings is not self._store.settings:
            self._registry.settings = self._store.settings

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

    async def _forwards(self) -> bool:
        """Tell whether the last events made work: webhooks are to hear of them before a run is over."""
        with contextlib.suppress(DatabaseProblem):
            return await self._store.run(forward_events, self._registry, self._store) is not None
        return False

    async def _is_alone(self) -> bool:
        """Tell whether no other worker holds a task: live workers may enqueue more, and the tasks of dead
        ones come back.
        """
        if not self._until_idle or self._is_busy():
            return False
        with contextlib.suppress(DatabaseProblem):
            return not await self._store.run(workers.others_hold, self._store, self._lease.worker_id)
        return False

    def _is_busy(self) -> bool:
        return self._load.is_busy(monotonic(), float(self._store.settings["worker.cancel_grace"]))

    # --- beside it: the watch, and a lease that was lost

    async def _watch(self) -> None:
        """Show the heartbeat that the loop is moving, and cut attempts short that take too long.

        One look at all of them a few times a second: a timer for each would cost more than many a task.
        """
        while True:
            self._lease.pulse()
            now, rules = monotonic(), AttemptRules.of(self._store.settings)
            self._attempts.end_overdue(now, rules)
            self._note_wear(self._load.worn_out(now, rules))
            if self._load.suspects:
                self._signal.set()  # perhaps one of them may start now
            await asyncio.sleep(WATCH_SECONDS)

    def _note_wear(self, why: str | None) -> None:
        if why is None or self.worn_out is not None:
            return
        self.worn_out = why
        then = "stopping, to be restarted" if self._recycle else "restart it"
        log.error("this worker must be restarted: %s; %s", why, then)
        if self._recycle:
            self.stop()

    def _start_over(self, why: str) -> None:
        """The lease is gone: drop everything, write nothing, and start over as a new worker."""
        self.tally.lost += 1
        self._turns.outbox.clear()
        self._attempts.drop()
        if not self._stopping:
            log.warning("starting again as a new worker: %s", why)
            self._starting_over = self._loop.create_task(self._take_lease())

    async def _take_lease(self) -> None:
        while not self._stopping:
            try:
                return await self._lease.take()
            except DatabaseProblem as problem:
                await self._turns.wait_out(problem)
        return None

    # --- shutdown

    async def _finish(self) -> None:
        """Let what is in hand end within the grace, hand back the rest, flush, and sign off."""
        grace = float(self._store.settings["worker.grace"])
        self._attempts.return_suspects(STOPPED)
        await self._let_finish(grace, lambda running: running.cut_at is None)
        self._attempts.hand_back(STOPPED)
        await self._let_finish(FLUSH_SECONDS, lambda running: running.thread is None)
        self._attempts.settle_unfinished()
        await self._flush(monotonic() + grace + FLUSH_SECONDS)
        try:
            await self._lease.give_back()
        except DatabaseProblem as problem:
            log.warning("could not sign off; the lease will expire: %s", problem)

    async def _let_finish(self, seconds: float, wanted: Callable[[Running], bool]) -> None:
        """Settle what ends within this time, as it ends; those that are wanted are waited for."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            attempts = [running.attempt for running in self._load.running.values() if wanted(running)]
            if not attempts:
                return
            if self._turns.outbox:
                await self._turns.flush()
            else:
                await asyncio.wait(
                    attempts, timeout=min(left, WATCH_SECONDS), return_when=asyncio.FIRST_COMPLETED
                )
                await asyncio.sleep(LINGER_SECONDS)

    async def _flush(self, deadline: float) -> None:
        """Settle what is left, while the lease is ours and the database answers."""
        turns = self._turns
        while turns.outbox and self._lease.safe and monotonic() < deadline and not turns.outdated_in_trouble:
            await turns.flush()
        if turns.outbox:
            log.warning(
                "%d tasks could not be settled; they go back to waiting when the lease ends",
                len(turns.outbox),
            )


class Wake:
    """Wake-ups from elsewhere: a thread that listens, so that an idle worker starts at once. Only ever a
    hint; the poll is the floor.
    """

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
                log.debug("listening failed: %s", problem)
                self._stop.wait(self._poll)


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end: on uvloop where it is installed (`pip install 'thresher[speed]'`), else on
    the standard loop.
    """
    try:
        import uvloop  # noqa: PLC0415  an extra
    except ImportError:
        return asyncio.run(work)
    found: T = uvloop.run(work)
    return found
