"""The one interface to models: `Advisor.ask(task, schema, inputs) -> ModelAnswer`.

A question about a long page is split into one question per part. Each answer is stored on its own, so that
what was paid for before a crash, or before a budget ran out, is not paid for again; then the answers are
merged.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thresher.ai.excerpt import Excerpt, excerpts
from thresher.ai.inquiry import CutOff, Inquiry, recalled
from thresher.ai.model_budget import ModelBudget
from thresher.ai.presence import PRESENCE, brief, pays, rules_out, wanted
from thresher.ai.prices import ModelTerms, Prices
from thresher.ai.prompt import Library
from thresher.ai.provider import Message, ModelCall, Provider
from thresher.ai.question import Question
from thresher.config.models import TIERS, Tier
from thresher.config.settings import Settings
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.compute import in_thread
from thresher.core.errors import Malformed, NotYet, UsageError
from thresher.core.evidence import Evidence, Material, Place
from thresher.core.schema import Field, Schema, Thing, names, values_of

# Merge the answers about the parts of a page: each thing once, in page order, each value with its evidence.

Found = tuple[Any, Evidence]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One thing, and the places of its values by their names within it."""

    thing: Thing
    places: dict[str, Place | None]

    @property
    def verified(self) -> int:
        return sum(place is not None for place in self.places.values())


def merged(schema: Schema, found: Sequence[Found], source: str | None = None) -> Found:
    """The things of all parts. Of two that are the same the one with more verified values stays, where the
    first of them stood.
    """
    kept: dict[tuple[Any, ...], _Entry] = {}
    for value, evidence in found:
        for entry in _entries(schema, value, evidence):
            key = _key(schema, entry.thing)
            if key not in kept or entry.verified > kept[key].verified:
                kept[key] = entry
    entries = list(kept.values())
    places = {
        f"{number}.{name}": place
        for number, entry in enumerate(entries)
        for name, place in entry.places.items()
    }
    return {"items": [entry.thing for entry in entries]}, Evidence(places, source)


def _entries(schema: Schema, value: Any, evidence: Evidence) -> Iterator[_Entry]:
    places: dict[str, dict[str, Place | None]] = {}
    for name, place in evidence.places.items():
        index, _, rest = name.partition(".")
        places.setdefault(index, {})[rest] = place
    for number, thing in enumerate(schema.things(value)):
        yield _Entry(thing, places.get(str(number), {}))


def _key(schema: Schema, thing: Thing) -> tuple[Any, ...]:
    """Things without any value in their key are not all the same thing: then everything they say counts."""
    chosen = [schema[name] for name in schema.key]
    if not any(values_of(field, thing) for field in chosen):
        chosen = list(schema.fields)
    return tuple((field.name, *(_folded(each) for each in values_of(field, thing))) for field in chosen)


def _folded(value: Any) -> Any:
    return (
        " ".join(unicodedata.normalize("NFKC", value).casefold().split()) if isinstance(value, str) else value
    )


def filled(schema: Schema, found: Sequence[Found], source: str | None = None) -> Found:
    """One thing out of what each part says of it: for every field the first value that was verified, else the
    first there is.
    """
    thing: dict[str, Any] = {}
    places: dict[str, Place | None] = {}
    for field in schema.fields:
        said = [each for each in found if values_of(field, each[0])]
        chosen = next((each for each in said if _stands(field, *each)), said[0] if said else None)
        thing[field.name] = chosen[0][field.name] if chosen else ([] if field.many else None)
        if chosen is not None:
            places |= {name: chosen[1].places.get(name) for name in names(field, chosen[0])}
    return thing, Evidence(places, source)


def complete(schema: Schema, value: Thing, evidence: Evidence) -> bool:
    """Every field that can stand in a page was found in it: no other part can add anything."""
    return all(_stands(field, value, evidence) for field in schema.fields if not field.judged)


def _stands(field: Field, thing: Thing, evidence: Evidence) -> bool:
    found = list(names(field, thing))
    return bool(found) and all(evidence.verified(name) for name in found)


# How often a part is halved when its answer was truncated. Without a limit, one page that makes a model
# ramble would buy call after call.
MAX_HALVINGS = 2

_UNCONFIGURED_WAIT = 3_600.0


@dataclass(frozen=True, slots=True)
class _Asking:
    """What one call of `ask` is about; only the excerpt differs from question to question."""

    prompt: str
    schema: Schema
    inputs: Mapping[str, Any]
    budget: ModelBudget
    tier: str
    presence: bool | None


