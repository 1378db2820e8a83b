"""A posting as matching uses it: its facts, what the scraper stated, and the evidence of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from thresher.apps.roles.matching.locations import Site, sites_of
from thresher.apps.roles.matching.number import figure
from thresher.apps.roles.matching.skill import MAX_LENGTH, MAX_SKILLS, keys_of
from thresher.apps.roles.model import ScrapedPosting, StatedYears
from thresher.core.evidence import Evidence, Place
from thresher.core.record import Found
from thresher.hiring.opening import Opening, Workplace, opening_of

MAX_YEARS, MAX_MONEY = 100, 10**12
MAX_TEXT = 1_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A skill that a posting asks for: what it is compared by, how the posting has it, and where that
    stands.
    """

    key: str
    word: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """`id` is that of the record; pay is for a year. `places` say where the other facts stand, by their
    names.
    """

    id: int
    skills: tuple[Asked, ...] = ()
    low: float | None = None
    high: float | None = None
    sites: tuple[Site, ...] = ()
    workplace: Workplace | None = None
    remote_in: frozenset[str] = frozenset()
    pay_low: int | None = None
    pay_high: int | None = None
    currency: str | None = None
    text: str = ""
    places: Mapping[str, Place | None] = field(default_factory=dict)

    @property
    def pays(self) -> int | None:
        """The most that it says it pays."""
        return self.pay_high if self.pay_high is not None else self.pay_low


def offer_of(found: Found) -> Offer:
    """From the record of a posting whose facts were read. Raises Malformed."""
    return as_offer(found.id, ScrapedPosting.of(found), found.evidence)


def as_offer(record_id: int, posting: ScrapedPosting, evidence: Evidence | None) -> Offer:
    """The same from the posting, with the evidence of its record."""
    opening = opening_of(posting, evidence)
    remote = opening.workplace is Workplace.REMOTE or any(spot.remote for spot in opening.spots)
    low, high, at = _experience(posting.experience, opening)
    stated = [str(word)[:MAX_LENGTH] for word in posting.skills[:MAX_SKILLS]]
    places = dict(opening.evidence.places) | ({"experience": at} if at else {})
    pay = opening.pay
    return Offer(
        id=record_id,
        skills=_skills(stated, opening),
        low=low,
        high=high,
        sites=sites_of(opening.spots),
        workplace=Workplace.REMOTE if remote else opening.workplace,
        remote_in=frozenset(spot.country for spot in opening.spots if spot.country)
        if remote
        else frozenset(),
        pay_low=_money(pay.year_low if pay else None),
        pay_high=_money(pay.year_high if pay else None),
        currency=pay.currency if pay else None,
        text=_text(opening, stated),
        places=places,
    )


def _skills(stated: Sequence[str], opening: Opening) -> tuple[Asked, ...]:
    """What the scraper stated, then what the text names besides."""
    found: dict[str, Asked] = {}
    for at, word in enumerate(stated):
        for key in keys_of(word):
            found.setdefault(key, Asked(key, word, Place(word, path=f"skills.{at}")))
    for at, name in enumerate(opening.skills):
        place = opening.evidence.places.get(f"skills.{at}")
        for key in keys_of(name[:MAX_LENGTH]):
            found.setdefault(key, Asked(key, place.quote if place else name, place))
    return tuple(found.values())[:MAX_SKILLS]


def _experience(
    stated: StatedYears | None, opening: Opening
) -> tuple[float | None, float | None, Place | None]:
    """The years as the scraper stated them, else as the text asks for them."""
    if stated is not None:
        low, high = figure(stated.low, MAX_YEARS), figure(stated.high, MAX_YEARS)
        if (low is not None or high is not None) and not (
            low is not None and high is not None and low > high
        ):
            name, said = ("low", low) if low is not None else ("high", high)
            return low, high, Place(str(said), path=f"experience.{name}")
    asked = opening.experience
    return (
        (float(asked.low), None if asked.high is None else float(asked.high), None)
        if asked
        else (None, None, None)
    )


def _money(said: object) -> int | None:
    return int(figure(said, MAX_MONEY) or 0) or None


def _text(opening: Opening, stated: Sequence[str]) -> str:
    words = stated or opening.skills
    return ", ".join(each for each in (opening.title, *words) if each)[:MAX_TEXT]
