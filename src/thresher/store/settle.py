"""Settling: one transaction in which an attempt becomes fact, behind its fence.

Order matters, for PostgreSQL's locks: lineages, lanes, tasks, children, records, effects, events, results,
groups, and the gates last.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from thresher.core.clock import FOREVER
from thresher.core.event import EventKind
from thresher.core.outcome import CheckedEffect
from thresher.core.settlement import Blame, Health, Settlement
from thresher.core.task import TERMINAL, State, TaskId, TaskStatus
from thresher.store.backend import Backend, LaneIds, QueueRules, Settled, ended_members
from thresher.store.events import record_event, record_events
from thresher.store.gates import Gates, gate_named, note_closed
from thresher.store.groups import Children, GroupTally
from thresher.store.records import file_records
from thresher.store.session import Session, one
from thresher.store.spawn import CANCELLED, DUPLICATE, admit_children, read_parents, refuse

Counts = Mapping[str, int]

# What tasks hand back: written in the transaction that settles them, removed with them.

_WRITE = "insert into results (task_id, value) values (:task_id, :value)"
_READ = "select value from results where task_id = :id"
_STATUS = """select t.id, t.kind, t.stage, t.state, t.error_name, t.reason, t.created_at, t.finished_at, r.value
    from tasks t left join results r on r.task_id = t.id where t.id = :id"""


def write_results(session: Session, hits: Sequence[Settled], counted: Mapping[int, Counts]) -> None:
    """Keep the results that these settlements bring, with what their effects have counted."""
    rows = [
        {"task_id": hit.settlement.task_id, "value": value}
        for hit in hits
        if (value := _result(hit.settlement, counted.get(hit.settlement.task_id))) is not None
    ]
    if rows:
        session.many(_WRITE, rows)


def _result(settlement: Settlement, counts: Counts | None) -> str | None:
    if not counts or settlement.state is not State.SUCCEEDED:
        return settlement.result
    said = orjson.loads(settlement.result) if settlement.result is not None else {}
    return orjson.dumps({**counts, **said}).decode() if isinstance(said, dict) else settlement.result


def read_result(session: Session, task_id: int) -> Any:
    """The result of a task; None where it has none."""
    row = one(session, _READ, {"id": task_id})
    return None if row is None else orjson.loads(row[0])


def read_status(session: Session, task_id: int) -> TaskStatus | None:
    """Return the status of a task, with its result."""
    row = one(session, _STATUS, {"id": task_id})
    if row is None:
        return None
    found, kind, stage, state, error, reason, created_at, finished_at, value = row
    result = None if value is None else orjson.loads(value)
    return TaskStatus(
        TaskId(found), kind, stage, State(state), result, error, reason, created_at, finished_at
    )


Below = Mapping[int, Children]

# A person may have sent it back, and it has failed again, before anybody said those of the time before.
_LAST_WORDS = """insert into last_words (task_id, claim) values (:task, :claim)
    on conflict (task_id) do update set claim = excluded.claim"""
_BLAME = "update gates set last_failure = :now, last_error = :reason where id = :id"


def settle(
    backend: Backend, session: Session, settlements: Sequence[Settlement], lanes: LaneIds, rules: QueueRules
) -> list[Settled]:
    """Apply settlements with everything they bring. Returns those that the fence let through."""
    wanted = [lanes[each.place] if each.place is not None else None for each in settlements]
    below: Below = {
        each.task_id: [(child, lanes[child.place]) for child in each.children]
        for each in settlements
        if each.children or each.group or each.refused
    }
    backend.lock_lineages(session, list(below))
    back = [each.task_id for each in settlements if each.state not in TERMINAL]
    # The lanes of children are not waited for: a child whose lane somebody holds enters it with the next
    # claim.
    backend.lock_lanes(session, sorted({lane for lane in wanted if lane}), back)
    then: dict[int, int] = {
        each.task_id: lanes[group.then.place] for each in settlements if (group := each.group) and group.then
    }
    backend.keep_lanes(session, sorted(set(then.values())))
    now = backend.now(session)
    hits = backend.fence(session, settlements, wanted, rules, now)
    groups = GroupTally(ended_members(hits))
    _insert_children(backend, session, hits, below, then, groups, rules, now)
    _refuse_cancelled(session, hits, now)
    _leave_last_words(session, hits)
    brought = [(hit.settlement.task_id, filing) for hit in hits for filing in hit.settlement.records]
    file_records(session, brought, now)
    counted: dict[int, Counts] = {}
    for hit in hits:
        counted[hit.settlement.task_id] = make_effects(session, hit.settlement.effects, now)
        record_events(session, hit.settlement.events, now, hit.settlement.task_id)
    write_results(session, hits, counted)
    groups.save(backend, session, hits, counted, rules, now)
    gates = Gates(session, backend.dialect, now)
    release(backend, session, gates, hits)
    gates.save()
    return hits


def make_effects(session: Session, effects: Sequence[CheckedEffect], now: int) -> Counts:
    """Make the changes that a settlement asks for, in their order. Returns what they counted."""
    counts: Counter[str] = Counter()
    for effect in effects:
        counts.update(effect.make(session, effect.data, now) or {})
    return counts


def _insert_children(
    backend: Backend,
    session: Session,
    hits: Sequence[Settled],
    below: Below,
    then: Mapping[int, int],
    groups: GroupTally,
    rules: QueueRules,
    now: int,
) -> None:
    bearing = [hit for hit in hits if hit.settlement.task_id in below and not hit.cancelled]
    if not bearing:
        return
    parents = read_parents(session, [hit.settlement.task_id for hit in bearing])
    families = []
    # By key, so that two transactions that open the same groups never wait for each other in a circle.
    for hit in sorted(
        bearing, key=lambda hit: (group.name, group.key) if (group := hit.settlement.group) else ("", "")
    ):
        task_id = hit.settlement.task_id
        parent = groups.open(session, hit, parents[task_id], then.get(task_id), rules, now)
        for entry, why in hit.settlement.refused:
            refuse(session, parent, entry, why, now)
        if task_id in groups.refused:
            groups.refuse(session, hit, parent, below[task_id], now)
        else:
            families.append((parent, below[task_id]))
            groups.spawned(parent, hit.settlement.refused, 0)
    inserts = admit_children(session, families, rules, now)
    born: Counter[int] = Counter()
    for task_insert, new_id in zip(
        inserts, backend.insert(session, inserts, rules) if inserts else (), strict=True
    ):
        if task_insert.parent and new_id is None:
            refuse(session, task_insert.parent, task_insert.entry, DUPLICATE, now)
        elif task_insert.parent and not task_insert.entry.detached:
            born[task_insert.parent.task_id] += 1
    for parent, children in families:
        groups.spawned(parent, children, born[parent.task_id])


def _refuse_cancelled(session: Session, hits: Sequence[Settled], now: int) -> None:
    """What a task brought that a person had cancelled meanwhile is not born, and that is written down."""
    cancelled = [hit.settlement for hit in hits if hit.cancelled]
    bearing = [each for each in cancelled if each.children or each.refused or each.group]
    parents = read_parents(session, [each.task_id for each in bearing]) if bearing else {}
    for each in bearing:
        then = each.group and each.group.then
        for entry in (*each.children, *((then,) if then else ())):
            refuse(session, parents[each.task_id], entry, CANCELLED, now)
        for entry, why in each.refused:
            refuse(session, parents[each.task_id], entry, why, now)


def _leave_last_words(session: Session, hits: Sequence[Settled]) -> None:
    """Whoever ends a task without them need not know its kind: a worker that does will say what is to be
    written down.
    """
    for hit in hits:
        if hit.settlement.words_due and not hit.cancelled:
            session.run(_LAST_WORDS, {"task": hit.settlement.task_id, "claim": hit.settlement.claim})


def release(backend: Backend, session: Session, gates: Gates, hits: Sequence[Settled]) -> None:
    """Give back what the tasks held, and tell the gates how it went."""
    gates_of = backend.gates_of(session, [hit.lane_id for hit in hits])
    ended: dict[int, int] = {}
    healthy: set[int] = set()
    blamed: list[tuple[int, Blame]] = []
    for hit in hits:
        lane_gates = gates_of[hit.lane_id]
        for gate_id in lane_gates:
            ended[gate_id] = ended.get(gate_id, 0) + 1
            if hit.settlement.healthy:
                healthy.add(gate_id)
        blame = hit.settlement.blame
        if blame and (blame.gate or lane_gates):
            guilty = gate_named(session, blame.gate) if blame.gate else lane_gates[0]
            if guilty is not None:
                # Without one it is the fault of something that has no gate here, such as a browser that died.
                blamed.append((guilty, blame))
    if ended or blamed:
        gates.load({*ended, *(gate_id for gate_id, _ in blamed)})
        gates.now = backend.now(session)  # after the wait for the locks, never before it
    # Blame first: a gate that closes must not wake anybody with the slots that come back.
    for gate_id, blame in blamed:
        judge(session, gates, gate_id, blame)
    for gate_id in sorted(ended):
        gates.release(gate_id, ended[gate_id], healthy=gate_id in healthy)


def judge(session: Session, gates: Gates, gate_id: int, blame: Blame) -> None:
    """Record a failure of one gate: count it, pause the gate, or close it until someone enables it."""
    now = gates.now
    session.run(_BLAME, {"now": now, "reason": blame.reason, "id": gate_id})
    match blame.health:
        case Health.FAILURE:
            gates.fail(gate_id, blame.reason)
            return
        case Health.PAUSE:
            until, kind = now + blame.delay_us, EventKind.GATE_PAUSED
        case Health.DISABLE:
            until, kind = FOREVER, EventKind.GATE_DISABLED
    was_open = gates.get(gate_id).open_after <= now
    gates.close_until(gate_id, until)
    note_closed(session, gate_id, blame.tag, blame.reason, was_open=was_open)
    record_event(session, kind, now, gate_id=gate_id, until=until, tag=blame.tag, reason=blame.reason)
