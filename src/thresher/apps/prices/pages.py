"""The pages of the prices app: what items are worth and why, their sources, and how collecting goes."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import Response

from thresher.admin.keys import ADMIN
from thresher.apps.prices.charts.svg import svg
from thresher.apps.prices.kinds import kinds
from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service import items, monitoring, prices, refresh, sources
from thresher.apps.prices.service.alerts import add_alerts, list_alerts, remove_alerts
from thresher.apps.prices.service.charts import item_chart
from thresher.apps.prices.service.items import checked_status
from thresher.apps.prices.service.sources import change_source
from thresher.apps.prices.store.monitoring import MAX_LOOKED_AT
from thresher.apps.prices.store.overview import ItemFilter
from thresher.core.errors import ThresherError, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

ITEMS = 100
POINTS = 50  # of those that count, and of those that do not
HISTORY = 20
FIELDS = ("name", "kind", "attributes", "include", "exclude", "currency", "urls")
ALERT_FIELDS = ("below", "above", "change")


def item_list(page_request: PageRequest) -> Response:
    """Show the items with what they are worth, and the form to add one."""
    return _items(page_request)


def _items(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, query = page_request.runtime.store, page_request.request.query_params
    status, text = query.get("status") or None, (query.get("text") or "").strip() or None
    wanted = ItemFilter(checked_status(status), text=text, archived=status == ItemStatus.ARCHIVED)
    after = _number(query.get("after") or "0", "after")
    found = items.list_views(store, wanted, after=after, limit=ITEMS + 1)
    problem = of_error(error) if error else None
    return page_request.show(
        "prices/items.html",
        problem.status if problem else 200,
        items=found[:ITEMS],
        more=found[ITEMS - 1].id if len(found) > ITEMS else None,
        counts=items.count_by_status(store),
        statuses=tuple(ItemStatus),
        chosen=status,
        text=text or "",
        kinds=kinds().values(),
        problem=problem,
        filled={name: page_request.form.one(name) for name in FIELDS},
    )


def _number(text: str, name: str) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise UsageError(f"{name}: must be a whole number, got {text[:40]!r}")
    return int(text)


def add(page_request: PageRequest) -> Response:
    """Add an item. If something is wrong, show the form again as it was filled in."""
    form, runtime = page_request.form, page_request.runtime
    try:
        said: dict[str, Any] = {
            "kind": form.one("kind"),
            "attributes": dict(_pairs(form.one("attributes"))),
            "include": _lines(form.one("include")),
            "exclude": _lines(form.one("exclude")),
            "urls": _lines(form.one("urls")),
        }
        if currency := form.one("currency").strip():
            said["currency"] = currency
        found = items.add_item(runtime.store, runtime.registry, form.one("name"), said)
    except UsageError as error:
        return _items(page_request, error)
    return page_request.go(f"/prices/{found.item.id}")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in _lines(text):
        name, sign, value = line.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"attributes: {line[:80]!r} has no value; write one NAME=VALUE a line")
        yield name.strip(), value.strip()


def item_page(page_request: PageRequest) -> Response:
    """Show one item: its value and why, its chart, its evidence, and where it is looked for."""
    return _item(page_request)


def _item(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, name = page_request.runtime.store, _item_of(page_request)
    explained, drawing = prices.explain_item(store, name), item_chart(store, name)
    problem = of_error(error) if error else None
    return page_request.show(
        "prices/item.html",
        problem.status if problem else 200,
        detail=items.show_item(store, name),
        explained=explained,
        chart=Markup(svg(drawing)) if drawing else None,  # noqa: S704  every text in it is escaped there
        history=prices.show_history(store, name, HISTORY),
        alerts=list_alerts(store, name),
        most=POINTS,
        problem=problem,
        filled={field: page_request.form.one(field) for field in (*ALERT_FIELDS, "every")},
    )


def _item_of(page_request: PageRequest) -> str:
    """Items are named by their number in addresses: their names are anybody's."""
    return str(_number(page_request.request.path_params["item"], "the number of an item"))


def point_page(page_request: PageRequest) -> Response:
    """Show one price point with the words it was read from, and what matched."""
    number = _number(page_request.request.path_params["point"], "the number of a price point")
    store, name = page_request.runtime.store, _item_of(page_request)
    return page_request.show(
        "prices/point.html",
        detail=items.show_item(store, name).item,
        found=prices.show_point(store, name, number),
    )


