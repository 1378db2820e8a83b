"""Events over HTTP: what happened to gates, workers and the queue itself."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from thresher.admin.events import list_events
from thresher.admin.keys import READ
from thresher.web.answer import answer
from thresher.web.route import BeforeId, CurrentRuntime, Limit, Route


async def events(
    runtime: CurrentRuntime,
    kind: Annotated[
        str | None, Query(description="Only events of this kind, such as gate_paused or worker_lost.")
    ] = None,
    source: Annotated[
        str | None, Query(description="Only events of this source, or gate such as host:example.com.")
    ] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Response:
    """List events, newest first, each with the description of its kind."""
    return await answer(
        runtime.store, list_events, runtime.store, kind=kind, source=source, limit=limit, before=before
    )


ROUTES = (Route("GET", "/api/events", events, READ, page_by="id"),)
