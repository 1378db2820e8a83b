"""People and logins as rows: roles, password hashes, the setup token, sessions, and rate-limited attempts."""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.core.clock import MINUTE
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

_SELECT = "select id, name, password, created_at, changed_at, login_at, role from admins"
_ADD = """insert into admins (name, password, role, created_at, changed_at) values (:name, :password, :role, :now, :now)
    on conflict do nothing"""
_APPOINT = """insert into admins (name, password, role, created_at, changed_at) values (:name, :password, 'admin', :now, :now)
    on conflict (name) do update set password = excluded.password, role = excluded.role, changed_at = excluded.changed_at"""
_CHANGE = "update admins set password = :password, changed_at = :now where name = :name"
_END_LOGINS = "delete from logins where admin_id in (select id from admins where name = :name)"
_SETUP = """insert into setup (id, digest, expires_at) values (1, :digest, :expires_at)
    on conflict (id) do update set digest = excluded.digest, expires_at = excluded.expires_at"""
# Whoever deletes the row has used the token: of two that bring the same one, the second finds none.
_REDEEM = "delete from setup where digest = :digest and expires_at > :now"


@dataclass(frozen=True, slots=True)
class Admin:
    """One person who may log in. `password` is the hash, with what it was made with."""

    id: int
    name: str
    password: str
    created_at: int
    changed_at: int
    login_at: int | None
    role: str


class LastAdmin(Exception):
    """Without this one nobody could manage keys and people any more."""


def add_admin(store: Store, name: str, password: str, role: str) -> Admin | None:
    """Keep a new person; None if there is one of that name."""
    with store.write() as session:
        return _add(session, name, password, role, store.backend.now(session))


def change_role(store: Store, name: str, role: str) -> Admin | None:
    """Let somebody do more or less; None if there is nobody of that name. Raise `LastAdmin`."""
    with store.write() as session:
        found = _to_change(store, session, name)
        if found is None:
            return None
        if found.role == "admin" and role != "admin" and not _other_admins(session, name):
            raise LastAdmin
        session.run("update admins set role = :role where name = :name", {"name": name, "role": role})
        return admin_named(session, name)


def change_password(store: Store, name: str, password: str, was: str | None = None) -> Admin | None:
    """Set another password and end all logins; None if there is nobody of that name, or if the password is
    not what it `was`.
    """
    with store.write() as session:
        found = _to_change(store, session, name)
        if found is None or was not in (None, found.password):
            return None
        session.run(_CHANGE, {"name": name, "password": password, "now": store.backend.now(session)})
        session.run(_END_LOGINS, {"name": name})
        return admin_named(session, name)


def remove_admin(store: Store, name: str) -> Admin | None:
    """Remove a person and end their logins; None if there is nobody of that name. Raise `LastAdmin`."""
    with store.write() as session:
        found = _to_change(store, session, name)
        if found is None:
            return None
        if found.role == "admin" and not _other_admins(session, name):
            raise LastAdmin
        session.run("delete from admins where name = :name", {"name": name})
        return found


def _to_change(store: Store, session: Session, name: str) -> Admin | None:
    """Hold them, and all administrators: of two that give up the role at once, one must be refused."""
    held = (
        f"select id from admins where role = 'admin' or name = :name order by id{store.backend.dialect.lock}"
    )
    session.rows(held, {"name": name})
    return admin_named(session, name)


def _other_admins(session: Session, name: str) -> bool:
    sql = "select 1 from admins where role = 'admin' and name <> :name limit 1"
    return bool(session.rows(sql, {"name": name}))


def admin_named(session: Session, name: str) -> Admin | None:
    found = one(session, f"{_SELECT} where name = :name", {"name": name})
    return _admin(found) if found else None


def list_admins(session: Session, limit: int = 1_000) -> list[Admin]:
    """All people, the oldest first."""
    return [_admin(row) for row in session.rows(f"{_SELECT} order by id limit :limit", {"limit": limit})]


def admin_with(session: Session, admin_id: int) -> Admin | None:
    found = one(session, f"{_SELECT} where id = :id", {"id": admin_id})
    return _admin(found) if found else None


def any_admin(session: Session) -> bool:
    """Whether there is an administrator. People of other roles may be here before the first one."""
    return bool(session.rows("select 1 from admins where role = 'admin' limit 1"))


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
    """Use a set-up token for the first administrator; None if it is no longer valid, or an administrator
    exists.
    """
    with store.write() as session:
        now = store.backend.now(session)
        if session.run(_REDEEM, {"digest": digest, "now": now}) == 0 or any_admin(session):
            return None
        # A proxy may have brought the same person before: whoever has the token becomes the administrator.
        session.run(_APPOINT, {"name": name, "password": password, "now": now})
        return admin_named(session, name)


