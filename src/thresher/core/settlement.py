"""The one way an attempt becomes fact: a settlement, with one constructor per legal change.

A settlement names the claim it answers. The store applies it whole or not at all, behind that fence.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypedDict, Unpack

from thresher.core.event import CheckedEvent
from thresher.core.group import GroupEntry, Stop
from thresher.core.lineage import Refusal
from thresher.core.outcome import CheckedEffect
from thresher.core.record import Filing
from thresher.core.task import Entry, State, Task, TaskId


class Ending(StrEnum):
    """How one attempt ended, as its history row says."""

    DONE = "done"
    NEXT = "next"
    FILTERED = "filtered"
    SKIPPED = "skipped"
    SNOOZED = "snoozed"
    RETRY = "retry"
    FAILED = "failed"
    CANCELLED = "cancelled"
    HANDED_BACK = "handed_back"
    CRASHED = "crashed"


# How the attempt ended that a task ended by: the task's own row tells of it, so it needs none in the history.
TOLD = {
    State.SUCCEEDED: Ending.DONE,
    State.FILTERED: Ending.FILTERED,
    State.SKIPPED: Ending.SKIPPED,
    State.FAILED: Ending.FAILED,
}


class Health(StrEnum):
    """What an attempt says about a gate. Only a failure names one: a success is good news for all."""

    FAILURE = "failure"
    PAUSE = "pause"
    DISABLE = "disable"


@dataclass(frozen=True, slots=True)
class Blame:
    """Bad news about one gate. `gate` None means the first gate of the lane; `tag` says why in one word."""

    health: Health
    reason: str
    gate: str | None = None
    delay_us: int = 0
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """What went wrong, as stored in the history. `where` are the lines that lead to it in the app's code."""

    name: str
    message: str
    where: str = ""

    @property
    def told(self) -> str:
        """The message with its place, as people read it."""
        return self.message + self.where


class Brought(TypedDict, total=False):
    """What an attempt returned, checked. `refused` are children that cannot be tasks, and why."""

    children: tuple[Entry, ...]
    refused: tuple[tuple[Entry, Refusal], ...]
    records: tuple[Filing, ...]
    effects: tuple[CheckedEffect, ...]
    events: tuple[CheckedEvent, ...]
    group: GroupEntry | None
    counts: tuple[tuple[str, int], ...]
    stop: Stop | None


