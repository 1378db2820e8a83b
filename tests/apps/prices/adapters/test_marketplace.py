"""The marketplace of the practice web asked over loopback with the definition that is shipped for eBay: what
is planted there is found, access is dealt with, and trouble is said."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files

import pytest

from tests.apps.prices.adapters.asking import EBAY, IMPATIENT, Asker, ids, item_of, listings
from tests.harness.databases import Database
from thresher.apps.prices.model import ItemSpec, PriceType, SourceSpec
from thresher.core.page import Verdict
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.practice.web.sites import marketplace
from thresher.practice.web.sites.marketplace_goods import Offer, Role, asked, sold

API = "api.ebay.com"
TOKENS = "/identity/v1/oauth2/token"
BROWSE = "/buy/browse/"
SALES = "/buy/marketplace_insights/"
MORGAN = "morgan-1881-s"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.CLIENT)
    monkeypatch.setenv("EBAY_CLIENT_SECRET", marketplace.SECRET)


@pytest.fixture
def asker(database: Database, web: PracticeWeb) -> Iterator[Asker]:
    made = Asker(database, web)
    yield made
    made.shop.close()


def fitting(offers: tuple[Offer, ...], *words: str) -> list[Offer]:
    return [
        each
        for each in offers
        if set(re.findall(r"\w+", each.title.lower())) >= {word.lower() for word in words}
    ]


JSON = "application/json"
WORDS = ("1881", "S", "Morgan", "dollar")


def test_what_was_sold_and_what_is_for_sale_is_found_whole_with_price_and_day(asker: Asker) -> None:
    now, seed = asker.web.now(), asker.web.web.seed
    pages = asker.ask(item_of(MORGAN))
    assert (pages[0].unseen, pages[-1].unseen) == (("ask",), ())

    wanted = {"sold": fitting(sold(seed, now), *WORDS), "ask": fitting(asked(seed, now), *WORDS)}
    assert len(wanted["sold"]) > 5
    assert len(wanted["ask"]) > 5
    for kind, offers in wanted.items():
        found = listings(pages, PriceType(kind))
        assert found.keys() == ids(offers)
        for offer in offers:
            each = found[f"v1|{offer.id}|0"]
            if offer.role is Role.VARIANTS:
                assert each.amount is None
                assert "variants" in each.doubts[0]
                continue
            assert (each.amount, each.currency) == (offer.cents, "USD")
            assert each.listed_on == (offer.sold or offer.listed).date()
            assert each.quote == f"{offer.cents / 100:.2f}"
            assert each.url == f"https://shop.marketplace.example{offer.path}"
            if kind == "ask":
                assert (each.shipping, each.was) == (offer.shipping, offer.was)
    assert all(page.verdict is Verdict.FOUND for page in pages)
    assert pages[-1].next is None
    assert not any(page.notes for page in pages)


def test_the_token_is_fetched_once_for_many_tasks_and_stands_nowhere_in_the_database(asker: Asker) -> None:
    items = {
        f"{key}-{at}": item_of(key) for key in (MORGAN, "mercury-1916-d", "ondasonic-m90") for at in range(4)
    }
    found = asker.ask_all(items)
    assert all(found.values())
    assert asker.requests(TOKENS) == 2  # one for each scope

    secrets = {marketplace.SECRET, *tokens_of(asker)}
    assert len(secrets) == 3
    told = asker.everything()
    assert any("itemSummaries" in text for _, text in told)  # bodies can be searched
    for secret in secrets:
        assert not [table for table, text in told if secret in text or secret[6:] in text]


def tokens_of(asker: Asker) -> set[str]:
    """The tokens that were sent."""
    return {
        each.headers["authorization"].removeprefix("Bearer ")
        for each in asker.web.log()
        if each.headers.get("authorization", "").startswith("Bearer ")
    }


def test_a_token_is_used_until_shortly_before_it_expires(asker: Asker) -> None:
    """Within one worker: a second collection a hundred minutes later asks for no token, one in the last
    minute of its life does."""
    with asker.at_work():
        asker.ask(item_of(MORGAN), key="first")
        assert asker.requests(TOKENS) == 2
        asker.move_to(100 / 1_440)
        asker.ask(item_of(MORGAN), key="second")
        assert asker.requests(TOKENS) == 2
        asker.move_to((7_200 - 30) / 86_400)
        assert asker.ask(item_of(MORGAN), key="third")
        assert asker.requests(TOKENS) == 4


def test_a_refused_token_is_fetched_anew_once(asker: Asker) -> None:
    refuse = Knob(Trouble.STATUS, API, SALES, times=1, status=401, text='{"errors": [{"errorId": 1001}]}')
    pages = asker.ask(item_of(MORGAN), EBAY, refuse)
    assert pages[0].verdict is Verdict.FOUND
    assert asker.requests(TOKENS) == 3
    assert asker.requests(SALES) == 2
    assert not asker.gate("source:prices.ebay")["closed_tag"]


def test_a_source_that_refuses_even_a_new_token_is_disabled_with_the_tag_auth(asker: Asker) -> None:
    said = json.dumps({"errors": [{"errorId": 1001, "message": "Invalid access token"}]})
    assert not asker.ask(
        item_of(MORGAN), EBAY, Knob(Trouble.BODY, API, BROWSE, status=401, text=said, kind=JSON)
    )
    gate = asker.gate("source:prices.ebay")
    assert (gate["closed_tag"], asker.gate("host:api.ebay.com")["closed_tag"]) == ("auth", None)
    assert "EBAY_CLIENT_ID and EBAY_CLIENT_SECRET" in str(gate)
    assert "Invalid access token" in str(gate)
    assert asker.requests(BROWSE) == 2


def test_bad_credentials_disable_the_source_and_name_their_variables(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBAY_CLIENT_SECRET", "another-secret-0815")
    assert not asker.ask(item_of(MORGAN))
    gate = asker.gate("source:prices.ebay")
    assert (gate["closed_tag"], asker.gate("host:api.ebay.com")["closed_tag"]) == ("auth", None)
    assert "EBAY_CLIENT_ID and EBAY_CLIENT_SECRET" in str(gate)
    assert "invalid_client" in str(gate)
    assert asker.requests("/buy/") == 0
    assert not [table for table, text in asker.everything() if "another-secret-0815" in text]


def test_a_missing_variable_is_said_before_anything_is_asked(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EBAY_CLIENT_ID")
    monkeypatch.delenv("EBAY_CLIENT_SECRET")
    assert not asker.ask(item_of(MORGAN))
    assert "set the environment variables EBAY_CLIENT_ID and EBAY_CLIENT_SECRET" in asker.said()
    assert asker.web.log() == []
    assert not asker.gate("source:prices.ebay")["closed_tag"]


@pytest.mark.parametrize("client", [marketplace.BROWSE_ONLY, marketplace.TURNED_AWAY])
def test_without_access_to_the_sales_only_asks_are_collected_and_that_is_said(
    asker: Asker, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", client)
    pages = asker.ask(item_of(MORGAN))
    found = listings(pages)
    assert found.keys() == ids(fitting(asked(asker.web.web.seed, asker.web.now()), *WORDS))
    assert {each.price_type for each in found.values()} == {PriceType.ASK}
    assert pages[0].notes == ("eBay does not open its list 'sold' to this client; it was left out",)
    assert not asker.gate("source:prices.ebay")["closed_tag"]


def test_closed_sales_are_not_asked_for_again_and_again(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.TURNED_AWAY)
    items = {str(at): item_of(MORGAN, include=("silver",) * (at % 2)) for at in range(6)}
    with asker.at_work():
        asker.ask(item_of(MORGAN), key="first")
        assert all(pages[0].notes for pages in asker.ask_all(items).values())
        assert asker.requests(SALES) == 1
        asker.move_to(1.5 / 24)
        asker.ask(item_of(MORGAN), key="last")
        assert asker.requests(SALES) == 2


def test_a_list_that_is_closed_does_not_close_another_of_the_same_scope(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.TURNED_AWAY)
    base = "  scope: https://api.ebay.com/oauth/api_scope"
    text = small_pages(200).replace(f"{base}\n", f"{base}/buy.marketplace.insights\n")
    shared = SourceSpec("ebay", EBAY.adapter, options={"definition_text": text})
    with asker.at_work():
        for key in ("first", "second"):
            pages = asker.ask(item_of(MORGAN), shared, key=key)
            assert {each.price_type for each in listings(pages).values()} == {PriceType.ASK}
            assert pages[0].notes
    assert (asker.requests(SALES), asker.requests(TOKENS)) == (1, 1)


def test_whoever_gets_access_to_what_cannot_be_left_out_is_asked_at_once(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused scope of a list that is not optional disables the source, and is not remembered."""
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.BROWSE_ONLY)
    text = small_pages(200).replace("    optional: true\n", "")
    strict = SourceSpec("ebay", EBAY.adapter, options={"definition_text": text})
    with asker.at_work():
        assert not asker.ask(item_of(MORGAN), strict)
        assert asker.gate("source:prices.ebay")["closed_tag"] == "auth"
        assert "buy.marketplace.insights is refused" in str(asker.gate("source:prices.ebay"))
        before = asker.requests(TOKENS)
        asker.reopen("source:prices.ebay")
        asker.work()
        assert asker.requests(TOKENS) == before + 1


