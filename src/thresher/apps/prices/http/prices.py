"""Price points, valuations and alerts over HTTP."""

from typing import Annotated, Any

from fastapi import Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.http.examples import AT, ITEM, POINT, usd
from thresher.apps.prices.http.items import ALERT, LAST_ROUTES, ItemName
from thresher.apps.prices.model import PriceType
from thresher.apps.prices.service import alerts, prices
from thresher.apps.prices.service.prices import PointFilter, checked_price_type
from thresher.web.route import MAX_ID, AfterId, CurrentRuntime, Limit, Route

Id = Annotated[int, Path(ge=1, le=MAX_ID, description="Id of the point or alert.")]


async def points(
    runtime: CurrentRuntime,
    item: ItemName,
    counts: Annotated[
        bool | None, Query(description="Only points that count, or only those that do not.")
    ] = None,
    price_type: Annotated[
        str | None, Query(alias="type", description=f"Only points that are {', '.join(PriceType)}.")
    ] = None,
    source: Annotated[str | None, Query(description="Only points of this source.")] = None,
    ended: Annotated[bool, Query(description="Show asks that have ended too.")] = True,
    after: AfterId = 0,
    limit: Limit = 100,
) -> Camel[list[prices.PointView]]:
    """List the price points of an item by id, and why those that do not count do not."""
    wanted = PointFilter(counts, checked_price_type(price_type), source, ended)
    return await camel_answer(
        runtime, lambda: prices.list_points(runtime.store, item, wanted, after=after, limit=limit)
    )


async def point(runtime: CurrentRuntime, item: ItemName, point: Id) -> Camel[prices.PointEvidenceView]:
    """Show one price point with its evidence: the quote, its place, what matched, and the stored answer."""
    return await camel_answer(runtime, lambda: prices.show_point(runtime.store, item, point))


async def explanation(runtime: CurrentRuntime, item: ItemName) -> Camel[prices.PriceExplanation]:
    """Explain what an item is worth: in words, with every price that counts and every one that does not."""
    return await camel_answer(runtime, lambda: prices.explain_item(runtime.store, item))


async def history(runtime: CurrentRuntime, item: ItemName, limit: Limit = 200) -> Camel[prices.PriceHistory]:
    """Show how the value of an item and the prices of its points have moved, newest first."""
    return await camel_answer(runtime, lambda: prices.show_history(runtime.store, item, limit))


async def listed_alerts(
    runtime: CurrentRuntime,
    item: Annotated[str | None, Query(description="Only alerts of this item.")] = None,
    after: AfterId = 0,
    limit: Limit = 100,
) -> Camel[list[alerts.AlertView]]:
    """List alerts by id: what is told, and when it was told last."""
    return await camel_answer(
        runtime, lambda: alerts.list_alerts(runtime.store, item, after=after, limit=limit)
    )


async def remove_alert(runtime: CurrentRuntime, alert: Id) -> Camel[alerts.AlertView]:
    """Remove an alert."""
    return await camel_answer(runtime, lambda: alerts.remove_alerts(runtime.store, [alert])[0])


_EVIDENCE: dict[str, Any] = {
    "point": POINT,
    "quote": "$45.00",
    "place": "itemSummaries[0].price",
    "signals": [{"name": "year", "wanted": "1921", "verdict": "matches", "weight": 300, "quote": "1921-D"}],
    "doubts": ["the currency sign is used in several countries"],
    "shipping": usd(500),
    "was": usd(6_000),
    "high": usd(7_000),
    "body": "9f…",
}
_EXPLANATION = {
    "item": ITEM,
    "explanation": "It is worth about 45.00 USD: 15 of 21 prices were paid.",
    "confidence": [{"name": "comps", "points": 3.0, "because": "21 prices count"}],
    "leftOut": {"it is a lot": 4},
    "counted": [_EVIDENCE],
    "notCounted": [_EVIDENCE],
    "shownAll": True,
}
_PAST = {
    "computedAt": AT,
    "currency": "USD",
    "p10": usd(3_500),
    "p20": usd(3_900),
    "median": usd(4_500),
    "p80": usd(5_600),
    "p90": usd(6_200),
    "confidence": 8,
    "compCount": 21,
}
_OBSERVATION = {"pointId": 31, "observedAt": AT, "what": "changed", "price": usd(4_400), "priceType": "ask"}


ROUTES = (
    Route(
        "GET",
        "/api/prices/items/{item:path}/points",
        points,
        READ,
        example=[POINT],
        page_by="id",
        name="list_points",
    ),
    Route(
        "GET",
        "/api/prices/items/{item:path}/points/{point}",
        point,
        READ,
        example=_EVIDENCE,
        name="get_point",
    ),
    Route(
        "GET",
        "/api/prices/items/{item:path}/explanation",
        explanation,
        READ,
        example=_EXPLANATION,
        name="explain_item",
    ),
    Route(
        "GET",
        "/api/prices/items/{item:path}/history",
        history,
        READ,
        example={"item": ITEM, "values": [_PAST], "observations": [_OBSERVATION]},
        name="get_item_history",
    ),
    *LAST_ROUTES,
    Route(
        "GET",
        "/api/prices/alerts",
        listed_alerts,
        READ,
        example=[ALERT],
        probe=True,
        page_by="id",
        name="list_alerts",
    ),
    Route("DELETE", "/api/prices/alerts/{alert}", remove_alert, WRITE, example=ALERT, name="remove_alert"),
)
