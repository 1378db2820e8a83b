"""The turns of a worker: settle and claim in one transaction, recover from trouble with the database, and
reconcile.

Settlements are gathered while a turn is under way and go out with the next one. A turn that failed may have
been committed all the same, and its answer lost. So after any trouble `Reconciliation` compares what the
database says the worker holds with what it runs.
"""

import asyncio
import logging
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from thresher.core.clock import SECOND, monotonic
from thresher.core.decide import error_of
from thresher.core.errors import DatabaseProblem, NewerSchema, ThresherError, UsageError
from thresher.core.limits import MAX_SETTLEMENT_BYTES
from thresher.core.log_context import log_context
from thresher.core.settlement import Settlement
from thresher.core.spans import Spans
from thresher.core.task import Task, TaskId
from thresher.core.trace import trace
from thresher.engine.attempts import Workload
from thresher.engine.lease import Lease
from thresher.engine.spans import tell_turn
from thresher.store import workers
from thresher.store.backend import Turn
from thresher.store.repair import check_schema
from thresher.store.store import Store

log = logging.getLogger("thresher.worker")

TROUBLE_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
# After an empty turn that promised more (another claimer holds a lane or a gate).
NUDGE_SECONDS = 0.003
MIN_SECONDS = 0.0005

Outgoing = list[tuple[Task, Settlement]]


@dataclass(slots=True)
class WorkerTally:
    """What a worker has done so far."""

    claimed: int = 0
    stale: int = 0
    lost: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def settled(self) -> int:
        return sum(self.endings.values())


class Turns:
    """The way of one worker to the database."""

    def __init__(
        self, store: Store, load: Workload, tally: WorkerTally, lease: Lease, spans: Spans | None = None
    ) -> None:
        self._store, self._tally, self._lease, self._spans = store, tally, lease, spans
        self._reconciliation = Reconciliation(store, load, lease)
        self.told: Callable[[Task, Settlement], None] | None = None  # of every settlement that was committed
        self.outbox: Outgoing = []
        self.under_way = self._troubles = 0
        self.outdated: NewerSchema | None = None
        self._leave: Callable[[], None] = lambda: None

    def put(self, task: Task, settlement: Settlement) -> None:
        """To be settled with the next turn."""
        self.outbox.append((task, settlement))

    def take_outgoing(self) -> Outgoing:
        """Everything that is to be settled, for one turn; as much of it as one message may hold."""
        outgoing, size = 0, 0
        for _, settlement in self.outbox:
            size += settlement.size
            if size > MAX_SETTLEMENT_BYTES and outgoing:
                break
            outgoing += 1
        taken, self.outbox = self.outbox[:outgoing], self.outbox[outgoing:]
        return taken

    async def flush(self) -> None:
        """Settle what is to be settled, and claim nothing."""
        await self.take(self.take_outgoing(), 0)

    async def take(self, outgoing: Outgoing, room: int) -> Turn | None:
        """Settle and claim. None when it did not work out; then nothing is lost and the next turn tries
        again.
        """
        lease, reconciliation = self._lease, self._reconciliation
        # Comparing what we hold with what the database says needs everybody else's turn to be over.
        if not lease.safe or reconciliation.under_way or (reconciliation.needed and self.under_way):
            self.outbox = [*outgoing, *self.outbox]
            await asyncio.sleep(NUDGE_SECONDS)
            return None
        worker_id = lease.worker_id
        self.under_way += 1
        began = monotonic()
        try:
            if reconciliation.needed:
                await reconciliation.run(lambda: (*outgoing, *self.outbox))
            turn = await self._store.take_turn(
                [settlement for _, settlement in outgoing], room, worker_id, lease.scopes
            )
        except DatabaseProblem as problem:
            if worker_id == lease.worker_id and not lease.lost:
                self.outbox = [*outgoing, *self.outbox]
            await self.wait_out(problem)
            return None
        except Exception as problem:  # noqa: BLE001  one settlement cannot be written; it must not take the others along
            # A mistake of an app is told once, with its task.
            level = logging.DEBUG if isinstance(problem, UsageError) else logging.WARNING
            log.log(level, "a group of settlements failed (%s); settling one by one", problem)
            await self._settle_singly(outgoing)
            await self.wait_out(problem, level)
            return None
        finally:
            self.under_way -= 1
        # Else another pump has what could not be written, and this turn wrote nothing.
        if outgoing or not self.outbox:
            self._troubles = 0
        self._count(outgoing, turn.stale)
        if self._spans is not None:
            tell_turn(self._spans, monotonic() - began, len(outgoing), len(turn.tasks))
        if worker_id != lease.worker_id or not lease.safe:
            return None  # the lease went while the answer was on its way: these tasks are no longer ours
        return turn

    def _count(self, outgoing: Outgoing, stale: list[Settlement]) -> None:
        self._tally.stale += len(stale)
        refused = {(each.task_id, each.claim) for each in stale}
        for task, settlement in outgoing:
            if (settlement.task_id, settlement.claim) not in refused:
                self._tally.endings[settlement.ending] += 1
                if self.told is not None:
                    self.told(task, settlement)

    async def _settle_singly(self, outgoing: Outgoing) -> None:
        for task, settlement in outgoing:
            try:
                await self._settle_one(task, settlement)
            except DatabaseProblem:
                self.outbox.append((task, settlement))

    async def _settle_one(self, task: Task, settlement: Settlement) -> None:
        try:
            stale = await self._store.run(self._store.settle, [settlement])
        except DatabaseProblem:
            raise
        except Exception as problem:  # what this attempt brought cannot be stored: that is its failure
            error = error_of(problem, "" if isinstance(problem, ThresherError) else trace(problem))
            traced = None if isinstance(problem, UsageError) else problem
            said = "task %s (%s) returned something that cannot be stored: %s"
            with log_context(task_id=task.id, tracking_id=task.tracking_id, kind=task.kind, stage=task.stage):
                log.log(logging.ERROR, said, task.id, task.kind, error.message, exc_info=traced)
            settlement = Settlement.fail(task, error=error, words_due=True)
            stale = await self._store.run(self._store.settle, [settlement])
        self._count([(task, settlement)], stale)

    # --- trouble

    async def wait_out(self, problem: Exception, level: int = logging.WARNING) -> None:
        """Wait longer with every trouble since the last turn that worked: a database that can be read may
        still refuse to be written.
        """
        wait = TROUBLE_SECONDS[min(self._troubles, len(TROUBLE_SECONDS) - 1)]
        self._troubles += 1
        self._reconciliation.ask_for()
        await self._check_schema()
        if self.outdated:
            return
        log.log(level, "%s; trying again in %.1f seconds", problem, wait)
        await asyncio.sleep(wait * random.uniform(0.8, 1.2))

    async def watch_schema(self, leave: Callable[[], None]) -> None:
        """Leave when a newer version has migrated the database: it may not mean by its tables what this code
        does.
        """
        self._leave = leave
        while True:
            await asyncio.sleep(float(self._store.settings["settings.every"]))
            await self._check_schema()

    async def _check_schema(self) -> None:
        try:
            await self._store.run(check_schema, self._store)
        except NewerSchema as problem:
            if self.outdated is None:
                log.warning("%s This worker hands back its tasks and stops.", problem)
                self.outdated = problem
                self._leave()
        except DatabaseProblem:
            pass  # away: whoever needs it says so

    @property
    def outdated_in_trouble(self) -> bool:
        """Whether nothing can be settled any more: the tables no longer fit this code."""
        return self.outdated is not None and self._troubles > 0


