"""The components of the fit: skills, level, title, place, time zone, pay and age of the posting."""

from collections.abc import Iterator
from math import ceil

from thresher.apps.jobs.filtering.case import Case, pay_known
from thresher.apps.jobs.filtering.compiled_profile import CompiledProfile, in_home_city, same_place
from thresher.apps.jobs.filtering.phrase import counted, folded
from thresher.apps.jobs.filtering.refusals import top
from thresher.apps.jobs.filtering.rejection import Rules, in_field
from thresher.apps.jobs.person.wants import Rank, Size
from thresher.apps.jobs.scoring.points import Component, Employer, Points
from thresher.apps.jobs.scoring.zones import hours_between, zone_of, zones_said
from thresher.core.evidence import Place
from thresher.hiring import technology
from thresher.hiring.locations import read_spots
from thresher.hiring.opening import Spot, Workplace
from thresher.hiring.skills import family

MAX_NAMED = 12  # skills that a reason names


def skills(case: Case, points: Points) -> Component:
    """The skills that the person has and the posting names."""
    found = case.ranked(Rank.REQUIRED, Rank.OK)
    if not found:
        return Component("skills", 0, "it names none of your skills")
    worth = sum(_worth(case.sieve, each.name, points) for each in found)
    names = ", ".join(each.name for each in found[:MAX_NAMED])
    return Component("skills", min(round(worth), points.skill_most), f"it names {names}", found[0].place)


def _worth(ready: CompiledProfile, name: str, points: Points) -> float:
    skill = ready.skills[name]
    own = points.skill_required if skill.rank is Rank.REQUIRED else points.skill_ok
    return own + points.skill_year * min(skill.years or 0, points.skill_years)


def matched(case: Case) -> tuple[str, ...]:
    """The person's skills that the posting names."""
    return tuple(each.name for each in case.ranked(Rank.REQUIRED, Rank.OK))


def unknown(case: Case) -> tuple[str, ...]:
    """The technologies that the posting names and the profile does not, and the skills of what the person
    does besides: a developer lacks no welding.
    """
    return tuple(
        name for name in case.opening.skills if name not in case.sieve.skills and _is_lacked(case.sieve, name)
    )


def _is_lacked(ready: CompiledProfile, name: str) -> bool:
    if technology.family(name) is not None:
        return True
    known = family(name)
    return known is None or known in ready.families


def gaps(case: Case, points: Points) -> Component:
    missing = unknown(case)
    if not missing:
        return Component("gaps", 0, "it names no skill that your profile lacks")
    names = ", ".join(missing[:MAX_NAMED])
    return Component(
        "gaps", max(points.gap * len(missing), points.gap_least), f"your profile does not name {names}"
    )


def disliked(case: Case, points: Points) -> Component:
    found = case.ranked(Rank.STRIKE)
    if not found:
        return Component("disliked", 0, "it names no skill that you avoid")
    names = ", ".join(each.name for each in found[:MAX_NAMED])
    worth = max(points.disliked * len(found), points.disliked_least)
    return Component("disliked", worth, f"you would rather avoid {names}", found[0].place)


def level(case: Case, points: Points) -> Component:
    """The level as it was read, else the words of the title."""
    ready, known = case.sieve, case.opening.level
    place = case.fact("level", "title", case.opening.title)
    if known in ready.wanted_levels:
        return Component("level", points.level_wanted, f"its level is {known}, which you want", place)
    if known in ready.unwanted_levels or known in ready.excluded_levels:
        return Component(
            "level", points.level_unwanted, f"its level is {known}, which you do not want", place
        )
    against = (*(phrase for phrase, _ in ready.unwanted), *ready.seniority)
    for phrase in ready.wanted if known is None else ():
        if found := case.in_title(phrase):
            return Component(
                "level", points.level_wanted, f"the title says {phrase.text}, which you want", found
            )
    for phrase in against:
        if found := case.in_title(phrase):
            return Component(
                "level", points.level_unwanted, f"the title says {phrase.text}, which you do not want", found
            )
    return Component(
        "level",
        0,
        "it does not say its level" if known is None else f"its level is {known}",
        place if known else None,
    )


def title(case: Case, points: Points) -> Component:
    place = in_field("title", case.opening.title)
    if not case.sieve.titles:
        return Component("title", 0, "your profile names no titles")
    for phrase in case.sieve.titles:
        if case.title in phrase:
            return Component("title", points.title, f"the title says {phrase.text}", place)
    return Component("title", points.title_other, "the title is not one that you look for", place)


def remote(case: Case, points: Points) -> Component:
    opening = case.opening
    far = next((spot for spot in opening.spots if spot.remote), None)
    if opening.workplace is Workplace.REMOTE or far is not None:
        place = opening.evidence.places.get("workplace") or (in_field("location", far.text) if far else None)
        worth = points.remote if case.profile.workplace.remote else 0
        return Component("remote", worth, "it is remote", place)
    said = (
        "it does not say where the work is done"
        if opening.workplace is None
        else f"it is {opening.workplace}"
    )
    return Component("remote", 0, said, opening.evidence.places.get("workplace"))


