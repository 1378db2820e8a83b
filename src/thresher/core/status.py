"""How a task stands, as a program sees it that asked for the work."""

from dataclasses import dataclass
from typing import Any

from thresher.core.ids import TaskId
from thresher.core.state import TERMINAL, State


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """One task as it stood a moment ago. `result` is what its last stage returned with `Done(result=...)`.

    `error` is the class of the last error and `reason` its words, or why a rule ended the task. Times are
    microseconds since 1970.
    """

    id: TaskId
    kind: str
    stage: str
    state: State
    result: Any
    error: str | None
    reason: str | None
    created_at: int
    finished_at: int | None

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self.state in TERMINAL

    @property
    def succeeded(self) -> bool:
        """Whether the task ended with `Done`."""
        return self.state is State.SUCCEEDED
