"""Who wants a role. A link is the fact; the count on the role is counted from the links, never moved up or
down by one.
"""

from collections.abc import Mapping, Sequence

from thresher.governance.demand import Demand
from thresher.store.records import AT_ONCE
from thresher.store.roles.place import WANTS, place_role
from thresher.store.roles.role import hold_role
from thresher.store.session import Session

_THERE = "select record_id from links where name = :name and target = :target and record_id in (:ids*)"
_LINK = """insert into links (record_id, name, target, task_id, created_at)
    values (:record, :name, :target, :task, :now) on conflict do nothing"""
_WANTED = "select target from links where record_id = :record and name = :name"
_UNLINK = "delete from links where record_id = :record and name = :name and target = :target"


def link_candidates(
    session: Session, wants: Mapping[int, Sequence[int]], now: int, demand: Demand, *, task: int = 0
) -> list[int]:
    """Say that these candidates want these roles (role id to record ids); the records that gained a link.

    A role that was completed before somebody new wanted it goes back to the queue.
    """
    gained: set[int] = set()
    for role_id in sorted(wants):
        role = hold_role(session, role_id, now)
        new = _new(session, role_id, list(dict.fromkeys(wants[role_id])))
        session.many(
            _LINK,
            [
                {"record": each, "name": WANTS, "target": str(role_id), "task": task, "now": now}
                for each in new
            ],
        )
        gained.update(new)
        place_role(session, role, demand, again_at=now if new else None)
    return sorted(gained)


def _new(session: Session, role_id: int, ids: Sequence[int]) -> list[int]:
    there: set[int] = set()
    for at in range(0, len(ids), AT_ONCE):
        values = {"name": WANTS, "target": str(role_id), "ids": ids[at : at + AT_ONCE]}
        there.update(row[0] for row in session.rows(_THERE, values))
    return sorted(each for each in ids if each not in there)


def unlink_candidate(
    session: Session, record_id: int, role_ids: Sequence[int] | None, now: int, demand: Demand
) -> list[int]:
    """A candidate wants these roles no more (None: none at all); those it wanted until now."""
    wanted = {int(target) for (target,) in session.rows(_WANTED, {"record": record_id, "name": WANTS})}
    gone = sorted(wanted if role_ids is None else wanted & set(role_ids))
    for role_id in gone:
        role = hold_role(session, role_id, now)
        session.run(_UNLINK, {"record": record_id, "name": WANTS, "target": str(role_id)})
        place_role(session, role, demand)
    return gone
