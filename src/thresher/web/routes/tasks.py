"""Tasks over HTTP: list them, add one, open one, send it back, cancel it."""

from typing import Annotated

from fastapi import Body, Path, Query

from thresher.admin import tasks as control
from thresher.admin.keys import READ, WRITE
from thresher.admin.rows import TaskFields
from thresher.admin.tasks import Added, Retried, TaskDetail, list_tasks, show_task
from thresher.core.task import NewTask
from thresher.store.tasks import Cancelled
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import AT, EVENT, GATE, RUN, TASK
from thresher.web.schemas import ReasonBody, TaskAsked, said

TaskId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the task.")]


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
) -> Answer[list[TaskFields]]:
    """List tasks, newest first."""
    wanted = {"state": state, "kind": kind, "source": source, "error": error, "url": url}
    return await answer(
        runtime.store, list_tasks, runtime.store, run=run, limit=limit, before=before, **wanted
    )


async def task(runtime: CurrentRuntime, task_id: TaskId) -> Answer[TaskDetail]:
    """Show one task: its result, attempts, parent and children, refused spawns and gates, and why
    it waits.
    """
    return await answer(runtime.store, show_task, runtime.store, task_id)


async def add(runtime: CurrentRuntime, body: TaskAsked) -> Answer[Added]:
    """Enqueue a task. If a live task of its kind has the same key, return that one."""
    added = await runtime.store.run(
        control.add, runtime.store, runtime.registry, NewTask(**body.model_dump())
    )
    return Answer(written(added), 201 if added.new else 200, media_type=JSON)


async def retry(runtime: CurrentRuntime, task_id: TaskId) -> Answer[Retried]:
    """Send an ended task back to waiting with a fresh retry budget. It continues at the stage where
    it ended.
    """
    return await answer(runtime.store, control.retry, runtime.store, [task_id])


async def cancel(
    runtime: CurrentRuntime, task_id: TaskId, body: Annotated[ReasonBody | None, Body()] = None
) -> Answer[Cancelled]:
    """Cancel a task. A running task is asked to stop at its worker's next heartbeat."""
    return await answer(
        runtime.store, control.cancel, runtime.store, [task_id], said(body, "cancelled manually")
    )


_DETAIL = {
    "task": TASK,
    "waits": [],
    "attempts": [
        {
            "claim": 3,
            "stage": "fetch",
            "worker_id": 2,
            "started_at": AT,
            "ended_at": AT,
            "ending": "failed",
            "reason": "503 Service Unavailable",
            "error": "ServerError",
            "worker": "north",
        }
    ],
    "parent": {**TASK, "id": 40, "kind": "list", "state": "succeeded", "parent_id": None, "depth": 0},
    "children": [],
    "refusals": [
        {
            "at": AT,
            "parent_id": 41,
            "kind": "page",
            "url": "https://shop.example/1",
            "key": "page:https://shop.example/1",
            "rule": "ancestry",
            "detail": None,
        }
    ],
    "gates": [GATE],
    "result": {"items": 0},
    "has_all_children": True,
    "run": RUN,
    "records": [
        {"kind": "item", "key": "oak-1", "is_new": True, "updated_at": AT, "evidence": {"title": "Oak table"}}
    ],
    "events": [EVENT],
}

ROUTES = (
    Route("GET", "/api/tasks", tasks, READ, page_by="id", example=[TASK], name="list_tasks"),
    Route(
        "POST",
        "/api/tasks",
        add,
        WRITE,
        status=(200, 201),
        shows=("kind", "key", "url"),
        example={"id": 41, "kind": "greet", "key": "ada", "new": True},
        name="add_task",
    ),
    Route("GET", "/api/tasks/{task_id}", task, READ, example=_DETAIL, name="get_task"),
    Route(
        "POST",
        "/api/tasks/{task_id}/retry",
        retry,
        WRITE,
        example={"retried": [41], "key_taken": []},
        name="retry_task",
    ),
    Route(
        "POST",
        "/api/tasks/{task_id}/cancel",
        cancel,
        WRITE,
        shows=("reason",),
        example={"cancelled": [41], "asked": []},
        name="cancel_task",
    ),
)
