"""Compare the places a candidate names with a place of work. Portland, Maine is not Portland, Oregon."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from thresher.hiring.opening import Spot
from thresher.reading.values.gazetteer import folded

MAX_PLACES = 10  # places of one candidate, or of one posting


class Ground(IntEnum):
    """From apart to the same. A larger one wins where several places are named."""

    APART = 0
    UNKNOWN = 1
    STATE = 2
    SAME = 3


@dataclass(frozen=True, slots=True)
class Site:
    """A place as it is compared. What is empty is not said."""

    city: str = ""
    region: str = ""
    country: str = ""


def sites_of(spots: Iterable[Spot]) -> tuple[Site, ...]:
    """The places that are named, each once."""
    found = (
        Site(folded(spot.city or ""), (spot.region or "").upper(), (spot.country or "").upper())
        for spot in spots
    )
    return tuple(dict.fromkeys(site for site in found if site != Site()))[:MAX_PLACES]


def ground(wanted: Site, work: Site) -> Ground:
    """How two places lie. A state or a country that is wanted contains its cities; one where the work is may
    mean any city of it.
    """
    if _differ(wanted.country, work.country) or _differ(wanted.region, work.region):
        return Ground.APART
    in_state = bool(wanted.region and work.region)
    if wanted.city and work.city:
        return Ground.SAME if wanted.city == work.city else Ground.STATE if in_state else Ground.APART
    if wanted.city:
        return Ground.STATE if in_state else Ground.UNKNOWN
    contained = work.region if wanted.region else work.country
    return Ground.SAME if contained else Ground.UNKNOWN


def nearest(wanted: Iterable[Site], work: Iterable[Site]) -> Ground:
    """The best of all pairs; unknown where one side names no place."""
    where = tuple(work)
    found = [ground(one, other) for one in wanted for other in where]
    return max(found, default=Ground.UNKNOWN)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other
