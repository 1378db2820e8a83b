"""Everything of one kind over HTTP, as a file: written while it is sent."""

from typing import Annotated, BinaryIO

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.export import FileFormat, export, find_export
from thresher.admin.keys import READ
from thresher.core.errors import UsageError
from thresher.web.answer import StreamedFile, flow
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import FILES

WRITERS = 4  # at the same time; more wait for one of these to end


async def exported(
    runtime: CurrentRuntime,
    request: Request,
    what: Annotated[str, Path(description="What is exported, such as tasks, matches or postings.")],
    form: Annotated[str, Query(alias="format", description="Format: csv, jsonl, xlsx or parquet.")] = "csv",
    status: Annotated[str | None, Query(description="Only rows with this status.")] = None,
) -> Response:
    """Export all rows of one kind, named as in `thresher export`. JSON lines contain everything; CSV and
    Excel contain what fits into columns.
    """
    if form not in list(FileFormat):
        raise UsageError(f"the formats are {', '.join(FileFormat)}; got {form!r}")

    found = find_export(runtime.registry.apps, what)

    def write(out: BinaryIO) -> None:
        export(runtime.store, what, found, FileFormat(form), out, status=status)

    headers = {"Content-Disposition": f'attachment; filename="{what}.{FileFormat(form)}"'}
    return StreamedFile(
        flow(request.app.state.pools.get("export", WRITERS), write),
        headers=headers,
        media_type=FileFormat(form).media_type,
    )


ROUTES = (Route("GET", "/api/export/{what}", exported, READ, FILES, name="export"),)
