"""A draft: one reply of a model that fits the schema, with what could be found of it in the page.

Of two drafts the better one is chosen by what stands in the page, never by which one came last.
"""

from dataclasses import dataclass
from typing import Any

from thresher.ai.naming import named, names, things
from thresher.ai.parse import Unreadable, parse
from thresher.ai.provider import Reply, Stop
from thresher.ai.question import Question
from thresher.core.evidence import Evidence
from thresher.core.schema import Schema, Thing
from thresher.evidence.verify import doubts


@dataclass(frozen=True, slots=True)
class Draft:
    """A value that fits its schema. `doubts` says which required values were looked for in the page and not
    found.
    """

    value: Any
    evidence: Evidence
    doubts: tuple[str, ...]
    model: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that cannot be used, and what is wrong with it.

    `final`: telling the model would not help. `cut`: it had more to say than an answer may be long.
    """

    complaints: tuple[str, ...]
    final: bool = False
    cut: bool = False


def drafted(question: Question, reply: Reply, most_output: int) -> Draft | Fault:
    """The reply, checked: its form, its schema, and where it stands in the page."""
    schema, excerpt = question.schema, question.excerpt
    if reply.stop is Stop.REFUSED:
        return Fault(("it refused to answer",), final=True)
    found = parse(reply.text)
    if isinstance(found, Unreadable):
        cut = reply.stop is Stop.LENGTH
        said = (f"it was cut off after {most_output:,} tokens; answer more briefly",) if cut else ()
        return Fault((*said, found.reason), cut=cut)
    value = {"items": found.value} if schema.many and isinstance(found.value, list) else found.value
    if complaints := schema.complaints(value):
        return Fault(tuple(complaints))
    if excerpt is None:
        return Draft(value, Evidence({name: None for name, _, _ in named(schema, value)}), (), reply.model)
    evidence = excerpt.evidence(schema, value)
    return Draft(value, evidence, tuple(doubts(schema, value, evidence)), reply.model)


def better(schema: Schema, first: Draft, second: Draft) -> Draft:
    """The draft with more things of which everything required stands in the page; then the one with fewer
    required values that do not.

    Counting only what is missing would let an answer win that left everything out.
    """
    return second if _standing(schema, second) > _standing(schema, first) else first


def _standing(schema: Schema, draft: Draft) -> tuple[int, int]:
    missing = [_missing(schema, thing, where, draft.evidence) for where, thing in things(schema, draft.value)]
    return missing.count(0), -sum(missing)


def _missing(schema: Schema, thing: Thing, where: str, evidence: Evidence) -> int:
    looked_for = (field for field in schema.fields if field.required and not field.judged)
    return sum(not evidence.verified(name) for field in looked_for for name in names(field, thing, where))
