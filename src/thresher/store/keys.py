"""Keys of the API as they are kept: a hash, what it opens, and one timestamp that holds its rate for all
processes at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.core.clock import MINUTE
from thresher.core.event import EventKind
from thresher.store.events import record_event
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

# Two processes may read clocks that differ a little. Beyond that a timestamp comes from a clock that was set
# back since.
SLACK_US = MINUTE
_COLUMNS = (
    "id",
    "name",
    "prefix",
    "digest",
    "scopes",
    "rate",
    "tat",
    "used",
    "created_at",
    "used_at",
    "expires_at",
    "revoked_at",
    "sources",
    "made_by",
    "disabled_at",
)
_SELECT = f"select {', '.join(_COLUMNS)} from api_keys"
_ADD = """insert into api_keys (name, prefix, digest, scopes, sources, rate, made_by, created_at, expires_at)
    values (:name, :prefix, :digest, :scopes, :sources, :rate, :made_by, :now, :expires_at) on conflict do nothing"""
_FIND = f"{_SELECT} where (name = :name or id = :id) and revoked_at is null"
_REVOKE = "update api_keys set revoked_at = :now where id = :id and revoked_at is null"
_DISABLE = (
    "update api_keys set disabled_at = :now where id = :id and revoked_at is null and disabled_at is null"
)
_ENABLE = (
    "update api_keys set disabled_at = null where id = :id and revoked_at is null and disabled_at is not null"
)
# The decision and the charge are one statement: of two processes that ask at the same instant the second sees
# what the first took.
_CHARGE = """update api_keys set used = used + 1, used_at = :now,
        tat = case when tat > :far then :latest when tat > :now then tat else :now end + :interval
    where id = :id and revoked_at is null and disabled_at is null
        and (expires_at is null or expires_at > :now) and (tat <= :latest or tat > :far)"""
_LIVES = "revoked_at is null and (expires_at is null or expires_at > :lives_at)"
_LIVE = """select count(*) from api_keys where revoked_at is null and disabled_at is null
    and (expires_at is null or expires_at > :now)"""


@dataclass(frozen=True, slots=True)
class Key:
    """One key as it is kept. `rate` is in requests a minute: after a quiet minute so many at once, then at an
    even pace.

    `sources` are the platforms that it may look at; None is all of them.
    """

    id: int
    name: str
    prefix: str
    digest: str
    scopes: tuple[str, ...]
    rate: int
    tat: int
    used: int
    created_at: int
    used_at: int | None
    expires_at: int | None
    revoked_at: int | None
    sources: tuple[str, ...] | None = None
    made_by: str | None = None
    disabled_at: int | None = None

    @property
    def interval_us(self) -> int:
        return -(-MINUTE // self.rate)  # rounded up: never more than was allowed

    def state(self, now: int) -> str:
        """live, disabled, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "live" if self.disabled_at is None else "disabled"

    def wait_us(self, now: int) -> int:
        """How long the next request has to wait."""
        far = now + self.rate * self.interval_us + SLACK_US
        return 0 if self.tat > far else max(0, self.tat - self._latest(now))

    def _latest(self, now: int) -> int:
        return now + (self.rate - 1) * self.interval_us

    def charge(self, now: int) -> dict[str, int]:
        """What one request needs to be let in and counted."""
        far = now + self.rate * self.interval_us + SLACK_US
        return {
            "id": self.id,
            "now": now,
            "interval": self.interval_us,
            "latest": self._latest(now),
            "far": far,
        }


@dataclass(frozen=True, slots=True)
class NewKey:
    """What a new key shall be. `lasts_us` None: until it is revoked."""

    name: str
    scopes: Sequence[str]
    rate: int
    sources: Sequence[str] | None = None
    lasts_us: int | None = None
    made_by: str | None = None


def add_key(store: Store, new: NewKey, prefix: str, digest: str) -> Key | None:
    """Keep a new key; None if a key of that name is in use."""
    with store.write() as session:
        now = store.backend.now(session)
        values = {
            "name": new.name,
            "prefix": prefix,
            "digest": digest,
            "scopes": " ".join(new.scopes),
            "rate": new.rate,
            "now": now,
            "sources": None if new.sources is None else " ".join(new.sources),
            "made_by": new.made_by,
            "expires_at": None if new.lasts_us is None else now + new.lasts_us,
        }
        return key_with(session, prefix) if session.run(_ADD, values) > 0 else None


def revoke_key(
    store: Store, *, name: str | None = None, key_id: int | None = None, by: str | None = None
) -> Key | None:
    """Let a key open nothing any more; None if no key of that name or id is in use."""
    with store.write() as session:
        key = _in_use(session, name, key_id)
        if key is None:
            return None
        now = store.backend.now(session)
        session.run(_REVOKE, {"id": key.id, "now": now})
        record_event(session, EventKind.KEY_REVOKED, now, key=key.name, key_id=key.id, by=by)
        return key_with(session, key.prefix)


def switch_key(
    store: Store, *, active: bool, name: str | None = None, key_id: int | None = None, by: str | None = None
) -> Key | None:
    """Switch a key on or off; None if no key of that name or id is in use. One that is so already stays as it
    is, and nothing is told.
    """
    with store.write() as session:
        key = _in_use(session, name, key_id)
        if key is None:
            return None
        now = store.backend.now(session)
        values = {"id": key.id} if active else {"id": key.id, "now": now}
        if session.run(_ENABLE if active else _DISABLE, values):
            kind = EventKind.KEY_ENABLED if active else EventKind.KEY_DISABLED
            record_event(session, kind, now, key=key.name, key_id=key.id, by=by)
        return key_with(session, key.prefix)


def _in_use(session: Session, name: str | None, key_id: int | None) -> Key | None:
    found = one(session, _FIND, {"name": name or "", "id": key_id or 0})
    return _key(found) if found else None


def key_with(session: Session, prefix: str) -> Key | None:
    """The key of that prefix, whatever became of it."""
    found = one(session, f"{_SELECT} where prefix = :prefix", {"prefix": prefix})
    return _key(found) if found else None


def list_keys(
    session: Session, *, lives_at: int | None = None, before: int | None = None, limit: int = 1_000
) -> list[Key]:
    """Keys, the newest first: those below an id, and those that are neither revoked nor expired at a time."""
    wanted = {"lives_at": (_LIVES, lives_at), "before": ("id < :before", before)}
    given = {key: value for key, (_, value) in wanted.items() if value is not None}
    where = f" where {' and '.join(wanted[key][0] for key in given)}" if given else ""
    rows = session.rows(f"{_SELECT}{where} order by id desc limit :limit", given | {"limit": limit})
    return [_key(row) for row in rows]


def live_keys(session: Session, now: int) -> int:
    """How many keys open something."""
    return int(session.rows(_LIVE, {"now": now})[0][0])


def charge(store: Store, key: Key) -> bool:
    """Count one request against a key; False if it is over its rate, expired, disabled or revoked by now.

    Every request passes here, so it waits for no disk: a machine that fails may forget the last few requests,
    and nothing else.
    """
    with store.write(durable=False) as session:
        return session.run(_CHARGE, key.charge(store.backend.now(session))) > 0


def _key(row: Row) -> Key:
    said = dict(zip(_COLUMNS, row, strict=True))
    said["scopes"] = tuple(said["scopes"].split())
    said["sources"] = None if said["sources"] is None else tuple(said["sources"].split())
    return Key(**said)