class Advisor:
    """Asks models, within the settings as they stand at the moment of asking."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        tiers: Mapping[str, Tier],
        prices: Prices,
        library: Library,
        settings: Callable[[], Settings],
    ) -> None:
        self._providers, self._tiers, self._prices = providers, tiers, prices
        self._library, self._settings = library, settings

    async def ask(
        self,
        task_name: str,
        schema: Schema,
        inputs: Mapping[str, Any],
        budget: ModelBudget,
        *,
        tier: str | None = None,
        presence: bool | None = None,
    ) -> ModelAnswer:
        """The answer of a model to the prompt of that name, each value with its place in the page.

        `inputs` are JSON values, and at most one `Material`: the page. `tier` overrules the prompt's own.
        `presence` asks first whether there is any (True), never (False), or where that is worth its price
        (None); it matters to schemas of many things.
        """
        material, given = _apart(schema, inputs)
        asking = _Asking(
            task_name, schema, given, budget, _known(tier or self._library[task_name].tier), presence
        )
        if material is None:
            return await self._inquired(asking, None)
        shown = await in_thread(excerpts, material, self._settings().count("ai.part_size"))
        return await (self._several(asking, shown) if schema.many else self._single(asking, shown))

    async def _several(self, asking: _Asking, shown: Sequence[Excerpt]) -> ModelAnswer:
        answers = [await self._read(asking, excerpt) for excerpt in shown]
        return _joined(answers, merged(asking.schema, _found(answers), shown[0].material.hash))

    async def _read(self, asking: _Asking, excerpt: Excerpt) -> ModelAnswer:
        """The things of one part, unless there surely are none."""
        nothing = ModelAnswer({"items": []}, Evidence(source=excerpt.material.hash), Usage(), 0, "")
        # Structured data may say what the text does not.
        if (
            asking.presence is not False
            and excerpt.shown.data is None
            and rules_out(asking.schema, excerpt.legible)
        ):
            return nothing
        if (known := await recalled(self._question(asking, excerpt), asking.budget)) is not None:
            return known
        look = await self._presence(asking, excerpt)
        if look is not None and look.value["any"] is False:
            return replace(look, value=nothing.value, evidence=nothing.evidence)
        answer = await self._whole(asking, excerpt)
        return (
            answer
            if look is None
            else replace(answer, usage=look.usage + answer.usage, cost=look.cost + answer.cost)
        )

    async def _whole(self, asking: _Asking, excerpt: Excerpt, halvings: int = MAX_HALVINGS) -> ModelAnswer:
        """All things of a part, read in pieces where the list of them is longer than one answer may be."""
        pieces = excerpt.pieces() if halvings else []
        spent = CutOff(Usage(), 0)
        if not await self._begun(asking, pieces, halvings):
            try:
                return await self._inquired(asking, excerpt, divisible=len(pieces) > 1)
            except CutOff as cut:
                spent = cut
        answers = [await self._whole(asking, piece, halvings - 1) for piece in pieces]
        found = _joined(answers, merged(asking.schema, _found(answers), excerpt.material.hash))
        answer = replace(found, usage=spent.usage + found.usage, cost=spent.cost + found.cost, cached=False)
        await asking.budget.keep(self._question(asking, excerpt).key, answer)
        return answer

    async def _begun(self, asking: _Asking, pieces: Sequence[Excerpt], halvings: int) -> bool:
        """Whether an earlier look went to pieces and was interrupted: its first piece, or the first piece of
        that, is known.
        """
        if len(pieces) < 2:
            return False
        first = await recalled(self._question(asking, pieces[0]), asking.budget)
        return first is not None or (
            halvings > 1 and await self._begun(asking, pieces[0].pieces(), halvings - 1)
        )

    async def _presence(self, asking: _Asking, excerpt: Excerpt) -> ModelAnswer | None:
        """Whether there is any, or None where that is not asked or was not answered."""
        if asking.presence is False:
            return None
        looking = replace(
            asking, prompt="presence", schema=PRESENCE, inputs=wanted(asking.schema), tier="cheap"
        )
        question = self._question(looking, excerpt)
        if (known := await recalled(question, asking.budget)) is not None:
            return known
        if asking.presence is None and not self._worth(question, asking, excerpt):
            return None
        try:
            return await Inquiry(question, brief(self._terms("cheap")), self._library, asking.budget).answer()
        except Malformed:
            return None

    def _worth(self, question: Question, asking: _Asking, excerpt: Excerpt) -> bool:
        # The same model would read the same page for the same price; only long answers would be saved.
        if self._tiers.get("cheap") in (None, self._tiers.get(asking.tier)):
            return False
        reading = _worst(self._question(asking, excerpt), self._terms(asking.tier))
        return pays(_worst(question, brief(self._terms("cheap"))), reading)

    async def _single(self, asking: _Asking, shown: Sequence[Excerpt]) -> ModelAnswer:
        if len(shown) == 1:
            return await self._inquired(asking, shown[0])
        # Of a part nothing is required: what it does not say may stand in the next one.
        fields = tuple(replace(field, required=False) for field in asking.schema.fields)
        lenient = replace(asking, schema=replace(asking.schema, fields=fields))
        answers: list[ModelAnswer] = []
        for excerpt in shown:
            answers.append(await self._inquired(lenient, excerpt))
            found = filled(asking.schema, _found(answers), excerpt.material.hash)
            if complete(asking.schema, *found):
                break
        if complaints := asking.schema.complaints(found[0]):
            raise Malformed(
                f"no part of the page ({len(shown)} were read) contains what is required: "
                f"{'; '.join(complaints)}"
            )
        return _joined(answers, found)

    async def _inquired(
        self, asking: _Asking, excerpt: Excerpt | None, *, divisible: bool = False
    ) -> ModelAnswer:
        """What was answered before needs no model, no key and no vendor's library."""
        question = self._question(asking, excerpt)
        if (known := await recalled(question, asking.budget)) is not None:
            return known
        return await Inquiry(question, self._terms(asking.tier), self._library, asking.budget).answer(
            divisible=divisible
        )

    def _question(self, asking: _Asking, excerpt: Excerpt | None) -> Question:
        return Question(
            self._library[asking.prompt],
            self._library["frame"],
            asking.schema,
            asking.tier,
            asking.inputs,
            excerpt,
        )

    def _terms(self, tier: str) -> ModelTerms:
        chosen = self._tiers.get(tier)
        if chosen is None:
            raise NotYet(
                f"no model is configured for the tier {tier}: add models: to thresher.yaml",
                retry_after=_UNCONFIGURED_WAIT,
            )
        provider = self._providers.get(chosen.provider)
        if provider is None:
            raise NotYet(
                f"the provider {chosen.provider} of the tier {tier} is not available: check its key "
                "under models: in thresher.yaml",
                retry_after=_UNCONFIGURED_WAIT,
            )
        return ModelTerms.of(provider, chosen.model, self._prices, self._settings())


