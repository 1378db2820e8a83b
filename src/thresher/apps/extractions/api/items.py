"""The items in the answers of an API, each value with the place in the answer where it stands.

What an API sends is a stranger's: a value that does not fit its field is left out and named, a row that is no
item is named and left out, and rows of which none is an item are an answer that is not as described.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from thresher.apps.extractions.api.definition import ItemAnswer, ItemApi
from thresher.apps.extractions.extract_data import item_key
from thresher.apps.extractions.model import Entity
from thresher.core.errors import InvalidUrl, Malformed
from thresher.core.evidence import Place
from thresher.core.keys import canonical_url
from thresher.core.limits import MAX_INTEGER
from thresher.core.page import Page
from thresher.core.record import clean
from thresher.core.schema import MAX_TEXT, MAX_VALUES, Field, Kind, Schema, Value, values_of
from thresher.reading.apis.answer import (
    ListAnswer,
    NotAsDescribed,
    body_of,
    following,
    kind_of,
    list_place,
    read_list,
    shape_of,
)
from thresher.reading.apis.request import web_link
from thresher.reading.platforms.paths import Leaf, Trail, flat, located, located_field, spelled, text_of
from thresher.reading.text.plain import described

MAX_QUOTE = 300  # characters of what stands at a place
MAX_DOUBTS = 20  # of one item
MAX_SHOWN = 40  # characters of a value in a doubt
MAX_ID = 400
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?", re.ASCII)
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


@dataclass(frozen=True, slots=True)
class Item:
    """One item. `places` are by the names of evidence: `name`, `skills.2`. A value that the definition alone
    has made has no place. `row_id` is what its detail is asked for by.
    """

    key: str
    url: str
    values: Mapping[str, Any]
    places: Mapping[str, Place | None]
    doubts: tuple[str, ...] = ()
    row_id: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One answer as it was read. `rows` is how many entries stood there, `bad` why some of them are no items,
    `total` how many the API says there are. `next` leads to the following answer; `capped` says why the API
    shows no more although there is more; `trouble`, why the answer proves nothing.
    """

    items: tuple[Item, ...] = ()
    rows: int = 0
    bad: tuple[str, ...] = ()
    total: int | None = None
    next: str | None = None
    capped: str | None = None
    trouble: str | None = None


