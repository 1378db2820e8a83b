"""Administrators over real HTTP, attacked: guessed passwords, forged requests, foreign pages, cookies that
somebody else has set."""

import io
import logging
import re
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cli.conftest import Thresher, folder, thresher  # noqa: F401  fixtures
from tests.harness.tasks import rows
from tests.web.conftest import PROJECT, Answer, Api, served, workshop
from tests.web.test_door import GUARDED, filled
from tests.web.test_serve import address, serving
from thresher.admin import admins
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.core.errors import UsageError
from thresher.web.auth import NAME, SECURE_NAME, is_secure
from thresher.web.refresh import refresh
from thresher.web.server import check_address

pytestmark = pytest.mark.promise(17)

GOOD = "correct horse battery"
HIDDEN = "***"
CHANGE = ("PUT", "/api/settings/retry.base")


@pytest.fixture
def cheap(shop, stranger) -> Api:
    """A server at which a password costs little, and where anna is an administrator."""
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    admins.create_admin(shop.store, "anna", GOOD)
    return stranger


@dataclass(frozen=True)
class Browser:
    """Somebody who is logged in, as their browser shows it."""

    api: Api
    cookie: str
    csrf: str

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **how: Any) -> Answer:
        shown = {"Cookie": f"{NAME}={self.cookie}", "X-CSRF-Token": self.csrf}
        return self.api.ask(method, path, headers=shown | (headers or {}), **how)

    def bare(self, method: str, path: str, headers: dict[str, str] | None = None, **how: Any) -> Answer:
        """With what a foreign page could make it send: the cookie, and no header of ours."""
        return self.api.ask(
            method, path, headers={"Cookie": f"{NAME}={self.cookie}"} | (headers or {}), **how
        )


def log_in(api: Api, headers: dict[str, str] | None = None, **said: str) -> Answer:
    return api.ask("POST", "/api/login", json={"name": "anna", "password": GOOD} | said, headers=headers)


def cookie(told: Answer) -> tuple[str, str]:
    """The token that a browser was given, and what was said about it."""
    value, _, rest = told.headers["Set-Cookie"].partition("; ")
    return value.removeprefix(f"{NAME}="), rest


@pytest.fixture
def anna(cheap) -> Browser:
    told = log_in(cheap)
    assert told.status == 200, told.body
    return Browser(cheap, cookie(told)[0], told.json["csrf"])


def test_an_administrator_logs_in_looks_changes_and_logs_out(cheap, shop):
    told = log_in(cheap)
    assert set(told.json) == {"name", "csrf", "expires_at"}
    assert told.headers["Cache-Control"] == "no-store"
    token, rest = cookie(told)
    assert rest == "HttpOnly; Max-Age=43200; Path=/; SameSite=strict"
    anna = Browser(cheap, token, told.json["csrf"])
    assert anna.bare("GET", "/api/me").json == told.json | {"scopes": ["admin"], "role": "admin"}
    assert anna.bare("GET", "/api/status").status == 200
    assert anna.ask(*CHANGE, json={"value": 61}).status == 200
    assert rows(shop.store, "select changed_by from setting_changes where name = 'retry.base'") == [
        ("administrator anna",)
    ]
    made = anna.ask("POST", "/api/keys", json={"name": "s"})
    assert made.json["made_by"] == "administrator anna"
    out = anna.ask("POST", "/api/logout")
    assert (out.status, out.body) == (204, b"")
    assert cookie(out)[0] in ("", '""')
    assert "Max-Age=0" in cookie(out)[1]
    anna.bare("GET", "/api/me").problem(401)


def test_a_wrong_name_and_a_wrong_password_get_the_same_answer(cheap):
    one, other = log_in(cheap, password="wrong horse battery"), log_in(cheap, name="nobody")
    assert one.problem(401) == other.problem(401)
    assert set(one.headers) == set(other.headers)
    assert "Set-Cookie" not in one.headers


NO_LOGINS: tuple[Any, ...] = (
    None,
    {},
    {"name": "anna"},
    {"name": "anna", "password": None},
    {"name": "anna", "password": ["x"]},
    {"name": {"$ne": 1}, "password": GOOD},
    {"name": "anna", "password": "x" * 1_025},
    {"name": "x" * 5_000, "password": GOOD},
    {"name": "anna\0", "password": GOOD},
    {"name": "anna", "password": GOOD, "admin": True},
)


def test_a_body_that_is_no_login_is_refused_and_not_repeated(cheap):
    for body in NO_LOGINS:
        told = cheap.ask("POST", "/api/login", json=body).problem(422)
        assert GOOD not in told["detail"]


def test_a_login_opens_every_route_but_those_of_scrapers(anna):
    for route in GUARDED:
        if route.scope == "scrape":
            assert (
                anna.ask(route.method, filled(route.path)).problem(403)["type"] == "urn:thresher:ScopeMissing"
            )
        elif route.path != "/api/logout":
            assert anna.ask(route.method, filled(route.path)).status not in (401, 403, 500), route.path


