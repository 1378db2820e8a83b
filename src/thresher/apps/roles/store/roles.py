"""Roles as rows, with their names and aliases: create, approve, rank, requeue, merge and split them, and
count who wants them.

A role's demand is counted from its links, never incremented.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from thresher.apps.roles.demand import PRIORITIES, Demand, check_priority
from thresher.apps.roles.store.rows import SELECT_ROLE, Role, find_role, hold_role, whole
from thresher.apps.roles.store.turns import drop_turns, open_turns, rank_turns, repeat_turns
from thresher.apps.roles.turns import Verdict
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.store.backend import Backend
from thresher.store.records import AT_ONCE
from thresher.store.session import Dialect, Session, one

# Names and aliases of roles. Each belongs to one role.

_ADD = "insert into role_names (key, name, role_id) values (:key, :name, :role) on conflict (key) do nothing"
_OWNER = "select role_id, name from role_names where key = :key"
_OWNERS = "select key, role_id from role_names where key in (:keys*)"
_SPELL = "update role_names set name = :name where key = :key"
_REMOVE = "delete from role_names where key = :key and role_id = :role and name <> :own"
_RENAME = "update roles set name = :name where id = :role"
_SINCE_ROLES = "select max(role_id) from (select role_id from role_names where role_id > :after order by role_id limit :limit) as page"
_UP_TO = "select role_id, key, name from role_names where role_id > :after and role_id <= :last order by role_id, key"
_LOCK_NAMES = "select pg_advisory_xact_lock(hashtext(current_schema()), hashtext('role names'))"


class HasBackend(Protocol):
    """A store, for those whom the store itself needs and who therefore cannot name it."""

    @property
    def backend(self) -> Backend: ...


def lock_names(store: HasBackend, session: Session) -> None:
    """One process at a time makes new roles, so that two never make the same one in two spellings."""
    hold_names(store.backend.dialect, session)


def hold_names(dialect: Dialect, session: Session) -> None:
    """The same for whoever has no store at hand. SQLite's writer is alone anyway."""
    if dialect.lock:
        session.rows(_LOCK_NAMES)


def roles_of_keys(session: Session, keys: Sequence[str]) -> dict[str, int]:
    """Which role answers to each key; a key that nobody answers to is left out."""
    asked = list(dict.fromkeys(keys))
    return {
        key: role_id
        for some in _key_portions(asked)
        for key, role_id in session.rows(_OWNERS, {"keys": some})
    }


def names_since(session: Session, after_role_id: int, limit: int = 1_000) -> list[tuple[int, str, str]]:
    """The names of the roles after one: (role id, key, name), by role. `limit` names or a few more: never
    half a role.
    """
    last = session.rows(_SINCE_ROLES, {"after": after_role_id, "limit": limit})[0][0]
    if last is None:
        return []
    return [(row[0], row[1], row[2]) for row in session.rows(_UP_TO, {"after": after_role_id, "last": last})]


def claim_name(session: Session, role_id: int, name: str, key: str) -> int:
    """Let a role answer to a name unless another does; whose name it is now."""
    while session.run(_ADD, {"key": key, "name": name, "role": role_id}) == 0:
        if owner := one(session, _OWNER, {"key": key}):  # else it was given up a moment ago, and is to be had
            return int(owner[0])
    return role_id


def add_alias(session: Session, role_id: int, name: str, key: str, now: int) -> bool:
    """Let a role answer to one more name; False if that is another role's."""
    hold_role(session, role_id, now)
    return claim_name(session, role_id, name, key) == role_id


def remove_alias(session: Session, role_id: int, key: str, now: int) -> bool:
    """Let a role not answer to that name any more; False if it did not. Its own name stays."""
    role = hold_role(session, role_id, now)
    owner = one(session, _OWNER, {"key": key})
    if owner == (role_id, role.name):
        raise NotAllowed(
            f"{role.name!r} is the role's own name; rename the role first: thresher roles rename"
        )
    return session.run(_REMOVE, {"key": key, "role": role_id, "own": role.name}) > 0


def rename_role(session: Session, role_id: int, name: str, key: str, now: int) -> None:
    """Give a role another name of its own. It still answers to the old one."""
    hold_role(session, role_id, now)
    owner = claim_name(session, role_id, name, key)
    if owner != role_id:
        raise NotAllowed(f"{name!r} is already a name of role {owner}; merge the two, or choose another name")
    session.run(_SPELL, {"key": key, "name": name})
    session.run(_RENAME, {"role": role_id, "name": name})


