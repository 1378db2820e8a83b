"""Every route and page that may change something, of the machine and of the apps: what is changed through it
stands in the audit log, or the route says why not."""

import ast
import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from tests.harness.tasks import entry, rows
from tests.web.conftest import ALL_SCOPES, APPS, Api, project, served
from tests.web.pages.visitor import Visitor
from thresher.admin import admins
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.runtime import Runtime
from thresher.store.settings import change_setting
from thresher.web.answer import run_in_pool
from thresher.web.auth import HARMLESS
from thresher.web.pages import PAGES
from thresher.web.pages.page import DashboardPage, PageRequest, app_pages
from thresher.web.pages.site import make_pages
from thresher.web.refresh import refresh
from thresher.web.route import Route, app_routes
from thresher.web.routes import ROUTES

pytestmark = pytest.mark.promise(17)

GOOD = "correct horse battery"
SOURCE = Path(__file__).resolve().parents[2] / "src" / "thresher"
EVERY_ROUTE = [*ROUTES, *(route for _, route in app_routes(APPS, ROUTES))]
EVERY_PAGE = [*PAGES, *app_pages(APPS, PAGES)]
CHANGING = [route for route in EVERY_ROUTE if route.method not in HARMLESS and route.scope is not None]
FORMS = [page for page in EVERY_PAGE if page.method not in HARMLESS and not page.is_open]


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


def name(case: Route | DashboardPage) -> str:
    return f"{case.method} {case.path}"


# What stands in the place of each endpoint: it changes the database in every way that an endpoint has.


def change(runtime: Runtime) -> None:
    change_setting(runtime.store, "retry.base", 7, "a test")


async def probe(request: Request) -> Response:
    runtime: Runtime = request.app.state.runtime
    way = request.headers.get("x-way", "store")
    if way == "store":
        await runtime.store.run(change, runtime)
    elif way == "thread":
        await asyncio.to_thread(change, runtime)
    elif way == "pool":
        await run_in_pool(request, "probe", 1, lambda: change(runtime))
    elif way == "queue":
        await runtime.store.run(runtime.store.enqueue, [entry()])
    return PlainTextResponse("done")


def page_probe(page_request: PageRequest) -> Response:
    change(page_request.runtime)
    return PlainTextResponse("done")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runtime, str]]:
    """A server with all routes and pages in their places, and a probe behind each that may change."""

    def swap(route: Any) -> Any:
        if route.method in HARMLESS or (isinstance(route, DashboardPage) and route.is_open):
            return route
        return replace(route, endpoint=page_probe if isinstance(route, DashboardPage) else probe)

    def swapped_routes(apps: Any, ours: Any) -> Iterator[tuple[str, Route]]:
        return ((owner, swap(route)) for owner, route in app_routes(apps, ours))

    with pytest.MonkeyPatch.context() as patch, project(tmp_path_factory.mktemp("walk")) as shop:
        patch.setattr("thresher.web.app.ROUTES", tuple(map(swap, ROUTES)))
        patch.setattr("thresher.web.app.app_routes", swapped_routes)
        patch.setattr(
            "thresher.web.pages.site.app_pages", lambda apps, ours: map(swap, app_pages(apps, ours))
        )
        patch.setattr(make_pages, "__defaults__", (tuple(map(swap, PAGES)),))
        set_setting(shop.store, "web.password_cost", "10", "test")
        refresh(shop)
        admins.create_admin(shop.store, "anna", GOOD)
        with served(shop) as url:
            yield shop, url


@pytest.fixture(scope="module")
def program(probed: tuple[Runtime, str]) -> Api:
    shop, url = probed
    return Api(url, create_key(shop.store, "walker", ALL_SCOPES, apps=APPS).token)


@pytest.fixture(scope="module")
def person(probed: tuple[Runtime, str]) -> Visitor:
    return Visitor(probed[1]).log_in()


