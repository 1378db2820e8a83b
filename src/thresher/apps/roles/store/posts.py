"""Bodies that scrapers posted: the stored answer of each, and bodies that came too late."""

from dataclasses import dataclass

from thresher.apps.roles.store.rows import Scrape
from thresher.core.errors import UsageError
from thresher.core.record import clean
from thresher.store.events import record_event
from thresher.store.session import Session, one

DECISIONS = ("imported", "dropped")

_ANSWER = "select answer from scrape_posts where session_id = :scrape and digest = :digest"
_KEEP = """insert into scrape_posts (session_id, digest, answer, created_at) values (:scrape, :digest, :answer, :now)
    on conflict (session_id, digest) do nothing"""
_KEEP_LATE = """insert into late_posts (session_id, digest, hash, postings, reason, created_at)
    values (:scrape, :digest, :hash, :postings, :reason, :now) on conflict (session_id, digest) do nothing"""
_LATE_ID = "select id from late_posts where session_id = :scrape and digest = :digest"
_LATE = """select l.id, l.session_id, s.session_id, s.key_id, s.scraper_name, s.role_id, s.role_name, l.digest, l.hash, l.postings,
        l.reason, l.created_at, l.decided_at, l.decision
    from late_posts l join scrape_sessions s on s.id = l.session_id"""
_DECISION = "select decision from late_posts where session_id = :scrape and digest = :digest"
_NAMES = "select 1 from late_posts where hash = :hash and decided_at is null limit 1"
_DECIDE = (
    "update late_posts set decision = :decision, decided_at = :now where id = :id and decided_at is null"
)


@dataclass(frozen=True, slots=True)
class Late:
    """A body that came too late. `token` is the session that it named, `hash` the blob that holds it."""

    id: int
    scrape_id: int
    token: str
    key_id: int
    scraper_name: str
    role_id: int
    role_name: str
    digest: str
    hash: str
    postings: int
    reason: str
    created_at: int
    decided_at: int | None
    decision: str | None


def answer_of(session: Session, scrape_id: int, digest: str) -> str | None:
    """What this body of this session was answered, if it came before."""
    found = one(session, _ANSWER, {"scrape": scrape_id, "digest": digest})
    return str(found[0]) if found else None


def keep_answer(session: Session, scrape_id: int, digest: str, answer: str, now: int) -> None:
    """Remember what a body was answered. The first answer stands."""
    session.run(_KEEP, {"scrape": scrape_id, "digest": digest, "answer": answer, "now": now})


def keep_late(
    session: Session, scrape: Scrape, digest: str, blob_hash: str, postings: int, reason: str, now: int
) -> int:
    """Keep a body that came too late; the same one again is kept once. Its id."""
    values = {"scrape": scrape.id, "digest": digest}
    kept = {"hash": blob_hash, "postings": postings, "reason": clean(reason), "now": now}
    if session.run(_KEEP_LATE, values | kept):
        token, scraper = scrape.session_id, scrape.scraper_name
        record_event(session, "postings_late", now, session=token, scraper=scraper, postings=postings)
    return int(session.rows(_LATE_ID, values)[0][0])


def decision_on(session: Session, scrape_id: int, digest: str, lock: str) -> str | None:
    """What a person decided about this body before. Nobody decides about it now until this transaction
    ends.
    """
    found = one(session, _DECISION + lock, {"scrape": scrape_id, "digest": digest})
    return str(found[0]) if found and found[0] is not None else None


def awaited(session: Session, blob_hash: str) -> bool:
    """Whether a body that waits for a decision is held by this blob."""
    return bool(session.rows(_NAMES, {"hash": blob_hash}))


def find_late(session: Session, late_id: int, lock: str = "") -> Late | None:
    """One of the bodies that came too late."""
    if lock and not session.rows(f"select id from late_posts where id = :id{lock}", {"id": late_id}):
        return None
    found = one(session, f"{_LATE} where l.id = :id", {"id": late_id})
    return Late(*found) if found else None


def list_late(
    session: Session, *, decided: bool | None = False, limit: int = 100, after: int = 0
) -> list[Late]:
    """Bodies that came too late, by id, those after `after`: undecided ones, decided ones, or with None
    all.
    """
    which = "" if decided is None else f" and l.decided_at is {'not ' if decided else ''}null"
    rows = session.rows(
        f"{_LATE} where l.id > :after{which} order by l.id limit :limit", {"after": after, "limit": limit}
    )
    return [Late(*row) for row in rows]


def decide_late(session: Session, late_id: int, decision: str, now: int) -> bool:
    """Write down what a person decided about it; False if that was done before, or there is no such body."""
    if decision not in DECISIONS:
        raise UsageError(f"a decision must be {' or '.join(DECISIONS)}, got {decision!r}")
    return session.run(_DECIDE, {"id": late_id, "decision": decision, "now": now}) > 0