def _apart(schema: Schema, inputs: Mapping[str, Any]) -> tuple[Material | None, dict[str, Any]]:
    materials = [value for value in inputs.values() if isinstance(value, Material)]
    if len(materials) > 1:
        raise UsageError(
            f"a question may be about one Material at most, got {len(materials)}; ask about each one "
            "separately"
        )
    found = [field.name for field in schema.fields if not field.judged]
    if not materials and found:
        raise UsageError(
            f"schema {schema.name!r} has fields that are read from a page ({', '.join(found)}): pass "
            "the page as a Material, or mark them judged"
        )
    given = {name: value for name, value in inputs.items() if not isinstance(value, Material)}
    return (materials[0] if materials else None), given


def _known(tier: str) -> str:
    if tier not in TIERS:
        raise UsageError(f"a tier must be one of {', '.join(TIERS)}, got {tier!r}")
    return tier


def _worst(question: Question, terms: ModelTerms) -> int:
    return terms.most(
        ModelCall(
            terms.model, question.system, (Message(question.user),), question.schema.json_schema(), 1, 1.0
        ).size
    )


def _found(answers: Sequence[ModelAnswer]) -> list[Found]:
    return [(answer.value, answer.evidence) for answer in answers]


def _joined(answers: Sequence[ModelAnswer], found: Found) -> ModelAnswer:
    models = dict.fromkeys(answer.model for answer in answers if answer.model)
    return ModelAnswer(
        *found,
        usage=sum((answer.usage for answer in answers), Usage()),
        cost=sum(answer.cost for answer in answers),
        model=", ".join(models),
        cached=bool(models) and all(answer.cached or not answer.model for answer in answers),
    )
