"""Items over HTTP: add, import, change, list, show, watch, archive them, and look for them now."""

from typing import Annotated, Any, TypedDict

from fastapi import Path, Query
from pydantic import StringConstraints

from thresher.admin.keys import READ, WRITE
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.http.examples import AT, ITEM
from thresher.apps.prices.item_file import read_item_sheet
from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service import items, refresh
from thresher.apps.prices.service.alerts import AlertView, add_alerts
from thresher.apps.prices.service.items import checked_status
from thresher.apps.prices.store.overview import ItemFilter
from thresher.core.errors import UsageError
from thresher.web.route import AfterId, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text, like

MAX_CSV = 5_000_000  # characters
NAME = "rows.csv"  # what the lines of a file that was sent are called in messages


ItemName = Annotated[str, Path(description="Name or id of the item.")]


class ItemSaid(RequestBody):
    """What is said of an item. What is not named stays as it is; an empty attribute is taken away. `refresh`
    is a duration such as 12h or 7d, or auto.
    """

    model_config = like(attributes={"grade": "MS63"}, refresh="12h")

    kind: Text | None = None
    attributes: dict[str, Any] = {}
    include: list[Text] | None = None
    exclude: list[Text] | None = None
    currency: Text | None = None
    urls: list[Text] | None = None
    sources: list[Text] | None = None
    refresh: Text | None = None


class ItemAsked(ItemSaid):
    """An item: its name, its kind with attributes, words that listings must or must not have, and the
    currency of its value.
    """

    model_config = like(
        name="1921-D Morgan",
        kind="coin",
        attributes={"denomination": "dollar", "year": "1921", "mintmark": "D"},
        exclude=["replica"],
        currency="USD",
    )

    name: Text


class ItemFile(RequestBody):
    """A file of items as text: CSV, or one JSON object a line. All lines are added, or none; with `skipBad`
    those that cannot be used are left out.
    """

    model_config = like(text="name,kind,denomination,year\n1921-D Morgan,coin,dollar,1921\n")

    text: Annotated[str, StringConstraints(max_length=MAX_CSV)]
    skipBad: bool = False  # noqa: N815  as the API has it
    ignoreUnknownColumns: bool = False  # noqa: N815


class WatchAsked(RequestBody):
    """What to watch for: how often the item is looked for (12h, auto), and when somebody is told: below or
    above an amount in the item's currency, or a change in percent.
    """

    model_config = like(every="12h", below="40.00", change="10%")

    every: Text | None = None
    below: Text | None = None
    above: Text | None = None
    change: Text | None = None


class CollectAsked(RequestBody):
    """Which items are looked for at which sources; none named: all. With `dryRun` nothing is asked."""

    model_config = like(items=["1921-D Morgan"], dryRun=True)

    items: list[Text] = []
    sources: list[Text] = []
    dryRun: bool = False  # noqa: N815


class Watched(TypedDict):
    """An item, and the alerts that were added."""

    item: items.ItemView
    alerts: list[AlertView]


async def listed(
    runtime: CurrentRuntime,
    status: Annotated[str | None, Query(description=f"Only items that are {', '.join(ItemStatus)}.")] = None,
    kind: Annotated[str | None, Query(description="Only items of this kind.")] = None,
    name: Annotated[str | None, Query(description="Only items with this text in their name.")] = None,
    archived: Annotated[bool, Query(description="Show archived items too.")] = False,
    after: AfterId = 0,
    limit: Limit = 100,
) -> Camel[list[items.ItemView]]:
    """List items by id: what each is worth, how sure that is, and when it was last looked for."""
    wanted = ItemFilter(checked_status(status), kind, name, archived)
    return await camel_answer(
        runtime, lambda: items.list_views(runtime.store, wanted, after=after, limit=limit)
    )


async def kinds_(runtime: CurrentRuntime) -> Camel[list[items.KindView]]:
    """List the kinds of items and their attributes."""
    return await camel_answer(runtime, items.list_kinds)


async def add(runtime: CurrentRuntime, body: ItemAsked) -> Camel[items.ItemChanged]:
    """Add an item and look for it. One that is known takes all that is said now and keeps its prices."""
    said = _said(body)
    return await camel_answer(
        runtime, lambda: items.add_item(runtime.store, runtime.registry, body.name, said)
    )


async def import_(runtime: CurrentRuntime, body: ItemFile) -> Camel[items.ItemsImported]:
    """Add the items of a file, all or none. The columns are name, kind, currency, include, exclude, urls,
    sources, refresh, and one for each attribute.
    """

    def work() -> items.ItemsImported:
        sheet = read_item_sheet(body.text, NAME, ignore_unknown=body.ignoreUnknownColumns)
        if not body.skipBad:
            sheet.whole(NAME)
        return items.import_items(
            runtime.store,
            runtime.registry,
            sheet.wishes,
            skipped=len(sheet.slips),
            ignored=sheet.ignored,
        )

    return await camel_answer(runtime, work)


async def shown(runtime: CurrentRuntime, item: ItemName) -> Camel[items.ItemDetail]:
    """Show one item, by name or id: what it is worth, how its collections stand, and what it waits for."""
    return await camel_answer(runtime, lambda: items.show_item(runtime.store, item))


async def change(runtime: CurrentRuntime, item: ItemName, body: ItemSaid) -> Camel[items.ItemChanged]:
    """Change an item; what is not named stays."""
    said = _said(body)
    attributes = said.pop("attributes", {})
    return await camel_answer(
        runtime,
        lambda: items.change_item(runtime.store, runtime.registry, item, said, attributes=attributes),
    )


