"""One component of a score: its points, its reason and its quote. What is unknown adds nothing, and says
so.
"""

from dataclasses import dataclass
from typing import Any

from thresher.apps.jobs.filtering.rejection import MAX_QUOTE, MAX_REASON, place_as_json
from thresher.core.evidence import Place
from thresher.core.record import clean


@dataclass(frozen=True, slots=True)
class Component:
    """`place` is where the posting says it, if it is the posting that does."""

    name: str
    points: int
    reason: str
    place: Place | None = None

    @property
    def quote(self) -> str | None:
        return None if self.place is None else self.place.quote


def as_json(component: Component) -> dict[str, Any]:
    """A component as a decision keeps it."""
    quote = component.quote
    return {
        "name": component.name,
        "points": component.points,
        "reason": clean(component.reason[:MAX_REASON]),
        "quote": None if quote is None else clean(quote[:MAX_QUOTE]),
        "place": place_as_json(component.place),
    }
