"""What a posting asks for and on what terms, in sentences, with what is true of them: years, skills, where
the work is done.

The sentences hold the traps that filters fall into: years the company has existed, the 401k that is no
salary, a role that is "not remote", a clearance that is not required.
"""

from dataclasses import dataclass

from thresher.practice.web.draw import Draw
from thresher.practice.web.traits import STACK

REMOTE, HYBRID, ONSITE = "remote", "hybrid", "onsite"
OFFICE_TOOLS = ("SQL", "Excel", "Salesforce", "Figma", "Tableau")
YEARS = (
    "{years}+ years of experience in a similar role",
    "At least {years} years of experience",
    "{years}-{more} years of relevant experience",
    "Minimum {years} years' experience with this kind of work",
)
SKILLS = ("Solid knowledge of {skills}", "You have worked with {skills}", "Hands-on experience with {skills}")
WORKPLACE = {
    REMOTE: (
        "This is a fully remote role, from anywhere in {country}",
        "You work remotely, wherever in {country} you live",
    ),
    HYBRID: (
        "Hybrid work: two days a week in our {city} office",
        "A hybrid role with three days a week in {city}",
    ),
    ONSITE: (
        "This is not a remote role: the work is done in our {city} office",
        "You work on-site in {city}; remote work is not possible",
        "On-site in {city}",
    ),
}
AGE = ("We have been in business for {years} years", "Customers have relied on us for over {years} years")
CLEARANCE, NO_CLEARANCE = "An active security clearance is required", "No security clearance is required"
BUZZWORDS = ("A rockstar attitude", "You are a coding ninja")
COMMISSION = "Pay is commission only"
PENSION = "A 401k with a match of 4%"


@dataclass(frozen=True, slots=True)
class Demands:
    """What is asked for. None and empty: the posting does not say. `wants` and `offers` are the sentences
    that say it.
    """

    years: int | None
    skills: tuple[str, ...]
    says_workplace: bool
    clearance: bool
    buzzword: bool
    commission: bool
    wants: tuple[str, ...]
    offers: tuple[str, ...]


def demands(draw: Draw, department: str, mode: str, city: tuple[str, str, str, str, str, int]) -> Demands:
    """Drawn for one posting; the same for every time it is listed."""
    years = draw.between(1, 10) if draw.chance(60) else None
    skills = tuple(
        draw.some(STACK, draw.between(2, 4))
        if department == "Engineering"
        else draw.some(OFFICE_TOOLS, draw.below(3))
    )
    said, clearance = draw.chance(65), draw.chance(4)
    buzzword, commission = draw.chance(4), department == "Sales" and draw.chance(10)
    wants, offers = [], []
    if years:
        wants.append(draw.pick(YEARS).format(years=years, more=years + 2))
    if skills:
        wants.append(draw.pick(SKILLS).format(skills=listed(skills)))
    if clearance or draw.chance(5):
        wants.append(CLEARANCE if clearance else NO_CLEARANCE)
    if buzzword:
        wants.append(draw.pick(BUZZWORDS))
    if said:
        offers.append(draw.pick(WORKPLACE[mode]).format(city=city[0], country=city[2]))
    if draw.chance(25):
        offers.append(draw.pick(AGE).format(years=draw.between(11, 60)))
    if city[3] == "US" and draw.chance(50):
        offers.append(PENSION)
    if commission:
        offers.append(COMMISSION)
    return Demands(years, skills, said, clearance, buzzword, commission, tuple(wants), tuple(offers))


def listed(names: tuple[str, ...]) -> str:
    """Python, Go and Rust."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
