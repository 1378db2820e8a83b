"""Extractions over HTTP: start, follow, cancel and resume them, and see their pages."""

from typing import Annotated, Any

from fastapi import Body, Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.apps.extractions.http.answer import Camel, camel_answer
from thresher.apps.extractions.http.examples import ITEM
from thresher.apps.extractions.service import extractions
from thresher.web.route import MAX_ID, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said

Extraction = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the extraction.")]

PageKey = Annotated[str, Path(description="Key of the page.")]


class ExtractionAsked(RequestBody):
    """The recipe that is extracted."""

    model_config = like(recipe="acme-courses")

    recipe: Text


async def listed(
    runtime: CurrentRuntime,
    recipe: Annotated[str | None, Query(description="Only extractions of this recipe.")] = None,
    before: Annotated[int | None, Query(ge=1, description="Only extractions before this one.")] = None,
    limit: Limit = 20,
) -> Camel[list[extractions.ExtractionView]]:
    """List extractions, newest first, with their steps, items and cost."""
    return await camel_answer(
        runtime, lambda: extractions.list_views(runtime.store, recipe, limit=limit, before=before)
    )


async def start(runtime: CurrentRuntime, body: ExtractionAsked) -> Camel[extractions.Started]:
    """Start an extraction by a recipe: through the pages of its site, or its API. A worker does the work."""
    return await camel_answer(
        runtime, lambda: extractions.start(runtime.store, runtime.registry, body.recipe)
    )


async def shown(runtime: CurrentRuntime, extraction: Extraction) -> Camel[extractions.ExtractionView]:
    """Show one extraction as it is now."""
    return await camel_answer(runtime, lambda: extractions.show_extraction(runtime.store, extraction))


async def pages(
    runtime: CurrentRuntime,
    extraction: Extraction,
    state: Annotated[str | None, Query(description="Only pages in this state, such as failed.")] = None,
    step: Annotated[
        int | None, Query(description="Only pages of the step with this number.", ge=0, le=MAX_ID)
    ] = None,
    after: Annotated[str, Query(description="Only pages after this one.")] = "",
    limit: Limit = 100,
) -> Camel[list[extractions.PageView]]:
    """List the pages of an extraction, and what went wrong with those that failed."""
    return await camel_answer(
        runtime,
        lambda: extractions.list_pages(
            runtime.store, extraction, state=state, step=step, after=after, limit=limit
        ),
    )


async def page(runtime: CurrentRuntime, extraction: Extraction, page: PageKey) -> Camel[extractions.PageView]:
    """Show one page, with the pages that lead to it and the items that were read from it."""
    return await camel_answer(runtime, lambda: extractions.show_page(runtime.store, extraction, page))


async def cancel(
    runtime: CurrentRuntime, extraction: Extraction, body: Annotated[ReasonBody | None, Body()] = None
) -> Camel[extractions.ExtractionView]:
    """Cancel an extraction: nothing more is requested, and what was read stays."""
    reason = said(body, "cancelled over the API")
    return await camel_answer(runtime, lambda: extractions.cancel(runtime.store, extraction, reason))


async def resume(runtime: CurrentRuntime, extraction: Extraction) -> Camel[extractions.Started]:
    """Go on with an extraction that stopped: read what waits, and what failed if it stopped for that."""
    return await camel_answer(
        runtime, lambda: extractions.resume(runtime.store, runtime.registry, extraction)
    )


async def retry(runtime: CurrentRuntime, extraction: Extraction) -> Camel[extractions.Started]:
    """Fetch and read the pages that failed again."""
    return await camel_answer(runtime, lambda: extractions.retry(runtime.store, runtime.registry, extraction))


async def reread(runtime: CurrentRuntime, extraction: Extraction) -> Camel[extractions.Started]:
    """Read the stored pages again, without a request, into a new version of the data set."""
    return await camel_answer(
        runtime, lambda: extractions.reextract(runtime.store, runtime.registry, extraction)
    )


