"""Repair: compare the counters of gates, lanes and groups with the rows, and correct them with an event.

It should never find anything; what it finds is a bug. A first look takes no lock. Only what looks wrong is
checked again under its lock, and corrected. `repair_active` looks where something runs or waits, so its cost
depends on the activity and not on the size; `repair` looks at everything. The queries of `thresher doctor`
stand here too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from thresher.core.clock import MINUTE
from thresher.core.event import EventKind
from thresher.core.gate import Gate
from thresher.store.app_migrations import check_apps_not_newer
from thresher.store.events import record_event
from thresher.store.gates import WAKE_MOST, Gates, read_gates
from thresher.store.migrate import check_not_newer, newest, version_now
from thresher.store.session import Session, one
from thresher.store.store import Store

AT_ONCE = 200
LOOK_AT_ONCE = 2_000
# A wake that is owed rings within this time.
OWED_US = 10_000
# Clocks differ; what is further ahead than this was written before the clock was set back.
CLOCK_BACK_US = MINUTE

_COUNTED = (
    "select id, in_flight from gates where id > :after and max_in_flight is not null order by id limit :most"
)
_COUNTED_OF = "select id, in_flight from gates where id in (:ids*) and max_in_flight is not null"
_PARKED_ON = "select distinct parked_on from lanes where status = 'parked' and parked_on > :after order by parked_on limit :most"
_PARKED_SCOPES = "select distinct scope from lanes where status = 'parked' and parked_on = :gate"
_CARRIED = "select distinct l.scope from lanes l where l.status = 'ready' and {carries}"
_RUNNING = "select lane_id, count(*) from tasks where state = 'running' group by lane_id"
_PERMITS = "select gate_id, count(*) from permits group by gate_id"
_ASLEEP = """select l.id, (select min(t.rank) from tasks t where t.lane_id = l.id and t.due = 1) from lanes l
    where l.status = 'idle' and (select t.id from tasks t where t.lane_id = l.id and t.due = 1 order by t.rank, t.id limit 1) is not null"""

_OPEN_GROUPS = "select id from task_groups where ended_at is null and id > :after order by id limit :most"
_GROUP_COLUMNS = ("live", "open_groups", "succeeded", "filtered", "skipped", "failed", "cancelled")
_COUNTED_IN_GROUP = f"select {', '.join(_GROUP_COLUMNS)} from task_groups where id = :id and ended_at is null"
_MEMBERS = "select case when finished_at is null then 'live' else state end, count(*) from tasks where group_id = :id group by 1"
_GROUPS_BELOW = "select count(*) from task_groups where parent_id = :id and ended_at is null"
_RECOUNT = (
    f"update task_groups set {', '.join(f'{name} = :{name}' for name in _GROUP_COLUMNS)} where id = :id"
)


# Ready lanes that stand in the future. Only a clock that was set back puts them there, or a priority below
# zero, which is meant.
_AHEAD = """select l.id, l.position from lanes l where l.status = 'ready' and l.position > :late and (l.served_at > :late_too
        or (select t.created_at from tasks t where t.lane_id = l.id and t.due = 1 order by t.rank, t.id limit 1) > :late_three)
    order by l.position, l.id limit :most"""
_BRING_BACK = """update lanes set position = :now, served_at = case when served_at > :now_too then :now_three else served_at end
    where id = :id and status = 'ready'"""


def repair(store: Store) -> list[str]:
    """Mend counters, timers, groups and sleeping lanes, all of them. Returns a sentence for each thing that
    was wrong.
    """
    found = repair_active(store)
    counted = {gate_id: in_flight for batch in _batches(store, _COUNTED) for gate_id, in_flight in batch}
    with store.read() as session:
        running = running_per_gate(store, session)
    found += _recount_wrong(store, counted, running)
    for batch in _batches(store, _OPEN_GROUPS):
        found += [
            sentence
            for (group_id,) in batch
            if _is_miscounted(store, group_id)
            for sentence in _recount_group(store, group_id)
        ]
    return found + _wake_sleepers(store)


def repair_active(store: Store) -> list[str]:
    """Mend the counters of gates behind which something runs or waits, their timers, and lanes that a clock
    left behind.
    """
    parked = [row[0] for batch in _batches(store, _PARKED_ON) for row in batch]
    with store.read() as session:
        running = running_per_gate(store, session)
        active = sorted({*parked, *running})
        counted: dict[int, int] = {
            row[0]: row[1] for ids in _portions(active) for row in session.rows(_COUNTED_OF, {"ids": ids})
        }
    found = _recount_wrong(store, counted, running)
    for ids in _portions(parked):
        if late := _with_wrong_timer(store, ids):
            found += _reset_timers(store, late)
    return found + _follow_clock(store)


def _recount_wrong(store: Store, counted: Mapping[int, int], running: Mapping[int, int]) -> list[str]:
    wrong = sorted(gate_id for gate_id, in_flight in counted.items() if in_flight != running.get(gate_id, 0))
    return [sentence for ids in _portions(wrong) for sentence in _recount(store, ids)]


def _portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))


def _batches(store: Store, sql: str) -> Iterator[list[tuple[int, ...]]]:
    after = 0
    while True:
        with store.read() as session:
            rows = session.rows(sql, {"after": after, "most": LOOK_AT_ONCE})
        if rows:
            yield rows
        if len(rows) < LOOK_AT_ONCE:
            return
        after = rows[-1][0]


def _recount(store: Store, gate_ids: Sequence[int]) -> list[str]:
    found = []
    with store.write() as session:
        gates = Gates(session, store.backend.dialect, 0)
        gates.load(gate_ids)
        gates.now = store.backend.now(session)
        running = running_per_gate(
            store, session
        )  # after the locks: nobody can start or end behind these gates now
        for gate_id in gate_ids:
            gate = gates.get(gate_id)
            true = running.get(gate_id, 0)
            if gate.max_in_flight is not None and gate.in_flight != true:
                found.append(
                    f"gate {gate_id} counted {gate.in_flight} tasks in flight, but {true} are running"
                )
                record_event(
                    session, EventKind.GATE_REPAIRED, gates.now, gate_id=gate_id, was=gate.in_flight, now=true
                )
                gate.in_flight = true
                gates.mark_dirty(gate_id)
                gates.open(gate_id, WAKE_MOST)
        gates.save()
    return found


def running_per_gate(store: Store, session: Session) -> dict[int, int]:
    """What truly runs behind each gate: the tasks of its lanes, and requests that hold a permit."""
    per_lane: dict[int, int] = dict(session.rows(_RUNNING))
    gates_of = store.backend.gates_of(session, list(per_lane))
    per_gate: dict[int, int] = dict(session.rows(_PERMITS))
    for lane_id, number in per_lane.items():
        for gate_id in gates_of[lane_id]:
            per_gate[gate_id] = per_gate.get(gate_id, 0) + number
    return per_gate


def _with_wrong_timer(store: Store, gate_ids: Sequence[int]) -> list[int]:
    with store.read() as session:
        now = store.backend.now(session)
        return [
            gate.id for gate in read_gates(session, gate_ids) if _is_timer_wrong(store, session, gate, now)
        ]


def _is_timer_wrong(store: Store, session: Session, gate: Gate, now: int) -> bool:
    ahead = gate.clamp(now)
    opens = gate.opens_at(now)
    late = opens is not None and (gate.wake_at is None or gate.wake_at > opens)
    return late or ahead or _stranded(store, session, gate, now)


def _reset_timers(store: Store, gate_ids: Sequence[int]) -> list[str]:
    found = []
    with store.write() as session:
        gates = Gates(session, store.backend.dialect, 0)
        gates.load(gate_ids)
        gates.now = store.backend.now(session)
        for gate_id in gate_ids:
            if not gates.has_parked(gate_id):
                continue  # whoever was parked here has been woken since we looked
            gate = gates.get(gate_id)
            if _is_timer_wrong(store, session, gate, gates.now):
                opens = gate.opens_at(gates.now)
                found.append(f"gate {gate_id} had its timer at {gate.wake_at}; it opens at {opens or 'once'}")
                record_event(
                    session,
                    EventKind.GATE_REPAIRED,
                    gates.now,
                    gate_id=gate_id,
                    timer_was=gate.wake_at,
                    timer=opens,
                )
                gate.wake_at = None
                gates.mark_dirty(gate_id)
                gates.open(gate_id, WAKE_MOST)
        gates.save()
    return found


def _stranded(store: Store, session: Session, gate: Gate, now: int) -> bool:
    """Tell whether lanes sleep at an open gate with no lane of their scope on its way to wake them."""
    if gate.allowance(now) <= 0 or (gate.wake_at is not None and gate.wake_at <= now + OWED_US):
        return False
    carried = {
        row[0]
        for row in session.rows(_CARRIED.format(carries=store.backend.dialect.carries), {"gate": gate.id})
    }
    return any(row[0] not in carried for row in session.rows(_PARKED_SCOPES, {"gate": gate.id}))


def _is_miscounted(store: Store, group_id: int) -> bool:
    with store.read() as session:
        rows = session.rows(_COUNTED_IN_GROUP, {"id": group_id})
        return bool(rows) and dict(zip(_GROUP_COLUMNS, rows[0], strict=True)) != _members(session, group_id)


def _members(session: Session, group_id: int) -> dict[str, int]:
    there = dict.fromkeys(_GROUP_COLUMNS, 0) | dict(session.rows(_MEMBERS, {"id": group_id}))
    return there | {"open_groups": session.rows(_GROUPS_BELOW, {"id": group_id})[0][0]}


def _recount_group(store: Store, group_id: int) -> list[str]:
    with store.write() as session:
        # Whoever changes a member takes this row before the commit: under its lock both tell of the same
        # moment.
        rows = session.rows(_COUNTED_IN_GROUP + store.backend.dialect.lock, {"id": group_id})
        if not rows:
            return []
        counted = dict(zip(_GROUP_COLUMNS, rows[0], strict=True))
        there = _members(session, group_id)
        if counted == there:
            return []
        now = store.backend.now(session)
        session.run(_RECOUNT, there | {"id": group_id})
        wrong = {
            name: [counted[name], there[name]] for name in _GROUP_COLUMNS if counted[name] != there[name]
        }
        record_event(session, EventKind.GROUP_REPAIRED, now, group=group_id, counters=wrong)
        store.backend.count_groups(
            session, {(group_id, "live"): 0}, store.rules, now
        )  # it may turn out to have ended
    return [f"group {group_id} counted {name} {was}; it is {true}" for name, (was, true) in wrong.items()]


def _follow_clock(store: Store) -> list[str]:
    """Lanes that were served or filled before the clock was set back stand behind all others until it has
    caught up.
    """
    with store.read() as session:
        late = store.backend.now(session) + CLOCK_BACK_US
        values = {"late": late, "late_too": late, "late_three": late, "most": LOOK_AT_ONCE}
        ahead = sorted(row[0] for row in session.rows(_AHEAD, values))
    if not ahead:
        return []
    with store.write() as session:
        store.backend.lock_lanes(session, ahead)
        now = store.backend.now(session)
        session.many(
            _BRING_BACK, [{"id": lane_id, "now": now, "now_too": now, "now_three": now} for lane_id in ahead]
        )
        record_event(session, EventKind.GATE_REPAIRED, now, clock="set back", lanes=ahead[:AT_ONCE])
    return [f"the clock was set back: {len(ahead)} lanes had a time in the future"]


def _wake_sleepers(store: Store) -> list[str]:
    with store.read() as session:
        asleep = [row[0] for row in session.rows(_ASLEEP)]
    if not asleep:
        return []
    with store.write() as session:
        store.backend.lock_lanes(session, asleep)
        still = {lane_id: rank for lane_id, rank in session.rows(_ASLEEP) if lane_id in set(asleep)}
        store.backend.make_ready(session, still)
        if still:
            record_event(session, EventKind.GATE_REPAIRED, store.backend.now(session), lanes=sorted(still))
    return [f"lane {lane_id} was asleep although it had work" for lane_id in sorted(still)]


# Queries of `thresher doctor`: the version, long transactions, and whether the counters are right. They
# change nothing.

_POSTGRES_VERSION = "select current_setting('server_version_num')::int"
# The oldest snapshot that anybody holds: dead rows younger than it cannot be removed, and claims slow down.
_HORIZON = """select pid, coalesce(application_name, ''), coalesce(state, ''), age(backend_xmin)::bigint,
        extract(epoch from clock_timestamp() - xact_start)::float
    from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1"""
_IDLE = """select count(*), coalesce(max(extract(epoch from clock_timestamp() - state_change)), 0)::float from pg_stat_activity
    where state like 'idle in transaction%' and datname = current_database()"""
_COUNTED_SLOTS = "select id, name, in_flight from gates where max_in_flight is not null"
_LANES_ASLEEP = """select count(*) from lanes l where l.status = 'idle'
    and exists (select 1 from tasks t where t.lane_id = l.id and t.due = 1)"""
_WRITE_PROBE = "update settings set value = value where name = ''"


def check_schema(store: Store) -> None:
    """Raise when a newer version, of Thresher or of an app here, has migrated the database."""
    with store.read(autocommit=True) as session:
        check_not_newer(version_now(session, store.backend.dialect), newest(store.backend.dialect.words))
        check_apps_not_newer(session, store.app_schemas)


def postgres_version(session: Session) -> int:
    """As PostgreSQL counts: 150004 is 15.4."""
    return int(session.rows(_POSTGRES_VERSION)[0][0])


def oldest_snapshot(session: Session) -> dict[str, Any] | None:
    """Who holds the oldest snapshot, and for how many seconds."""
    row = one(session, _HORIZON)
    return dict(zip(("pid", "application", "state", "age", "seconds"), row, strict=True)) if row else None


def idle_in_transaction(session: Session) -> tuple[int, float]:
    """How many sessions sit idle inside a transaction, and the longest of them in seconds."""
    count, seconds = session.rows(_IDLE)[0]
    return int(count), float(seconds)


def try_to_write(store: Store) -> None:
    """A write that changes nothing, and raises what a real one would."""
    with store.write() as session:
        session.run(_WRITE_PROBE)


def drifted(store: Store) -> dict[str, tuple[int, int]]:
    """Gates whose counter differs from the running tasks: name to (counted, running)."""
    with store.read() as session:
        running = running_per_gate(store, session)
        gates = session.rows(_COUNTED_SLOTS)
    return {
        name: (counted, running.get(gate_id, 0))
        for gate_id, name, counted in gates
        if counted != running.get(gate_id, 0)
    }


def lanes_asleep(session: Session) -> int:
    """Return how many lanes have due tasks but are invisible to claims."""
    return int(session.rows(_LANES_ASLEEP)[0][0])
