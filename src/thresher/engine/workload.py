"""What a worker has in hand: attempts under way, suspects that wait to run alone, and attempts that would not
end.

A task that lost its worker before is a suspect: it may be what killed it. With others in hand at its next
crash nobody could tell which of them it was, and each would count one. So a suspect waits, claimed, until the
others have ended; meanwhile nothing new is claimed. It starts alone. When it has run for
`worker.suspect_alone` without harm, the next suspect may start beside it, so that the many innocent suspects
that a lost machine leaves behind still flow; but one that would be quarantined by another crash is alone to
its end. A worker that is lost counts only against suspects that had begun.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from thresher.config.settings import Settings
from thresher.core.task import Task
from thresher.engine.running import Running

# A worker keeps this many suspects, and asks for no more at once while it meets some: others may have them.
MAX_SUSPECTS = 10
# More than this many stages that ignored their cancellation, and the process is started afresh.
MAX_ABANDONED = 10

Claim = tuple[int, int]


@dataclass(slots=True)
class Workload:
    """The attempts of one worker, by claim."""

    running: dict[Claim, Running] = field(default_factory=dict)
    suspects: deque[Task] = field(default_factory=deque)
    # Attempts whose claim was settled or lost while they still ran, and since when they should have ended.
    abandoned: dict[Any, float] = field(default_factory=dict)
    # The last claim brought suspects: the next one may do so again.
    met_suspects: bool = False

    @property
    def claims(self) -> set[Claim]:
        return {*self.running, *((task.id, task.claim) for task in self.suspects)}

    @property
    def has_suspects(self) -> bool:
        return bool(self.suspects) or any(running.task.crashes for running in self.running.values())

    def is_busy(self, now: float, patience: float) -> bool:
        """Whether anything is in hand that can still end by itself. What runs on a thread long after it was
        cut short cannot.
        """
        return bool(self.suspects) or any(
            not running.is_stuck(now, patience) for running in self.running.values()
        )

    def room(self, most: int, batch: int) -> int:
        """How many tasks may be asked for, if `most` may be in hand and `batch` come at once."""
        if self.has_suspects:
            return 0
        if self.met_suspects:
            batch = min(batch, MAX_SUSPECTS)
        return max(0, min(batch, most - len(self.running)))

    def sort(self, tasks: list[Task]) -> tuple[list[Task], list[Task]]:
        """Of tasks just claimed: those to start at once, and those to hand back. Suspects are kept here,
        until there are enough.
        """
        fresh = [task for task in tasks if not task.crashes]
        suspects = [task for task in tasks if task.crashes]
        if tasks:
            self.met_suspects = bool(suspects)
        free = max(0, MAX_SUSPECTS - len(self.suspects))
        self.suspects.extend(suspects[:free])
        return fresh, suspects[free:]

    def next_suspect(self, now: float, rules: "Rules") -> Task | None:
        """The suspect that may start now. It is kept here until it does."""
        if not self.suspects:
            return None
        beside = [
            running for running in self.running.values() if not running.is_stuck(now, rules.cancel_grace)
        ]
        if beside and (
            rules.is_last_chance(self.suspects[0])
            or not all(rules.bears_company(running, now) for running in beside)
        ):
            return None
        return self.suspects[0]

    def drop_suspect(self, claim: Claim) -> Task | None:
        """Take out a suspect that has not started."""
        found = next((task for task in self.suspects if (task.id, task.claim) == claim), None)
        if found:
            self.suspects.remove(found)
        return found

    def abandon(self, running: Running, since: float) -> None:
        """It is settled, or no longer ours. It may run on, and nothing that it brings is written."""
        handle = running.thread or running.attempt
        self.abandoned[handle] = since
        handle.add_done_callback(lambda done: self.abandoned.pop(done, None))

    def worn_out(self, now: float, rules: "Rules") -> str | None:
        """Why this process should be started afresh, if it should: too much runs on that nobody can end."""
        alive = sum(since + rules.cancel_grace < now for since in list(self.abandoned.values()))
        if alive > MAX_ABANDONED:
            return f"{alive} stages still run although they were cancelled"
        stuck = next(
            (running for running in self.running.values() if running.is_stuck(now, rules.stall)), None
        )
        if stuck:
            what = f"stage {stuck.task.stage!r} of task {stuck.task.id}"
            return f"{what} still runs on its thread {rules.stall:g} seconds after it was cancelled"
        return None


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that decide here."""

    suspect_alone: float
    cancel_grace: float
    stall: float
    max_crashes: int

    @classmethod
    def of(cls, settings: Settings) -> "Rules":
        alone, grace, stall = (
            float(settings[f"worker.{name}"]) for name in ("suspect_alone", "cancel_grace", "stall")
        )
        return cls(alone, grace, stall, settings.count("retry.max_crashes"))

    def is_last_chance(self, task: Task) -> bool:
        """Whether another crash would quarantine it."""
        return task.crashes + 1 >= self.max_crashes

    def bears_company(self, running: Running, now: float) -> bool:
        """Whether a suspect may start beside this attempt."""
        suspect = running.task.crashes > 0 and not self.is_last_chance(running.task)
        return suspect and now - running.started > self.suspect_alone
