"""The model budget of one attempt, on the store: no call without money and an open gate, no question paid for
twice.

The order keeps the budgets. First the provider's gate, where waiting is free; then the money, reserved at the
worst price; then the last check, and only then the call. Whatever happens is settled on exit: what the
provider counted if it said so, nothing if nothing was sent, and otherwise the worst price.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from thresher.ai.model_budget import Bill, CallQuote
from thresher.core.answer import DOLLAR, ModelAnswer, Usage
from thresher.core.clock import SECOND
from thresher.core.errors import BudgetExhausted, NotYet
from thresher.core.spans import Spans
from thresher.core.task import Task
from thresher.engine.gate_governor import MARGIN_US, GateGovernor
from thresher.engine.spans import model_span
from thresher.fetch.governor import passing
from thresher.store import answers, ledger
from thresher.store.ledger import Caps, Hold, QuestionTaken, Short
from thresher.store.store import Store

# A budget of an app or of a run closes no gate, so nothing wakes those who wait for it: they check again at
# this interval, in seconds.
LOOK_AGAIN = 900.0
MIN_AWAY = 1.0


class _Bill:
    """The cost of one call; None if it was never reported."""

    def __init__(self) -> None:
        self.sent = False
        self.cost: int | None = None
        self.usage = Usage()

    def pay(self, cost: int, usage: Usage) -> None:
        self.cost, self.usage = cost, usage

    def due(self, most: int) -> int:
        if self.cost is not None:
            return self.cost
        return most if self.sent else 0


class StoreModelBudget:
    """Gives out what all workers share. `app` is on whose account the task spends; `budget` are the dollars
    that the stage allows its lineage; `about` is what the task is about, for the books.
    """

    def __init__(
        self,
        store: Store,
        task: Task,
        app: str,
        governor: GateGovernor,
        budget: float | None = None,
        about: str | None = None,
        spans: Spans | None = None,
    ) -> None:
        self._store, self._task, self._app, self._governor = store, task, app, governor
        self._budget, self._about, self._spans = budget, about, spans
        self._prompts: dict[str, str] = {}

    async def recall(self, question: str) -> ModelAnswer | None:
        return await self._store.run(
            answers.recall, self._store, question, app=self._app, run=self._task.tracking_id
        )

    async def keep(self, question: str, answer: ModelAnswer) -> None:
        await self._store.run(answers.keep, self._store, question, self._prompts.get(question, ""), answer)

    @asynccontextmanager
    async def call(self, quote: CallQuote) -> AsyncIterator[Bill]:
        self._prompts[quote.question] = quote.prompt
        async with passing(self._governor, quote.gate) as start:
            hold, bill = await self._reserve(quote), _Bill()
            try:
                await start()
                bill.sent = True
                with model_span(self._spans, quote.provider, quote.model, quote.prompt) as paid:
                    try:
                        yield bill
                    finally:
                        paid(bill.cost, bill.usage)
            finally:
                # Whoever is cancelled here has still spent it.
                settling = self._store.run(ledger.settle, self._store, hold, bill.due(quote.most), bill.usage)
                await asyncio.shield(settling)

    async def _reserve(self, quote: CallQuote) -> Hold:
        settings = self._store.settings
        found = await self._store.run(
            ledger.reserve,
            self._store,
            claim=(self._task.id, self._task.claim),
            kind=self._task.kind,
            subject=self._about,
            app=self._app,
            provider=quote.provider,
            model=quote.model,
            prompt=quote.prompt,
            question=quote.question,
            most=quote.most,
            caps=Caps.in_force(settings, self._budget),
            expires_us=settings.us("ai.timeout") + MARGIN_US,
        )
        match found:
            case Hold():
                return found
            case Short(passing=True):
                raise NotYet(f"the rest of {_cap(found)} is reserved by running calls", retry_after=MIN_AWAY)
            case Short():
                raise await self._store.run(self._out_of_money, found, quote.gate)
            case QuestionTaken(until):
                away = await self._store.run(self._seconds_to, until)
                raise NotYet(
                    "another task is asking the same question; its answer is shared",
                    retry_after=min(away, 5.0),
                )

    def _out_of_money(self, short: Short, gate: str) -> BudgetExhausted:
        """The cap of the day closes the provider's gate until midnight; any other cap concerns this app or
        run alone.
        """
        says = (
            f"a call may cost ${short.most / DOLLAR:.4f}, but "
            f"${(short.spent + short.reserved) / DOLLAR:.4f} of the ${short.cap / DOLLAR:.2f} of "
            f"{_cap(short)} are spent or reserved; {_advice(short)}"
        )
        until_reset = LOOK_AGAIN if short.resets_at is None else self._seconds_to(short.resets_at)
        if _kind(short) == "day":
            problem = BudgetExhausted(says, retry_after=until_reset, gate=gate)
        else:
            problem = BudgetExhausted(says)
            problem.away = min(until_reset, LOOK_AGAIN)
        problem.scope, problem.own = _kind(short), short.own
        return problem

    def _seconds_to(self, until: int) -> float:
        """By the database's clock, whose date it is."""
        with self._store.read(autocommit=True) as session:
            return max(MIN_AWAY, (until - self._store.backend.now(session)) / SECOND)


def _kind(short: Short) -> str:
    return short.scope.partition(":")[0]


def _cap(short: Short) -> str:
    """Whose cap it is: a setting, or what the stage said."""
    return "this run's own budget" if short.own else f"budget.{_kind(short)}"


def _advice(short: Short) -> str:
    if short.own:
        return "its app set that limit, and can raise it"
    return f"to raise it: thresher config set {_cap(short)} DOLLARS"
