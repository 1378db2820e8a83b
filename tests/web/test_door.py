"""The door, attacked over real HTTP: no key, wrong keys, stale keys, wrong scopes, too often, and routes that
forget to ask."""

import asyncio
import re

import pytest
from fastapi.routing import APIRoute

from tests.harness.tasks import change, rows
from tests.web.conftest import ALL_ROUTES, ALL_SCOPES, APPS, Api, raw
from thresher.admin.keys import Admitted, create_key, revoke_key
from thresher.web.app import make_app
from thresher.web.auth import OPEN
from thresher.web.route import OURS, OWNER, SCOPE, Guarded

pytestmark = pytest.mark.promise(17)


def filled(path: str) -> str:
    """A path with something in its places."""
    return re.sub(r"\{[^}]*\}", "1", path)


@pytest.fixture(scope="module")
def passer_by(standing) -> Api:
    """Somebody without a key, where others have one."""
    create_key(standing.shop.store, "anna", ["read"])
    return standing.stranger


GUARDED = [route for _, route in ALL_ROUTES if route.scope is not None]


QUESTIONS = {"/api/roles/resolve"}  # asked with a body, and nothing is changed
OWN = {"/api/logout", "/api/me/password"}  # what everybody may do to their own login


def scopes_of(method: str, path: str) -> set[str]:
    """What may open a route: scrapers have a place of their own, and nothing outside of it."""
    if path.startswith("/api/scraper/"):
        return {"scrape"}
    if path.startswith("/api/webhooks"):
        return {"write"}  # an address is often a secret of its receiver
    return {"admin", "read" if method == "GET" or path in QUESTIONS | OWN else "write"}


def test_every_route_has_an_owner_and_a_scope(shop):
    routes = make_app(shop).routes
    assert len(routes) == len(ALL_ROUTES)
    for route in routes:
        assert isinstance(route, Guarded), route
        said = route.openapi_extra or {}
        assert said[OWNER] in {OURS, "extractions", "hiring", "jobs", "prices", "queries", "roles"}
        (method,) = route.methods
        if said[SCOPE] is None:
            assert (method, route.path) in OPEN
        else:
            assert said[SCOPE] in scopes_of(method, route.path), route.path


def test_a_route_without_an_owner_cannot_be_added(shop):
    app = make_app(shop)
    with pytest.raises(TypeError, match="no owner"):
        app.get("/api/back-door")(lambda: None)
    assert not any(isinstance(route, APIRoute) and route.path == "/api/back-door" for route in app.routes)


def test_only_health_and_the_way_to_a_login_are_open(passer_by):
    assert passer_by.get("/api/health") == {"status": "ok"}
    for _, route in ALL_ROUTES:
        if (route.method, route.path) not in OPEN:
            told = passer_by.ask(route.method, filled(route.path))
            assert told.problem(401)["type"] == "urn:thresher:KeyRefused", route.path
            assert told.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/docs",
        "/api/nothing",
        "/api/health/",
        "/api/health/../status",
        "/api/health;x",
        "/api/%68ealth/%2e%2e/status",
    ],
)
def test_a_stranger_learns_nothing_of_what_is_there(passer_by, path):
    passer_by.ask("GET", path).problem(401)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_health_is_open_for_looking_only(passer_by, method):
    assert passer_by.ask(method, "/api/health").status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic YTpi"},
        {"X-API-Key": ""},
        {"X-API-Key": "thr_1_2"},
        {"Authorization": "Bearer thr_000000000000_" + "a" * 43},
        {"Cookie": "key=1"},
        {"Authorization": "Bearer " + "x" * 8_000},
    ],
    ids=lambda headers: str(headers)[:40],
)
def test_wrong_keys_are_refused(passer_by, headers):
    passer_by.ask("GET", "/api/status", headers=headers).problem(401)


def test_every_header_opens_the_door_and_two_different_keys_do_not(api, shop):
    other = create_key(shop.store, "bert", ["read"]).token
    bearer, header = {"Authorization": f"Bearer {api.token}"}, {"X-API-Key": api.token}
    assert api.ask("GET", "/api/status", headers=bearer).status == 200
    assert api.ask("GET", "/api/status", headers={"authorization": f"bearer   {api.token} "}).status == 200
    assert api.ask("GET", "/api/status", headers=header).status == 200
    assert api.ask("GET", "/api/status", headers={"X-Scraper-API-Key": api.token}).status == 200
    assert (
        api.ask("GET", "/api/status", headers={"X-Scraper-API-Key": api.token} | bearer | header).status
        == 200
    )
    api.ask("GET", "/api/status", headers={"X-Scraper-API-Key": other} | header).problem(401)
    assert api.ask("GET", "/api/status", headers=bearer | header).status == 200
    api.ask("GET", "/api/status", headers=bearer | {"X-API-Key": other}).problem(401)
    api.ask("GET", "/api/status", headers=bearer | {"X-API-Key": "no"}).problem(401)
    api.ask("GET", f"/api/status?key={api.token}", headers={}).problem(401)


def test_a_revoked_key_is_refused_at_once(api, shop):
    assert api.ask("GET", "/api/status").status == 200
    revoke_key(shop.store, "anna")
    assert "revoked" in api.ask("GET", "/api/status").problem(401)["detail"]


@pytest.mark.parametrize("scope", ALL_SCOPES)
def test_a_key_opens_only_what_it_was_made_for(stranger, shop, scope):
    """Every route, with a key of every scope: what it does not open says so, before a byte of the body is
    read."""
    api = Api(stranger.url, create_key(shop.store, "anna", [scope], apps=APPS).token)
    opens = {scope, "read", "write"} if scope == "admin" else {scope}
    for route in GUARDED:
        if route.scope not in opens:
            told = api.ask(route.method, filled(route.path), data=b"this is not even read").problem(403)
            assert told["type"] == "urn:thresher:ScopeMissing"
            assert f"scope {route.scope}" in told["error"]


