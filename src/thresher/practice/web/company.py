"""Companies. Every name is one: any host or board token that is asked for belongs to a company drawn from the
seed.

A company has its postings on exactly one platform; asked for elsewhere, its token is unknown, or belongs to a
namesake, which is the trap for whoever guesses tokens. A few companies have their name and platform under
every seed, so that a test or a reader can name one of each sort.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from thresher.practice.web.draw import Draw
from thresher.practice.web.words import CITIES, FIRST, FORMS, SECOND, TRADES

# Whose careers pages list the postings themselves, plainly or by a script that only a browser runs.
OWN, SCRIPTED = "own", "scripted"
FIRST_HOSTED = (
    "greenhouse",
    "lever",
    "ashby",
    "workday",
    "smartrecruiters",
    "recruitee",
    "workable",
    "personio",
    "teamtailor",
    "bamboohr",
)
LATER_HOSTED = ("icims", "jobvite", "breezy", "rippling", "pinpoint")
HOSTED = (*FIRST_HOSTED, *LATER_HOSTED)
PLATFORMS = (*HOSTED, OWN, SCRIPTED)
# Under every seed: token, name, platform, number of places that can be filled.
KNOWN = MappingProxyType(
    {
        "acme": ("Acme Anvils", "greenhouse", 24),
        "borealis": ("Borealis Freight", "lever", 18),
        "cobalt": ("Cobalt Payments", "ashby", 15),
        "dunlin": ("Dunlin Systems", "workday", 2_600),
        "ember": ("Ember Energy", "smartrecruiters", 260),
        "fathom": ("Fathom Water", "recruitee", 12),
        "garnet": ("Garnet Games", "workable", 45),
        "heron": ("Heron Health", "personio", 14),
        "isthmus": ("Isthmus Travel", "teamtailor", 40),
        "juniper": ("Juniper Foods", "bamboohr", 11),
        "kestrel": ("Kestrel Optics", OWN, 34),
        "larkspur": ("Larkspur Learning", SCRIPTED, 9),
        "mallow": ("Mallow Media", "icims", 58),
        "nutmeg": ("Nutmeg Foods", "jobvite", 70),
        "orchard": ("Orchard Robotics", "breezy", 13),
        "pumice": ("Pumice Devices", "rippling", 16),
        "quartz": ("Quartz Security", "pinpoint", 12),
    }
)
# `crowd-0`, `crowd-1` ... are companies with about a hundred postings each, in turn on every platform: for
# benchmarks.
CROWD, CROWDED, MAX_FIGURES = "crowd-", 120, 6
# Registries that sell names below these: acme.co.uk is acme's.
SECOND_LEVEL = frozenset(("co", "com", "org", "net", "ac", "gov"))
SITE_LABELS = ("www.", "careers.", "jobs.", "career.")
NOBODY = "no-such"


@dataclass(frozen=True, slots=True)
class Company:
    """One company. `custom_domain` says that its board answers under `careers.` of its own site."""

    token: str
    name: str
    platform: str
    trade: str
    city: tuple[str, str, str, str, str, int]
    founded: int
    staff: int
    places: int
    layout: int
    custom_domain: bool
    workday_site: str
    workday_number: int

    @property
    def site(self) -> str:
        return f"www.{self.token}.example"


def token_of(host: str) -> str:
    """The part of a host name that a company would call its own."""
    parts = host.split(".")
    if len(parts) > 2 and parts[-2] in SECOND_LEVEL:
        parts = parts[:-1]
    return parts[-2] if len(parts) > 1 else parts[0]


@lru_cache(4_096)
def company(seed: int, token: str) -> Company:
    """The company that calls itself this."""
    draw = Draw(seed, "company", token.lower())
    name, platform, places = KNOWN.get(token.lower()) or _crowded(token.lower()) or _drawn(seed, token, draw)
    return Company(
        token=token.lower(),
        name=name,
        platform=platform,
        trade=draw.pick(TRADES),
        city=draw.pick(CITIES),
        founded=draw.between(1962, 2023),
        staff=draw.between(8, 4_000),
        places=places,
        layout=draw.below(3),
        custom_domain=draw.chance(20),
        workday_site=draw.pick(
            ("External", "Careers", f"{_name(token).replace(' ', '_')}_Careers", "External_Career_Site")
        ),
        workday_number=draw.pick((1, 3, 5, 12, 103)),
    )


def _drawn(seed: int, token: str, draw: Draw) -> tuple[str, str, int]:
    """Name, platform and places. Some moved to a platform that came later: drawn apart, so that all the
    others stayed where they are.
    """
    name, platform, places = (
        _name(token) + draw.pick(FORMS),
        draw.pick((*FIRST_HOSTED, OWN, SCRIPTED)),
        draw.between(2, 30),
    )
    moved = Draw(seed, "newer", token.lower())
    return name, moved.pick(LATER_HOSTED) if moved.chance(28) else platform, places


def _crowded(token: str) -> tuple[str, str, int] | None:
    number = token.removeprefix(CROWD)
    if number == token or len(number) > MAX_FIGURES or not (number.isascii() and number.isdecimal()):
        return None
    return f"Crowd {int(number)}", HOSTED[int(number) % len(HOSTED)], CROWDED


def owner(seed: int, platform: str, token: str) -> Company | None:
    """Whose board a token is on this platform; None where there is no such board."""
    if not token or token.lower().startswith(NOBODY):
        return None
    rightful = company(seed, token)
    if rightful.platform == platform:
        return rightful
    draw = Draw(seed, "namesake", platform, token.lower())
    if token.lower() in KNOWN or not draw.chance(4):
        return None
    other = company(seed, f"{token}-{draw.pick(SECOND).lower()}")
    return replace(other, platform=platform, token=token.lower())


@lru_cache(16)
def directory(seed: int, count: int = 120) -> tuple[Company, ...]:
    """The companies that feeds and searches know of: the known ones and a handful of the seed's."""
    draw = Draw(seed, "directory")
    tokens = list(KNOWN)
    while len(tokens) < count:
        token = f"{draw.pick(FIRST)}{draw.pick(SECOND)}".lower()
        if token not in tokens:
            tokens.append(token)
    return tuple(company(seed, token) for token in tokens)


