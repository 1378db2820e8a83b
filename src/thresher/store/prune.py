"""Forgetting: whole lineages, once their last task has been over for long enough, and rows of which each
grows old by itself.

A lineage is kept or removed as one, because the loop guard asks it what has already ended. Everything is
found by an index and goes a batch a transaction; rows that somebody else holds are left for the next round.
"""

from dataclasses import dataclass

from thresher.core.clock import DAY
from thresher.store.owners import disown, owners_among
from thresher.store.session import Session
from thresher.store.store import Store

_OLD = """select id, coalesce(tracking_id, id), finished_at from tasks
    where finished_at is not null and finished_at < :before and (finished_at, id) > (:at, :id)
    order by finished_at, id limit :most"""
_ACTIVE = """select distinct coalesce(tracking_id, id) from tasks
    where (tracking_id in (:roots*) or id in (:roots_too*)) and (finished_at is null or finished_at >= :before)"""
_LOOSEN_LANES = """insert into loose_lanes (lane_id, since) select distinct lane_id, 0 from tasks where id in (:ids*) order by 1
    on conflict (lane_id) do nothing"""
_DELETE = (
    _LOOSEN_LANES,
    "delete from other_attempts where task_id in (:ids*)",
    "delete from refusals where parent_id in (:ids*)",
    "delete from group_counts where group_id in (select id from task_groups where opener_id in (:ids*))",
    "delete from task_groups where opener_id in (:ids*)",
    "delete from last_words where task_id in (:ids*)",
    "delete from results where task_id in (:ids*)",
    "delete from tasks where id in (:ids*) and finished_at is not null",
)
_REMAINING = "select distinct coalesce(tracking_id, id) from tasks where tracking_id in (:roots*) or id in (:roots_too*)"


@dataclass(frozen=True, slots=True)
class Aging:
    """Rows that go when they are older than a setting in days says. `find` names their keys, the oldest
    first.
    """

    setting: str
    find: str
    remove: str


AGING = (
    Aging(
        "history.events",
        "select id from events where at < :before order by at limit :most",
        "delete from events where id in (:keys*)",
    ),
    # Of tasks that live on: those of the others go with their lineage.
    Aging(
        "history.attempts",
        "select task_id from other_attempts where ended_at < :before order by ended_at limit :most",
        "delete from other_attempts where task_id in (:keys*) and ended_at < :before",
    ),
    Aging(
        "history.answers",
        "select question from answers where used_at < :before order by used_at limit :most",
        "delete from answers where question in (:keys*) and used_at < :before",
    ),
    # Whoever still holds a task is needed to tell that the task is an orphan; the newest tells which ids have
    # been given out.
    Aging(
        "history.workers",
        """select w.id from workers w where w.stopped_at < :before and w.id < (select max(id) from workers)
            and not exists (select 1 from tasks t where t.worker_id = w.id and t.state = 'running') order by w.stopped_at limit :most""",
        """delete from workers where id in (:keys*)
            and not exists (select 1 from tasks t where t.worker_id = workers.id and t.state = 'running')""",
    ),
)


def prune_aged(store: Store, aging: Aging) -> int:
    """Remove the rows of one kind that are too old, a batch a transaction. Returns how many."""
    most, removed = store.settings.count("prune.batch"), 0
    while True:
        with store.write() as session:
            before = store.backend.now(session) - round(store.settings[aging.setting] * DAY)
            old = sorted(
                {
                    row[0]
                    for row in session.rows(
                        aging.find + store.backend.dialect.skip, {"before": before, "most": most}
                    )
                }
            )
            values = {"keys": old} | ({"before": before} if ":before" in aging.remove else {})
            removed += session.run(aging.remove, values) if old else 0
        if not old:
            return removed


def prune(store: Store) -> int:
    """Remove old lineages, a batch a transaction, then what grows old by itself. Returns how many tasks
    went.
    """
    removed = _prune_lineages(store)
    for aging in AGING:
        prune_aged(store, aging)
    return removed


def _prune_lineages(store: Store) -> int:
    removed, at, last = 0, 0, 0
    most = store.settings.count("prune.batch")
    while True:
        with store.write() as session:
            now = store.backend.now(session)
            before = now - round(store.settings["history.retention"] * DAY)
            old = session.rows(_OLD, {"before": before, "at": at, "id": last, "most": most})
            removed += _remove(session, old, before, now)
            if len(old) < most:
                return removed
        last, _, at = old[-1]


def _remove(session: Session, old: list[tuple[int, ...]], before: int, now: int) -> int:
    if not old:
        return 0
    roots = sorted({row[1] for row in old})
    active = {row[0] for row in session.rows(_ACTIVE, {"roots": roots, "roots_too": roots, "before": before})}
    ids = [task_id for task_id, root, _ in old if root not in active]
    for sql in _DELETE if ids else ():
        session.run(sql, {"ids": ids})
    _disown(session, sorted(set(roots) - active), now)
    return len(ids)


def _disown(session: Session, roots: list[int], now: int) -> None:
    """Lineages of which no task is left need no bodies. One that has more tasks than a batch keeps them until
    its last task goes.
    """
    owning = owners_among(session, "lineage", roots) if roots else []
    if owning:
        remaining = {row[0] for row in session.rows(_REMAINING, {"roots": owning, "roots_too": owning})}
        disown(session, "lineage", [root for root in owning if root not in remaining], now)