@pytest.mark.parametrize("fate", ["expired", "revoked"])
def test_a_key_of_yesterday_opens_no_route(stranger, shop, fate):
    api = Api(stranger.url, create_key(shop.store, "anna", ALL_SCOPES, apps=APPS, lasts=1).token)
    if fate == "revoked":
        revoke_key(shop.store, "anna")
    else:
        change(shop.store, "update api_keys set expires_at = created_at")
    for route in GUARDED:
        told = api.ask(route.method, filled(route.path)).problem(401)
        assert told["error"] == told["detail"]
        assert "invalid or expired API key" in told["error"]
        assert fate in told["error"]


def test_an_admin_looks_and_changes_and_does_not_scrape(stranger, shop):
    api = Api(stranger.url, create_key(shop.store, "anna", ["admin"]).token)
    assert api.ask("GET", "/api/status").status == 200
    assert api.ask("PUT", "/api/settings/retry.base", json={"value": 61}).status == 200
    assert api.ask("GET", "/api/keys").status == 200
    assert not Admitted(1, "anna", ("admin",)).opens("scrape")
    assert rows(shop.store, "select changed_by from setting_changes") == [("key anna",)]


@pytest.mark.promise(3)
def test_a_key_over_its_rate_is_told_when_to_come_back(stranger, shop):
    api = Api(stranger.url, create_key(shop.store, "anna", ["read"], rate=3).token)

    async def many() -> list[int]:
        return [
            found.status
            for found in await asyncio.gather(*(api.send("GET", "/api/sources") for _ in range(12)))
        ]

    assert sorted(asyncio.run(many())) == [200] * 3 + [429] * 9
    told = api.ask("GET", "/api/sources")
    assert told.problem(429)["type"] == "urn:thresher:TooManyRequests"
    assert 1 <= int(told.headers["Retry-After"]) <= 20
    assert stranger.get("/api/health") == {"status": "ok"}


def test_a_key_over_its_rate_is_refused_before_its_body_has_come(stranger, shop):
    token = create_key(shop.store, "anna", ["write"], rate=1).token
    head = f"POST /api/companies HTTP/1.1\r\nHost: x\r\nX-Scraper-API-Key: {token}\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n"
    assert raw(stranger.url, head.encode() + b" " * 1_000).startswith(b"HTTP/1.1 4"), "it is no company"
    before = rows(shop.store, "select used, tat from api_keys")
    assert before[0][0] == 1
    assert raw(stranger.url, head.encode()).startswith(b"HTTP/1.1 429"), "and nobody waited for the body"
    assert rows(shop.store, "select used, tat from api_keys") == before


def test_refused_requests_are_not_charged(api, shop):
    for _ in range(5):
        api.ask("GET", "/api/status", headers={"X-API-Key": (api.token or "")[:-1]}).problem(401)
    with shop.store.read() as session:
        assert session.rows("select used from api_keys") == [(0,)]


@pytest.mark.parametrize(
    "lines",
    [
        b"X-API-Key: a\r\nX-API-Key: b\r\n",
        b"X-Scraper-API-Key: a\r\nX-API-Key: b\r\n",
        b"X-Scraper-API-Key: \xc3\xa9\r\n",
        b"Cookie: thresher_session=a; thresher_session=b\r\n",
        b"Cookie: \xff=\xfe; =; ;;thresher_session\r\n",
        b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        b"X-API-Key: \xff\xfe\r\n",
        b"X-API-Key: a\x0bb\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 1e3\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        b"X: a\r\n folded: x\r\n",
    ],
)
def test_strange_headers_do_not_open_the_door(passer_by, lines):
    said = raw(
        passer_by.url, b"GET /api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + lines + b"\r\n"
    )
    assert said.split(b" ", 2)[1] in (b"400", b"401"), said


LISTS = (
    "{0},{0}",
    "{0}, {0}",
    "{0},{1}",
    "{0};{1}",
    "{0} {1}",
    "{0}{1}",
    '"{0}"',
    "{0}\N{NO-BREAK SPACE}x",
    "Bearer {0}",
)


def test_a_list_of_keys_is_no_key(stranger, shop):
    one, other = (create_key(shop.store, name, ["read"]).token for name in ("anna", "bert"))
    for shown in LISTS:
        for header in ("X-Scraper-API-Key", "X-API-Key"):
            stranger.ask("GET", "/api/status", headers={header: shown.format(one, other)}).problem(401)


def test_a_request_cannot_be_smuggled_behind_another(passer_by):
    """What follows the body of a refused request is not taken for a request with another's key."""
    body = b"GET /api/status HTTP/1.1\r\nHost: x\r\n\r\n"
    first = (
        b"POST /api/companies HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        % len(body)
    )
    said = raw(passer_by.url, first + body)
    assert said.count(b"HTTP/1.1 ") == 1
    assert said.startswith(b"HTTP/1.1 401")


def test_the_log_says_who_asked_for_what_and_never_with_what(api, caplog):
    caplog.set_level("INFO")
    api.get("/api/status")
    api.ask("GET", "/api/status%0aforged", headers={"X-API-Key": "thr_wrong"}).problem(401)
    assert "GET '/api/status': 200, by key anna" in caplog.text
    assert "GET '/api/status\\nforged': 401" in caplog.text
    assert str(api.token)[17:] not in caplog.text
    assert "thr_wrong" not in caplog.text


def test_answers_say_nothing_of_what_serves_them(api):
    headers = {name.lower() for name in api.ask("GET", "/api/status").headers}
    assert not headers & {"server", "x-powered-by", "access-control-allow-origin", "set-cookie"}
