"""Scrapers as a person sees them: who holds what, what each brought, which roles wait, and which bodies came
too late.

The names of the fields are those of the contract with scrapers and dashboards; there a posting is called a
job.
"""

from dataclasses import dataclass
from typing import Any

from thresher.core.clock import HOUR, as_text
from thresher.core.errors import UsageError
from thresher.store.roles import figures
from thresher.store.roles.role import Role
from thresher.store.roles.scrape import Scrape
from thresher.store.store import Store

STATUSES = ("in_progress", "completed", "failed", "timeout")
SHOWN = ("pending", "processing", "completed")
LATEST = 100
NEXT = 50
DAY_HOURS = 24


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session."""

    id: int
    session_id: str
    scraper_name: str
    scraper_key_id: int
    role_id: int
    role_name: str
    platforms: tuple[str, ...]
    status: str
    verdict: str | None
    started_at: int
    expires_at: int
    completed_at: int | None
    duration_seconds: int | None
    jobs_found: int
    jobs_imported: int
    jobs_updated: int
    jobs_linked: int
    jobs_skipped: int
    error_message: str | None


def list_sessions(
    store: Store,
    *,
    hours: float = DAY_HOURS,
    key_id: int | None = None,
    status: str | None = None,
    limit: int = LATEST,
) -> dict[str, list[SessionView]]:
    """The latest sessions, the newest first."""
    if status is not None and status not in STATUSES:
        raise UsageError(f"a session is {', '.join(STATUSES[:-1])} or {STATUSES[-1]}; got {status[:40]!r}")
    with store.read() as session:
        now = store.backend.now(session)
        found = figures.scrapes_since(
            session, since_hours(now, hours), key_id=key_id, status=status, limit=limit
        )
        return {"sessions": [view(scrape, now) for scrape in found]}


def view(scrape: Scrape, now: int) -> SessionView:
    """A session as it is shown. One that runs has no duration yet."""
    return SessionView(
        scrape.id,
        scrape.session_id,
        scrape.scraper_name,
        scrape.key_id,
        scrape.role_id,
        scrape.role_name,
        scrape.platforms,
        scrape.status,
        scrape.verdict,
        scrape.started_at,
        scrape.lease_until,
        scrape.completed_at,
        None if scrape.completed_at is None else scrape.duration_s(now),
        scrape.found,
        scrape.imported,
        scrape.updated,
        scrape.linked,
        scrape.skipped,
        scrape.error_message,
    )


def since_hours(now: int, hours: float) -> int:
    """The time so many hours ago."""
    return now - round(hours * HOUR)


def read_stats(store: Store) -> dict[str, Any]:
    """How many roles wait, are being scraped and are done, and what the last day brought."""
    with store.read() as session:
        counts = figures.status_counts(session)
        totals = figures.totals_since(session, since_hours(store.backend.now(session), DAY_HOURS))
    shown = {status: counts.get(status, (0, 0)) for status in SHOWN} | counts
    return {
        "queue": {
            status: {"roles": roles, "candidates": candidates}
            for status, (roles, candidates) in shown.items()
        },
        "last_24h": {
            "sessions_completed": totals.sessions,
            "jobs_imported": totals.imported,
            "avg_duration_seconds": round(totals.seconds, 2),
        },
    }


def read_figures(store: Store, *, hours: float = DAY_HOURS) -> dict[str, Any]:
    """Who scrapes now, and what came of it: of all completed sessions, and of each scraper."""
    with store.read() as session:
        now = store.backend.now(session)
        totals = figures.totals_since(session, since_hours(now, hours))
        active, scrapers = (
            figures.active_scrapers(session, now),
            figures.per_scraper(session, since_hours(now, hours)),
        )
    return {
        "active_scrapers": active,
        "totals": _totals(totals),
        "per_scraper": [_scraper(each) for each in scrapers],
    }


def _totals(totals: figures.Totals) -> dict[str, Any]:
    return {
        "total_sessions": totals.sessions,
        "jobs_found": totals.found,
        "jobs_imported": totals.imported,
        "jobs_updated": totals.updated,
        "jobs_linked": totals.linked,
        "jobs_skipped": totals.skipped,
        "avg_duration_seconds": round(totals.seconds, 2),
    }


def _scraper(scraper: figures.Scraper) -> dict[str, Any]:
    return {
        "scraper_name": scraper.name,
        "scraper_key_id": scraper.key_id,
        "session_count": scraper.sessions,
        "jobs_imported": scraper.imported,
        "last_role": scraper.last_role,
        "last_activity": as_text(scraper.last_activity),
    }


def list_queue(store: Store, *, limit: int = NEXT) -> dict[str, list[dict[str, Any]]]:
    """The roles that are pending or being scraped, in the order in which they are served."""
    with store.read() as session:
        return {"queue": [_waiting(role) for role in figures.queue(session, limit)]}


def _waiting(role: Role) -> dict[str, Any]:
    return {
        "id": role.id,
        "name": role.name,
        "queue_status": role.status,
        "priority": role.priority,
        "candidate_count": role.candidates,
        "last_scraped_at": role.scraped_at,
    }
