"""Outcomes: what a stage returns, with records, children, effects and events. Exceptions are for surprises.

A stage reads and calls out, and *returns* what it found. It never writes: what the outcome carries becomes
fact in the one transaction that settles the attempt. So a retry is safe by construction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from thresher.core.event import NewEvent
from thresher.core.group import Group, Stop
from thresher.core.record import Record
from thresher.core.task import NewTask

# Effects: named changes of an app's own tables, made by the settlement.
#
# A stage writes nothing. Where records are not enough (a queue of its own, a million pairs) it returns
# effects, and the store makes them behind the same fence, in the same transaction. Making one twice must do
# no harm: an attempt may be settled, and its answer lost.

# Called with the open transaction (a `thresher.store.session.Session`), the arguments from the stage, and the
# time in microseconds since 1970. What it counts, if anything, is added to the counters of the task's group,
# and to the result of a task that is done.
MakeEffect = Callable[[Any, Mapping[str, Any], int], Mapping[str, int] | None]


# Called with the open transaction, the arguments from the stage, and the time.
ReadTables = Callable[[Any, Mapping[str, Any], int], Any]


@dataclass(frozen=True, slots=True)
class Effect:
    """A request for such a change. `name` is one of those in the app's `App.effects`."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


class CheckedEffect(NamedTuple):
    """An effect with the function that carries it out."""

    name: str
    data: Mapping[str, Any]
    make: MakeEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class Finds:
    """What an attempt returns, whatever its outcome.

    `group` opens a group, or a run, of the children. `counts` adds to the counters of the task's own group,
    and `stop` says how its run ended; in the follow-up task of a group, both apply to that group. Without a
    group, both are ignored.
    """

    records: tuple[Record, ...] = ()
    children: tuple[NewTask, ...] = ()
    effects: tuple[Effect, ...] = ()
    events: tuple[NewEvent, ...] = ()
    group: Group | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Done(Finds):
    """The task is complete. `result` is JSON for whoever waits for the task, and is stored as long as the
    task is.
    """

    note: str | None = None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Next(Finds):
    """This stage is complete; the next one continues from the checkpoint. With `again` the same stage
    continues: long work is stored one part at a time.
    """

    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    again: bool = False


@dataclass(frozen=True, slots=True)
class Filtered(Finds):
    """A rule rejected it. Final, and not an error."""

    reason: str


@dataclass(frozen=True, slots=True)
class Skipped(Finds):
    """Not worth doing (a duplicate, below a threshold). Final, and not an error."""

    reason: str


@dataclass(frozen=True, slots=True)
class Snooze:
    """Not now: come back in `delay` seconds. Waiting spends no retry."""

    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Failed(Finds):
    """It cannot be done, and a retry will not help. What was found on the way is stored."""

    reason: str


Outcome = Done | Next | Filtered | Skipped | Snooze | Failed