def test_every_change_by_a_browser_needs_the_token_that_only_our_page_can_read(anna):
    for route in GUARDED:
        if route.method != "GET":
            assert (
                anna.bare(route.method, filled(route.path)).problem(403)["type"] == "urn:thresher:CsrfRefused"
            ), route.path


def test_a_wrong_token_is_as_good_as_none(anna):
    for said in (
        "",
        "x",
        "0" * 64,
        "\N{LATIN SMALL LETTER E WITH ACUTE}" * 64,
        "null",
        f"{anna.csrf},{anna.csrf}",
        anna.csrf[:-1],
    ):
        anna.bare(*CHANGE, {"X-CSRF-Token": said}, json={"value": 1}).problem(403)
    anna.bare(CHANGE[0], f"{CHANGE[1]}?csrf={anna.csrf}", json={"value": 1}).problem(403)


def test_the_token_of_another_login_is_not_enough(anna, cheap):
    other = log_in(cheap).json["csrf"]
    assert other != anna.csrf
    anna.bare(*CHANGE, {"X-CSRF-Token": other}, json={"value": 1}).problem(403)
    assert anna.csrf not in anna.cookie


ORIGINS = (
    "https://evil.example",
    "null",
    "",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "file://",
    "http://{0}.evil.example",
    "http://evil.example/{0}",
    "http://{0}@evil.example",
    "ftp://{0}",
    "{0}",
    "http://{0}/",
    "http://{0} http://evil.example",
)


def test_a_page_of_another_origin_changes_nothing_and_logs_nobody_in(anna, cheap, shop):
    for origin in ORIGINS:
        foreign = {"Origin": origin.format(cheap.url.removeprefix("http://"))}
        assert (
            anna.ask(*CHANGE, foreign, json={"value": 1}).problem(403)["type"] == "urn:thresher:OriginRefused"
        ), origin
        log_in(cheap, foreign).problem(403)
        cheap.ask(
            "POST", "/api/setup", json={"token": "x", "name": "eve", "password": GOOD}, headers=foreign
        ).problem(403)
    assert rows(shop.store, "select count(*) from logins") == [(1,)]


def test_our_own_page_may(anna, cheap):
    assert anna.ask(*CHANGE, {"Origin": cheap.url}, json={"value": 61}).status == 200
    assert (
        anna.ask(*CHANGE, {"Origin": cheap.url.replace("http:", "https:")}, json={"value": 62}).status == 200
    ), "a proxy speaks TLS"


def test_a_form_of_a_foreign_page_is_not_taken_for_json(cheap):
    body = b'{"name": "anna", "password": "correct horse battery"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        told = cheap.ask("POST", "/api/login", data=body, headers={"Content-Type": kind})
        told.problem(422)
        assert "Set-Cookie" not in told.headers


def test_a_token_that_the_browser_brings_is_never_adopted(cheap, anna):
    """Whoever plants a cookie before somebody logs in knows nothing afterwards."""
    for planted in ("thl_" + "a" * 43, anna.cookie, ""):
        token = cookie(log_in(cheap, {"Cookie": f"{NAME}={planted}"}))[0]
        assert re.fullmatch(r"thl_[\w-]{43}", token)
        assert token != planted
    cheap.ask("GET", "/api/me", headers={"Cookie": f"{NAME}=thl_{'a' * 43}"}).problem(401)


COOKIES = (
    "{name}={good}; {name}=x",
    "{name}=x; {name}={good}",
    "{name}=",
    "{name}",
    "x{name}={good}",
    "{name}x={good}",
    "{name}={good}x",
    "{name}={good},{name}={good}",
    '{name}="{good}"',
    "{upper}={good}",
    "{name}={half}",
    "a=b",
)


def test_a_cookie_that_is_not_exactly_ours_opens_nothing(anna):
    for cookies in COOKIES:
        said = cookies.format(name=NAME, upper=NAME.upper(), good=anna.cookie, half=anna.cookie[:-1])
        anna.api.ask("GET", "/api/me", headers={"Cookie": said}).problem(401)


