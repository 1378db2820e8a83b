"""Events over HTTP: what happened to gates, workers and the queue itself."""

from typing import Annotated

from fastapi import Query

from thresher.admin.events import list_events
from thresher.admin.keys import READ
from thresher.admin.rows import EventFields
from thresher.web.answer import Answer, answer
from thresher.web.route import BeforeId, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import EVENT


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
) -> Answer[list[EventFields]]:
    """List events, newest first, each with the description of its kind."""
    return await answer(
        runtime.store, list_events, runtime.store, kind=kind, source=source, limit=limit, before=before
    )


_SENTENCE = "A source was paused: manually, by a breaker, or by its own answer."

ROUTES = (
    Route(
        "GET",
        "/api/events",
        events,
        READ,
        page_by="id",
        example=[{**EVENT, "sentence": _SENTENCE}],
        name="list_events",
    ),
)
