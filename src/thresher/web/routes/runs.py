"""Runs and groups over HTTP."""

from typing import Annotated

from fastapi import Body, Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.admin.rows import RunFields
from thresher.admin.runs import RunDetail, list_runs, show_run
from thresher.admin.tasks import RunCancelled, cancel_run
from thresher.web.answer import Answer, answer
from thresher.web.route import MAX_ID, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import RUN
from thresher.web.schemas import ReasonBody, said

RunId = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the run or group.")]


async def runs(
    runtime: CurrentRuntime,
    app: Annotated[str | None, Query(description="Only runs of this app.")] = None,
    name: Annotated[str | None, Query(description="Only runs of this name.")] = None,
    key: Annotated[str | None, Query(description="Only runs with this key.")] = None,
    running: Annotated[bool, Query(description="Only runs that have not ended.")] = False,
    groups: Annotated[bool, Query(description="Include groups that are not runs.")] = False,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Answer[list[RunFields]]:
    """List runs, newest first: tasks by state, counters, cost, stop reason and verdict."""
    return await answer(
        runtime.store,
        list_runs,
        runtime.store,
        app=app,
        name=name,
        key=key,
        running=running,
        groups_too=groups,
        limit=limit,
        before=before,
    )


async def run(runtime: CurrentRuntime, run_id: RunId) -> Answer[RunDetail]:
    """Show one run or group, with the groups below it."""
    return await answer(runtime.store, show_run, runtime.store, run_id)


async def cancel(
    runtime: CurrentRuntime,
    run_id: RunId,
    body: Annotated[ReasonBody | None, Body()] = None,
) -> Answer[RunCancelled]:
    """Cancel all tasks of a run or group, and of the groups below it. Running ones are asked to stop; `live`
    counts those that have not ended yet.
    """
    return await answer(
        runtime.store, cancel_run, runtime.store, run_id, said(body, "cancelled with its run")
    )


ROUTES = (
    Route("GET", "/api/runs", runs, READ, page_by="id", example=[RUN], name="list_runs"),
    Route("GET", "/api/runs/{run_id}", run, READ, example={"run": RUN, "below": []}, name="get_run"),
    Route(
        "POST",
        "/api/runs/{run_id}/cancel",
        cancel,
        WRITE,
        shows=("reason",),
        example={"run": 7, "cancelled": 4, "asked": 1, "live": 1},
        name="cancel_run",
    ),
)