def test_behind_tls_the_cookie_is_bound_to_this_host_and_no_other_name_counts(cheap):
    tls = {"X-Forwarded-Proto": "https"}
    told = log_in(cheap, tls)
    name, _, rest = told.headers["Set-Cookie"].partition("=")
    token, _, said = rest.partition("; ")
    assert (name, said) == (SECURE_NAME, "HttpOnly; Max-Age=43200; Path=/; SameSite=strict; Secure")
    assert cheap.ask("GET", "/api/me", headers=tls | {"Cookie": f"{SECURE_NAME}={token}"}).status == 200
    cheap.ask("GET", "/api/me", headers=tls | {"Cookie": f"{NAME}={token}"}).problem(401)
    planted = f"{NAME}=thl_{'a' * 43}; {SECURE_NAME}={token}"
    assert cheap.ask("GET", "/api/me", headers=tls | {"Cookie": planted}).status == 200, (
        "a neighbour plants what does not count"
    )
    cheap.ask("GET", "/api/me", headers={"Cookie": f"{SECURE_NAME}={token}"}).problem(401)
    csrf = {"Cookie": f"{SECURE_NAME}={token}", "X-CSRF-Token": told.json["csrf"]}
    assert (
        cheap.ask("POST", "/api/logout", headers=tls | csrf)
        .headers["Set-Cookie"]
        .startswith(f'{SECURE_NAME}=""')
    )


def test_other_cookies_beside_ours_do_no_harm(anna):
    assert anna.api.ask("GET", "/api/me", headers={"Cookie": f"a=b; ;{NAME}={anna.cookie} ; c"}).status == 200


def test_a_key_that_is_shown_counts_and_no_cookie_beside_it(anna, shop):
    reader = create_key(shop.store, "reader", ["read"]).token
    assert anna.bare("GET", "/api/status", {"X-API-Key": reader}).status == 200
    assert anna.bare("GET", "/api/me", {"X-API-Key": reader}).json["name"] == "reader"
    anna.bare("GET", "/api/keys", {"X-API-Key": reader}).problem(403)
    anna.bare("GET", "/api/me", {"X-API-Key": "wrong"}).problem(401)
    keyed = create_key(shop.store, "keyed", ["admin"]).token
    assert Api(anna.api.url, keyed).get("/api/me") == {"name": "keyed", "scopes": ["admin"], "role": None}
    anna.bare("POST", "/api/logout", {"X-API-Key": keyed}).problem(400)
    assert anna.bare("GET", "/api/me").status == 200


@pytest.mark.parametrize(
    ("scheme", "headers", "secure"),
    [
        ("http", {"host": "127.0.0.1:8000"}, False),
        ("http", {"host": "localhost"}, False),
        ("http", {"host": "[::1]:8000"}, False),
        ("https", {"host": "127.0.0.1"}, True),
        ("http", {"host": "thresher.example"}, True),
        ("http", {"host": "10.0.0.1:8000"}, True),
        ("http", {"host": "127.0.0.1", "x-forwarded-proto": "https"}, True),
        ("http", {}, True),
        ("http", {"host": "localhost.evil.example"}, True),
        ("http", {"host": "127.0.0.1.evil.example"}, True),
        ("http", {"host": ""}, True),
        ("http", {"host": "[::1"}, False),
    ],
)
def test_the_cookie_travels_in_the_open_on_the_machine_itself_only(scheme, headers, secure):
    scope = {
        "scheme": scheme,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    assert is_secure(scope) is secure


def test_a_password_is_hashed_where_neither_the_loop_nor_the_database_waits(cheap, monkeypatch):
    where, fits = [], admins.fits

    def noted(given: str, kept: str) -> bool:
        where.append(threading.current_thread().name)
        return fits(given, kept)

    monkeypatch.setattr(admins, "fits", noted)
    assert log_in(cheap).status == 200
    assert log_in(cheap, name="nobody").status == 401
    assert [name.partition("_")[0] for name in where] == ["password"] * 2, (
        "and as often for a name that nobody has"
    )


@pytest.mark.promise(3)
def test_whoever_guesses_is_told_to_wait(cheap, shop):
    set_setting(shop.store, "web.login_rate", "1", "test")
    refresh(shop)
    log_in(cheap, password="wrong horse battery").problem(401)
    told = log_in(cheap)
    assert told.problem(429)["type"] == "urn:thresher:TooManyRequests"
    assert 1 <= int(told.headers["Retry-After"]) <= 60
    assert rows(shop.store, "select count(*) from logins") == [(0,)]


def test_the_first_administrator_is_made_with_the_token_that_was_shown(shop, stranger):
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    token = admins.new_setup(shop.store)
    body = {"token": token, "name": "anna", "password": GOOD}
    stranger.ask("POST", "/api/setup", json=body | {"token": "ths_" + "a" * 43}).problem(401)
    stranger.ask("POST", "/api/setup", json=body | {"password": "short"}).problem(400)
    stranger.ask("POST", "/api/setup", json=body | {"name": "a\n"}).problem(400)
    made = stranger.ask("POST", "/api/setup", json=body)
    assert (made.status, made.json) == (201, {"name": "anna"})
    stranger.ask("POST", "/api/setup", json=body | {"name": "eve"}).problem(401)
    assert log_in(stranger).status == 200
    assert rows(shop.store, "select name from admins") == [("anna",)]


def test_no_secret_of_a_whole_conversation_is_in_the_log(shop, stranger, caplog):
    caplog.set_level(logging.DEBUG)
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    setup = admins.new_setup(shop.store)
    stranger.ask("POST", "/api/setup", json={"token": setup, "name": "anna", "password": GOOD})
    log_in(stranger, password="wrong horse battery")
    told = log_in(stranger)
    anna = Browser(stranger, cookie(told)[0], told.json["csrf"])
    key = anna.ask("POST", "/api/keys", json={"name": "s", "scopes": ["read"]}).json["key"]
    Api(stranger.url, key).get("/api/status")
    anna.bare(*CHANGE, json={"value": 1}).problem(403)
    stranger.ask("GET", "/api/status", headers={"X-Scraper-API-Key": key[:-1]}).problem(401)
    anna.ask("POST", "/api/logout")
    for line in (
        "POST '/api/login': 401, by somebody without a key",
        "POST '/api/keys': 201, by administrator anna",
        "200, by key s",
    ):
        assert line in caplog.text
    for secret in (setup, GOOD, "wrong horse", anna.cookie, anna.csrf, key[17:]):
        assert secret
        assert secret not in caplog.text


@pytest.mark.promise(3)
def test_two_servers_share_the_tries_and_the_logins(folder, thresher):  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT + "  web.password_cost: 10\n")
    made = thresher("admin", "create", "anna", "--generate", "--json")
    assert made.code == 0, made.err
    with (
        serving() as (_, said),
        workshop(folder) as shop,
        served(shop) as other,
    ):  # one in a process of its own, one in this process
        assert "token" not in said
        here, there = Api(address(said)), Api(other)
        told = log_in(here, password=made.json["password"])
        assert there.ask("GET", "/api/me", headers={"Cookie": f"{NAME}={cookie(told)[0]}"}).status == 200
        begun = time.monotonic()
        statuses = [
            log_in(api, password="wrong horse battery").status for _ in range(8) for api in (here, there)
        ]
        took = time.monotonic() - begun
    # Five at once, and one more for every twelve seconds that this may have taken.
    assert 5 <= statuses.count(401) <= 5 + took // 12 + 1
    assert statuses.count(401) + statuses.count(429) == 16


