"""The steps of a detection: a page to look at, a question to a model, or one of the three ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from thresher.apps.extractions.detection.report import Question, Report
from thresher.apps.extractions.model import Configuration


class Why(StrEnum):
    """What a page is looked at for."""

    ROOT = "root"
    SAMPLE = "sample"
    PAGING = "paging"
    API = "api"
    SCRIPT = "script"


@dataclass(frozen=True, slots=True)
class Want:
    """A page to look at."""

    url: str = ""
    why: Why = Why.ROOT
    level: int = 0
    render: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a model about a page: its type, example links of its list, or its next page."""

    about: str = ""
    url: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the votes of a model came to. `agreed`: most said the same, and what they said stands on the
    page.
    """

    NOT_STORED: ClassVar = (None, ())

    about: str = ""
    value: str | None = None
    urls: tuple[str, ...] = ()
    votes: int = 0
    agreed: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A configuration, with its proof. `details` are sampled pages of the last level; `rows` those of an
    API.
    """

    configuration: Configuration
    report: Report
    made_by: str
    details: tuple[str, ...] = ()
    rows: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Unclear:
    """Only a person can decide."""

    question: Question
    report: Report


@dataclass(frozen=True, slots=True)
class Hopeless:
    """There is no configuration, and why."""

    reason: str


Step = Want | Ask | Found | Unclear | Hopeless


class Needs(Exception):
    """The plan cannot go on without this step."""

    def __init__(self, step: Want | Ask) -> None:
        super().__init__(str(step))
        self.step = step
