"""What the jobs app keeps of its own, as it is read: matches, decisions and saved searches.

A field that is absent, or says something odd, has its default (`core/stored.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from thresher.core.record import Found
from thresher.core.stored import read


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """An opening that suits the profile. `status` and `note` are the person's; times are microseconds since
    1970, 0 for never.
    """

    key: str
    posting: str | None = None
    title: str | None = None
    company: str | None = None
    url: str | None = None
    score: int | None = None
    priority: str | None = None
    matched_skills: tuple[str, ...] = ()
    skill_gaps: tuple[str, ...] = ()
    resume_intake: Any = None
    explanation: Any = None
    decided_at: int = 0
    notified_at: int = 0
    status: str | None = None
    status_at: int = 0
    note: str | None = None

    @classmethod
    def of(cls, found: Found) -> "MatchRecord":
        return read(cls, found.data, key=found.key)

    @property
    def of_posting(self) -> str:
        """The key of its posting."""
        return self.posting or self.key


@dataclass(frozen=True, slots=True)
class SpokenRule:
    """A rule that spoke in a decision: a rejection, or a component of the score."""

    name: str = ""
    category: str = ""
    severity: str = ""
    points: int = 0
    reason: str = ""
    quote: str | None = None
    place: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What is kept of a model's judgement."""

    name: str | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What was decided about a posting. `score` and what follows are None where the filter ended it."""

    key: str
    posting: str | None = None
    outcome: str | None = None
    total_strikes: int = 0
    threshold: int = 0
    rejections: tuple[SpokenRule, ...] = ()
    score: int | None = None
    components: tuple[SpokenRule, ...] = ()
    needed: int | None = None
    city_bonus: bool | None = None
    model: AskedModel | None = None
    at: int = 0
    profile: str | None = None

    @classmethod
    def of(cls, found: Found) -> "DecisionRecord":
        return read(cls, found.data, key=found.key)


@dataclass(frozen=True, slots=True)
class SavedView:
    """A search that was saved under a name, which is its key."""

    key: str
    filters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Found) -> "SavedView":
        return read(cls, found.data, key=found.key)


# The status that a person gives a match. It is new once, and after that only the person changes it.


class Status(StrEnum):
    """The four things that a person may have done about a match."""

    NEW = "new"
    VIEWED = "viewed"
    APPLIED = "applied"
    DISMISSED = "dismissed"
