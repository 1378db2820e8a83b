"""Who asks for a request: a claim with its lane, and the permits it holds besides.

It answers the questions on which a request depends: does the claim still run, is the slot of this gate
already its own, and is it perhaps itself the trial that a tripped gate lets through.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from thresher.core.errors import ClaimLost, UnknownName, UsageError
from thresher.governance.gate import Gate
from thresher.store.lane import OPEN, unscoped
from thresher.store.lanes import Lanes
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

T = TypeVar("T")
Claim = tuple[int, int]

# The state is looked at afterwards: as a condition it would tempt PostgreSQL to walk the index of running
# tasks.
_TASK = "select lane_id, started_at, state from tasks where id = :task and claim = :claim"
_TAKEN = "select gate_id, taken_at from permits where task_id = :task and claim = :claim"
_TAKEN_BY_NOBODY = "select gate_id, taken_at from permits where task_id is null and gate_id in (:ids*)"


def with_gates(store: Store, gates: Sequence[str], act: Callable[[Lanes], T]) -> T:
    """Do something with gates. Each is met as the lane that consists of it alone: made if it is a new host,
    and remembered.
    """
    if not gates:
        raise UsageError("a request must name the gates it passes, as in host:example.com")
    for name in gates:
        if name.startswith(OPEN) or "\n" in name:  # the keys of lanes that are more, or less, than one gate
            raise UnknownName(f"there is no gate {name!r}; name it as source:NAME or host:NAME")
    return store.with_lanes([unscoped(name) for name in gates], act)


class Asker:
    """As the database knows it now. `names` are the gates of the request. Raises where the claim is lost."""

    def __init__(self, store: Store, session: Session, claim: Claim | None, names: Mapping[int, str]) -> None:
        self._session, self._claim, self.names = session, claim, names
        self.lane: tuple[int, ...] = ()
        self._started_at: int | None = None
        if claim is not None:
            row = one(session, _TASK, {"task": claim[0], "claim": claim[1]})
            if row is None or row[2] != "running":
                raise ClaimLost(
                    f"task {claim[0]} is no longer held under claim {claim[1]}; nothing more is sent for it"
                )
            self.lane = store.backend.gates_of(session, [row[0]])[row[0]]
            self._started_at = row[1]

    @cached_property
    def permits(self) -> list[Row]:
        """The gate of each permit it holds, and when it was taken. Without a claim: those of all who come
        without one.
        """
        if self._claim is None:
            return self._session.rows(_TAKEN_BY_NOBODY, {"ids": list(self.names)})
        return self._session.rows(_TAKEN, {"task": self._claim[0], "claim": self._claim[1]})

    def is_stranger(self, gate_id: int) -> bool:
        """Whether it has no business at a gate: neither through its lane nor by a permit."""
        return gate_id not in self.lane and all(gate_id != held for held, _ in self.permits)

    def is_trial(self, gate: Gate) -> bool:
        """Whether it is itself the trial that a tripped gate lets through: then `take` left the time of its
        start there.
        """
        if not gate.on_trial:
            return False
        since = gate.tripped_until - gate.cooldown_us
        return (gate.id in self.lane and since == self._started_at) or (gate.id, since) in self.permits

    def owns_slot(self, gate: Gate) -> bool:
        """Whether its claim already holds the slot. Whoever would be a trial must come as anybody else
        does.
        """
        return gate.id in self.lane and (not gate.on_trial or self.is_trial(gate))

    def view(self, gate: Gate) -> Gate:
        """The gate as it stands for this asker: whoever is inside needs a token, and nothing else."""
        if not self.owns_slot(gate):
            return gate
        tripped = 0 if self.is_trial(gate) else gate.tripped_until
        return replace(gate, max_in_flight=None, trip_after=None, tripped_until=tripped)
