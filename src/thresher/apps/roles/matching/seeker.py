"""A candidate as matching uses them, without personal data."""

from dataclasses import dataclass

from thresher.apps.roles.matching.locations import Site, sites_of
from thresher.apps.roles.matching.number import figure
from thresher.apps.roles.matching.skill import skills_of
from thresher.apps.roles.model import Candidate
from thresher.core.record import Found
from thresher.hiring.locations import read_spots

MAX_TEXT = 1_000
MAX_YEARS, MAX_MONEY, MAX_PLACES = 100, 10**12, 20


@dataclass(frozen=True, slots=True)
class Seeker:
    """`id` is that of the record. `skills` are as the candidate wrote them, by what they are compared by.
    None: nobody said.
    """

    id: int
    skills: dict[str, str]
    years: float | None
    sites: tuple[Site, ...]
    remote: bool | None
    salary: int | None
    currency: str | None
    text: str


def seeker_of(found: Found) -> Seeker:
    """From the record of a candidate."""
    return as_seeker(found.id, Candidate.of(found))


def as_seeker(record_id: int, candidate: Candidate) -> Seeker:
    spots = [spot for place in candidate.locations[:MAX_PLACES] for spot in read_spots(place)]
    skills, fields = candidate.skills, candidate.specializations
    text = ", ".join(each for each in (candidate.title, *skills, *fields) if each)
    return Seeker(
        id=record_id,
        skills=skills_of((*skills, *candidate.tech_stack, *fields)),
        years=figure(candidate.experience_years, MAX_YEARS),
        sites=sites_of(spots),
        remote=True
        if candidate.remote or (any(spot.remote for spot in spots) and candidate.remote is None)
        else candidate.remote,
        salary=int(figure(candidate.salary_min, MAX_MONEY) or 0) or None,
        currency=(candidate.currency or "").upper() or None,
        text=text[:MAX_TEXT],
    )