def _name(token: str) -> str:
    """Words for a token: `maplewater` and `maple-water` are both Maple Water."""
    lower = token.lower()
    for second in SECOND:
        first = lower.removesuffix(second.lower())
        if first != lower and first and first.isalpha():
            return f"{first.title()} {second}"
    return " ".join(word.capitalize() for word in re.split(r"[^0-9a-z]+", lower) if word) or "Nameless"


# What a company is like: its mission, its values, its stack, its offices. Drawn apart from the rest of it,
# told on its pages, and known here, so that a test can ask what a careful reader should have found, and
# what only looks like it.

City = tuple[str, str, str, str, str, int]
OREGON: City = ("Portland", "OR", "United States", "US", "USD", 125)
MAINE: City = ("Portland", "ME", "United States", "US", "USD", 96)
STATES = MappingProxyType({"OR": "Oregon", "ME": "Maine"})
# What things are written in, run on and kept in. The names are those that people use in prose.
STACK = (
    "Python",
    "TypeScript",
    "Java",
    "Go",
    "Rust",
    "Ruby",
    "PHP",
    "C#",
    "React",
    "Vue",
    "Angular",
    "Django",
    "Docker",
    "Kubernetes",
    "AWS",
    "PostgreSQL",
    "MySQL",
    "Redis",
    "Kafka",
    "Terraform",
    "PyTorch",
)
INDUSTRIES = (
    "Financial services",
    "Health care",
    "Logistics",
    "Energy",
    "Education",
    "Manufacturing",
    "Software",
    "Travel",
    "Agriculture",
)
MISSIONS = (
    "to make {trade} that anybody can rely on",
    "to bring honest {trade} to every town",
    "to waste less, one customer after another",
    "to give small companies the tools that only large ones had",
)
CULTURES = (
    "We write things down, decide in small groups and change our minds when the numbers do.",
    "We value plain words, kept promises and people who ask why, and nobody here is paid for looking busy.",
    "Teams own what they build, mistakes are told aloud, and a good argument counts for more than a title.",
)
VALUES = (
    "Finish what you start",
    "Say what you see",
    "Leave it better",
    "Share the credit",
    "Keep it simple",
    "Be kind to others",
)
REMOTE_FIRST = (
    "We are a remote-first company",
    "Everybody here works remotely, and always has",
    "Remote-first since the first day",
)
NOT_REMOTE = (
    "We are not a remote company: we like to meet",
    "Our sensors are read from remote valleys",
    "Remote work is the exception here",
)
AI_FOCUS = (
    "Machine learning is at the heart of what we build",
    "Artificial intelligence reads every meter before a person does",
    "Our own AI models plan every delivery",
)
# Words with the names of technologies and places inside them, said by everybody who does not use or have
# them.
TRAPS = MappingProxyType(
    {
        "React": "We react to every complaint within a day.",
        "Go": "We go home in time.",
        "Rust": "Our machines do not rust.",
        "Java": "The coffee in the kitchen comes from Java.",
    }
)
ALWAYS = "Our maintenance team sends its mail as plain HTML, and the main hall is open to visitors."
CEMENT = "The new hall stands on Portland cement."


