"""Whatever is asked, every site answers: no crash, no hang, nothing but HTTP statuses that sites have."""

import errno
import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.practice.browse import get
from thresher.practice.web import CATALOGUES, Knob, PracticeWeb, Trouble, company
from thresher.practice.web.hosts import HOSTS
from thresher.practice.web.web import Web

WEB = Web(seed=7)
TOKENS = {
    "myworkdayjobs.com": "dunlin.wd1",
    "recruitee.com": "fathom",
    "jobs.personio.de": "heron",
    "teamtailor.com": "isthmus",
    "bamboohr.com": "juniper",
    "jobs.personio.com": "heron",
    "greenhouse.io": "job-boards",
    "smartrecruiters.com": "careers",
    "workable.com": "apply",
    "myworkdaysite.com": "wd1",
    "invalid": "nobody",
    "bulk.example": "a",
    "catalogues.example": "numbered",
    "icims.com": "careers-mallow",
    "breezy.hr": "orchard",
    "pinpointhq.com": "quartz",
}
ALL = [f"{TOKENS[pattern[2:]]}.{pattern[2:]}" if pattern.startswith("*") else pattern for pattern, _ in HOSTS]
HOST = st.sampled_from(
    [
        *ALL,
        *(each.host for each in CATALOGUES),
        "kestrel.example",
        "larkspur.example",
        "acme.example",
        "",
        "..",
        "a",
        "xn--.example",
        "127.0.0.1",
        "é.example",
    ]
)
WORDS = [
    "v1",
    "v0",
    "v2",
    "v3",
    "api",
    "boards",
    "acme",
    "jobs",
    "postings",
    "borealis",
    "posting-api",
    "job-board",
    "cobalt",
    "companies",
    "ember",
    "accounts",
    "widget",
    "garnet",
    "offers",
    "wday",
    "cxs",
    "dunlin",
    "careers",
    "list",
    "detail",
    "xml",
    "search",
    "de",
    "catalogue",
    "course",
    "item",
    "page",
    "chat",
    "completions",
    "embeddings",
    "recruiting",
    "o",
    "j",
    "embed",
    "jobs.json",
    "jobs.rss",
    "robots.txt",
    "sitemap.xml",
    "feed.xml",
    "job",
    "²",
    "١",
    "-1",
    "0",
    "4000000000",
    "%ff%fe",
    "%00",
    "..",
    "platform",
    "ats",
    "board",
    "pumice",
    "nutmeg",
    "postings.json",
    "json",
    "p",
    "en",
    "CompanyJobs",
    "Xml.aspx",
    "intro",
    "departments",
    "law-society",
    "members",
    "staff-training",
    "go",
    "print",
    "1003",
    "shop",
    "more",
    "courses",
    "credentials",
    "c",
    "garden",
    company(7, "dunlin").workday_site,
    "9" * 5_000,
]
PATH = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)), max_size=7).map(
    lambda parts: "/" + "/".join(parts)
)
NAMES = st.sampled_from(
    [
        "page",
        "offset",
        "limit",
        "q",
        "what",
        "max_days_old",
        "posted_since",
        "app_key",
        "per_page",
        "skip",
        "results_per_page",
        "sold",
        "pr",
        "p",
        "c",
        "in_iframe",
        "verbose",
        "cursor",
        "after",
        "sort",
    ]
)
VALUES = st.one_of(
    st.sampled_from(
        [
            "-1",
            "0",
            "1",
            "²",
            "9" * 30,
            "999999999",
            "2026-03-01T00:00:00+00:00",
            "9999-12-31T23:59:59-23:59",
            "k",
        ]
    ),
    st.text(max_size=9),
)
QUERY = st.dictionaries(NAMES, VALUES, max_size=4).map(
    lambda found: "&".join(f"{name}={value}" for name, value in found.items())
)
KEYS = [
    "limit",
    "offset",
    "appliedFacets",
    "searchText",
    "token",
    "model",
    "messages",
    "content",
    "role",
    "tools",
    "function",
    "parameters",
    "response_format",
    "type",
    "json_schema",
    "schema",
    "properties",
    "items",
    "enum",
    "$ref",
    "anyOf",
    "minimum",
    "maximum",
    "maxLength",
    "minItems",
    "stream",
    "stream_options",
    "input",
    "dimensions",
    "tool_choice",
    "x",
]
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**12), 10**12), st.floats(allow_nan=False), st.text(max_size=20)
)
JSON = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


def answered(host: str, method: str, target: str, body: bytes) -> int:
    headers = {"authorization": "Bearer key", "accept": "application/json"}
    exchange = WEB.arrive(host, method, target, headers)
    answer, _ = WEB.answer(exchange, headers, body)
    WEB.end(exchange, body, answer.status, len(answer.body), whole=True)
    return answer.status


@given(
    HOST,
    st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
    PATH,
    QUERY,
    st.one_of(st.binary(max_size=30), JSON.map(lambda value: json.dumps(value).encode())),
)
def test_no_request_breaks_a_site(host: str, method: str, path: str, query: str, body: bytes):
    assert 200 <= answered(host, method, f"{path}?{query}" if query else path, body) < 500


@given(JSON, JSON, JSON)
def test_no_prompt_breaks_the_model(messages: object, schema: object, tools: object):
    said = {
        "model": "m",
        "messages": [{"role": "user", "content": "title: x"}, messages],
        "tools": tools,
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
    }
    assert answered("model.practice.example", "POST", "/v1/chat/completions", json.dumps(said).encode()) in (
        200,
        400,
    )


@given(
    st.sampled_from(
        [
            each
            for each in Trouble
            if each not in (Trouble.OVERSIZED, Trouble.GZIP_BOMB, Trouble.REDIRECT, Trouble.HEADERS)
        ]
    ),
    HOST,
    PATH,
)
def test_every_trouble_works_on_every_site(trouble: Trouble, host: str, path: str):
    WEB.panel.turn(Knob(trouble, times=1, number=3))
    try:
        assert answered(host, "GET", path, b"") >= 200
    finally:
        WEB.panel.clear()


def test_a_schema_that_refers_to_itself_ends(web: PracticeWeb):
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/a"}, "x": {"$ref": "#/$defs/b"}},
            },
            "b": {"$ref": "#/$defs/b"},
        },
    }
    said = {
        "model": "m",
        "messages": [{"role": "user", "content": "x"}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": schema}},
    }
    assert (
        get(
            web, "https://model.practice.example/v1/chat/completions", "POST", said, Authorization="Bearer k"
        ).status
        == 200
    )


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000,
    ],
)
def test_bytes_that_are_no_request_end_their_connection_and_nothing_else(web: PracticeWeb, sent: bytes):
    with socket.create_connection(("127.0.0.1", web.port), timeout=10) as wire:
        try:
            wire.sendall(sent)
            wire.shutdown(socket.SHUT_WR)
            while wire.recv(65_536):
                pass
        except ConnectionError:
            pass
        except OSError as problem:
            if problem.errno != errno.ENOTCONN:  # the server has hung up before our side was closed
                raise
    assert get(web, "https://www.acme.example/").status == 200
