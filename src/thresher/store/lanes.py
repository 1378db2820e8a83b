"""Find or create a lane by kind, stage and gates; and scopes by number.

Tasks without gates are spread over a few lanes, so that several claimers do not queue at one row.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from thresher.config.settings import Settings
from thresher.core.errors import UnknownName, UsageError
from thresher.core.gate import GateLimits
from thresher.core.limits import MAX_GATE_BYTES, check_text
from thresher.store.backend import OPEN, Backend, Place
from thresher.store.bulk import Columns, insert_rows
from thresher.store.session import Session, one

# A scope is a kind and a stage: what a worker must know to perform a task.
#
# A worker names the scopes it serves when it registers, and claims from their lanes alone. So a stage that
# a newer version has added waits for a worker of that version, and a worker can be told to serve some kinds
# only.

Scope = tuple[str, str]

# The scope of lanes that no task waits in. Any worker may claim from it.
NOBODY: Scope = ("", "")

_ALL = "select kind, stage, id from scopes"
_ADD = "insert into scopes (kind, stage) values (:kind, :stage) on conflict do nothing"
_SERVE = "insert into worker_scopes (worker_id, scope) values (:worker, :scope) on conflict do nothing"
_FORGET = "delete from worker_scopes where worker_id not in (select id from workers where stopped_at is null)"
_ALIVE = "select id from workers where stopped_at is null and lost_at is null and lease_until >= :now"
_SCOPE = "select id from scopes where kind = :kind and stage = :stage"
_SERVED = "select scope from worker_scopes where worker_id = :worker"
_NEXT_KINDS = """select kind, count(*) from (select kind from tasks where run_at is not null order by run_at limit :most) next
    group by kind"""
_RUNNING_KINDS = "select kind, count(*) from tasks where state = 'running' group by kind"
_SCOPES = "select id, kind, stage from scopes order by kind, stage"
_DUE = """select (select count(*) from (select 1 from lanes l join tasks t on t.lane_id = l.id and t.due = 1
        where l.scope = :scope limit :most) standing)
    + (select count(*) from (select 1 from tasks t join lanes l on l.id = t.lane_id and l.scope = :scope_too
        where t.run_at <= :now limit :most_too) late)"""
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


def known_kinds(session: Session) -> list[str]:
    """The kinds that a lane was ever made for."""
    return [str(row[0]) for row in session.rows("select distinct kind from scopes order by kind")]


ALL = 1 << 62


def unserved(session: Session, now: int, most: int = ALL) -> dict[Scope, int]:
    """Return how many due tasks wait in each scope that no running worker serves, up to `most` each; nothing
    if no worker is running.
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
        for scope, kind, stage in session.rows(_SCOPES)
        if scope not in served and (number := _due(session, scope, now, most))
    }


def live_kinds(session: Session, kinds: Collection[str], most: int) -> dict[str, int]:
    """How many tasks of each of these kinds have not ended: up to `most` are counted that are due, and those
    among the next `most` that wait for a time.
    """
    found = Counter[str]()
    for sql in (_NEXT_KINDS, _RUNNING_KINDS):
        for kind, number in session.rows(sql, {"most": most} if ":most" in sql else {}):
            found[kind] += int(number) if kind in kinds else 0
    for scope, kind, _ in session.rows(_SCOPES):
        if kind in kinds:
            found[kind] += _due(session, scope, 0, most)
    return {kind: number for kind, number in sorted(found.items()) if number}


def is_served(session: Session, scope: Scope, now: int) -> bool:
    """Tell whether a running worker serves this scope; True if no worker is running."""
    alive = session.rows(_ALIVE, {"now": now})
    served = [{row[0] for row in session.rows(_SERVED, {"worker": worker})} for (worker,) in alive]
    number = one(session, _SCOPE, {"kind": scope[0], "stage": scope[1]})
    return not served or number is None or any(not each or number[0] in each for each in served)


def _due(session: Session, scope: int, now: int, most: int) -> int:
    given = {"scope": scope, "scope_too": scope, "now": now, "most": most, "most_too": most}
    return int(session.rows(_DUE, given)[0][0])


def is_anyone_alive(session: Session, now: int) -> bool:
    """Tell whether a worker is running, whatever it serves."""
    return bool(session.rows(f"{_ALIVE} limit 1", {"now": now}))


def served_by(session: Session) -> Mapping[int, list[str]]:
    """The kinds that each worker serves."""
    found: dict[int, list[str]] = {}
    for worker_id, kind in session.rows(_SERVED_BY):
        found.setdefault(worker_id, []).append(kind)
    return found


OPEN_LANES = 8
AT_ONCE = 500
OPEN_NAMES = tuple((f"{OPEN}{number}",) for number in range(OPEN_LANES))

