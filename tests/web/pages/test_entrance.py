"""The entrance to the pages, attacked: no login, an ended one, keys, foreign forms, addresses that lead
away."""

import re
from urllib.parse import quote

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.roles.http.scraping import World
from tests.harness.tasks import rows
from tests.web.conftest import ALL_SCOPES, APPS, PROJECT, Api, served, workshop
from tests.web.pages.visitor import GOOD, Visitor, cookie_of, page, with_anna
from thresher.admin.admins import new_setup
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.core.clock import FrozenClock
from thresher.core.errors import UsageError
from thresher.web.auth import NAME
from thresher.web.pages import PAGES
from thresher.web.pages.form import KIND, parse_form
from thresher.web.pages.login_required import local
from thresher.web.pages.shell import HEADERS
from thresher.web.refresh import refresh
from thresher.web.routes import ROUTES

pytestmark = pytest.mark.promise(17)

GUARDED = [each for each in PAGES if not each.is_open]
CHANGES = [each for each in GUARDED if each.method == "POST"]


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


def test_no_page_is_shown_without_a_login(passer_by):
    assert {each.path for each in PAGES if each.is_open} == {
        "/setup",
        "/login",
        "/style.css",
        "/live.js",
        "/icon.svg",
    }
    for each in GUARDED:
        told = passer_by.ask(each.method, filled(each.path))
        if each.method == "GET":
            assert (told.status, told.body) == (303, b""), each.path
            assert told.headers["Location"].startswith("/login")
        else:
            assert "log in and try again" in page(told, 401)


def test_a_page_never_lies_where_a_route_lies():
    assert not any(each.path == "/api" or each.path.startswith("/api/") for each in PAGES)
    outside = {each.path for each in ROUTES if not each.path.startswith("/api/")}
    assert outside == {"/healthz", "/readyz", "/metrics"}
    assert not outside & {each.path for each in PAGES}


@pytest.mark.parametrize(
    "path",
    [
        "/docs",
        "/redoc",
        "/openapi.json",
        "//api/health",
        "/API/HEALTH",
        "/keys/",
        "/keys/../login",
        "/.env",
        "/static/style.css",
        "/login/",
        "/%2e%2e/etc/passwd",
        "/apis",
        "/\\evil.example",
    ],
)
def test_a_stranger_learns_nothing_of_which_pages_there_are(passer_by, path):
    told = passer_by.ask("GET", path)
    assert (told.status, told.body) == (303, b"")
    assert re.fullmatch(r"/login(\?next=/[^/\\].*)?", told.headers["Location"])
    page(passer_by.ask("POST", path), 401)


def test_whoever_is_sent_to_log_in_comes_back_to_where_they_wanted(passer_by):
    way = passer_by.ask("GET", "/keys?all=1").headers["Location"]
    assert way == "/login?next=/keys%3Fall%3D1"
    assert 'name="next" value="/keys?all=1"' in passer_by.see(way)
    told = passer_by.send("/login", name="anna", password=GOOD, next="/keys?all=1")
    assert (told.status, told.headers["Location"]) == (303, "/keys?all=1")
    assert Visitor(passer_by.url, cookie_of(told)).ask("GET", way).headers["Location"] == "/keys?all=1", (
        "once in, the form is not needed"
    )


AWAY = (
    "//evil.example",
    "///evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\nLocation: //evil.example",
    " //evil.example",
    "/ /evil.example",
    "evil.example",
    "",
    "?x",
    "#x",
    "/login",
    "/login?next=/login",
    "/logout",
    "/setup",
    "/\N{FULLWIDTH SOLIDUS}evil.example",
    "/" + "x" * 3_000,
    "/a\\b",
    "/a\0b",
    "http:/keys",
    "/#//evil.example",
)


def test_an_address_that_leads_away_is_never_followed(passer_by, anna):
    for away in AWAY:
        assert local(away) == "/"
        if "\0" in away:
            continue  # such a form is refused before anybody reads it
        told = passer_by.send("/login", name="anna", password=GOOD, next=away)
        assert (told.status, told.headers["Location"]) == (303, "/"), away
        asked = anna.ask("GET", f"/login?next={quote(away, safe='')}")
        assert (asked.status, asked.headers["Location"]) == (303, "/"), away


