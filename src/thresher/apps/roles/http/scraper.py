"""The queue for scrapers outside: two calls are enough, one that takes a role and one that brings its
postings.

The rest is for scrapers that want more: keep a session longer, give it up with a reason, bring postings in
parts, find again what one held before a crash. What is told twice counts once.
"""

from functools import partial
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from fastapi import Depends, Query
from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from thresher.apps.roles.service import scrapes as control
from thresher.apps.roles.service import scrapes as insight
from thresher.apps.roles.service.arrivals import receive
from thresher.apps.roles.store.queue import Holder
from thresher.core.spooled import Spooled
from thresher.runtime import Runtime
from thresher.web.answer import JSON, Answer, answer, run_in_pool, written
from thresher.web.auth import holder
from thresher.web.body import spooled
from thresher.web.openapi import described
from thresher.web.problem import Problem
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text, asks, given, like

SCRAPERS = "/api/scraper/"
QUEUE = f"{SCRAPERS}queue"
SCRAPE = "scrape"
MAX_PLATFORMS = 100
IMPORTS = 2  # bodies with postings that are imported at the same time; nobody else waits for them
IN_PARTS = '(roles.body_limit); send the postings in parts, with "complete": false in all but the last'
_ID = "5b7e9c1e-6d0f-4a53-9d38-2f8a1c0b7e11"  # in examples

Platform = Annotated[Text, StringConstraints(min_length=1, max_length=80)]
SaidVerdict = Literal["found", "empty", "blocked", "failed"]


class Held(RequestBody):
    """A session, by the id that next-role returned."""

    model_config = like(session_id=_ID)

    session_id: Text | None = None


class Failed(Held):
    """Why a search failed. With `platform`, give up only that one. `blocked`: the platform refused access."""

    model_config = like(session_id=_ID, reason="the login page came back", platform="dice", verdict="blocked")

    reason: Annotated[Text, StringConstraints(max_length=1_000)] | None = None
    platform: Platform | None = None
    verdict: Literal["failed", "blocked"] = "failed"


class Completed(Held):
    """How a session of several bodies ended, for all of its platforms or for each. An empty result needs a
    proof.
    """

    model_config = like(session_id=_ID, verdicts={"dice": "found", "indeed": "blocked"})

    verdict: SaidVerdict | None = None
    verdicts: dict[Platform, SaidVerdict] | None = Field(None, max_length=MAX_PLATFORMS)
    proof: dict[str, Any] | None = None


class SkippedPosting(TypedDict):
    """A posting that was not kept, by its place in the body."""

    index: int
    external_job_id: str | None
    reason: str
    detail: str | None


class BodyImported(TypedDict):
    """What a body has brought. `platforms` counts usable postings by platform, `reasons` those that were
    skipped; `message` says what a scraper should know besides.
    """

    session_id: str
    jobs_found: int
    jobs_imported: int
    jobs_updated: int
    jobs_linked: int
    jobs_skipped: int
    duration_seconds: int
    matching_triggered: bool
    session_status: str
    role_status: str
    verdict: str | None
    platforms: dict[str, int]
    reasons: dict[str, int]
    skips: list[SkippedPosting]
    notes: list[dict[str, Any]]
    message: NotRequired[str]


class HeldSessions(TypedDict):
    """The sessions that a key holds."""

    sessions: list[control.Offer]


async def holder_of(request: Request) -> Holder:
    """Return who asks, as the queue knows scrapers."""
    key = holder(request)
    assert key is not None, "authentication lets nobody through without a key"
    return Holder(
        key.id, key.name, None if key.sources is None else tuple(name.lower() for name in key.sources)
    )


Scraper = Annotated[Holder, Depends(holder_of)]


