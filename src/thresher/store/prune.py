"""Pruning: whole lineages whose last task ended long ago, rows that age individually, and unused lanes and
gates.

A lineage is kept or removed as a whole, because the loop guard asks it what has already ended. Everything is
found by an index and removed in batches; rows that another transaction holds are left for the next round.
"""

from collections.abc import Iterable, Sequence
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
        "history.idempotency_keys",
        "select id from idempotency_keys where begun_at < :before order by begun_at limit :most",
        "delete from idempotency_keys where id in (:keys*)",
    ),
    Aging(
        "history.events",
        # One that a webhook may yet want stays until it has been forwarded.
        """select id from events where at < :before and (forwarded_at is not null or not exists (select 1 from webhooks))
            order by at limit :most""",
        "delete from events where id in (:keys*)",
    ),
    Aging(
        "history.audit",
        "select id from audit where at < :before order by at limit :most",
        "delete from audit where id in (:keys*)",
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


# Remove unused lanes, and the gate of a host with its last lane: a crawl of a million hosts leaves a million
# of each.
#
# A lane goes when no task and no group refers to it, and a gate when no lane, permit or event does, nothing
# about it matters any more, and no person has set its limits. Candidates stand in `loose_lanes`: a lane
# that was looked up, and the lanes of tasks that were pruned. What cannot go yet is looked at again later.
#
# Other processes remember the ids of lanes. Whoever writes one down shares or holds the row first and finds
# out that it is gone (`LaneRemoved`); here rows are taken so that nobody may share them, without waiting,
# and only then looked at.

_LOOSE = "select lane_id from loose_lanes where since < :before order by since, lane_id limit :most"
_LANES = "select id, status, served_at from lanes where id in (:ids*) order by id"
_NEEDED = """select l.id from lanes l where l.id in (:ids*) and (exists (select 1 from tasks t where t.lane_id = l.id and t.due = 1)
    or exists (select 1 from tasks t where t.lane_id = l.id and t.due = 0 and t.state <> 'running')
    or l.id in (select t.lane_id from tasks t where t.state = 'running')
    or exists (select 1 from task_groups g where g.then_lane = l.id and g.follow_up is not null))"""
_HOSTS = "select lane_id, gate_id from host_lanes where lane_id in (:ids*)"
_GATES = """select id, pinned = 1 or robots_waived_at is not null from gates where id in (:ids*) and in_flight = 0
    and wake_at is null and tat < :before and last_start < :started and coalesce(last_failure, 0) < :failed
    and open_after <= :opened and tripped_until <= :tripped order by id"""
_GATE_NEEDED = """select g.id from gates g where g.id in (:ids*) and (exists (select 1 from permits p where p.gate_id = g.id)
    or exists (select 1 from events e where e.gate_id = g.id))"""
_LANES_OF_HOST = "select gate_id, count(*) from host_lanes where gate_id in (:ids*) group by gate_id"
_LATER = "update loose_lanes set since = :now where lane_id in (:ids*)"
_SETTLED = "delete from loose_lanes where lane_id in (:ids*)"
_DELETE_LANES = (
    "delete from host_lanes where lane_id in (:ids*)",
    "delete from lanes where id in (:ids*)",
    _SETTLED,
)
_DELETE_GATES = "delete from gates where id in (:ids*)"


@dataclass(slots=True)
class Removed:
    """How many lanes and gates went."""

    lanes: int = 0
    gates: int = 0


def prune_hosts(store: Store) -> Removed:
    """Remove idle lanes and gates of hosts, a batch a transaction."""
    removed = Removed()
    while True:
        with store.write() as session:
            if _prune_batch(store, session, removed) < store.settings.count("prune.batch"):
                return removed


def _prune_batch(store: Store, session: Session, removed: Removed) -> int:
    """Look at some candidates. Returns how many there were; each is settled, or put off until later."""
    now, dialect = store.backend.now(session), store.backend.dialect
    before = now - round(store.settings["history.hosts"] * DAY)
    asked = {"before": before, "most": store.settings.count("prune.batch")}
    loose = sorted(row[0] for row in session.rows(_LOOSE + dialect.skip, asked))
    if not loose:
        return 0
    held = session.rows(_LANES + dialect.remove, {"ids": loose})
    idle = [lane_id for lane_id, status, served_at in held if status == "idle" and served_at < before]
    needed = _ids(session, _NEEDED, idle)
    lanes, gates = _with_hosts(
        store, session, [lane_id for lane_id in idle if lane_id not in needed], before, now
    )
    for sql in _DELETE_LANES if lanes else ():
        session.run(sql, {"ids": lanes})
    if gates:
        session.run(_DELETE_GATES, {"ids": gates})
    if needed:
        session.run(_SETTLED, {"ids": sorted(needed)})  # they come back when their tasks are pruned
    session.run(_LATER, {"ids": [lane_id for lane_id in loose if lane_id not in needed], "now": now})
    removed.lanes += len(lanes)
    removed.gates += len(gates)
    return len(loose)


def _with_hosts(
    store: Store, session: Session, lanes: Sequence[int], before: int, now: int
) -> tuple[list[int], list[int]]:
    """Those of these lanes that may go, and the gates that go with them. The last lane of a host stays as
    long as its gate must.
    """
    hosts: dict[int, set[int]] = {}
    for lane_id, gate_id in session.rows(_HOSTS, {"ids": lanes}) if lanes else ():
        hosts.setdefault(gate_id, set()).add(lane_id)
    if not hosts:
        return list(lanes), []
    times = {"before": before, "started": before, "failed": before, "opened": now, "tripped": now}
    found = session.rows(_GATES + store.backend.dialect.remove, {"ids": sorted(hosts)} | times)
    quiet = {gate_id: bool(pinned) for gate_id, pinned in found}
    needed = _ids(session, _GATE_NEEDED, quiet)
    shared = {
        gate_id
        for gate_id, number in session.rows(_LANES_OF_HOST, {"ids": sorted(hosts)})
        if number > len(hosts[gate_id])
    }
    stay = {
        lane_id
        for gate_id, of_host in hosts.items()
        if gate_id not in shared and (gate_id not in quiet or gate_id in needed)
        for lane_id in of_host
    }
    # A lane through two hosts may have to stay for one of them: then the other one's gate has a lane, too.
    gates = [
        gate_id
        for gate_id, pinned in quiet.items()
        if not pinned and gate_id not in needed and gate_id not in shared and not hosts[gate_id] & stay
    ]
    return [lane_id for lane_id in lanes if lane_id not in stay], gates


def _ids(session: Session, sql: str, ids: Iterable[int]) -> set[int]:
    wanted = sorted(ids)
    return {row[0] for row in session.rows(sql, {"ids": wanted})} if wanted else set()
