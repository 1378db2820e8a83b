"""The protocol of a database backend, with the key of a lane. A backend is whatever passes the contract
suite.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import orjson

from thresher.core.settlement import Settlement
from thresher.core.task import TERMINAL, State, Task, TaskId, TaskInsert
from thresher.store.session import Dialect, Session

# The key of a lane: the kind and stage of its tasks (its scope), and the names of its gates, one per line.
#
# A worker claims from lanes whose scope it knows. Lanes for tasks without gates are numbered instead of
# named.

OPEN = "open:"

# Kind, stage, gates.
Place = tuple[str, str, tuple[str, ...]]


class LaneIds(Protocol):
    """The ids of lanes by what they are known by."""

    def __getitem__(self, place: Place) -> int: ...


class LaneRemoved(Exception):
    """A lane or a gate that this process remembers has been removed by pruning. Raised before anything was
    written with it.
    """


@lru_cache(8_192)
def gates_in(key: str) -> tuple[str, ...]:
    """The names of the gates in a lane's key."""
    return () if key.startswith(OPEN) else tuple(key.split("\n"))


def unscoped(*gates: str) -> Place:
    """A lane that no task waits in: it stands for its gates."""
    return ("", "", gates)


@dataclass(frozen=True, slots=True)
class QueueRules:
    """The settings that the queue itself needs, as integers."""

    quantum: int
    head_start_us: int
    max_depth: int
    alert_depth: int
    max_crashes: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What one visit to the queue brought: tasks to perform, settlements that the fence refused, and when to
    come back.

    `more` means that another visit right now may bring more; `next_at` is when the next timer or delayed task
    is due, and `now` the database's time, so that a worker waits for their difference and need not trust its
    own clock. `lost`: the worker has been given up, and a worker that was given up claims nothing.
    """

    tasks: list[Task]
    stale: list[Settlement]
    more: bool = False
    next_at: int | None = None
    now: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """A settlement that the fence let through, the lane the task ran in, and its group. `cancelled`: a person
    was faster.
    """

    settlement: Settlement
    lane_id: int
    cancelled: bool = False
    group_id: int | None = None

    @property
    def ended_as(self) -> State | None:
        """The state in which its task ended; None if it goes on."""
        state = State.CANCELLED if self.cancelled else self.settlement.state
        return state if state in TERMINAL else None


# A group, and a column of it: the state in which members ended, `live`, `open_groups` or `refused`.
GroupChange = tuple[int, str]


def ended_members(hits: Iterable[Settled]) -> Counter[GroupChange]:
    """What the settlements of members mean for their groups."""
    changes: Counter[GroupChange] = Counter()
    for hit in hits:
        if hit.group_id is not None and (state := hit.ended_as):
            changes[hit.group_id, state.value] += 1
    return changes


def as_task(row: Sequence[Any], key: str) -> Task:
    """A claimed row as the engine holds it. `key` is its lane's."""
    task_id, claim, kind, stage, payload, checkpoint, url, tracking, parent, depth, failures, crashes = row
    return Task(
        TaskId(task_id),
        claim,
        kind,
        stage,
        orjson.loads(payload),
        orjson.loads(checkpoint) if checkpoint else {},
        url,
        TaskId(tracking or task_id),
        parent,
        depth,
        failures,
        crashes,
        gates_in(key),
    )


# The scopes that a worker claims from, by number; None is all of them.
Scopes = tuple[int, ...] | None
TurnOnLoop = Callable[[Sequence[Settlement], int, int, QueueRules, Scopes], Awaitable[Turn]]


