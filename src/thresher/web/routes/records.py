"""Records over HTTP: what was found, with the evidence of every value."""

from typing import Annotated

from fastapi import Query

from thresher.admin.keys import READ
from thresher.admin.records import list_records
from thresher.admin.rows import RecordFields
from thresher.web.answer import Answer, answer
from thresher.web.route import BeforeId, CurrentRuntime, Limit, Route


async def records(
    runtime: CurrentRuntime,
    kind: Annotated[str | None, Query(description="Only records of this kind.")] = None,
    key: Annotated[str | None, Query(description="Only the record with this key.")] = None,
    link: Annotated[
        str | None, Query(description="Only records with this link, written as name=target.")
    ] = None,
    limit: Limit = 50,
    before: BeforeId = None,
) -> Answer[list[RecordFields]]:
    """List records, newest first, with the evidence of their values."""
    return await answer(
        runtime.store, list_records, runtime.store, kind=kind, key=key, link=link, limit=limit, before=before
    )


_RECORD = {
    "id": 17,
    "kind": "page",
    "key": "https://shop.example/lamps",
    "data": {},
    "evidence": None,
    "links": ["shelf=lamps"],
    "first_task": 4711,
    "last_task": 4720,
    "seen": 2,
    "created_at": "2026-11-19T16:00:00Z",
    "updated_at": "2026-11-19T17:00:00Z",
}

ROUTES = (
    Route(
        "GET",
        "/api/records",
        records,
        READ,
        page_by="id",
        name="list_records",
        example=[_RECORD],
    ),
)
