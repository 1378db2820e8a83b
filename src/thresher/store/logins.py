"""Who is logged in, and how often somebody has tried to be: rows that hold for all processes at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.core.clock import MINUTE
from thresher.store.session import Session, one
from thresher.store.store import Store

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
_ADD = (
    "insert into logins (digest, admin_id, created_at, expires_at) values (:digest, :id, :now, :expires_at)"
)
_WITH = """select admins.id, admins.name, logins.expires_at from logins join admins on admins.id = logins.admin_id
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
    """Somebody who is logged in."""

    admin_id: int
    name: str
    expires_at: int


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
    """Log somebody in who has shown this password, and forget their tries; until when, or None if it is not
    the password any more.
    """
    with store.write() as session:
        now = store.backend.now(session)
        if session.run(_SEEN, {"id": admin_id, "password": password, "now": now}) == 0:
            return None
        session.run(_ADD, {"digest": digest, "id": admin_id, "now": now, "expires_at": now + lasts_us})
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