class Backend(Protocol):
    """The operations of the store. Everything that can be one SQL text for both databases is not here."""

    dialect: Dialect
    patience: (
        float  # seconds of silence after which a connection is given up, if the server is not at work for it
    )

    app_events: Collection[str] | None  # the kinds of events that apps list here; None: nobody has said

    def write(self, *, durable: bool = True) -> AbstractContextManager[Session]:
        """A transaction that writes: committed at the end, rolled back whole on any error.

        With `durable=False` it waits for no disk: what it wrote may be lost with the machine, though never
        with the process.
        """
        ...

    @property
    def aside(self) -> Callable[[], AbstractContextManager[Session]] | None:
        """Open a separate transaction while the caller's is open; None if there is only one writer."""
        ...

    def join(self, connection: object) -> AbstractContextManager[Session]:
        """Work within someone else's transaction, on their connection. Waiting workers are notified when it
        commits.
        """
        ...

    def read(self, *, autocommit: bool = False) -> AbstractContextManager[Session]:
        """A short transaction that only reads.

        With `autocommit`, for a look or two by key: every statement sees the newest, and none costs more than
        itself.
        """
        ...

    @property
    def near(self) -> bool:
        """Tell whether a lookup by key is cheaper than handing it to a thread, and never waits."""
        ...

    def now(self, session: Session) -> int:
        """The database's clock."""
        ...

    def migrate(self, to: int | None = None) -> list[str]:
        """Bring the schema up to date; the names of the steps applied."""
        ...

    def migrating(self) -> AbstractContextManager[Session]:
        """A transaction that writes, while no other process migrates this database."""
        ...

    def migrate_within(self, session: Session, to: int | None = None) -> list[str]:
        """The same as `migrate` in a transaction that `migrating` has opened."""
        ...

    def snapshot(self) -> AbstractContextManager[Session]:
        """A transaction that only reads, however long it takes, and sees the database as it was when it
        began.
        """
        ...

    def bulk(self, session: Session) -> AbstractContextManager[None]:
        """A stretch of a transaction that copies whole tables: references are checked at its end, where they
        can be.
        """
        ...

    def lock_lanes(self, session: Session, lane_ids: Sequence[int], task_ids: Sequence[int] = ()) -> None:
        """Hold these lanes, and those of these tasks, in id order, before touching waiting tasks. Raises
        `LaneRemoved`.
        """
        ...

    def keep_lanes(self, session: Session, lane_ids: Sequence[int]) -> None:
        """Prevent pruning of these lanes until this transaction ends. Wait only for pruning. Raise
        `LaneRemoved`.
        """
        ...

    def lock_lineages(self, session: Session, task_ids: Sequence[int]) -> None:
        """Keep two members of one lineage from checking for duplicates at the same time."""
        ...

    def gates_of(self, session: Session, lane_ids: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        """The gates of each lane, in the order they were named."""
        ...

    def add_lane(self, session: Session, key: str, gate_ids: Sequence[int], scope: int) -> int:
        """The lane of this scope for exactly these gates, made if it is new."""
        ...

    def insert(
        self, session: Session, inserts: Sequence[TaskInsert], rules: QueueRules, *, take_lanes: bool = True
    ) -> list[int | None]:
        """Insert tasks and make their lanes ready; None where a live task already has the key.

        Raises `LaneRemoved`, and then has written nothing. `take_lanes=False` leaves the lanes alone, for a
        transaction that may stay open for long: the next claim after the commit moves the tasks into them.
        """
        ...

    def enqueue(self, inserts: Sequence[TaskInsert], rules: QueueRules) -> list[int | None]:
        """The same in a transaction of its own, in as few round trips as there can be."""
        ...

    def make_ready(self, session: Session, ranks: Mapping[int, int]) -> None:
        """These lanes have a due task of at least this rank: put them into the ready order."""
        ...

    def fence(
        self,
        session: Session,
        settlements: Sequence[Settlement],
        lanes: Sequence[int | None],
        rules: QueueRules,
        now: int,
    ) -> list[Settled]:
        """Apply settlements to their tasks and write the attempts; only those whose claim is still
        current.
        """
        ...

    def count_groups(
        self, session: Session, changes: Mapping[GroupChange, int], rules: QueueRules, now: int
    ) -> None:
        """Add these numbers to the columns of groups, then end and reopen groups as that says. Holds the
        groups from then on.
        """
        ...

    def turn(
        self,
        settlements: Sequence[Settlement],
        limit: int,
        worker_id: int,
        rules: QueueRules,
        scopes: Scopes = None,
    ) -> Turn:
        """Settle plain settlements and claim up to `limit` tasks of these scopes, in one transaction. The hot
        path.
        """
        ...

    @property
    def turn_on_loop(self) -> TurnOnLoop | None:
        """The same, awaited on the event loop without a thread in between; None where the database is a
        library.
        """
        ...

    def ping(self) -> None:
        """Tell waiting workers that there may be work."""
        ...

    def listen(self, timeout: float) -> bool:
        """Wait on a thread for a ping from another process; True if there was one."""
        ...

    def change_mark(self) -> int:
        """A number that is another one once anybody has committed anything; looking at it reads no table."""
        ...

    def nudge(self) -> None:
        """Let a `listen` that is under way in this process return at once."""
        ...

    def close(self) -> None: ...