async def next_role(
    runtime: CurrentRuntime,
    scraper: Scraper,
    platforms: Annotated[
        str | None, Query(description="Only turns on these platforms, separated by commas.")
    ] = None,
) -> Answer[control.Offer] | Response:
    """Take the next role, and start a session that holds it. 204 without a body if none waits; Retry-After
    says when one will.
    """
    asked = control.asked_platforms(platforms)
    if shut := control.shut_platforms(scraper, asked):
        return Problem(403, "PlatformNotAllowed", control.says_shut(scraper, shut)).response()
    offer = await runtime.store.run(control.claim, runtime.store, scraper, asked)
    if isinstance(offer, control.Nothing):
        return Response(
            status_code=204, headers={"Retry-After": str(offer.retry_after)} if offer.retry_after else {}
        )
    return Answer(written(offer), media_type=JSON)


async def post_postings(request: Request, runtime: CurrentRuntime, scraper: Scraper) -> Answer[BodyImported]:
    """Send what was found, and complete the session. The same body again gets the same response; a late one
    is kept for review.
    """
    settings = runtime.store.settings
    limit = settings.count("roles.body_limit")
    most = max(settings.count("roles.spool_limit"), limit)  # one body always has room
    with request.app.state.shares.share(scraper.key_id, most, "roles.spool_limit") as share:
        async with spooled(request, limit, IN_PARTS, share) as body:
            importing = partial(_import, runtime, scraper, body)
            return Answer(await run_in_pool(request, "import", IMPORTS, importing), media_type=JSON)


def _import(runtime: Runtime, scraper: Holder, body: Spooled) -> bytes:
    return written(receive(runtime.store, runtime.registry, scraper, body))


async def stats(runtime: CurrentRuntime) -> Answer[insight.QueueStats]:
    """Show how many roles wait, are being scraped and are done, and the results of the last day."""
    return await answer(runtime.store, insight.read_stats, runtime.store)


async def heartbeat(runtime: CurrentRuntime, scraper: Scraper, body: Held) -> Answer[control.Extended]:
    """Extend a session by another lease, counted from now."""
    return await answer(runtime.store, control.extend, runtime.store, scraper, control.named(body.session_id))


async def fail(
    runtime: CurrentRuntime, scraper: Scraper, body: Failed
) -> Answer[Annotated[dict[str, Any], control.Ended]]:
    """Give up a session, or one of its platforms. The role goes back to the queue."""
    told = control.Failure(
        body.reason or "the scraper gives no reason",
        body.verdict,
        body.platform.lower() if body.platform else None,
    )
    return await answer(
        runtime.store, control.fail, runtime.store, scraper, control.named(body.session_id), told
    )


async def complete(
    runtime: CurrentRuntime, scraper: Scraper, body: Completed
) -> Answer[Annotated[dict[str, Any], control.Ended]]:
    """End a session whose postings were sent in several bodies with "complete": false."""
    said = given(body)
    return await answer(
        runtime.store,
        control.complete,
        runtime.store,
        scraper,
        control.named(said.pop("session_id", None)),
        said,
    )


async def current_session(
    runtime: CurrentRuntime, scraper: Scraper
) -> Answer[Annotated[dict[str, list[control.Offer]], HeldSessions]]:
    """List the sessions that this key holds, for a scraper that was killed and starts again."""
    return await answer(runtime.store, control.held_sessions, runtime.store, scraper)


