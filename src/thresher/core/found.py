"""Reading records back: what a stage, a command or a page asks for, and what it is given.

Records are found by their kind and key, by what they belong to, or by their marks: the few values that
whoever wrote them wanted them found by.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.evidence import Evidence
from thresher.core.record import Link

Mark = str | int


@dataclass(frozen=True, slots=True)
class Is:
    """A mark that has exactly one of these values."""

    name: str
    values: tuple[Mark, ...]

    def __init__(self, name: str, *values: Mark) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class Between:
    """A mark that is a number from `low` to `high`, both included. None: no such bound."""

    name: str
    low: int | None = None
    high: int | None = None


Where = Is | Between


@dataclass(frozen=True, slots=True)
class Found:
    """A record as it stands. `id` orders records by when they were first seen; times are microseconds since
    1970.
    """

    kind: str
    key: str
    data: Mapping[str, Any]
    links: tuple[Link, ...] = ()
    evidence: Evidence | None = None
    id: int = 0
    seen: int = 1
    created_at: int = 0
    updated_at: int = 0
    first_task: int = 0
    last_task: int = 0
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def linked(self, name: str) -> tuple[str, ...]:
        """What it belongs to, under one name."""
        return tuple(link.target for link in self.links if link.name == name)
