"""The thinking that all model endpoints share: the same question always gets the same answer, whichever
protocol it came by.

It reads well: the values of a page it knows, then lines such as `title: …`, then nothing; and it knows what
work is called. It fails as models do when a knob says so: it makes values up, leaves the schema, is cut off,
declines, or obeys whoever wrote the page.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, data
from thresher.practice.web.company import NOBODY
from thresher.practice.web.draw import Draw
from thresher.practice.web.knob import WAYS_OFF, Trouble
from thresher.practice.web.sites.instance import instance, mapping, sequence
from thresher.practice.web.sites.naming import naming
from thresher.practice.web.sites.truth import truth

MODELS = ("practice-small", "practice-large")
REFUSED = "I'm sorry, but I can't help with that."
CHARACTERS = 4  # a token has, by the rule of thumb
EVERYTHING = 100

_INJECTION = re.compile(
    r"(?i)\b(?:ignore|disregard|forget)\s(?:all\s|any\s|the\s|your\s)?(?:previous|prior|above|earlier)\sinstructions"
    r"[\s,.;:]{1,3}(?:and\s)?(?:answer|reply|respond|say|output|write)\s?(?:with|only)?[\s:]{0,3}([^\n]{1,500})"
)


class End(StrEnum):
    """Why it stopped; each protocol has words of its own for these."""

    DONE = "done"
    LENGTH = "length"
    REFUSED = "refused"


class Fault(StrEnum):
    """Why a question is not answered at all; each protocol has a status and a shape of its own for these."""

    UNKNOWN_MODEL = "unknown_model"
    QUOTA = "quota"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class Wish:
    """A question, whichever protocol it came by. `ours` is what the asker says for itself, `said` what was
    said to the model.
    """

    model: str
    ours: str
    said: str
    schema: dict[str, Any] | None = None
    most: int | None = None

    @property
    def prompt(self) -> str:
        return "\n".join(each for each in (self.ours, self.said) if each)

    @property
    def tokens(self) -> int:
        return tokens(self.prompt)


@dataclass(frozen=True, slots=True)
class Thought:
    """`words` as they were written; JSON where a schema was given, unless something went wrong."""

    words: str
    end: End = End.DONE

    @property
    def tokens(self) -> int:
        return tokens(self.words)


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS)


def fault(ask: WebRequest, wish: Wish) -> Fault | None:
    """What stops this question before anybody thinks about it."""
    if wish.model.rpartition("/")[2].startswith(NOBODY):
        return Fault.UNKNOWN_MODEL
    if Trouble.QUOTA in ask.twists:
        return Fault.QUOTA
    if Trouble.TOO_LONG in ask.twists and wish.tokens > ask.twists[Trouble.TOO_LONG].number:
        return Fault.TOO_LONG
    return None


def think(ask: WebRequest, wish: Wish) -> Thought:
    """The answer."""
    if Trouble.REFUSAL in ask.twists:
        return Thought(REFUSED, End.REFUSED)
    draw = Draw(ask.seed, "model", wish.prompt)
    if wish.schema is None:
        return _cut(ask, wish, _sentence(draw, wish.prompt))
    value = _obeyed(ask, wish, draw) or _read(ask, wish, draw)
    words = data(_off_schema(ask, value)).body.decode()
    if Trouble.NOT_JSON in ask.twists:
        words = f"Sure! Here it is:\n```json\n{words[: len(words) * 2 // 3]}"
    return _cut(ask, wish, words)


def _read(ask: WebRequest, wish: Wish, draw: Draw) -> Json:
    knob = ask.twists.get(Trouble.INVENTED)
    text = wish.said or wish.prompt
    things = truth(ask, text, _names(wish.schema or {}))
    invents = (knob.number or EVERYTHING) if knob else 0
    return instance(
        draw, wish.schema or {}, text, naming(text) if things is None else things, invents=invents
    )


def _obeyed(ask: WebRequest, wish: Wish, draw: Draw) -> Json:
    """What a page told it to answer, if it listens to pages: the JSON given there, or the words in every
    field.
    """
    found = _INJECTION.search(wish.said) if Trouble.OBEDIENT in ask.twists else None
    if found is None:
        return None
    words = found[1].strip()
    if isinstance(given := _json(words[: words.rfind("}") + 1]), dict):
        return given
    facts = dict.fromkeys(_names(wish.schema or {}), words.strip(" .\"'"))
    return instance(draw, wish.schema or {}, wish.said, [facts])


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _names(schema: Json) -> list[str]:
    """The fields of the things that a schema is about."""
    properties = mapping(mapping(schema).get("properties"))
    inner = [mapping(mapping(each).get("items")) for each in properties.values()]
    below = next((each for each in inner if "properties" in each), None)
    return list(properties) if below is None else _names(below)


def _off_schema(ask: WebRequest, value: Json) -> Json:
    """The value, spoilt in its first thing as the knob says: a wrong type, a field too few, a field too
    many.
    """
    knob = ask.twists.get(Trouble.OFF_SCHEMA)
    if knob is None or not isinstance(value, dict) or not value:
        return value
    if below := [each for each in sequence(next(iter(value.values()))) if isinstance(each, dict)]:
        name = next(iter(value))
        return {**value, name: [_spoilt(knob.text, ask.count, below[0]), *below[1:]]}
    return _spoilt(knob.text, ask.count, value)


def _spoilt(how: str, count: int, thing: dict[str, Any]) -> dict[str, Any]:
    first = next(iter(thing), "")
    match how or WAYS_OFF[count % len(WAYS_OFF)]:
        case "type":
            return {**thing, first: {"value": thing.get(first)}}
        case "missing":
            return {name: value for name, value in thing.items() if name != first}
        case _:
            return {**thing, "confidence": 0.97}


def _cut(ask: WebRequest, wish: Wish, words: str) -> Thought:
    """No more than was asked for, or than the knob lets it write."""
    knob = ask.twists.get(Trouble.CUT_SHORT)
    most = wish.most if knob is None else knob.number or tokens(words) // 2
    if most is None or tokens(words) <= most:
        return Thought(words)
    return Thought(words[: most * CHARACTERS], End.LENGTH)


def _sentence(draw: Draw, prompt: str) -> str:
    words = re.findall(r"\w{4,}", prompt)
    if not words:
        return "There is nothing to say about that."
    return f"In short: {', '.join(dict.fromkeys(draw.pick(words).lower() for _ in range(6)))}."
