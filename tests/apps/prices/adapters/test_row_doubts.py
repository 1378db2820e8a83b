"""Rows of an answer as listings: an amount of which nobody can tell what it buys is not believed."""

from importlib.resources import files

import orjson
import pytest

from thresher.apps.prices.adapters.definition import read_marketplace
from thresher.apps.prices.adapters.marketplace import read_listings
from thresher.apps.prices.model import PriceType
from thresher.core.page import Page, Via

ADDRESS = "https://api.ebay.com/buy/browse/v1/item_summary/search"
SHIPPED = files("thresher.apps.prices.adapters").joinpath("ebay.yaml").read_text(encoding="utf-8")
# The shipped definition, for a marketplace that also says how many and up to which price.
TOLD = SHIPPED.replace(
    "        title: title\n", "        title: title\n        quantity: lotSize\n        high: top\n"
)
ROW = {
    "itemId": "v1|7|0",
    "title": "1921-D Morgan Dollar",
    "price": {"value": "60.00", "currency": "USD"},
    "itemCreationDate": "2026-01-02T03:04:05.000Z",
}


@pytest.mark.parametrize(
    ("said", "amount", "quantity", "doubt"),
    [
        ({}, 6_000, None, None),
        ({"lotSize": 5}, 6_000, 5, None),
        ({"lotSize": "several"}, None, None, "its quantity is 'several', which is no number of things"),
        ({"top": "more"}, None, None, "the field high is 'more': no amount in it"),
        ({"itemCreationDate": "soon"}, 6_000, None, "its date is 'soon', which names no certain day"),
    ],
)
def test_an_amount_is_doubted_with_what_it_is_for_and_not_with_other_fields(
    said: dict[str, object], amount: int | None, quantity: int | None, doubt: str | None
) -> None:
    api = next(
        each for each in read_marketplace(TOLD, "ebay.yaml").lists if each.price.fixed is PriceType.ASK
    )
    body = orjson.dumps({"total": 1, "itemSummaries": [ROW | said]})
    page = Page(ADDRESS, ADDRESS, 200, {"content-type": "application/json"}, body, via=Via.FILE)
    (found,) = read_listings(api, None, page).listings
    assert (found.amount, found.quantity) == (amount, quantity)
    assert found.doubts == (() if doubt is None else (doubt,))
