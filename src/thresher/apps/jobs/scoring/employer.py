"""What the score asks about a company. None means that nobody knows, which is not no."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.jobs.person.wants import Size

MAX_PARTS = 200
TIERS = ("S", "A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Employer:
    """A company as far as it is known. A new one is known by nothing, and that costs it nothing.

    `said` are the words of its pages that earned it points of its own, by rule: "city", "remote-first", "ai
    focus".
    """

    size: Size | None = None
    tier: str | None = None
    remote_first: bool | None = None
    ai_focus: bool | None = None
    headquarters: str | None = None
    said: Mapping[str, str] = field(default_factory=dict)


def employer_of(data: Mapping[str, Any] | None) -> Employer:
    """The company in the data of its record; whatever else stands there is left alone."""
    if not data:
        return Employer()
    size, tier, place = data.get("size_category"), data.get("tier"), data.get("headquarters")
    return Employer(
        Size(size) if isinstance(size, str) and size in {*Size} else None,
        tier if tier in TIERS else None,
        _truth(data.get("remote_first")),
        _truth(data.get("ai_focus")),
        place if isinstance(place, str) else None,
        _said(data.get("score_parts")),
    )


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _said(parts: Any) -> Mapping[str, str]:
    if not isinstance(parts, list):
        return {}
    found = (part for part in parts[:MAX_PARTS] if isinstance(part, Mapping))
    return {
        str(part.get("rule")): part["quote"]
        for part in found
        if isinstance(part.get("quote"), str) and part.get("points")
    }
