"""Tasks over HTTP: list them, add one, open one, send it back, cancel it."""

from typing import Annotated

from fastapi import Body, Path, Query
from starlette.responses import Response

from thresher.admin import tasks as control
from thresher.admin.keys import READ, WRITE
from thresher.admin.tasks import list_tasks, show_task
from thresher.core.task import NewTask
from thresher.web.answer import JSON, answer, written
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, TaskAsked, said

TaskId = Annotated[int, Path(ge=1, le=MAX_ID)]


async def tasks(
    runtime: CurrentRuntime,
    state: Annotated[
        str | None,
        Query(
            description="State: pending, running, retryable, succeeded, filtered, skipped, failed, cancelled."
        ),
    ] = None,
    kind: Annotated[str | None, Query(description="The kind of task.")] = None,
    source: Annotated[
        str | None, Query(description="Name of a source, or a gate such as host:example.com.")
    ] = None,
    error: Annotated[str | None, Query(description="Class of the last error, such as TimedOut.")] = None,
    url: Annotated[str | None, Query(description="The task's URL.")] = None,
    run: Annotated[int | None, Query(ge=1, le=MAX_ID, description="Only tasks of this run or group.")] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Response:
    """List tasks, newest first."""
    wanted = {"state": state, "kind": kind, "source": source, "error": error, "url": url}
    return await answer(
        runtime.store, list_tasks, runtime.store, run=run, limit=limit, before=before, **wanted
    )


async def task(runtime: CurrentRuntime, task_id: TaskId) -> Response:
    """Show one task: its result, attempts, parent and children, refused spawns and gates, and why
    it waits.
    """
    return await answer(runtime.store, show_task, runtime.store, task_id)


async def add(runtime: CurrentRuntime, body: TaskAsked) -> Response:
    """Enqueue a task. If a live task of its kind has the same key, return that one."""
    added = await runtime.store.run(
        control.add, runtime.store, runtime.registry, NewTask(**body.model_dump())
    )
    return Response(written(added), 201 if added.new else 200, media_type=JSON)


async def retry(runtime: CurrentRuntime, task_id: TaskId) -> Response:
    """Send an ended task back to waiting with a fresh retry budget. It continues at the stage where
    it ended.
    """
    return await answer(runtime.store, control.retry, runtime.store, [task_id])


async def cancel(
    runtime: CurrentRuntime, task_id: TaskId, body: Annotated[ReasonBody | None, Body()] = None
) -> Response:
    """Cancel a task. A running task is asked to stop at its worker's next heartbeat."""
    return await answer(
        runtime.store, control.cancel, runtime.store, [task_id], said(body, "cancelled manually")
    )


ROUTES = (
    Route("GET", "/api/tasks", tasks, READ, page_by="id"),
    Route("POST", "/api/tasks", add, WRITE, status=(200, 201), shows=("kind", "key", "url")),
    Route("GET", "/api/tasks/{task_id}", task, READ),
    Route("POST", "/api/tasks/{task_id}/retry", retry, WRITE),
    Route("POST", "/api/tasks/{task_id}/cancel", cancel, WRITE, shows=("reason",)),
)
