"""The practice marketplace: tokens, what is for sale and what was sold, the shop, and what becomes of
listings.
"""

from base64 import b64encode
from datetime import timedelta
from urllib.parse import quote, urlencode

import pytest

from tests.practice.browse import Got, get
from thresher.practice.web import DAY_ZERO, Knob, PracticeWeb, Trouble
from thresher.practice.web.sites.marketplace import (
    BROWSE_ONLY,
    CLIENT,
    SALES_SCOPE,
    SCOPE,
    SECRET,
    TURNED_AWAY,
)
from thresher.practice.web.sites.marketplace_goods import THINGS, Role, asked, offers, planted, sold
from thresher.practice.web.sites.marketplace_shop import WAYS, way_of

API = "https://api.ebay.com"
BROWSE = f"{API}/buy/browse/v1/item_summary/search"
SALES = f"{API}/buy/marketplace_insights/v1_beta/item_sales/search"
SHOP = "https://shop.marketplace.example"
SEED = 7


def token(
    web: PracticeWeb, client: str = CLIENT, secret: str = SECRET, scope: str = SCOPE, **form: str
) -> Got:
    said = {"grant_type": "client_credentials", "scope": scope, **form}
    basic = b64encode(f"{client}:{secret}".encode()).decode()
    headers = {"authorization": f"Basic {basic}", "content-type": "application/x-www-form-urlencoded"}
    return get(web, f"{API}/identity/v1/oauth2/token", "POST", urlencode(said).encode(), 10, **headers)


def search(web: PracticeWeb, url: str, held: str, **query: object) -> Got:
    return get(web, f"{url}?{urlencode(query)}", authorization=f"Bearer {held}")


def browse_token(web: PracticeWeb) -> str:
    return str(token(web).json["access_token"])


@pytest.mark.parametrize(
    ("said", "status", "error"),
    [
        ({"secret": "wrong"}, 401, "invalid_client"),
        ({"client": "nobody"}, 401, "invalid_client"),
        ({"scope": "everything"}, 400, "invalid_scope"),
        ({"client": BROWSE_ONLY, "scope": SALES_SCOPE}, 400, "invalid_scope"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ],
)
def test_a_token_is_refused_as_the_standard_says(
    web: PracticeWeb, said: dict[str, str], status: int, error: str
) -> None:
    got = token(web, **said)
    assert (got.status, got.json["error"]) == (status, error)


def test_a_token_opens_its_scope_until_it_expires(web: PracticeWeb) -> None:
    browse, sales = browse_token(web), token(web, scope=SALES_SCOPE).json["access_token"]
    assert search(web, BROWSE, browse, q="morgan").status == 200
    assert search(web, SALES, sales, q="morgan").status == 200
    refused = search(web, SALES, browse, q="morgan")
    assert (refused.status, refused.json["errors"][0]["errorId"]) == (403, 1100)
    closed = token(web, TURNED_AWAY, scope=SALES_SCOPE).json["access_token"]
    assert search(web, SALES, closed, q="morgan").status == 403
    for held in ("", "nonsense", browse[:-1], browse.replace(".browse.", ".sales.")):
        got = search(web, BROWSE, held, q="morgan")
        assert (got.status, got.json["errors"][0]["errorId"]) == (401, 1001)
    web.set_time(DAY_ZERO + timedelta(seconds=7_199))
    assert search(web, BROWSE, browse, q="morgan").status == 200
    web.set_time(DAY_ZERO + timedelta(seconds=7_200))
    assert search(web, BROWSE, browse, q="morgan").status == 401


def test_a_space_means_and_where_things_are_for_sale_and_or_where_they_were_sold(web: PracticeWeb) -> None:
    browse, sales = browse_token(web), token(web, scope=SALES_SCOPE).json["access_token"]
    both = search(web, BROWSE, browse, q="dollar silver").json["total"]
    assert 0 < both < search(web, BROWSE, browse, q="dollar").json["total"]
    either = search(web, SALES, sales, q="1881 mercury").json["total"]
    assert either > search(web, SALES, sales, q="1881,mercury").json.get("total")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": ""},
        {"q": "x" * 101},
        {"q": "m*"},
        {"q": "m", "limit": 201},
        {"q": "m", "limit": 5, "offset": 7},
    ],
)
def test_a_wrong_request_is_refused(web: PracticeWeb, query: dict[str, object]) -> None:
    assert search(web, BROWSE, browse_token(web), **query).status == 400


