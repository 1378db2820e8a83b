"""The jobs app's own records: matches, decisions, saved searches and the last review. How each is read and
written.

A field that is absent, or says something odd, has its default (`core/stored.py`). A match is merged, because
its status belongs to a person: a task writes the fields that it knows (`MatchFields`). The others are written
whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Self, TypedDict

from thresher.core.record import Found, Link, Record
from thresher.core.stored import read, written
from thresher.hiring.kinds import POSTING

DECISION, MATCH, VIEW, REVIEW = "decision", "match", "view", "review"
FILTERED, SKIPPED, SAVED, UNKNOWN = "filtered", "skipped", "saved", "unknown"  # outcomes of a decision
DECISION_MARKS = ("outcome",)
MATCH_MARKS = ("status", "score", "priority", "decided_at", "notified_at")


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """An opening that suits the profile. `status` and `note` are the person's; times are microseconds since
    1970, 0 for never. `withdrawn` is why it suits no more, by a later judgement.
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
    withdrawn: str | None = None
    decided_at: int = 0
    notified_at: int = 0
    status: str | None = None
    status_at: int = 0
    note: str | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    @property
    def is_current(self) -> bool:
        """Whether it is still a match, or a person has dealt with it."""
        return self.withdrawn is None or self.status != Status.NEW

    @property
    def of_posting(self) -> str:
        """The key of its posting."""
        return self.posting or self.key


class MatchFields(TypedDict, total=False):
    """The fields that a task, or a person, may write of a match."""

    posting: str | None
    title: str | None
    company: str | None
    url: str | None
    score: int | None
    priority: str | None
    matched_skills: tuple[str, ...]
    skill_gaps: tuple[str, ...]
    resume_intake: Any
    explanation: Any
    withdrawn: str | None
    decided_at: int
    notified_at: int
    status: str | None
    status_at: int
    note: str | None


def match_entry(key: str, fields: MatchFields, *links: Link, initial: MatchFields | None = None) -> Record:
    """What is known now of a match."""
    return Record(
        MATCH, key, written(fields), links, merge=True, initial=written(initial or {}), marks=MATCH_MARKS
    )


@dataclass(frozen=True, slots=True)
class RulePlace:
    """Where in the posting a rule found its words: in the description, or in the field `path`."""

    NOT_STORED: ClassVar = (None,)

    start: int | None = None
    end: int | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class SpokenRule:
    """A rule that spoke in a decision: a rejection, or a component of the score, which has neither category
    nor severity.
    """

    NOT_STORED: ClassVar = ("",)

    name: str = ""
    category: str = ""
    severity: str = ""
    points: int = 0
    reason: str = ""
    quote: str | None = None
    place: RulePlace | None = None


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What is kept of a model's judgement."""

    name: str | None = None
    answer: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What was decided about a posting. `score` and what follows are None where the filter ended it.

    Of one that is unknown, `problem` says why it could not be judged, and `missing` what it does not say.
    """

    key: str
    posting: str | None = None
    outcome: str | None = None
    problem: str | None = None
    missing: tuple[str, ...] = ()
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
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    def record(self) -> Record:
        """The decision as it is stored, in place of an older one."""
        return Record(DECISION, self.key, written(self), (Link(POSTING, self.key),), marks=DECISION_MARKS)


@dataclass(frozen=True, slots=True)
class SavedView:
    """A search for matches that was saved under a name, which is its key."""

    key: str
    filters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    def record(self) -> Record:
        """The search as it is stored, in place of an older one of its name."""
        return Record(VIEW, self.key, {"of": MATCH, **written(self)})


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """The last review of companies and boards. `digest` stands for the profile and the points it went by."""

    key: str
    digest: str | None = None
    at: int = 0

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    def record(self) -> Record:
        """The review as it is stored, in place of the one before."""
        return Record(REVIEW, self.key, written(self))


# The status that a person gives a match. It is new once, and after that only the person changes it.


class Status(StrEnum):
    """What you may have done about a match."""

    NEW = "new"
    VIEWED = "viewed"
    APPLIED = "applied"
    DISMISSED = "dismissed"