def written(shop: Runtime) -> list[tuple[str, str, str | None, str, str]]:
    found = rows(shop.store, "select who, kind, role, via, action from audit order by id")
    with shop.store.write() as session:
        session.run("delete from audit")
    return found


def test_what_is_changed_through_a_route_is_in_the_audit_log_or_the_route_says_why_not(probed, program):
    shop, wrong = probed[0], []
    assert len(CHANGING) > 70
    for route in CHANGING:
        path = filled(route.path)
        told = program.ask(route.method, path, json={})
        expected = [] if route.unaudited else [("walker", "key", None, "api", f"{route.method} {path}")]
        if told.status >= 300 or (found := written(shop)) != expected:
            wrong.append((name(route), told.status, told.body if told.status >= 300 else found))
    assert wrong == []


def test_what_is_changed_through_a_page_is_in_the_audit_log_or_the_page_says_why_not(probed, person):
    shop, csrf, wrong = probed[0], person.csrf, []
    assert len(FORMS) > 20
    for page in FORMS:
        path = filled(page.path)
        told = person.send(path, csrf=csrf)
        expected = [] if page.unaudited else [("anna", "person", "admin", "dashboard", f"POST {path}")]
        if told.status != 200 or (found := written(shop)) != expected:
            wrong.append((name(page), told.status, told.body if told.status != 200 else found))
    assert wrong == []


@pytest.mark.parametrize("way", ["store", "thread", "pool", "queue"])
def test_whichever_thread_does_it_the_change_has_its_row(probed, program, way):
    shop, _ = probed
    path = "/api/runs/1/cancel"
    headers = {"Authorization": f"Bearer {program.token}", "X-Way": way}
    assert program.ask("POST", path, json={}, headers=headers).status == 200
    assert [action for *_, action in written(shop)] == [f"POST {path}"]


def test_who_is_not_let_through_leaves_no_row(probed, program):
    shop, url = probed
    Api(url).ask("POST", "/api/tasks", json={}).problem(401)
    reader = Api(url, create_key(shop.store, "reader", ["read"]).token)
    reader.ask("POST", "/api/runs/1/cancel", json={}).problem(403)
    reader.ask("POST", "/api/runs/1/cancel?no=1", json={}).problem(403)
    program.ask("POST", "/api/runs/1/cancel?no=1", json={}).problem(400)
    assert written(shop) == []


def test_what_says_why_it_is_not_in_the_audit_log_says_it_in_a_sentence():
    said = {name(each): each.unaudited for each in (*EVERY_ROUTE, *EVERY_PAGE) if each.unaudited}
    assert all(len(why.split()) > 3 for why in said.values())
    assert set(said) == {
        "POST /api/login",
        "POST /api/logout",
        "POST /login",
        "POST /logout",
        "POST /api/scraper/queue/jobs",
        "POST /api/scraper/queue/heartbeat",
        "POST /api/scraper/queue/fail",
        "POST /api/scraper/queue/complete",
    }


def test_nothing_but_the_store_opens_a_transaction_and_no_thread_leaves_behind_who_acts():
    """A transaction of the backend's own has no row, and a thread pool does not take the context along."""
    mine = {"store/store.py", "store/app_migrations.py", "store/migrate.py"}
    mine.add("store/idempotency.py")  # that a request came is nobody's change
    found = set()
    for file in SOURCE.rglob("*.py"):
        place = file.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            owner, called = ast.unparse(node.func.value), node.func.attr
            if called in ("write", "enqueue") and owner.endswith("backend") and place not in mine:
                found.add((place, f"{owner}.{called}"))
            if called in ("run_in_executor", "submit") and place.startswith(("web/", "apps/")):
                found.add((place, called))
    assert found == {("web/answer.py", "run_in_executor"), ("web/answer.py", "submit")}, (
        "hand work to other threads by run_in_pool or asyncio.to_thread, which know who acts"
    )
