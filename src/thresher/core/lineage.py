"""The loop guard: four checks, in this order, on every spawn. Pure; the store supplies the facts.

A child carries its lineage key: the URL key where it has a URL, else its dedupe key. A child with neither can
only be stopped by depth, so give children one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from thresher.core.task import Entry, Parent, ancestry_mark


class RefusalRule(StrEnum):
    """Why a child was refused, as its refusal row says."""

    TOO_DEEP = "too_deep"
    IN_ANCESTRY = "in_ancestry"
    LIVE_IN_LINEAGE = "live_in_lineage"
    ENDED_IN_LINEAGE = "ended_in_lineage"
    DUPLICATE_KEY = "duplicate_key"
    GROUP_OPEN = "group_open"
    INVALID = "invalid"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A spawn that was refused, and why."""

    rule: RefusalRule
    detail: str


class Lineage(Protocol):
    """What the store knows of one lineage."""

    def has_live(self, kind: str, key: str) -> bool: ...
    def has_ended(self, kind: str, key: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Case:
    parent: Parent
    entry: Entry
    key: str | None
    lineage: Lineage
    max_depth: int


def _too_deep(case: _Case) -> Refusal | None:
    if case.parent.depth < case.max_depth:
        return None
    return Refusal(
        RefusalRule.TOO_DEEP,
        f"depth {case.parent.depth + 1}; the limit is {case.max_depth} (lineage.max_depth)",
    )


def _in_ancestry(case: _Case) -> Refusal | None:
    if ancestry_mark(case.entry.kind, case.key) not in case.parent.ancestry:
        return None
    return Refusal(RefusalRule.IN_ANCESTRY, "one of its ancestors has the same kind and target: a loop")


def _live(case: _Case) -> Refusal | None:
    if case.key is None or not case.lineage.has_live(case.entry.kind, case.key):
        return None
    return Refusal(
        RefusalRule.LIVE_IN_LINEAGE,
        "a task with the same kind and target is already waiting or running in this lineage",
    )


def _ended(case: _Case) -> Refusal | None:
    if case.key is None or not case.lineage.has_ended(case.entry.kind, case.key):
        return None
    return Refusal(
        RefusalRule.ENDED_IN_LINEAGE, "a task with the same kind and target has already ended in this lineage"
    )


CHECKS: tuple[Callable[[_Case], Refusal | None], ...] = (_too_deep, _in_ancestry, _live, _ended)


def refusal(parent: Parent, entry: Entry, lineage: Lineage, max_depth: int) -> Refusal | None:
    """Return the first check that fails, or None if the child is accepted."""
    case = _Case(parent, entry, entry.lineage_key, lineage, max_depth)
    return next((found for check in CHECKS if (found := check(case))), None)
