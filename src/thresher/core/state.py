"""The states of a task and the only moves between them.

One table. The terminal states, the checks in both database schemas, and the diagram in the documentation are
derived from it, so that none of them can disagree with it.
"""

from collections.abc import Mapping
from enum import StrEnum


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
