"""Prices that a person knows, over HTTP: entered one by one, or as the text of a CSV file."""

from typing import Annotated, Any

from pydantic import StringConstraints

from thresher.admin.keys import WRITE
from thresher.apps.prices.http.answer import Camel, camel_answer
from thresher.apps.prices.http.items import ItemName
from thresher.apps.prices.service import manual
from thresher.core.errors import UsageError
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text, like

MAX_CSV = 10_000_000  # characters
MAX_ROWS = 1_000


class PriceEntered(RequestBody):
    """A price: as it is written, whether it was sold, asked or bid, and what was offered."""

    model_config = like(price="45.00", type="sold", date="2026-03-01")

    price: Text
    type: Text = "sold"
    currency: Text | None = None
    title: Text | None = None
    date: Text | None = None
    url: Text | None = None
    id: Text | None = None
    quantity: int | None = None
    condition: Text | None = None


class PricesEntered(RequestBody):
    """Prices of one item. All are entered, or with one that is wrong none; with `dryRun` none is."""

    model_config = like(prices=[{"price": "45.00", "type": "sold", "date": "2026-03-01"}], dryRun=True)

    prices: list[PriceEntered]
    source: Text | None = None
    dryRun: bool = False  # noqa: N815  as the API has it


class PointsFile(RequestBody):
    """A CSV file as text: title, price, currency, type, date, url. Rows that cannot be read are left out."""

    model_config = like(text="title,price,type,date\n1921-D Morgan,$45.00,sold,2026-03-01\n", dryRun=True)

    text: Annotated[str, StringConstraints(max_length=MAX_CSV)]
    source: Text | None = None
    dayFirst: bool | None = None  # noqa: N815
    dryRun: bool = False  # noqa: N815


async def enter(runtime: CurrentRuntime, item: ItemName, body: PricesEntered) -> Camel[manual.PointsAdded]:
    """Enter prices of an item that somebody knows. They are judged and count like those of any source."""
    if len(body.prices) > MAX_ROWS:
        raise UsageError(f"enter at most {MAX_ROWS:,} prices at once; send more as a file")
    rows = [
        {name: str(value) for name, value in each.model_dump().items() if value is not None}
        for each in body.prices
    ]
    return await camel_answer(
        runtime,
        lambda: manual.add_points(
            runtime.store, runtime.registry, item, rows, source=body.source, dry_run=body.dryRun
        ),
    )


async def import_(runtime: CurrentRuntime, item: ItemName, body: PointsFile) -> Camel[manual.PointsAdded]:
    """Import the prices of a CSV file for an item. Rows that cannot be read are named and left out."""
    return await camel_answer(
        runtime,
        lambda: manual.import_points(
            runtime.store,
            runtime.registry,
            item,
            body.text.encode("utf-8", "replace"),
            source=body.source,
            day_first=body.dayFirst,
            dry_run=body.dryRun,
        ),
    )


_ADDED: dict[str, Any] = {
    "item": "1921-D Morgan",
    "source": "manual",
    "points": [
        {
            "place": "row 1",
            "title": "1921-D Morgan",
            "price": "45.00 USD",
            "type": "sold",
            "date": "2026-03-01",
            "matchStrength": 1_000,
            "counts": True,
            "reason": "it is a replica",
        }
    ],
    "bad": ["line 3: price: 'soon' is no price"],
    "badRows": 1,
    "filed": {"price_points_new": 1},
    "dryRun": False,
}

ROUTES = (
    Route("POST", "/api/prices/items/{item:path}/points", enter, WRITE, example=_ADDED, name="add_points"),
    Route(
        "POST",
        "/api/prices/items/{item:path}/points/import",
        import_,
        WRITE,
        example=_ADDED,
        body_limit=2 * MAX_CSV,
        name="import_points",
    ),
)
