"""A task: as a caller asks for it (`NewTask`), as the store takes it in (`Entry`), as a worker holds it
(`Task`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from thresher.core.clock import to_us
from thresher.core.errors import InvalidPayload
from thresher.core.ids import TaskId

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
    if not (math.isfinite(seconds) and 0 <= seconds <= MAX_DELAY):
        raise InvalidPayload(f"a delay is between 0 and {MAX_DELAY:,.0f} seconds, got {seconds}")
    return to_us(seconds)


def dump(value: Mapping[str, Any], what: str, limit: int) -> str:
    """A mapping as JSON text, or an error that says why not. Bodies belong into the blob store, not into the
    queue.
    """
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
            f"the {what} has NaN or Infinity in it, which JSON cannot say; leave the field out or set it to None"
        )
    return text


def _has_no_number(value: object) -> bool:
    """Whether a float that is no number stands anywhere in a value."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_no_number, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_no_number, value))
