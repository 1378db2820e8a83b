"""A draft: one reply of a model, parsed into the schema, with the evidence found for its values.

Of two drafts the better one is chosen by how much of it stands in the page, not by which came last.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from thresher.ai.provider import ModelReply, StopReason
from thresher.ai.question import Question
from thresher.core.evidence import Evidence
from thresher.core.schema import Schema, Thing, named, names, things
from thresher.evidence.verify import doubts

# Parse a reply into JSON, where that is unambiguous.
#
# Models wrap answers in prose and code fences, and are cut off in the middle. One whole object is taken out
# of what surrounds it. Nothing is ever closed, completed or chosen for the model: a list that was cut off
# looks just like a shorter one.

MAX_CHARACTERS = 4_000_000
# No schema nests deeper than a list in a thing in a list, so code that reads the value may recurse.
MAX_LEVELS = 20

_EDGES = re.compile(r'["{}\\]')


@dataclass(frozen=True, slots=True)
class Parsed:
    """A whole JSON object, or a whole list where nothing else was said."""

    value: Any


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No value is certain, and why, in words its author can act on."""

    reason: str


def parse(text: str) -> Parsed | Unreadable:
    """The one JSON value in an answer, or why there is none."""
    if len(text) > MAX_CHARACTERS:
        return Unreadable(f"the answer has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}")
    bare = text.strip().removeprefix("\ufeff")
    if not bare:
        return Unreadable("the answer is empty")
    if isinstance(found := _value(bare), Parsed) and isinstance(found.value, dict | list):
        return found
    return _inside(bare)


def _inside(text: str) -> Parsed | Unreadable:
    pieces = list(islice(_objects(text), 2))
    if not pieces:
        return Unreadable("there is no JSON object in the answer")
    if pieces[0] is None:
        return Unreadable(
            "the JSON object is not closed: the answer was cut off, or a quotation mark inside a "
            "string is not escaped"
        )
    if len(pieces) > 1:
        return Unreadable(
            "the answer contains more than one object, or one that is not closed; give exactly one"
        )
    if text.partition("{")[0].rstrip().endswith("["):
        return Unreadable(
            "the object is in a list with words around it, or in one that is not closed; give a single object"
        )
    return _value(pieces[0])


def _objects(text: str) -> Iterator[str | None]:
    """Everything between outermost braces, from left to right, in one pass; None for one that is never
    closed.
    """
    depth, start, quoted, skip = 0, 0, False, -1
    for edge in _EDGES.finditer(text):
        place, char = edge.start(), edge[0]
        if place == skip:
            continue
        if quoted:
            skip = place + 1 if char == "\\" else -1
            quoted = char != '"'
        elif char == "{":
            start = start if depth else place
            depth += 1
        elif depth and char == '"':
            quoted = True
        elif depth and char == "}":
            depth -= 1
            if not depth:
                yield text[start : place + 1]
    if depth:
        yield None


def _value(text: str) -> Parsed | Unreadable:
    try:
        value = orjson.loads(text)  # strict: no NaN, no half surrogates, no nesting without end
        json.loads(text, object_pairs_hook=_distinct)
    except _Doubled as doubled:
        return Unreadable(f"the field {str(doubled)[:80]!r} appears twice in one object")
    except (ValueError, RecursionError) as problem:
        return Unreadable(f"it is not JSON: {str(problem)[:200]}")
    return (
        Parsed(value)
        if _shallow(value, MAX_LEVELS)
        else Unreadable(f"it is nested deeper than {MAX_LEVELS} levels")
    )


def _shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    return levels > 0 and all(
        _shallow(each, levels - 1) for each in (value.values() if isinstance(value, dict) else value)
    )


class _Doubled(Exception):
    """A field that has two values has none that is certain."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _Doubled(name)
        found[name] = value
    return found


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
class DraftFault:
    """A reply that cannot be used, and what is wrong with it.

    `final`: telling the model would not help. `cut`: it had more to say than an answer may be long.
    """

    complaints: tuple[str, ...]
    final: bool = False
    cut: bool = False


def drafted(question: Question, reply: ModelReply, most_output: int) -> Draft | DraftFault:
    """The reply, checked: its form, its schema, and where it stands in the page."""
    schema, excerpt = question.schema, question.excerpt
    if reply.stop is StopReason.REFUSED:
        return DraftFault(("it refused to answer",), final=True)
    found = parse(reply.text)
    if isinstance(found, Unreadable):
        cut = reply.stop is StopReason.LENGTH
        said = (f"it was cut off after {most_output:,} tokens; answer more briefly",) if cut else ()
        return DraftFault((*said, found.reason), cut=cut)
    value = {"items": found.value} if schema.many and isinstance(found.value, list) else found.value
    if complaints := schema.complaints(value):
        return DraftFault(tuple(complaints))
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
