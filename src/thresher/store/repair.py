"""The safety net under the counters: compare what gates, lanes and groups say with what is there, and mend with an event.

Nothing here should ever find anything. What it finds is a bug report, not a mystery.
"""

from collections.abc import Sequence

from thresher.core.event import EventKind
from thresher.governance.gate import Gate
from thresher.store.events import record_event
from thresher.store.gates import WAKE_MOST, Gates
from thresher.store.session import Session
from thresher.store.store import Store

GATES_AT_ONCE = 200
# A wake that is owed rings within this time.
OWED_US = 10_000

_COUNTED = "select id from gates where id > :after and max_in_flight is not null order by id limit :most"
_PARKED_ON = "select distinct parked_on from lanes where status = 'parked' and parked_on > :after order by parked_on limit :most"
_RUNNING = "select lane_id, count(*) from tasks where state = 'running' group by lane_id"
_PERMITS = "select gate_id, count(*) from permits group by gate_id"
_ASLEEP = """select l.id, (select min(t.rank) from tasks t where t.lane_id = l.id and t.due = 1) from lanes l
    where l.status = 'idle' and (select t.id from tasks t where t.lane_id = l.id and t.due = 1 order by t.rank, t.id limit 1) is not null"""

_OPEN_GROUPS = "select id from task_groups where ended_at is null and id > :after order by id limit :most"
_GROUP_COLUMNS = ("live", "open_groups", "succeeded", "filtered", "skipped", "failed", "cancelled")
_COUNTED_IN_GROUP = f"select {', '.join(_GROUP_COLUMNS)} from task_groups where id = :id and ended_at is null"
_MEMBERS = "select case when finished_at is null then 'live' else state end, count(*) from tasks where group_id = :id group by 1"
_GROUPS_BELOW = "select count(*) from task_groups where parent_id = :id and ended_at is null"
_RECOUNT = f"update task_groups set {', '.join(f'{name} = :{name}' for name in _GROUP_COLUMNS)} where id = :id"


def repair(store: Store) -> list[str]:
    """Mend counters, timers and sleeping lanes. Returns a sentence for each thing that was wrong."""
    found = [sentence for batch in _batches(store, _COUNTED) for sentence in _recount(store, batch)]
    found += [sentence for batch in _batches(store, _PARKED_ON) for sentence in _reset_timers(store, batch)]
    found += [sentence for batch in _batches(store, _OPEN_GROUPS) for group_id in batch for sentence in _recount_group(store, group_id)]
    return found + _wake_sleepers(store)


def _batches(store: Store, sql: str) -> list[list[int]]:
    batches: list[list[int]] = []
    after = 0
    while True:
        with store.read() as session:
            ids = [row[0] for row in session.rows(sql, {"after": after, "most": GATES_AT_ONCE})]
        if not ids:
            return batches
        batches.append(ids)
        after = ids[-1]


def _recount(store: Store, gate_ids: Sequence[int]) -> list[str]:
    found = []
    with store.write() as session:
        gates = Gates(session, store.backend.dialect, 0)
        gates.load(gate_ids)
        gates.now = store.backend.now(session)
        running = running_per_gate(store, session)  # after the locks: nobody can start or end behind these gates now
        for gate_id in gate_ids:
            gate = gates.get(gate_id)
            true = running.get(gate_id, 0)
            if gate.max_in_flight is not None and gate.in_flight != true:
                found.append(f"gate {gate_id} counted {gate.in_flight} in flight; {true} are running")
                record_event(session, EventKind.GATE_REPAIRED, gates.now, gate_id=gate_id, was=gate.in_flight, now=true)
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
            ahead = gate.clamp(gates.now)
            opens = gate.opens_at(gates.now)
            late = opens is not None and (gate.wake_at is None or gate.wake_at > opens)
            if late or ahead or _stranded(store, session, gate, gates.now):
                found.append(f"gate {gate_id} had its timer at {gate.wake_at}; it opens at {opens or 'once'}")
                record_event(session, EventKind.GATE_REPAIRED, gates.now, gate_id=gate_id, timer_was=gate.wake_at, timer=opens)
                gate.wake_at = None
                gates.mark_dirty(gate_id)
                gates.open(gate_id, WAKE_MOST)
        gates.save()
    return found


def _stranded(store: Store, session: Session, gate: Gate, now: int) -> bool:
    """Whether lanes sleep in front of an open gate and nobody is on the way who would wake them."""
    if gate.allowance(now) <= 0 or (gate.wake_at is not None and gate.wake_at <= now + OWED_US):
        return False
    return not session.rows(f"select id from lanes l where status = 'ready' and {store.backend.dialect.carries} limit 1", {"gate": gate.id})


def _recount_group(store: Store, group_id: int) -> list[str]:
    with store.write() as session:
        # Whoever changes a member takes this row before the commit: under its lock both tell of the same moment.
        rows = session.rows(_COUNTED_IN_GROUP + store.backend.dialect.lock, {"id": group_id})
        if not rows:
            return []
        counted = dict(zip(_GROUP_COLUMNS, rows[0], strict=True))
        there = dict.fromkeys(_GROUP_COLUMNS, 0) | dict(session.rows(_MEMBERS, {"id": group_id}))
        there["open_groups"] = session.rows(_GROUPS_BELOW, {"id": group_id})[0][0]
        if counted == there:
            return []
        now = store.backend.now(session)
        session.run(_RECOUNT, there | {"id": group_id})
        wrong = {name: [counted[name], there[name]] for name in _GROUP_COLUMNS if counted[name] != there[name]}
        record_event(session, EventKind.GROUP_REPAIRED, now, group=group_id, counters=wrong)
        store.backend.count_groups(session, {(group_id, "live"): 0}, store.rules, now)  # it may turn out to have ended
    return [f"group {group_id} counted {name} {was}; it is {true}" for name, (was, true) in wrong.items()]


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
    return [f"lane {lane_id} slept although it had work" for lane_id in sorted(still)]
