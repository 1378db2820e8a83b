"""Learned extractors: list and show them, label pages by hand, relearn and retire them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.core.errors import UnknownName, UsageError
from thresher.core.evidence import Material
from thresher.core.page import Page
from thresher.core.schema import Field, Kind, Schema
from thresher.engine.process_pool import opened_pool
from thresher.engine.reader import Lessons, extractor_of
from thresher.evidence.verify import verify
from thresher.learning.locator import Css, Data, How, Label, Line, Pattern
from thresher.learning.rule import Rule
from thresher.reading.html.document import Document
from thresher.reading.text.plain import full_text
from thresher.store import extractors
from thresher.store.extractors import Learned
from thresher.store.store import Store

_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def label(store: Store, schema: Schema, page: Page, said: Mapping[str, str], site: str) -> Learned | None:
    """Take a person's word for what stands on a page. It outranks a model's, and teaches. The extractor in
    use afterwards.

    The page is read in a process that is killed at the limits of the settings.
    """
    labels = {name: _value(_field(schema, name), text) for name, text in said.items()}
    asyncio.run(_teach(store, schema, page, labels, site))
    return extractors.active(store, site, schema.name)


async def _teach(store: Store, schema: Schema, page: Page, labels: Mapping[str, Any], site: str) -> None:
    async with opened_pool(store.settings) as pool:
        lost = await pool.run(missing, schema, labels, page)
        if lost:
            raise UsageError(
                f"{', '.join(lost)} cannot be found in the text of the page; write the value exactly "
                "as the page does"
            )
        await Lessons(store, site, schema, pool.run).add(Document.of(page), labels, "person")


def retire(store: Store, site: str, schema_name: str) -> None:
    """Stop using an extractor; the site is learned again."""
    found = extractors.active(store, site, schema_name)
    if found is None or not extractors.retire(store, found.id):
        raise UnknownName(
            f"no extractor of {site} for {schema_name!r} is in use; thresher extractors list shows them"
        )


def _field(schema: Schema, name: str) -> Field:
    found = next((field for field in schema.fields if field.name == name), None)
    if found is None:
        known = ", ".join(field.name for field in schema.fields)
        raise UnknownName(f"schema {schema.name!r} has no field {name!r}; its fields are {known}")
    return found


def _value(field: Field, text: str) -> Any:
    """Convert typed text to the field's type. Empty text means that the page does not have the value."""
    if not text:
        return None
    if field.many:
        return [_one(field, each.strip()) for each in text.split("|") if each.strip()]
    return _one(field, text)


def _one(field: Field, text: str) -> Any:
    try:
        match field.kind:
            case Kind.INTEGER:
                return int(text)
            case Kind.NUMBER:
                return float(text)
            case Kind.BOOLEAN:
                return _TRUTHS[text.lower()]
            case _:
                return text
    except (KeyError, ValueError):
        wants = "yes or no" if field.kind is Kind.BOOLEAN else "digits"
        raise UsageError(f"{field.name} must be {wants}, got {text!r}") from None


def missing(schema: Schema, labels: Mapping[str, Any], page: Page) -> list[str]:
    """The fields whose value does not stand on the page. It was mistyped, or read elsewhere: nothing could be
    learned from it.
    """
    evidence = verify(schema, dict(labels), Material(full_text(Document.of(page))))
    unverified = {name.partition(".")[0] for name in evidence.unverified()}
    return sorted(
        name for name in unverified if not schema[name].judged and schema[name].kind is not Kind.BOOLEAN
    )


_BESIDE = {
    How.CELL: "the cell after {!r}",
    How.LEAF: "the text after {!r}",
    How.BLOCK: "the paragraph after {!r}",
    How.REST: "what follows {!r}",
    How.UNDER: "the cell under {!r}",
    How.INLINE: "what follows {!r} in its line",
}


@dataclass(frozen=True, slots=True)
class FieldView:
    """How one field is read: its rules in words, the best first; without any, why there are none."""

    field: str
    score: float | None
    rules: tuple[str, ...]
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractorView:
    """One version. `good` and `drifted` count pages."""

    site: str
    schema: str
    version: int
    state: str
    score: float
    good: int
    drifted: int
    last_drift: str | None
    drift_at: int | None
    made_at: int


def list_extractors(
    store: Store, *, site: str = "", everything: bool = False, limit: int = 100
) -> list[ExtractorView]:
    """Those in use or in doubt; with `everything` also those that were replaced."""
    found = extractors.versions(store, site, limit=limit)
    return [_view(each) for each in found if everything or each.state != "retired"]


def show_extractor(store: Store, site: str, schema: str) -> tuple[ExtractorView, list[FieldView]]:
    """The newest version of a site, field by field."""
    found = extractors.last(store, site, schema)
    if found is None:
        raise UnknownName(
            f"nothing was learned of {site} for {schema!r}; thresher extractors list shows all extractors"
        )
    learned = extractor_of(found)
    fields = [
        FieldView(field.name, rules.score, tuple(map(_words, rules.rules)))
        if (rules := learned.fields.get(field.name))
        else FieldView(field.name, None, (), learned.unlearned.get(field.name, "it is judged, not read"))
        for field in learned.schema.fields
    ]
    return _view(found), fields


def _view(each: Learned) -> ExtractorView:
    return ExtractorView(
        each.site,
        each.schema_name,
        each.version,
        each.state,
        each.score,
        each.good,
        each.drifted,
        each.last_drift,
        each.drift_at,
        each.made_at,
    )


def _words(rule: Rule) -> str:
    """Describe a rule in words."""
    where, part = rule.locator, rule.part
    match where:
        case Css():
            said = f"{where.selector} @{where.attribute}" if where.attribute else where.selector
        case Line():
            said = f"line {_counted(where.number)} of {where.selector}"
        case Label():
            said = _BESIDE[where.how].format(where.key)
        case Data():
            said = f"{where.source} {where.path}"
        case Pattern():
            said = f"/{where.expression}/ after {where.after!r}" if where.after else f"/{where.expression}/"
    around = f", between {part.before!r} and {part.after!r}" if part.before or part.after else ""
    return f"{said}{around}"


def _counted(number: int) -> str:
    """The number of a line as people count: from 1, or from the end."""
    return str(number + 1) if number >= 0 else f"{-number} from the end"
