"""Sign-in by a proxy's header over real sockets: believed from the addresses that were named, no others."""

import asyncio
import http.client
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.harness.tasks import rows
from tests.web.conftest import PATIENCE, raw
from thresher.admin import admins
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web.auth import NAME
from thresher.web.pages.form import KIND
from thresher.web.proxied import read_header
from thresher.web.refresh import refresh
from thresher.web.server import bind, make_server, read_proxies

pytestmark = pytest.mark.promise(17)

GOOD = "correct horse battery"
HEADER = "X-Remote-User"
PROXY, STRANGER = "127.0.0.1", "127.0.0.2"  # both reach the server, and one of them was named


@dataclass
class Told:
    status: int
    headers: http.client.HTTPMessage
    text: str


@dataclass(frozen=True)
class Client:
    """Speaks to the server from an address of its own, with what it says and holds."""

    port: int
    address: str = PROXY
    headers: tuple[tuple[str, str], ...] = ()

    def saying(self, *headers: tuple[str, str]) -> "Client":
        return Client(self.port, self.address, (*self.headers, *headers))

    def ask(self, method: str, path: str, body: str | None = None, *more: tuple[str, str]) -> Told:
        line = http.client.HTTPConnection("127.0.0.1", self.port, PATIENCE, source_address=(self.address, 0))
        try:
            line.putrequest(method, path)
            for name, value in (*self.headers, *more):
                line.putheader(name, value.encode())
            if body is not None:
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body.encode() if body is not None else None)
            got = line.getresponse()
            return Told(got.status, got.headers, got.read().decode())
        finally:
            line.close()

    def as_(self, name: str) -> "Client":
        return self.saying((HEADER, name))