_STEP: dict[str, Any] = {
    "step": 2,
    "kind": "links",
    "level": 1,
    "pageType": "DETAIL",
    "total": 1200,
    "waiting": 200,
    "succeeded": 990,
    "failed": 2,
    "skipped": 8,
    "extractionsAttempted": 985,
    "extractionsSucceeded": 984,
    "extractionsFailed": 1,
    "items": 984,
}
_EXTRACTION: dict[str, Any] = {
    "id": 7,
    "recipe": "acme-courses",
    "recipeVersion": 2,
    "url": "https://catalog.acme.example/courses",
    "entity": "course",
    "status": "IN_PROGRESS",
    "reason": "984 items from 1,050 pages",
    "isApi": False,
    "createdAt": "2026-03-02T10:15:00.000Z",
    "startedAt": "2026-03-02T10:15:01.000Z",
    "movedAt": "2026-03-02T10:45:01.000Z",
    "endedAt": "2026-03-02T11:15:00.000Z",
    "cost": 12_400,
    "dropped": 0,
    "steps": [_STEP],
    "running": {"fetchPage": 2, "extractData": 1, "extractDataWithApi": 0},
    "items": 984,
    "unverified": 3,
    "datasets": [9],
    "waits": "200 of its tasks wait for host:catalog.acme.example",
    "previousId": 5,
}
_PAGE: dict[str, Any] = {
    "page": {
        "extractionId": 7,
        "page": "0123456789abcdef",
        "url": "https://catalog.acme.example/courses/101",
        "step": 2,
        "level": 1,
        "pageType": "DETAIL",
        "status": "ERROR",
        "number": 3,
        "listPage": "fedcba9876543210",
        "explored": 0,
        "failure": {"error": "ServerError", "message": "503 Service Unavailable", "stage": "fetch"},
        "note": "the list ends before it",
        "finalUrl": "https://catalog.acme.example/courses/101",
        "content": "9f…",
        "markdown": "1c…",
        "screenshot": "aa…",
        "contentType": "text/html; charset=utf-8",
        "links": 0,
        "fetchedAt": "2026-03-02T10:45:00.000Z",
        "extractionStatus": "SUCCESS",
        "extractionStartedAt": "2026-03-02T10:45:01.000Z",
        "extractedAt": "2026-03-02T10:45:02.000Z",
        "extractor": "learned",
        "items": 1,
        "counting": False,
        "empty": "No courses were found.",
    },
    "status": "ERROR",
    "parents": ["fedcba9876543210"],
    "items": [ITEM],
}
_STARTED = {
    "extraction": 7,
    "task": {"id": 41, "kind": "startExtraction", "key": "startExtraction.7", "new": True},
}


ROUTES = (
    Route(
        "GET",
        "/api/extractions",
        listed,
        READ,
        example=[_EXTRACTION],
        probe=True,
        page_by="id",
        name="list_extractions",
    ),
    Route("POST", "/api/extractions", start, WRITE, example=_STARTED, name="start_extraction"),
    Route("GET", "/api/extractions/{extraction}", shown, READ, example=_EXTRACTION, name="get_extraction"),
    Route(
        "GET",
        "/api/extractions/{extraction}/pages",
        pages,
        READ,
        example=[_PAGE],
        page_by="page.page",
        name="list_extraction_pages",
    ),
    Route(
        "GET",
        "/api/extractions/{extraction}/pages/{page}",
        page,
        READ,
        example=_PAGE,
        name="get_extraction_page",
    ),
    Route(
        "POST",
        "/api/extractions/{extraction}/cancel",
        cancel,
        WRITE,
        example=_EXTRACTION,
        name="cancel_extraction",
    ),
    Route(
        "POST",
        "/api/extractions/{extraction}/resume",
        resume,
        WRITE,
        example=_STARTED,
        name="resume_extraction",
    ),
    Route(
        "POST", "/api/extractions/{extraction}/retry", retry, WRITE, example=_STARTED, name="retry_extraction"
    ),
    Route(
        "POST",
        "/api/extractions/{extraction}/reread",
        reread,
        WRITE,
        example=_STARTED,
        name="reread_extraction",
    ),
)
