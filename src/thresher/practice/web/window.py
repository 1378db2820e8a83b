"""The rows a listing shows, with the lies that listings tell: caps, wrapping offsets, wrong totals, doubled
and renamed rows.

Every list of every site goes through here, so each twist works everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from thresher.practice.web.answer import WebRequest, whole
from thresher.practice.web.knob import Trouble
from thresher.practice.web.posting import ROTATION, PracticePosting


class ListedRow(Protocol):
    """Whatever a listing lists: a frozen dataclass with a number of its own."""

    @property
    def id(self) -> int: ...


R = TypeVar("R", bound=ListedRow)


@dataclass(frozen=True, slots=True)
class ListWindow(Generic[R]):
    """One page of a list, the total the site claims, and what it recommends when it found nothing."""

    rows: tuple[R, ...]
    total: int
    recommended: tuple[R, ...] = ()


def window(ask: WebRequest, rows: Sequence[R], offset: int = 0, limit: int | None = None) -> ListWindow[R]:
    """The rows from `offset` on, as this host's twists would have it."""
    if Trouble.NO_RESULTS in ask.twists:
        return ListWindow((), 0, tuple(rows[:5]))
    reachable = _doubled(ask, rows)
    total = len(reachable) + _number(ask, Trouble.TOTAL, 0)
    reachable = reachable[: _number(ask, Trouble.CAP, len(reachable))]
    offset = max(0, offset)
    if Trouble.WRAP in ask.twists and reachable:
        offset %= len(reachable)
    shown = reachable[offset:] if limit is None else reachable[offset : offset + max(0, limit)]
    return ListWindow(tuple(_renamed(ask, row) for row in shown), max(0, total))


def found(rows: Sequence[R], number: int) -> R | None:
    """The row with this id, also under a name it has had for one answer."""
    known = {row.id: row for row in rows}
    return known.get(number) or known.get(number // ROTATION)


def named(rows: Sequence[R], part: str) -> R | None:
    """The row that a part of a path names: `123`, or `123-and-words`."""
    return found(rows, whole(part.partition("-")[0]))


def marked(rows: Sequence[PracticePosting], path: str) -> PracticePosting | None:
    """The posting whose mark a path ends with, also with the ending it has had for one answer."""
    return next(
        (each for each in rows if path.endswith(each.mark) or path.rpartition("-")[0].endswith(each.mark)),
        None,
    )


def _doubled(ask: WebRequest, rows: Sequence[R]) -> list[R]:
    every = _number(ask, Trouble.DUPLICATES, 0)
    if every < 1:
        return list(rows)
    return [
        row for place, each in enumerate(rows, 1) for row in ((each, each) if place % every == 0 else (each,))
    ]


def _renamed(ask: WebRequest, row: R) -> R:
    if Trouble.ROTATING_IDS not in ask.twists:
        return row
    changed: Any = row  # a frozen dataclass, which a protocol cannot say
    renamed: R = replace(changed, id=row.id * ROTATION + ask.count % ROTATION)
    return renamed


def _number(ask: WebRequest, trouble: Trouble, otherwise: int) -> int:
    knob = ask.twists.get(trouble)
    return otherwise if knob is None else knob.number
