"""Groups of tasks, and runs: what a stage asks for, what the store takes in, and what a reader sees.

A group ends when its last member has ended, whichever way. A run is a group that is one pass of an app over
something.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.core.errors import InvalidPayload
from thresher.core.limits import MAX_KEY_BYTES, MAX_NAME_BYTES
from thresher.core.page import Verdict
from thresher.core.record import clean, indexed
from thresher.core.task import MAX_KEY, Entry, NewTask

MAX_COUNTS = 50
MAX_COUNT_NAME = 64
MAX_COUNT = 2**53 - 1  # exact in JSON, and in the databases
MAX_STOP_REASON = 2_000


@dataclass(frozen=True, slots=True)
class Group:
    """Put the children of an outcome into a group, and start the task `then` when the group has ended.

    `name` and `key` are unique among open groups; while one is open, opening another is refused. `name`
    defaults to the kind of the task. Children of members belong to the group too, unless they are `detached`.
    A task that opens a group and goes on (`Next`) is a member itself.
    """

    key: str
    then: NewTask | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Run(Group):
    """A group that is one pass of an app over something: a list, a query, a site.

    `subject` says what it is about; `since` and `until` are its time window in microseconds, if it has one.
    Members add to its counters with `counts`, and one of them, or the task that follows, says with `stop` how
    it ended.
    """

    subject: str = ""
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run stopped, and what it found. The last one counts."""

    reason: str
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A checked request for a group, ready to store."""

    name: str
    key: str
    app: str
    then: Entry | None = None
    subject: str | None = None  # None: not a run
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class GroupStatus:
    """A group as it is now, including the groups below it.

    `live` members wait or run; the others have ended. `cost` is in millionths of a dollar. For a run,
    `subject` is not None.
    """

    id: int
    name: str
    key: str
    app: str
    opener_id: int
    parent_id: int | None
    then_id: int | None
    opened_at: int
    ended_at: int | None
    live: int
    succeeded: int
    filtered: int
    skipped: int
    failed: int
    cancelled: int
    refused: int
    cost: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    subject: str | None = None
    since: int | None = None
    until: int | None = None
    stop_reason: str | None = None
    verdict: Verdict | None = None

    @property
    def is_running(self) -> bool:
        return self.ended_at is None

    @property
    def members(self) -> int:
        """Return the number of tasks accepted into the group. Refused spawns do not count."""
        return self.live + self.ended

    @property
    def ended(self) -> int:
        return self.succeeded + self.filtered + self.skipped + self.failed + self.cancelled


def checked_key(what: str, key: str) -> str:
    """Check the key or name of a group."""
    if not 0 < len(key) <= MAX_KEY:
        raise InvalidPayload(
            f"the {what} of a group must have 1 to {MAX_KEY} characters, this one has {len(key)}"
        )
    return indexed(key, f"the {what} of a group", MAX_NAME_BYTES if what == "name" else MAX_KEY_BYTES)


def checked_counts(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Check the counters an outcome adds to."""
    if len(counts) > MAX_COUNTS:
        raise InvalidPayload(
            f"an outcome may add to at most {MAX_COUNTS} counters, this one adds to {len(counts)}"
        )
    for name, number in counts.items():
        if not (isinstance(name, str) and 0 < len(name) <= MAX_COUNT_NAME):
            raise InvalidPayload(
                f"the name of a counter must have 1 to {MAX_COUNT_NAME} characters, got {name!r}"
            )
        if not isinstance(number, int) or isinstance(number, bool) or abs(number) > MAX_COUNT:
            raise InvalidPayload(f"counter {name!r} must be a whole number, got {number!r}")
    return tuple(sorted((clean(name), number) for name, number in counts.items() if number))


def checked_stop(stop: Stop | None) -> Stop | None:
    """Cut the reason of a stop to the length of its column."""
    return stop and Stop(
        clean(stop.reason)[:MAX_STOP_REASON], Verdict(stop.verdict) if stop.verdict else None
    )
