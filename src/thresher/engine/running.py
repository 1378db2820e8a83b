"""An attempt that a worker has in hand: until when it may take, and how it ends if it is cut short."""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from thresher.core.clock import monotonic
from thresher.core.ids import TaskId
from thresher.core.settlement import Settlement
from thresher.core.task import Task


@dataclass(slots=True)
class Running:
    """One attempt. `ending` is how it ends if it is cut short; `thread` is the call of a stage that runs on
    one.
    """

    task: Task
    attempt: asyncio.Task[None]
    started: float
    seconds: float
    ending: Settlement | None = None
    cut_at: float | None = None
    thread: Future[Any] | None = None

    @property
    def deadline(self) -> float:
        return self.started + self.seconds

    def cut_short(self, ending: Settlement | None) -> None:
        self.ending, self.cut_at = ending, monotonic()
        # Not at once: one that is cancelled before its first step would end without a word.
        self.attempt.get_loop().call_soon(self.attempt.cancel)

    def is_over(self, now: float, patience: float) -> bool:
        """Whether it was cut short, and has not ended although it had time to."""
        return self.cut_at is not None and now - self.cut_at > patience

    def is_stuck(self, now: float, patience: float) -> bool:
        """The same of a stage on a thread, which nobody can stop. It keeps its slot: as long as it runs, it
        is at its source.
        """
        return self.thread is not None and self.is_over(now, patience)


def give_back(task_id: int, claim: int) -> Settlement:
    """The settlement of a claim whose answer never came: nothing but its number is known."""
    nobody = Task(TaskId(task_id), claim, "", "", {}, {}, None, TaskId(task_id), None, 0, 0, 0)
    return Settlement.hand_back(nobody, reason="the answer to its claim was lost on the way")