@contextmanager
def served(shop: Runtime, proxies: Sequence[str]) -> Iterator[int]:
    ready = threading.Event()
    server = make_server(shop, ready.set, proxies, HEADER)
    with bind("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
        thread.start()
        assert ready.wait(PATIENCE)
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@pytest.fixture
def house(shop: Runtime) -> Runtime:
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    admins.create_admin(shop.store, "chief", GOOD)
    admins.create_admin(shop.store, "vera", GOOD, "viewer")
    admins.create_admin(shop.store, "otto", GOOD, "operator")
    return shop


@pytest.fixture
def proxy(house: Runtime) -> Iterator[Client]:
    with served(house, read_proxies(PROXY)) as port:
        yield Client(port)


def test_whom_the_trusted_proxy_names_is_in_with_their_role(proxy):
    assert proxy.ask("GET", "/settings").status == 303, "nobody was named"
    told = proxy.as_("vera").ask("GET", "/settings")
    assert (told.status, "vera" in told.text) == (200, True)
    assert '"role": "viewer"' in proxy.as_("vera").ask("GET", "/api/me").text
    assert proxy.as_("vera").ask("GET", "/people").status == 403
    assert proxy.as_("chief").ask("GET", "/people").status == 200


@pytest.mark.parametrize("path", ["/people", "/api/people", "/api/me"])
def test_from_any_other_address_the_header_is_ignored_and_that_is_logged(proxy, caplog, path):
    stranger = Client(proxy.port, STRANGER).as_("chief")
    with caplog.at_level(logging.WARNING, "thresher.web"):
        told = stranger.ask("GET", path)
        stranger.ask("GET", path)
    assert told.status == (401 if path.startswith("/api") else 303)
    said = [each.getMessage() for each in caplog.records if HEADER in each.getMessage()]
    assert said == [
        f"ignored the header {HEADER} from {STRANGER}: only addresses of --forwarded-allow-ips may say who somebody is"
    ], "once for each address"


def test_what_the_proxy_forwards_for_makes_nobody_a_proxy(proxy):
    """The address that counts is that of the other end of the line, and not one that somebody wrote down."""
    liar = Client(proxy.port, STRANGER).saying(("X-Forwarded-For", PROXY), (HEADER, "chief"))
    assert liar.ask("GET", "/api/people").status == 401
    honest = proxy.saying(("X-Forwarded-For", "203.0.113.9"), (HEADER, "chief"))
    assert honest.ask("GET", "/api/people").status == 200


def test_two_such_headers_are_refused_and_so_is_a_name_that_is_none(proxy):
    twice = proxy.as_("vera").as_("chief")
    assert (twice.ask("GET", "/settings").status, twice.ask("GET", "/api/people").status) == (400, 400)
    assert "says twice who you are" in twice.ask("GET", "/settings").text
    for name in ("x" * 101, "a\x1bb", "\N{RIGHT-TO-LEFT OVERRIDE}a"):
        assert proxy.as_(name).ask("GET", "/api/people").status == 400
    assert proxy.as_(" ").ask("GET", "/api/people").status == 401, "an empty one names nobody"


def test_what_hides_behind_a_request_with_two_ends_is_no_request(proxy):
    said = raw(
        f"http://127.0.0.1:{proxy.port}",
        b"POST /api/tasks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
        b"GET /api/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Remote-User: anna\r\n\r\n",
    )
    assert said.startswith(b"HTTP/1.1 400")
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"TwoLengths" in said


def test_without_the_option_the_header_says_nothing(house):
    ready = threading.Event()
    server = make_server(house, ready.set, read_proxies(PROXY))
    with bind("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
        thread.start()
        assert ready.wait(PATIENCE)
        try:
            assert Client(bound.getsockname()[1]).as_("chief").ask("GET", "/api/people").status == 401
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def test_a_person_must_be_here_unless_a_setting_lets_new_ones_in(proxy, house):
    told = proxy.as_("newton").ask("GET", "/settings")
    assert (told.status, "nobody of that name here" in told.text) == (403, True)
    assert proxy.as_("newton").ask("GET", "/api/me").status == 403
    assert "newton" not in {each.name for each in admins.list_admins(house.store)}
    for value, name, role in (("1", "newton", "viewer"), ("2", "olga", "operator")):
        set_setting(house.store, "web.proxy_people", value, "test")
        refresh(house)
        assert f'"role": "{role}"' in proxy.as_(name).ask("GET", "/api/me").text
    found = rows(house.store, "select who, role, action from audit order by id")
    assert found == [
        ("newton", "viewer", "came through the proxy for the first time, as viewer"),
        ("olga", "operator", "came through the proxy for the first time, as operator"),
    ]
    kept = rows(house.store, "select password from admins where name = 'newton'")[0][0]
    assert not any(admins.fits(guess, kept) for guess in ("", "newton", GOOD))


def form_of(told: Told) -> tuple[str, str]:
    """The cookie that a browser was given, and the token of the forms of the page."""
    cookie = re.match(rf"{NAME}=([^;]+); ", told.headers["Set-Cookie"])
    csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', told.text)
    assert cookie
    assert csrf
    assert "HttpOnly" in told.headers["Set-Cookie"]
    assert "SameSite=strict" in told.headers["Set-Cookie"]
    return cookie[1], csrf[1]


def send(client: Client, path: str, *more: tuple[str, str], **fields: Any) -> Told:
    return client.ask("POST", path, urlencode(fields), ("Content-Type", KIND), *more)


def value(shop: Runtime) -> list[tuple[Any, ...]]:
    return rows(shop.store, "select value from settings where name = 'retry.base'")


def test_a_change_needs_the_token_of_a_page_of_ours_all_the_same(proxy, house):
    otto, path = proxy.as_("otto"), "/settings/retry.base"
    cookie, csrf = form_of(otto.ask("GET", path))
    held = ("Cookie", f"{NAME}={cookie}")
    assert send(otto, path, value="5").status == 403, "a foreign form: neither"
    assert send(otto, path, held, value="5").status == 403, "the cookie goes along by itself"
    assert send(otto, path, csrf=csrf, value="5").status == 403, "a token without its cookie"
    foreign = ("Origin", "https://evil.example")
    assert send(otto, path, held, foreign, csrf=csrf, value="5").status == 403
    assert value(house) == []
    assert send(otto, path, held, csrf=csrf, value="5").status == 303
    assert value(house) == [("5.0",)]
    asked = otto.ask(
        "PUT", "/api/settings/retry.base", '{"value": 6}', ("Content-Type", "application/json"), held
    )
    assert asked.status == 403
    token = ("X-CSRF-Token", csrf)
    json = ("Content-Type", "application/json")
    assert otto.ask("PUT", "/api/settings/retry.base", '{"value": 6}', json, held, token).status == 200
    assert [who for (who,) in rows(house.store, "select who from audit")] == ["otto", "otto"]


def test_the_cookie_of_a_proxys_person_opens_nothing_without_the_proxy(proxy):
    cookie, _ = form_of(proxy.as_("chief").ask("GET", "/people"))
    held = ("Cookie", f"{NAME}={cookie}")
    assert Client(proxy.port, STRANGER).ask("GET", "/people", None, held).status == 303
    assert Client(proxy.port).ask("GET", "/api/people", None, held).status == 401


def test_whoever_the_proxy_names_counts_before_a_login_and_a_key_before_both(proxy, house):
    said = proxy.ask(
        "POST",
        "/api/login",
        f'{{"name": "chief", "password": "{GOOD}"}}',
        ("Content-Type", "application/json"),
    )
    cookie = re.match(rf"{NAME}=([^;]+); ", said.headers["Set-Cookie"])
    assert cookie
    held = ("Cookie", f"{NAME}={cookie[1]}")
    assert '"chief"' in proxy.ask("GET", "/api/me", None, held).text
    assert '"vera"' in proxy.as_("vera").ask("GET", "/api/me", None, held).text
    assert proxy.as_("vera").ask("GET", "/people", None, held).status == 403
    key = ("X-API-Key", create_key(house.store, "dice", ["read"]).token)
    assert '"dice"' in proxy.as_("chief").ask("GET", "/api/me", None, key).text


def test_who_is_removed_is_out_with_the_next_request(proxy, house):
    otto = proxy.as_("otto")
    assert otto.ask("GET", "/api/me").status == 200
    admins.remove_admin(house.store, "otto")
    assert otto.ask("GET", "/api/me").status == 403


@pytest.mark.parametrize(
    "name", ["Cookie", "authorization", "Host", "X-Forwarded-For", "X User", "", "x" * 65, "ä"]
)
def test_a_header_that_others_send_too_is_refused_at_start(name):
    with pytest.raises(UsageError, match=r"--trusted-user-header must be the name of a header"):
        read_header(name, ["10.0.0.5/32"])


def test_without_the_addresses_of_the_proxies_the_server_does_not_start(house):
    with pytest.raises(UsageError, match=r"needs --forwarded-allow-ips"):
        make_server(house, lambda: None, (), HEADER)