class Reconciliation:
    """Gives back claims that the database thinks a worker holds, and whose answer never reached it."""

    def __init__(self, store: Store, load: Workload, lease: Lease) -> None:
        self._store, self._load, self._lease = store, load, lease
        self.under_way = False
        self._asked_for = False
        self._again_at = math.inf

    @property
    def needed(self) -> bool:
        return self._asked_for or monotonic() > self._again_at

    def ask_for(self) -> None:
        """A turn has failed: it may have been committed all the same."""
        self._asked_for = True

    async def run(self, unsettled: Callable[[], Iterable[tuple[Task, Settlement]]]) -> None:
        """Compare and give back. `unsettled` are claims that we still have to settle: asked for when the
        database has answered, because attempts end meanwhile.
        """
        self.under_way = True
        try:
            held = await self._store.run(workers.held, self._store, self._lease.worker_id)
            ours = {*self._load.claims, *((task.id, task.claim) for task, _ in unsettled())}
            unknown = [(task_id, claim) for task_id, claim in held.items() if (task_id, claim) not in ours]
            if unknown:
                back = [_hand_back(task_id, claim) for task_id, claim in unknown]
                await self._store.run(self._store.settle, back)
                log.warning("%d claims whose response was lost went back to waiting", len(unknown))
            # Once more a lease later: what was lost on the way may still have been on its way when we looked.
            lease = float(self._store.settings["worker.lease"])
            self._again_at = monotonic() + lease if self._asked_for else math.inf
            self._asked_for = False
        finally:
            self.under_way = False


def _hand_back(task_id: int, claim: int) -> Settlement:
    """The settlement of a claim whose answer never came: nothing but its number is known."""
    nobody = Task(TaskId(task_id), claim, "", "", {}, {}, None, TaskId(task_id), None, 0, 0, 0)
    return Settlement.hand_back(nobody, reason="the response to its claim was lost")


def seconds_to_wait(turn: Turn | None, poll: float) -> float:
    """How long a worker with nothing to do sleeps: until the next timer or delayed task by the database's
    clock, and never longer than the poll. A wake-up may be lost, a poll is not.
    """
    if turn is None:
        return poll
    if turn.more:
        return NUDGE_SECONDS * random.uniform(0.5, 1.5)
    if turn.next_at is None:
        return poll
    return min(poll, max(MIN_SECONDS, (turn.next_at - turn.now) / SECOND))
