"""How much is known of a company, and whether that is enough to leave it alone for a while."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from thresher.hiring.records import CompanyRecord

DAY = 86_400_000_000  # microseconds


class Completeness(StrEnum):
    """From nothing to all that is needed."""

    NONE = "none"
    MINIMAL = "minimal"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Texts have to be longer than these (characters); a good company is left alone for `fresh_days`. Sizes
    are people.
    """

    about_minimal: int = 50
    culture_minimal: int = 25
    about_good: int = 100
    culture_good: int = 50
    fresh_days: float = 30.0
    small: int = 100
    medium: int = 1_000


def completeness(data: Mapping[str, Any], at: Thresholds) -> Completeness:
    """Minimal is a name, a site and one text; good is both texts, and longer ones."""
    if not (data.get("name") and data.get("website")):
        return Completeness.NONE
    about, culture = len(data.get("about") or ""), len(data.get("culture") or "")
    if about > at.about_good and culture > at.culture_good:
        return Completeness.GOOD
    return (
        Completeness.MINIMAL
        if about > at.about_minimal or culture > at.culture_minimal
        else Completeness.NONE
    )


def is_fresh(company: CompanyRecord, at: Thresholds, now: int) -> bool:
    """Whether reading the site again would be too soon. `now` is in microseconds."""
    if company.completeness != Completeness.GOOD:
        return False
    return 0 <= now - company.analyzed_at < at.fresh_days * DAY


def size_category(low: int, high: int | None, at: Thresholds) -> str:
    """Small, medium or large. Of a range its middle counts; of "500 and more" what is certain."""
    people = low if high is None else (low + high) // 2
    return "small" if people <= at.small else "medium" if people <= at.medium else "large"