def _said(body: ItemSaid) -> dict[str, Any]:
    """What was named, and nothing else."""
    return body.model_dump(exclude_unset=True, exclude_none=True, exclude={"name"})


async def watch(runtime: CurrentRuntime, item: ItemName, body: WatchAsked) -> Camel[Watched]:
    """Look for an item this often, or have somebody told when its value passes a threshold."""
    if body.every is None and body.below is None and body.above is None and body.change is None:
        raise UsageError("say what to watch for: every, below, above or change")

    def work() -> Watched:
        made = add_alerts(runtime.store, item, below=body.below, above=body.above, change=body.change)
        if body.every is not None:
            return {"item": items.watch_item(runtime.store, item, body.every), "alerts": made}
        return {"item": items.show_item(runtime.store, item).item, "alerts": made}

    return await camel_answer(runtime, work)


async def archive(runtime: CurrentRuntime, item: ItemName) -> Camel[items.ItemView]:
    """Look for an item no more. What is known of it is kept."""
    return await camel_answer(runtime, lambda: items.archive_item(runtime.store, item))


async def unarchive(runtime: CurrentRuntime, item: ItemName) -> Camel[items.ItemChanged]:
    """Look for an archived item again."""
    return await camel_answer(runtime, lambda: items.unarchive_item(runtime.store, runtime.registry, item))


async def collect(runtime: CurrentRuntime, body: CollectAsked) -> Camel[refresh.Collected]:
    """Look for items now. Each source is asked in its turn; a paused one waits. The answer says what is
    asked, and what is not and why.
    """
    return await camel_answer(
        runtime,
        lambda: refresh.collect_now(
            runtime.store, runtime.registry, body.items, body.sources, dry_run=body.dryRun
        ),
    )


_COLLECTION = {
    "source": "ebay-us",
    "adapter": "marketplace",
    "verdict": "found",
    "reason": "40 listings",
    "listings": 40,
    "counted": 21,
    "changes": 2,
    "complete": True,
    "fromCache": False,
    "failures": 0,
    "endedAt": AT,
    "lastSuccessAt": AT,
    "dueAt": AT,
    "task": 41,
    "state": "pending",
    "waits": "source ebay-us is paused until 2026-03-02T10:20:00.000Z: 429 Too Many Requests",
}
_DETAIL = {
    "item": ITEM,
    "points": {"counted": 21, "leftOut": 19, "ended": 3},
    "collections": [_COLLECTION],
    "waits": ["ebay-us: task 41 waits for a worker: thresher run, or thresher worker"],
}
_CHANGED = {"item": ITEM, "new": True, "changed": True, "collections": 2}
_IMPORTED = {"new": 10, "changed": 2, "unchanged": 1, "collections": 24, "skipped": 0, "ignored": ["colour"]}
_KIND = {
    "name": "coin",
    "title": "Coin",
    "attributes": [
        {
            "name": "year",
            "title": "Year",
            "help": "Year on the coin.",
            "required": True,
            "takes": "text",
        }
    ],
}
_COLLECTED = {
    "added": 1,
    "already": 0,
    "notAsked": 1,
    "dryRun": False,
    "plans": [
        {"item": "1921-D Morgan", "source": "ebay-us", "asked": True, "why": "it is under way", "task": 41}
    ],
}
ALERT: dict[str, Any] = {
    "id": 3,
    "item": "1921-D Morgan",
    "itemId": 7,
    "kind": "below",
    "amount": {"minor": 4_000, "currency": "USD", "amount": "40.00"},
    "percent": 10.0,
    "basis": {"minor": 4_500, "currency": "USD", "amount": "45.00"},
    "armed": True,
    "times": 1,
    "firedAt": AT,
    "toldAt": AT,
    "told": "1921-D Morgan fell to 39.00 USD",
    "createdAt": AT,
    "says": "1921-D Morgan falls below 40.00 USD",
}

ROUTES = (
    Route(
        "GET", "/api/prices/items", listed, READ, example=[ITEM], probe=True, page_by="id", name="list_items"
    ),
    Route("POST", "/api/prices/items", add, WRITE, example=_CHANGED, name="add_item"),
    Route(
        "POST",
        "/api/prices/import",
        import_,
        WRITE,
        example=_IMPORTED,
        body_limit=2 * MAX_CSV,
        name="import_items",
    ),
    Route("GET", "/api/prices/kinds", kinds_, READ, example=[_KIND], name="list_item_kinds"),
    Route("POST", "/api/prices/collect", collect, WRITE, example=_COLLECTED, name="collect_prices"),
    Route(
        "POST",
        "/api/prices/items/{item:path}/watch",
        watch,
        WRITE,
        example={"item": ITEM, "alerts": [ALERT]},
        name="watch_item",
    ),
    Route("POST", "/api/prices/items/{item:path}/archive", archive, WRITE, example=ITEM, name="archive_item"),
    Route(
        "POST",
        "/api/prices/items/{item:path}/unarchive",
        unarchive,
        WRITE,
        example=_CHANGED,
        name="unarchive_item",
    ),
    Route("PATCH", "/api/prices/items/{item:path}", change, WRITE, example=_CHANGED, name="change_item"),
)
# After the routes of prices.py: a path that goes on is not the name of an item.
LAST_ROUTES = (Route("GET", "/api/prices/items/{item:path}", shown, READ, example=_DETAIL, name="get_item"),)
