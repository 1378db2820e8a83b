"""Figures of the queue for monitoring. Asked for every few seconds while a million tasks wait: each statement
reads one index, and so many of its entries at most.
"""

from thresher.store.overview import MAX_COUNTED
from thresher.store.session import Session, keep_to_indexes, one

MAX_LANES = 1_000
_ENDED = f"""select state, count(*), sum(finished_at - began) from
    (select state, finished_at, coalesce(started_at, finished_at) as began from tasks where finished_at >= :since
        order by finished_at desc limit {MAX_COUNTED}) newest group by state"""
_ALIVE = "select count(*) from workers where stopped_at is null and lost_at is null and lease_until >= :now"
# The first task of each lane that a claim would look at; to look at all that are due takes too long.
_OLDEST = f"""select min(came) from (select (select t.created_at from tasks t where t.lane_id = l.id and t.due = 1
        order by t.rank, t.id limit 1) as came from lanes l where l.status = 'ready' limit {MAX_LANES}) first"""


def ended_since(session: Session, since: int) -> dict[str, tuple[int, int]]:
    """How many tasks ended since then in each state, and how many microseconds their last attempts took; the
    newest `MAX_COUNTED` count.
    """
    keep_to_indexes(session)
    return {
        str(state): (int(number), int(took)) for state, number, took in session.rows(_ENDED, {"since": since})
    }


def workers_alive(session: Session, now: int) -> int:
    """How many workers hold a lease."""
    return int(session.rows(_ALIVE, {"now": now})[0][0])


def oldest_ready(session: Session) -> int | None:
    """When the oldest of those tasks was accepted that stand first in a lane and could start; None if there
    is none. `MAX_LANES` lanes are looked at.
    """
    keep_to_indexes(session)
    row = one(session, _OLDEST)
    return None if row is None or row[0] is None else int(row[0])
