"""An opening: a posting whose facts were read, in the terms that filters, scores and matches decide in.

None and the empty tuple mean that the posting does not say, which is not no. Every fact has its place in the
posting, under its own name, in `evidence`.
"""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from thresher.core.evidence import Evidence


class Workplace(StrEnum):
    """Where the work is done."""

    REMOTE = "remote"
    HYBRID = "hybrid"
    ONSITE = "onsite"


class Level(StrEnum):
    """How senior the work is, from low to high."""

    INTERN = "intern"
    JUNIOR = "junior"
    MID = "mid"
    SENIOR = "senior"
    STAFF = "staff"
    PRINCIPAL = "principal"
    LEAD = "lead"
    MANAGER = "manager"
    DIRECTOR = "director"
    EXECUTIVE = "executive"


class Employment(StrEnum):
    """The sort of contract."""

    FULL_TIME = "full_time"
    PART_TIME = "part_time"
    CONTRACT = "contract"
    TEMPORARY = "temporary"
    INTERNSHIP = "internship"
    VOLUNTEER = "volunteer"


@dataclass(frozen=True, slots=True)
class Pay:
    """What is paid a year, in whole units of the currency, and how it was written. `period` is the one that
    it was written for.
    """

    text: str
    low: Decimal | None = None
    high: Decimal | None = None
    currency: str | None = None
    period: str | None = None
    year_low: int | None = None
    year_high: int | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of work, as far as it is said: a country alone is a place too. `region` and `country` are
    codes where known (OR, US).
    """

    text: str
    city: str | None = None
    region: str | None = None
    country: str | None = None
    remote: bool = False


@dataclass(frozen=True, slots=True)
class Experience:
    """The years that are asked for."""

    low: int
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """`key` is that of the posting's record; `text` is the whole description, without mark-up."""

    key: str
    title: str
    text: str = ""
    company: str | None = None
    url: str | None = None
    posted: date | None = None
    pay: Pay | None = None
    spots: tuple[Spot, ...] = ()
    workplace: Workplace | None = None
    level: Level | None = None
    experience: Experience | None = None
    employment: tuple[Employment, ...] = ()
    skills: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