def _key_portions(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE))


# The place of a role in the queue.

WANTS, POSTED = "wants", "role"  # the links of a candidate and of a posting to a role, by the role's id

_COUNT = "select count(*) from links where name = :name and target = :target"
_RANK = "update roles set candidates = :candidates, rank = :rank, priority = :priority, waiting_since = :since where id = :id"
_AGAIN = "update roles set status = 'pending' where id = :id and status = 'completed'"
_RESTED = """select id from roles where status = 'completed' and candidates > 0 and scraped_at < :before
    order by rank, id limit :limit"""
# A platform that is paused for long must not keep its roles from being looked for on all the others.
_STALLED = """select id from roles where status = 'pending' and candidates > 0 and id > :after and exists (select 1 from role_turns t
    where t.role_id = roles.id and coalesce(t.state, '') = 'done' and t.looked_at < :before) order by id limit :limit"""


def place_role(session: Session, role: Role, demand: Demand, *, again_at: int | None = None) -> int:
    """Count who wants a role that is held, and rank it anew. With `again_at` a completed one goes back, and
    waits since then.
    """
    candidates = int(session.rows(_COUNT, {"name": WANTS, "target": str(role.id)})[0][0])
    since = role.waiting_since
    if again_at is not None and session.run(_AGAIN, {"id": role.id}):
        repeat_turns(session, role.id, again_at)
        since = again_at
    rank = demand.rank(since, role.priority, candidates)
    session.run(
        _RANK,
        {"id": role.id, "candidates": candidates, "rank": rank, "priority": role.priority, "since": since},
    )
    rank_turns(session, role.id, rank)
    return candidates


def reset_roles(session: Session, before: int, now: int, demand: Demand, limit: int = 1_000) -> int:
    """Put roles back into the queue that were completed before a time and that candidates still want; how
    many.
    """
    ids = [row[0] for row in session.rows(_RESTED, {"before": before, "limit": limit})]
    for role_id in sorted(ids):
        with contextlib.suppress(UnknownName):  # merged into another one meanwhile
            place_role(session, hold_role(session, role_id, now), demand, again_at=now)
    return len(ids)


def repeat_stalled(session: Session, before: int, now: int, after: int = 0, limit: int = 1_000) -> int | None:
    """The same for roles after `after` that are done on some platforms and wait for others all the while. The
    last of them, if any.
    """
    ids = [row[0] for row in session.rows(_STALLED, {"before": before, "after": after, "limit": limit})]
    for role_id in ids:
        with contextlib.suppress(UnknownName):
            if hold_role(session, role_id, now).status == "pending":
                repeat_turns(session, role_id, now, before)
    return ids[-1] if ids else None


# Create a role, admit it to the queue, and take it out.

MAX_NAME = 200
MAX_TRIES = 20

_INSERT = """insert into roles (name, status, priority, category, method, waiting_since, rank, created_at, updated_at)
    values (:name, :status, :priority, :category, :method, :now, :rank, :now, :now) returning id"""
_DELETE = "delete from roles where id = :id"
_ADMIT = "update roles set status = 'pending', waiting_since = :now, rank = :rank where id = :id"
_BAR = "update roles set status = 'rejected', session_id = null where id = :id"
_STOP = """update scrape_sessions set status = 'failed', verdict = :verdict, error_message = :error, completed_at = :now, updated_at = :now
    where status = 'in_progress' and id = (select session_id from roles where id = :role)"""
_STILL = """select 1 from roles r join scrape_sessions s on s.id = r.session_id where r.id = :role and s.status = 'in_progress'"""


def make_role(
    session: Session,
    name: str,
    key: str,
    *,
    method: str,
    priority: str,
    category: str | None,
    approved: bool,
    now: int,
    demand: Demand,
    once: bool = False,
) -> int:
    """Make a role and give it its name. If another answers to the name, that one's id, and nothing is made;
    or with `once` an error.
    """
    if not name or not key or max(len(name), len(key)) > MAX_NAME:
        raise UsageError(f"the name of a role must have 1 to {MAX_NAME} characters, got {name[:MAX_NAME]!r}")
    rank = demand.rank(now, priority, 0)
    values = {
        "name": name,
        "status": "pending" if approved else "proposed",
        "priority": priority,
        "category": category,
        "method": method,
        "now": now,
        "rank": rank,
    }
    role_id = int(session.rows(_INSERT, values)[0][0])
    owner = claim_name(session, role_id, name, key)
    if owner != role_id and once:
        raise NotAllowed(f"{name!r} is already a name of role {owner}; choose another name")
    if owner != role_id:  # somebody was faster, and we have waited for them to commit
        session.run(_DELETE, {"id": role_id})
    elif approved:
        open_turns(session, role_id, rank)
    return owner


