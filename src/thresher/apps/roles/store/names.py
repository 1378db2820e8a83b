"""Names and aliases of roles. Each belongs to one role."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from thresher.apps.roles.store.rows import hold_role
from thresher.core.errors import NotAllowed
from thresher.store.backend import Backend
from thresher.store.records import AT_ONCE
from thresher.store.session import Dialect, Session, one

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
        key: role_id for some in _portions(asked) for key, role_id in session.rows(_OWNERS, {"keys": some})
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
            f"{role.name!r} is the role's own name; give it another one first: thresher roles rename"
        )
    return session.run(_REMOVE, {"key": key, "role": role_id, "own": role.name}) > 0


def rename_role(session: Session, role_id: int, name: str, key: str, now: int) -> None:
    """Give a role another name of its own. It still answers to the old one."""
    hold_role(session, role_id, now)
    owner = claim_name(session, role_id, name, key)
    if owner != role_id:
        raise NotAllowed(f"role {owner} answers to {name!r} already; merge the two, or choose another name")
    session.run(_SPELL, {"key": key, "name": name})
    session.run(_RENAME, {"role": role_id, "name": name})


def _portions(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE))