@given(
    st.one_of(
        st.text(), st.text("/\\.:@?#%\t\n aevil"), st.tuples(st.sampled_from(AWAY), st.text()).map("".join)
    )
)
def test_wherever_a_browser_would_go_it_stays_here(text):
    """As browsers read addresses, not as we do."""
    here = "http://127.0.0.1:8000"
    assert ada_url.URL(local(text), base=f"{here}/login").origin == here


def test_a_path_of_ours_is():
    for path in (
        "/",
        "/keys",
        "/keys?all=1",
        "/keys/3/revoke",
        "/a%20b",
        "/x//y",
        "/%2Fevil.example",
        "/..//evil.example",
    ):
        assert local(path) == path


def test_keys_do_not_open_pages(standing_world, passer_by, anna):
    key = create_key(standing_world.store, "everything", ALL_SCOPES, apps=APPS).token
    for shown in ({"X-API-Key": key}, {"X-Scraper-API-Key": key}, {"Authorization": f"Bearer {key}"}):
        for each in GUARDED:
            assert passer_by.ask(each.method, filled(each.path), shown).status == (
                303 if each.method == "GET" else 401
            )
        assert anna.ask("GET", "/keys", shown).status == 200, "the login counts, whatever stands beside it"
    assert passer_by.ask("GET", "/keys", {"Cookie": f"{NAME}={key}"}).status == 303


@pytest.mark.parametrize(
    "cookie", ["", "x", "thl_" + "a" * 43, "{good}x", "{good}; {name}=other", '"{good}"']
)
def test_a_cookie_that_is_not_exactly_ours_opens_nothing(passer_by, anna, cookie):
    said = cookie.format(good=anna.cookie, name=NAME)
    assert passer_by.ask("GET", "/keys", {"Cookie": f"{NAME}={said}"}).status == 303


def test_every_change_needs_the_token_of_this_login_in_the_form(standing_world, passer_by, anna):
    other = passer_by.log_in().csrf
    mine = anna.csrf
    assert mine != other
    lacking = (
        [],
        [""],
        ["0" * 64],
        [other],
        [mine, mine],
        [mine, other],
        [mine[:-1]],
        [mine.upper() + "x"],
        ["\N{SNOWMAN}"],
        [f"{mine} "],
    )
    for each in CHANGES:
        for said in lacking:
            told = anna.send(filled(each.path), name="forged", scope="read", csrf=said)
            assert "does not belong to your login" in page(told, 403), (each.path, said)
        told = anna.send(filled(each.path), {"X-CSRF-Token": mine}, name="forged", scope="read")
        assert "does not belong" in page(told, 403), "the header is the way of the API"
    page(anna.send(f"/keys?csrf={mine}", name="forged", scope="read"), 400)
    assert anna.ask("GET", "/keys").status == 200, "nobody was logged out"
    assert "forged" not in anna.see("/keys?all=1")


ORIGINS = (
    "https://evil.example",
    "null",
    "",
    "http://127.0.0.1",
    "file://",
    "http://{0}.evil.example",
    "http://{0}@evil.example",
    "{0}",
)


def test_a_form_of_a_foreign_page_changes_nothing_and_logs_nobody_in(standing_world, passer_by, anna):
    before = rows(standing_world.store, "select count(*) from logins")
    mine = anna.csrf
    for origin in ORIGINS:
        foreign = {"Origin": origin.format(passer_by.url.removeprefix("http://"))}
        assert "another origin" in page(
            anna.send("/keys", foreign, name="forged", scope="read", csrf=mine), 403
        ), origin
        page(anna.send("/logout", foreign, csrf=mine), 403)
        told = passer_by.send("/login", foreign, name="anna", password=GOOD)
        assert "another origin" in page(told, 403)
        assert "Set-Cookie" not in told.headers
        page(passer_by.send("/setup", foreign, token="x", name="eve", password=GOOD, again=GOOD), 403)
    assert rows(standing_world.store, "select count(*) from logins") == before
    assert passer_by.send("/login", {"Origin": passer_by.url}, name="anna", password=GOOD).status == 303


def test_a_second_window_may_log_in_where_the_first_one_has(anna):
    told = anna.send("/login", name="anna", password=GOOD)
    assert told.status == 303
    assert cookie_of(told) != anna.cookie


