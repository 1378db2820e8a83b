"""Lanes on PostgreSQL: made, held, and kept from being removed while somebody writes their id down."""

from collections.abc import Sequence

from thresher.store.lane import LaneRemoved
from thresher.store.session import Session

_LOCK = """select id from lanes where id = any (array(
    select unnest(cast(:lanes as bigint[])) union select lane_id from tasks where id = any (cast(:tasks as bigint[]))))
    order by id for no key update"""
_KEEP = "select id from lanes where id = any (cast(:ids as bigint[])) order by id for key share"
_ADD = "insert into lanes (key, scope, gates) values (:key, :scope, cast(:gates as bigint[])) on conflict do nothing"
_FIND = "select id from lanes where key = :key and scope = :scope for key share"


def lock(session: Session, lane_ids: Sequence[int], task_ids: Sequence[int] = ()) -> None:
    """Hold these lanes, and those of these tasks, in the order of their ids."""
    held = {row[0] for row in session.rows(_LOCK, {"lanes": list(lane_ids), "tasks": list(task_ids)})}
    if not held.issuperset(lane_ids):
        raise LaneRemoved


def keep(session: Session, lane_ids: Sequence[int]) -> None:
    """Share these lanes until the transaction ends: claims go on, pruning leaves them alone."""
    if lane_ids and len(session.rows(_KEEP, {"ids": list(lane_ids)})) < len(set(lane_ids)):
        raise LaneRemoved


def add(session: Session, key: str, gate_ids: Sequence[int], scope: int) -> int:
    """The lane of this key and scope, made if it is new, and shared until the transaction ends."""
    while True:
        session.run(_ADD, {"key": key, "scope": scope, "gates": list(gate_ids)})
        found = session.rows(_FIND, {"key": key, "scope": scope})
        if found:  # else it was there, and was pruned before it could be shared
            return int(found[0][0])
