"""Administrators as they are kept: a name, the slow hash of a password, and the token with which the first of
them is made.
"""

from dataclasses import dataclass

from thresher.store.session import Row, Session, one
from thresher.store.store import Store

_SELECT = "select id, name, password, created_at, changed_at, login_at from admins"
_ADD = "insert into admins (name, password, created_at, changed_at) values (:name, :password, :now, :now) on conflict do nothing"
_CHANGE = "update admins set password = :password, changed_at = :now where name = :name"
_END_LOGINS = "delete from logins where admin_id in (select id from admins where name = :name)"
_SETUP = """insert into setup (id, digest, expires_at) values (1, :digest, :expires_at)
    on conflict (id) do update set digest = excluded.digest, expires_at = excluded.expires_at"""
# Whoever deletes the row has used the token: of two that bring the same one, the second finds none.
_REDEEM = "delete from setup where digest = :digest and expires_at > :now"


@dataclass(frozen=True, slots=True)
class Admin:
    """One administrator. `password` is the hash, with what it was made with."""

    id: int
    name: str
    password: str
    created_at: int
    changed_at: int
    login_at: int | None


def add_admin(store: Store, name: str, password: str) -> Admin | None:
    """Keep a new administrator; None if there is one of that name."""
    with store.write() as session:
        return _add(session, name, password, store.backend.now(session))


def change_password(store: Store, name: str, password: str) -> Admin | None:
    """Another password, with which nobody is logged in yet; None if there is nobody of that name."""
    with store.write() as session:
        if session.run(_CHANGE, {"name": name, "password": password, "now": store.backend.now(session)}) == 0:
            return None
        session.run(_END_LOGINS, {"name": name})
        return admin_named(session, name)


def remove_admin(store: Store, name: str) -> Admin | None:
    """Remove an administrator, whose logins end with it; None if there is nobody of that name."""
    with store.write() as session:
        found = admin_named(session, name)
        session.run("delete from admins where name = :name", {"name": name})
        return found


def admin_named(session: Session, name: str) -> Admin | None:
    found = one(session, f"{_SELECT} where name = :name", {"name": name})
    return _admin(found) if found else None


def list_admins(session: Session, limit: int = 1_000) -> list[Admin]:
    """All administrators, the oldest first."""
    return [_admin(row) for row in session.rows(f"{_SELECT} order by id limit :limit", {"limit": limit})]


def any_admin(session: Session) -> bool:
    return bool(session.rows("select 1 from admins limit 1"))


def put_setup(store: Store, digest: str, lasts_us: int) -> bool:
    """Keep the hash of a new set-up token, in place of the one before; False where there is an administrator
    already.
    """
    with store.write() as session:
        if any_admin(session):
            return False
        session.run(_SETUP, {"digest": digest, "expires_at": store.backend.now(session) + lasts_us})
        return True


def setup_is_open(session: Session, digest: str, now: int) -> bool:
    """Whether a set-up token would make the first administrator now."""
    found = one(
        session,
        "select 1 from setup where digest = :digest and expires_at > :now",
        {"digest": digest, "now": now},
    )
    return found is not None and not any_admin(session)


def first_admin(store: Store, digest: str, name: str, password: str) -> Admin | None:
    """Use up a set-up token for the first administrator; None if it is not good any more, or somebody was
    first.
    """
    with store.write() as session:
        now = store.backend.now(session)
        if session.run(_REDEEM, {"digest": digest, "now": now}) == 0 or any_admin(session):
            return None
        return _add(session, name, password, now)


def _add(session: Session, name: str, password: str, now: int) -> Admin | None:
    made = session.run(_ADD, {"name": name, "password": password, "now": now}) > 0
    return admin_named(session, name) if made else None


def _admin(row: Row) -> Admin:
    return Admin(*row)
