"""Product pages: those of the practice shop over loopback, however they say what they sell, and pages that
would have another thing's price read for theirs."""

import json
from collections.abc import Iterator

import pytest

from tests.apps.prices.adapters.asking import Asker
from tests.harness.databases import Database
from thresher.apps.prices.adapters.adapter import ListingPage
from thresher.apps.prices.adapters.product_page import read_product_page
from thresher.apps.prices.model import Adapter, ItemSpec, Listing, PriceType, SourceSpec
from thresher.core.page import Page, Verdict
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.practice.web.sites.marketplace_goods import (
    FIRST,
    LISTINGS,
    STEP,
    THINGS,
    Role,
    offers,
    planted,
)
from thresher.practice.web.sites.marketplace_shop import WAYS, way_of

SHOP = SourceSpec("shops", Adapter.PAGE, options={"currency": "USD"})
HOST = "https://shop.marketplace.example"
URL = "https://shop.example/p/41"


@pytest.fixture
def asker(database: Database, web: PracticeWeb) -> Iterator[Asker]:
    made = Asker(database, web)
    yield made
    made.shop.close()


def product(*numbers: int) -> ItemSpec:
    return ItemSpec(
        "a thing", "product", {"model": "x"}, urls=tuple(f"{HOST}/itm/{each}" for each in numbers)
    )


@pytest.mark.parametrize("way", WAYS)
def test_each_page_of_the_shop_is_read_right_or_not_at_all(asker: Asker, way: str) -> None:
    there = [each for each in offers(asker.web.web.seed, asker.web.now()) if way_of(each.id) == way]
    assert len(there) > 15
    pages = asker.ask(product(*(each.id for each in there)), SHOP)
    assert len(pages) == len(there)
    for offer, page in zip(there, pages, strict=True):
        assert page.verdict is Verdict.FOUND, page.reason
        (found,) = page.listings
        assert found.title == offer.title
        assert found.price_type is PriceType.ASK
        if offer.role is Role.VARIANTS:
            assert found.amount is None
            assert found.doubts
        else:
            assert (found.amount, found.currency) == (offer.cents, "USD")
            assert found.available is (offer.sold is None)
            assert found.quote


def test_a_dollar_sign_alone_is_no_currency(asker: Asker) -> None:
    there = offers(asker.web.web.seed, asker.web.now())
    words = next(each for each in there if way_of(each.id) == "words" and each.role is Role.TRUE)
    (page,) = asker.ask(product(words.id), SourceSpec("shops", Adapter.PAGE))
    assert (page.listings[0].amount, page.listings[0].currency) == (None, None)
    assert "its currency is not certain" in page.listings[0].doubts[0]


def vanished(asker: Asker, kind: int) -> list[int]:
    """Listings that are gone: 0 with a status, 1 with a redirect, 2 with a sentence."""
    there = {each.id for each in offers(asker.web.web.seed, asker.web.now())}
    ids = (FIRST + place * STEP + at for place in range(len(THINGS)) for at in range(LISTINGS))
    return [
        each
        for each in ids
        if each not in there
        and each % 3 == kind
        and (once := planted(asker.web.web.seed, each)) is not None
        and once.listed <= asker.web.now()
    ]


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (0, Verdict.CONFIRMED_EMPTY, "is gone (410)"),
        (1, Verdict.UNKNOWN, "leads to https://shop.marketplace.example/ now, which is no product page"),
        (2, Verdict.CONFIRMED_EMPTY, "no longer available"),
    ],
)
def test_a_listing_that_is_gone_is_said_to_be_and_no_other_price_is_read(
    asker: Asker, kind: int, verdict: Verdict, says: str
) -> None:
    asker.move_to(60)
    gone = vanished(asker, kind)
    assert gone
    for number in gone[:2]:
        pages = asker.ask(product(number), SHOP)
        assert [(page.verdict, page.listings) for page in pages] == [(verdict, ())], pages[0].reason
        assert says in pages[0].reason


def test_a_page_that_is_gone_does_not_keep_the_others_from_being_read(asker: Asker) -> None:
    asker.move_to(60)
    there = offers(asker.web.web.seed, asker.web.now())[0]
    pages = asker.ask(product(vanished(asker, 0)[0], 999_999, there.id), SHOP)
    assert [page.verdict for page in pages] == [
        Verdict.CONFIRMED_EMPTY,
        Verdict.CONFIRMED_EMPTY,
        Verdict.FOUND,
    ]
    assert pages[0].notes


def test_a_wall_disables_and_is_no_answer(asker: Asker) -> None:
    there = offers(asker.web.web.seed, asker.web.now())[0]
    knob = Knob(Trouble.CAPTCHA, "shop.marketplace.example", text="cloudflare")
    assert not asker.ask(product(there.id), SHOP, knob)
    assert asker.gate("host:shop.marketplace.example")["closed_tag"] == "anti_bot"


