"""A look at one consistent snapshot of a living queue: slots equal running, no limit is passed, nobody is
stranded."""

from collections import Counter
from typing import Any

from thresher.store.session import Session
from thresher.store.store import Store

_ASLEEP = """select count(*) from lanes l where l.status = 'idle'
    and exists (select 1 from tasks t where t.lane_id = l.id and t.due = 1)"""


def observe(store: Store) -> list[str]:
    """What is wrong right now."""
    with store.read() as session:
        if store.backend.dialect.name == "postgres":
            session.run("set transaction isolation level repeatable read")
        return [*_miscounted(session), *_stranded(session)]


def _gate_ids(gates: Any) -> list[int]:
    return [int(each) for each in (gates.split() if isinstance(gates, str) else gates)]


def _miscounted(session: Session) -> list[str]:
    running: Counter[int] = Counter()
    for gates, number in session.rows(
        "select l.gates, count(*) from tasks t join lanes l on l.id = t.lane_id where t.state = 'running' group by l.id, l.gates"
    ):
        for gate_id in _gate_ids(gates):
            running[gate_id] += number
    found = []
    for gate_id, name, in_flight, most in session.rows(
        "select id, name, in_flight, max_in_flight from gates"
    ):
        if most is not None and in_flight != running[gate_id]:
            found.append(f"{name} counted {in_flight} in flight while {running[gate_id]} were running")
        if most is not None and running[gate_id] > most:
            found.append(f"{running[gate_id]} were running behind {name}; it allows {most}")
    return found


def _stranded(session: Session) -> list[str]:
    """Lanes parked on a gate that nothing will ever open for them."""
    carried, parked = set(), set()
    for gates, status, on, scope in session.rows(
        "select gates, status, parked_on, scope from lanes where status <> 'idle'"
    ):
        if status == "ready":
            carried.update((gate_id, scope) for gate_id in _gate_ids(gates))
        else:
            parked.add((on, scope))
    asleep_at = {gate_id for gate_id, scope in parked - carried}
    found = []
    for gate_id, name, in_flight, most, wake_at in session.rows(
        "select id, name, in_flight, max_in_flight, wake_at from gates"
    ):
        full = most is not None and in_flight >= most
        if gate_id in asleep_at and not full and wake_at is None:
            found.append(f"lanes are stranded before {name}")
    asleep = session.rows(_ASLEEP)[0][0]
    return found + ([f"{asleep} lanes sleep although they have work"] if asleep else [])