class Settlement(NamedTuple):
    """One attempt's result. Build it with a class method; the fields are for the store to read.

    Made for every attempt, and as a named tuple at a third of a frozen dataclass's price.
    """

    task_id: TaskId
    claim: int
    at_stage: str
    ending: Ending
    state: State
    delay_us: int = 0
    stage: str | None = None
    gates: tuple[str, ...] | None = None
    checkpoint: str | None = None
    reason: str | None = None
    error: Error | None = None
    healthy: bool = False
    spends_failure: bool = False
    crashed: bool = False
    words_due: bool = False  # a worker that knows the kind still has to say what its app wants written down
    children: tuple[Entry, ...] = ()
    records: tuple[Filing, ...] = ()
    effects: tuple[CheckedEffect, ...] = ()
    blame: Blame | None = None
    group: GroupEntry | None = None
    counts: tuple[tuple[str, int], ...] = ()
    stop: Stop | None = None
    result: str | None = None
    refused: tuple[tuple[Entry, Refusal], ...] = ()
    kind: str | None = None
    events: tuple[CheckedEvent, ...] = ()

    @property
    def place(self) -> tuple[str, str, tuple[str, ...]] | None:
        """Return the key of the next stage's lane; None if it stays in its lane or ends."""
        return None if self.gates is None else (self.kind or "", self.stage or self.at_stage, self.gates)

    @property
    def is_plain(self) -> bool:
        """Tell whether it changes only the task and its gates' counters: the path that must be fast."""
        brings = (
            self.children
            or self.records
            or self.effects
            or self.events
            or self.refused
            or self.group
            or self.counts
            or self.stop
            or self.result is not None
        )
        return not (brings or self.words_due) and self.blame is None and self.gates is None

    @property
    def size(self) -> int:
        """Return its approximate size in bytes."""
        if not (self.children or self.records or self.events or self.group or self.checkpoint or self.result):
            return 0  # as most of them do
        born = (*self.children, *((self.group.then,) if self.group and self.group.then else ()))
        return (
            sum(len(each.payload) + len(each.url or "") + len(each.key or "") for each in born)
            + sum(each.size for each in self.records)
            + sum(len(each.detail) for each in self.events)
            + len(self.checkpoint or "")
            + len(self.result or "")
        )

    @property
    def is_told(self) -> bool:
        """Tell whether the task's own row will describe this attempt."""
        return TOLD.get(self.state) is self.ending

    @classmethod
    def done(
        cls, task: Task, *, note: str | None = None, result: str | None = None, **brought: Unpack[Brought]
    ) -> "Settlement":
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.DONE,
            State.SUCCEEDED,
            reason=note,
            healthy=True,
            result=result,
            **brought,
        )

    @classmethod
    def advance(
        cls, task: Task, *, stage: str, gates: tuple[str, ...], checkpoint: str, **brought: Unpack[Brought]
    ) -> "Settlement":
        """Continue with the next stage, which may have other gates."""
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.NEXT,
            State.PENDING,
            stage=stage,
            gates=gates,
            checkpoint=checkpoint,
            healthy=True,
            kind=task.kind,
            **brought,
        )

    @classmethod
    def filtered(cls, task: Task, *, reason: str, **brought: Unpack[Brought]) -> "Settlement":
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.FILTERED,
            State.FILTERED,
            reason=reason,
            healthy=True,
            **brought,
        )

    @classmethod
    def skipped(cls, task: Task, *, reason: str, **brought: Unpack[Brought]) -> "Settlement":
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.SKIPPED,
            State.SKIPPED,
            reason=reason,
            healthy=True,
            **brought,
        )

    @classmethod
    def snooze(
        cls, task: Task, *, delay_us: int, reason: str, error: Error | None = None, blame: Blame | None = None
    ) -> "Settlement":
        """Wait without spending a retry."""
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.SNOOZED,
            State.PENDING,
            delay_us=delay_us,
            reason=reason,
            error=error,
            blame=blame,
        )

    @classmethod
    def misplaced(cls, task: Task, *, reason: str) -> "Settlement":
        """Return a task to the lane of its own scope without spending a retry."""
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.SNOOZED,
            State.PENDING,
            stage=task.stage,
            gates=task.lane,
            reason=reason,
            kind=task.kind,
        )

    @classmethod
    def retry(cls, task: Task, *, delay_us: int, error: Error, blame: Blame | None = None) -> "Settlement":
        """Wait, and spend a retry."""
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.RETRY,
            State.RETRYABLE,
            delay_us=delay_us,
            error=error,
            spends_failure=True,
            blame=blame,
        )

    @classmethod
    def fail(
        cls,
        task: Task,
        *,
        error: Error,
        spends_failure: bool = True,
        blame: Blame | None = None,
        words_due: bool = False,
        **brought: Unpack[Brought],
    ) -> "Settlement":
        return cls(
            task.id,
            task.claim,
            task.stage,
            Ending.FAILED,
            State.FAILED,
            reason=error.told,
            error=error,
            spends_failure=spends_failure,
            blame=blame,
            words_due=words_due,
            **brought,
        )

    @classmethod
    def cancelled(cls, task: Task, *, reason: str) -> "Settlement":
        return cls(task.id, task.claim, task.stage, Ending.CANCELLED, State.CANCELLED, reason=reason)

    @classmethod
    def hand_back(cls, task: Task, *, reason: str) -> "Settlement":
        """Return the task to waiting because the worker stops, without spending a retry."""
        return cls(task.id, task.claim, task.stage, Ending.HANDED_BACK, State.PENDING, reason=reason)

    @classmethod
    def crash(
        cls,
        task_id: TaskId,
        claim: int,
        at_stage: str,
        *,
        crashes: int,
        max_crashes: int,
        lost: str,
        spread_us: int,
        begun: bool = True,
    ) -> "Settlement":
        """Return a task whose worker vanished to waiting, or quarantine it if that happened too often.

        The first time it may start again at once, because most workers die for other reasons. After that each
        task waits for its own time (`spread_us`), so that a task that kills its worker does not take the same
        neighbours down again.
        """
        if not begun:  # it still waited to run alone, and has done nothing
            reason = f"its worker {lost} vanished before the task had begun"
            return cls(task_id, claim, at_stage, Ending.HANDED_BACK, State.PENDING, reason=reason)
        reason = f"its worker {lost} vanished"
        if crashes + 1 < max_crashes:
            return cls(
                task_id,
                claim,
                at_stage,
                Ending.CRASHED,
                State.PENDING,
                crashes * spread_us,
                reason=reason,
                crashed=True,
            )
        error = Error(
            "Quarantined",
            f"{reason}; that was crash {crashes + 1} of this task. Find the cause, then retry it: "
            "thresher tasks retry",
        )
        return cls(
            task_id,
            claim,
            at_stage,
            Ending.CRASHED,
            State.FAILED,
            reason=error.message,
            error=error,
            crashed=True,
            words_due=True,
        )
