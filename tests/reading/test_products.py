"""Products: the one a page is about, the rows of a list, and never what the shop would like to sell
besides."""

import json

import pytest

from tests.reading.pages import look
from thresher.reading.inspect.report import PageKind

RECENT = """<h2>Products you recently viewed</h2><ul><li><a href="/p/100001"><h3>Stool</h3></a><p class="price">£5.00</p></li>
<li><a href="/p/100002"><h3>Bench</h3></a><p class="price">£6.00</p></li>
<li><a href="/p/100003"><h3>Table</h3></a><p class="price">£7.00</p></li></ul>"""


def test_the_product_of_a_page_is_its_headline_with_the_price_beside_it():
    seen = look(
        f'<h1>Ladder</h1><p class="price">£51.77</p><p class="availability">In stock (22 available)</p>{RECENT}'
    )
    assert seen.kind is PageKind.DETAIL
    (product,) = seen.products
    assert (product.name, product.availability) == ("Ladder", "In stock (22 available)")
    assert product.price is not None
    assert (product.price.amount_minor, product.price.currency, product.price.text) == (5177, "GBP", "£51.77")


def test_recently_viewed_products_are_not_the_product():
    seen = look(f"<h1>About our workshop</h1><p>We make things.</p>{RECENT}")
    assert seen.products == ()


def test_what_was_asked_before_is_not_the_price():
    seen = look(
        '<h1>Ladder</h1><div><span class="old-price">£60.00</span><span class="price">£51.77</span></div>'
    )
    assert [product.price.text for product in seen.products if product.price] == ["£51.77"]


def test_a_declared_product_counts_before_what_is_shown():
    declared = {
        "@type": "Product",
        "name": "Ladder",
        "offers": [
            {"@type": "AggregateOffer", "lowPrice": "5.29", "priceCurrency": "GBP"},
            {
                "@type": "Offer",
                "price": "9.56",
                "priceCurrency": "GBP",
                "availability": "https://schema.org/InStock",
            },
        ],
    }
    seen = look(
        f"<h1>X</h1><p class=price>£1</p><script type='application/ld+json'>{json.dumps(declared)}</script>"
    )
    (product,) = seen.products
    assert product.price is not None
    assert (product.name, product.price.amount_minor, product.availability) == ("Ladder", 956, "in stock")


def test_what_is_told_to_those_who_share_it_counts_too():
    meta = "".join(
        f'<meta property="{name}" content="{value}">'
        for name, value in (
            ("og:title", "Ladder"),
            ("product:price:amount", "12.50"),
            ("product:price:currency", "EUR"),
        )
    )
    (product,) = look(f"<html><head>{meta}</head><body><p>Hello there</p></body></html>").products
    assert product.price is not None
    assert (product.name, product.price.amount_minor, product.price.currency) == ("Ladder", 1250, "EUR")


def test_rows_with_prices_are_a_list_of_products():
    rows = "".join(
        f'<li><a href="/item/10000{n}"><h3>Thing {n}</h3></a><span class="price">${n}.50</span></li>'
        for n in range(1, 9)
    )
    seen = look(f"<h1>Things</h1><ul>{rows}</ul>")
    assert seen.kind is PageKind.LISTING
    assert [product.price.amount_minor for product in seen.products if product.price] == [
        n * 100 + 50 for n in range(1, 9)
    ]


@pytest.mark.promise(14)
def test_a_page_without_a_price_has_no_price():
    assert look("<h1>Ladder</h1><p>Free shipping over $50. Call 555-1234.</p>").products == ()


@pytest.mark.promise(14)
def test_a_product_out_of_stock_is_not_free():
    declared = {
        "@type": "Product",
        "name": "Ladder",
        "offers": {"@type": "Offer", "availability": "https://schema.org/OutOfStock"},
    }
    (product,) = look(
        f"<script type='application/ld+json'>{json.dumps(declared)}</script><p>Gone</p>"
    ).products
    assert product.price is None
    assert product.availability == "out of stock"


def _shelf(*prices: str) -> str:
    """A list of things with their prices, as a shop shows it."""
    cards = (
        f'<li class="card"><a href="/p/{100_000 + at}"><h3>Ladder number {at}</h3></a><div class="offer">{price}</div></li>'
        for at, price in enumerate(prices)
    )
    return f"<main><h1>Ladders</h1><ul>{''.join(cards)}</ul></main>"


PLAIN = '<span class="price">$10.00</span>'


@pytest.mark.parametrize(
    ("card", "amount"),
    [
        (PLAIN, 1_000),
        # A struck price is not the price, even where the row shows no other.
        ('<ul class="price"><li class="price-was">$249.99</li><li>See price in cart</li></ul>', None),
        ('<div class="price"><s class="price-old">$249.99</s> $199.99</div>', 19_999),
        ('<div class="price"><del>$249.99</del></div>', None),
    ],
)
def test_what_a_row_cost_before_is_not_its_price(card: str, amount: int | None):
    seen = look(_shelf(PLAIN, PLAIN, card, PLAIN, PLAIN, PLAIN))
    assert len(seen.products) == 6
    price = seen.products[2].price
    assert (price.amount_minor if price else None) == amount


def test_a_range_in_two_elements_is_one_range():
    card = '<div><span class="price">$2.00</span> to <span class="price">$4.20</span></div>'
    price = look(_shelf(PLAIN, card, PLAIN, PLAIN, PLAIN, PLAIN)).products[1].price
    assert price is not None
    assert (price.amount_minor, price.high) == (200, 420)


def _declared_shelf(*shown: str, declared: int) -> str:
    """A list of which the page declares the last rows for machines, all for 5,990 crowns."""
    items = [
        {
            "@type": "ListItem",
            "position": at,
            "item": {
                "@type": "Product",
                "name": f"Ladder number {at}",
                "url": f"https://acme.example/p/{100_000 + at}",
                "offers": {"@type": "Offer", "price": "5990", "priceCurrency": "NOK"},
            },
        }
        for at in range(len(shown) - declared, len(shown))
    ]
    data = json.dumps({"@type": "ItemList", "itemListElement": items})
    return f"{_shelf(*shown)}<script type='application/ld+json'>{data}</script>"


def test_a_declared_price_is_for_a_month_where_the_row_says_so():
    cards = ["<b>5 990</b> <b>kr</b>"] * 7 + ["<span><b>5 990</b> <b>kr/mnd</b></span>"]
    prices = [each.price for each in look(_declared_shelf(*cards, declared=7)).products]
    assert [price and price.per for price in prices] == [None] * 7 + ["month"]


def test_a_paid_row_that_is_not_declared_has_the_price_that_it_shows():
    cards = ["<span><b>427 343</b> <b>kr</b></span>"] + ["<span><b>5 990</b> <b>kr</b></span>"] * 7
    price = look(_declared_shelf(*cards, declared=7)).products[0].price
    assert price is not None
    # "kr" alone may be of four countries; what is declared beside it decides.
    assert (price.amount_minor, price.currency, price.text) == (42_734_300, "NOK", "427 343 kr")