def _add(session: Session, name: str, password: str, role: str, now: int) -> Admin | None:
    made = session.run(_ADD, {"name": name, "password": password, "role": role, "now": now}) > 0
    return admin_named(session, name) if made else None


def _admin(row: Row) -> Admin:
    return Admin(*row)


# Logins: sessions and login attempts, shared by all processes.

# Two processes may read clocks that differ a little. Beyond that a timestamp comes from a clock that was set
# back since.
SLACK_US = MINUTE
MAX_PRUNED = 100
_TAT = "select tat from login_tries where what = :what"
# The decision and the charge are one statement: of two processes that ask at the same instant the second sees
# what the first took.
_CHARGE = """insert into login_tries (what, tat) values (:what, :now + :interval)
    on conflict (what) do update
        set tat = case when login_tries.tat > :far then :latest when login_tries.tat > :now then login_tries.tat else :now end + :interval
    where login_tries.tat <= :latest or login_tries.tat > :far"""
# A timestamp in the past says no more than none. Rows in other hands are passed over, so that nobody waits
# for anybody in a circle.
_FORGET = "delete from login_tries where what in (select what from login_tries where tat <= :now order by tat limit :most{skip})"
_PRUNE = "delete from logins where digest in (select digest from logins where expires_at <= :now order by expires_at limit :most{skip})"
# Only with the password that was compared: one that was changed meanwhile lets nobody in.
_SEEN = "update admins set login_at = :now where id = :id and password = :password"
_ADD_LOGIN = (
    "insert into logins (digest, admin_id, created_at, expires_at) values (:digest, :id, :now, :expires_at)"
)
_WITH = """select admins.id, admins.name, logins.expires_at, admins.role from logins join admins on admins.id = logins.admin_id
    where logins.digest = :digest and logins.expires_at > :now"""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many tries a minute an address has, or a name as tried from one. After a quiet minute so many at
    once, then at an even pace.
    """

    what: str
    rate: int

    @property
    def interval_us(self) -> int:
        return -(-MINUTE // self.rate)  # rounded up: never more than was allowed

    def wait_us(self, tat: int, now: int) -> int:
        """How long the next try has to wait."""
        said = self.charge(now)
        return 0 if tat > said["far"] else max(0, tat - said["latest"])

    def charge(self, now: int) -> dict[str, int]:
        """What one try needs to be let through and counted."""
        whole = self.rate * self.interval_us
        return {
            "now": now,
            "interval": self.interval_us,
            "latest": now + whole - self.interval_us,
            "far": now + whole + SLACK_US,
        }


@dataclass(frozen=True, slots=True)
class Logged:
    """A logged-in person."""

    admin_id: int
    name: str
    expires_at: int
    role: str


class _Over(Exception):
    """One of several allowances is used up: what was charged to the others is given back."""


def wait_us(session: Session, allowances: Sequence[Allowance], now: int) -> int:
    """How long a try has to wait, by the strictest of its allowances."""
    found = ((each, one(session, _TAT, {"what": each.what})) for each in allowances)
    return max(each.wait_us(row[0] if row else 0, now) for each, row in found)


def charge(store: Store, allowances: Sequence[Allowance]) -> bool:
    """Count a try against all of its allowances, or against none if one is used up."""
    try:
        with store.write() as session:
            now = store.backend.now(session)
            for each in allowances:
                if session.run(_CHARGE, {"what": each.what, **each.charge(now)}) == 0:
                    raise _Over
            session.run(_FORGET.format(skip=store.backend.dialect.skip), {"now": now, "most": MAX_PRUNED})
    except _Over:
        return False
    return True


def add_login(
    store: Store, admin_id: int, password: str, digest: str, lasts_us: int, forgiven: str
) -> int | None:
    """Log in an administrator whose password was checked, and forget the attempts; return the expiry, or None
    if the password has changed.
    """
    with store.write() as session:
        now = store.backend.now(session)
        if session.run(_SEEN, {"id": admin_id, "password": password, "now": now}) == 0:
            return None
        session.run(_ADD_LOGIN, {"digest": digest, "id": admin_id, "now": now, "expires_at": now + lasts_us})
        session.run("delete from login_tries where what = :what", {"what": forgiven})
        session.run(_PRUNE.format(skip=store.backend.dialect.skip), {"now": now, "most": MAX_PRUNED})
        return now + lasts_us


def login_with(session: Session, digest: str, now: int) -> Logged | None:
    """Who is logged in with a token of this hash."""
    found = one(session, _WITH, {"digest": digest, "now": now})
    return Logged(*found) if found else None


def end_login(store: Store, digest: str) -> None:
    with store.write() as session:
        session.run("delete from logins where digest = :digest", {"digest": digest})