@dataclass(slots=True)
class _Reading:
    """What one row has said so far."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Place | None] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    def doubt(self, why: str) -> None:
        if len(self.doubts) < MAX_DOUBTS:
            self.doubts.append(why)


def read_batch(api: ItemApi, entity: Entity, cursor: str | None, page: Page) -> Batch:
    """One page of the list. Never raises for what the page holds."""
    try:
        answer = read_list(api, api.answers, page)
    except NotAsDescribed as problem:
        return Batch(trouble=str(problem))
    read = [_item(answer, row, entity) for row in answer.rows]
    items = tuple(each for each in read if isinstance(each, Item))
    bad = tuple(f"row {at + 1}: {each}" for at, each in enumerate(read) if isinstance(each, str))
    made = Batch(items, len(read), bad, answer.total)
    if bad and not items:
        return replace(made, trouble=f"none of {len(read):,} rows is a {entity.name}; {bad[0]}")
    keys = [each.key if isinstance(each, Item) else each for each in read]
    after = following(api, answer, list_place(api, cursor), keys)
    return replace(made, next=after.next, capped=after.capped, trouble=after.trouble)


def _item(answer: ListAnswer[ItemAnswer], row: Leaf, entity: Entity) -> Item | str:
    """A row as an item, or why it is none."""
    if not isinstance(row.value, Mapping):
        return f"it is {kind_of(row.value)}, not an object"
    read = _read_fields(answer.shape, row, answer.data, answer.page.final_url, entity.schema)
    if why := _is_none(entity.schema, read):
        return why
    row_id = _said(answer.shape.id, row, answer.data)
    url = web_link(_said(answer.shape.url, row, answer.data), answer.page.final_url)
    return _made(entity, read, row_id, url, answer.page.url)


def _made(entity: Entity, read: _Reading, row_id: str | None, url: str | None, fallback: str) -> Item:
    required = (each.name for each in entity.schema.fields if each.required and each.name not in read.values)
    for name in required:
        read.doubt(f"{name} is required and is missing")
    address = url or _own_url(entity.schema, read.values)
    key = item_key(replace(entity.schema, many=False), read.values, _identity(row_id, address, read.values))
    return Item(clean(key), address or fallback, read.values, read.places, tuple(read.doubts), row_id)


def _own_url(schema: Schema, data: Mapping[str, Any]) -> str | None:
    """The address that an item has among its fields."""
    named = (
        str(each) for field in schema.fields if field.kind is Kind.URL for each in values_of(field, data)
    )
    return next(named, None)


def _identity(row_id: str | None, url: str | None, data: Mapping[str, Any]) -> str:
    """What tells a row from the others where the entity has no key: its id, its address, or everything."""
    if row_id:
        return row_id
    if url:
        try:
            return canonical_url(url)
        except InvalidUrl:
            return url
    return " | ".join(f"{name} {data[name]}" for name in sorted(data)).casefold()


def _is_none(schema: Schema, read: _Reading) -> str | None:
    """Why this is no item: it has nothing of what every item must have."""
    wanted = [each.name for each in schema.fields if each.required] or [each.name for each in schema.fields]
    if any(name in read.values for name in wanted):
        return None
    return f"it has no {' or '.join(wanted[:5])}" + (f"; {read.doubts[0]}" if read.doubts else "")


def _said(spec: Any, row: Leaf, data: Any) -> str | None:
    found = located_field(spec)(row.value, data) if spec is not None else None
    return clean(found.text)[:MAX_ID] or None if found is not None else None


# Fields


def _read_fields(answer: ItemAnswer, row: Leaf, data: Any, base: str, schema: Schema) -> _Reading:
    read = _Reading()
    for each in schema.fields:
        if each.name in answer.fields:
            _read_field(read, each, _found(each, answer.fields[each.name], row, data), row, base)
    return read


_Found = tuple[str | bool, tuple[Leaf, ...]]  # what is said, and what it was made of


def _found(field: Field, spec: Any, row: Leaf, data: Any) -> list[_Found]:
    """What stands at a field: one value, or all of them where the field is a list."""
    if isinstance(spec, list):
        return next((found for each in spec if (found := _found(field, each, row, data))), [])
    if isinstance(spec, str) and (field.many or field.kind is Kind.BOOLEAN):
        leaves = islice(flat(located(spec, row.value, data)), MAX_VALUES)
        return [(said, (leaf,)) for leaf in leaves if (said := _scalar(leaf.value)) is not None]
    made = located_field(spec)(row.value, data)
    return [(made.text, made.parts)] if made is not None else []


def _scalar(value: Any) -> str | bool | None:
    return value if isinstance(value, bool) else text_of(value)


def _read_field(read: _Reading, field: Field, found: list[_Found], row: Leaf, base: str) -> None:
    values: list[Value] = []
    for said, parts in found if field.many else found[:1]:
        value = _value(field, said, base)
        if value is None:
            read.doubt(f"{field.name} is {clean(str(said))[:MAX_SHOWN]!r}, which is not {_wanted(field)}")
        elif value not in values:
            if isinstance(value, str) and len(value) > MAX_TEXT:
                value = value[:MAX_TEXT]
                read.doubt(f"{field.name} is cut after {MAX_TEXT:,} characters")
            name = f"{field.name}.{len(values)}" if field.many else field.name
            if not field.judged:
                read.places[name] = _place(parts, row.trail)
            values.append(value)
    if values:
        read.values[field.name] = values if field.many else values[0]


def _wanted(field: Field) -> str:
    if field.choices:
        return f"one of {', '.join(field.choices)}"[:200]
    return {
        Kind.NUMBER: "a number",
        Kind.INTEGER: "a whole number",
        Kind.BOOLEAN: "true or false",
        Kind.URL: "a web address",
    }.get(field.kind, "a text")


def _value(field: Field, said: str | bool, base: str) -> Value:
    """A value in the type of its field; None where it does not fit."""
    if field.kind is Kind.BOOLEAN:
        word = str(said).strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    if isinstance(said, bool):
        return None
    match field.kind:
        case Kind.NUMBER | Kind.INTEGER:
            return _number(said, whole=field.kind is Kind.INTEGER)
        case Kind.URL:
            return web_link(clean(said), base)
        case _:
            return _text(field, said)


def _number(said: str, *, whole: bool) -> int | float | None:
    """Plain decimal numbers alone: whether a comma is a thousand or a half, no answer says."""
    if not _NUMBER.fullmatch(said.strip()):
        return None
    number = float(said)
    if number.is_integer() and abs(number) < MAX_INTEGER:
        return int(number) if whole or "." not in said else number
    return None if whole else number


def _text(field: Field, said: str) -> str | None:
    text = clean((described(said) or "") if "&" in said or "<" in said else said).strip()
    if not field.choices:
        return text or None
    return next((each for each in field.choices if each.casefold() == text.casefold()), None)


def _place(parts: tuple[Leaf, ...], row: Trail) -> Place | None:
    """Where a value stands, with the words there. What was made of several is in the smallest part of the
    answer that holds them all.
    """
    if not parts:
        return None
    trails = [part.trail[1:] if part.trail[:1] == ("^",) else (*row, *part.trail) for part in parts]
    quote = "; ".join(_quoted(part.value) for part in parts)
    return Place(clean(quote)[:MAX_QUOTE], path=spelled(_common(trails)))


def _quoted(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else text_of(value) or ""


def _common(trails: Iterable[Trail]) -> Trail:
    first, *others = trails
    for other in others:
        same = (at for at, (one, two) in enumerate(zip(first, other, strict=False)) if one != two)
        first = first[: next(same, min(len(first), len(other)))]
    return first


# Details


def read_detail(api: ItemApi, entity: Entity, item: Item, page: Page, source: str) -> Item:
    """The item with what its detail says; what the detail leaves out stays. `source` is the hash of the
    detail's body. Raises Malformed where that is not the detail of this item.
    """
    if api.detail is None:
        return item
    try:
        body = body_of(api, page)
        answer, (row,) = shape_of((api.detail.answer,), body, single=True)
    except NotAsDescribed as problem:
        raise Malformed(f"its detail cannot be read: {problem}") from None
    told = _said(answer.id, row, body.data)
    if told is not None and told != item.row_id:
        raise Malformed("this is the detail of another item")
    read = _read_fields(answer, row, body.data, page.final_url, entity.schema)
    url = web_link(_said(answer.url, row, body.data), page.final_url)
    return _completed(entity, item, read, url or item.url, source)


def _completed(entity: Entity, item: Item, read: _Reading, url: str, source: str) -> Item:
    kept = {name: value for name, value in item.values.items() if name not in read.values}
    places = {name: each for name, each in item.places.items() if name.partition(".")[0] in kept}
    places |= {name: place and replace(place, source=source) for name, place in read.places.items()}
    doubts = [each for each in item.doubts if not each.endswith("is required and is missing")]
    whole = _Reading({**kept, **read.values}, places, [*doubts, *read.doubts][:MAX_DOUBTS])
    return _made(entity, whole, item.row_id, url, item.url)
