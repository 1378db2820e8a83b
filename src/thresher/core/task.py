"""Tasks: as requested (`NewTask`), checked (`Entry`), inserted (`TaskInsert`), held by a worker (`Task`),
and as seen by the program that requested them (`TaskStatus`); their states and the legal transitions.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, NewType

import orjson

from thresher.core.clock import to_us
from thresher.core.errors import InvalidPayload

# Distinct id types, so that a gate is never passed where a lane is meant.

TaskId = NewType("TaskId", int)
WorkerId = NewType("WorkerId", int)
LaneId = NewType("LaneId", int)
GateId = NewType("GateId", int)


MAX_PRIORITY = 100
MAX_KEY = 512
MAX_DELAY = 10 * 365 * 86_400.0


@dataclass(frozen=True, slots=True)
class NewTask:
    """A request for work. `key` makes it unique among live tasks of its kind; `url` lets the loop guard see
    it.

    `priority` is a head start: each step counts as having waited one `queue.head_start` longer. `delay` is in
    seconds. A `detached` child does not join the group of its parent.
    """

    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None
    key: str | None = None
    priority: int = 0
    delay: float = 0.0
    detached: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A checked request, with its first stage and the gates it waits at: what the store writes."""

    kind: str
    stage: str
    gates: tuple[str, ...] = ()
    payload: str = "{}"
    url: str | None = None
    url_key: str | None = None
    key: str | None = None
    priority: int = 0
    delay_us: int = 0
    detached: bool = False

    @property
    def place(self) -> tuple[str, str, tuple[str, ...]]:
        """What its lane is known by."""
        return (self.kind, self.stage, self.gates)

    @property
    def lineage_key(self) -> str | None:
        """What identifies its work within a lineage."""
        return self.url_key or self.key


@dataclass(frozen=True, slots=True)
class Parent:
    """What a child inherits. `ancestry` holds the parent's own mark too."""

    task_id: int
    tracking_id: int
    depth: int
    ancestry: tuple[str, ...]
    group_id: int | None = None


def ancestry_mark(kind: str, key: str | None) -> str | None:
    """How a task stands in the ancestry of its descendants."""
    return f"{kind}:{key}" if key else None


@dataclass(frozen=True, slots=True)
class TaskInsert:
    """A task about to be inserted: an entry, its lane and, for a child, its parent."""

    entry: Entry
    lane_id: int
    parent: Parent | None = None

    @property
    def ancestry(self) -> str:
        """The ancestry that it hands on to its own children."""
        key, above = self.entry.lineage_key, self.parent.ancestry if self.parent else ()
        if key is None and not above:
            return "[]"
        own = ancestry_mark(self.entry.kind, key)
        return orjson.dumps((*above, own) if own else above).decode()

    @property
    def group_id(self) -> int | None:
        return self.parent.group_id if self.parent and not self.entry.detached else None

    @property
    def fields(self) -> dict[str, Any]:
        """The row to be, by the names of its columns. What is not said is null there."""
        entry, parent = self.entry, self.parent
        row: dict[str, Any] = {
            "kind": entry.kind,
            "stage": entry.stage,
            "lane_id": self.lane_id,
            "delay": entry.delay_us,
            "priority": entry.priority,
            "tracking_id": parent and parent.tracking_id,
            "parent_id": parent and parent.task_id,
            "depth": parent.depth + 1 if parent else 0,
            "ancestry": self.ancestry,
            "url": entry.url,
            "lineage_key": entry.lineage_key,
            "dedupe_key": entry.key,
            "payload": entry.payload,
        }
        if self.group_id is not None:
            row["group_id"] = self.group_id
        return row


class Task(NamedTuple):
    """One claimed task: what a stage gets to see. `claim` is the fence; only its holder may settle.

    `lane` are the gates the claim went through: those of the row, whatever the app would name today.
    Like a settlement made for every attempt, so a named tuple.
    """

    id: TaskId
    claim: int
    kind: str
    stage: str
    payload: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    url: str | None
    tracking_id: TaskId
    parent_id: TaskId | None
    depth: int
    failures: int
    crashes: int
    lane: tuple[str, ...] = ()


def delay_us(seconds: float) -> int:
    """A delay in microseconds, or an error that says why it is none."""
    if seconds == 0:
        return 0
    if not (math.isfinite(seconds) and 0 <= seconds <= MAX_DELAY):
        raise InvalidPayload(f"a delay must be between 0 and {MAX_DELAY:,.0f} seconds, got {seconds}")
    return to_us(seconds)


