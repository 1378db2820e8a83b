"""What an app brings to the server: routes, pages with templates, scopes, limits of bodies."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.roles.http.scraping import World
from tests.web.conftest import Api, served, workshop
from tests.web.pages.visitor import with_anna
from thresher.admin.keys import create_key
from thresher.core.app import App
from thresher.core.clock import FrozenClock
from thresher.core.errors import ConfigError, UsageError
from thresher.runtime import Runtime
from thresher.web.app import make_app

APP = """
from thresher import App

app = App(
    "teahouse",
    routes="teahouse_http:ROUTES",
    pages="teahouse_http:PAGES",
    templates="teahouse_pages:templates",
    scopes={"pour": "pour tea"},
    key_headers=("X-Tea-Key",),
)
"""
HTTP = """
from starlette.requests import Request

from thresher import DashboardPage, Route


async def menu():
    '''What is brewed.'''
    return {"tea": ["assam"]}


async def pour(request: Request):
    '''Pour a cup.'''
    return {"bytes": len(await request.body())}


def board(visit):
    '''What is brewed, for people.'''
    return visit.show("teahouse/menu.html", tea="<assam>")


ROUTES = (
    Route("GET", "/api/tea", menu, "read"),
    Route("POST", "/api/tea/{cup}", pour, "pour", body_limit=10),
)
PAGES = (DashboardPage("GET", "/tea", board, "Tea"),)
"""
PAGE = '{% extends "shell.html" %}{% block title %}Tea{% endblock %}{% block main %}<h1>{{ tea }}</h1>{% endblock %}'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an app of its own, in files beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "teahouse.py").write_text(APP)
    (tmp_path / "teahouse_http.py").write_text(HTTP)
    (tmp_path / "teahouse_pages" / "templates").mkdir(parents=True)
    (tmp_path / "teahouse_pages" / "__init__.py").write_text("")
    (tmp_path / "teahouse_pages" / "templates" / "menu.html").write_text(PAGE)
    (tmp_path / "thresher.yaml").write_text("apps: [teahouse.py]\n")
    return tmp_path


@pytest.fixture
def house(folder: Path) -> Iterator[Runtime]:
    with workshop(folder) as shop:
        yield shop


def test_the_routes_of_an_app_are_served_behind_its_scopes(house: Runtime):
    with served(house) as url:
        reader = Api(url, create_key(house.store, "reader", ["read"], apps=house.registry.apps).token)
        waiter = Api(url, create_key(house.store, "waiter", ["pour"], apps=house.registry.apps).token)
        assert reader.get("/api/tea") == {"tea": ["assam"]}
        assert reader.ask("POST", "/api/tea/1", data=b"x").problem(403)["type"] == "urn:thresher:ScopeMissing"
        assert waiter.ask("POST", "/api/tea/1", data=b"0123456789").json == {"bytes": 10}
        assert "10 bytes" in waiter.ask("POST", "/api/tea/1", data=b"01234567890").problem(413)["detail"]
        waiter.ask("GET", "/api/status").problem(403)
        said = reader.get("/api/openapi.json")["paths"]
        assert (said["/api/tea"]["get"]["x-owner"], said["/api/tea/{cup}"]["post"]["x-scope"]) == (
            "teahouse",
            "pour",
        )
        assert not any(path.startswith("/api/roles") for path in said)


TYPED = """
from dataclasses import dataclass
from typing import TypedDict

from thresher import Route
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime


@dataclass(frozen=True)
class Cup:
    '''A cup of tea.'''

    tea: str
    poured_at: int


class Shelf(TypedDict):
    '''The cups of a shelf.'''

    cups: list[Cup]


def full() -> Shelf:
    return {"cups": [Cup("assam", 0)]}


async def shelf(runtime: CurrentRuntime) -> Answer[Shelf]:
    '''List the cups of the shelf. They are clean.'''
    return await answer(runtime.store, full)