def test_a_token_endpoint_that_leads_elsewhere_gives_no_token(asker: Asker) -> None:
    away = Knob(Trouble.REDIRECT, API, TOKENS, status=307, text="https://thief.example/token")
    given = Knob(Trouble.BODY, "thief.example", "/token", text='{"access_token": "stolen-token"}', kind=JSON)
    assert not asker.ask(item_of(MORGAN), EBAY, away, given)
    assert "redirects to https://thief.example for a token" in asker.said()
    assert asker.requests("/buy/") == 0
    assert not [each for each in asker.web.log("thief.example") if "authorization" in each.headers]


def test_a_list_of_many_pages_is_followed_by_its_links(asker: Asker) -> None:
    small = SourceSpec("ebay", EBAY.adapter, options={"definition_text": small_pages(3)})
    pages = asker.ask(item_of(MORGAN), small)
    now, seed = asker.web.now(), asker.web.web.seed
    wanted = [*fitting(sold(seed, now), *WORDS), *fitting(asked(seed, now), *WORDS)]
    assert listings(pages).keys() == ids(wanted)
    assert len(pages) == 6


def small_pages(size: int) -> str:
    """eBay's definition with pages of so many rows."""
    text = files("thresher.apps.prices.adapters").joinpath("ebay.yaml").read_text("utf-8")
    assert text.count("limit: 200") == 2
    return text.replace("limit: 200", f"limit: {size}")


