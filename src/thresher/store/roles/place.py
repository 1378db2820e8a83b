"""A role's place in the queue: counted, ranked, put back."""

import contextlib

from thresher.core.errors import UnknownName
from thresher.governance.demand import Demand
from thresher.store.roles.role import Role, hold_role
from thresher.store.roles.turns import rank_turns, repeat_turns
from thresher.store.session import Session

WANTS, POSTED = "wants", "role"  # the links of a candidate and of a posting to a role, by the role's id

_COUNT = "select count(*) from links where name = :name and target = :target"
_RANK = "update roles set candidates = :candidates, rank = :rank, priority = :priority, waiting_since = :since where id = :id"
_AGAIN = "update roles set status = 'pending' where id = :id and status = 'completed'"
_RESTED = """select id from roles where status = 'completed' and candidates > 0 and scraped_at < :before
    order by rank, id limit :limit"""
# A platform that is paused for long must not keep its roles from being looked for on all the others.
_STALLED = """select id from roles where status = 'pending' and candidates > 0 and id > :after and exists (select 1 from role_turns t
    where t.role_id = roles.id and coalesce(t.state, '') = 'done' and t.looked_at < :before) order by id limit :limit"""


def place_role(session: Session, role: Role, demand: Demand, *, again_at: int | None = None) -> int:
    """Count who wants a role that is held, and rank it anew. With `again_at` a completed one goes back, and
    waits since then.
    """
    candidates = int(session.rows(_COUNT, {"name": WANTS, "target": str(role.id)})[0][0])
    since = role.waiting_since
    if again_at is not None and session.run(_AGAIN, {"id": role.id}):
        repeat_turns(session, role.id, again_at)
        since = again_at
    rank = demand.rank(since, role.priority, candidates)
    session.run(
        _RANK,
        {"id": role.id, "candidates": candidates, "rank": rank, "priority": role.priority, "since": since},
    )
    rank_turns(session, role.id, rank)
    return candidates


def reset_roles(session: Session, before: int, now: int, demand: Demand, limit: int = 1_000) -> int:
    """Put roles back into the queue that were completed before a time and that candidates still want; how
    many.
    """
    ids = [row[0] for row in session.rows(_RESTED, {"before": before, "limit": limit})]
    for role_id in sorted(ids):
        with contextlib.suppress(UnknownName):  # merged into another one meanwhile
            place_role(session, hold_role(session, role_id, now), demand, again_at=now)
    return len(ids)


def repeat_stalled(session: Session, before: int, now: int, after: int = 0, limit: int = 1_000) -> int | None:
    """The same for roles after `after` that are done on some platforms and wait for others all the while. The
    last of them, if any.
    """
    ids = [row[0] for row in session.rows(_STALLED, {"before": before, "after": after, "limit": limit})]
    for role_id in ids:
        with contextlib.suppress(UnknownName):
            if hold_role(session, role_id, now).status == "pending":
                repeat_turns(session, role_id, now, before)
    return ids[-1] if ids else None
