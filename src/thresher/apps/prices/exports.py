"""What can be exported of the prices app: items with their values, price points with their evidence, every
price that they have had, and every value.
"""

from collections.abc import Iterator
from typing import Any

from thresher.admin.plain import jsonable
from thresher.apps.prices.amounts import Money
from thresher.apps.prices.model import ItemStatus, PriceType
from thresher.apps.prices.service import items, prices
from thresher.apps.prices.service.items import ItemView
from thresher.apps.prices.service.prices import PointEvidenceView
from thresher.apps.prices.store.overview import ItemFilter
from thresher.core.extension import Export
from thresher.store.store import Store

PORTION = 500
MAX_HISTORY = 100_000  # rows of one item
_BANDS = ("median", "quick_sale", "fair_low", "fair_high", "premium", "p10", "p90", "mean")
_COUNTS = ("confidence", "comp_count", "sold_count", "ask_count", "source_count", "computed_at")


def _every_item(store: Store, status: str | None = None) -> Iterator[ItemView]:
    """All items, archived ones too."""
    wanted = ItemFilter(items.checked_status(status), archived=True)
    after = 0
    while found := items.list_views(store, wanted, after=after, limit=PORTION):
        yield from found
        after = found[-1].id


def _prices(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    """Items as rows: amounts as decimal numbers in the currency beside them. A file of these rows can be
    imported again.
    """
    for each in _every_item(store, status):
        value = each.value
        yield {
            **_flat(each),
            **{name: _decimal(getattr(value, name)) if value else None for name in _BANDS},
            **{name: getattr(value, name) if value else None for name in _COUNTS},
        }


def _flat(item: ItemView) -> dict[str, Any]:
    every = f"{item.refresh_seconds}s" if item.refresh_seconds else "auto"
    return {
        **item.attributes,
        "id": item.id,
        "name": item.name,
        "kind": item.kind,
        "status": item.status,
        "currency": item.currency,
        "attributes": "; ".join(f"{name}={value}" for name, value in item.attributes.items()),
        "include": list(item.include),
        "exclude": list(item.exclude),
        "urls": list(item.urls),
        "sources": list(item.sources),
        "refresh": every,
        "collected_at": item.collected_at,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "archived_at": item.archived_at,
        "declared_in": item.declared_in,
    }


def _decimal(amount: Money | None) -> str | None:
    return None if amount is None else amount.amount


def _whole_prices(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    return (jsonable(each) for each in _every_item(store, status))


def _points(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    for item, each in _every_point(store, status):
        point = each.point
        signals = [f"{signal.name} {signal.verdict}" for signal in each.signals]
        yield {
            **jsonable(point),
            "item_id": item.id,
            "item": item.name,
            "price": point.price.amount,
            "unit": point.unit.amount,
            "currency": point.price.currency,
            "listing_date": point.listing_date,
            "quote": each.quote,
            "place": each.place,
            "matched": signals,
            "doubts": list(each.doubts),
            "shipping": _decimal(each.shipping),
            "was": _decimal(each.was),
            "high": _decimal(each.high),
            "body": each.body,
        }


def _whole_points(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    for item, each in _every_point(store, status):
        yield {"item_id": item.id, "item": item.name, **jsonable(each)}


def _every_point(store: Store, status: str | None) -> Iterator[tuple[ItemView, PointEvidenceView]]:
    """All price points; `status` is sold, ask or bid."""
    wanted = prices.PointFilter(price_type=prices.checked_price_type(status))
    for item in _every_item(store):
        after = 0
        while found := prices.list_evidence(store, item.id, wanted, after=after, limit=PORTION):
            yield from ((item, each) for each in found)
            after = found[-1].point.id


def _observations(store: Store, _: str | None) -> Iterator[dict[str, Any]]:
    for item in _every_item(store):
        for each in prices.show_history(store, str(item.id), MAX_HISTORY).observations:
            yield {
                "item_id": item.id,
                "item": item.name,
                "point_id": each.point_id,
                "observed_at": each.observed_at,
                "what": each.what,
                "price": each.price.amount,
                "currency": each.price.currency,
                "price_type": each.price_type,
            }


def _valuations(store: Store, _: str | None) -> Iterator[dict[str, Any]]:
    """Every value that items have had, the newest of each first."""
    for item in _every_item(store):
        for each in prices.show_history(store, str(item.id), MAX_HISTORY).values:
            bands = {name: _decimal(getattr(each, name)) for name in ("p10", "p20", "median", "p80", "p90")}
            yield {
                "item_id": item.id,
                "item": item.name,
                "computed_at": each.computed_at,
                "currency": each.currency,
                **bands,
                "confidence": each.confidence,
                "comp_count": each.comp_count,
            }


PRICES = Export(
    _prices,
    (
        "id",
        "name",
        "kind",
        "status",
        "currency",
        *_BANDS,
        *_COUNTS,
        "attributes",
        "include",
        "exclude",
        "urls",
        "sources",
        "refresh",
        "collected_at",
        "created_at",
        "updated_at",
        "archived_at",
        "declared_in",
    ),
    tuple(ItemStatus),
    lines=_whole_prices,
    separator="; ",
)
POINTS = Export(
    _points,
    (
        "id",
        "item_id",
        "item",
        "source",
        "price_type",
        "price",
        "unit",
        "quantity",
        "currency",
        "match_strength",
        "counts",
        "reason",
        "title",
        "url",
        "external_id",
        "condition",
        "grade",
        "listing_date",
        "first_seen_at",
        "observed_at",
        "ended_at",
        "quote",
        "place",
        "matched",
        "doubts",
        "shipping",
        "was",
        "high",
        "body",
    ),
    tuple(PriceType),
    lines=_whole_points,
    separator="; ",
)
OBSERVATIONS = Export(
    _observations,
    ("item_id", "item", "point_id", "observed_at", "what", "price", "currency", "price_type"),
)
VALUATIONS = Export(
    _valuations,
    (
        "item_id",
        "item",
        "computed_at",
        "currency",
        "p10",
        "p20",
        "median",
        "p80",
        "p90",
        "confidence",
        "comp_count",
    ),
)
EXPORTS = {
    "prices": PRICES,
    "price-points": POINTS,
    "price-observations": OBSERVATIONS,
    "valuations": VALUATIONS,
}
