"""Evidence: where a value stands in what was read. A value without a place is unverified, whoever said it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.stored import made

MAX_QUOTE = 200  # characters of a value at a path


@dataclass(frozen=True, slots=True)
class Material:
    """What a question is about: the stored text of a page, and its structured data if any.

    `hash` is the hash of the stored text; `url` is its source.
    """

    text: str
    data: Any = None
    hash: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where one value is: characters `start` to `end` of a text, or `path` in its structured data. `quote` is
    the text there.

    `source` is the hash of that text, if it is not the one the rest of the evidence refers to.
    """

    quote: str
    start: int | None = None
    end: int | None = None
    path: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlacesAt(Mapping[str, Place | None]):
    """The places of values that all stand at one path, such as the row of a list: of each value what it is
    quoted by, at most `MAX_QUOTE` characters of it, or None where it has no place. A list has thousands of
    them, so a place is made when somebody looks at it.
    """

    quotes: Mapping[str, str | None]
    path: str

    def __getitem__(self, name: str) -> Place | None:
        quote = self.quotes[name]
        return None if quote is None else Place(quote[:MAX_QUOTE], path=self.path)

    def __iter__(self) -> Iterator[str]:
        return iter(self.quotes)

    def __len__(self) -> int:
        return len(self.quotes)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place of every value, by name: `title`, `skills.2`, and with several things `0.title`. None: it was
    not found.

    `source` is the hash of the text that the places refer to.
    """

    places: Mapping[str, Place | None] = field(default_factory=dict)
    source: str | None = None

    def verified(self, name: str) -> bool:
        return self.places.get(name) is not None

    def unverified(self) -> Iterator[str]:
        """Return the names of the values without a place."""
        return (name for name, place in self.places.items() if place is None)


def as_json(evidence: Evidence) -> dict[str, Any]:
    """Return evidence in its stored form, without empty members."""
    places: Mapping[str, Any] = evidence.places
    if isinstance(places, PlacesAt):
        path = places.path
        places = {
            name: None if quote is None else {"quote": quote[:MAX_QUOTE], "path": path}
            for name, quote in places.quotes.items()
        }
    else:
        places = {name: None if place is None else _place_as_json(place) for name, place in places.items()}
    return {"source": evidence.source, "places": places}


def of_json(kept: Mapping[str, Any]) -> Evidence:
    """Read the stored form."""
    places = {name: made(Place, place) if place else None for name, place in kept["places"].items()}
    return Evidence(places, kept["source"])


def _place_as_json(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = {"quote": place.quote}
    if place.start is not None:
        found["start"] = place.start
    if place.end is not None:
        found["end"] = place.end
    if place.path is not None:
        found["path"] = place.path
    if place.source is not None:
        found["source"] = place.source
    return found