def dump(value: Mapping[str, Any], what: str, limit: int) -> str:
    """A mapping as JSON text, or an error that says why not. Bodies belong into the blob store, not into the
    queue.
    """
    if not isinstance(value, Mapping):
        raise InvalidPayload(f'the {what} must be a mapping such as {{"id": 1}}, got {type(value).__name__}')
    text = to_json(dict(value), what)
    if len(text) > limit:
        raise InvalidPayload(
            f"the {what} has {len(text):,} bytes; the limit is {limit:,} (setting queue.payload_limit). "
            "Store large bodies with ctx.save(body) and pass the hash."
        )
    return text.decode()


def to_json(value: Any, what: str) -> bytes:
    """A value as JSON, or an error that says why not."""
    try:
        text = orjson.dumps(value)
    except (TypeError, ValueError) as problem:
        raise InvalidPayload(f"the {what} is not JSON: {problem}") from None
    if b"null" in text and _has_no_number(value):  # it is what the writer makes of NaN, without a word
        raise InvalidPayload(
            f"the {what} contains NaN or Infinity, which JSON does not allow; leave the field out or "
            "set it to None"
        )
    return text


def _has_no_number(value: object) -> bool:
    """Whether a float that is no number stands anywhere in a value. Most values are plain, and every record
    is looked at.
    """
    if type(value) in _PLAIN:
        return False
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return False
    return any(_has_no_number(each) for each in value if type(each) not in _PLAIN)


_PLAIN = frozenset((str, int, bool, type(None)))


# States and the legal transitions between them.
#
# One table. The terminal states, the checks in both database schemas, and the diagram in the documentation
# are derived from it, so that none of them can disagree with it.


class State(StrEnum):
    """Where a task stands. `pending` and `retryable` wait, `running` is claimed, the others are final."""

    PENDING = "pending"
    RUNNING = "running"
    RETRYABLE = "retryable"
    SUCCEEDED = "succeeded"
    FILTERED = "filtered"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def phrase(self) -> str:
        """What a sentence says of a task in this state: it failed, it is pending."""
        was = self in (State.FILTERED, State.SKIPPED, State.CANCELLED)
        return f"was {self}" if was else str(self) if self in _ENDS else f"is {self}"


_ENDS = {State.SUCCEEDED, State.FILTERED, State.SKIPPED, State.FAILED, State.CANCELLED}

TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.PENDING: frozenset({State.RUNNING, State.CANCELLED}),
    State.RETRYABLE: frozenset({State.RUNNING, State.CANCELLED}),
    State.RUNNING: frozenset({State.PENDING, State.RETRYABLE, *_ENDS}),
    State.SUCCEEDED: frozenset(),
    # A person, and only a person, may send these back to waiting.
    State.FILTERED: frozenset({State.PENDING}),
    State.SKIPPED: frozenset({State.PENDING}),
    State.FAILED: frozenset({State.PENDING}),
    State.CANCELLED: frozenset({State.PENDING}),
}

WAITING = frozenset(state for state in State if State.RUNNING in TRANSITIONS[state])
LIVE = WAITING | {State.RUNNING}
TERMINAL = frozenset(State) - LIVE
REVIVABLE = frozenset(state for state in TERMINAL if State.PENDING in TRANSITIONS[state])


def may_become(old: State, new: State) -> bool:
    """Whether the table has an arrow from `old` to `new`."""
    return new in TRANSITIONS[old]


def sql_list(states: frozenset[State]) -> str:
    """The states as literals for an SQL `in (...)`: literals, because a bound value would disable a partial
    index.
    """
    return ", ".join(f"'{state}'" for state in sorted(states))


def diagram() -> str:
    """The table as a Mermaid state diagram, printed into the documentation."""
    arrows = (f"    {old} --> {new}" for old in State for new in sorted(TRANSITIONS[old]))
    ends = (f"    {state} --> [*]" for state in State if state in TERMINAL)
    return "\n".join(["stateDiagram-v2", "    [*] --> pending", *arrows, *ends])


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """One task as it stood a moment ago. `result` is what its last stage returned with `Done(result=...)`.

    `error` is the class of the last error and `reason` its words, or why a rule ended the task. Times are
    microseconds since 1970.
    """

    id: TaskId
    kind: str
    stage: str
    state: State
    result: Any
    error: str | None
    reason: str | None
    created_at: int
    finished_at: int | None

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self.state in TERMINAL

    @property
    def succeeded(self) -> bool:
        """Whether the task ended with `Done`."""
        return self.state is State.SUCCEEDED
