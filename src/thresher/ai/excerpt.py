"""What a question shows of a page: all of it, or one part with the headings above it.

Positions always count in the whole stored text, whatever was shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from thresher.core.errors import InvalidPayload, TooLarge
from thresher.core.evidence import Evidence, Material, Place
from thresher.core.schema import Field, Schema, Value, named
from thresher.evidence.find import places
from thresher.evidence.text_index import TextIndex
from thresher.evidence.verify import verify
from thresher.reading.text.split import Heading, headings, split

# An endless page must not cause endless questions.
MAX_PARTS = 100
MIN_DIVIDED = 400


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Characters `start` to `end` of a material. `data` is its structured data as JSON, where that is shown
    too.
    """

    material: Material
    start: int
    end: int
    headings: tuple[Heading, ...] = ()
    data: str | None = None

    @property
    def text(self) -> str:
        return self.material.text[self.start : self.end]

    @property
    def shown(self) -> Material:
        """This much of the material, as if it were all. Of a part the structured data is none: it speaks of
        the whole page.
        """
        return self.material if self.whole else replace(self.material, text=self.text, data=None)

    @property
    def legible(self) -> str:
        """Everything of it that can be read as text, the headings above it included: a day may stand over all
        that happens on it.
        """
        return "\n".join((*(heading.title for heading in self.headings), self.text))

    @property
    def whole(self) -> bool:
        return self.start == 0 and self.end == len(self.material.text)

    def pieces(self) -> "list[Excerpt]":
        """The same in pieces of half its size, for an answer that would be too long; only itself where it is
        too short for that.
        """
        if len(self.text) < MIN_DIVIDED:
            return [self]
        return _cut(self, len(self.text) // 2 + 1)

    def evidence(self, schema: Schema, value: Any) -> Evidence:
        """Where each value stands within this excerpt, or in the headings it was shown under.

        What stands only elsewhere in the page was not what the model read.
        """
        found = verify(schema, value, self.shown)
        below = {name: _moved(place, self.start) for name, place in found.places.items()}
        return replace(found, places=below | self._above(schema, value, below))

    def _above(self, schema: Schema, value: Any, known: Mapping[str, Place | None]) -> dict[str, Place]:
        """A heading speaks of everything below it, so each of several things may have its value there."""
        text, url = self.material.text, self.material.url
        sheets = [
            (each.start, TextIndex(text[each.start : each.end], url=url)) for each in reversed(self.headings)
        ]
        missing = [
            (name, field, each)
            for name, field, each in named(schema, value)
            if sheets and known.get(name) is None
        ]
        stands = ((name, _first(field, each, sheets)) for name, field, each in missing)
        return {name: place for name, place in stands if place is not None}


def _first(field: Field, value: Value, sheets: Sequence[tuple[int, TextIndex]]) -> Place | None:
    return next(
        (_moved(place, start) for start, sheet in sheets for place in places(field, value, sheet)), None
    )


def _moved(place: Place | None, by: int) -> Place | None:
    if place is None or place.start is None or place.end is None:
        return place
    return replace(place, start=place.start + by, end=place.end + by)


def excerpts(material: Material, most: int) -> Sequence[Excerpt]:
    """The material in pieces that each fit into one question of `most` characters."""
    data = _written(material.data) or ""
    whole = Excerpt(material, 0, len(material.text), data=data or None)
    if not material.text.strip():
        if len(data) > most:
            raise TooLarge(
                f"the structured data has {len(data):,} characters, more than ai.part_size "
                f"({most:,}); ask about a part of it"
            )
        return [whole]
    if len(material.text) > most:
        return _parts(material, most)
    # What a person sees comes first: data that does not fit beside it is not shown, and still counts as
    # evidence of the page.
    return [whole if len(material.text) + len(data) <= most else replace(whole, data=None)]


def _parts(material: Material, most: int) -> list[Excerpt]:
    found = _cut(Excerpt(material, 0, len(material.text)), most)
    if len(found) > MAX_PARTS:
        raise TooLarge(
            f"a page of {len(material.text):,} characters needs {len(found):,} questions, and the "
            f"limit is {MAX_PARTS}: pass its main content, or raise ai.part_size"
        )
    return found


def _cut(excerpt: Excerpt, most: int) -> list[Excerpt]:
    text, start = excerpt.text, excerpt.start
    inside = [replace(each, start=start + each.start, end=start + each.end) for each in headings(text)]
    known = [*excerpt.headings, *inside]
    parts = [(start + part.start, start + part.end) for part in split(text, most)]
    return [Excerpt(excerpt.material, first, last, _over(known, first)) for first, last in parts]


def _over(known: Sequence[Heading], start: int) -> tuple[Heading, ...]:
    """The headings that a place stands under, from the greatest down."""
    over: list[Heading] = []
    for heading in known:
        if heading.start > start:
            break
        while over and over[-1].depth >= heading.depth:
            over.pop()
        if heading.start < start:
            over.append(heading)
    return tuple(over)


def _written(data: Any) -> str | None:
    if data is None:
        return None
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, ValueError) as problem:
        raise InvalidPayload(
            f"the structured data of a material cannot be written as JSON: {problem}"
        ) from None
