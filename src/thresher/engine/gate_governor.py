"""The governor of one attempt: takes its requests through the gates that all workers share.

The claim of the task has paid one token for each gate of its lane, so the first request through such a gate
only has to start; every other one reserves. A short wait is slept here. A long one would hold a worker for
nothing, so it becomes `NotYet` and the task returns to the queue. But what was already sent must not be sent
again because of a rate: after the first request even a Crawl-delay is waited for in place.
"""

import asyncio
import logging
import random
from dataclasses import dataclass

from thresher.core.clock import SECOND, as_text, monotonic, to_us
from thresher.core.errors import DatabaseProblem, NotYet, TaskError
from thresher.core.redaction import redact
from thresher.core.task import Task
from thresher.fetch.governor import Passage
from thresher.store import host_rules, permits
from thresher.store.permits import PROMPT_US, Go, Permit, PermitWait, is_hurried, note_answer
from thresher.store.store import Store

log = logging.getLogger("thresher.gates")

# How long a permit may live without its holder: what a request takes at most, and a margin.
MARGIN_US = 60 * SECOND
# A gate outside the lane is closed for days: somebody may open it sooner, and nobody would tell us.
MIN_AWAY, MAX_AWAY = 1.0, 3_600.0
MIN_SLEEP = 0.001
POLL = (0.02, 0.05, 0.1, 0.2, 0.5)
# How often a granted start may come too late to be used, because this machine was busy, before it is used all
# the same.
LATE_STARTS = 2


@dataclass(slots=True)
class Patience:
    """How long a request may wait at a gate, in seconds; `left` shrinks while it waits."""

    left: float
    tries: int = 0

    def asked_for(self, seconds: float | None) -> float | None:
        """What to sleep now; None where that is more than is left. Without a number, a little longer each
        time.
        """
        self.tries += 1
        seconds = POLL[min(self.tries, len(POLL)) - 1] if seconds is None else seconds
        if seconds > self.left:
            return None
        self.left -= seconds
        return seconds


