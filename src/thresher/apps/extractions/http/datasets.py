"""Data sets over HTTP: their items with evidence, what changed between two, and files."""

from typing import Annotated, Any, BinaryIO

from fastapi import Path, Query
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.export import FileFormat
from thresher.admin.keys import READ
from thresher.apps.extractions.http.answer import Camel, camel_answer
from thresher.apps.extractions.http.examples import ITEM
from thresher.apps.extractions.service import datasets
from thresher.apps.extractions.store.datasets import DataItem
from thresher.core.errors import UsageError
from thresher.web.answer import Answer, StreamedFile, answer, flow
from thresher.web.route import CurrentRuntime, Limit, Route
from thresher.web.schemas import FILES

WRITERS = 4  # files at the same time; more wait for one of these to end

DataSet = Annotated[str, Path(description="Number of the data set, or the name of a recipe for its newest.")]


async def listed(
    runtime: CurrentRuntime,
    recipe: Annotated[str | None, Query(description="Only data sets of this recipe.")] = None,
    before: Annotated[int | None, Query(ge=1, description="Only data sets before this one.")] = None,
    limit: Limit = 50,
) -> Camel[list[datasets.DataSetView]]:
    """List data sets, newest first, with how many items have each field."""
    return await camel_answer(
        runtime, lambda: datasets.list_views(runtime.store, recipe, limit=limit, before=before)
    )


async def shown(runtime: CurrentRuntime, dataset: DataSet) -> Camel[datasets.DataSetView]:
    """Show one data set: by its number, or the newest of a recipe by the recipe's name."""
    return await camel_answer(runtime, lambda: datasets.show_dataset(runtime.store, dataset))


async def items(
    runtime: CurrentRuntime,
    dataset: DataSet,
    verified: Annotated[
        bool | None, Query(description="Only items whose values are all found on their page, or the others.")
    ] = None,
    after: Annotated[int, Query(ge=0, description="Only items after this one.")] = 0,
    limit: Limit = 100,
) -> Camel[list[DataItem]]:
    """List the items of a data set, each value with its place on the page."""
    return await camel_answer(
        runtime,
        lambda: datasets.list_items(runtime.store, dataset, verified=verified, after=after, limit=limit),
    )


async def compared(
    runtime: CurrentRuntime,
    dataset: DataSet,
    old: Annotated[str, Query(description="Data set to compare with.")],
    only: Annotated[str | None, Query(description="Only items that are new, changed or gone.")] = None,
    after: Annotated[
        str, Query(description="Only items after the one with this key; together with only.")
    ] = "",
    limit: Limit = 100,
) -> Camel[datasets.DataSetDiff]:
    """Compare a data set with an earlier one: what is new, changed and gone."""
    return await camel_answer(
        runtime, lambda: datasets.diff(runtime.store, old, dataset, what=only, after=after, limit=limit)
    )


async def schema(runtime: CurrentRuntime, dataset: DataSet) -> Answer[dict[str, Any]]:
    """Return the JSON Schema of the items of a data set."""
    return await answer(runtime.store, lambda: datasets.json_schema(runtime.store, dataset))


async def exported(
    runtime: CurrentRuntime,
    request: Request,
    dataset: DataSet,
    form: Annotated[str, Query(alias="format", description="Format: csv, jsonl, xlsx or parquet.")] = "csv",
    verified: Annotated[
        bool | None, Query(description="Only items whose values are all found on their page, or the others.")
    ] = None,
) -> Response:
    """Export the items of a data set, each value beside the words of the page that prove it."""
    if form not in list(FileFormat):
        raise UsageError(f"the formats are {', '.join(FileFormat)}; got {form!r}")
    chosen = FileFormat(form)
    found = datasets.show_dataset(runtime.store, dataset)

    def write(out: BinaryIO) -> None:
        datasets.export_dataset(runtime.store, str(found.id), chosen, out, verified=verified)

    headers = {"Content-Disposition": f'attachment; filename="dataset-{found.id}.{chosen}"'}
    pool = request.app.state.pools.get("export", WRITERS)
    return StreamedFile(flow(pool, write), headers=headers, media_type=chosen.media_type)


_COVERAGE = {"field": "name", "items": 984, "verified": 984, "share": 1.0}
_DATASET: dict[str, Any] = {
    "id": 9,
    "recipe": "acme-courses",
    "extraction": 7,
    "version": 1,
    "entity": "course",
    "createdAt": "2026-03-02T10:15:10.000Z",
    "endedAt": "2026-03-02T11:15:00.000Z",
    "items": 984,
    "unverified": 3,
    "fields": [_COVERAGE],
}
_CHANGE: dict[str, Any] = {
    "what": "changed",
    "itemKey": "catalog.acme.example/courses/101",
    "url": "https://catalog.acme.example/courses/101",
    "name": "Calculus",
    "fields": {"credits": ["3", "4"]},
}
_DIFF = {
    "old": _DATASET,
    "new": _DATASET,
    "counts": {"new": 2, "changed": 1, "gone": 0, "same": 981},
    "changes": [_CHANGE],
    "more": False,
}


_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "credits": {"type": "string"}},
    "required": ["name"],
}

ROUTES = (
    Route(
        "GET",
        "/api/datasets",
        listed,
        READ,
        example=[_DATASET],
        probe=True,
        page_by="id",
        name="list_datasets",
    ),
    Route("GET", "/api/datasets/{dataset}", shown, READ, example=_DATASET, name="get_dataset"),
    Route(
        "GET",
        "/api/datasets/{dataset}/items",
        items,
        READ,
        example=[ITEM],
        page_by="id",
        name="list_dataset_items",
    ),
    Route("GET", "/api/datasets/{dataset}/diff", compared, READ, example=_DIFF, name="compare_datasets"),
    Route("GET", "/api/datasets/{dataset}/schema", schema, READ, example=_SCHEMA, name="get_dataset_schema"),
    Route("GET", "/api/datasets/{dataset}/export", exported, READ, FILES, name="export_dataset"),
)