EXAMPLE = {"cups": [{"tea": "assam", "poured_at": "2026-03-02T10:15:00.000Z"}]}
ROUTES = (Route("GET", "/api/shelf", shelf, "read", name="get_shelf", example=EXAMPLE),)
PAGES = ()
"""


def test_a_route_of_an_app_is_described_by_what_it_returns(folder: Path):
    (folder / "teahouse_typed.py").write_text(TYPED)
    (folder / "teahouse.py").write_text(APP.replace("teahouse_http", "teahouse_typed"))
    with workshop(folder) as shop, served(shop) as url:
        api = Api(url, create_key(shop.store, "reader", ["read"]).token)
        assert api.get("/api/shelf") == {"cups": [{"tea": "assam", "poured_at": "1970-01-01T00:00:00.000Z"}]}
        said = api.get("/api/openapi.json")
    told = said["paths"]["/api/shelf"]["get"]
    assert (told["operationId"], told["summary"]) == ("get_shelf", "List the cups of the shelf")
    assert told["responses"]["200"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/TeahouseShelf"
    }
    assert said["components"]["schemas"]["TeahouseCup"] == {
        "description": "A cup of tea.",
        "type": "object",
        "properties": {"tea": {"type": "string"}, "poured_at": {"type": "string", "format": "date-time"}},
        "required": ["tea", "poured_at"],
    }


@pytest.mark.parametrize("wrong", ["Answer[complex]", "'Answer[Saucer]'"])
def test_a_return_type_that_cannot_be_described_is_named(folder: Path, wrong: str):
    name = f"teahouse_wrong_{len(wrong)}"
    (folder / f"{name}.py").write_text(TYPED.replace("-> Answer[Shelf]", f"-> {wrong}"))
    (folder / "teahouse.py").write_text(APP.replace("teahouse_http", name))
    with workshop(folder) as shop, served(shop) as url:
        api = Api(url, create_key(shop.store, "reader", ["read"]).token)
        assert api.get("/api/shelf")["cups"]
        told = api.ask("GET", "/api/openapi.json").problem(400)["detail"]
    assert "the route GET /api/shelf of teahouse cannot be described" in told


def test_routes_that_say_nothing_of_themselves_are_named_by_their_paths(house: Runtime):
    with served(house) as url:
        said = Api(url, create_key(house.store, "reader", ["read"]).token).get("/api/openapi.json")["paths"]
    assert said["/api/tea"]["get"]["operationId"] == "get_tea"
    assert said["/api/tea/{cup}"]["post"]["operationId"] == "post_tea_cup"
    assert said["/api/tea/{cup}"]["post"]["summary"] == "Pour a cup"


@pytest.mark.promise(17)
def test_a_key_comes_in_a_header_that_an_enabled_app_names_and_in_no_other(house: Runtime):
    with served(house) as url:
        api = Api(url, create_key(house.store, "reader", ["read"]).token)
        assert api.ask("GET", "/api/tea", headers={"X-Tea-Key": api.token or ""}).status == 200
        api.ask("GET", "/api/tea", headers={"X-Tea-Key": api.token or "", "X-API-Key": "no"}).problem(401)
        refused = api.ask("GET", "/api/tea", headers={"X-Scraper-API-Key": api.token or ""}).problem(401)
        assert "Authorization: Bearer KEY" in refused["detail"]
        said = api.get("/api/openapi.json")["components"]["securitySchemes"]
        assert said["x-tea-key"] == {"type": "apiKey", "in": "header", "name": "X-Tea-Key"}
        assert "x-scraper-api-key" not in said


@pytest.mark.parametrize("header", ["Cookie", "Authorization", "X-", "X-Tea Key", "X-Tea\n", "X-Teé"])
def test_a_key_header_is_one_of_our_own_making(header: str):
    with pytest.raises(UsageError, match="write one that starts with X-: X-Tea-Key"):
        App("teahouse", key_headers=(header,))


def test_a_scope_of_an_app_that_is_not_enabled_makes_no_key(house: Runtime):
    with pytest.raises(UsageError, match=r"a scope must be one of pour, read, write, admin"):
        create_key(house.store, "scraper", ["scrape"], apps=house.registry.apps)


def test_the_pages_of_an_app_stand_in_the_navigation_in_its_own_templates(house: Runtime):
    with served(house) as url:
        assert Api(url).ask("GET", "/tea").status == 303
        anna = with_anna(World(house, FrozenClock(), url)).log_in()
        shown = anna.see("/tea")
        assert "<h1>&lt;assam&gt;</h1>" in shown
        assert '<a href="/tea" aria-current="page">Teahouse</a>' in shown


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ('"/api/tea", menu', '"/api/status", menu', "by the app 'teahouse' and by Thresher itself"),
        ('"/api/tea", menu', '"/tea", menu', "must start with /api/"),
        ('menu, "read"', 'menu, "sip"', "has the scope 'sip'"),
        ('menu, "read"', "menu, None", "has the scope None"),
        ('"/tea", board', '"/keys", board', "the page GET /keys is defined by the app 'teahouse'"),
        ('board, "Tea"', 'board, "Tea", is_open=True', "must require a login"),
    ],
)
def test_what_could_not_be_served_as_it_is_meant_is_refused(
    folder: Path, was: str, now: str, why: str, request: pytest.FixtureRequest
):
    text = (folder / "teahouse_http.py").read_text()
    assert was in text
    name = f"teahouse_{abs(hash((was, now)))}"  # a module is imported once, and its name is remembered
    (folder / f"{name}.py").write_text(text.replace(was, now))
    (folder / "teahouse.py").write_text(APP.replace("teahouse_http", name))
    with workshop(folder) as shop, pytest.raises(ConfigError, match=why):
        make_app(shop).build_middleware_stack()
