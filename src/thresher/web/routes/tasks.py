"""Tasks over HTTP: list them, open one, send it back, cancel it."""

from typing import Annotated

from fastapi import Body, Path, Query
from starlette.responses import Response

from thresher.control import tasks as control
from thresher.control.keys import Scope
from thresher.insight.tasks import list_tasks, show_task
from thresher.web.answer import answer
from thresher.web.asked import Reason, said
from thresher.web.route import MOST_ID, BeforeId, Limit, Owner, Route, Shop

TaskId = Annotated[int, Path(ge=1, le=MOST_ID)]


async def tasks(
    shop: Shop,
    state: Annotated[str | None, Query(description="pending, running, retryable, succeeded, filtered, skipped, failed, cancelled.")] = None,
    kind: Annotated[str | None, Query(description="The kind of task.")] = None,
    source: Annotated[str | None, Query(description="A source's name, or a gate such as host:example.com.")] = None,
    error: Annotated[str | None, Query(description="The class of its last error, such as TimedOut.")] = None,
    url: Annotated[str | None, Query(description="The task's URL.")] = None,
    run: Annotated[int | None, Query(ge=1, le=MOST_ID, description="Only tasks of this run or group.")] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Response:
    """Tasks, the newest first."""
    wanted = {"state": state, "kind": kind, "source": source, "error": error, "url": url}
    return await answer(shop.store, list_tasks, shop.store, run=run, limit=limit, before=before, **wanted)


async def task(shop: Shop, task_id: TaskId) -> Response:
    """One task: its attempts, its family, refused spawns, its gates, and why it waits."""
    return await answer(shop.store, show_task, shop.store, task_id)


async def retry(shop: Shop, task_id: TaskId) -> Response:
    """Send an ended task back to waiting, with a fresh budget; it goes on at the stage where it ended."""
    return await answer(shop.store, control.retry, shop.store, [task_id])


async def cancel(shop: Shop, task_id: TaskId, body: Annotated[Reason | None, Body()] = None) -> Response:
    """Cancel a task. A running one is asked to stop at its worker's next heartbeat."""
    return await answer(shop.store, control.cancel, shop.store, [task_id], said(body, "cancelled by a person"))


ROUTES = (
    Route("GET", "/api/tasks", tasks, Owner.THRESHER, Scope.READ),
    Route("GET", "/api/tasks/{task_id}", task, Owner.THRESHER, Scope.READ),
    Route("POST", "/api/tasks/{task_id}/retry", retry, Owner.THRESHER, Scope.WRITE),
    Route("POST", "/api/tasks/{task_id}/cancel", cancel, Owner.THRESHER, Scope.WRITE),
)
