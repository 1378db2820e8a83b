"""The interface an asking needs: money before each call, the provider's gate, and stored answers.

The engine implements it on the store (`engine/model_budget.py`). A model can also be asked without a
database.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from thresher.core.answer import ModelAnswer, Usage


@dataclass(frozen=True, slots=True)
class CallQuote:
    """One call that is about to be made. `most` is what it can cost at worst, in millionths of a dollar.

    `question` is the key under which its answer would be kept.
    """

    gate: str
    provider: str
    model: str
    prompt: str
    question: str
    most: int


class Bill(Protocol):
    """The reservation of one call. Without a word about it, the worst is taken to have been spent."""

    def pay(self, cost: int, usage: Usage) -> None:
        """What the call cost, as the provider counted. 0 where it was turned away before anybody thought."""
        ...


class ModelBudget(Protocol):
    """Where answers are kept and money is given out."""

    async def recall(self, question: str) -> ModelAnswer | None:
        """The answer to this very question, if it was ever paid for."""
        ...

    def call(self, quote: CallQuote) -> AbstractAsyncContextManager[Bill]:
        """The right to make one call, for as long as the block lasts: the gate passed, the money reserved,
        and settled at the end.

        Raises `BudgetExhausted` before anything is spent, and `NotYet` where the gate stays closed or
        somebody else is asking this very question.
        """
        ...

    async def keep(self, question: str, answer: ModelAnswer) -> None:
        """Remember an answer for whoever asks the same again."""
        ...