def test_prices_change_from_day_to_day_and_asks_are_sold_or_vanish(asker: Asker) -> None:
    days: list[dict[str, tuple[PriceType, int | None]]] = []
    for day in (0, 12, 30):
        asker.move_to(day)
        found = listings(asker.ask(item_of(MORGAN), key=str(day)))
        days.append({key: (each.price_type, each.amount) for key, each in found.items()})
    first, second, last = days
    asks = {key: amount for key, (kind, amount) in first.items() if kind is PriceType.ASK}
    assert [key for key in asks if key not in last]
    assert [key for key in asks if last.get(key, ("", 0))[0] is PriceType.SOLD]
    assert [key for key, amount in asks.items() if second.get(key, ("", amount))[1] != amount]


def test_one_listing_is_found_for_both_items_that_it_is_about(asker: Asker) -> None:
    wide = ItemSpec("1881 Morgan", "coin", {"denomination": "dollar", "year": "1881", "series": "Morgan"})
    found = asker.ask_all({"narrow": item_of(MORGAN), "wide": wide})
    narrow = listings(found["narrow"])
    assert narrow
    assert narrow.keys() < listings(found["wide"]).keys()


def test_an_item_of_which_too_little_is_known_is_not_asked_for(asker: Asker) -> None:
    assert not asker.ask(ItemSpec("something", "coin"))
    assert "too little is known" in asker.not_asked["one"]
    assert asker.web.log() == []


def test_nothing_that_is_sold_or_asked_for_is_an_empty_answer_with_proof(asker: Asker) -> None:
    pages = asker.ask(ItemSpec("x", "product", {"model": "Zanzibar 3000"}))
    assert [page.verdict for page in pages] == [Verdict.CONFIRMED_EMPTY] * 2


# Trouble.


