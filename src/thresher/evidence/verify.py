"""Verifying an answer: a place for every value of every thing, or the plain statement that there is none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from thresher.core.evidence import Evidence, Material, Place
from thresher.core.schema import Field, Kind, Schema, Value, values_of
from thresher.evidence.find import places
from thresher.evidence.layout import layout_of
from thresher.evidence.segments import Claim, Said, owned
from thresher.evidence.text_index import DataSheet, TextIndex


@dataclass(frozen=True, slots=True)
class _Asked:
    """One value that needs a place, under the name that evidence gives it."""

    name: str
    thing: int
    field: Field
    value: Value


def verify(schema: Schema, value: Any, material: Material, *, today: date | None = None) -> Evidence:
    """Where each value of an answer stands. The value fits the schema (`schema.complaints` is empty)."""
    return Evidence(verified(schema, value, sheets(material, today=today)), material.hash)


def verified(schema: Schema, value: Any, on: Sequence[TextIndex]) -> dict[str, Place | None]:
    """The same on text indexes that were made before, for who has several answers to the same page."""
    asked = list(_asked(schema, value))
    found: dict[str, Place | None] = dict.fromkeys((each.name for each in asked), None)
    for sheet in on:
        for name, place in _placed(schema, asked, sheet).items():
            found[name] = found[name] or place
        if all(found.values()):
            break
    return found


def sheets(material: Material, *, today: date | None = None) -> list[TextIndex]:
    """The text first, as it is what people see, then the data."""
    text = [TextIndex(material.text, url=material.url, today=today)] if material.text.strip() else []
    return text if material.data is None else [*text, DataSheet(material.data, url=material.url, today=today)]


def doubts(schema: Schema, value: Any, evidence: Evidence) -> list[str]:
    """One sentence for every required value that was not found, to be asked again with."""
    return [
        f"{_where(schema, each)}{each.field.name} is given as {_shown(each.value)}, which is not in "
        "the page; give it exactly as the page writes it for this thing, or null if it is not there"
        for each in _asked(schema, value)
        if each.field.required and not each.field.judged and not evidence.verified(each.name)
    ]


def _where(schema: Schema, asked: _Asked) -> str:
    return f"item {asked.thing + 1}: " if schema.many else ""


def _shown(value: Value) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _asked(schema: Schema, value: Any) -> Iterator[_Asked]:
    for number, thing in enumerate(schema.things(value)):
        for each in schema.fields:
            for at, one in enumerate(values_of(each, thing)):
                name = f"{each.name}.{at}" if each.many else each.name
                yield _Asked(f"{number}.{name}" if schema.many else name, number, each, one)


def _placed(schema: Schema, asked: Sequence[_Asked], sheet: TextIndex) -> Mapping[str, Place]:
    """The place of each value on one sheet, as far as it has one there that is its own."""
    known: dict[tuple[str, object], dict[int, Place]] = {}
    for each in asked:
        key = each.field.name, _comparable(each.value)
        if key not in known:
            known[key] = {
                sheet.position(place): place
                for place in reversed(list(places(each.field, each.value, sheet)))
            }
    claims = [
        Claim(said, tuple(sorted(known[said.field, said.value])))
        for said in (Said(each.thing, each.field.name, _comparable(each.value)) for each in asked)
    ]
    things = 1 + max((each.thing for each in asked), default=0)
    chosen = owned(claims, _leaders(schema), things, layout_of(sheet)) if schema.many else _together(claims)
    return {
        each.name: known[claim.said.field, claim.said.value][position]
        for each, claim, position in zip(asked, claims, chosen, strict=True)
        if position is not None
    }


def _comparable(value: Value) -> object:
    return type(value).__name__, value


def _leaders(schema: Schema) -> list[str]:
    """The fields that may tell things apart: named as the key, else required, else in their order."""
    able = [
        each
        for each in schema.fields
        if not (each.many or each.judged or each.kind is Kind.BOOLEAN or each.choices)
    ]
    return [
        each.name for each in sorted(able, key=lambda each: (each.name not in schema.key, not each.required))
    ]


def _together(claims: Sequence[Claim]) -> list[int | None]:
    """The values of a single thing, each where it stands nearest to the one that stands in the fewest
    places.
    """
    rarest = min((claim.positions for claim in claims if claim.positions), key=len, default=())
    if not rarest:
        return [None for _ in claims]
    centre = min(
        rarest,
        key=lambda at: sum(min((abs(at - each) for each in claim.positions), default=0) for claim in claims),
    )
    return [min(claim.positions, key=lambda at: abs(at - centre), default=None) for claim in claims]
