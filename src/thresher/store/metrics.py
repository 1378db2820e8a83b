"""Figures of the queue for monitoring. Asked for every few seconds while a million tasks wait: each statement
reads one index, and so many of its entries at most.
"""

from collections import Counter
from typing import NamedTuple

from thresher.core.settlement import TOLD
from thresher.store.overview import MAX_COUNTED
from thresher.store.session import Session, keep_to_indexes, one

MAX_LANES = 1_000
_ENDED = f"""select state, error_name, count(*), sum(finished_at - began) from
    (select state, error_name, finished_at, coalesce(started_at, finished_at) as began from tasks
        where finished_at >= :since order by finished_at desc limit {MAX_COUNTED}) newest group by state, error_name"""
_ATTEMPTS = f"""select ending, error_name, count(*) from
    (select ending, error_name from other_attempts where ended_at >= :since order by ended_at desc limit {MAX_COUNTED}) newest
    group by ending, error_name"""
_NEXT_FIRING = "select min(next_at) from schedules where paused = 0"
_ALIVE = "select count(*) from workers where stopped_at is null and lost_at is null and lease_until >= :now"
# The first task of each lane that a claim would look at; to look at all that are due takes too long.
_OLDEST = f"""select min(came) from (select (select t.created_at from tasks t where t.lane_id = l.id and t.due = 1
        order by t.rank, t.id limit 1) as came from lanes l where l.status = 'ready' limit {MAX_LANES}) first"""


class Ended(NamedTuple):
    """What ended lately: tasks by state, and the microseconds that their last attempts took; attempts by
    how they ended, and by the class of their error. An attempt that its task ended by counts as both.
    """

    tasks: Counter[str]
    took: Counter[str]
    attempts: Counter[str]
    errors: Counter[str]


def ended_since(session: Session, since: int) -> Ended:
    """What ended since then; the newest `MAX_COUNTED` tasks and as many other attempts count."""
    keep_to_indexes(session)
    found = Ended(Counter(), Counter(), Counter(), Counter())
    endings = {str(state): str(ending) for state, ending in TOLD.items()}
    for state, error, number, took in session.rows(_ENDED, {"since": since}):
        found.tasks[state] += int(number)
        found.took[state] += int(took)
        if state in endings:
            found.attempts[endings[state]] += int(number)
            found.errors[error or ""] += int(number)
    for ending, error, number in session.rows(_ATTEMPTS, {"since": since}):
        found.attempts[ending] += int(number)
        found.errors[error or ""] += int(number)
    del found.errors[""]
    return found


def next_firing(session: Session) -> int | None:
    """When the next schedule fires, or should have fired; None if none is on."""
    row = one(session, _NEXT_FIRING)
    return None if row is None or row[0] is None else int(row[0])


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
