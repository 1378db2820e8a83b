"""The shell: one row and one template are a page, and everything that a page needs is in the package."""

import asyncio
import re
from contextlib import suppress

import pytest
from starlette.datastructures import State
from starlette.responses import Response
from starlette.types import Message

from tests.house.paper import ROOT
from tests.web.conftest import APPS
from tests.web.pages.visitor import GOOD
from thresher.admin.admins import create_admin
from thresher.admin.logins import Login, LoginAttempt, count_try, log_in
from thresher.admin.settings import set_setting
from thresher.core.clock import SECOND
from thresher.runtime import Runtime
from thresher.store.workers import register, stop
from thresher.web.auth import SECURE_NAME
from thresher.web.pages import PAGES
from thresher.web.pages.form import KIND
from thresher.web.pages.page import DashboardPage, PageRequest, app_pages
from thresher.web.pages.shell import HERE, NavigationEntry, _breakable, rendered
from thresher.web.pages.site import make_pages
from thresher.web.problem import Problem
from thresher.web.refresh import refresh

REFERENCE = ROOT / "docs" / "reference" / "dashboard.md"


def chores(visit: PageRequest) -> Response:
    """A page as somebody might add one."""
    return visit.show(
        "problem.html", problem=Problem(200, "x", f"{len(visit.places)} places"), title="Chores"
    )


def forgetful(visit: PageRequest) -> Response:
    """One that asks nobody for anything."""
    return visit.go("/chores")


def broken(visit: PageRequest) -> Response:
    """One with a slip in it."""
    raise RuntimeError("the name of the safe's code")


ADDED = (
    DashboardPage("GET", "/chores", chores, title="Chores", section="Admin"),
    DashboardPage("POST", "/chores", forgetful),
    DashboardPage("GET", "/broken", broken),
)


def ask(shop: Runtime, method: str, path: str, cookie: str = "") -> tuple[int, str]:
    """What the pages with three more say, without a server in between."""
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [
        (b"host", b"x"),
        (b"cookie", f"{SECURE_NAME}={cookie}".encode()),
        (b"content-type", KIND.encode()),
    ]
    where = {"path": path, "raw_path": path.encode(), "query_string": b"", "scheme": "http"}
    scope = {"type": "http", "method": method, "headers": headers, **where}
    with suppress(RuntimeError):  # told to the browser first, and then to whoever runs the server
        asyncio.run(make_pages(shop, State(), (*PAGES, *ADDED))(scope, receive, send))
    return said[0]["status"], b"".join(each.get("body", b"") for each in said).decode()


@pytest.fixture
def cookie(shop: Runtime) -> str:
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    create_admin(shop.store, "anna", GOOD)
    tried = count_try(shop.store, "anna", "127.0.0.1")
    assert isinstance(tried, LoginAttempt)
    found = log_in(shop.store, tried, fits=True)
    assert isinstance(found, Login)
    return found.token


def test_a_page_with_a_title_stands_in_the_navigation_and_nothing_else_needs_to_be_said(shop, cookie):
    status, text = ask(shop, "GET", "/chores", cookie)
    assert status == 200
    assert '<a href="/chores" aria-current="page">Chores</a>' in text
    titled = [each for each in (*app_pages(APPS, PAGES), *PAGES, *ADDED) if each.title]
    assert f"{len(titled)} places" in text


@pytest.mark.promise(17)
def test_a_page_that_forgets_to_ask_is_closed_all_the_same(shop, cookie):
    assert ask(shop, "GET", "/chores")[0] == 303
    assert ask(shop, "POST", "/chores")[0] == 401
    assert ask(shop, "POST", "/chores", cookie)[0] == 403


@pytest.mark.promise(17)
def test_a_surprise_says_nothing_of_what_is_inside(shop, cookie):
    status, text = ask(shop, "GET", "/broken", cookie)
    assert status == 500
    assert "an unexpected error" in text.lower()
    assert "safe" not in text
    assert "Traceback" not in text


