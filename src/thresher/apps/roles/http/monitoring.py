"""Scrapers as their keeper sees them: sessions, figures, and the roles in the order in which they will be
served.
"""

from typing import Annotated, TypedDict

from fastapi import Query

from thresher.admin.keys import ADMIN
from thresher.apps.roles.service import scrapes as insight
from thresher.web.answer import Answer, answer
from thresher.web.route import MAX_ID, CurrentRuntime, Route

MAX_HOURS = 10 * 8_760
Hours = Annotated[int, Query(ge=1, le=MAX_HOURS, description="Only sessions of the last hours.")]


class Sessions(TypedDict):
    """Sessions of scrapers, newest first."""

    sessions: list[insight.SessionView]


async def sessions(
    runtime: CurrentRuntime,
    scraper_key_id: Annotated[
        int | None, Query(ge=1, le=MAX_ID, description="Only sessions of this key.")
    ] = None,
    status: Annotated[
        str | None, Query(description="Status: in_progress, completed, failed or timeout.")
    ] = None,
    hours: Hours = 24,
) -> Answer[Annotated[dict[str, list[insight.SessionView]], Sessions]]:
    """List the latest sessions of scrapers, newest first, at most 100."""
    return await answer(
        runtime.store, insight.list_sessions, runtime.store, hours=hours, key_id=scraper_key_id, status=status
    )


async def stats(runtime: CurrentRuntime, hours: Hours = 24) -> Answer[insight.ScraperFigures]:
    """Show who scrapes and with what result, in total and for each scraper."""
    return await answer(runtime.store, insight.read_figures, runtime.store, hours=hours)


async def queue(runtime: CurrentRuntime) -> Answer[insight.RoleQueue]:
    """List the next 50 roles that are pending or being scraped, in the order in which they are served."""
    return await answer(runtime.store, insight.list_queue, runtime.store)


_SESSION = {
    "id": 7,
    "session_id": "5b7e9c1e-6d0f-4a53-9d38-2f8a1c0b7e11",
    "scraper_name": "dice-1",
    "scraper_key_id": 3,
    "role_id": 123,
    "role_name": "Python Developer",
    "platforms": ["dice"],
    "status": "completed",
    "verdict": "found",
    "started_at": "2026-03-02T10:15:00.000Z",
    "expires_at": "2026-03-02T11:15:00.000Z",
    "completed_at": "2026-03-02T10:15:45.000Z",
    "duration_seconds": 45,
    "jobs_found": 25,
    "jobs_imported": 20,
    "jobs_updated": 1,
    "jobs_linked": 2,
    "jobs_skipped": 2,
    "error_message": "the lease ended",
}
_STATS = {
    "active_scrapers": 2,
    "totals": {
        "total_sessions": 40,
        "jobs_found": 1_000,
        "jobs_imported": 800,
        "jobs_updated": 60,
        "jobs_linked": 90,
        "jobs_skipped": 50,
        "avg_duration_seconds": 45.5,
    },
    "per_scraper": [
        {
            "scraper_name": "dice-1",
            "scraper_key_id": 3,
            "session_count": 21,
            "jobs_imported": 400,
            "last_role": "Python Developer",
            "last_activity": "2026-03-02T10:15:45.000Z",
        }
    ],
}
_QUEUE = {
    "queue": [
        {
            "id": 123,
            "name": "Python Developer",
            "queue_status": "pending",
            "priority": "high",
            "candidate_count": 45,
            "last_scraped_at": "2026-03-01T10:15:00.000Z",
        }
    ],
}
ROUTES = (
    Route(
        "GET",
        "/api/scraper-monitoring/sessions",
        sessions,
        ADMIN,
        name="list_scraper_sessions",
        example={"sessions": [_SESSION]},
    ),
    Route("GET", "/api/scraper-monitoring/stats", stats, ADMIN, name="get_scraper_stats", example=_STATS),
    Route("GET", "/api/scraper-monitoring/queue", queue, ADMIN, name="get_scraper_queue", example=_QUEUE),
)