def test_a_login_that_the_browser_would_not_keep_is_explained_and_not_begun(passer_by):
    away = {"Host": "thresher.example"}
    told = passer_by.send("/login", away | {"Origin": "http://thresher.example"}, name="anna", password=GOOD)
    assert "without https" in page(told, 400)
    assert "Set-Cookie" not in told.headers
    behind = passer_by.send(
        "/login", away | {"Origin": "https://thresher.example"}, name="anna", password=GOOD
    )
    assert behind.status == 303
    assert "; Secure" in behind.headers["Set-Cookie"]


@given(st.binary(max_size=200) | st.text(max_size=50).map(lambda text: f"csrf=1&name={text}".encode()))
def test_whatever_a_form_holds_it_is_read_or_refused(body):
    try:
        form = parse_form(body)
    except UsageError:
        return
    assert all("\0" not in value for values in form.fields.values() for value in values)


def test_every_answer_tells_the_browser_to_frame_run_and_keep_nothing(passer_by, anna):
    answers = [
        anna.ask("HEAD" if each.path == "/live" else "GET", filled(each.path))
        for each in PAGES
        if each.method == "GET"
    ]
    answers += [
        passer_by.ask("GET", "/keys"),
        passer_by.ask("GET", "/login"),
        passer_by.ask("POST", "/keys"),
        anna.ask("GET", "/nothing"),
    ]
    answers += [
        anna.ask("DELETE", "/keys"),
        anna.send("/keys"),
        anna.ask("POST", "/keys", data=b"x" * 70_000),
    ]
    for told in answers:
        shown = {name.title(): value for name, value in told.headers.items()}
        kept = (
            shown["Content-Type"].startswith(("text/css", "text/javascript", "image/"))
            if "Content-Type" in shown
            else False
        )
        for name, value in HEADERS.items():
            if not (kept and name == "Cache-Control"):
                assert shown[name.title()] == value
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self'; connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_that_all_may_see_is_private(passer_by):
    for path in ("/login", "/style.css", "/live.js", "/icon.svg"):
        body = passer_by.ask("GET", path).body
        assert b"anna" not in body
        assert b"url(" not in body, "nothing is fetched from elsewhere"
        assert b"<script" not in body
    assert passer_by.ask("GET", "/style.css?v=1").headers["Cache-Control"].startswith("public")


def test_a_page_is_asked_for_in_the_way_it_is_meant_to_be(anna):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        told = anna.ask(method, "/keys")
        assert "does not support" in page(told, 405)
    assert page(anna.ask("POST", "/events", {"Content-Type": KIND}), 405)
    assert anna.ask("HEAD", "/keys").status == 200
    assert "there is no parameter" in anna.see("/keys?al=1", 400)
    assert "send it once" in anna.see("/keys?all=1&all=1", 400)
    assert "there is no /nothing here" in anna.see("/nothing", 404)
    for number in ("0", "999", "x", "-1", "9" * 5_000, "1e3", "\N{ARABIC-INDIC DIGIT THREE}"):
        assert anna.ask("GET", f"/keys/{quote(number)}/revoke").status in (400, 404), number


def test_a_form_is_small_and_is_a_form(standing_world, passer_by, anna):
    mine = f"csrf={anna.csrf}&name=odd&scope=read"
    odd = (
        (b"x" * 70_000, KIND, 413),
        (mine.encode() + b"&x=1" * 200, KIND, 400),
        (b"csrf=%ff", KIND, 400),
        (b"\xff", KIND, 400),
        (mine.encode(), "text/plain", 400),
        (mine.encode(), "multipart/form-data; boundary=x", 400),
        (mine.encode(), "", 400),
        (f"{mine}&name=twice".encode(), KIND, 400),
        (f"{mine}%00".encode(), KIND, 400),
        (f"{mine}&rate={'9' * 5_000}".encode(), KIND, 400),
        (b"", KIND, 403),
        (b"&&&", KIND, 403),
    )
    for body, kind, status in odd:
        page(anna.ask("POST", "/keys", {"Content-Type": kind}, data=body), status)
    page(anna.ask("POST", "/keys", {"Content-Type": KIND, "Content-Length": str(10**12)}, data=b"x"), 413)
    page(passer_by.ask("POST", "/login", {"Content-Type": KIND}, data=b"x" * 70_000), 413)
    page(passer_by.ask("POST", "/login", {"Content-Type": "application/json"}, data=b'{"name": "anna"}'), 400)
    assert rows(standing_world.store, "select name from api_keys where name = 'odd'") == []


