"""Scopes: what a worker must know to perform a task, which is its kind and the stage it stands at.

A worker names the scopes it serves when it registers, and claims from their lanes alone. So a stage that a
newer version has added waits for a worker of that version, and a worker can be told to serve some kinds only.
"""

from collections.abc import Iterable, Mapping

from thresher.store.session import Session

Scope = tuple[str, str]

# The scope of lanes that no task waits in. Any worker may claim from it.
NOBODY: Scope = ("", "")

_ALL = "select kind, stage, id from scopes"
_ADD = "insert into scopes (kind, stage) values (:kind, :stage) on conflict do nothing"
_SERVE = "insert into worker_scopes (worker_id, scope) values (:worker, :scope) on conflict do nothing"
_FORGET = "delete from worker_scopes where worker_id not in (select id from workers where stopped_at is null)"
_ALIVE = "select id from workers where stopped_at is null and lost_at is null and lease_until >= :now"
_SERVED = "select scope from worker_scopes where worker_id = :worker"
_DUE = """select s.id, s.kind, s.stage, count(*) from tasks t join lanes l on l.id = t.lane_id join scopes s on s.id = l.scope
    where t.due = 1 or t.run_at <= :now group by s.id, s.kind, s.stage order by s.kind, s.stage"""
_SERVED_BY = """select x.worker_id, s.kind from worker_scopes x join scopes s on s.id = x.scope join workers w on w.id = x.worker_id
    where w.stopped_at is null group by x.worker_id, s.kind order by x.worker_id, s.kind"""


def scope_ids(session: Session, wanted: Iterable[Scope]) -> dict[Scope, int]:
    """The number of each scope, made if it is new; in the order of their names, so that two machines never
    wait in a circle.
    """
    real = set(wanted) - {NOBODY}
    known = _known(session) if real else {NOBODY: 0}
    missing = sorted(real - known.keys())
    for kind, stage in missing:
        session.run(_ADD, {"kind": kind, "stage": stage})
    return _known(session) if missing else known


def _known(session: Session) -> dict[Scope, int]:
    return {(kind, stage): number for kind, stage, number in session.rows(_ALL)} | {NOBODY: 0}


def serve(session: Session, worker_id: int, wanted: Iterable[Scope]) -> tuple[int, ...]:
    """Write down what a worker serves, and return the numbers that its claims name."""
    served = set(wanted)
    ids = scope_ids(session, served)
    numbers = sorted({0, *(ids[scope] for scope in served)})
    session.run(_FORGET)
    session.many(_SERVE, [{"worker": worker_id, "scope": number} for number in numbers])
    return tuple(numbers)


def unserved(session: Session, now: int) -> dict[Scope, int]:
    """How many due tasks wait in each scope that none of the living workers serves; none where nobody is
    alive.
    """
    alive = [
        {row[0] for row in session.rows(_SERVED, {"worker": worker})}
        for (worker,) in session.rows(_ALIVE, {"now": now})
    ]
    if not alive or not all(alive):
        return {}  # who has named no scopes serves all of them
    served = set().union(*alive)
    return {
        (kind, stage): number
        for scope, kind, stage, number in session.rows(_DUE, {"now": now})
        if scope not in served
    }


def served_by(session: Session) -> Mapping[int, list[str]]:
    """The kinds that each worker serves."""
    found: dict[int, list[str]] = {}
    for worker_id, kind in session.rows(_SERVED_BY):
        found.setdefault(worker_id, []).append(kind)
    return found