def in_city(case: Case, employer: Employer) -> tuple[str, Place | None] | None:
    """Why the work or the company counts as being in the person's city."""
    own = case.sieve.home
    if own is None:
        return None
    for spot in case.opening.spots:
        if same_place(own, spot):
            return f"it is in {own.city}", in_field("location", spot.text)
    if employer.headquarters and in_home_city(employer.headquarters, own):
        return f"the company is in {own.city}: {employer.headquarters}", None
    office = employer.said.get("city", "")
    # The company may have been looked at for another city, before the person moved.
    if own.city and folded(own.city) in folded(office):
        return f"the company has an office in {own.city}: {office!r}", None
    return None


def city(case: Case, employer: Employer, points: Points) -> Component:
    if case.sieve.home is None:
        return Component("city", 0, "your profile names no city")
    found = in_city(case, employer)
    if found is None:
        return Component("city", 0, f"nothing says that it is in {case.sieve.home.city}")
    return Component("city", points.city, *found)


def country(case: Case, points: Points) -> Component:
    own, spots = case.profile.country, case.opening.spots
    if own is None:
        return Component("country", 0, "your profile names no country")
    if not spots or any(spot.country is None for spot in spots):
        return Component("country", 0, "it does not say the country")
    if any(spot.country == own for spot in spots):
        return Component("country", 0, f"it is in {own}")
    return Component(
        "country",
        points.elsewhere,
        f"it is in {spots[0].country}, not in {own}",
        in_field("location", spots[0].text),
    )


def zone(case: Case, employer: Employer, points: Points) -> Component:
    """The clock of the team: as the description says it, else of the places of work, else of the company."""
    own = case.profile.timezone or (case.sieve.home and zone_of(case.sieve.home))
    if own is None:
        return Component("time zone", 0, "your profile names no time zone")
    near = min(
        ((hours_between(own, each, case.today), each, place) for each, place in _zones(case, employer)),
        default=None,
        key=_first,
    )
    if near is None:
        return Component("time zone", 0, "it does not say the team's time zone")
    hours, name, place = near
    return Component(
        "time zone",
        _distance(hours, points),
        f"{name} is {hours:g} {'hour' if hours == 1 else 'hours'} away from your time zone",
        place,
    )


def _first(found: tuple[float, str, Place | None]) -> float:
    return found[0]


def _zones(case: Case, employer: Employer) -> list[tuple[str, Place | None]]:
    if said := list(zones_said(case.opening.text, case.text)):
        return [*said]
    if spots := list(_of_spots(case.opening.spots)):
        return [*spots]
    if employer.headquarters and employer.size is not Size.LARGE and not case.opening.spots:
        return [(name, None) for name, _ in _of_spots(read_spots(employer.headquarters))]
    return []


def _of_spots(spots: tuple[Spot, ...]) -> Iterator[tuple[str, Place]]:
    return ((name, in_field("location", spot.text)) for spot in spots if (name := zone_of(spot)))


def _distance(hours: float, points: Points) -> int:
    bounds = (
        (0, points.zone_same),
        (points.near_hours, points.zone_near),
        (points.apart_hours, points.zone_apart),
        (points.far_hours, points.zone_far),
    )
    return next((worth for most, worth in bounds if hours <= most), points.zone_opposite)


def salary(case: Case, rules: Rules, points: Points) -> Component:
    pay, wants = pay_known(case), case.profile.salary
    most = top(pay, rules)
    if pay is None or most is None:
        said = case.opening.pay
        return Component(
            "salary",
            0,
            "it does not say what it pays"
            if said is None
            else "what it pays cannot be compared with your target",
        )
    place = case.fact("pay", "salary", pay.text)
    if most >= wants.target:
        return Component(
            "salary",
            points.salary_met,
            f"pays up to {most:,} {wants.currency}; you aim at {wants.target:,}",
            place,
        )
    steps = ceil(10 * (wants.target - most) / wants.target)
    lost = max(points.salary_step * steps, points.salary_missed)
    return Component(
        "salary", lost, f"pays at most {most:,} {wants.currency}; you aim at {wants.target:,}", place
    )


def freshness(case: Case, points: Points) -> Component:
    days, posted = case.age, case.opening.posted
    if days is None or posted is None:
        return Component("freshness", 0, "it does not say when it was posted")
    bounds = ((points.fresh_days, points.fresh), (points.stale_days, 0), (points.old_days, points.stale))
    worth = next((worth for most, worth in bounds if days <= most), points.old)
    return Component(
        "freshness",
        worth,
        f"posted {counted(days, 'day')} ago",
        case.fact("posted", "posted", posted.isoformat()),
    )