def admit_role(session: Session, role: Role, now: int, demand: Demand) -> None:
    """Let a role that nobody is given yet into the queue."""
    rank = demand.rank(now, role.priority, role.candidates)
    session.run(_ADMIT, {"id": role.id, "now": now, "rank": rank})
    open_turns(session, role.id, rank)


def bar_role(session: Session, role_id: int, now: int) -> bool:
    """Let nobody be given a role any more; False if that was so. Its names stay its own, so that it is not
    proposed again.
    """
    role = take_back(session, role_id, "the role was rejected", now)[role_id]
    session.run(_BAR, {"id": role_id})
    drop_turns(session, role_id)
    return role.status != "rejected"


def take_back(session: Session, role_id: int, why: str, now: int, *others: int) -> dict[int, Role]:
    """Hold a role, and others with it, and end the session that has it: what that brings is late from now on.

    Sessions are locked before roles. If the role was claimed between the two, let go and begin again.
    """
    for _ in range(MAX_TRIES):
        session.run("savepoint taking")
        session.run(_STOP, {"role": role_id, "verdict": Verdict.FAILED.value, "error": why, "now": now})
        held = {each: hold_role(session, each, now) for each in sorted({role_id, *others})}
        if not session.rows(_STILL, {"role": role_id}):
            session.run("release savepoint taking")
            return held
        session.run("rollback to savepoint taking")
    raise NotAllowed(f"scrapers claim role {role_id} faster than it can be changed; try again")


# Merge and split: names, candidates, postings and matches move, and counts are recounted.

_COPY = """insert into links (record_id, name, target, task_id, created_at)
    select record_id, name, :into, task_id, created_at from links where name = :name and target = :source"""
_UNLINK_MERGED = "delete from links where name = :name and target = :source"
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
_DELETE_MERGED = "delete from roles where id = :source"
_ALIASES = "select key, name from role_names where role_id = :role"
_MOVE_NAME = "update role_names set role_id = :into where key = :key"
_FREE_NAME = "delete from role_names where key = :key and role_id = :role and name <> :own"
_WANTED_BY = "select record_id from links where name = :name and target = :target and record_id in (:ids*)"
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
    session.run(_DELETE_MERGED, {"source": source_id})
    session.run(_GATHER, {"into": into_id, "imported": source.imported, "category": source.category})
    place_role(session, _joined(source, into), demand, again_at=now if candidates else None)
    return Moved(candidates, postings, names, matches)


def _hold_both(session: Session, source_id: int, into_id: int, now: int) -> tuple[Role, Role]:
    held = take_back(session, source_id, f"merged into role {into_id}", now, into_id)
    source, into = held[source_id], held[into_id]
    if into.status == "rejected" or (into.status == "proposed" and source.status not in _NOT_QUEUED):
        raise NotAllowed(
            f"role {into_id} ({into.name}) is {into.status}, so scrapers do not get it; approve it first"
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
    return session.run(_UNLINK_MERGED, values)


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
                f"{key!r} is not an alias of role {old.id} ({old.name}); it has: "
                f"{', '.join(sorted(known)) or 'none'}"
            )
    return list(keys)


def _check_wanted(session: Session, old: Role, candidate_ids: Sequence[int]) -> None:
    there: set[int] = set()
    for some in _portions(candidate_ids):
        there.update(
            row[0] for row in session.rows(_WANTED_BY, {"name": WANTS, "target": str(old.id), "ids": some})
        )
    if strangers := sorted(set(candidate_ids) - there):
        raise UsageError(
            f"{len(strangers)} of these candidates do not want role {old.id} ({old.name}), such as record {strangers[0]}"
        )


def _move_candidates(session: Session, old_id: int, new_id: int, candidate_ids: Sequence[int]) -> None:
    for some in _portions(candidate_ids):
        values = {"name": WANTS, "source": str(old_id), "ids": some}
        session.run(_COPY + _SOME + _ONCE, values | {"into": str(new_id)})
        session.run(_UNLINK_MERGED + _SOME, values)
        session.run(_MATCHES_OF, {"source": old_id, "into": new_id, "ids": some})


