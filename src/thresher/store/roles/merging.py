"""Two roles become one, or one becomes two: every name, candidate, posting and match goes along, and the
counts are counted anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thresher.core.errors import NotAllowed, UsageError
from thresher.governance.demand import PRIORITIES, Demand
from thresher.store.records import AT_ONCE
from thresher.store.roles.making import make_role, take_back
from thresher.store.roles.place import POSTED, WANTS, place_role
from thresher.store.roles.role import Role, hold_role
from thresher.store.roles.turns import drop_turns
from thresher.store.session import Session

_COPY = """insert into links (record_id, name, target, task_id, created_at)
    select record_id, name, :into, task_id, created_at from links where name = :name and target = :source"""
_UNLINK = "delete from links where name = :name and target = :source"
_SOME = " and record_id in (:ids*)"
_ONCE = " on conflict do nothing"
# By the postings of the role, for which there is an index. Links of postings are never taken back, so this
# finds every match of it.
_MATCHES = """update matches set role_id = :into where role_id = :source
    and posting_id in (select record_id from links where name = :name and target = :target)"""
_MATCHES_OF = "update matches set role_id = :into where role_id = :source and candidate_id in (:ids*)"
_NAMES = "update role_names set role_id = :into where role_id = :source"
_SESSIONS = "update scrape_sessions set role_id = :into where role_id = :source"
_GATHER = "update roles set imported = imported + :imported, category = coalesce(category, :category) where id = :into"
_DELETE = "delete from roles where id = :source"
_ALIASES = "select key, name from role_names where role_id = :role"
_MOVE_NAME = "update role_names set role_id = :into where key = :key"
_FREE_NAME = "delete from role_names where key = :key and role_id = :role and name <> :own"
_WANTED = "select record_id from links where name = :name and target = :target and record_id in (:ids*)"
_QUEUED = ("pending", "processing")
_NOT_QUEUED = ("proposed", "rejected")


@dataclass(frozen=True, slots=True)
class Moved:
    """How many of each a merge moved."""

    candidates: int
    postings: int
    names: int
    matches: int


def merge_roles(session: Session, source_id: int, into_id: int, now: int, demand: Demand) -> Moved:
    """Make one role part of another: all it has goes there, and it is gone. Whoever is looking for it is told
    so.
    """
    if source_id == into_id:
        raise UsageError(f"role {source_id} cannot be merged into itself")
    source, into = _hold_both(session, source_id, into_id, now)
    matches = session.run(
        _MATCHES, {"source": source_id, "into": into_id, "name": POSTED, "target": str(source_id)}
    )
    candidates, postings = (_move_links(session, name, source_id, into_id) for name in (WANTS, POSTED))
    names = session.run(_NAMES, {"source": source_id, "into": into_id})
    session.run(
        _SESSIONS, {"source": source_id, "into": into_id}
    )  # what comes late for the one counts for the other
    drop_turns(session, source_id)
    session.run(_DELETE, {"source": source_id})
    session.run(_GATHER, {"into": into_id, "imported": source.imported, "category": source.category})
    place_role(session, _joined(source, into), demand, again_at=now if candidates else None)
    return Moved(candidates, postings, names, matches)


def _hold_both(session: Session, source_id: int, into_id: int, now: int) -> tuple[Role, Role]:
    held = take_back(session, source_id, f"merged into role {into_id}", now, into_id)
    source, into = held[source_id], held[into_id]
    if into.status == "rejected" or (into.status == "proposed" and source.status not in _NOT_QUEUED):
        raise NotAllowed(
            f"role {into_id} ({into.name}) is {into.status}: nobody is given it; approve it first"
        )
    return source, into


def _joined(source: Role, into: Role) -> Role:
    """The other's place in the queue, with the better of two priorities and the longer wait."""
    priority = max(source.priority, into.priority, key=PRIORITIES.index)
    waiting = [role.waiting_since for role in (source, into) if role.status in _QUEUED]
    return replace(
        into, priority=priority, waiting_since=min(waiting) if len(waiting) > 1 else into.waiting_since
    )


def _move_links(session: Session, name: str, source_id: int, into_id: int) -> int:
    values = {"name": name, "source": str(source_id)}
    session.run(_COPY + _ONCE, values | {"into": str(into_id)})
    return session.run(_UNLINK, values)


def split_role(
    session: Session,
    role_id: int,
    name: str,
    key: str,
    *,
    alias_keys: Sequence[str] = (),
    candidate_ids: Sequence[int] = (),
    now: int,
    demand: Demand,
) -> int:
    """A new role with these names and candidates of another one. Postings belong to both: nothing that was
    found is lost to either.
    """
    old = hold_role(session, role_id, now)
    aliases = _aliases(session, old, alias_keys)
    _check_wanted(session, old, candidate_ids)
    session.run(_FREE_NAME, {"key": key, "role": role_id, "own": old.name})
    new_id = make_role(
        session,
        name,
        key,
        method="split",
        priority=old.priority,
        category=old.category,
        approved=old.status not in _NOT_QUEUED,
        now=now,
        demand=demand,
        once=True,
    )
    for alias in aliases:
        session.run(_MOVE_NAME, {"into": new_id, "key": alias})
    _move_candidates(session, role_id, new_id, candidate_ids)
    session.run(_COPY + _ONCE, {"name": POSTED, "source": str(role_id), "into": str(new_id)})
    for each in (role_id, new_id):
        place_role(session, hold_role(session, each, now), demand)
    return new_id


def _aliases(session: Session, old: Role, keys: Sequence[str]) -> list[str]:
    known = {key for key, name in session.rows(_ALIASES, {"role": old.id}) if name != old.name}
    for key in keys:
        if key not in known:
            raise UsageError(
                f"{key!r} is no alias of role {old.id} ({old.name}); it has: {', '.join(sorted(known)) or 'none'}"
            )
    return list(keys)


def _check_wanted(session: Session, old: Role, candidate_ids: Sequence[int]) -> None:
    there: set[int] = set()
    for some in _portions(candidate_ids):
        there.update(
            row[0] for row in session.rows(_WANTED, {"name": WANTS, "target": str(old.id), "ids": some})
        )
    if strangers := sorted(set(candidate_ids) - there):
        raise UsageError(
            f"{len(strangers)} of these candidates do not want role {old.id} ({old.name}), such as record {strangers[0]}"
        )


def _move_candidates(session: Session, old_id: int, new_id: int, candidate_ids: Sequence[int]) -> None:
    for some in _portions(candidate_ids):
        values = {"name": WANTS, "source": str(old_id), "ids": some}
        session.run(_COPY + _SOME + _ONCE, values | {"into": str(new_id)})
        session.run(_UNLINK + _SOME, values)
        session.run(_MATCHES_OF, {"source": old_id, "into": new_id, "ids": some})


def _portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
