"""What a detection has said of a recipe, as people look at it before anything starts: samples, a preview of a
few items, and what an extraction would take.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.stored import read


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number between two bounds, and how far it is to be trusted; None where nobody knows."""

    likely: int | None = None
    low: int | None = None
    high: int | None = None
    confidence: str = "unknown"


@dataclass(frozen=True, slots=True)
class Sample:
    """One page that was looked at, and what it turned out to be."""

    url: str = ""
    title: str | None = None
    reading: str | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class LevelSeen:
    """One level: what its pages are, why, and what was sampled."""

    page_type: str = ""
    by: str = "rules"
    reasons: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    pages: Estimate = field(default_factory=Estimate)


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """One thing that was read from a sampled page."""

    url: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    by: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What an extraction will cost in model calls, in dollars."""

    dollars: float | None = None
    says: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question."""

    says: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person can decide."""

    asks: str = ""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class DetectionReport:
    """What of a stored report is shown."""

    levels: tuple[LevelSeen, ...] = ()
    pages: Estimate = field(default_factory=Estimate)
    items: Estimate = field(default_factory=Estimate)
    preview: tuple[PreviewItem, ...] = ()
    fields_missing: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)
    question: Question | None = None
    notes: tuple[str, ...] = ()


def report_of(stored: Mapping[str, Any] | None) -> DetectionReport | None:
    """A report as it was stored; None where nothing was reported."""
    return None if stored is None else read(DetectionReport, stored)
