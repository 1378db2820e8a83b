"""What is noted when a request of a claim has been answered, and where its start had to be prompt."""

from thresher.store.permits import PROMPT_US
from thresher.store.session import one
from thresher.store.store import Store

_HURRIED = "select 1 from gates where name = :name and interval_us > 0 and (max_in_flight is null or max_in_flight > 1)"


def is_hurried(store: Store, gate: str) -> bool:
    """Several at once, and an interval between them: there nothing but the sender's promptness keeps the
    gap.
    """
    with store.glance() as session:
        return one(session, _HURRIED, {"name": gate}) is not None


# A host that takes one request at a time has seen this one by now; when exactly, only it knows. So its
# interval counts from the answer, and holds on its clock however long the request was on its way. Where
# several are under way at once, the next may have started before: there the start is what counts.
_HEARD = """update gates set last_start = :at, tat = case when tat < :at_too + interval_us then :at_more + interval_us else tat end
    where name = :gate and max_in_flight = 1 and interval_us > 0 and last_start < :at_last"""


def note_answer(store: Store, gate: str) -> None:
    """A request through this gate has ended just now. Call it before the slot goes back."""
    with store.write() as session:
        at = store.backend.now(session) - PROMPT_US  # which `start` adds again
        session.run(_HEARD, {"gate": gate, "at": at, "at_too": at, "at_more": at, "at_last": at})
