"""Products in the answers of marketplaces and shops: rows with a name and a price that has a currency."""

import json
from typing import Any

import pytest

from tests.reading.pages import look
from thresher.core.page import Verdict
from thresher.reading.inspect.inspection import as_json
from thresher.reading.inspect.report import PageKind
from thresher.reading.postings.priced_rows import products_in

# The three shapes of one marketplace: what is offered now, what was sold, and its older search.
BROWSE = {
    "href": "https://api.market.example/buy/browse/v1/item_summary/search?q=morgan&limit=2",
    "total": 4_211,
    "next": "https://api.market.example/buy/browse/v1/item_summary/search?q=morgan&offset=2",
    "limit": 2,
    "itemSummaries": [
        {
            "itemId": "v1|110001|0",
            "title": "1921-D Morgan Dollar PCGS MS65",
            "categories": [{"categoryId": "39464", "categoryName": "Morgan (1878-1921)"}],
            "price": {
                "value": "189.99",
                "currency": "USD",
                "convertedFromValue": "259.00",
                "convertedFromCurrency": "CAD",
            },
            "itemHref": "https://api.market.example/buy/browse/v1/item/v1%7C110001%7C0",
            "itemWebUrl": "https://www.market.example/itm/110001",
            "seller": {"username": "coins", "feedbackPercentage": "99.9", "feedbackScore": 31327},
            "marketingPrice": {
                "originalPrice": {"value": "220.00", "currency": "USD"},
                "discountPercentage": "13",
            },
            "condition": "Certified",
            "shippingOptions": [
                {"shippingCostType": "FIXED", "shippingCost": {"value": "5.00", "currency": "USD"}}
            ],
            "itemEndDate": "2026-11-20T18:00:00.000Z",
        },
        {
            "itemId": "v1|110002|0",
            "title": "1921-D Morgan Dollar",
            "currentBidPrice": {"value": "31", "currency": "USD"},
            "bidCount": 3,
            "buyingOptions": ["AUCTION"],
            "itemWebUrl": "https://www.market.example/itm/110002",
        },
    ],
}
INSIGHTS = {
    "total": 1,
    "itemSales": [
        {
            "itemId": "v1|220001|0",
            "title": "1921-D Morgan Dollar",
            "lastSoldDate": "2026-10-30T10:11:12.000Z",
            "lastSoldPrice": {"value": "45.50", "currency": "USD"},
            "totalSoldQuantity": 1,
            "itemWebUrl": "https://www.market.example/itm/220001",
        }
    ],
}
FINDING = {
    "findCompletedItemsResponse": [
        {
            "ack": ["Success"],
            "searchResult": [
                {
                    "@count": "2",
                    "item": [
                        {
                            "itemId": ["330001"],
                            "title": ["1921-D Morgan Dollar"],
                            "primaryCategory": [{"categoryId": ["39464"], "categoryName": ["Morgan"]}],
                            "viewItemURL": ["https://www.market.example/itm/330001"],
                            "shippingInfo": [
                                {"shippingServiceCost": [{"@currencyId": "USD", "__value__": "4.99"}]}
                            ],
                            "sellingStatus": [
                                {
                                    "currentPrice": [{"@currencyId": "GBP", "__value__": "31.0"}],
                                    "convertedCurrentPrice": [{"@currencyId": "USD", "__value__": "40.3"}],
                                    "sellingState": ["EndedWithSales"],
                                }
                            ],
                            "listingInfo": [{"endTime": ["2026-10-01T00:00:00.000Z"]}],
                        },
                        {
                            "itemId": ["330002"],
                            "title": ["1921-D Morgan Dollar BU"],
                            "viewItemURL": ["https://www.market.example/itm/330002"],
                            "sellingStatus": [
                                {"currentPrice": [{"@currencyId": "USD", "__value__": "52.0"}]}
                            ],
                        },
                    ],
                }
            ],
        }
    ]
}


def named(data: Any) -> list[tuple[str, int | None, str | None]]:
    """Name, amount and currency of each product."""
    return [
        (
            each.name,
            each.price.amount_minor if each.price else None,
            each.price.currency if each.price else None,
        )
        for each in products_in(data)
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (BROWSE, [("1921-D Morgan Dollar PCGS MS65", 18_999, "USD"), ("1921-D Morgan Dollar", 3_100, "USD")]),
        (INSIGHTS, [("1921-D Morgan Dollar", 4_550, "USD")]),
        (FINDING, [("1921-D Morgan Dollar", 3_100, "GBP"), ("1921-D Morgan Dollar BU", 5_200, "USD")]),
    ],
    ids=["offered", "sold", "older"],
)
def test_inspecting_an_answer_of_a_marketplace_shows_its_products(
    answer: dict[str, Any], expected: list[tuple[str, int, str]]
) -> None:
    seen = look(json.dumps(answer), kind="application/json")
    assert seen.look.verdict is Verdict.FOUND
    assert seen.kind is PageKind.LISTING
    shown = as_json(seen)["products"]
    assert [
        (each["name"], each["price"]["amount_minor"], each["price"]["currency"]) for each in shown
    ] == expected
    assert all(each["url"].startswith("https://www.market.example/itm/") for each in shown)
    # The quote of a price stands in the answer as it is.
    assert all(f'"{each["price"]["text"]}"' in json.dumps(answer) for each in shown)


