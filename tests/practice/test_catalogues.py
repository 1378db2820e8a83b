"""The ten practice catalogues: what a polite visitor finds on each is exactly what was planted."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.practice.browse import Got, get
from thresher.fetch.chromium import find
from thresher.practice.web import (
    CATALOGUES,
    DAY_ZERO,
    CatalogueSite,
    Knob,
    PracticeWeb,
    Trouble,
    item_changes,
    planted,
    traps,
)
from thresher.practice.web.web import Web
from thresher.reading.html.charset import decode

SEED = 7
ALL = pytest.mark.parametrize("of", CATALOGUES, ids=lambda each: each.name)
DISALLOWED = ("/members/", "/print/", "/account/")
MANY_PAGES = 500


def named(name: str) -> CatalogueSite:
    return next(each for each in CATALOGUES if each.name == name)


def text_of(of: CatalogueSite, got: Got) -> str:
    """What a page shows, as plain text."""
    bare = re.sub(r"<(script|style).*?</\1>", " ", got.body.decode(of.charset), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", bare)).split())


def main_part(of: CatalogueSite, got: Got) -> str:
    return got.body.decode(of.charset).partition("<main>")[2].partition("</main>")[0]


def in_main(of: CatalogueSite, got: Got, url: str) -> list[str]:
    """The links of the main part of a page, without menu, related items and footer."""
    found = re.findall(r'<(?:a|button) [^>]*?(?:href|data-url)="([^"]*)"', main_part(of, got))
    return [urljoin(url, html.unescape(each)) for each in found]


def linked(name: str) -> list[str]:
    """Everything that the lists of a site link: items, traps, and the moved item under its old address."""
    found = traps(name, SEED, DAY_ZERO)
    own = {each.url for each in planted(name, SEED, DAY_ZERO)} - set(found.moved.values())
    return sorted({*own, *found.moved, *found.broken, *found.disallowed})


def listed(web: PracticeWeb, name: str, query: str, numbers: range) -> Iterator[str]:
    """The items linked by the lists under these numbers."""
    of = named(name)
    for number in numbers:
        url = of.start_url + query.format(number)
        yield from (each for each in in_main(of, get(web, url), url) if "?" not in each)


def walk(web: PracticeWeb, of: CatalogueSite) -> dict[str, Got]:
    """Follow every link of the main parts within a site, as robots.txt allows. No page is asked for twice."""
    left, seen = [of.start_url], {}
    while left and len(seen) < MANY_PAGES:
        url = left.pop()
        path = urlsplit(url).path
        if url in seen or urlsplit(url).hostname != of.host or path.startswith(DISALLOWED) or "sort=" in url:
            continue
        seen[url] = got = get(web, url)
        left += leads(of, got, url)
    assert not left
    return seen


def leads(of: CatalogueSite, got: Got, url: str) -> list[str]:
    if got.status in (301, 302):
        return [urljoin(url, got.headers["location"])]
    if got.headers["content-type"].startswith("application/json"):
        cards = Got(200, {}, f"<main>{got.json.get('html', '')}</main>".encode())
        after = [got.json["next"]] if got.json.get("next") else []
        return [*in_main(of, cards, url), *(urljoin(url, each) for each in after), *from_api(of, got, url)]
    return [
        *in_main(of, got, url),
        *(urljoin(url, each) for each in re.findall(r'data-api="([^"]*)"', got.body.decode(of.charset))),
    ]


def from_api(of: CatalogueSite, got: Got, url: str) -> list[str]:
    """What a script would go on with: its items, and the next page until the total is reached."""
    if "items" not in got.json:
        return []
    number = got.json["page"]
    after = [f"{url.partition('?')[0]}?page={number + 1}"] if number * of.per_page < got.json["total"] else []
    return [*(urljoin(url, each["url"]) for each in got.json["items"]), *after]


def test_a_site_that_is_none_is_refused_by_name(web: PracticeWeb):
    with pytest.raises(ValueError, match=r"no catalogue 'nowhere': choose one of numbered, offsets"):
        planted("nowhere", SEED, DAY_ZERO)
    for host in ("nowhere.catalogues.example", "n0.numbered.catalogues.example", "a.b.catalogues.example"):
        assert get(web, f"https://{host}/").status == 404


def test_the_catalogues_list_six_kinds_of_things_in_nine_ways_and_five_markups():
    assert len(CATALOGUES) == 10
    assert len({each.kind for each in CATALOGUES}) == 6
    assert len({each.listing for each in CATALOGUES}) == 9
    assert len({each.markup for each in CATALOGUES}) == 5


@ALL
def test_whoever_follows_the_links_politely_finds_exactly_what_is_planted(
    web: PracticeWeb, of: CatalogueSite
):
    pages = walk(web, of)
    found = [
        re.search(r'rel="canonical" href="([^"]*)"', got.body.decode(of.charset)) for got in pages.values()
    ]
    assert {html.unescape(each[1]) for each in found if each} == {
        each.url for each in planted(of.name, SEED, DAY_ZERO)
    }
    refused = {url for url, got in pages.items() if got.status >= 400}
    assert {
        each.partition("?")[0].partition("#")[0].rstrip("/").replace("http:", "https:") for each in refused
    } == set(traps(of.name, SEED, DAY_ZERO).broken)


@ALL
def test_every_planted_page_shows_every_planted_value(web: PracticeWeb, of: CatalogueSite):
    items = planted(of.name, SEED, DAY_ZERO)
    assert 30 <= len(items) <= 120
    assert len({each.url for each in items}) == len(items)
    assert len({each.fields[of.title] for each in items}) == len(items)
    for each in items:
        got = get(web, each.url)
        text = text_of(of, got)
        missing = [value for value in each.fields.values() if value and value not in text]
        assert (got.status, missing) == (200, []), each.url


@ALL
def test_optional_fields_are_missing_on_some_items_and_required_ones_on_none(of: CatalogueSite):
    items = planted(of.name, SEED, DAY_ZERO)
    assert sum(not each.required for each in of.fields) == 2
    for each in of.fields:
        missing = sum(item.fields[each.name] is None for item in items)
        assert (missing == 0) if each.required else (0 < missing < len(items)), each.name


@ALL
def test_a_week_brings_new_items_changes_some_and_ends_some(of: CatalogueSite):
    for days in (1, 7):
        seen = item_changes(of.name, SEED, DAY_ZERO, DAY_ZERO + timedelta(days=days))
        assert min(len(seen.new), len(seen.changed), len(seen.gone)) >= 1
    assert len(seen.changed) < len(planted(of.name, SEED, DAY_ZERO)) / 4


@ALL
def test_an_unchanged_page_answers_304_and_a_changed_one_does_not(web: PracticeWeb, of: CatalogueSite):
    before = {each.url: get(web, each.url).headers["etag"] for each in planted(of.name, SEED, DAY_ZERO)}
    web.set_day(7)
    after = {url: get(web, url, If_None_Match=etag).status for url, etag in before.items()}
    seen = item_changes(of.name, SEED, DAY_ZERO, DAY_ZERO + timedelta(days=7))
    assert {url for url, status in after.items() if status == 200} == seen.changed
    assert {url for url, status in after.items() if status in (404, 410)} == seen.gone
    assert all(get(web, url).status == 200 for url in seen.new)


@ALL
def test_the_lists_of_a_later_day_lead_to_the_items_of_that_day(web: PracticeWeb, of: CatalogueSite):
    web.set_day(3)
    pages = walk(web, of)
    canonical = (
        re.search(r'rel="canonical" href="([^"]*)"', got.body.decode(of.charset)) for got in pages.values()
    )
    assert {html.unescape(each[1]) for each in canonical if each} == {
        each.url for each in planted(of.name, SEED, DAY_ZERO + timedelta(days=3))
    }


@ALL
def test_the_traps_are_what_they_are_said_to_be(web: PracticeWeb, of: CatalogueSite):
    found = traps(of.name, SEED, DAY_ZERO)
    assert [get(web, url).status for url in found.broken] == [404] * len(found.broken)
    assert [get(web, url).status for url in found.disallowed] == [200] * len(found.disallowed)
    assert all(urlsplit(url).path.startswith(DISALLOWED) for url in found.disallowed)
    rules = get(web, f"https://{of.host}/robots.txt").text
    assert [f"Disallow: {each}" for each in DISALLOWED if f"Disallow: {each}\n" not in rules] == []
    for old, new in found.moved.items():
        got = get(web, old)
        assert (got.status, urljoin(old, got.headers["location"])) == (301, new)
        assert new in {each.url for each in planted(of.name, SEED, DAY_ZERO)}


@ALL
def test_every_page_links_into_the_part_that_is_disallowed(web: PracticeWeb, of: CatalogueSite):
    text = get(web, planted(of.name, SEED, DAY_ZERO)[0].url).body.decode(of.charset)
    assert 'href="/account/login"' in text
    assert get(web, f"https://{of.host}{re.search(r'/print/[0-9]+', text)[0]}").status == 200


@ALL
def test_related_items_are_there_on_every_day(web: PracticeWeb, of: CatalogueSite):
    for day in (0, 9):
        web.set_day(day)
        items = {each.url for each in planted(of.name, SEED, DAY_ZERO + timedelta(days=day))}
        for url in items:
            aside = get(web, url).body.decode(of.charset).partition('<aside class="related">')[2]
            related = re.findall(r'<li><a href="([^"]*)"', aside.partition("</aside>")[0])
            assert len(related) == 3
            assert {urljoin(url, each) for each in related} <= items


@ALL
def test_the_lists_of_all_but_the_api_have_broken_disallowed_and_moved_entries(of: CatalogueSite):
    found = traps(of.name, SEED, DAY_ZERO)
    expected = (0, 0, 0) if of.name == "api" else (2, 3 if of.name == "departments" else 2, 1)
    assert (len(found.broken), len(found.disallowed), len(found.moved)) == expected


@ALL
def test_a_catalogue_grows_to_any_size(of: CatalogueSite):
    large = Web(SEED)
    items = planted(f"n5000.{of.name}", SEED, DAY_ZERO)
    assert 4_700 < len(items) <= 5_000
    assert len({each.url for each in items}) == len(items)
    last = urlsplit(items[-1].url)
    exchange = large.arrive(last.netloc, "GET", last.path, {})
    answer, _ = large.answer(exchange, {}, b"")
    assert (last.netloc, answer.status) == (f"n5000.{of.host}", 200)


@ALL
def test_another_seed_plants_other_items(of: CatalogueSite):
    one, other = (planted(of.name, seed, DAY_ZERO) for seed in (SEED, SEED + 1))
    assert [each.fields for each in one] != [each.fields for each in other]


def test_the_knobs_for_lists_work_on_catalogues(web: PracticeWeb):
    of = named("numbered")
    usual = in_main(of, get(web, of.start_url), of.start_url)
    web.turn(Knob(Trouble.ROTATING_IDS, of.host))
    renamed = [each for each in in_main(of, get(web, of.start_url), of.start_url) if "/course/" in each]
    assert not set(renamed) & set(usual)
    assert [get(web, each).status for each in renamed].count(200) == len(renamed) - 1
    web.reset()
    web.turn(Knob(Trouble.NO_RESULTS, of.host))
    text = get(web, of.start_url).text
    assert "0 results" in text
    assert "Recommended for you" in text


# Each site by its own make.


def test_a_numbered_list_ends_where_it_says(web: PracticeWeb):
    assert sorted(listed(web, "numbered", "?page={}", range(1, 7))) == linked("numbered")
    assert get(web, "https://numbered.catalogues.example/courses?page=7").status == 404
    text = get(web, "https://numbered.catalogues.example/courses?page=3").text
    assert "71 results" in text
    assert re.findall(r"\?page=(\d)\">(\d)</a>", text) == [(each, each) for each in "12456"]


def test_offsets_reach_everything_and_are_empty_after_it(web: PracticeWeb):
    assert sorted(listed(web, "offsets", "?offset={}&limit=20", range(0, 100, 20))) == linked("offsets")
    beyond = get(web, "https://offsets.catalogues.example/credentials?offset=100&limit=20")
    assert (beyond.status, "No entries here." in beyond.text) == (200, True)


def test_only_the_next_link_leads_on_where_there_are_no_numbers(web: PracticeWeb):
    of = named("nextlinks")
    url, seen = of.start_url, []
    while url:
        got = get(web, url)
        seen += [each for each in in_main(of, got, url) if "cursor=" not in each]
        found = re.search(r'rel="next" href="([^"]*)">Weiter', got.body.decode(of.charset))
        url = urljoin(url, found[1]) if found else ""
    assert sorted(seen) == linked("nextlinks")
    assert get(web, f"{of.start_url}?cursor=MTI").status == 404


def test_the_legacy_site_says_nothing_about_its_charset_and_can_be_read_all_the_same(web: PracticeWeb):
    of = named("nextlinks")
    for each in planted(of.name, SEED, DAY_ZERO):
        got = get(web, each.url)
        assert got.headers["content-type"] == "text/html"
        assert b"charset" not in got.body
        with pytest.raises(UnicodeDecodeError):
            got.body.decode()
        assert decode(got.body, "text/html").text == got.body.decode("cp1252")


def test_the_legacy_site_keeps_its_charset_when_its_layout_changes(web: PracticeWeb):
    of = named("nextlinks")
    before = get(web, of.start_url)
    web.turn(Knob(Trouble.LAYOUT, of.host))
    after = get(web, of.start_url)
    assert after.body != before.body
    assert text_of(of, after) == text_of(of, before)


def test_without_a_script_only_the_first_batch_is_there(web: PracticeWeb):
    of = named("loadmore")
    got = get(web, of.start_url)
    (more,) = [each for each in in_main(of, got, of.start_url) if "more?" in each]
    assert len(set(in_main(of, got, of.start_url))) == 1 + of.per_page
    first = get(web, more).json
    assert first["html"].count('class="card"') == of.per_page
    assert first["next"] == "/shop/more?after=20"
    assert get(web, "https://loadmore.catalogues.example/shop/more?after=60").json["next"] is None


def branches(web: PracticeWeb, levels: int) -> dict[str, dict[str, list[str]]]:
    """The pages of departments (2 levels) or subjects (3), by path and then by number, with their links."""
    of, found = named("departments"), {}
    for url, got in walk(web, of).items():
        path, number = urlsplit(url).path, urlsplit(url).query or "page=1"
        if path.startswith("/departments/") and path.count("/") == levels:
            found.setdefault(path, {})[number] = in_main(of, got, url)
    return found


def test_departments_lead_to_subjects_and_each_item_is_in_one_subject(web: PracticeWeb):
    pages = branches(web, 3).values()
    times = Counter(each for subject in pages for links in subject.values() for each in links)
    items = {url: count for url, count in times.items() if "/departments/" not in url}
    assert set(items.values()) == {1}
    assert sorted(items) == [url for url in linked("departments") if not url.endswith("staff-training")]


def test_the_levels_of_departments_have_unequal_numbers_of_pages(web: PracticeWeb):
    assert {len(pages) for pages in branches(web, 2).values()} == {1, 2}
    assert len({len(pages) for pages in branches(web, 3).values()}) > 2


def test_the_api_has_what_its_shell_does_not(web: PracticeWeb):
    of = named("api")
    shell = get(web, of.start_url)
    assert in_main(of, shell, of.start_url) == []
    assert "/api/courses?page=" in shell.text
    items = planted("api", SEED, DAY_ZERO)
    answers = [get(web, f"https://{of.host}/api/courses?page={number}").json for number in range(1, 6)]
    assert {each["total"] for each in answers} == {len(items)}
    found = [each for answer in answers for each in answer["items"]]
    assert [{name: each[name] for name in items[0].fields} for each in found] == [
        dict(each.fields) for each in items
    ]
    assert [urljoin(of.start_url, each["url"]) for each in found] == [each.url for each in items]
    assert get(web, f"https://{of.host}/api/courses?page=6").json["items"] == []
    one = get(web, f"https://{of.host}/api/courses/{items[3].id}").json
    assert one == found[3]


@pytest.mark.parametrize(("name", "entry"), [("loadmore", ".card a"), ("api", "#catalogue a")])
def test_a_script_brings_what_the_page_without_it_lacks(web: PracticeWeb, name: str, entry: str):
    chromium, of = find(), named(name)
    assert chromium is not None, "there is no Chromium: run python -m thresher.fetch.chromium"
    arguments = ["--no-sandbox", "--host-resolver-rules=MAP * 127.0.0.1"]
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=str(chromium.path), args=arguments)
        try:
            tab = browser.new_page()
            tab.goto(f"http://{of.host}:{web.port}{of.start}")
            found = pressed_to_the_end(tab, entry)
        finally:
            browser.close()
    assert sorted(urljoin(of.start_url, each) for each in found) == linked(name)


def pressed_to_the_end(tab: Page, entry: str) -> list[str]:
    """The links to all entries after the button was pressed until it went away."""
    longer = "([entry, before]) => document.querySelectorAll(entry).length > before"
    tab.wait_for_selector(entry)
    while tab.locator("main button").count():
        before = tab.locator(entry).count()
        tab.click("main button")
        tab.wait_for_function(longer, arg=[entry, before])
    return tab.eval_on_selector_all(entry, "all => all.map(each => each.getAttribute('href'))")


def test_the_first_page_is_number_zero(web: PracticeWeb):
    of = named("zerobased")
    assert get(web, f"{of.start_url}?p=0").body == get(web, of.start_url).body
    assert sorted(listed(web, "zerobased", "?p={}", range(6))) == linked("zerobased")
    text = get(web, f"{of.start_url}?p=1").text
    assert re.findall(r"\?p=(\d)\">(\d)</a>", text) == [("0", "1"), ("2", "3"), ("3", "4"), ("5", "6")]
    beyond = get(web, f"{of.start_url}?p=6")
    assert (beyond.status, "No statements here." in beyond.text) == (200, True)


def test_the_total_lies_and_so_does_the_last_page(web: PracticeWeb):
    of = named("totals")

    def entries(number: int) -> list[str]:
        url = f"{of.start_url}?page={number}"
        got = get(web, url)
        assert got.status == 200
        return [each for each in in_main(of, got, url) if "?" not in each]

    first = get(web, of.start_url).text
    assert len(planted("totals", SEED, DAY_ZERO)) == 57
    assert "1,240 results" in first
    assert ">62</a>" in first
    assert sorted(each for number in range(1, 5) for each in entries(number)) == linked("totals")
    assert entries(5) == entries(4) != []
    assert [entries(number) for number in (6, 30, 62, 63)] == [[], [], [], []]


def test_each_item_is_linked_several_times_and_every_way_leads_to_it(web: PracticeWeb):
    of = named("duplicates")
    got = get(web, f"{of.start_url}?page=2")
    cards = re.findall(r'<article class="card">.*?</article>', main_part(of, got))
    own = [each for each in cards if "partner.example" not in each]
    assert {each.count("href=") for each in own} == {3, 4, 5}
    ways = [urljoin(of.start_url, html.unescape(each)) for each in re.findall(r'href="([^"]*)"', own[4])]
    assert len({get(web, each).body for each in ways}) == 1
    every = " ".join(main_part(of, get(web, f"{of.start_url}?page={number}")) for number in range(1, 6))
    assert all(mark in every for mark in ("utm_source=", "#reviews", "/?ref=", f'href="http://{of.host}'))


def test_items_come_on_two_pages_on_two_shelves_and_among_the_featured(web: PracticeWeb):
    of = named("duplicates")

    def entries(path: str, part: str) -> set[str]:
        main = main_part(of, get(web, f"https://{of.host}{path}"))
        chosen = main.partition("</section>")[0 if part == "featured" else 2]
        return set(re.findall(r'<h2><a href="(/[^"]*)"', chosen))

    assert len(entries("/?page=1", "list") & entries("/?page=2", "list")) == 2
    assert entries("/?page=1", "featured") == entries("/?page=4", "featured")
    shelves = [
        {each for number in (1, 2, 3) for each in entries(f"/c/{name}?page={number}", "list")}
        for name in ("garden", "kitchen", "workshop", "gifts")
    ]
    times = Counter(each for shelf in shelves for each in shelf)
    assert set(times.values()) == {1, 2}


def test_advertisements_look_like_items_and_lead_elsewhere(web: PracticeWeb):
    of = named("duplicates")
    got = get(web, of.start_url)
    cards = re.findall(r'<article class="card">.*?</article>', main_part(of, got))
    adverts = [each for each in cards if "https://offers.partner.example/click" in each]
    assert len(adverts) == 2
    assert all("<h2>" in each and 'class="meta"' in each for each in adverts)


def test_the_layout_differs_from_item_to_item_and_changes_for_all_one_day(web: PracticeWeb):
    of = named("layouts")

    def is_new(number: int) -> bool:
        text = main_part(of, get(web, f"https://{of.host}/programmes/{number}"))
        assert ("c-fact__value" in text) != ("<dl" in text)
        assert (text.index("Campus") < text.index("Degree")) == ("c-fact__value" in text)
        return "c-fact__value" in text

    whole = [each.id for each in planted("layouts", SEED, DAY_ZERO) if each.fields["campus"]]
    assert {is_new(number) for number in whole if number % 2} == {True}
    assert {is_new(number) for number in whole if number % 2 == 0} == {False}
    web.set_day(14)
    still = {each.id for each in planted("layouts", SEED, DAY_ZERO + timedelta(days=14))}
    assert {is_new(number) for number in whole if number in still} == {True}


def test_some_pages_speak_to_machines(web: PracticeWeb):
    course = planted("numbered", SEED, DAY_ZERO)[1]
    known = json.loads(re.search(r'ld\+json">(.*?)</script>', get(web, course.url).text)[1])
    assert (known["@type"], known["name"], known["url"]) == ("Course", course.fields["name"], course.url)
    articles = [get(web, each.url).text for each in planted("totals", SEED, DAY_ZERO)]
    assert {"ld+json" in each for each in articles} == {True, False}
    product = get(web, planted("loadmore", SEED, DAY_ZERO)[0].url).text
    assert 'itemtype="https://schema.org/Product"' in product
    assert 'itemprop="price" content="' in product


def test_what_has_ended_is_gone_or_not_found(web: PracticeWeb):
    ended = [
        url
        for each in CATALOGUES
        for url in item_changes(each.name, SEED, DAY_ZERO, DAY_ZERO + timedelta(days=9)).gone
    ]
    web.set_day(9)
    assert {get(web, url).status for url in ended} == {404, 410}
