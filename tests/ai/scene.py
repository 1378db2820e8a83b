"""A scene for asking: a desk in memory, a model that says what it was told to say, and an advisor between
them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from thresher.ai.ask import Advisor
from thresher.ai.model_budget import CallQuote
from thresher.ai.prices import Prices
from thresher.ai.prompt import Library
from thresher.ai.provider import CallFailed, ModelCall, ModelReply, StopReason
from thresher.config.models import Models, Rate, Thinker, Tier
from thresher.config.settings import Settings
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.errors import TaskError
from thresher.core.evidence import Material
from thresher.core.schema import Field, Kind, Schema

TABLE = Schema(
    "table",
    (
        Field("title", says="its name", required=True),
        Field("price", Kind.MONEY, "what it costs now"),
        Field("wood"),
    ),
)
TABLES = replace(TABLE, name="tables", many=True, key=("title",))
OPINION = Schema(
    "opinion", (Field("role", says="which role it is", choices=("cook", "driver"), judged=True),)
)

Script = Callable[[ModelCall], object]  # a text, a value to be written as JSON, a reply, or an error


@dataclass
class Bill:
    reserved: int
    paid: int | None = None
    usage: Usage = field(default_factory=Usage)

    def pay(self, cost: int, usage: Usage) -> None:
        self.paid, self.usage = cost, usage


@dataclass
class Drawer:
    """A desk without a house: answers in a dictionary, money without end unless `refuses` says otherwise."""

    answers: dict[str, ModelAnswer] = field(default_factory=dict)
    quotes: list[CallQuote] = field(default_factory=list)
    bills: list[Bill] = field(default_factory=list)
    refuses: dict[int, TaskError] = field(default_factory=dict)
    before: Callable[["Drawer", CallQuote], None] = lambda drawer, quote: None

    async def recall(self, question: str) -> ModelAnswer | None:
        return self.answers.get(question)

    @asynccontextmanager
    async def call(self, quote: CallQuote) -> AsyncIterator[Bill]:
        if (problem := self.refuses.get(len(self.quotes))) is not None:
            raise problem
        self.before(self, quote)
        self.quotes.append(quote)
        self.bills.append(Bill(quote.most))
        yield self.bills[-1]

    async def keep(self, question: str, answer: ModelAnswer) -> None:
        self.answers[question] = answer

    @property
    def spent(self) -> int:
        return sum(bill.reserved if bill.paid is None else bill.paid for bill in self.bills)


@dataclass
class Speaker:
    """A model that follows a script: a list of things to say in turn, or a function of what it was told."""

    script: Sequence[Any] | Script
    name: str = "practice"
    calls: list[ModelCall] = field(default_factory=list)

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        said = self.script(call) if callable(self.script) else self.script[len(self.calls) - 1]
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ModelReply):
            return said
        text = said if isinstance(said, str) else json.dumps(said)
        return ModelReply(text, Usage(1, call.size // 4, len(text) // 4 + 1), call.model)

    async def close(self) -> None: ...


def cut(text: str) -> ModelReply:
    return ModelReply(text, Usage(1, 10, 10), "small", StopReason.LENGTH)


def refusal() -> ModelReply:
    return ModelReply("I can't help with that.", Usage(1, 10, 10), "small", StopReason.REFUSED)


def failed(problem: TaskError, *, billed: bool) -> CallFailed:
    return CallFailed(problem, billed=billed)


@dataclass
class Scene:
    """Everything on the table, to be looked at after the asking."""

    speaker: Speaker
    budget: Drawer
    advisor: Advisor

    def ask(
        self, schema: Schema = TABLE, page: Material | str | None = None, task: str = "extract", **more: Any
    ) -> ModelAnswer:
        inputs: dict[str, Any] = more.pop("inputs", {})
        if page is not None:
            inputs = {**inputs, "page": Material(page) if isinstance(page, str) else page}
        return asyncio.run(self.advisor.ask(task, schema, inputs, self.budget, **more))

    @property
    def calls(self) -> int:
        return len(self.speaker.calls)


def models(cheap: str = "small", strong: str = "large") -> Models:
    rates = {"practice/small": Rate(Decimal(1), Decimal(4)), "practice/large": Rate(Decimal(20), Decimal(80))}
    provider = Thinker("practice", "openai", base_url="http://127.0.0.1:1/v1")
    return Models(
        {"practice": provider}, {"cheap": Tier("practice", cheap), "strong": Tier("practice", strong)}, rates
    )


def scene(
    script: Sequence[Any] | Script,
    *,
    settings: Mapping[str, Any] = {},
    prompts: Path | None = None,
    budget: Drawer | None = None,
    tiers: Mapping[str, Tier] | None = None,
) -> Scene:
    speaker, chosen = Speaker(script), models()
    # Prices of the practice models are high enough to be seen; no test is about the default cap unless it
    # says so.
    known = Settings({"budget.call": 100, **settings})
    found = chosen.tiers if tiers is None else tiers
    return Scene(
        speaker,
        budget or Drawer(),
        Advisor({"practice": speaker}, found, Prices(chosen), Library(prompts), lambda: known),
    )
