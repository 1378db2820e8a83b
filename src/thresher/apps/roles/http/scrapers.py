"""What a person does about scrapers, over HTTP: the platforms, postings that came too late, and sessions that
are to end.
"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.admin.times import seconds
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.arrivals import Imported, drop_late, import_late
from thresher.apps.roles.service.platforms import PlatformView
from thresher.apps.roles.service.scrapes import Ended, end_session
from thresher.apps.roles.store.posts import Late, list_late
from thresher.core.errors import UnknownName
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import MAX_ID, AfterId, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said

Name = Annotated[str, Path(description="Name of the platform.")]
LateId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the body that came too late.")]
SessionId = Annotated[str, Path(description="Id of the session, as its scraper has it.")]


class PlatformPaused(RequestBody):
    """For how long no scraper begins on a platform (such as 6h; until it is resumed, if nothing is said), and
    why.
    """

    model_config = like(lasts="6h", reason="the platform asks for a login")

    lasts: Text | None = None
    reason: Text | None = None


async def listed_platforms(runtime: CurrentRuntime) -> Answer[list[PlatformView]]:
    """List platforms by name: their limits, their failures, and until when and why each is paused."""
    return await answer(runtime.store, platforms.list_views, runtime.store)


async def pause(
    runtime: CurrentRuntime, name: Name, body: Annotated[PlatformPaused | None, Body()] = None
) -> Answer[PlatformView]:
    """Pause a platform: no scraper begins there. Running sessions may finish."""
    wanted = body or PlatformPaused()
    lasts = seconds(wanted.lasts) if wanted.lasts else None
    reason = wanted.reason or "paused manually"
    return await answer(
        runtime.store,
        _changed,
        runtime.store,
        name,
        lambda: platforms.pause(runtime.store, name, lasts, reason),
    )


async def resume(runtime: CurrentRuntime, name: Name) -> Answer[PlatformView]:
    """Let scrapers begin on a platform again, and forget its failures."""
    return await answer(
        runtime.store, _changed, runtime.store, name, lambda: platforms.resume(runtime.store, name)
    )


def _changed(store: Store, name: str, change: Callable[[], None]) -> PlatformView:
    change()
    found = next((each for each in platforms.list_views(store) if each.name == name.lower()), None)
    if found is None:
        raise UnknownName(f"the platform {name[:80]!r} was removed meanwhile")
    return found


async def listed_late(
    runtime: CurrentRuntime,
    decided: Annotated[bool, Query(description="Show those that were decided about instead.")] = False,
    limit: Limit = 100,
    after: AfterId = 0,
) -> Answer[list[Late]]:
    """List bodies of scrapers that came after their session had ended, and wait for a person's decision."""
    return await answer(runtime.store, _late, runtime.store, decided, limit, after)


def _late(store: Store, decided: bool, limit: int, after: int) -> list[Late]:
    with store.read() as session:
        return list_late(session, decided=decided, limit=limit, after=after)


async def import_(runtime: CurrentRuntime, late_id: LateId) -> Answer[Imported]:
    """Import the postings of a body that came too late, and have them matched."""
    return await answer(runtime.store, import_late, runtime.store, runtime.registry, late_id)


async def drop(runtime: CurrentRuntime, late_id: LateId) -> Answer[Late]:
    """Drop a body that came too late. It cannot be brought back."""
    return await answer(runtime.store, drop_late, runtime.store, late_id)


async def end(
    runtime: CurrentRuntime, session_id: SessionId, body: Annotated[ReasonBody | None, Body()] = None
) -> Answer[Ended]:
    """End a session. Its role is in the queue again; what its scraper still sends is late."""
    return await answer(runtime.store, end_session, runtime.store, session_id, said(body, "ended manually"))


_AT = "2026-03-02T10:15:00.000Z"
_SESSION = "5b7e9c1e-6d0f-4a53-9d38-2f8a1c0b7e11"
_PLATFORM: dict[str, Any] = {
    "name": "dice",
    "state": "open",
    "every_seconds": 0.0,
    "requests_per_minute": 30,
    "in_flight": None,
    "failures": 0,
    "opens_at": None,
    "reason": None,
}
_LATE: dict[str, Any] = {
    "id": 3,
    "scrape_id": 7,
    "token": _SESSION,
    "key_id": 3,
    "scraper_name": "dice-1",
    "role_id": 123,
    "role_name": "Python Developer",
    "digest": "77…",
    "hash": "9f…",
    "postings": 25,
    "reason": "the session had timed out",
    "created_at": _AT,
    "decided_at": None,
    "decision": None,
}
_IMPORTED = {
    "id": 3,
    "role_id": 123,
    "role_name": "Python Developer",
    "found": 25,
    "imported": 20,
    "updated": 1,
    "linked": 2,
    "skipped": 2,
    "reasons": {"invalid": 2},
}
_ENDED = {
    "session_id": _SESSION,
    "session_status": "failed",
    "verdict": "unknown",
    "role_status": "pending",
}
_ONE = "/api/scraper-platforms/{name}"

ROUTES = (
    Route(
        "GET",
        "/api/scraper-platforms",
        listed_platforms,
        READ,
        probe=True,
        name="list_platforms",
        example=[_PLATFORM],
    ),
    Route(
        "POST",
        f"{_ONE}/pause",
        pause,
        WRITE,
        shows=("lasts", "reason"),
        name="pause_platform",
        example={**_PLATFORM, "state": "paused", "opens_at": _AT, "reason": "they ask for a login"},
    ),
    Route("POST", f"{_ONE}/resume", resume, WRITE, name="resume_platform", example=_PLATFORM),
    Route(
        "GET",
        "/api/late-postings",
        listed_late,
        READ,
        page_by="id",
        name="list_late_postings",
        example=[_LATE],
    ),
    Route(
        "POST",
        "/api/late-postings/{late_id}/import",
        import_,
        WRITE,
        name="import_late_postings",
        example=_IMPORTED,
    ),
    Route("DELETE", "/api/late-postings/{late_id}", drop, WRITE, name="drop_late_postings", example=_LATE),
    Route(
        "POST",
        "/api/scraper-sessions/{session_id}/end",
        end,
        WRITE,
        shows=("reason",),
        name="end_scraper_session",
        example=_ENDED,
    ),
)
