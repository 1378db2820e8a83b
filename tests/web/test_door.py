"""The door, attacked over real HTTP: no key, wrong keys, stale keys, wrong scopes, too often, and routes that forget to ask."""

import asyncio

import pytest
from fastapi.routing import APIRoute

from tests.web.conftest import Api, raw
from thresher.control.keys import create_key, revoke_key
from thresher.web.app import make_app
from thresher.web.door import OPEN
from thresher.web.route import OWNER, SCOPE, Guarded, Owner
from thresher.web.routes import ROUTES

pytestmark = pytest.mark.promise(17)


def filled(path: str) -> str:
    """A path with something in its places."""
    return path.replace("{key:path}", "a").replace("{name:path}", "a").replace("{what:path}", "a").replace("{task_id}", "1").replace(
        "{name}", "a").replace("{what}", "a")  # fmt: skip


def test_every_route_has_an_owner_and_a_scope(shop):
    routes = make_app(shop).routes
    assert len(routes) == len(ROUTES)
    for route in routes:
        assert isinstance(route, Guarded), route
        said = route.openapi_extra or {}
        assert said[OWNER] in list(Owner)
        (method,) = route.methods
        if said[SCOPE] is None:
            assert (method, route.path) in OPEN
        else:
            assert said[SCOPE] == ("read" if method == "GET" else "write"), route.path


def test_a_route_without_an_owner_cannot_be_added(shop):
    app = make_app(shop)
    with pytest.raises(TypeError, match="no owner"):
        app.get("/api/back-door")(lambda: None)
    assert not any(isinstance(route, APIRoute) and route.path == "/api/back-door" for route in app.routes)


def test_only_health_is_open(stranger):
    assert stranger.get("/api/health") == {"status": "ok"}
    for route in ROUTES:
        if (route.method, route.path) not in OPEN:
            told = stranger.ask(route.method, filled(route.path))
            assert told.problem(401)["error"] == "KeyRefused", route.path
            assert told.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("path", ["/", "/api", "/docs", "/redoc", "/openapi.json", "/api/nothing", "/api/health/", "/api/health/../status",
                                  "//api/health", "/API/HEALTH", "/api/health;x", "/api/%68ealth/%2e%2e/status"])  # fmt: skip
def test_a_stranger_learns_nothing_of_what_is_there(stranger, path):
    stranger.ask("GET", path).problem(401)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH"])
def test_health_is_open_for_looking_only(stranger, method):
    assert stranger.ask(method, "/api/health").status == 401


@pytest.mark.parametrize("headers", [
    {"Authorization": "Bearer"}, {"Authorization": "Bearer "}, {"Authorization": "Basic YTpi"}, {"X-API-Key": ""}, {"X-API-Key": "thr_1_2"},
    {"Authorization": "Bearer thr_000000000000_" + "a" * 43}, {"Cookie": "key=1"}, {"Authorization": "Bearer " + "x" * 8_000},
], ids=lambda headers: str(headers)[:40])  # fmt: skip
def test_wrong_keys_are_refused(stranger, shop, headers):
    create_key(shop.store, "anna", ["read"])
    stranger.ask("GET", "/api/status", headers=headers).problem(401)


def test_both_headers_open_the_door_and_two_different_keys_do_not(api, shop):
    other = create_key(shop.store, "bert", ["read"]).token
    bearer, header = {"Authorization": f"Bearer {api.token}"}, {"X-API-Key": api.token}
    assert api.ask("GET", "/api/status", headers=bearer).status == 200
    assert api.ask("GET", "/api/status", headers={"authorization": f"bearer   {api.token} "}).status == 200
    assert api.ask("GET", "/api/status", headers=header).status == 200
    assert api.ask("GET", "/api/status", headers=bearer | header).status == 200
    api.ask("GET", "/api/status", headers=bearer | {"X-API-Key": other}).problem(401)
    api.ask("GET", "/api/status", headers=bearer | {"X-API-Key": "no"}).problem(401)
    api.ask("GET", f"/api/status?key={api.token}", headers={}).problem(401)


def test_a_revoked_key_is_refused_at_once(api, shop):
    assert api.ask("GET", "/api/status").status == 200
    revoke_key(shop.store, "anna")
    assert "revoked" in api.ask("GET", "/api/status").problem(401)["detail"]


def test_a_key_opens_only_what_it_was_made_for(stranger, shop):
    reader = Api(stranger.url, create_key(shop.store, "reader", ["read"]).token)
    writer = Api(stranger.url, create_key(shop.store, "writer", ["write"]).token)
    for route in ROUTES:
        if route.scope is None:
            continue
        key = writer if route.scope == "read" else reader
        told = key.ask(route.method, filled(route.path), data=b"this is not even read").problem(403)
        assert told["error"] == "ScopeMissing"
        assert f"scope {route.scope}" in told["detail"]


@pytest.mark.promise(3)
def test_a_key_over_its_rate_is_told_when_to_come_back(stranger, shop):
    api = Api(stranger.url, create_key(shop.store, "anna", ["read"], rate=3).token)

    async def many() -> list[int]:
        return [found.status for found in await asyncio.gather(*(api.send("GET", "/api/sources") for _ in range(12)))]

    assert sorted(asyncio.run(many())) == [200] * 3 + [429] * 9
    told = api.ask("GET", "/api/sources")
    assert told.problem(429)["error"] == "TooManyRequests"
    assert 1 <= int(told.headers["Retry-After"]) <= 20
    assert stranger.get("/api/health") == {"status": "ok"}


def test_refused_requests_are_not_charged(api, shop):
    for _ in range(5):
        api.ask("GET", "/api/status", headers={"X-API-Key": (api.token or "")[:-1]}).problem(401)
    with shop.store.read() as session:
        assert session.rows("select used from api_keys") == [(0,)]


@pytest.mark.parametrize("lines", [
    b"X-API-Key: a\r\nX-API-Key: b\r\n", b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n", b"X-API-Key: \xff\xfe\r\n",
    b"X-API-Key: a\x0bb\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", b"Content-Length: -1\r\n", b"Content-Length: 1e3\r\n",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"X: a\r\n folded: x\r\n",
])  # fmt: skip
def test_strange_headers_do_not_open_the_door(stranger, lines):
    said = raw(stranger.url, b"GET /api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + lines + b"\r\n")
    assert said.split(b" ", 2)[1] in (b"400", b"401"), said


def test_a_request_cannot_be_smuggled_behind_another(stranger):
    """What follows the body of a refused request is not taken for a request with another's key."""
    body = b"GET /api/status HTTP/1.1\r\nHost: x\r\n\r\n"
    first = b"POST /api/companies HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    said = raw(stranger.url, first + body)
    assert said.count(b"HTTP/1.1 ") == 1
    assert said.startswith(b"HTTP/1.1 401")


def test_the_log_says_who_asked_for_what_and_never_with_what(api, caplog):
    caplog.set_level("INFO")
    api.get("/api/status")
    api.ask("GET", "/api/status%0aforged", headers={"X-API-Key": "thr_wrong"}).problem(401)
    assert "GET '/api/status': 200, by anna" in caplog.text
    assert "GET '/api/status\\nforged': 401" in caplog.text
    assert str(api.token)[17:] not in caplog.text
    assert "thr_wrong" not in caplog.text


def test_answers_say_nothing_of_what_serves_them(api):
    headers = {name.lower() for name in api.ask("GET", "/api/status").headers}
    assert not headers & {"server", "x-powered-by", "access-control-allow-origin", "set-cookie"}