def test_pages_that_declare_nothing_are_read_by_what_was_learned_of_their_site(asker: Asker) -> None:
    """A layout in which nothing is called a price: the pages that declare themselves teach the
    others."""
    numbers = range(900, 912)
    spec = SourceSpec("shops", Adapter.PAGE, options={"extract": True})
    items = {str(number): product(number) for number in numbers}
    for key in [*items][:10]:
        asker.ask(items[key], spec, *(bare(number, declares=number < 910) for number in numbers), key=key)
    knobs = [bare(number, declares=False) for number in numbers]
    (unread,) = asker.ask(items["910"], SHOP, *knobs, key="unread")
    assert unread.verdict is Verdict.UNKNOWN
    (page,) = asker.ask(items["910"], spec, *knobs, key="learned")
    assert [(each.title, each.amount, each.currency) for each in page.listings] == [
        ("Kettle K910", 92_050, "EUR")
    ]
    assert page.listings[0].place == "learned"


def bare(number: int, *, declares: bool) -> Knob:
    name, price = f"Kettle K{number}", f"{number + 10}.50"
    head = ld(declared(offer(price), name=name)) if declares else ""
    body = f'<header>Kettles</header><h1 class="q7">{name}</h1><div class="z3"><em class="k9">EUR {price}</em></div><p>Boils water.</p>'
    html = f"<html><head><title>{name} - Kettles</title>{head}</head><body>{body}</body></html>"
    return Knob(Trouble.BODY, "shop.marketplace.example", f"/itm/{number}", text=html)


def test_only_pages_of_its_own_hosts_belong_to_a_source(asker: Asker) -> None:
    spec = SourceSpec("other", Adapter.PAGE, options={"hosts": ["elsewhere.example"]})
    assert not asker.ask(product(FIRST), spec)
    assert "no address of a product page on elsewhere.example" in asker.not_asked["one"]


# Reading, without a web.


def page_of(body: str, *, url: str = URL, status: int = 200) -> Page:
    return Page(URL, url, status, {"content-type": "text/html; charset=utf-8"}, body.encode())


def ld(*things: dict[str, object]) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(each)}</script>' for each in things)


def declared(offers: object, *, name: str = "Kettle K1", **more: object) -> dict[str, object]:
    return {"@context": "https://schema.org", "@type": "Product", "name": name, "offers": offers, **more}


def offer(price: object, currency: str = "EUR", **more: object) -> dict[str, object]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, **more}


def read(*things: dict[str, object], body: str = "<h1>Kettle K1</h1>", url: str = URL) -> ListingPage:
    return read_product_page(
        URL, None, page_of(f"<html><head>{ld(*things)}</head><body>{body}</body></html>", url=url)
    )


def only(page: ListingPage) -> Listing:
    assert page.verdict is Verdict.FOUND, page.reason
    (found,) = page.listings
    return found


