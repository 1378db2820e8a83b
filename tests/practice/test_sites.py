"""The sites that are no job boards: companies, feeds, search, courses, coins, bulk."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.practice.browse import get
from thresher.practice.web import KNOWN, PracticeWeb, company, directory
from thresher.practice.web.hosts import HOSTS
from thresher.practice.web.sites.home import board_url

SEARCH = "https://search.practice.example/v1/search"


def links(text: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', text)


def test_any_host_name_is_a_company(web: PracticeWeb):
    got = get(web, "https://www.some-new-firm.com/")
    assert got.status == 200
    assert "Some New Firm" in got.text


@pytest.mark.parametrize(
    "url", ["https://nobody.invalid/", "https://no-such-site.example/", "http://single/"]
)
def test_a_name_that_cannot_be_is_no_site(web: PracticeWeb, url: str):
    got = get(web, url)
    assert (got.status, "There is no site here" in got.text) == (404, True)


def test_www_and_co_uk_belong_to_the_same_company(web: PracticeWeb):
    pages = {
        get(web, f"https://{host}/about").text
        for host in ("acme.example", "www.acme.example", "acme.co.uk", "acme.com")
    }
    assert len(pages) == 1


@pytest.mark.parametrize("token", KNOWN)
def test_a_home_page_leads_to_careers_and_careers_to_the_postings(web: PracticeWeb, token: str):
    home = get(web, f"https://www.{token}.example/").text
    careers = next(link for link in links(home) if link in ("/careers", "/jobs", "/career"))
    text = get(web, f"https://www.{token}.example{careers}").text
    who = company(7, token)
    if who.platform == "own":
        assert re.search(r'href="/careers/\d+-', text)
    elif who.platform == "scripted":
        assert "openings.js" in text
        assert not re.search(r'href="/careers/\d', text)
    else:
        assert board_url(who) in text or who.token in text


def test_the_board_a_company_links_to_answers(web: PracticeWeb):
    for who in directory(7)[:60]:
        got = get(web, board_url(who))
        assert got.status == 200, board_url(who)


def test_careers_pages_come_in_several_layouts_and_some_boards_on_own_domains(web: PracticeWeb):
    assert {who.layout for who in directory(7)} == {0, 1, 2}
    own = [who for who in directory(7) if who.custom_domain and who.platform in ("recruitee", "teamtailor")]
    assert own
    for who in own:
        text = get(web, board_url(who)).text
        assert "recruiteecdn.com" in text or "teamtailor-cdn.com" in text


def test_a_script_built_page_gets_its_openings_from_an_address_of_its_own(web: PracticeWeb):
    shell = get(web, "https://larkspur.example/careers").text
    openings = get(web, "https://larkspur.example/api/openings").json["openings"]
    assert openings
    assert not any(each["title"] in shell for each in openings)
    assert get(web, f"https://larkspur.example{openings[0]['path']}").status == 200


def test_own_careers_pages_walk_to_the_end_without_repeating(web: PracticeWeb):
    seen, path = [], "/careers"
    while path:
        text = get(web, f"https://www.kestrel.example{path}").text
        seen += re.findall(r'href="(/careers/\d+-[^"]*)"', text)
        found = re.search(r'rel="next" href="([^"]*)"', text)
        path = f"/careers{found[1]}" if found else None
    assert len(seen) == len(set(seen)) == int(re.search(r"(\d+) open positions", text)[1])
    detail = get(web, f"https://www.kestrel.example{seen[0]}").text
    assert json.loads(re.search(r'ld\+json">(.*?)</script>', detail)[1])["@type"] == "JobPosting"


@pytest.mark.parametrize("path", ["/careers/feed.xml", "/sitemap.xml"])
def test_company_xml_is_well_formed(web: PracticeWeb, path: str):
    assert len(ET.fromstring(get(web, f"https://kestrel.example{path}").body))


@pytest.mark.parametrize(
    ("path", "items"), [("/rss.xml", "channel/item"), ("/atom.xml", "{http://www.w3.org/2005/Atom}entry")]
)
def test_feeds_are_well_formed_and_have_fifty_items(web: PracticeWeb, path: str, items: str):
    assert len(ET.fromstring(get(web, f"https://feeds.practice.example{path}").body).findall(items)) == 50


def test_the_three_feeds_tell_the_same(web: PracticeWeb):
    rss = ET.fromstring(get(web, "https://feeds.practice.example/rss.xml").body)
    feed = get(web, "https://feeds.practice.example/feed.json").json
    assert [item["url"] for item in feed["items"]] == [
        item.findtext("link") for item in rss.findall("channel/item")
    ]
    assert get(web, feed["items"][0]["url"]).status == 200


def test_the_search_wants_a_key(web: PracticeWeb):
    assert get(web, f"{SEARCH}/de/1").status == 401
    assert get(web, f"{SEARCH}/de/1?app_key=revoked").status == 401


def test_the_search_pages_and_its_pages_end_before_its_rows(web: PracticeWeb):
    first = get(web, f"{SEARCH}/us/1?app_key=k&results_per_page=5").json
    assert len(first["results"]) == 5
    assert first["count"] > 5 * 20
    assert len(get(web, f"{SEARCH}/us/20?app_key=k&results_per_page=5").json["results"]) == 5
    assert get(web, f"{SEARCH}/us/21?app_key=k&results_per_page=5").status == 400
    assert len(get(web, f"{SEARCH}/us/1?app_key=k&results_per_page=500").json["results"]) == 50


def test_the_search_filters_by_time_and_words(web: PracticeWeb):
    found = get(
        web,
        f"{SEARCH}/de/1?app_key=k&sort_by=date&posted_since=2026-02-20T00:00:00%2B00:00&what=engineer&results_per_page=50",
    ).json
    assert found["results"]
    assert all(
        row["created"] >= "2026-02-20" and "ngineer" in row["title"] + row["category"]["label"]
        for row in found["results"]
    )
    assert get(web, f"{SEARCH}/de/1?app_key=k&posted_since=yesterday").status == 400


def test_rows_turn_up_in_the_search_after_the_date_they_carry(web: PracticeWeb):
    """Who moves a watermark to the newest date seen misses these."""

    def dates(day: int) -> dict[str, str]:
        web.set_day(day)
        rows = (
            get(web, f"{SEARCH}/us/{page}?app_key=k&sort_by=date&results_per_page=50").json["results"]
            for page in range(1, 12)
        )
        return {row["id"]: row["created"] for part in rows for row in part}

    before, after = dates(0), dates(2)
    late = [
        created
        for number, created in after.items()
        if number not in before and created < max(before.values())
    ]
    assert late


def test_the_catalogue_walks_to_every_course(web: PracticeWeb):
    seen, number = [], 1
    while True:
        text = get(web, f"https://courses.practice.example/catalogue?page={number}").text
        seen += re.findall(r'<h2><a href="(/course/[^"]*)"', text)
        if 'rel="next"' not in text:
            break
        number += 1
    assert len(seen) == len(set(seen)) == int(re.search(r"(\d+) courses", text)[1])
    detail = get(web, f"https://courses.practice.example{seen[7]}").text
    known = json.loads(re.search(r'ld\+json">(.*?)</script>', detail)[1])
    assert known["offers"]["priceCurrency"] == "EUR"
    assert known["name"] in detail


def test_categories_part_the_catalogue(web: PracticeWeb):
    def count(path: str) -> int:
        return int(re.search(r"(\d+) courses", get(web, f"https://courses.practice.example{path}").text)[1])

    names = re.findall(
        r'href="/catalogue/(\w+)"', get(web, "https://courses.practice.example/catalogue").text
    )
    assert sum(count(f"/catalogue/{name}") for name in names) == count("/catalogue")


@pytest.mark.parametrize(
    ("host", "price"),
    [
        ("coins", r"\$[\d,]+\.\d\d"),
        ("muenzen", r"[\d.]+,\d\d €"),
        ("monnaies", "[\\d\u202f]+,\\d\\d\u00a0€"),
        ("mynt", "[\\d\u00a0]+ kr"),
    ],
)
def test_each_market_writes_money_as_its_country_does(web: PracticeWeb, host: str, price: str):
    text = get(web, f"https://{host}.practice.example/search?q=crown").text
    prices = re.findall(r'class="price">([^<]*)<', text)
    assert len(prices) > 5
    assert all(re.fullmatch(price, each) for each in prices)


def test_the_market_tells_sold_from_asked_and_puts_advertising_first(web: PracticeWeb):
    sold = get(web, "https://coins.practice.example/search?q=dollar&sold=1").text
    asked = get(web, "https://coins.practice.example/search?q=dollar").text
    assert "Sold " in sold
    assert "Sold " not in asked
    assert re.search(r'class="results"><li class="card sponsored">', asked)
    item = re.search(r'href="(/item/\d+)"', sold)[1]
    assert "Free shipping over" in get(web, f"https://coins.practice.example{item}").text


def test_a_search_for_nothing_shows_similar_items_instead(web: PracticeWeb):
    text = get(web, "https://coins.practice.example/search?q=rhinoceros").text
    assert "0 results for" in text
    assert "Similar items" in text
    assert "/item/" in text


def test_bulk_pages_have_the_size_and_the_fields_of_a_product_page(web: PracticeWeb):
    got = get(web, "https://bulk.example/page/17")
    assert 17_000 < len(got.body) < 24_000
    for mark in ("<h1>", 'class="price_color"', 'class="instock availability"'):
        assert mark in got.text
    assert len(links(got.text)) > 30
    assert get(web, "https://bulk.example/page/0").status == 404
    assert get(web, "https://shard7.bulk.example/page/17").body == got.body
    assert get(web, "https://bulk.example/page/100001").status == 404


def test_the_explanation_names_every_known_company_and_every_host():
    page = Path(__file__).parents[2] / "docs" / "explanation" / "practice-web.md"
    text = page.read_text("utf-8")
    assert [token for token in KNOWN if f"`{token}`" not in text] == []
    domains = {pattern.removeprefix("*.").split(".", pattern.count(".") - 1)[-1] for pattern, _ in HOSTS}
    assert [domain for domain in domains if domain not in text] == []