@pytest.mark.promise(20)
def test_every_page_says_that_nobody_does_the_work_until_a_worker_lives(shop, cookie):
    paths = ("/keys", "/scrapers", "/chores", "/keys/7/revoke", "/nowhere")
    for path in paths:
        assert "No worker is running" in ask(shop, "GET", path, cookie)[1], path
        assert "thresher worker" in ask(shop, "GET", path, cookie)[1]
    assert "No worker is running" not in ask(shop, "GET", "/login")[1], "strangers are not told"
    worker = register(shop.store, name="w", host="h", pid=1, lease_us=60 * SECOND)
    for path in paths:
        assert "No worker is running" not in ask(shop, "GET", path, cookie)[1], path
    stop(shop.store, worker)
    assert "No worker is running" in ask(shop, "GET", "/keys", cookie)[1]


def test_a_place_holds_the_pages_below_it_and_no_others():
    place = NavigationEntry("Keys", "/keys")
    assert [path for path in ("/keys", "/keys/3/revoke", "/keyservers", "/") if place.holds(path)] == [
        "/keys",
        "/keys/3/revoke",
    ]


def test_a_template_escapes_whatever_it_is_given():
    problem = {"status": 400, "detail": "<b>&\"'", "name": "x", "headers": {}}
    shown = rendered(
        "problem.html",
        title="<i>",
        problem=problem,
        who=None,
        csrf="",
        sections=(),
        path="/",
        banner=None,
        is_answer=False,
    )
    assert "&lt;b&gt;&amp;&#34;&#39;." in shown
    assert "<i>" not in shown


def test_a_long_name_may_go_on_in_the_next_line_where_its_parts_meet():
    said = _breakable("host:www.x.example/<b>/extractDataWithApi?page=2")
    assert str(said) == (
        "<bdi>host:<wbr>www.<wbr>x.<wbr>example/&lt;b&gt;/<wbr>extract<wbr>Data<wbr>With<wbr>Api?<wbr>page=<wbr>2</bdi>"
    )
    assert str(_breakable("a" * 20, 10)) == f"<bdi>{'a' * 9}…</bdi>"


def test_no_template_switches_the_escaping_off_or_runs_anything():
    for path in (HERE / "templates").iterdir():
        text = path.read_text("utf-8").replace('<script src="{{ script }}" defer></script>', "")
        assert not re.search(r"\|\s*safe|autoescape|<script|<style|style=|\son\w+=|https?://", text), (
            path.name
        )


def test_every_field_that_a_person_fills_in_has_a_label():
    for path in (HERE / "templates").iterdir():
        text = path.read_text("utf-8")
        for found in re.finditer(r"<input (?![^>]*type=\"(?:hidden|checkbox)\")[^>]*?id=\"(\w+)\"", text):
            assert f'for="{found[1]}"' in text, (path.name, found[1])


def test_words_stand_out_from_what_is_behind_them_by_day_and_by_night():
    """As WCAG counts it, 4.5 to 1."""
    for scheme in re.findall(r":root \{(.*?)\}", (HERE / "style.css").read_text("utf-8"), re.DOTALL):
        colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", scheme))
        pairs = [(ink, ground) for ink in ("ink", "soft", "link") for ground in ("paper", "card")]
        pairs += [(name, f"{name}-wash") for name in ("good", "warn", "bad", "none")] + [
            ("on-accent", "accent"),
            ("paper", "bad"),
        ]
        assert [pair for pair in pairs if contrast(colour[pair[0]], colour[pair[1]]) < 4.5] == []


def contrast(one: str, other: str) -> float:
    dark, light = sorted((brightness(one), brightness(other)))
    return (light + 0.05) / (dark + 0.05)


def brightness(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _written(path: str) -> str:
    """A path as the page has it: a place is written in capitals."""
    names = {"key_id": "ID", "person_id": "ID"}
    return re.sub(r"{(\w+)(?::path)?}", lambda match: names.get(match[1], match[1].upper()), path)


FOR = {None: "everybody", "read": "viewers", "write": "operators", "admin": "administrators"}


def test_the_reference_has_every_page_and_no_other():
    said = re.findall(r"^\| `([A-Z]+ /[^`]*)` \|(.*)\|(.*)\|$", REFERENCE.read_text("utf-8"), re.MULTILINE)
    wanted = [
        (
            f"{each.method} {_written(each.path)}",
            FOR[each.needs],
            " ".join(each.endpoint.__doc__.split()),
        )
        for each in (*PAGES, *app_pages(APPS, PAGES))
    ]
    assert [(name, who.strip(), says.strip()) for name, who, says in said] == wanted