class GateGovernor:
    """Brings the requests of one claim through."""

    def __init__(self, store: Store, task: Task) -> None:
        self._store, self._task = store, task
        self._unspent = set(task.lane)
        self._sent = False

    async def reserve(self, gate: str, *, preparing: bool = False) -> Passage:
        """Take what one request needs: of a gate of the lane the claim has paid for the first one."""
        passage = Passage(gate, preparing, paid=gate in self._unspent)
        if passage.paid:
            self._unspent.discard(gate)
            return passage
        patience = Patience(float(self._store.settings["fetch.patience"]))
        while True:
            found = await self._reserve(gate)
            if isinstance(found, Permit):
                passage.permit = found.id
                return passage
            await self._stand_by(found, patience, preparing)

    async def _reserve(self, gate: str) -> Permit | PermitWait:
        """Reserve without interruption: a slot taken for a cancelled request would be lost until
        the sweep.
        """
        claim = (self._task.id, self._task.claim)
        longest = max(self._store.settings.us("fetch.total"), self._store.settings.us("ai.timeout"))
        expires_us = longest + self._longest_wait_us() + MARGIN_US
        asking = asyncio.ensure_future(
            self._store.run(
                permits.reserve, self._store, (gate,), claim=claim, holder=None, expires_us=expires_us
            )
        )
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            asking.add_done_callback(self._return_unused)
            raise

    def _return_unused(self, asked: "asyncio.Future[Permit | PermitWait]") -> None:
        if (
            not asked.cancelled()
            and asked.exception() is None
            and isinstance(found := asked.result(), Permit)
        ):
            giving = asyncio.ensure_future(self._store.run(permits.release, self._store, found))
            giving.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # else the sweep gives it back

    def _longest_wait_us(self) -> int:
        return max(
            self._store.settings.us("fetch.patience"), self._store.settings.us("fetch.crawl_delay_cap")
        )

    async def start(self, passage: Passage) -> None:
        """The last look. A start that was granted and not used at once is asked for again where others count
        from it.
        """
        patience = Patience(float(self._store.settings["fetch.patience"]))
        late = 0
        while True:
            begun, found = await self._ask_to_start(passage.gate)
            if isinstance(found, PermitWait):
                await self._stand_by(found, patience, passage.preparing)
            elif (
                late >= LATE_STARTS
                or (monotonic() - begun) * SECOND <= PROMPT_US
                or not await self._is_hurried(passage, found)
            ):
                break
            else:
                late += 1
        passage.started_at, passage.paced = begun, found.paced
        self._sent = self._sent or not passage.preparing

    async def _is_hurried(self, passage: Passage, go: Go) -> bool:
        """Whether a start that comes late may come too close to the next one."""
        return go.paced and (not passage.paid or await self._store.run(is_hurried, self._store, passage.gate))

    async def _ask_to_start(self, gate: str) -> tuple[float, Go | PermitWait]:
        """The last look. Where a look costs less than the way to a database thread and back, and nothing is
        written, it is taken here.
        """
        begun, claim = monotonic(), (self._task.id, self._task.claim)
        found = permits.peek(self._store, (gate,), claim=claim) if self._store.backend.near else None
        return (begun, found) if found is not None else await self._store.run(self._start_at, gate, claim)

    def _start_at(self, gate: str, claim: tuple[int, int]) -> tuple[float, Go | PermitWait]:
        begun = monotonic()
        return begun, permits.start(self._store, (gate,), claim=claim)

    async def release(self, passage: Passage, problem: BaseException | None) -> None:
        """Give back what a request held, and the token of the claim if nothing was sent."""
        if isinstance(problem, TaskError):
            problem.near = problem.near or self._is_ours(problem.gate or passage.gate)
        if passage.paid and passage.started_at is None:
            self._unspent.add(passage.gate)
        slow = (
            passage.paced
            and passage.started_at is not None
            and (monotonic() - passage.started_at) * SECOND > PROMPT_US
        )
        if slow or passage.permit is not None:
            # Whoever is cancelled here still gives back what was taken.
            await asyncio.shield(self._store.run(self._give_back, passage, slow, healthy=problem is None))

    def _give_back(self, passage: Passage, slow: bool, *, healthy: bool) -> None:
        try:
            if slow:
                note_answer(self._store, passage.gate)
            if passage.permit is not None:
                permits.release(self._store, Permit(passage.permit, (passage.gate,)), healthy=healthy)
        except DatabaseProblem as problem:  # the answer is here and counts; what is not given back is swept
            log.warning("%s: %s", passage.gate, problem)

    async def _stand_by(self, wait: PermitWait, patience: Patience, preparing: bool) -> None:
        """Sleep until the gate may be open, or come back another time."""
        seconds = None if wait.until is None else await self._store.run(self._seconds_to, wait.until)
        if seconds is not None and self._must_not_turn_back(wait, seconds, preparing):
            await asyncio.sleep(seconds)
            return
        sleep = patience.asked_for(seconds)
        if sleep is None:
            raise self._not_yet(wait, seconds)
        await asyncio.sleep(sleep)

    def _seconds_to(self, until: int) -> float:
        """By the database's clock, whose date it is: this machine's may be another."""
        with self._store.read(autocommit=True) as session:
            return max(MIN_SLEEP, (until - self._store.backend.now(session)) / SECOND)

    def _must_not_turn_back(self, wait: PermitWait, seconds: float, preparing: bool) -> bool:
        """Its first request went out and its next only waits for the rate: to turn back would send the first
        one again, for ever.
        """
        near = seconds <= float(self._store.settings["fetch.crawl_delay_cap"]) + 1.0
        return wait.reason == "rate" and self._sent and not preparing and near

    def _not_yet(self, wait: PermitWait, seconds: float | None) -> NotYet:
        # Behind a gate of its lane the task waits without a clock; elsewhere it has to come and look.
        away = (
            random.uniform(1, 3) * MIN_AWAY
            if seconds is None or self._is_ours(wait.gate)
            else min(seconds, MAX_AWAY)
        )
        until = "" if wait.until is None else f" until {as_text(wait.until)}"
        return NotYet(
            f"{wait.gate} is closed{until} ({wait.reason}); the task is retried automatically",
            retry_after=away,
            gate=wait.gate,
        )

    def _is_ours(self, gate: str) -> bool:
        return gate in self._task.lane

    async def hold_back(self, gate: str, seconds: float, reason: str) -> float | None:
        """Send the task to wait at the gate of its own lane, where it is woken as soon as the gate opens."""
        try:
            await self._store.run(host_rules.hold_back, self._store, gate, to_us(seconds), redact(reason))
        except DatabaseProblem as problem:  # the settlement of this attempt will say it
            log.warning("%s: %s", gate, problem)
            return None
        return MIN_AWAY if self._is_ours(gate) else seconds

    async def slow_down(self, gate: str, seconds: float) -> None:
        await self._store.run(host_rules.slow_down, self._store, gate, to_us(seconds))

    async def waiver(self, gate: str) -> str | None:
        found = await self._store.run(host_rules.robots_waiver, self._store, (gate, *self._task.lane))
        return None if found is None else f"since {as_text(found[0])}: {found[1]}"