@pytest.mark.parametrize(
    ("row", "price"),
    [
        ({"price": 9.5, "currency": "EUR"}, (950, "EUR")),
        ({"price": "9.50", "priceCurrency": "EUR"}, (950, "EUR")),
        ({"price": "9,50 €"}, (950, "EUR")),
        ({"price": {"amount": 259_532, "currency_code": "NOK"}}, (25_953_200, "NOK")),
        ({"price": {"centAmount": 1_999, "currencyCode": "EUR"}}, (1_999, "EUR")),
        ({"price_cents": 1_999, "currency": "USD"}, (1_999, "USD")),
        ({"price": 1_500, "currency": "JPY"}, (1_500, "JPY")),
        ({"price": "1.250", "currency": "KWD"}, (1_250, "KWD")),
        ({"offers": [{"price": "12.00", "priceCurrency": "USD"}]}, (1_200, "USD")),
        ({"salePrice": 8, "price": 10, "currency": "USD"}, (800, "USD")),
        (
            {"shippingPrice": 4, "listPrice": 20, "originalPrice": 20, "price": 10, "currency": "USD"},
            (1_000, "USD"),
        ),
        ({"BuyItNowPrice": {"_currencyID": "USD", "value": "20.76"}}, (2_076, "USD")),
        ({"price": 10}, None),  # of what currency?
        ({"price": 10, "currency": "points"}, None),
        ({"price": "1.250", "currency": "EUR"}, None),  # a thousand, or one and a quarter?
        ({"price": 0, "currency": "EUR"}, None),  # an unfilled field
        ({"price": -5, "currency": "EUR"}, None),
        ({"price": True, "currency": "EUR"}, None),
        ({"price": "call us", "currency": "EUR"}, None),
        ({"price": "10 - 20", "currency": "EUR"}, None),  # which of its variants?
        ({"price": "9" * 400, "currency": "EUR"}, None),
        ({"price": float("1e300"), "currency": "EUR"}, None),
        ({"shippingCost": {"value": "4.99", "currency": "EUR"}}, None),
        ({"originalPrice": {"value": "4.99", "currency": "EUR"}}, None),
        ({"was": "4.99 €"}, None),
    ],
    ids=str,
)
def test_a_price_has_a_currency_and_is_what_it_costs_now(
    row: dict[str, Any], price: tuple[int, str] | None
) -> None:
    expected = [("Lamp", *price)] if price else []
    assert named({"rows": [{"name": "Lamp", **row}]}) == expected
    assert named({"name": "Lamp", **row}) == expected


def test_an_answer_about_one_thing_is_its_detail() -> None:
    seen = look(json.dumps(BROWSE["itemSummaries"][0]), kind="application/json")  # type: ignore[index]
    assert (seen.kind, [each.name for each in seen.products]) == (
        PageKind.DETAIL,
        ["1921-D Morgan Dollar PCGS MS65"],
    )


def test_a_row_without_a_price_among_priced_ones_is_kept_without_one() -> None:
    rows = [
        {"name": "A", "price": "1.00 €"},
        {"name": "B", "price": "2.00 €"},
        {"name": "C", "available": False},
    ]
    assert named(rows) == [("A", 100, "EUR"), ("B", 200, "EUR"), ("C", None, None)]
    assert [each.availability for each in products_in(rows)] == [None, None, "out of stock"]


def test_rows_of_which_few_have_a_price_are_no_products() -> None:
    assert named([{"name": "A", "price": "1.00 €"}, {"name": "B"}, {"name": "C"}]) == []


def test_variants_inside_of_a_product_are_no_products_of_the_list() -> None:
    variants = [{"name": f"size {size}", "price": "3.00 €"} for size in range(5)]
    assert named({"items": [{"name": "Shoe", "price": "2.00 €", "variants": variants}]}) == [
        ("Shoe", 200, "EUR")
    ]


def test_categories_with_products_are_one_list() -> None:
    data = {
        "groups": [{"items": [{"name": "A", "price": "1 €"}]}, {"items": [{"name": "B", "price": "2 €"}]}]
    }
    assert named(data) == [("A", 100, "EUR"), ("B", 200, "EUR")]


def test_openings_are_no_products_even_with_a_price_beside_them() -> None:
    rows = [
        {
            "title": f"Engineer {at}",
            "company": "Acme",
            "location": "Oslo",
            "url": f"/jobs/{at}",
            "price": "5 €",
        }
        for at in range(6)
    ]
    seen = look(json.dumps({"jobs": rows}), kind="application/json")
    assert (len(seen.postings), seen.products) == (6, ())


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        [[[[]]]],
        [None, 1, "x"],
        {"rows": [{"name": {}, "price": []}]},
        {"name": "x", "price": {"value": {}}},
    ],
    ids=str,
)
def test_data_without_products_has_none(data: Any) -> None:
    assert products_in(data) == []


def test_data_that_is_nested_deeply_or_has_many_values_is_read_in_bounds() -> None:
    deep: Any = {"name": "Lamp", "price": "1 €"}
    for _ in range(3_000):
        deep = [deep]
    assert products_in(deep) == []
    wide = [{"name": f"Lamp {at}", "price": "1 €"} for at in range(20_000)]
    assert 1_000 <= len(products_in(wide)) <= 5_000
