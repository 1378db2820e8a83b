"""What a running claim stands behind, and what is noted when one of its requests has been answered."""

from dataclasses import dataclass

from thresher.core.errors import ClaimLost
from thresher.store.lanes import gates_in
from thresher.store.permits import PROMPT_US
from thresher.store.session import one
from thresher.store.store import Store

# From the row, not from the app: a pipeline that was changed since may name other gates than the claim went through.
_LANE = "select l.key, t.state from tasks t join lanes l on l.id = t.lane_id where t.id = :task and t.claim = :claim"

# Several at once, and an interval between them: there nothing but the sender's promptness keeps the gap.
_HURRIED = "select name from gates where name in (:names*) and interval_us > 0 and (max_in_flight is null or max_in_flight > 1)"


@dataclass(frozen=True, slots=True)
class Standing:
    """The gates of the lane through which a task was claimed, in its order; and those at which a start must be used at once."""

    lane: tuple[str, ...]
    hurried: frozenset[str]


def standing_of(store: Store, task_id: int, claim: int) -> Standing:
    """Where a running claim stands. Raises `ClaimLost`."""
    with store.glance() as session:
        row = one(session, _LANE, {"task": task_id, "claim": claim})
        if row is None or row[1] != "running":
            raise ClaimLost(f"task {task_id} is no longer held under claim {claim}; nothing more is sent for it")
        lane = tuple(gates_in(row[0]))
        hurried = session.rows(_HURRIED, {"names": lane}) if lane else []
    return Standing(lane, frozenset(name for (name,) in hurried))


# A host that takes one request at a time has seen this one by now; when exactly, only it knows. So its interval counts from
# the answer, and holds on its clock however long the request was on its way. Where several are under way at once, the next
# may have started before: there the start is what counts.
_HEARD = """update gates set last_start = :at, tat = case when tat < :at_too + interval_us then :at_more + interval_us else tat end
    where name = :gate and max_in_flight = 1 and interval_us > 0 and last_start < :at_last"""


def note_answer(store: Store, gate: str) -> None:
    """A request through this gate has ended just now. Call it before the slot goes back."""
    with store.write() as session:
        at = store.backend.now(session) - PROMPT_US  # which `start` adds again
        session.run(_HEARD, {"gate": gate, "at": at, "at_too": at, "at_more": at, "at_last": at})
