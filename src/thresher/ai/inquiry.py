"""One question to one model: price, call, parse, repair, verify, ask again about doubtful values, store.

The number of calls is bounded whatever the replies say: the first, up to `ai.repairs` more while the format
is wrong, and one for values that are not in the page. Each is priced and reserved before it is sent.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from thresher.ai.draft import Draft, DraftFault, better, drafted
from thresher.ai.model_budget import Bill, CallQuote, ModelBudget
from thresher.ai.prices import ModelTerms
from thresher.ai.prompt import Library, Prompt
from thresher.ai.provider import CallFailed, Message, ModelCall, ModelReply
from thresher.ai.question import Question, fenced, mark_of, seen
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.compute import in_thread
from thresher.core.errors import BudgetExhausted, ClaimLost, Malformed, TaskError

MAX_ECHO = 20_000
MAX_COMPLAINTS = 20
MAX_COMPLAINT = 300


class CutOff(Exception):
    """The answer was longer than one may be. Whoever asked about a page can ask about less of it; this much
    was spent already.
    """

    def __init__(self, usage: Usage, cost: int) -> None:
        super().__init__("the answer was cut off")
        self.usage, self.cost = usage, cost


async def recalled(question: Question, budget: ModelBudget) -> ModelAnswer | None:
    """What was kept, with its evidence found anew: the same words may stand elsewhere in another page."""
    known = await budget.recall(question.key)
    if known is None or question.schema.complaints(known.value):
        return None
    if question.excerpt is None:
        return replace(known, cached=True)
    # On a thread: looking for hundreds of values in a long page takes a while, and other tasks share this
    # loop.
    evidence = await in_thread(question.excerpt.evidence, question.schema, known.value)
    return replace(known, evidence=evidence, cached=True)


class Inquiry:
    """One question on its way to an answer, and what it has cost so far."""

    def __init__(self, question: Question, terms: ModelTerms, library: Library, budget: ModelBudget) -> None:
        self._question, self._terms, self._library, self._budget = question, terms, library, budget
        self._key = question.key
        self._usage, self._cost = Usage(), 0

    async def answer(self, *, divisible: bool = False) -> ModelAnswer:
        """The answer of the model. Raises `Malformed` where it gives none that can be used.

        `divisible`: the page can be asked about in pieces, so an answer that was too long raises `CutOff`,
        and is not repaired.
        """
        first = Message(self._question.user)
        turns: tuple[Message, ...] = (first,)
        fault: DraftFault | None = None
        for _ in range(1 + self._terms.repairs):
            async with self._asked(turns, fault) as reply:
                if isinstance(reply, ModelAnswer):
                    return reply
                found = await self._drafted(reply)
                if isinstance(found, Draft) and not found.doubts:
                    return await self._concluded(found)
            if isinstance(found, Draft):
                return await self._doubted(found, (first, *self._said(reply, "doubt", found.doubts)))
            if found.cut and divisible:
                raise CutOff(self._usage, self._cost)
            # A model that makes the same mistakes after being told will make them a third time.
            if found.final or (fault is not None and found.complaints == fault.complaints):
                raise self._malformed(found)
            fault, turns = found, (first, *self._said(reply, "repair", found.complaints))
        assert fault is not None
        raise self._malformed(fault)

    @asynccontextmanager
    async def _asked(
        self, turns: Sequence[Message], fault: DraftFault | None = None
    ) -> AsyncIterator[ModelReply | ModelAnswer]:
        """One call, for as long as its reservation lasts."""
        question, terms = self._question, self._terms
        call = ModelCall(
            terms.model,
            question.system,
            tuple(turns),
            question.schema.json_schema(),
            terms.output,
            terms.seconds,
        )
        try:
            most = terms.price(call)
        except BudgetExhausted as problem:
            if fault is None:
                raise
            raise self._malformed(fault, f", and it may not be asked again ({problem})") from problem
        quote = CallQuote(
            terms.gate, terms.provider.name, terms.model, question.prompt.label, self._key, most
        )
        async with self._budget.call(quote) as bill:
            # Somebody else may have been answered while we waited for our turn.
            if (known := await recalled(question, self._budget)) is not None:
                bill.pay(0, Usage())
                yield known
            else:
                yield await self._completed(call, bill)

    async def _completed(self, call: ModelCall, bill: Bill) -> ModelReply:
        try:
            reply = await self._terms.provider.complete(call)
        except CallFailed as failed:
            if not failed.billed:
                bill.pay(0, Usage())
            raise failed.problem from failed
        usage = replace(reply.usage, calls=1)
        cost = self._terms.cost(usage)
        bill.pay(cost, usage)
        self._usage += usage
        self._cost += cost
        return reply

    async def _drafted(self, reply: ModelReply) -> Draft | DraftFault:
        return await in_thread(drafted, self._question, reply, self._terms.output)

    def _said(self, reply: ModelReply, name: str, complaints: Sequence[str]) -> tuple[Message, Message]:
        """The model's reply and what we say to it. Complaints quote the model, and the model may have quoted
        the page.
        """
        return Message(_echo(reply.text), ours=False), Message(_told(self._library[name], complaints))

    async def _doubted(self, first: Draft, turns: Sequence[Message]) -> ModelAnswer:
        """Ask once more for what was not found. Whatever becomes of that, the first draft has been paid for
        and is not thrown away.
        """
        try:
            async with self._asked(turns) as reply:
                if isinstance(reply, ModelAnswer):
                    return reply
                second = await self._drafted(reply)
                return await self._concluded(
                    better(self._question.schema, first, second) if isinstance(second, Draft) else first
                )
        except ClaimLost:
            raise
        except TaskError:
            return await self._concluded(first)

    async def _concluded(self, draft: Draft) -> ModelAnswer:
        answer = ModelAnswer(draft.value, draft.evidence, self._usage, self._cost, draft.model)
        await self._budget.keep(self._key, answer)
        return answer

    def _malformed(self, fault: DraftFault, why: str = "") -> Malformed:
        who = f"{self._terms.provider.name}/{self._terms.model}"
        said = "; ".join(_shortened(fault.complaints))
        return Malformed(
            f"{who} gave no usable answer to {self._question.prompt.label} after {self._usage.calls} calls: {said}{why}"
        )


def _told(prompt: Prompt, complaints: Sequence[str]) -> str:
    listed = seen("\n".join(f"- {complaint}" for complaint in _shortened(complaints)))
    return f"{prompt.text}\n\n{fenced('faults', listed, mark_of(listed))}"


def _shortened(complaints: Sequence[str]) -> list[str]:
    shown = [
        each if len(each) <= MAX_COMPLAINT else f"{each[: MAX_COMPLAINT - 1]}…"
        for each in complaints[:MAX_COMPLAINTS]
    ]
    more = len(complaints) - len(shown)
    return [*shown, *([f"and {more} more like this"] if more else [])]


def _echo(text: str) -> str:
    # No vendor takes an empty message, and nobody needs all of a runaway answer to see what was wrong with
    # it.
    return seen(text[:MAX_ECHO]) or "(nothing)"
