"""Rows of an API that a stranger has written: what cannot be is left out and named, and nothing raises."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.adapters.adapter import ListingPage
from thresher.apps.prices.adapters.amounts import MAX_MINOR, read_amount
from thresher.apps.prices.adapters.catalogue import definitions
from thresher.apps.prices.adapters.definition import ListingApi, read_marketplace
from thresher.apps.prices.adapters.marketplace import read_listings
from thresher.apps.prices.model import Listing, PriceType
from thresher.core.clock import DAY, SECOND
from thresher.core.page import Page, Verdict

NOW = 1_772_442_000 * SECOND  # 2 March 2026
SOLD, ASK = definitions()["ebay"].lists
URL = f"{ASK.request.url}?q=x&limit=200"


def answer(*rows: Any, api: ListingApi = ASK, **more: Any) -> ListingPage:
    said = {"total": len(rows), api.answers[0].rows[0]: list(rows), **more}
    return read(json.dumps(said).encode(), api)


def read(body: bytes, api: ListingApi = ASK) -> ListingPage:
    page = Page(URL, URL, 200, {"content-type": "application/json"}, body, NOW)
    return read_listings(api, None, page)


def row(**more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "itemId": "v1|1|0",
        "title": "1881-S Morgan",
        "price": {"value": "45.00", "currency": "USD"},
        "itemWebUrl": "https://www.ebay.example/itm/1",
        "itemCreationDate": "2026-02-01T10:00:00.000Z",
        "condition": "Used",
    }
    return {name: value for name, value in (made | more).items() if value is not None}


def only(page: ListingPage) -> Listing:
    assert page.verdict is Verdict.FOUND, page.reason
    (found,) = page.listings
    return found


@pytest.mark.parametrize(
    ("value", "currency", "minor", "says"),
    [
        ("45.00", "USD", 4_500, ""),
        ("45", "usd", 4_500, ""),
        (45, "USD", 4_500, ""),
        (45.5, "USD", 4_550, ""),
        ("4500", "JPY", 4_500, ""),
        ("1.234", "KWD", 1_234, ""),
        ("1234.50", "EUR", 123_450, ""),
        ("1.234,50", "EUR", 123_450, ""),
        ("$45.00", "USD", 4_500, ""),
        ("$45.00", "EUR", None, "not certain"),
        ("£45.00", "USD", None, "said to be USD"),
        ("-45.00", "USD", None, "nothing costs that"),
        ("0", "USD", None, "nothing costs that"),
        (0, "USD", None, "nothing costs that"),
        ("1e9", "USD", None, "the price is"),
        (1e300, "USD", None, "the price is"),
        ("99999999999999", "USD", None, "no thing costs"),
        ("45.001", "USD", None, "more digits"),
        ("45.5", "JPY", None, "more digits"),
        ("45.00", "QQQ", None, "is not known"),
        ("45.00", "US$", None, "is not known"),
        ("45.00", "", None, "without a currency"),
        ("45.00", None, None, "without a currency"),
        ("٤٥", "USD", 4_500, ""),
        ("from 45.00", "USD", None, "bound"),
        ("call me", "USD", None, "the price is"),
        ("NaN", "USD", None, "the price is"),
        ("Infinity", "USD", None, "the price is"),
        ("", "USD", None, "is not said"),
        (None, "USD", None, "is not said"),
        (True, "USD", None, "is not said"),
        ({"value": "45"}, "USD", None, "is not said"),
        (["45.00", "46.00"], "USD", None, "it has 2 prices"),
        ("9" * 5_000, "USD", None, "the price is"),
    ],
)
def test_an_amount_is_exact_or_left_out_with_the_reason(
    value: Any, currency: str | None, minor: int | None, says: str
) -> None:
    found = only(answer(row(price={"value": value, "currency": currency})))
    assert (found.amount, found.currency) == (minor, None if minor is None else str(currency).upper())
    if minor is None:
        assert says in found.doubts[0]
        assert found.doubts[0].isprintable()
        assert len(found.doubts[0]) < 200
    else:
        assert not found.doubts


@given(
    st.text(max_size=60), st.one_of(st.none(), st.text(max_size=5), st.sampled_from(["USD", "EUR", "JPY"]))
)
def test_no_text_makes_an_amount_that_cannot_be(text: str, currency: str | None) -> None:
    found = read_amount(text, currency)
    assert (found.minor is None) == (found.currency is None) == (found.doubt is not None)
    assert found.minor is None or 0 < found.minor <= MAX_MINOR


def test_two_currencies_in_one_row_are_not_mixed() -> None:
    sending = [{"shippingCost": {"value": "5.00", "currency": "GBP"}}]
    found = only(answer(row(shippingOptions=sending)))
    assert (found.amount, found.shipping) == (4_500, None)
    assert found.doubts == ("shipping is in GBP, the price in USD",)


@pytest.mark.parametrize(
    ("value", "wanted"), [("0.00", 0), ("0", 0), ("4.95", 495), ("-1", None), ("free", None), (None, None)]
)
def test_sending_may_cost_nothing_and_never_less(value: str | None, wanted: int | None) -> None:
    sending = [{"shippingCost": {"value": value, "currency": "USD"}}]
    assert only(answer(row(shippingOptions=sending))).shipping == wanted


@pytest.mark.parametrize(("was", "wanted"), [("60.00", 6_000), ("45.00", None), ("1.00", None), ("-5", None)])
def test_a_struck_price_is_a_higher_one(was: str, wanted: int | None) -> None:
    found = only(answer(row(marketingPrice={"originalPrice": {"value": was, "currency": "USD"}})))
    assert (found.amount, found.was) == (4_500, wanted)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://www.ebay.example/itm/1?x=1#y", "https://www.ebay.example/itm/1?x=1#y"),
        ("/itm/1", "https://api.ebay.com/itm/1"),
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:alert(1)", None),
        ("data:text/html,<b>", None),
        ("file:///etc/passwd", None),
        ("https://x.example/" + "a" * 20_000, None),
        ("http://[bad", None),
        (7, "https://api.ebay.com/buy/browse/v1/item_summary/7"),
    ],
)
def test_only_web_addresses_are_kept(url: Any, wanted: str | None) -> None:
    found = only(answer(row(itemWebUrl=url)))
    assert found.url == wanted
    assert (wanted is None) == ("its address is no web address" in found.doubts)


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("  1881-S\n\tMorgan  ", "1881-S Morgan"),
        ("1881\u0000\u001b[31m Morgan\u202e\u200b", "1881 [31m Morgan"),
        ("<b>1881</b> &amp; <script>alert(1)</script>Morgan", "1881 & Morgan"),
        ("\ud83e Morgan", "\ufffd Morgan"),
        ("M" * 10_000, "M" * 300),
        (1881, "1881"),
    ],
)
def test_titles_are_one_line_without_markup_and_controls(title: Any, wanted: str) -> None:
    body = json.dumps({"total": 1, "itemSummaries": [row(title=title)]}).encode()
    assert only(read(body)).title == wanted


@pytest.mark.parametrize("title", [None, "", "   ", "\u0000", "---", {"a": 1}, True])
def test_a_row_without_a_title_is_no_listing_and_is_named(title: Any) -> None:
    page = answer(row(title=title), row())
    assert [each.title for each in page.listings] == ["1881-S Morgan"]
    assert page.notes == ("1 of 2 rows were left out; row 1 is no listing: it has no title",)


@pytest.mark.parametrize("bad", ["a text", 7, None, [], [1]])
def test_rows_that_are_no_objects_are_named(bad: Any) -> None:
    page = answer(row(), bad)
    assert len(page.listings) == 1 or page.verdict is Verdict.UNKNOWN
    if page.listings:
        assert "row 2 is no listing" in page.notes[0]


def test_an_answer_in_which_no_row_is_a_listing_proves_nothing() -> None:
    page = answer(row(title=""), row(title=None))
    assert (page.verdict, page.listings) == (Verdict.UNKNOWN, ())
    assert "none of 2 rows is a listing" in page.reason


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("v1|1|0", "v1|1|0"),
        ("<b>1</b>", "1"),
        ("a\nb\u0000", "a b"),
        ("x" * 201, None),
        ("", None),
        (17, "17"),
        ({}, None),
    ],
)
def test_ids_are_one_short_line(said: Any, wanted: str | None) -> None:
    assert only(answer(row(itemId=said))).external_id == wanted


@pytest.mark.parametrize(
    "day", ["2027-01-01", "some day", "13/13/2020", "2026", "0000-00-00", 10**30, "x" * 5_000]
)
def test_a_day_that_is_none_or_has_not_come_is_doubted(day: Any) -> None:
    found = only(answer(row(itemCreationDate=day)))
    assert found.listed_on is None
    assert "names no certain day" in found.doubts[0]


def test_five_thousand_rows_are_read_and_more_are_said_to_be_too_many() -> None:
    rows = [row(itemId=f"v1|{at}|0", title=f"Morgan {at}") for at in range(5_000)]
    assert len(answer(*rows).listings) == 5_000
    many = answer(*rows, row(itemId="last"))
    assert many.verdict is Verdict.UNKNOWN
    assert "5,001 rows" in many.reason


def test_a_listing_with_variants_is_kept_without_a_price() -> None:
    found = only(answer(row(itemGroupType="SELLER_DEFINED_VARIATIONS")))
    assert found.amount is None
    assert found.doubts == ("it has variants, and the price is that of one of them",)


def test_the_quote_is_the_text_and_its_place_leads_there() -> None:
    body = json.dumps(
        {"total": 2, "itemSummaries": [row(), row(itemId="b", price={"value": "7.25", "currency": "USD"})]}
    )
    found = read(body.encode()).listings[1]
    assert (found.quote, found.place) == ("7.25", "$.itemSummaries[1].price.value")


def test_the_day_of_a_sale_is_the_day_it_was_sold() -> None:
    sale = {
        "itemId": "v1|1|0",
        "title": "1881-S Morgan",
        "lastSoldPrice": {"value": "45.00", "currency": "USD"},
        "lastSoldDate": "2026-02-20T23:59:59.000Z",
        "bidCount": 4,
        "buyingOptions": ["AUCTION"],
    }
    found = only(answer(sale, api=SOLD))
    assert found.price_type is PriceType.SOLD
    assert str(found.listed_on) == "2026-02-20"
    assert found.aspects == {"bids": "4", "buying options": "AUCTION"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"itemSummaries": null}',
        b'{"itemSummaries": "x"}',
        b'{"itemSummaries": {}, "total": 3}',
        b'{"errors": [{"message": "no"}], "total": 0}',
        b'{"total": 0, "error": "no"}',
        b"[" * 100_000,
        b'{"a":' * 5_000,
        b"\xff\xfe\x00",
        b"<html><body>hello</body></html>",
        b'{"total": 3}',
        b'{"total": "many"}',
    ],
)
def test_what_is_no_answer_never_counts_as_empty(body: bytes) -> None:
    page = read(body)
    assert (page.verdict, page.listings) == (Verdict.UNKNOWN, ())
    assert page.reason.isprintable()


@pytest.mark.parametrize("body", [b'{"total": 0}', b'{"total": 0, "itemSummaries": []}', b'{"total": "0"}'])
def test_an_answer_that_counts_none_is_empty(body: bytes) -> None:
    assert read(body).verdict is Verdict.CONFIRMED_EMPTY


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/next",
        "http://api.ebay.com/next",
        "//evil.example",
        "https://api.ebay.com.evil.example/",
        "x" * 3_000,
    ],
)
def test_a_next_link_that_leads_elsewhere_is_not_followed(link: str) -> None:
    page = answer(row(), total=9, next=link)
    assert page.next is None
    assert page.verdict is Verdict.UNKNOWN


def test_the_type_of_a_price_may_stand_in_the_row() -> None:
    text = """
