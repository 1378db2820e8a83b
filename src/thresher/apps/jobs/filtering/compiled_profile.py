"""A compiled profile: its lists as phrases, its technologies by name, its places as places. Compiled once,
used for every posting.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from thresher.apps.jobs.filtering.phrase import Phrase, folded, keywords, phrases
from thresher.apps.jobs.person.wants import Profile, Rank, Skill
from thresher.core.errors import InvalidUrl
from thresher.hiring import technology
from thresher.hiring.locations import read_spots
from thresher.hiring.opening import Level, Spot
from thresher.hiring.records import company_name_key
from thresher.hiring.skills import family
from thresher.reading.values.addresses import read_address

# Compare the places of a profile with a place of work. Portland, Maine is not Portland, Oregon.


def home(profile: Profile) -> Spot | None:
    """The person's city, or None where they name none."""
    if profile.city is None:
        return None
    said = ", ".join(each for each in (profile.city, profile.region, profile.country) if each)
    read = _read(said)
    region, country = (
        (read.region or profile.region, read.country or profile.country)
        if read
        else (profile.region, profile.country)
    )
    return Spot(said, profile.city, region, country)


def places(texts: Iterable[str], profile: Profile) -> tuple[Spot, ...]:
    """Parse places from a profile. The bare name of the own city means that city."""
    own = home(profile)
    return tuple(own if own and _name(text) == _name(own.city or "") else _place(text) for text in texts)


def same_place(wanted: Spot, spot: Spot) -> bool:
    """Whether a place of work is in a wanted city. A region or a country that one of them does not say proves
    nothing.
    """
    if not wanted.city or not spot.city or _name(wanted.city) != _name(spot.city):
        return False
    return _agree(wanted.region, spot.region) and _agree(wanted.country, spot.country)


def in_home_city(text: str, own: Spot) -> bool:
    """Whether a text such as a company's headquarters names the person's city."""
    return any(same_place(own, spot) for spot in read_spots(text))


def _place(text: str) -> Spot:
    read = _read(text)
    return read if read and read.city else Spot(text, text.partition(",")[0].strip())


def _read(text: str) -> Spot | None:
    """The one place in a text; where it may be several, none."""
    found = read_spots(text)
    return replace(found[0], text=text) if len(found) == 1 else None


def _agree(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one.upper() == other.upper()


def _name(text: str) -> str:
    return " ".join(text.lower().split())


# Spellings of levels.
_LEVELS = {
    "intern": Level.INTERN,
    "internship": Level.INTERN,
    "co-op": Level.INTERN,
    "trainee": Level.INTERN,
    "working student": Level.INTERN,
    "junior": Level.JUNIOR,
    "entry-level": Level.JUNIOR,
    "entry level": Level.JUNIOR,
    "graduate": Level.JUNIOR,
    "mid": Level.MID,
    "mid-level": Level.MID,
    "mid level": Level.MID,
    "intermediate": Level.MID,
    "senior": Level.SENIOR,
    "staff": Level.STAFF,
    "principal": Level.PRINCIPAL,
    "lead": Level.LEAD,
    "tech lead": Level.LEAD,
    "manager": Level.MANAGER,
    "director": Level.DIRECTOR,
    "executive": Level.EXECUTIVE,
    "vp": Level.EXECUTIVE,
}


@dataclass(frozen=True, slots=True)
class CompiledProfile:
    """The profile, and its words as they are looked for."""

    profile: Profile
    titles: tuple[Phrase, ...]
    types: tuple[Phrase, ...]
    seniority: tuple[Phrase, ...]
    unwanted: tuple[tuple[Phrase, int | None], ...]
    wanted: tuple[Phrase, ...]
    excluded_levels: Mapping[Level, str]
    unwanted_levels: Mapping[Level, int | None]
    wanted_levels: frozenset[Level]
    companies: tuple[tuple[Phrase, str], ...]
    keywords: tuple[Phrase, ...]
    domains: tuple[str, ...]
    commission: tuple[Phrase, ...]
    buzzwords: tuple[Phrase, ...]
    skills: Mapping[str, Skill]
    # Skills that are no technologies, such as welding: a posting that was read before we knew them names
    # them all the same, and a word that is doubtful in a text is none in a profile.
    unread: tuple[tuple[str, Phrase], ...]
    # What the person does besides technology: accounting, trades. Skills of other families are no gaps.
    families: frozenset[str]
    required: frozenset[str]
    home: Spot | None
    hybrid_in: tuple[Spot, ...] | None
    onsite_in: tuple[Spot, ...]


@lru_cache(maxsize=16)
def sieve(profile: Profile) -> CompiledProfile:
    """The profile made ready."""
    out, levels = profile.excluded, profile.levels
    others = [name for name in profile.skills if technology.family(name) is None]
    return CompiledProfile(
        profile=profile,
        titles=phrases(profile.titles),
        types=phrases(out.types),
        seniority=phrases(levels.excluded),
        unwanted=tuple((Phrase(word), points) for word, points in levels.unwanted.items()),
        wanted=phrases(levels.wanted),
        excluded_levels={level: word for word in levels.excluded if (level := level_named(word))},
        unwanted_levels={
            level: points for word, points in levels.unwanted.items() if (level := level_named(word))
        },
        wanted_levels=frozenset(level for word in levels.wanted if (level := level_named(word))),
        companies=tuple((Phrase(name), company_name_key(name)) for name in out.companies),
        keywords=keywords(out.keywords),
        domains=tuple(_domain(each) for each in out.domains),
        commission=phrases(out.commission),
        buzzwords=phrases(out.buzzwords),
        skills=profile.skills,
        unread=tuple((name, Phrase(name)) for name in others),
        families=frozenset(known for name in others if (known := family(name)) is not None),
        required=frozenset(name for name, skill in profile.skills.items() if skill.rank is Rank.REQUIRED),
        home=home(profile),
        hybrid_in=_hybrid(profile),
        onsite_in=places(profile.workplace.onsite_in, profile),
    )


def _hybrid(profile: Profile) -> tuple[Spot, ...] | None:
    """Where hybrid work is fine. None: the person did not say, and has no city either."""
    if profile.workplace.hybrid_in is not None:
        return places(profile.workplace.hybrid_in, profile)
    own = home(profile)
    return None if own is None else (own,)


def level_named(word: str) -> Level | None:
    """Return the level that a word in a profile means."""
    return _LEVELS.get(" ".join(folded(word).split()))


def _domain(text: str) -> str:
    """Normalise a domain for comparison with hosts, whether written bare or as a URL."""
    try:
        host = read_address(text if "://" in text else f"https://{text}").hostname
    except InvalidUrl:
        return folded(text)
    return host.removeprefix("www.")
