"""Pages of search results: the practice shop's over loopback, and pages that would have advertisements,
recommendations or ranges read for prices."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.prices.adapters.asking import Asker, item_of
from tests.harness.databases import Database
from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked
from thresher.apps.prices.adapters.result_rows import Selectors, read_results
from thresher.apps.prices.adapters.search import search_adapter, template_problem
from thresher.apps.prices.model import Adapter, Item, ItemSpec, ItemStatus, PriceType, SourceSpec
from thresher.core.errors import ConfigError
from thresher.core.page import Page, Verdict
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.practice.web.sites.marketplace_goods import Offer, asked

HOST = "https://shop.marketplace.example"
TEMPLATE = f"{HOST}/search?q={{query}}"
SHOP = SourceSpec("shop", Adapter.SEARCH, options={"url": TEMPLATE, "currency": "USD"})
CARDS = SourceSpec(
    "shop",
    Adapter.SEARCH,
    options={
        "url": TEMPLATE,
        "currency": "USD",
        "selectors": {
            "rows": "ul.results > li",
            "title": "a",
            "link": "a@href",
            "price": ".price",
            "shipping": ".shipping",
            "condition": ".condition",
            "advert": ".sponsored",
            "next": "a[rel=next]",
        },
    },
)
CAMERA = "fieldmaster-k7"


@pytest.fixture
def asker(database: Database, web: PracticeWeb) -> Iterator[Asker]:
    made = Asker(database, web)
    yield made
    made.shop.close()


def wanted(asker: Asker, *words: str) -> list[Offer]:
    there = asked(asker.web.web.seed, asker.web.now())
    return [each for each in there if set(words) <= set(each.title.lower().replace("-", " ").split())]


@pytest.mark.parametrize("spec", [SHOP, CARDS], ids=["found", "selected"])
def test_every_row_of_every_page_is_read_and_no_advertisement(asker: Asker, spec: SourceSpec) -> None:
    pages = asker.ask(item_of(CAMERA), spec)
    there = wanted(asker, "fieldmaster", "k7", "body")
    assert len(there) > 12
    assert len(pages) == 2
    found = [each for page in pages for each in page.listings]
    assert [each.title for each in found] == [each.title for each in there]
    for listing, offer in zip(found, there, strict=True):
        assert listing.url == f"{HOST}{offer.path}"
        if offer.low is not None:
            assert listing.amount is None
            assert "range" in listing.doubts[0]
            continue
        assert (listing.amount, listing.currency) == (offer.cents, "USD")
        assert listing.shipping == offer.shipping
        assert listing.price_type is PriceType.ASK
        if spec is CARDS:
            assert listing.condition == offer.condition
    assert pages[-1].next is None
    assert all(page.verdict is Verdict.FOUND for page in pages)


@pytest.mark.parametrize("spec", [SHOP, CARDS], ids=["found", "selected"])
def test_no_results_are_believed_where_the_page_says_so_and_recommendations_are_none(
    asker: Asker, spec: SourceSpec
) -> None:
    (page,) = asker.ask(ItemSpec("x", "product", {"model": "Zanzibar 3000"}), spec)
    assert (page.verdict, page.listings) == (Verdict.CONFIRMED_EMPTY, ())
    assert "0 results" in page.reason


@pytest.mark.parametrize("vendor", ["cloudflare", "datadome", "plain"])
def test_a_wall_is_no_empty_result(asker: Asker, vendor: str) -> None:
    knob = Knob(Trouble.CAPTCHA, "shop.marketplace.example", text=vendor)
    assert not asker.ask(item_of(CAMERA), SHOP, knob)
    assert asker.gate("host:shop.marketplace.example")["closed_tag"] == "anti_bot"


def test_a_page_with_nothing_to_recognise_proves_nothing(asker: Asker) -> None:
    knob = Knob(
        Trouble.BODY, "shop.marketplace.example", "/search", text="<h1>Search</h1><p>Welcome back.</p>"
    )
    (page,) = asker.ask(item_of(CAMERA), SHOP, knob)
    assert (page.verdict, page.listings) == (Verdict.UNKNOWN, ())


def test_selectors_that_no_longer_fit_say_so_rather_than_find_nothing(asker: Asker) -> None:
    knob = Knob(Trouble.LAYOUT, "shop.marketplace.example")
    (page,) = asker.ask(item_of(CAMERA), CARDS, knob)
    assert (page.verdict, page.listings) == (Verdict.UNKNOWN, ())


def test_a_list_that_starts_over_ends(asker: Asker) -> None:
    more = '<a rel="next" href="/search?q=fieldmaster+k7+body&amp;page={}">Next</a>'
    card = '<li class="card"><a href="/itm/{0}">Fieldmaster K7 Camera Body {0}</a> <span class="price">$10.00</span></li>'
    cards = "".join(card.format(each) for each in range(8))
    body = f'<ul class="results">{cards}</ul><nav class="pagination">{more.format(2)}</nav>'
    knobs = [
        Knob(
            Trouble.BODY,
            "shop.marketplace.example",
            "/search",
            text=body.replace("page=2", f"page={each}"),
            times=1,
        )
        for each in range(2, 12)
    ]
    pages = asker.ask(item_of(CAMERA), SHOP, *knobs)
    assert len(pages) == 2
    assert pages[-1].capped
    assert "repeats the rows" in pages[-1].notes[-1]


# The address.


@pytest.mark.parametrize(
    "template",
    [
        "",
        "shop.example/search?q={query}",
        "https://shop.example/search",
        "https://shop.example/search?q=kettle",
        "https://shop.example/{query}?q={query}",
        "https://{query}.example/search?q={query}",
        "https://shop.example/search?q={query}#{query}",
        "https://shop.example/search?q={query}&x={nothing}",
        "https://user@shop.example/search?q={query}",
        "javascript:alert(1)?q={query}",
        "https://shop.example/search?q={query}\n",
        7,
    ],
)
def test_a_template_that_lets_a_query_change_the_address_is_refused(template: Any) -> None:
    assert template_problem(template)
    with pytest.raises(ConfigError, match="source shop: url"):
        search_adapter(SourceSpec("shop", Adapter.SEARCH, options={"url": template}))


@pytest.mark.parametrize(
    "model",
    [
        "K7&page=2",
        "K7#x",
        "../../admin",
        "K7?q=other",
        "https://evil.example/",
        "K7 %2e%2e",
        "К7 ключ",
        "a\nb",
    ],
)
def test_what_is_looked_for_stays_in_its_parameter(model: str) -> None:
    adapter = search_adapter(SHOP)
    query = adapter.query(Item(1, ItemSpec("x", "product", {"model": model}), ItemStatus.ATTRIBUTED))
    assert not isinstance(query, NotAsked)
    parts = urlsplit(query.urls[0])
    assert (parts.scheme, parts.netloc, parts.path, parts.fragment) == (
        "https",
        "shop.marketplace.example",
        "/search",
        "",
    )
    assert parse_qs(parts.query) == {"q": [query.text]}


def test_the_words_of_a_query_are_those_that_the_source_says() -> None:
    spec = SourceSpec("shop", Adapter.SEARCH, options={"url": TEMPLATE, "words": "{model} {gtin}"})
    item = Item(
        1,
        ItemSpec("x", "product", {"model": "K7", "gtin": "4006381333931"}, include=("body",)),
        ItemStatus.PENDING,
    )
    query = search_adapter(spec).query(item)
    assert not isinstance(query, NotAsked)
    assert query.text == "K7 4006381333931 body"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"selectors": {"rows": "li["}}, "selectors.rows is no CSS selector"),
        ({"selectors": {"title": "a"}}, "selectors.rows is missing"),
        ({"selectors": {"rows": "li", "colour": "b"}}, "there is no selector 'colour'"),
        ({"selectors": []}, "selectors must map"),
        ({"words": "kettle"}, "words must be made of attributes"),
        ({"words": "{nothing}"}, "words must be made of attributes"),
        ({"type": "gift"}, "type must be one of"),
        ({"currency": "dollars"}, "currency must be a code"),
        ({"render": "maybe"}, "render must be one of"),
        ({"colour": "blue"}, "there is no option 'colour'"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        search_adapter(SourceSpec("shop", Adapter.SEARCH, options={"url": TEMPLATE, **options}))


# Reading, without a web.


def read(body: str, selectors: Selectors, currency: str | None = "USD") -> ListingPage:
    url = f"{HOST}/search?q=kettle"
    page = Page(url, url, 200, {"content-type": "text/html; charset=utf-8"}, body.encode())
    return read_results(selectors, PriceType.ASK, currency, url, page).page


LI = Selectors(rows="li", title="a", price="b", link="a@href", shipping="i")


@pytest.mark.parametrize(
    ("price", "currency", "amount", "code"),
    [
        ("$1,299.50", None, None, None),
        ("$1,299.50", "USD", 129_950, "USD"),
        ("US$ 1,299.50", None, 129_950, "USD"),
        ("$1,299.50", "CAD", 129_950, "CAD"),
        ("1.299,50 €", None, 129_950, "EUR"),
        ("12.50", "USD", 1_250, "USD"),
        ("12.50", None, None, None),
        ("EUR 12.50", "USD", 1_250, "EUR"),
        ("$10.00 - $20.00", None, None, None),
        ("from $10.00", None, None, None),
        ("Sold out", None, None, None),
        ("$0.00", None, None, None),
        ("", None, None, None),
    ],
)
def test_a_row_costs_what_it_says_for_certain(
    price: str, currency: str | None, amount: int | None, code: str | None
) -> None:
    rows = f'<ul><li><a href="/a">Kettle</a> <b>{price}</b></li></ul>'
    (found,) = read(rows, LI, currency).listings
    assert (found.amount, found.currency) == (amount, code)
    assert bool(found.doubts) == (amount is None)


def test_hostile_rows_are_tamed() -> None:
    rows = "".join(
        f'<li><a href="{link}">Kettle \x07{at} &lt;script&gt;</a><b>$10.00</b><i>+ $3.50 shipping</i></li>'
        for at, link in enumerate(
            ["javascript:alert(1)", "data:text/html,x", "//evil.example/x", "/ok", "http://[bad"]
        )
    )
    found = read(f"<ul>{rows}<li></li><li><b>$5</b></li></ul>", LI)
    assert [each.url for each in found.listings] == [None, None, "https://evil.example/x", f"{HOST}/ok", None]
    assert all(each.title.isprintable() for each in found.listings)
    assert {each.shipping for each in found.listings} == {350}
    assert any("rows were left out" in note for note in found.notes)


def test_a_next_page_on_another_host_is_not_followed() -> None:
    body = '<ul><li><a href="/a">Kettle</a><b>$10.00</b></li></ul><a rel="next" href="https://evil.example/2">Next</a>'
    found = read(
        body,
        Selectors(
            **{
                **{name: getattr(LI, name) for name in ("rows", "title", "price", "link")},
                "next": "a[rel=next]",
            }
        ),
    )
    assert (found.next, found.capped) == (None, True)
    assert "another host" in found.notes[-1]


def test_five_thousand_rows_are_read_up_to_a_limit() -> None:
    rows = "".join(f'<li><a href="/{at}">Kettle {at}</a><b>$10.00</b></li>' for at in range(5_000))
    assert len(read(f"<ul>{rows}</ul>", LI).listings) == 1_000