_UNTIL = "2026-03-02T11:15:00.000Z"
_OFFER = {
    "session_id": _ID,
    "role": {
        "id": 123,
        "name": "Python Developer",
        "aliases": ["Python Dev", "Python Engineer"],
        "candidate_count": 45,
        "keywords": ["Python Developer", "Python", "Django", "AWS"],
    },
    "platforms": [{"name": "dice", "requests_per_minute": 30}],
    "expires_at": _UNTIL,
    "heartbeat": f"{QUEUE}/heartbeat",
}
_JOB = {
    "external_job_id": "dice-123456",
    "platform": "dice",
    "title": "Senior Python Developer",
    "company": "TechCorp",
    "location": "San Francisco, CA",
    "description": "We look for ...",
    "skills": ["Python", "Django", "AWS"],
    "salary_min": 120_000,
    "salary_max": 180_000,
    "job_url": "https://dice.example/123456",
    "posted_date": "2026-03-01",
}
_POST = {"session_id": _ID, "jobs": [_JOB]}
_POST_SCHEMA = {
    "type": "object",
    "required": ["session_id"],
    "properties": {
        "session_id": {"type": "string"},
        "jobs": {"type": "array", "items": {"type": "object"}},
        "platform": {"type": "string"},
        "complete": {"type": "boolean"},
        "verdict": {"enum": ["found", "empty", "blocked", "failed"]},
        "verdicts": {"type": "object", "additionalProperties": {"type": "string"}},
        "proof": {"type": "object"},
    },
}
_IMPORTED = {
    "session_id": _ID,
    "jobs_found": 25,
    "jobs_imported": 20,
    "jobs_updated": 1,
    "jobs_linked": 2,
    "jobs_skipped": 2,
    "duration_seconds": 45,
    "matching_triggered": True,
    "session_status": "completed",
    "role_status": "completed",
    "verdict": "found",
    "platforms": {"dice": 23},
    "reasons": {"invalid": 2},
    "notes": [],
    "message": "what else there is to say",
    "skips": [{"index": 3, "external_job_id": "dice-9", "reason": "invalid", "detail": "title is missing"}],
}
_COUNT = {"roles": 12, "candidates": 340}
_STATS = {
    "queue": {
        "pending": _COUNT,
        "processing": _COUNT,
        "completed": _COUNT,
        "proposed": _COUNT,
        "rejected": _COUNT,
    },
    "last_24h": {"sessions_completed": 40, "jobs_imported": 800, "avg_duration_seconds": 45.5},
}
_ENDED = {"session_id": _ID, "session_status": "failed", "verdict": "failed", "role_status": "pending"}
_NONE = {"description": "No role waits", "headers": {"Retry-After": {"schema": {"type": "integer"}}}}


async def openapi(request: Request) -> Answer[dict[str, Any]]:
    """Describe the part of the API that a scraper's key may use, for programs."""
    return await described(request, SCRAPERS)


_OWN_WORK = "it is the scraper's own work, and the scrape keeps which key did it"

ROUTES = (
    Route(
        "GET",
        f"{SCRAPERS}openapi.json",
        openapi,
        SCRAPE,
        name="get_scraper_openapi",
        example={"openapi": "3.1.0", "paths": {}},
    ),
    Route(
        "GET",
        f"{QUEUE}/next-role",
        next_role,
        SCRAPE,
        {"responses": {"204": _NONE}},
        status=(200, 204),
        name="take_next_role",
        example=_OFFER,
    ),
    Route(
        "POST",
        f"{QUEUE}/jobs",
        post_postings,
        SCRAPE,
        {"requestBody": asks(_POST, _POST_SCHEMA)},
        body_limit="roles.body_limit",
        body_patience="roles.body_patience",
        unaudited=_OWN_WORK,
        name="send_jobs",
        example=_IMPORTED,
    ),
    Route("GET", f"{QUEUE}/stats", stats, SCRAPE, probe=True, name="get_queue_stats", example=_STATS),
    Route(
        "POST",
        f"{QUEUE}/heartbeat",
        heartbeat,
        SCRAPE,
        unaudited=_OWN_WORK,
        name="extend_session",
        example={"session_id": _ID, "expires_at": _UNTIL},
    ),
    Route(
        "POST",
        f"{QUEUE}/fail",
        fail,
        SCRAPE,
        unaudited=_OWN_WORK,
        name="fail_session",
        example=_ENDED,
    ),
    Route(
        "POST",
        f"{QUEUE}/complete",
        complete,
        SCRAPE,
        unaudited=_OWN_WORK,
        name="complete_session",
        example={**_ENDED, "session_status": "completed", "verdict": "found", "role_status": "completed"},
    ),
    Route(
        "GET",
        f"{QUEUE}/current-session",
        current_session,
        SCRAPE,
        name="list_held_sessions",
        example={"sessions": [_OFFER]},
    ),
)
