"""Compare the places of a profile with a place of work. Portland, Maine is not Portland, Oregon."""

from collections.abc import Iterable
from dataclasses import replace

from thresher.apps.jobs.person.wants import Profile
from thresher.hiring.locations import read_spots
from thresher.hiring.opening import Spot


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
    """Places as a person writes them. The bare name of their own city means that one."""
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
