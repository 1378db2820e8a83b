"""The interface to a model vendor: one call out, one reply back, every failure as one of our errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from thresher.core.answer import Usage
from thresher.core.errors import TaskError


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: what we said, or what the model did (`ours` False)."""

    text: str
    ours: bool = True


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Everything a vendor is told. `schema` is a JSON schema the answer must fit; `seconds` bounds the whole
    call.
    """

    model: str
    system: str
    turns: tuple[Message, ...]
    schema: Mapping[str, Any]
    most_output: int
    seconds: float

    @property
    def size(self) -> int:
        """The bytes of all that is sent. No tokeniser makes more tokens of a text than it has bytes."""
        return (
            len(self.system.encode())
            + sum(len(turn.text.encode()) for turn in self.turns)
            + len(str(self.schema).encode())
        )


class StopReason(StrEnum):
    """Why the model stopped."""

    DONE = "done"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ModelReply:
    """`text` is the answer as it came, meant to be JSON and not checked yet. `model` is who the vendor says
    has answered.
    """

    text: str
    usage: Usage
    model: str
    stop: StopReason = StopReason.DONE


class CallFailed(Exception):
    """A call that brought no reply. `problem` is what the worker's policy knows; `billed`: it may have cost
    something all the same.
    """

    def __init__(self, problem: TaskError, *, billed: bool) -> None:
        super().__init__(str(problem))
        self.problem, self.billed = problem, billed


class Provider(Protocol):
    """One vendor, or one server that speaks like one."""

    @property
    def name(self) -> str:
        """As the project file calls it."""
        ...

    async def complete(self, call: ModelCall) -> ModelReply:
        """One request, never repeated here: repeating costs money and is decided above. Raises
        `CallFailed`.
        """
        ...

    async def close(self) -> None: ...