def change(page_request: PageRequest) -> Response:
    """Look for an item now, archive it, or bring it back."""
    runtime, name = page_request.runtime, _item_of(page_request)
    match page_request.request.path_params["change"]:
        case "collect":
            return _changed(
                page_request, lambda: refresh.collect_now(runtime.store, runtime.registry, (name,))
            )
        case "archive":
            return _changed(page_request, lambda: items.archive_item(runtime.store, name))
        case "unarchive":
            return _changed(page_request, lambda: items.unarchive_item(runtime.store, runtime.registry, name))
        case "watch":
            every = page_request.form.one("every")
            return _changed(page_request, lambda: items.watch_item(runtime.store, name, every))
        case "alerts":
            return _changed(page_request, lambda: _add_alerts(page_request, name))
        case "forget":
            number = _number(page_request.form.one("alert"), "alert")
            return _changed(page_request, lambda: remove_alerts(runtime.store, [number]))
        case other:
            raise UsageError(f"{other[:40]!r} is no change of an item")


def _add_alerts(page_request: PageRequest, name: str) -> None:
    said = {field: page_request.form.one(field).strip() or None for field in ALERT_FIELDS}
    if not any(said.values()):
        raise UsageError("write when you want to be told: an amount below or above, or a change in percent")
    add_alerts(page_request.runtime.store, name, **said)


def _changed(page_request: PageRequest, work: Callable[[], object]) -> Response:
    """Do it and show the item; if it is refused, say why on the same page."""
    try:
        work()
    except UsageError as error:
        return _item(page_request, error)
    return page_request.go(f"/prices/{_item_of(page_request)}")


def source_list(page_request: PageRequest) -> Response:
    """Show the price sources: how they stand, and what they are worth."""
    return page_request.show("prices/sources.html", sources=sources.list_views(page_request.runtime.store))


def source_page(page_request: PageRequest) -> Response:
    """Show one source: how it stands, its rules, and the form to change how much it counts."""
    return _source(page_request)


def _source(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    found = sources.show_source(page_request.runtime.store, page_request.request.path_params["source"])
    problem = of_error(error) if error else None
    cache = "" if found.cache_seconds is None else str(found.cache_seconds)
    said = {"tier": str(found.tier), "reputation": str(found.reputation), "cache_seconds": cache}
    return page_request.show(
        "prices/source.html",
        problem.status if problem else 200,
        source=found,
        problem=problem,
        filled={name: page_request.form.one(name) for name in said} if error else said,
    )


def change_of_source(page_request: PageRequest) -> Response:
    """Change how much a source counts, and for how long its answers are used again."""
    form, name = page_request.form, page_request.request.path_params["source"]
    try:
        said: dict[str, Any] = {
            "tier": _number(form.one("tier").strip(), "tier"),
            "reputation": _share(form.one("reputation").strip()),
        }
        cache = form.one("cache_seconds").strip()
        said["cache_seconds"] = _number(cache, "cache_seconds") if cache else None
        runtime = page_request.runtime
        change_source(runtime.store, runtime.registry, name, said)
    except UsageError as error:
        return _source(page_request, error)
    return page_request.go(f"/price-sources/{quote(name, safe='')}")


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"reputation: must be a number from 0 to 1, got {text[:40]!r}") from None


def collections(page_request: PageRequest) -> Response:
    """Show how collecting goes: the newest tasks, tasks by worker, stuck ones, and duplicate points."""
    return page_request.show(
        "prices/collections.html",
        found=monitoring.read_monitoring(page_request.runtime.store),
        most=MAX_LOOKED_AT,
    )


PAGES = (
    DashboardPage("GET", "/prices", item_list, "Prices", asks=frozenset(("status", "text", "after"))),
    DashboardPage("POST", "/prices", add),
    DashboardPage("GET", "/prices/{item}", item_page),
    DashboardPage("GET", "/prices/{item}/points/{point}", point_page),
    DashboardPage("POST", "/prices/{item}/{change}", change),
    DashboardPage("GET", "/price-sources", source_list, "Price sources"),
    DashboardPage("GET", "/price-sources/{source}", source_page),
    DashboardPage("POST", "/price-sources/{source}", change_of_source, scope=ADMIN),
    DashboardPage("GET", "/price-collections", collections, "Collections"),
)
