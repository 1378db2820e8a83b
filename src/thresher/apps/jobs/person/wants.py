"""What a person wants of an opening: the profile as the filter and the score use it, with defaults.

Lists are replaced as a whole: one that a person writes replaces the default, so that nothing is filtered by a
word that the person cannot see.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

import orjson

from thresher.hiring.technology import known_as


class Rank(StrEnum):
    """What a technology means to you: wanted, fine, disliked, or out of the question."""

    REQUIRED = "required"
    OK = "ok"
    STRIKE = "strike"
    FAIL = "fail"


class Size(StrEnum):
    """How large a company is."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class Notify(StrEnum):
    """The lowest priority of matches to send messages about."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Skill:
    """How the profile ranks a technology, and for how many years it was used."""

    rank: Rank
    years: int | None = None


@dataclass(frozen=True, slots=True)
class Workplaces:
    """How a person is willing to work. Places are written as in "Portland" or "Portland, OR".

    `hybrid_in` None means the person's own city, where one is named. `onsite` allows work in any office,
    `onsite_in` in some.
    """

    remote: bool = True
    hybrid_in: tuple[str, ...] | None = None
    onsite: bool = False
    onsite_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Salary:
    """What a year must pay, and what it should."""

    floor: int = 100_000
    target: int = 150_000
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class Levels:
    """How senior the work should be, in words of titles. `excluded` ones reject, `unwanted` ones cost points
    (None: the setting's).
    """

    wanted: tuple[str, ...] = ("senior", "staff", "lead")
    unwanted: Mapping[str, int | None] = field(
        default_factory=lambda: {
            "mid-level": 2,
            "principal": 1,
            "director": 1,
            "manager": 1,
            "engineering manager": 1,
        }
    )
    excluded: tuple[str, ...] = ("associate", "junior", "intern", "entry-level", "co-op")


@dataclass(frozen=True, slots=True)
class Stops:
    """What the profile excludes completely."""

    types: tuple[str, ...] = ("sales", "hr", "recruiter", "support", "customer success")
    companies: tuple[str, ...] = ()
    keywords: tuple[str, ...] = (
        "clearance required",
        "security clearance",
        "relocation required",
        "must relocate",
    )
    domains: tuple[str, ...] = ()
    commission: tuple[str, ...] = (
        "commission only",
        "commission-based only",
        "commission based only",
        "100% commission",
        "straight commission",
        "pure commission",
        "multi-level marketing",
        "multilevel marketing",
        "mlm",
        "network marketing",
        "be your own boss",
        "unlimited earning potential",
        "unlimited income",
    )
    buzzwords: tuple[str, ...] = ("rockstar", "rock star", "ninja", "guru", "10x engineer")


def _disliked() -> Mapping[str, Skill]:
    words = ("java", "php", "ruby", "rails", "wordpress", ".net", "c#", "perl")
    return {known_as(word): Skill(Rank.STRIKE) for word in words}


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Everything a person said. Two profiles that say the same are equal; `digest` is their common name."""

    city: str | None = None
    region: str | None = None
    country: str | None = None
    timezone: str | None = None
    titles: tuple[str, ...] = (
        "software engineer",
        "software developer",
        "engineer",
        "developer",
        "programmer",
    )
    skills: Mapping[str, Skill] = field(default_factory=_disliked)
    workplace: Workplaces = field(default_factory=Workplaces)
    salary: Salary = field(default_factory=Salary)
    experience: int = 6
    levels: Levels = field(default_factory=Levels)
    excluded: Stops = field(default_factory=Stops)
    size: Size | None = None
    notify: Notify = Notify.HIGH
    digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        said = orjson.dumps(as_json(self), option=orjson.OPT_SORT_KEYS)
        object.__setattr__(self, "digest", sha256(said).hexdigest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def as_json(profile: Profile) -> dict[str, Any]:
    """Return the profile in its stored form, the same shape as the YAML file."""
    work, pay, levels, out = profile.workplace, profile.salary, profile.levels, profile.excluded
    return {
        "city": profile.city,
        "region": profile.region,
        "country": profile.country,
        "timezone": profile.timezone,
        "titles": list(profile.titles),
        "skills": {
            name: {"rank": str(skill.rank), "years": skill.years} for name, skill in profile.skills.items()
        },
        "workplace": {
            "remote": work.remote,
            "hybrid_in": None if work.hybrid_in is None else list(work.hybrid_in),
            "onsite": work.onsite,
            "onsite_in": list(work.onsite_in),
        },
        "salary": {"floor": pay.floor, "target": pay.target, "currency": pay.currency},
        "experience": profile.experience,
        "levels": {
            "wanted": list(levels.wanted),
            "unwanted": dict(levels.unwanted),
            "excluded": list(levels.excluded),
        },
        "excluded": {name: list(getattr(out, name)) for name in STOPS},
        "size": profile.size and str(profile.size),
        "notify": str(profile.notify),
    }


STOPS = ("types", "companies", "keywords", "domains", "commission", "buzzwords")
