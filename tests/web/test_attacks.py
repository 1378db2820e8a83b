"""Hostile requests: bodies without end, broken JSON, huge numbers, paths that climb, text that would become a
header."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import quote

import aiohttp
import pytest

from tests.harness.tasks import change
from tests.web.conftest import Api, raw, served
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.admin.settings import set_setting
from thresher.core.errors import ThresherError
from thresher.core.record import Record
from thresher.web.problem import STATUS, of_error
from thresher.web.refresh import refresh

pytestmark = pytest.mark.promise(17)

LIMIT = 4_096
ENDLESS = 256_000_000  # more than all buffers on the way hold
JSON = "application/json"


@pytest.fixture(scope="module")
def small(standing) -> Api:
    """A server that takes little, and soon loses patience."""
    shop = standing.shop
    set_setting(shop.store, "web.body_limit", str(LIMIT), "test")
    set_setting(shop.store, "web.body_patience", "0.3", "test")
    api = Api(standing.stranger.url, create_key(shop.store, "anna", ["read", "write"]).token)
    # This server has read the others by now.
    assert api.ask("PUT", "/api/settings/retry.base", json={"value": 60}).status == 200
    return api


def head(api: Api, method: str, path: str, *lines: str) -> bytes:
    said = [
        f"{method} {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {api.token}",
        "Connection: close",
        *lines,
    ]
    return ("\r\n".join(said) + "\r\n\r\n").encode()


@pytest.mark.promise(18)
def test_a_body_that_says_it_is_too_large_is_not_read(small):
    said = raw(
        small.url,
        head(small, "POST", "/api/companies", f"Content-Type: {JSON}", "Content-Length: 99999999999"),
    )
    assert said.startswith(b"HTTP/1.1 413")
    assert b"web.body_limit" in said


@pytest.mark.promise(18)
def test_a_body_that_does_not_say_how_large_it_is_is_cut_while_it_streams(small):
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while taken < ENDLESS:
            taken += 65_536
            yield b" " * 65_536

    lines = {"Authorization": f"Bearer {small.token}", "Content-Type": JSON}
    with suppress(aiohttp.ClientError):  # it may hang up on us in the middle
        small.ask("POST", "/api/companies", data=endless(), headers=lines).problem(413)
    assert taken < ENDLESS


@pytest.mark.promise(18)
@pytest.mark.parametrize("path", ["/api/companies", "/api/profile"])
def test_a_body_over_the_limit_in_pieces_is_refused(small, path):
    method = "POST" if path.endswith("companies") else "PUT"
    chunks = b"".join(b"%x\r\n%s\r\n" % (1_024, b" " * 1_024) for _ in range(5)) + b"0\r\n\r\n"
    said = raw(
        small.url, head(small, method, path, f"Content-Type: {JSON}", "Transfer-Encoding: chunked") + chunks
    )
    assert said.startswith(b"HTTP/1.1 413"), said
    assert b'"urn:thresher:ContentTooLarge"' in said


@pytest.mark.promise(18)
def test_a_body_that_never_comes_is_not_waited_for(small):
    said = raw(
        small.url,
        head(small, "POST", "/api/companies", f"Content-Type: {JSON}", "Content-Length: 100") + b'{"name"',
    )
    assert said.startswith(b"HTTP/1.1 408"), said


@pytest.fixture
def hasty(shop):
    """A server that was started with little patience."""
    set_setting(shop.store, "web.body_patience", "0.3", "test")
    refresh(shop)
    with served(shop) as url:
        yield url


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "begun",
    [b"", b"G", b"GET /api/health HTTP/1.1\r\nHost: x\r\nX: "],
    ids=["nothing", "a letter", "some lines"],
)
def test_a_request_that_never_comes_is_not_waited_for(hasty, begun):
    assert raw(hasty, begun) == b""  # it hung up


@pytest.mark.promise(18)
def test_neither_is_a_second_one_on_the_same_line(hasty):
    async def ask_and_begin() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(hasty.rpartition(":")[2]))
        writer.write(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b'"ok"}')
        writer.write(b"GET /api/health HTTP/1.1\r\nX: ")
        rest = await reader.read()
        writer.close()
        return rest

    assert asyncio.run(ask_and_begin()) == b""


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nope",
        b'{"name": }',
        b"\xff\xfe",
        b"[" * 4_000,
        b'{"name": "Acme"}garbage',
        b'{"name": NaN}',
        b"'",
        b'{"a":' * 600,
    ],
    ids=lambda body: ascii(body)[:20],
)
def test_a_body_that_is_no_json_is_a_problem_of_the_sender(small, body):
    lines = {"Authorization": f"Bearer {small.token}", "Content-Type": JSON}
    told = small.ask("POST", "/api/companies", data=body, headers=lines)
    assert told.problem(told.status)["status"] in (400, 422)
    assert small.get("/api/tasks") == []


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/xml"],
)
def test_a_body_of_another_kind_is_not_taken_for_json(small, kind):
    """A form of a foreign page can send such a body without asking; JSON it cannot."""
    lines = {"Authorization": f"Bearer {small.token}", "Content-Type": kind}
    assert small.ask("POST", "/api/companies", data=b'{"name": "Acme"}', headers=lines).problem(422)
    assert small.get("/api/tasks") == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=1001",
        "limit=99999999999999999999999999",
        "limit=1e3",
        "limit=",
        "limit=٣ ",
        "before=0",
        "before=-1",
        "before=9223372036854775808",
        "before=" + "9" * 3_000,
        "limit=0x10",
        "limit=1;drop",
        "limit=NaN",
    ],
    ids=lambda query: query[:30],
)
def test_numbers_out_of_reach_are_refused(small, query):
    small.ask("GET", f"/api/tasks?{quote(query, safe='=&;')}").problem(422)


@pytest.mark.parametrize("task", ["0", "-1", "9007199254740992", "9" * 3_000, "1.0", "abc", "1%00", "%2e%2e"])
def test_ids_that_nobody_has_are_refused(small, task):
    assert small.ask("GET", f"/api/tasks/{task}").status in (400, 404, 422)
    assert small.ask("POST", f"/api/tasks/{task}/retry").status in (400, 404, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/api/companies/../../etc/passwd",
        "/api/companies/..%2f..%2fetc%2fpasswd",
        "/api/companies/%00",
        "/api/companies/%2e%2e/",
        "/api/companies//",
        "/api/companies/",
        "/api/boards/" + "a" * 5_000,
        "/api/postings/%ff%fe",
        "/api/companies/%0d%0aX-Evil:%201",
        "/api/export/..%2f..%2fetc",
        "/api/export/companies%00",
        "/api/settings/..",
        "/api/boards/'%20or%201=1%20--",
        "/api/companies/file:%2f%2f%2fetc%2fpasswd",
        "/api/explain/%0a",
        "/api/postings/\N{FULLWIDTH SOLIDUS}",
    ],
    ids=lambda path: ascii(path)[:40],
)
def test_a_path_that_climbs_or_breaks_finds_nothing(small, path):
    told = small.ask("GET", quote(path, safe="/:%.'=-&"))
    assert told.problem(told.status)["status"] in (400, 404, 405)
    assert b"root:" not in told.body
    assert "X-Evil" not in told.headers


@pytest.mark.parametrize("text", ["a\r\nX-Evil: 1", "a\nSet-Cookie: x", "\x1b]0;x\x07", '"; filename="x.exe'])
def test_text_of_a_stranger_never_becomes_a_header(small, text):
    place = quote(text, safe="")
    paths = (
        "/api/export/{}",
        "/api/export/matches?format={}",
        "/api/companies?status={}",
        "/api/sources/{}/pause",
        "/api/postings/{}",
    )
    for path in (each.format(place) for each in paths):
        for method in ("GET", "POST"):
            told = small.ask(method, path)
            assert not {"x-evil", "set-cookie"} & {name.lower() for name in told.headers}
            assert "x.exe" not in str(told.headers)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/companies", "GET"),
        ("PUT", "/api/tasks", "GET"),
        ("GET", "/api/boards/a/enable", None),
        ("PATCH", "/api/profile", "GET"),
        ("OPTIONS", "/api/companies", "GET"),
        ("POST", "/api/status", "GET"),
        ("BREW", "/api/status", "GET"),
    ],
)
def test_a_method_that_a_route_has_not_is_refused(small, method, path, allowed):
    told = small.ask(method, path)
    if allowed is None:
        told.problem(404)  # as the key of a board it is unknown
        return
    assert told.status == 405
    assert allowed in told.headers["Allow"]


def test_foreign_pages_are_not_let_in(small):
    lines = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    told = small.ask("OPTIONS", "/api/companies", headers=lines)
    assert told.status == 401
    assert not [name for name in told.headers if name.lower().startswith("access-control")]


def test_nul_and_half_characters_are_refused_before_the_database_sees_them(small):
    for path in (
        "/api/tasks?kind=a%00",
        "/api/tasks?url=http://a.dev/%00",
        "/api/sources/%00/enable",
        "/api/matches?words=%00",
    ):
        assert small.ask("POST" if path.endswith("enable") else "GET", path).problem(400)
    for body in (b'{"name": "\\u0000"}', b'{"name": "\\ud800"}'):
        lines = {"Authorization": f"Bearer {small.token}", "Content-Type": JSON}
        small.ask("POST", "/api/companies", data=body, headers=lines).problem(422)


def test_a_database_that_is_gone_is_503_for_everybody(api, shop):
    shop.store.backend.close()
    for path in ("/api/health", "/api/status"):
        told = api.ask("GET", path)
        assert told.problem(503)["type"] == "urn:thresher:DatabaseProblem"
        assert told.headers["Retry-After"] == "5"


def test_a_surprise_tells_nothing_of_the_inside(api, shop, caplog):
    write_records(shop.store, [Record("company", "acme.com", {"name": "Acme"})])
    change(shop.store, "update records set data = 'secret inside'")
    told = api.ask("GET", "/api/companies")
    assert told.problem(500)["type"] == "urn:thresher:Bug"
    assert b"secret" not in told.body
    assert "GET '/api/companies': not expected" in caplog.text
    assert api.ask("GET", "/api/status").status == 200


def test_every_error_of_ours_has_a_status():
    def below(kind: type[ThresherError]) -> list[type[ThresherError]]:
        return [kind, *(each for child in kind.__subclasses__() for each in below(child))]

    for kind in below(ThresherError):
        problem = kind.__new__(kind, "why")  # whatever else it is made of
        assert of_error(problem).status in set(STATUS.values())
    assert json.loads(of_error(ThresherError("why")).response().body)["title"] == "Internal Server Error"


def test_many_at_once_are_all_answered(small):
    async def many() -> list[int]:
        return [
            each.status
            for each in await asyncio.gather(*(small.send("GET", "/api/companies") for _ in range(50)))
        ]

    assert asyncio.run(many()) == [200] * 50
