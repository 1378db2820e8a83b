"""Putting the answers about the parts of a page together: every thing once, in the order of the page, and
each value with its place.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.ai.naming import names
from thresher.core.evidence import Evidence, Place
from thresher.core.schema import Field, Schema, Thing, values_of

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