def test_pages_follow_their_links_and_an_empty_answer_has_no_list(web: PracticeWeb) -> None:
    held, seen = browse_token(web), []
    url = f"{BROWSE}?q=camera&limit=5"
    while url:
        answer = get(web, url, authorization=f"Bearer {held}").json
        seen += [row["itemId"] for row in answer["itemSummaries"]]
        url = answer.get("next", "")
    assert len(seen) == len(set(seen)) == answer["total"]
    assert "itemSummaries" not in search(web, BROWSE, held, q="zanzibar").json


def test_the_total_can_lie(web: PracticeWeb) -> None:
    web.turn(Knob(Trouble.TOTAL, "api.ebay.com", number=50))
    answer = search(web, BROWSE, browse_token(web), q="camera", limit=200).json
    assert answer["total"] == len(answer["itemSummaries"]) + 50


def test_the_marketplace_decides_the_currency(web: PracticeWeb) -> None:
    held = browse_token(web)
    headers = {"authorization": f"Bearer {held}", "x-ebay-c-marketplace-id": "EBAY_DE"}
    row = get(web, f"{BROWSE}?q=camera", "GET", None, 10, **headers).json["itemSummaries"][0]
    assert row["price"]["currency"] == "EUR"


def test_listings_come_change_are_sold_and_vanish() -> None:
    days = [DAY_ZERO + timedelta(days=day) for day in (0, 12, 30)]
    first, second, last = ({each.id: each for each in asked(SEED, day)} for day in days)
    were_sold = {each.id for each in sold(SEED, days[-1])}
    assert first.keys() & were_sold
    assert first.keys() - last.keys() - were_sold
    assert [each for each in first.keys() & second.keys() if first[each].cents != second[each].cents]
    assert {each.role for each in offers(SEED, days[0])} == set(Role)
    assert all(
        each.sold is None or days[-1] - each.sold <= timedelta(days=90) for each in sold(SEED, days[-1])
    )


def test_two_in_three_listings_of_a_thing_are_one_of_it() -> None:
    there = offers(SEED, DAY_ZERO)
    for thing in THINGS:
        about = [each for each in there if each.thing == thing.key]
        assert sum(each.role is Role.TRUE for each in about) * 2 > len(about) > 10


def test_a_page_says_what_it_sells_in_its_way(web: PracticeWeb) -> None:
    there = [each for each in asked(SEED, DAY_ZERO) if each.role is Role.TRUE]
    marks = {"json-ld": '"@type":', "microdata": 'itemprop="price"', "opengraph": "product:price:amount"}
    for way in WAYS:
        each = next(each for each in there if way_of(each.id) == way)
        text = get(web, f"{SHOP}{each.path}").text
        assert f"${each.cents / 100:,.2f}" in text
        assert {name for name, mark in marks.items() if mark in text.replace('"@type": ', '"@type":')} == (
            {way} - {"words"}
        )


def test_what_is_gone_is_gone_in_three_ways(web: PracticeWeb) -> None:
    web.set_day(60)
    there = {each.id for each in offers(SEED, web.now())}
    gone = [
        number
        for number in range(100_000_000, 100_005_000)
        if (once := planted(SEED, number)) is not None and once.listed <= web.now() and number not in there
    ]
    answers = {number % 3: get(web, f"{SHOP}/itm/{number}") for number in gone}
    assert [answers[way].status for way in (0, 1, 2)] == [410, 302, 200]
    assert "no longer available" in answers[2].text
    assert get(web, f"{SHOP}/itm/1").status == 404


def test_results_have_paid_places_and_nothing_found_has_recommendations(web: PracticeWeb) -> None:
    text = get(web, f"{SHOP}/search?q={quote('Fieldmaster K7')}").text
    assert text.count('class="card sponsored"') == 2
    none = get(web, f"{SHOP}/search?q=zanzibar").text
    assert "0 results" in none
    assert 'class="card"' in none
