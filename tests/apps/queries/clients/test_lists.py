"""Lists, page by page over a real connection: every way to go on, and every way to lie about the end."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import web

from tests.apps.queries.clients.answers import ORIGIN, TODAY, client, offer, offers
from tests.fetch.desk import at
from tests.harness.databases import only_sqlite
from thresher.apps.queries.clients.client import read_page
from thresher.apps.queries.clients.search import Search

__all__ = ["at"]

pytestmark = only_sqlite

PATH = "api.acme.example/v1/offers"
FIELDS = "fields: {id: id, title: name, url: link}"
KEY = {"ACME_KEY": "s3cret-k&y"}


def listed(query, paging, answer="", **more):
    return client(
        request=f"{{url: {ORIGIN}/v1/offers, query: {{{query}}}}}",
        paging=paging,
        answer=f"{{rows: offers, {answer}{FIELDS}}}",
        **more,
    )


PAGED = listed('page: "{page}", of: "{size}"', "{kind: page, size: 10}")
COUNTED = listed('page: "{page}"', "{kind: page, size: 10}", "total: count, ")
OFFSET = listed('skip: "{offset}", of: "{size}"', "{kind: offset, size: 10}", "total: count, ")
CURSOR = listed('after: "{cursor}"', "{kind: cursor}", "next: meta.after, ")
LINK = listed("", "{kind: link}", "next: links.next, ")


def said(data, status=200):
    return web.Response(status=status, body=json.dumps(data).encode(), content_type="application/json")


def asked_for(request, name, default):
    return parse_qs(urlsplit(request.path).query).get(name, [default])[0]


@pytest.fixture
def walk(at):
    """Walk a list to its end: `walk(client, answer)` gives the pages, and what was asked for."""

    def run(made, answer, env={}):
        async def story(desk):
            pages, cursor, search = [], None, Search(today=TODAY)
            while len(pages) < 12 and (cursor is not None or not pages):
                call = made.call(search, cursor, env)
                page = await desk.fetch(
                    call.url,
                    method=call.method,
                    headers=call.headers,
                    body=call.body,
                    credentials=call.credentials,
                )
                pages.append(read_page(made, search, cursor, page))
                cursor = pages[-1].next
            return pages, [each for each in desk.site.log if each.path != "/robots.txt"]

        return at({PATH: answer}, story)

    return run


def keys(pages):
    return [each.posting.key for page in pages for each in page.offers]


ALL = [f"A-{number}" for number in range(1, 26)]


def by_page(count=25, size=10, **more):
    def answer(request):
        first = (int(asked_for(request, "page", "1")) - 1) * size
        return said({"offers": offers(first + 1, max(0, min(size, count - first))), **more})

    return answer


def by_offset(count=25, size=10, **more):
    def answer(request):
        first = int(asked_for(request, "skip", "0"))
        return said({"offers": offers(first + 1, max(0, min(size, count - first))), "count": count, **more})

    return answer


def by_cursor(request):
    first = int(asked_for(request, "after", "c0")[1:])
    after = f"c{first + 10}" if first < 20 else None
    return said({"offers": offers(first + 1, min(10, 25 - first)), "meta": {"after": after}})


def by_link(request):
    first = int(asked_for(request, "from", "0"))
    after = f"/v1/offers?from={first + 10}" if first < 20 else None
    return said({"offers": offers(first + 1, min(10, 25 - first)), "links": {"next": after}})


@pytest.mark.parametrize(
    ("made", "answer", "paths"),
    [
        (PAGED, by_page(), ["?page=1&of=10", "?page=2&of=10", "?page=3&of=10"]),
        (COUNTED, by_page(count=25), ["?page=1", "?page=2", "?page=3"]),
        (OFFSET, by_offset(), ["?skip=0&of=10", "?skip=10&of=10", "?skip=20&of=10"]),
        (OFFSET, by_offset(size=7), ["?skip=0&of=10", "?skip=7&of=10", "?skip=14&of=10", "?skip=21&of=10"]),
        (CURSOR, by_cursor, ["", "?after=c10", "?after=c20"]),
        (LINK, by_link, ["", "?from=10", "?from=20"]),
    ],
)
def test_every_way_to_go_on_reaches_every_offer_once_and_ends_without_a_word(walk, made, answer, paths):
    pages, asked = walk(made, answer)
    assert keys(pages) == ALL
    assert [each.path.removeprefix("/v1/offers") for each in asked] == paths
    assert [(page.trouble, page.capped, page.bad) for page in pages] == [(None, None, ())] * len(pages)


def test_pages_that_come_short_in_the_middle_do_not_end_a_list_that_counts_itself(walk):
    short = {"1": 10, "2": 3, "3": 10, "4": 2}

    def answer(request):
        page = asked_for(request, "page", "1")
        before = sum(count for number, count in short.items() if number < page)
        return said({"offers": offers(before + 1, short[page]), "count": 25})

    assert keys(walk(COUNTED, answer)[0]) == ALL


def test_a_total_that_is_too_low_does_not_cut_a_list_short(walk):
    def lying(request):
        first = (int(asked_for(request, "page", "1")) - 1) * 10
        return said({"offers": offers(first + 1, max(0, min(10, 25 - first))), "count": 5})

    assert keys(walk(COUNTED, lying)[0]) == ALL


def test_an_empty_page_before_the_total_is_reached_is_trouble(walk):
    def answer(request):
        page = int(asked_for(request, "page", "1"))
        return said({"offers": offers(1, 10) if page == 1 else [], "count": 25})

    pages, _ = walk(COUNTED, answer)
    assert pages[-1].trouble == "page 2 is empty, although it says that there are 25, and shows 10"


def test_a_server_that_ignores_the_page_is_seen_at_its_second_answer(walk):
    for made in (PAGED, COUNTED, OFFSET):
        pages, asked = walk(made, lambda request: said({"offers": offers(1, 10), "count": 90}))
        assert len(asked) == 2
        assert pages[-1].trouble == "page 2 repeats the rows of an earlier one"
        assert (pages[-1].offers, pages[-1].next) == ((), None)


def test_a_server_that_starts_again_from_the_top_or_shuffles_its_rows_is_seen(walk):
    def wraps(request):
        first = (int(asked_for(request, "page", "1")) - 1) % 3 * 10
        return said({"offers": offers(first + 1, 10)})

    def shuffles(request):
        rows = offers(1, 10)
        return said(
            {
                "offers": rows[int(asked_for(request, "page", "1")) :]
                + rows[: int(asked_for(request, "page", "1"))]
            }
        )

    assert [page.trouble for page in walk(PAGED, wraps)[0]] == [
        None,
        None,
        None,
        "page 4 repeats the rows of an earlier one",
    ]
    assert walk(PAGED, shuffles)[0][-1].trouble == "page 2 repeats the rows of an earlier one"


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/v1/offers",
        "//evil.example/x",
        "http://api.acme.example/v1/offers",
        "https://api.acme.example:8443/",
        "javascript:alert(1)",
        "https://api.acme.example@evil.example/",
        "data:,x",
        "https://[",
        "http://127.0.0.1/",
    ],
)
def test_a_next_link_to_another_host_ends_the_list_with_trouble_and_is_never_requested(walk, link):
    pages, asked = walk(LINK, lambda request: said({"offers": offers(1, 2), "links": {"next": link}}))
    assert len(asked) == 1
    assert keys(pages) == ["A-1", "A-2"]
    assert pages[0].trouble == "the link to the next page leads to another host"


@pytest.mark.parametrize("link", ["/v1/offers", f"{ORIGIN}/v1/offers", "?", "#more"])
def test_a_next_link_to_the_page_itself_is_trouble(walk, link):
    pages, asked = walk(LINK, lambda request: said({"offers": offers(1, 2), "links": {"next": link}}))
    assert len(asked) == 1
    assert pages[0].trouble == "the link to the next page leads to the page itself"


def test_a_cursor_that_stays_the_same_or_is_endless_is_trouble(walk):
    pages, _ = walk(
        CURSOR, lambda request: said({"offers": [offer(len(request.path))], "meta": {"after": "same"}})
    )
    assert [page.trouble for page in pages] == [None, "the link to the next page leads to the page itself"]
    pages, _ = walk(CURSOR, lambda request: said({"offers": offers(1, 1), "meta": {"after": "x" * 5_000}}))
    assert "5,000 characters" in pages[0].trouble


def test_one_empty_page_with_a_next_one_is_passed_and_two_are_trouble(walk):
    def answer(request):
        number = int(asked_for(request, "after", "0"))
        rows = [] if number == 1 else offers(number * 10 + 1, 2)
        return said({"offers": rows, "meta": {"after": str(number + 1) if number < 2 else None}})

    pages, _ = walk(CURSOR, answer)
    assert keys(pages) == ["A-1", "A-2", "A-21", "A-22"]

    def empties(request):
        number = int(asked_for(request, "after", "0"))
        return said({"offers": [], "meta": {"after": str(number + 1)}})

    pages, _ = walk(CURSOR, empties)
    assert [page.trouble for page in pages] == [None, "page 2 repeats the rows of an earlier one"]


def test_a_total_that_is_never_shown_is_said_to_be_capped(walk):
    made = listed("", "{kind: link}", "next: next, total: count, ")
    pages, _ = walk(made, lambda request: said({"offers": offers(1, 3), "count": 48_385, "next": None}))
    assert pages[0].capped == "it says that there are 48,385, and shows 3"
    whole = client()
    pages, _ = walk(whole, lambda request: said({"offers": offers(1, 3), "count": 9}))
    assert (pages[0].capped, pages[0].trouble) == ("it says that there are 9, and shows 3", None)


@pytest.mark.parametrize("cap", ["max_pages: 2", "max_rows: 20"])
def test_what_a_provider_never_shows_is_capped_and_a_list_that_ends_there_is_not(walk, cap):
    made = listed('page: "{page}"', f"{{kind: page, size: 10, {cap}}}", "total: count, ")
    pages, asked = walk(made, by_offset_total(50))
    assert len(asked) == 2
    assert pages[-1].capped.startswith("it shows 2")
    assert pages[-1].capped.endswith("it says that there are 50, and shows 20")
    assert walk(made, by_offset_total(20))[0][-1].capped is None


def by_offset_total(count):
    def answer(request):
        first = (int(asked_for(request, "page", "1")) - 1) * 10
        return said({"offers": offers(first + 1, min(10, count - first)), "count": count})

    return answer


def test_one_answer_that_is_as_long_as_it_may_be_is_capped(walk):
    made = listed('of: "{size}"', "{kind: none, size: 50, max_rows: 50}")
    assert (
        walk(made, lambda request: said({"offers": offers(1, 50)}))[0][0].capped == "it shows 50 rows at most"
    )
    assert walk(made, lambda request: said({"offers": offers(1, 49)}))[0][0].capped is None


def test_the_answers_own_word_on_whether_there_is_more_counts_first(walk):
    made = listed('page: "{page}"', "{kind: page, size: 10}", "more: more, ")

    def answer(request):
        page = int(asked_for(request, "page", "1"))
        return said({"offers": offers(page * 10, 2), "more": page < 3})

    assert len(walk(made, answer)[0]) == 3
    numbered = listed('page: "{page}"', "{kind: page, size: 10}", "pages: pages, ")
    assert (
        len(
            walk(
                numbered,
                lambda request: said(
                    {"offers": offers(int(asked_for(request, "page", "1")) * 10, 2), "pages": 4}
                ),
            )[0]
        )
        == 4
    )


def test_a_page_in_the_middle_that_is_a_wall_is_trouble_and_ends_the_list(walk):
    def answer(request):
        if asked_for(request, "page", "1") == "2":
            return web.Response(text="<html><title>Sign in</title><p>please", content_type="text/html")
        return said({"offers": offers(1, 10), "count": 25})

    pages, _ = walk(COUNTED, answer)
    assert len(pages) == 2
    assert pages[1].trouble == "a page for people came instead of data"


@pytest.mark.parametrize(
    "auth",
    [
        "{as: query, name: key, env: ACME_KEY}",
        "{env: ACME_KEY}",
        "{as: header, name: User-Agent, env: ACME_KEY}",
    ],
)
def test_a_secret_reaches_the_provider_on_every_page_and_nothing_that_is_kept(walk, auth):
    made = listed("", "{kind: link}", "next: links.next, ", auth=auth)

    def echoing(request):
        first = int(asked_for(request, "from", "0"))
        key = "&key=s3cret-k%26y" if "s3cret" in request.path else ""
        link = f"/v1/offers?from={first + 10}{key}" if first < 20 else None
        return said({"offers": offers(first + 1, 5), "links": {"next": link}})

    pages, asked = walk(made, echoing, env=KEY)
    assert len(asked) == 3
    for each in asked:
        assert ("s3cret-k%26y" in each.path) == ("query" in auth)
        assert "s3cret" in each.path + str(each.headers)
    assert "s3cret" not in str(pages)


def test_a_secret_does_not_follow_a_redirect_and_what_is_found_there_is_not_believed(at):
    made = listed("", "{kind: none}", auth="{env: ACME_KEY}")

    async def story(desk):
        call = made.call(Search(today=TODAY), None, KEY)
        page = await desk.fetch(call.url, headers=call.headers, credentials=call.credentials)
        seen = {each.host: str(each.headers) for each in desk.site.log if each.path != "/robots.txt"}
        assert "s3cret" in seen["api.acme.example"]
        assert "s3cret" not in seen["other.example"]
        assert (
            "redirected to https://other.example" in read_page(made, Search(today=TODAY), None, page).trouble
        )

    away = web.Response(status=302, headers={"location": "https://other.example/x"})
    at({PATH: away, "other.example/x": lambda request: said({"offers": offers(1, 3)})}, story)
