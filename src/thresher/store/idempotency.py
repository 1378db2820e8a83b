"""Idempotency keys: a request that its caller named is done once, however often it is sent.

An attempt has a number, which is a fence. The transaction of the change notes under this number that there
was one (`hold`, in `Store.write`), and is rolled back if another attempt has begun since. So an attempt that
was given up, because its server died or took too long, has either made its change for good, which the next
attempt sees, or will never make it. What cannot share a transaction is the answer: where it is lost, that is
said, and nothing is done again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from thresher.core.clock import MINUTE
from thresher.core.errors import NotAllowed
from thresher.store.backend import Backend
from thresher.store.session import Session, one

LEASE_US = MINUTE  # before, nobody begins again what seems to be under way
MAX_ANSWER = 65_536  # bytes; a longer answer is not kept
_LOOKUPS = 5

_FIND = """select id, request, attempt, begun_at, until_at, changed, ended_at, status, media, body from idempotency_keys
    where caller = :caller and key = :key"""
_COUNT = "select count(*) from (select 1 from idempotency_keys where caller = :caller limit :most) counted"
_ADD = """insert into idempotency_keys (caller, key, request, begun_at, until_at) values (:caller, :key, :request, :now, :until)
    on conflict (caller, key) do nothing returning id"""
_AGAIN = """update idempotency_keys set request = :request, attempt = attempt + 1, begun_at = :now, until_at = :until, changed = 0,
    ended_at = null, status = null, media = null, body = null where id = :id"""
_HOLD = "update idempotency_keys set changed = 1 where id = :id and attempt = :attempt"
_KEEP = """update idempotency_keys set ended_at = :now, status = :status, media = :media, body = :body
    where id = :id and attempt = :attempt"""
_END = "update idempotency_keys set ended_at = :now where id = :id and attempt = :attempt"
_FORGET = "delete from idempotency_keys where id = :id and attempt = :attempt and changed = 0"


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """A request with the name that its caller gave it: digests, of the name and of what was asked for."""

    caller: str
    key: str
    request: str


@dataclass(slots=True)
class Attempt:
    """An attempt that has begun. `changed` once a change of it is committed."""

    id: int
    number: int
    changed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What the request was answered when it was done."""

    status: int
    media: str | None
    body: bytes


class KeyRefusal(StrEnum):
    """Why a request is neither done nor answered as before."""

    REUSED = "reused"  # for another request
    UNDER_WAY = "under way"
    LOST = "lost"  # it was done, and its answer was not kept
    FULL = "full"  # its caller has too many keys


_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


@contextmanager
def attempting(attempt: Attempt) -> Iterator[None]:
    """Have all that is changed in a block, on this thread or task and those that take its context along,
    count as this attempt.
    """
    token = _attempt.set(attempt)
    try:
        yield
    finally:
        _attempt.reset(token)


def attempt_now() -> Attempt | None:
    """The attempt that changes count as here."""
    return _attempt.get()


def hold(session: Session, attempt: Attempt) -> None:
    """Note in the transaction of a change that there is one; raise if it may not be any more."""
    if not session.run(_HOLD, {"id": attempt.id, "attempt": attempt.number}):
        raise NotAllowed(
            "this request took so long that it was begun again under the same Idempotency-Key; nothing was "
            "changed here. Send it once more to receive the answer of the other"
        )


def begin(
    backend: Backend, named: NamedRequest, *, keep_us: int, most: int
) -> Attempt | KeptAnswer | KeyRefusal:
    """Begin a request, or say what became of it. A key older than `keep_us` is free again; a caller may have
    `most`.
    """
    for _ in range(_LOOKUPS):
        with backend.write() as session:
            found = _begin(backend, session, named, keep_us, most)
        if found is not None:
            return found
    return KeyRefusal.UNDER_WAY  # others begin it and give it up all the time


def _begin(
    backend: Backend, session: Session, named: NamedRequest, keep_us: int, most: int
) -> Attempt | KeptAnswer | KeyRefusal | None:
    now = backend.now(session)
    who = {"caller": named.caller, "key": named.key}
    row = one(session, _FIND + backend.dialect.lock, who)
    fresh = {"request": named.request, "now": now, "until": now + LEASE_US}
    if row is None:
        if session.rows(_COUNT, {"caller": named.caller, "most": most})[0][0] >= most:
            return KeyRefusal.FULL
        made = session.rows(_ADD, who | fresh)
        return Attempt(int(made[0][0]), 1) if made else None  # None: another was faster; look at it
    row_id, request, number, begun_at, until_at, changed, ended_at, status, media, body = row
    # A time ahead of us was written before the clock was set back.
    if begun_at > now - keep_us:
        if request != named.request:
            return KeyRefusal.REUSED
        if status is not None:
            return KeptAnswer(int(status), media, bytes(body))
        if ended_at is None and now < until_at <= now + LEASE_US:
            return KeyRefusal.UNDER_WAY
        if changed or ended_at is not None:
            return KeyRefusal.LOST
    session.run(_AGAIN, fresh | {"id": row_id})
    return Attempt(int(row_id), int(number) + 1)


def end(backend: Backend, attempt: Attempt, answer: KeptAnswer | None) -> None:
    """Note that the request was done, with its answer if that may be kept."""
    which = {"id": attempt.id, "attempt": attempt.number}
    with backend.write() as session:
        now = {"now": backend.now(session)}
        if answer is None:
            session.run(_END, which | now)
        else:
            said = {"status": answer.status, "media": answer.media, "body": answer.body}
            session.run(_KEEP, which | now | said)


def give_up(backend: Backend, attempt: Attempt) -> None:
    """Free the key of a request that was refused. If it has changed something, it counts as done."""
    which = {"id": attempt.id, "attempt": attempt.number}
    with backend.write() as session:
        if not session.run(_FORGET, which):
            session.run(_END, which | {"now": backend.now(session)})
