"""Where one value stands in a page, by what kind of value it is.

Each kind has its own idea of being the same: a price is its amount and currency, a date its day, a link where
it leads, and a text its words. A value that stands nowhere is not wrong; it is unverified.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import islice
from math import isfinite

from thresher.core.evidence import Material, Place
from thresher.core.schema import MAX_TEXT, Field, Kind, Value
from thresher.evidence.days import wanted_day
from thresher.evidence.numbers import stands_alone
from thresher.evidence.sums import matches, wanted
from thresher.evidence.text_index import DataSheet, JsonValue, TextIndex, destination
from thresher.evidence.words import MAX_PLACES, needle, spans
from thresher.reading.values.numbers import numerals, plain_digits

_DIGITS = re.compile(r"\d+")


def find(field: Field, value: Value, material: Material, *, today: date | None = None) -> Place | None:
    """The first place where a value stands, in the text if there is one, else in the data. None: it is
    unverified.

    `today` is the day on which the page was read; without it, "yesterday" is no date.
    """
    if material.text.strip():
        page = TextIndex(material.text, url=material.url, today=today)
        if (found := next(iter(places(field, value, page)), None)) is not None:
            return found
    if material.data is None:
        return None
    data = DataSheet(material.data, url=material.url, today=today)
    found_there = list(islice(places(field, value, data), MAX_PLACES))
    return min(found_there, key=lambda place: not _named_alike(place, field), default=None)


def places(field: Field, value: Value, sheet: TextIndex) -> Iterator[Place]:
    """Every place where a value stands in a text index, in order, as far as anybody needs them."""
    if field.judged or value is None or (isinstance(value, str) and len(value) > MAX_TEXT):
        return
    if field.kind is Kind.BOOLEAN or isinstance(value, bool):
        yield from _said_so(field, value, sheet)
        return
    yield from _FINDERS[field.kind](value, sheet)


def _texts(value: str | float, sheet: TextIndex) -> Iterator[Place]:
    wording = str(value)
    wanted_words = needle(wording)
    if wanted_words is None:
        return
    number = _DIGITS.fullmatch(wanted_words.letters) is not None and len(numerals(plain_digits(wording))) == 1
    page = sheet.bare if wanted_words.bare else sheet.folded
    found = False
    for first, last in spans(wanted_words, page, sheet.level):
        start, end = page.at[first], page.until[last - 1]
        if number and not stands_alone(sheet.level.text, start, end):
            continue  # "12" is not in "12/05/2024" nor in "AB-12"
        if (place := sheet.place(start, end)) is not None:
            found = True
            yield place
    if not found and number:
        yield from _same_number(wording, sheet)


def _same_number(wording: str, sheet: TextIndex) -> Iterator[Place]:
    """A text that is a number, and grouped otherwise on the page."""
    written = plain_digits(wording)
    numeral = numerals(written)[0]
    value = numeral.value() if numeral.written == written else None
    if value is not None and value >= 1000:
        yield from _numbers(str(value), sheet)


def _numbers(value: str | float, sheet: TextIndex) -> Iterator[Place]:
    exact = _exact(value)
    if exact is None:
        if isinstance(value, str):
            yield from _texts(value, sheet)
        return
    for number in sheet.numbers.get(exact, ()):
        if (place := sheet.place(number.start, number.end)) is not None:
            yield place


def _exact(value: str | float) -> Decimal | None:
    if isinstance(value, float) and not isfinite(value):
        return None
    try:
        found = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    return found if found.is_finite() else None


def _money(value: str | float, sheet: TextIndex) -> Iterator[Place]:
    asked = wanted(str(value)) if any(map(str.isdigit, str(value))) else None  # "free" is a word
    if asked is None:
        yield from _texts(value, sheet)
        return
    for each in sheet.sums.get(asked.value, ()):
        if (
            matches(asked, each, sheet.currencies)
            and (place := sheet.place(each.start, each.end)) is not None
        ):
            yield place


def _dates(value: str | float, sheet: TextIndex) -> Iterator[Place]:
    asked = wanted_day(str(value), day_first=sheet.day_first, today=sheet.today)
    found = False
    for each in sheet.days.get(asked.day, ()) if asked is not None else ():
        if (
            asked is not None
            and each.precision == asked.precision
            and (place := sheet.place(each.start, each.end)) is not None
        ):
            found = True
            yield place
    if not found:
        yield from _texts(value, sheet)


def _links(value: str | float, sheet: TextIndex) -> Iterator[Place]:
    written = str(value)
    to = destination(written, sheet.url)
    found = sheet.addresses.get(to, []) if to is not None else []
    yield from found
    if not found and to and "/" not in to:
        yield from _texts(to, sheet)  # a site's name, written out as in "visit example.com"


def _said_so(field: Field, value: Value, sheet: TextIndex) -> Iterator[Place]:
    """A yes or no is a judgement, unless the data has it under the field's own name."""
    if isinstance(sheet, DataSheet) and isinstance(value, bool):
        for leaf in sheet.leaves:
            if _alike(leaf.key, field.name) and _says(leaf, value):
                yield Place(str(leaf.value), path=leaf.path)


def _says(leaf: JsonValue, value: bool) -> bool:
    return leaf.value is value or str(leaf.value).lower() == str(value).lower()


def _named_alike(place: Place, field: Field) -> bool:
    return place.path is not None and _alike(re.split(r"[.\[]", place.path)[-1], field.name)


def _alike(key: str, name: str) -> bool:
    return key.replace("_", "").replace("-", "").lower() == name.replace("_", "")


_FINDERS: Mapping[Kind, Callable[[str | float, TextIndex], Iterator[Place]]] = {
    Kind.TEXT: _texts,
    Kind.NUMBER: _numbers,
    Kind.INTEGER: _numbers,
    Kind.MONEY: _money,
    Kind.DATE: _dates,
    Kind.URL: _links,
}