def test_an_empty_answer_that_counts_results_proves_nothing(asker: Asker) -> None:
    body = json.dumps({"total": 17, "limit": 200, "offset": 0})
    pages = asker.ask(
        item_of(MORGAN), EBAY, Knob(Trouble.BODY, API, SALES, text=body, kind="application/json")
    )
    assert pages[0].verdict is Verdict.UNKNOWN
    assert not pages[0].listings


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"total": 3, "itemSales": [', "application/json"),
        ("<html><body><h1>We are upgrading</h1></body></html>", "text/html"),
        ('{"errors": [{"errorId": 15000, "message": "internal"}]}', "application/json"),
        ("[]", "application/json"),
        ("", "application/json"),
    ],
)
def test_what_is_no_answer_is_neither_listings_nor_none(asker: Asker, body: str, kind: str) -> None:
    pages = asker.ask(item_of(MORGAN), EBAY, Knob(Trouble.BODY, API, SALES, text=body, kind=kind))
    assert [page.verdict for page in pages] == [Verdict.UNKNOWN]
    assert pages[0].reason.startswith("ebay: ")


def test_a_total_that_promises_more_than_there_is_makes_the_list_cut_short(asker: Asker) -> None:
    pages = asker.ask(item_of(MORGAN), EBAY, Knob(Trouble.TOTAL, API, SALES, number=40))
    assert pages[0].capped
    assert any("it says that there are" in note for note in pages[0].notes)


def test_rows_that_come_twice_are_one_listing_each(asker: Asker) -> None:
    pages = asker.ask(item_of(MORGAN), EBAY, Knob(Trouble.DUPLICATES, API, BROWSE, number=2))
    asks = [each.external_id for page in pages for each in page.listings if each.price_type is PriceType.ASK]
    assert len(asks) == len(set(asks)) > 5


def test_who_is_asked_to_wait_waits(asker: Asker) -> None:
    knob = Knob(Trouble.RATE_LIMITED, API, BROWSE, times=1, seconds=2)
    assert not asker.ask(item_of(MORGAN), EBAY, knob)
    assert asker.task()["state"] == "pending"
    assert asker.gate("host:api.ebay.com")["closed_tag"] == "rate_limited"


@pytest.mark.parametrize(
    "knob",
    [
        Knob(Trouble.STATUS, API, BROWSE, status=500, times=1),
        Knob(Trouble.STATUS, API, TOKENS, status=503, times=1),
        Knob(Trouble.TRUNCATED, API, BROWSE, times=1),
    ],
)
def test_a_server_in_trouble_is_asked_again_later(asker: Asker, knob: Knob) -> None:
    assert not asker.ask(item_of(MORGAN), EBAY, knob)
    assert asker.task()["state"] == "retryable"
    assert not asker.gate("source:prices.ebay")["closed_tag"]


def test_a_server_that_answers_too_slowly_is_asked_again_later(database: Database, web: PracticeWeb) -> None:
    asker = Asker(database, web, **IMPATIENT)
    assert not asker.ask(item_of(MORGAN), EBAY, Knob(Trouble.DRIP, API, BROWSE, seconds=60, times=1))
    assert asker.task()["state"] == "retryable"
    asker.shop.close()


def test_an_answer_of_the_token_endpoint_that_is_none_fails_with_its_reason(asker: Asker) -> None:
    knob = Knob(Trouble.BODY, API, TOKENS, text='{"token": "x"}', kind="application/json", times=1)
    assert not asker.ask(item_of(MORGAN), EBAY, knob)
    assert "gave no token" in asker.said()


def test_an_answer_that_repeats_the_token_is_kept_without_it(asker: Asker) -> None:
    """A server that quotes our request back at us, whatever it may be thinking of."""
    asker.web.web.panel.clear()
    with asker.at_work():
        asker.ask(item_of(MORGAN), key="first")
        token = next(each for each in tokens_of(asker) if ".sales." in each)
        body = {"total": 0, "limit": 200, "debug": {"authorization": f"Bearer {token}"}}
        knob = Knob(Trouble.BODY, API, SALES, text=json.dumps(body), kind="application/json", times=1)
        pages = asker.ask(item_of(MORGAN), EBAY, knob, key="second")
    assert pages[0].verdict is Verdict.CONFIRMED_EMPTY
    told = asker.everything()
    assert any('"authorization": "Bearer ***"' in text for _, text in told)
    assert not [table for table, text in told if token in text]
