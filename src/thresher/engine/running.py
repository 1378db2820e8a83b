"""An attempt that a worker has in hand: until when it may take, and how it ends if it is cut short."""

import asyncio
from dataclasses import dataclass

from thresher.core.ids import TaskId
from thresher.core.settlement import Settlement
from thresher.core.task import Task


@dataclass(slots=True)
class Running:
    """One attempt. `ending` is how it ends if it is cut short."""

    task: Task
    attempt: asyncio.Task[None]
    deadline: float
    seconds: float
    ending: Settlement | None = None

    def cut_short(self, ending: Settlement | None) -> None:
        self.ending = ending
        # Not at once: one that is cancelled before its first step would end without a word.
        self.attempt.get_loop().call_soon(self.attempt.cancel)


def give_back(task_id: int, claim: int) -> Settlement:
    """The settlement of a claim whose answer never came: nothing but its number is known."""
    nobody = Task(TaskId(task_id), claim, "", "", {}, {}, None, TaskId(task_id), None, 0, 0, 0)
    return Settlement.hand_back(nobody, reason="the answer to its claim was lost on the way")