def test_a_wrong_name_and_a_wrong_password_get_the_same_page(passer_by):
    one = passer_by.send("/login", name="anna", password="wrong horse battery")
    other = passer_by.send("/login", name="nobody", password="wrong horse battery")
    assert page(one, 401).replace("anna", "nobody") == page(other, 401)
    assert "Set-Cookie" not in one.headers
    assert "horse" not in page(one, 401)
    page(passer_by.send("/login", name="anna", password="x" * 2_000), 400)


def test_tries_are_counted_together_with_those_of_the_api(world):
    visitor = with_anna(world)
    set_setting(world.store, "web.login_rate", "4", "test")
    refresh(world.shop)
    api = Api(world.url)
    wrong = {"name": "anna", "password": "wrong horse battery"}
    statuses = []
    for _ in range(2):
        statuses += [visitor.send("/login", **wrong).status, api.ask("POST", "/api/login", json=wrong).status]
    assert statuses == [401] * 4
    told = visitor.send("/login", name="anna", password=GOOD)
    assert "too many login attempts" in page(told, 429)
    assert told.headers["Retry-After"] == "15"
    api.ask("POST", "/api/login", json=wrong).problem(429)
    world.pass_time(15)
    assert visitor.log_in().ask("GET", "/keys").status == 200


def test_a_login_that_has_ended_leads_to_the_way_in_and_changes_nothing(world):
    anna = with_anna(world).log_in()
    mine = anna.csrf
    world.pass_time(12 * 3_600 + 1)
    assert anna.ask("GET", "/keys?all=1").headers["Location"] == "/login?next=/keys%3Fall%3D1"
    assert "nothing was changed" in page(anna.send("/keys", name="late", scope="read", csrf=mine), 401)
    assert world.rows("select count(*) from api_keys") == [(0,)]
    again = anna.log_in()
    assert again.cookie != anna.cookie
    told = again.post("/logout")
    assert (told.status, told.headers["Location"], cookie_of(told)) == (303, "/login", '""')
    assert "Max-Age=0" in told.headers["Set-Cookie"]
    assert again.ask("GET", "/keys").status == 303


def test_the_first_administrator_is_made_with_the_token_and_once(world):
    set_setting(world.store, "web.password_cost", "10", "test")
    refresh(world.shop)
    stranger, token = Visitor(world.url), new_setup(world.store)
    assert token
    for each in GUARDED:
        if each.method == "GET":
            assert stranger.ask("GET", filled(each.path)).headers["Location"] == "/setup"
    assert stranger.ask("GET", "/login").headers["Location"] == "/setup"
    asked = {"token": token, "name": "anna", "password": GOOD, "again": GOOD}
    assert "this setup token is wrong" in page(
        stranger.send("/setup", **asked | {"token": "ths_" + "a" * 43}), 401
    )
    assert "not the same" in page(stranger.send("/setup", **asked | {"again": "x"}), 400)
    refused = page(stranger.send("/setup", **asked | {"password": "short", "again": "short"}), 400)
    assert "12 to" in refused
    assert token not in refused
    told = stranger.send("/setup", **asked)
    assert (told.status, told.headers["Location"]) == (303, "/login")
    assert stranger.ask("GET", "/setup").headers["Location"] == "/login"
    assert "this setup token is wrong" in page(stranger.send("/setup", **asked | {"name": "eve"}), 401)
    assert world.rows("select name from admins") == [("anna",)]
    assert stranger.log_in().see("/keys")


def test_no_page_of_an_app_is_there_without_the_app(tmp_path):
    (tmp_path / "thresher.yaml").write_text(
        PROJECT.replace("[extractions, jobs, prices, queries, roles]", "[jobs]")
    )
    with workshop(tmp_path) as shop, served(shop) as url:
        anna = with_anna(World(shop, FrozenClock(), url)).log_in()
        anna.see("/")
        navigation = anna.see("/keys").partition("<main")[0]
        gone = (
            ("Scrapers", "/scrapers"),
            ("Queries", "/queries"),
            ("Signals", "/signals"),
            ("Prices", "/prices"),
        )
        for title, path in gone:
            assert title not in navigation
            anna.see(path, 404)
