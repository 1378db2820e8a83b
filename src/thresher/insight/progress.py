"""How far a run is: per kind what is done and what is left, and which gates hold it up."""

from dataclasses import dataclass

from thresher.core.task import TERMINAL, State
from thresher.insight.gates import GateView, closed_gates
from thresher.store import tasks
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class KindProgress:
    """One kind. `done` counts every task that has ended, however it ended."""

    kind: str
    done: int
    total: int
    running: int
    retrying: int
    succeeded: int
    filtered: int
    skipped: int
    failed: int


@dataclass(frozen=True, slots=True)
class Progress:
    """All kinds, what waits for a later time, and the gates that are closed."""

    at: int
    kinds: list[KindProgress]
    due: int
    delayed: int
    next_at: int | None
    closed: list[GateView]

    @property
    def done(self) -> int:
        return sum(kind.done for kind in self.kinds)

    @property
    def total(self) -> int:
        return sum(kind.total for kind in self.kinds)


def read_progress(store: Store) -> Progress:
    """One look."""
    with store.read() as session:
        now = store.backend.now(session)
        kinds = [_kind(kind, states) for kind, states in tasks.counts(session).items()]
        waiting = tasks.waiting(session, now)
        return Progress(
            now, kinds, waiting["due"], waiting["delayed"], waiting["next_at"], closed_gates(session, now)
        )


def _kind(kind: str, states: dict[str, int]) -> KindProgress:
    done = sum(number for state, number in states.items() if State(state) in TERMINAL)
    return KindProgress(
        kind,
        done,
        sum(states.values()),
        states.get(State.RUNNING, 0),
        states.get(State.RETRYABLE, 0),
        states.get(State.SUCCEEDED, 0),
        states.get(State.FILTERED, 0),
        states.get(State.SKIPPED, 0),
        states.get(State.FAILED, 0),
    )
