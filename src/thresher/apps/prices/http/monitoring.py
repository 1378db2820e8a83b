"""How the collection of prices goes, over HTTP: recent and stuck tasks, workers, sources, and duplicates."""

from typing import Annotated, Any

from fastapi import Query

from thresher.admin.keys import READ
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.http.examples import AT
from thresher.apps.prices.service import monitoring
from thresher.apps.prices.store.monitoring import RecentTask, StuckTask, TaskCount
from thresher.web.route import BeforeId, CurrentRuntime, Limit, Route

MAX_TIMEOUT = 365 * 86_400


async def overview(runtime: CurrentRuntime) -> Camel[monitoring.Monitoring]:
    """Show everything at once: recent tasks, sources, stuck tasks, tasks by worker, and duplicates."""
    return await camel_answer(runtime, lambda: monitoring.read_monitoring(runtime.store))


async def recent(
    runtime: CurrentRuntime, limit: Limit = 20, before: BeforeId = None
) -> Camel[list[RecentTask]]:
    """List the newest collections: their state, who performs them, and what went wrong."""
    return await camel_answer(runtime, lambda: monitoring.recent_tasks(runtime.store, limit, before))


async def stuck(
    runtime: CurrentRuntime,
    silent: Annotated[
        int | None,
        Query(
            alias="timeout",
            ge=1,
            le=MAX_TIMEOUT,
            description="Seconds without a heartbeat. Default: worker.lease.",
        ),
    ] = None,
) -> Camel[list[StuckTask]]:
    """List collections that run without a heartbeat. Workers take them over by themselves."""
    return await camel_answer(runtime, lambda: monitoring.stuck_tasks(runtime.store, silent))


async def workers(runtime: CurrentRuntime) -> Camel[list[TaskCount]]:
    """Count collections by status and worker."""
    return await camel_answer(runtime, lambda: monitoring.tasks_by_worker(runtime.store))


async def duplicates(runtime: CurrentRuntime) -> Camel[list[monitoring.DuplicatePoint]]:
    """List price points that are stored twice: none."""
    return await camel_answer(runtime, lambda: monitoring.duplicates(runtime.store))


_RECENT: dict[str, Any] = {
    "id": 41,
    "status": "succeeded",
    "item": "1921-D Morgan",
    "source": "ebay-us",
    "lockedBy": "worker-1",
    "heartbeatAt": AT,
    "createdAt": AT,
    "completedAt": AT,
    "errorMessage": "ServerError: 503 Service Unavailable",
    "failures": 0,
    "crashes": 0,
}
_STUCK = {
    "id": 41,
    "status": "running",
    "item": "1921-D Morgan",
    "source": "ebay-us",
    "lockedBy": "worker-1",
    "heartbeatAt": AT,
    "startedAt": AT,
    "timeSinceHeartbeat": 312_000_000,
}
_COUNT = {"status": "succeeded", "lockedBy": "worker-1", "count": 20}
_HEALTH = {
    "name": "ebay-us",
    "enabled": True,
    "failureStreak": 0,
    "lastSuccessAt": AT,
    "lastFailureAt": AT,
    "pausedUntil": AT,
    "why": "429 Too Many Requests",
}
_DUPLICATE = {"item": "1921-D Morgan", "source": "ebay-us", "dedupeKey": "ext_31", "count": 2}
_ALL = {
    "at": AT,
    "recent": [_RECENT],
    "sources": [_HEALTH],
    "stuck": [_STUCK],
    "byWorker": [_COUNT],
    "duplicates": [_DUPLICATE],
}


ROUTES = (
    Route(
        "GET",
        "/api/prices/monitoring",
        overview,
        READ,
        example=_ALL,
        probe=True,
        name="get_collection_monitoring",
    ),
    Route(
        "GET",
        "/api/prices/monitoring/recent",
        recent,
        READ,
        example=[_RECENT],
        page_by="id",
        name="list_recent_collections",
    ),
    Route(
        "GET", "/api/prices/monitoring/stuck", stuck, READ, example=[_STUCK], name="list_stuck_collections"
    ),
    Route("GET", "/api/prices/monitoring/workers", workers, READ, example=[_COUNT], name="count_collections"),
    Route(
        "GET",
        "/api/prices/monitoring/duplicates",
        duplicates,
        READ,
        example=[_DUPLICATE],
        name="list_duplicate_points",
    ),
)
