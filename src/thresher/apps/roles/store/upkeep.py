"""Effects of the roles app's schedules: end expired sessions, requeue rested roles, close unseen postings."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.matches import drop_suggestions
from thresher.apps.roles.store.roles import repeat_stalled, reset_roles
from thresher.apps.roles.store.scrapes import expire_scrapes
from thresher.apps.roles.turns import Pace
from thresher.core.record import Filing
from thresher.hiring.kinds import POSTING
from thresher.store.events import record_event
from thresher.store.records import file_record
from thresher.store.session import Session, one

AT_ONCE = 500


def expire_sessions(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """End every session whose time is over; how many roles are pending again. `data` brings `pace` and
    `demand`, as their fields.
    """
    pace, demand, ended = Pace(**data["pace"]), Demand(**data["demand"]), [AT_ONCE]
    while ended[-1] == AT_ONCE:
        ended.append(expire_scrapes(session, now, pace, demand, AT_ONCE, session.dialect.skip))
    counts = {"roles_reset": sum(ended[1:])}
    if counts["roles_reset"]:
        record_event(session, "sessions_ended", now, **counts)
    return counts


def reset_rested(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Bring back every role that has rested since `before`; how many. `data` brings `before` and `demand`."""
    demand, before, reset = Demand(**data["demand"]), int(data["before"]), [AT_ONCE]
    while reset[-1] == AT_ONCE:
        reset.append(reset_roles(session, before, now, demand, AT_ONCE))
    last: int | None = 0
    while last is not None:
        last = repeat_stalled(session, before, now, last, AT_ONCE)
    counts = {"roles_reset_to_pending": sum(reset[1:])}
    if counts["roles_reset_to_pending"]:
        record_event(session, "roles_reset", now, **counts)
    return counts


# Close postings that no scraper has seen for long. What was seen again meanwhile stays open.

_FIRST = "select model, version from vectors order by model, version limit 1"
_NEXT = "select model, version from vectors where (model, version) > (:model, :version) order by model, version limit 1"
_FORGET = (
    "delete from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
)
_POSTING = "select key, data from records where id = :id and kind = :kind"


def expire_postings(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: close these postings, each if it is still open and was still not seen since `before`.

    The points of their texts go along. One that another posting needs too is computed again.
    """
    closed = [each for each in sorted(data["postings"]) if _close(session, each, data["before"], now)]
    drop_suggestions(session, closed)
    _forget(session, data.get("kind", ""), data.get("points", ()))


def _forget(session: Session, kind: str, keys: Sequence[str]) -> None:
    """Drop these points, whichever embedder made them. There are few embedders: they are found by stepping
    from one to the next.
    """
    of = one(session, _FIRST) if keys else None
    while of is not None:
        given = {"model": of[0], "version": of[1]}
        session.run(_FORGET, {**given, "kind": kind, "keys": sorted(keys)})
        of = one(session, _NEXT, given)


def _close(session: Session, record_id: int, before: int, now: int) -> bool:
    row = one(session, _POSTING + session.dialect.lock, {"id": record_id, "kind": POSTING})
    if row is None:
        return False
    said = orjson.loads(row[1])
    if said.get("state") != "open" or not isinstance(said.get("seen_at"), int) or said["seen_at"] >= before:
        return False
    change = orjson.dumps({"state": "closed", "closed_at": now}).decode()
    file_record(session, Filing(POSTING, row[0], change, merge=True, marks=("state",)), 0, now)
    return True
