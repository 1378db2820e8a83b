"""Evidence: where a value stands in what was read. A value without a place is unverified, whoever said it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Material:
    """What a question is about: the text of a page as it is stored, and its structured data if it has any.

    `hash` is the name under which the text is stored; `url` is where it came from.
    """

    text: str
    data: Any = None
    hash: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where one value stands: characters `start` to `end` of a text, or at `path` of its structured data.
    `quote` is what stands there.

    `source` is the hash of that text, where it is another than the one that the rest of the evidence counts
    in.
    """

    quote: str
    start: int | None = None
    end: int | None = None
    path: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place of every value, by its name: `title`, `skills.2`, and with several things `0.title`. None: it
    was not found.

    `source` is the hash under which the text is stored that the places count in.
    """

    places: Mapping[str, Place | None] = field(default_factory=dict)
    source: str | None = None

    def verified(self, name: str) -> bool:
        return self.places.get(name) is not None

    def unverified(self) -> Iterator[str]:
        """The names of the values that stand nowhere."""
        return (name for name, place in self.places.items() if place is None)


def as_json(evidence: Evidence) -> dict[str, Any]:
    """Evidence as it is kept. What a place does not have is left out."""
    places = {name: place and _place_as_json(place) for name, place in evidence.places.items()}
    return {"source": evidence.source, "places": places}


def of_json(kept: Mapping[str, Any]) -> Evidence:
    """The way back."""
    places = {name: Place(**place) if place else None for name, place in kept["places"].items()}
    return Evidence(places, kept["source"])


def _place_as_json(place: Place) -> dict[str, Any]:
    found = {
        "quote": place.quote,
        "start": place.start,
        "end": place.end,
        "path": place.path,
        "source": place.source,
    }
    return {name: value for name, value in found.items() if value is not None}