def test_a_server_shows_a_token_for_the_first_administrator_until_there_is_one(folder, thresher, monkeypatch):  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT + "  web.password_cost: 10\n")
    with serving() as (process, _):
        assert process.stdout
        said = process.stdout.readline()
        token = re.search(r"ths_[\w-]{43}", said)
        assert token, said
        assert "no administrator yet" in said
        assert "/setup#token=ths_" in said
    assert thresher("admin", "list", "--json").json == []
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{GOOD}\n"))
    made = thresher("admin", "create", "anna", "--password-stdin")
    assert made.code == 0, made.err
    assert GOOD not in made.out + made.err
    with serving("--json") as (_, said):
        assert "setup" not in said
    assert thresher("admin", "password", "anna", "--generate").out.splitlines()[0] != GOOD
    assert [each["name"] for each in thresher("admin", "list", "--json").json] == ["anna"]
    assert "anna" in thresher("admin", "list").out
    assert "only administrator" in thresher("admin", "remove", "anna").err
    assert thresher("admin", "create", "bert", "--role", "viewer", "--generate").code == 0
    assert "only administrator" in thresher("admin", "role", "anna", "operator").err
    assert "bert is an administrator" in thresher("admin", "role", "bert", "admin").out
    assert thresher("admin", "remove", "anna").code == 0
    assert thresher("admin", "remove", "anna").code == 4
    said = thresher("audit", "--json").json
    assert [(each["kind"], each["action"]) for each in said] == [
        ("user", "thresher admin remove name='anna'"),
        ("user", "thresher admin role name='bert' role='admin'"),
        ("user", "thresher admin create name='bert' role='viewer' generate=True"),
        ("user", "thresher admin password name='anna' generate=True"),
        ("user", f"thresher admin create name='anna' password_stdin={HIDDEN}"),
    ]


@pytest.mark.parametrize(
    "argv",
    [
        ("create", "anna"),
        ("create", "anna", "--generate", "--password-stdin"),
        ("create", "a\n", "--generate"),
        ("create", "", "--generate"),
    ],
    ids=lambda argv: " ".join(argv),
)
def test_an_administrator_that_makes_no_sense_is_refused(folder, thresher, monkeypatch, argv):  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    refused = thresher("admin", *argv)
    assert (refused.code, refused.out) == (2, ""), refused.err


def test_an_address_that_others_reach_is_served_once_somebody_could_log_in(shop):
    with pytest.raises(UsageError, match=r"thresher admin create NAME, or .*thresher keys create"):
        check_address(shop, "0.0.0.0")
    admins.create_admin(shop.store, "anna", GOOD)
    check_address(shop, "0.0.0.0")
