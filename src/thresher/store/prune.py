"""Forgetting: whole lineages, once their last task has been over for long enough.

A lineage is kept or removed as one, because the loop guard asks it what has already ended.
"""

from thresher.core.clock import DAY
from thresher.store.session import Session
from thresher.store.store import Store

_OLD = """select id, coalesce(tracking_id, id), finished_at from tasks
    where finished_at is not null and finished_at < :before and (finished_at, id) > (:at, :id)
    order by finished_at, id limit :most"""
_ACTIVE = """select distinct coalesce(tracking_id, id) from tasks
    where (tracking_id in (:roots*) or id in (:roots_too*)) and (finished_at is null or finished_at >= :before)"""
_DELETE = (
    "delete from other_attempts where task_id in (:ids*)",
    "delete from refusals where parent_id in (:ids*)",
    "delete from group_counts where group_id in (select id from task_groups where opener_id in (:ids*))",
    "delete from task_groups where opener_id in (:ids*)",
    "delete from results where task_id in (:ids*)",
    "delete from tasks where id in (:ids*) and finished_at is not null",
)
_EVENTS = "delete from events where at < :before"


def prune(store: Store) -> int:
    """Remove old lineages and events, a batch a transaction. Returns how many tasks went."""
    removed, at, last = 0, 0, 0
    most = store.settings.count("prune.batch")
    while True:
        with store.write() as session:
            now = store.backend.now(session)
            before = now - round(store.settings["history.retention"] * DAY)
            old = session.rows(_OLD, {"before": before, "at": at, "id": last, "most": most})
            removed += _remove(session, old, before)
            if len(old) < most:
                session.run(_EVENTS, {"before": now - round(store.settings["history.events"] * DAY)})
                return removed
        last, _, at = old[-1]


def _remove(session: Session, old: list[tuple[int, ...]], before: int) -> int:
    if not old:
        return 0
    roots = sorted({row[1] for row in old})
    active = {row[0] for row in session.rows(_ACTIVE, {"roots": roots, "roots_too": roots, "before": before})}
    ids = [task_id for task_id, root, _ in old if root not in active]
    for sql in _DELETE if ids else ():
        session.run(sql, {"ids": ids})
    return len(ids)
