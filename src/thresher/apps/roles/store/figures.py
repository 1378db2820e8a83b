"""Figures about the queue of roles: how much waits, who works, what was brought."""

from dataclasses import dataclass
from typing import Any

from thresher.apps.roles.store.rows import SELECT_ROLE, Role, Scrape, as_scrape, whole
from thresher.apps.roles.store.rows import SELECT_SCRAPE as SCRAPES
from thresher.core.clock import SECOND
from thresher.store.session import Session

_STATUSES = "select status, count(*), cast(coalesce(sum(candidates), 0) as bigint) from roles group by status order by status"
_TOTALS = """select count(*), cast(coalesce(sum(found), 0) as bigint), cast(coalesce(sum(imported), 0) as bigint),
        cast(coalesce(sum(updated), 0) as bigint), cast(coalesce(sum(linked), 0) as bigint), cast(coalesce(sum(skipped), 0) as bigint),
        cast(coalesce(sum(completed_at - started_at), 0) as bigint)
    from scrape_sessions where started_at >= :since and status = 'completed'"""
# The last role is that of the session that began last; the name too, as a key may have been given another one
# meanwhile.
_SCRAPERS = """select t.key_id, s.scraper_name, t.sessions, t.imported, s.role_name, t.active
    from (select key_id, count(*) as sessions, cast(coalesce(sum(imported), 0) as bigint) as imported, max(updated_at) as active,
                 max(id) as last
          from scrape_sessions where started_at >= :since group by key_id) t
    join scrape_sessions s on s.id = t.last order by t.active desc, t.key_id limit :limit"""
_ACTIVE = (
    "select count(distinct key_id) from scrape_sessions where status = 'in_progress' and lease_until > :now"
)
# In the order of the index of open sessions: what it costs does not grow with the history.
_RUNNING = f"{SCRAPES} where status = 'in_progress' order by lease_until, id limit :limit"
_QUEUE = f"{SELECT_ROLE} where status in ('pending', 'processing') order by rank, id limit :limit"
_WAITING = f"{SELECT_ROLE} where status = 'pending' order by rank, id limit :limit"


@dataclass(frozen=True, slots=True)
class Totals:
    """What completed sessions brought, and how long they took in the mean."""

    sessions: int
    found: int
    imported: int
    updated: int
    linked: int
    skipped: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Scraper:
    """What one key has done. `last_role` is the role of its latest session."""

    key_id: int
    name: str
    sessions: int
    imported: int
    last_role: str
    last_activity: int


def status_counts(session: Session) -> dict[str, tuple[int, int]]:
    """Each status that roles are in: how many roles, and how many candidates want them."""
    return {status: (roles, candidates) for status, roles, candidates in session.rows(_STATUSES)}


def scrapes_since(
    session: Session, since: int, *, key_id: int | None = None, status: str | None = None, limit: int = 100
) -> list[Scrape]:
    """Sessions that began at or after a time, the latest first."""
    asked = {"key": key_id, "status": status}
    clauses = {"key": " and key_id = :key", "status": " and status = :status"}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    where = "".join(clauses[name] for name in given)
    values = {**given, "since": since, "limit": limit}
    rows = session.rows(
        f"{SCRAPES} where started_at >= :since{where} order by started_at desc, id desc limit :limit", values
    )
    return [as_scrape(row) for row in rows]


def totals_since(session: Session, since: int, *, key_id: int | None = None) -> Totals:
    """What the sessions brought that began at or after a time and were completed."""
    own = "" if key_id is None else " and key_id = :key"
    rows = session.rows(_TOTALS + own, {"since": since} | ({} if key_id is None else {"key": key_id}))
    sessions, found, imported, updated, linked, skipped, took = rows[0]
    return Totals(
        sessions, found, imported, updated, linked, skipped, took / sessions / SECOND if sessions else 0.0
    )


def per_scraper(session: Session, since: int, limit: int = 1_000) -> list[Scraper]:
    """Every key that began a session at or after a time; whoever was active last comes first."""
    return [Scraper(*row) for row in session.rows(_SCRAPERS, {"since": since, "limit": limit})]


def active_scrapers(session: Session, now: int) -> int:
    """How many keys have a session under way whose time is not over."""
    return int(session.rows(_ACTIVE, {"now": now})[0][0])


def running(session: Session, limit: int = 100) -> list[Scrape]:
    """The sessions under way; the one whose time is over first comes first."""
    return [as_scrape(row) for row in session.rows(_RUNNING, {"limit": limit})]


def queue(session: Session, limit: int = 50) -> list[Role]:
    """The roles that wait or are under way, in the order in which they are served."""
    return whole(session, session.rows(_QUEUE, {"limit": limit}))


def waiting(session: Session, limit: int = 50) -> list[Role]:
    """Of these only those that wait."""
    return whole(session, session.rows(_WAITING, {"limit": limit}))
