"""What a detection found, proved and could not prove: stored with the recipe, and shown before anything
starts.

Everything is said in figures and sentences for a person; nothing of it steers an extraction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

MAX_NOTES = 20
MAX_SAMPLES = 8


class Confidence(StrEnum):
    """How far an estimate is to be trusted: everything was counted, the count was checked at both ends, it
    follows from a sample, or nobody knows.
    """

    COUNTED = "counted"
    CHECKED = "checked"
    SAMPLED = "sampled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number between two bounds; None where there is none."""

    NOT_STORED: ClassVar = (None,)

    likely: int | None = None
    low: int | None = None
    high: int | None = None
    confidence: Confidence = Confidence.UNKNOWN


@dataclass(frozen=True, slots=True)
class PagingReport:
    """How a list goes on. `claims` is the number of pages that it says it has, `pages` the number that was
    proved; `after_last` is what the page behind the last one does.
    """

    NOT_STORED: ClassVar = (None, ())

    kind: str = ""
    second_page: str | None = None
    new_links: int | None = None
    claims: int | None = None
    pages: int | None = None
    after_last: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SampleReport:
    """One page that was looked at, and what it turned out to be."""

    NOT_STORED: ClassVar = (None,)

    url: str = ""
    title: str | None = None
    reading: str | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class LevelReport:
    """One level: what its pages are, why, and what was sampled. `links` are figures of its first page."""

    NOT_STORED: ClassVar = (None, ())

    page_type: str = ""
    by: str = "rules"
    certain: bool = False
    reasons: tuple[str, ...] = ()
    samples: tuple[SampleReport, ...] = ()
    links_on_first_page: int | None = None
    examples: tuple[str, ...] = ()
    paging: PagingReport | None = None
    pages: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """One thing that was read from a sampled page, with its evidence. `by` is what read it."""

    NOT_STORED: ClassVar = ((),)

    url: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    by: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CostReport:
    """What an extraction will cost in model calls, in dollars: `dollars` is None where it is not known."""

    NOT_STORED: ClassVar = (None,)

    dollars: float | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question: a sentence, and what to write into the recipe's configuration for it."""

    says: str = ""
    configuration: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person can decide."""

    NOT_STORED: ClassVar = ((),)

    asks: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a detection has to say. `requests` are the pages that it fetched."""

    NOT_STORED: ClassVar = (None, ())

    made_by: str = "rules"
    levels: tuple[LevelReport, ...] = ()
    pages: Estimate = Estimate()
    items: Estimate = Estimate()
    preview: tuple[PreviewItem, ...] = ()
    fields_read: tuple[str, ...] = ()
    fields_missing: tuple[str, ...] = ()
    cost: CostReport = CostReport()
    question: Question | None = None
    notes: tuple[str, ...] = ()
    requests: int = 0
    model_cost: float = 0.0