_ADD_GATE = """insert into gates (name, max_in_flight, interval_us, burst, trip_after, cooldown_us)
    values (:name, :max_in_flight, :interval_us, :burst, :trip_after, :cooldown_us) on conflict (name) do nothing"""
_GATES = "select name, id from gates where name in (:names*)"
HOST = "host:"
_HOST_LANES: Columns = (("gate_id", "bigint"), ("lane_id", "bigint"))
_LOOSE: Columns = (("lane_id", "bigint"), ("since", ":now"))
_SINCE_NOW = (
    "on conflict (lane_id) do update set since = excluded.since where loose_lanes.since < excluded.since"
)


def resolve(
    backend: Backend, session: Session, wanted: Iterable[Place], settings: Settings
) -> dict[Place, int]:
    """The lane of each kind, stage and set of gates."""
    ordered = sorted(set(wanted))
    scopes = scope_ids(session, {(kind, stage) for kind, stage, _ in ordered})
    ids = _gate_ids(backend, session, [names for _, _, names in ordered if names not in OPEN_NAMES], settings)
    found = {
        (kind, stage, names): backend.add_lane(
            session,
            "\n".join(names),
            [] if names in OPEN_NAMES else [ids[name] for name in names],
            scopes[kind, stage],
        )
        for kind, stage, names in ordered
    }
    _note(backend, session, found, ids)
    return found


def _note(
    backend: Backend, session: Session, found: Mapping[Place, int], gate_ids: Mapping[str, int]
) -> None:
    """Write down which lanes pass through which hosts, and that they were looked up now: pruning goes by
    both.
    """
    lanes = sorted((lane_id, names) for (_, _, names), lane_id in found.items() if names not in OPEN_NAMES)
    hosts = [(gate_ids[name], lane_id) for lane_id, names in lanes for name in names if name.startswith(HOST)]
    insert_rows(backend.dialect, session, "host_lanes", _HOST_LANES, hosts, "on conflict do nothing")
    loose = [(lane_id,) for lane_id, _ in lanes]
    insert_rows(backend.dialect, session, "loose_lanes", _LOOSE, loose, _SINCE_NOW, now=backend.now(session))


def _gate_ids(
    backend: Backend, session: Session, lanes: Iterable[tuple[str, ...]], settings: Settings
) -> Mapping[str, int]:
    """The gates of all these lanes. New ones are made in the order of their names: two machines never wait in
    a circle.
    """
    wanted: set[str] = set()
    for names in lanes:
        if len(set(names)) < len(names):
            raise UsageError(f"a lane names the same gate twice: {', '.join(names)}")
        wanted.update(names)
    ordered = sorted(wanted)
    portions = (ordered[at : at + AT_ONCE] for at in range(0, len(ordered), AT_ONCE))
    share = _GATES + backend.dialect.share
    return {
        name: gate_id for names in portions for name, gate_id in _some_ids(session, share, names, settings)
    }


def _some_ids(
    session: Session, share: str, names: list[str], settings: Settings
) -> Iterable[tuple[str, int]]:
    """Shared, so that pruning removes none of them before their lanes are committed; one that it has just
    removed is made anew.
    """
    known: dict[str, int] = dict(session.rows(share, {"names": names}))
    while missing := [name for name in names if name not in known]:
        for name in missing:
            add_gate(session, name, _default_limits(name, settings))
        known |= dict(session.rows(share, {"names": missing}))
    return known.items()


def _default_limits(name: str, settings: Settings) -> GateLimits:
    """Return the limits of a new gate. Hosts are found on the way and get polite defaults; all other gates
    must be declared.
    """
    if not name.startswith(HOST):
        kind, _, rest = name.partition(":")
        if kind == "source" and rest:
            raise UnknownName(
                f"there is no source {rest!r}; declare it in the app (sources=(Source({rest!r}),)) or run: "
                f"thresher sources add {rest}"
            )
        raise UnknownName(f"there is no gate {name!r}; name it as source:NAME or host:NAME")
    return GateLimits(
        max_in_flight=settings.count("host.in_flight"),
        interval_us=settings.us("host.interval"),
        trip_after=settings.count("breaker.trip_after"),
        cooldown_us=settings.us("breaker.cooldown"),
    )


def add_gate(session: Session, name: str, limits: GateLimits) -> bool:
    """Make a gate; False if it was there."""
    check_text(name, "the name of a gate", MAX_GATE_BYTES)
    values = {
        field: getattr(limits, field)
        for field in ("max_in_flight", "interval_us", "burst", "trip_after", "cooldown_us")
    }
    return session.run(_ADD_GATE, values | {"name": name}) > 0