name: fair
text: {any: ["{name}"]}
lists:
  all:
    price: {path: state, sold: [SOLD, closed], ask: [live], bid: [wanted]}
    request: {url: https://fair.example/all, query: {q: "{text}"}}
    answer:
      rows: rows
      fields: {title: t, amount: a, currency: c, quantity: n, per: u}
      aspects: {maker: m}
      pairs: [{each: "specs[]", name: k, value: v}]
"""
    (api,) = read_marketplace(text, "fair.yaml").lists
    rows = [
        {
            "t": "a",
            "a": "1",
            "c": "USD",
            "state": "sold",
            "n": 3,
            "specs": [{"k": "Year", "v": 1881}, {"k": "", "v": 1}],
        },
        {"t": "b", "a": "1", "c": "USD", "state": "LIVE", "n": "many", "m": "Acme"},
        {"t": "c", "a": "1", "c": "USD", "state": "wanted", "n": -1},
        {"t": "d", "a": "1", "c": "USD", "state": "lost"},
        {"t": "e", "a": "1", "c": "USD"},
    ]
    url = "https://fair.example/all"
    page = read_listings(api, None, Page(url, url, 200, {}, json.dumps({"rows": rows}).encode(), NOW + DAY))
    assert [(each.title, each.price_type.value, each.quantity) for each in page.listings] == [
        ("a", "sold", 3),
        ("b", "ask", None),
        ("c", "bid", None),
    ]
    assert page.listings[0].aspects == {"year": "1881"}
    assert page.listings[1].aspects == {"maker": "Acme"}
    assert "2 of 5 rows were left out" in page.notes[0]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from([*row(), "shippingOptions", "marketingPrice", "itemGroupType"]), json_values
    )
)
def test_no_row_whatever_makes_the_reading_raise(said: dict[str, Any]) -> None:
    page = answer({**row(), **said}, row(itemId="good"))
    assert page.verdict in (Verdict.FOUND, Verdict.UNKNOWN)
    for each in page.listings:
        assert each.title.isprintable()
        assert (each.amount is None) == (each.currency is None)


def test_a_list_without_a_total_ends_where_no_next_link_is() -> None:
    api = replace(ASK, answers=(replace(ASK.answers[0], total=None),))
    assert answer(row(), api=api).next is None
