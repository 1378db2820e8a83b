"""The whole of reading on one page: the keys that programs rely on, recordings, and whatever bytes may
come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reading.pages import PROSE, TODAY, look, page, rows
from thresher.core.errors import Blocked, TimedOut
from thresher.core.page import Page, Verdict, Via
from thresher.reading.inspect.inspection import as_json, inspect, unreachable
from thresher.reading.inspect.report import PageKind, advice

KEYS = {
    "source",
    "status",
    "verdict",
    "reason",
    "kind",
    "title",
    "language",
    "board",
    "company",
    "postings",
    "products",
    "links",
    "lists",
    "pagination",
    "markdown",
    "text",
    "timings",
}
LIST = f"<title>Jobs at Acme</title><h1>Jobs</h1><ul>{rows(6)}</ul><a rel=next href='/jobs?page=2'>Next</a>"


def test_the_keys_are_those_that_programs_rely_on():
    found = as_json(look(LIST, "https://acme.example/jobs"))
    assert set(found) == KEYS
    assert set(found["company"]) == {"name", "website", "about", "careers_url"}
    assert set(found["pagination"]) == {"next", "pages"}
    assert set(found["postings"][0]) == {
        "title",
        "company",
        "location",
        "url",
        "posted_date",
        "employment_type",
        "salary",
        "description",
    }
    assert found["pagination"]["next"] == "https://acme.example/jobs?page=2"
    assert json.loads(json.dumps(found)) == found


def test_a_product_in_json_has_its_price_in_the_smallest_unit():
    found = as_json(look('<h1>Ladder</h1><p class="price">£51.77</p>'))
    assert found["products"] == [
        {
            "name": "Ladder",
            "price": {"amount_minor": 5177, "currency": "GBP", "text": "£51.77"},
            "availability": None,
            "url": "https://acme.example/",
        }
    ]


def test_a_wall_is_a_bot_wall_in_json_with_nothing_in_it():
    found = as_json(look(f"<title>Pardon Our Interruption</title><ul>{rows(3)}</ul>"))
    assert (found["verdict"], found["kind"], found["postings"]) == ("blocked", "bot wall", [])


def test_a_board_in_json_is_platform_token_and_address():
    assert as_json(look("<p>x</p>", "https://jobs.lever.co/acme"))["board"] == {
        "platform": "lever",
        "token": "acme",
        "url": "https://jobs.lever.co/acme",
    }


def recording(status: int, body: object) -> str:
    request = {"method": "get", "uri": "https://boards-api.greenhouse.io/v1/boards/acme/jobs"}
    return json.dumps(
        {"request": request, "status": status, "headers": {"Content-Type": ["text/html"]}, "body": body}
    )


@pytest.mark.promise(7)
def test_a_recorded_refusal_is_a_refusal_though_the_file_could_be_read():
    seen = look(recording(400, {"error": "no such board"}), "exchange.json", kind="application/json")
    assert seen.status == 400
    assert seen.look.verdict is Verdict.UNKNOWN
    assert seen.board is not None
    assert seen.board.token == "acme"


def test_a_recorded_answer_is_read_as_the_answer_it_was():
    job = {
        "id": 1,
        "title": "Ladder maker",
        "absolute_url": "https://boards.greenhouse.io/acme/jobs/1",
        "location": {"name": "Leeds"},
    }
    seen = look(recording(200, {"jobs": [job]}), "exchange.json", kind="application/json")
    assert seen.look.verdict is Verdict.FOUND
    assert [posting.title for posting in seen.postings] == ["Ladder maker"]


def test_a_saved_page_without_an_address_uses_the_one_it_names():
    body = (
        f"<html><head><link rel=canonical href='https://acme.example/jobs'></head><body>{LIST}</body></html>"
    )
    seen = inspect(Page("saved.html", "", 200, {}, body.encode(), via=Via.FILE), TODAY)
    assert seen.postings[0].url == "https://acme.example/job/10001"


def test_a_saved_page_that_names_no_address_is_read_too():
    seen = inspect(Page("saved.html", "", 200, {}, LIST.encode(), via=Via.FILE), TODAY)
    assert seen.postings[0].url == "/job/10001"


def test_next_links_that_contradict_each_other_are_told():
    head = "<title>Jobs</title><link rel=next href='/jobs?start=15'>"
    body = f"<html><head>{head}</head><body><ul>{rows(6)}</ul><a href='/jobs?start=10'>Next</a></body></html>"
    assert "another next-link" in look(body, "https://acme.example/jobs").look.reason


@pytest.mark.promise(14)
def test_every_posting_and_product_says_where_it_stands():
    seen = look(LIST, "https://acme.example/jobs")
    assert all(posting.where for posting in seen.postings)
    assert all(product.where for product in look('<h1>Ladder</h1><p class="price">£51.77</p>').products)


def test_broken_json_says_where_it_broke():
    seen = look('{"jobs": [{"title": ', kind="application/json")
    assert seen.look.verdict is Verdict.UNKNOWN
    assert "cannot be read" in seen.look.reason


@pytest.mark.parametrize("kind", ["application/json", "text/html"])
@pytest.mark.promise(7)
def test_a_wall_where_data_was_asked_for_is_a_wall(kind: str):
    for body in (
        "<title>Just a moment...</title><p>Checking your browser</p>",
        '{"url":"https://geo.captcha-delivery.com/captcha/?c=1"}',
    ):
        seen = look(body, "https://api.lever.co/v0/postings/acme", kind=kind)
        assert (seen.look.verdict, seen.kind) == (Verdict.BLOCKED, PageKind.WALL)


def test_html_served_as_xml_is_read_as_html():
    seen = look(
        f"<?xml version='1.0'?><!DOCTYPE html><html><body>{PROSE}</body></html>", kind="application/xhtml+xml"
    )
    assert seen.look.verdict is Verdict.FOUND
    assert "Ladders of ash" in seen.text


def test_a_page_that_never_came_says_why():
    assert unreachable("https://x.example", Blocked("a wall")).look.verdict is Verdict.BLOCKED
    assert unreachable("https://x.example", TimedOut("no answer")).look.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("body", "url", "piece"),
    [
        ("<title>Just a moment...</title>", "https://acme.example/", "Do not force it"),
        (
            '<div id="root"></div><script src="a.js"></script>',
            "https://jobs.lever.co/acme",
            "https://api.lever.co/v0/postings/acme",
        ),
        ("<h1>No results found</h1>", "https://acme.example/", "Try again"),
        (LIST, "https://acme.example/jobs", "next page"),
        (f"<h1>Careers</h1>{PROSE}", "https://acme.example/careers", "It proves nothing"),
        (PROSE, "https://acme.example/", "It can be read"),
    ],
)
def test_every_inspection_ends_with_what_to_do(body: str, url: str, piece: str):
    assert piece in advice(look(body, url))


SOUP = st.lists(
    st.sampled_from(
        [
            "<ul>",
            "<li>",
            "</ul>",
            "<a href='/job/100001'>",
            "</a>",
            "<h1>",
            "<table>",
            "<td>",
            "Location:",
            "0 results",
            "£5.00",
            "<script>",
            "</script>",
            '<script type="application/ld+json">',
            '{"@type":"JobPosting","title":',
            "<div class=price>",
            "\x00",
            "&lt;",
            "<dl><dt>Salary<dd>",
            "]]>",
            "<b>",
            "<template>",
            "<iframe src=//jobs.lever.co/x>",
            "window.x={",
            "}",
            "[",
            "日本",
            "<svg><title>x",
        ]
    ),
    max_size=40,
).map("".join)


@given(SOUP)
@pytest.mark.promise(18)
def test_any_soup_is_some_page(body: str):
    as_json(look(body))


@given(
    st.binary(max_size=400),
    st.sampled_from(["text/html", "application/json", "application/xml", ""]),
    st.integers(200, 599),
)
@pytest.mark.promise(18)
def test_any_bytes_are_some_page(body: bytes, kind: str, status: int):
    as_json(inspect(page(body, status=status, kind=kind), TODAY))


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 50_000,
        "<a href='/job/1'>x</a>" * 30_000,
        "<div " + " ".join(f"a{n}=1" for n in range(50_000)) + ">",
        "<ul>" + "<li class=price><a href='/p/123456'>" * 10_000,
        "<script>x=" + "[" * 100_000 + "</script>",
        "<p>" + "Location: " * 50_000,
        "<title>" + "0 " * 100_000,
    ],
    ids=["nested", "links", "attributes", "rows", "brackets", "labels", "title"],
)
@pytest.mark.promise(18)
def test_a_hostile_page_ends(body: str):
    assert inspect(page(body), TODAY).look.verdict in set(Verdict)


@pytest.mark.promise(18)
def test_hostile_json_ends():
    assert look("[" * 100_000, kind="application/json").kind is PageKind.OTHER
    assert look('{"a":' * 50_000, kind="application/json").look.verdict is Verdict.UNKNOWN