@dataclass(frozen=True, slots=True)
class Traits:
    """What is true of a company. `tech` in the names people use; `offices` besides the headquarters; `traps`
    are sentences on its pages.
    """

    mission: str
    culture: str
    values: tuple[str, ...]
    size: int
    headquarters: str
    industry: str
    founded: int
    tech: tuple[str, ...]
    remote_first: bool
    remote_words: str
    ai_focus: bool
    ai_words: str
    offices: tuple[City, ...]
    traps: tuple[str, ...]

    @property
    def in_portland(self) -> bool:
        """Portland in Oregon, which is the one that is meant."""
        return OREGON in self.offices


@lru_cache(4_096)
def traits(seed: int, who: Company) -> Traits:
    """What this company is like under this seed."""
    draw = Draw(seed, "traits", who.token)
    tech = tuple(draw.some(STACK, draw.between(3, 7))) if draw.chance(80) else ()
    remote, ai = draw.chance(30), draw.chance(25)
    portland = draw.below(10)
    offices = tuple(each for each in draw.some(CITIES, draw.below(3)) if each != who.city)
    offices += {0: (OREGON,), 1: (OREGON,), 2: (MAINE,)}.get(portland, ())
    traps = [sentence for name, sentence in TRAPS.items() if name not in tech and draw.chance(60)]
    traps += [CEMENT] if portland in (3, 4) else []
    return Traits(
        mission=f"Our mission is {draw.pick(MISSIONS).format(trade=who.trade)}.",
        culture=draw.pick(CULTURES),
        values=tuple(draw.some(VALUES, 3)),
        size=who.staff,
        headquarters=f"{who.city[0]}, {who.city[2]}",
        industry=draw.pick(INDUSTRIES),
        founded=who.founded,
        tech=tech,
        remote_first=remote,
        remote_words=draw.pick(REMOTE_FIRST if remote else NOT_REMOTE),
        ai_focus=ai,
        ai_words=draw.pick(AI_FOCUS) if ai else "",
        offices=offices,
        traps=(*traps, ALWAYS),
    )


def office_text(city: City) -> str:
    """A place as a company writes it: with its state where the name alone could be another."""
    return f"{city[0]}, {STATES[city[1]]}" if city[1] in STATES else city[0]