def _portions(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))


# Candidates of a role. The link is the fact; the count is computed from the links.

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


__all__ = [
    "Moved",
    "Role",
    "add_alias",
    "add_role",
    "approve_role",
    "find_role",
    "link_candidates",
    "list_roles",
    "lock_names",
    "merge_roles",
    "names_since",
    "reject_role",
    "remove_alias",
    "rename_role",
    "reset_roles",
    "roles_of_keys",
    "set_category",
    "set_priority",
    "split_role",
    "unlink_candidate",
]

_PRIORITY = "update roles set priority = :priority where id = :id"
_CATEGORY = "update roles set category = :category where id = :id"
_NAMED = "id in (select role_id from role_names where key like :text escape '!' or lower(name) like :text escape '!')"


def add_role(
    session: Session,
    name: str,
    key: str,
    *,
    aliases: Mapping[str, str] = {},
    method: str = "manual",
    priority: str = "normal",
    category: str | None = None,
    approved: bool = True,
    now: int,
    demand: Demand,
) -> int:
    """The id of the role that answers to a name, made if there is none. `aliases`: key to name; one that is
    taken stays where it is.
    """
    found = roles_of_keys(session, [key])
    if found:
        return found[key]
    role_id = make_role(
        session,
        name,
        key,
        method=method,
        priority=priority,
        category=category,
        approved=approved,
        now=now,
        demand=demand,
    )
    for alias in sorted(aliases):  # by key, so that two who add the same names never wait in a circle
        claim_name(session, role_id, aliases[alias], alias)
    return role_id


def list_roles(
    session: Session,
    *,
    status: str | None = None,
    text: str | None = None,
    limit: int = 100,
    after: int | None = None,
) -> list[Role]:
    """Roles by id, those after `after`; of one status, or with a name that has `text` in it."""
    said = (
        None if text is None else "".join("!" + char if char in "!%_" else char for char in text.casefold())
    )
    asked = {"status": status, "text": None if said is None else f"%{said}%", "after": after}
    clauses = {"status": "status = :status", "text": _NAMED, "after": "id > :after"}
    given = {name: value for name, value in asked.items() if value is not None}
    where = " and ".join(clauses[name] for name in given)
    return whole(
        session,
        session.rows(
            f"{SELECT_ROLE}{' where ' if where else ''}{where} order by id limit :limit",
            {**given, "limit": limit},
        ),
    )


def demanded_roles(
    session: Session, status: str, *, limit: int = 100, after: tuple[int, int] | None = None
) -> list[Role]:
    """Roles of one status by their ranks: the most wanted first, as the index has them; `after` is the rank
    and the id of the last one seen.
    """
    given: dict[str, object] = {"status": status, "limit": limit}
    behind = ""
    if after is not None:
        behind = " and (rank, id) > (:rank, :after)"
        given |= {"rank": after[0], "after": after[1]}
    sql = f"{SELECT_ROLE} where status = :status{behind} order by rank, id limit :limit"
    return whole(session, session.rows(sql, given))


def set_priority(session: Session, role_id: int, priority: str, now: int, demand: Demand) -> None:
    """Let a role be served earlier or later than others."""
    check_priority(priority)
    hold_role(session, role_id, now)
    session.run(_PRIORITY, {"id": role_id, "priority": priority})
    place_role(session, hold_role(session, role_id, now), demand)


def set_category(session: Session, role_id: int, category: str | None, now: int) -> None:
    """File a role under a category; None: under none. Nothing is decided by it."""
    hold_role(session, role_id, now)
    session.run(_CATEGORY, {"id": role_id, "category": category})


def approve_role(session: Session, role_id: int, now: int, demand: Demand) -> bool:
    """Let a role that was proposed, or rejected before, into the queue; False if it is there already."""
    role = hold_role(session, role_id, now)
    if role.status not in ("proposed", "rejected"):
        return False
    admit_role(session, role, now, demand)
    return True


def reject_role(session: Session, role_id: int, now: int, demand: Demand | None = None) -> bool:  # noqa: ARG001  as its sibling has it
    """Let nobody be given this role; False if it was rejected already. It keeps its names, so that it is not
    proposed again.
    """
    return bar_role(session, role_id, now)
