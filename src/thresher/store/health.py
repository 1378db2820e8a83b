"""What a doctor asks a database: its version, who holds it back, and whether the counters are true. Changes
nothing.
"""

from typing import Any

from thresher.store.migrate import check_not_newer, newest, version_now
from thresher.store.repair import running_per_gate
from thresher.store.session import Session, one
from thresher.store.store import Store

_POSTGRES_VERSION = "select current_setting('server_version_num')::int"
# The oldest snapshot that anybody holds: dead rows younger than it cannot be removed, and claims slow down.
_HORIZON = """select pid, coalesce(application_name, ''), coalesce(state, ''), age(backend_xmin)::bigint,
        extract(epoch from clock_timestamp() - xact_start)::float
    from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1"""
_IDLE = """select count(*), coalesce(max(extract(epoch from clock_timestamp() - state_change)), 0)::float from pg_stat_activity
    where state like 'idle in transaction%' and datname = current_database()"""
_COUNTED = "select id, name, in_flight from gates where max_in_flight is not null"
_ASLEEP = """select count(*) from lanes l where l.status = 'idle'
    and exists (select 1 from tasks t where t.lane_id = l.id and t.due = 1)"""
_WRITE_PROBE = "update settings set value = value where name = ''"


def check_schema(store: Store) -> None:
    """Raise when a newer version has migrated the database."""
    with store.glance() as session:
        check_not_newer(version_now(session, store.backend.dialect), newest(store.backend.dialect.words))


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
        gates = session.rows(_COUNTED)
    return {
        name: (counted, running.get(gate_id, 0))
        for gate_id, name, counted in gates
        if counted != running.get(gate_id, 0)
    }


def lanes_asleep(session: Session) -> int:
    """How many lanes have due tasks and are in nobody's view."""
    return int(session.rows(_ASLEEP)[0][0])