@pytest.mark.parametrize(
    ("offers", "amount", "says"),
    [
        (offer("49.90"), 4_990, ""),
        (offer(49.9), 4_990, ""),
        (offer("1.299,00"), 129_900, ""),
        (offer("4990", "JPY"), 4_990, ""),
        (offer("49.999", "EUR"), None, "more digits than EUR has"),
        (offer("0"), None, "nothing costs that"),
        (offer("0.00", availability="https://schema.org/OutOfStock"), None, "nothing costs that"),
        (offer("-5"), None, "nothing costs that"),
        (offer("99999999999999999"), None, "no thing costs"),
        (offer("49.90", "EURO"), None, "currency"),
        (offer("49.90", ""), None, "without a currency"),
        (offer("call us"), None, "on request"),
        ([offer("49.90"), offer("49.90")], 4_990, ""),
        ([offer("49.90"), offer("59.90")], None, "none is chosen"),
        ([offer("49.90"), offer("49.90", "USD")], None, "none is chosen"),
        ([offer("49.90", url=f"{URL}?size=1"), offer("59.90", url=URL)], None, "none is chosen"),
        (
            {"@type": "AggregateOffer", "lowPrice": "10", "highPrice": "20", "priceCurrency": "EUR"},
            None,
            "a range",
        ),
        ({"@type": "AggregateOffer", "lowPrice": "10", "highPrice": "10", "priceCurrency": "EUR"}, 1_000, ""),
        ({"@type": "AggregateOffer", "lowPrice": "10", "priceCurrency": "EUR"}, None, "a range"),
        ({"@type": "AggregateOffer", "offers": [offer("7.50")], "lowPrice": "7.50"}, 750, ""),
        ([], None, "declares no price"),
        (
            {
                "@type": "Offer",
                "priceSpecification": [
                    {
                        "price": "12.00",
                        "priceCurrency": "EUR",
                        "referenceQuantity": {"value": 100, "unitCode": "GRM"},
                    },
                    {"price": "60.00", "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
                    {"price": "48.00", "priceCurrency": "EUR"},
                ],
            },
            4_800,
            "",
        ),
    ],
)
def test_a_declared_price_is_read_exactly_or_not_at_all(
    offers: object, amount: int | None, says: str
) -> None:
    found = only(read(declared(offers)))
    assert found.amount == amount
    assert (says in " ".join(found.doubts)) if says else not found.doubts
    assert (found.currency is None) == (amount is None)


def test_the_struck_price_stands_beside_the_one_that_holds() -> None:
    spec = {"price": "60.00", "priceCurrency": "EUR", "priceType": "https://schema.org/StrikethroughPrice"}
    found = only(read(declared(offer("48.00", priceSpecification=spec))))
    assert (found.amount, found.was) == (4_800, 6_000)


def test_everything_else_that_is_declared_is_kept() -> None:
    details = {"shippingRate": {"value": "4.95", "currency": "EUR"}}
    made = offer(
        "48.00",
        availability="https://schema.org/OutOfStock",
        itemCondition="https://schema.org/RefurbishedCondition",
        shippingDetails=details,
        eligibleQuantity={"value": 6},
    )
    found = only(read(declared(made, gtin13="4006381333931", brand={"name": "Acme"}, model="K1", sku="41")))
    assert (found.available, found.condition, found.shipping, found.quantity) == (
        False,
        "refurbished",
        495,
        6,
    )
    assert found.aspects == {"gtin": "4006381333931", "brand": "Acme", "model": "K1", "sku": "41"}
    assert found.external_id == URL


@pytest.mark.parametrize(
    ("things", "body"),
    [
        ([declared(offer("5.00"), name="Tea bags", url="https://shop.example/p/7")], "<h1>Kettle K1</h1>"),
        (
            [
                declared(offer("5.00"), name="Tea bags", url="https://shop.example/p/7"),
                declared(offer("6.00"), name="Mug", url="https://shop.example/p/8"),
            ],
            "<h1>Kettle K1</h1><p>This product is no longer available</p>",
        ),
    ],
)
def test_what_the_shop_recommends_is_never_read_for_what_is_gone(
    things: list[dict[str, object]], body: str
) -> None:
    found = read(*things, body=body)
    assert not found.listings
    assert found.verdict in (Verdict.UNKNOWN, Verdict.CONFIRMED_EMPTY)


def test_of_several_products_the_one_with_this_address_is_the_pages_own() -> None:
    things = [
        declared(offer("5.00"), name="Kettle K2", url="https://shop.example/p/42"),
        declared(offer("49.90"), name="Kettle K1", url="/p/41?ref=x"),
    ]
    assert only(read(*things, body="<h1>Kettles</h1>")).amount == 4_990


def test_a_variant_with_this_very_address_is_the_one_that_is_meant() -> None:
    variants = [
        {
            "@type": "Product",
            "name": "Kettle K1 red",
            "url": f"{URL}?c=red",
            "offers": offer("49.90", url=f"{URL}?c=red"),
        },
        {
            "@type": "Product",
            "name": "Kettle K1 blue",
            "url": f"{URL}?c=blue",
            "offers": offer("59.90", url=f"{URL}?c=blue"),
        },
    ]
    group: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "ProductGroup",
        "name": "Kettle K1",
        "hasVariant": variants,
    }
    html = f"<html><head>{ld(group)}</head><body><h1>Kettle K1</h1></body></html>"
    assert only(read_product_page(URL, None, page_of(html))).amount is None
    here = f"{URL}?c=blue"
    assert (
        only(
            read_product_page(here, None, Page(here, here, 200, {"content-type": "text/html"}, html.encode()))
        ).amount
        == 5_990
    )


def test_an_address_that_leads_to_another_product_is_read_with_that_said() -> None:
    found = only(read(declared(offer("49.90")), url="https://shop.example/p/99"))
    assert any("leads to https://shop.example/p/99 now" in doubt for doubt in found.doubts)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>",
        '<script type=\'application/ld+json\'>{"@type": "Product"</script>',
        "<p>" * 5_000,
        "\x00\x01\x02",
        "<h1>" + "A" * 100_000 + "</h1>",
    ],
)
def test_a_page_without_a_product_proves_nothing(body: str) -> None:
    found = read_product_page(URL, None, page_of(body))
    assert (found.verdict, found.listings) == (Verdict.UNKNOWN, ())


def test_hostile_names_and_addresses_are_tamed() -> None:
    name = "Kettle\u0000 K1 \x1b[31m<b>red</b>\u202e&amp;\n\n x" + "y" * 1_000
    found = only(read(declared(offer("49.90", url="javascript:alert(1)"), name=name), body=""))
    assert found.title.startswith("Kettle K1")
    assert found.title.isprintable()
    assert len(found.title) <= 300
    assert found.url == URL
