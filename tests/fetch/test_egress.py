"""Out of a network whose only door is a proxy: a real one on loopback, which looks the names up."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trustme

from tests.fetch.browsing import BOUNDS, a_world
from tests.fetch.hostile import QUICK, hostile, polite
from tests.fetch.test_transport_http2 import certificate
from thresher.core.errors import ConnectionFailed, Refused, TaskError
from thresher.core.rendering import Rendering
from thresher.fetch.browser import Browser
from thresher.fetch.egress import EgressProxy, read_proxy
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.http2 import Http2Transport
from thresher.fetch.request import Request, Response
from thresher.fetch.resolver import EgressResolver, Endpoint, MappedResolver, Resolver

AUTHORITY = trustme.CA()
HOST, PROXY = "jobs.acme.example", "proxy.corp.example"
SECRET = "h@:/%"
Kind = type[HttpTransport] | type[Http2Transport]
BOTH = pytest.mark.parametrize("kind", [HttpTransport, Http2Transport])


class OnlyTheProxy:
    """The name server of a closed network: it knows the proxy, and no name outside."""

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        if host != PROXY:
            raise ConnectionFailed(f"the name {host} was looked up on this side of the proxy")
        return (Endpoint("127.0.0.1", port, tls),)


@dataclass
class ForwardProxy:
    """Tunnels and passes on to `behind`, whatever the name; with a `status` it refuses everybody."""

    behind: int
    login: str | None = None
    status: str = ""
    port: int = 0
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *fields = head.decode("ascii").split("\r\n")
        self.asked.append(first)
        if self.login is not None and f"Proxy-Authorization: Basic {self.login}" not in fields:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        elif self.status:
            writer.write(f"HTTP/1.1 {self.status}\r\ncontent-length: 0\r\n\r\n".encode())
        else:
            far_reader, far = await asyncio.open_connection("127.0.0.1", self.behind)
            if first.startswith("CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far.write(head)
            await asyncio.gather(_pump(reader, far), _pump(far_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def proxying(behind: int, *, login: str | None = None, status: str = "") -> AsyncIterator[ForwardProxy]:
    proxy = ForwardProxy(behind, login, status)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()


def through(port: int, guard: Guard, user: str | None = None, password: str = "") -> Resolver:
    return EgressResolver(EgressProxy(PROXY, port, user, password), OnlyTheProxy(), guard.is_named)


def run(
    kind: Kind,
    url: str,
    *,
    login: str | None = None,
    status: str = "",
    allow: tuple[str, ...] = (),
    wrap: Callable[[Resolver, int], Resolver] = lambda resolver, _: resolver,
) -> tuple[Response, list[str]]:
    """Ask a server behind a proxy. Returns the response and what the proxy was asked."""

    async def act() -> tuple[Response, list[str]]:
        trust, guard = ssl.create_default_context(), Guard(allow)
        AUTHORITY.configure_trust(trust)
        served = certificate(AUTHORITY, HOST) if url.startswith("https") else None
        async with (
            hostile(polite, tls=served) as server,
            proxying(server.port, login=login, status=status) as proxy,
        ):
            resolver = wrap(through(proxy.port, guard, "anna" if login else None, SECRET), server.port)
            found = kind(resolver, guard, trust=trust)
            try:
                return await found.send(Request(url), QUICK), proxy.asked
            finally:
                await found.close()

    return asyncio.run(act())


@BOTH
def test_an_encrypted_page_comes_through_a_tunnel_and_its_name_is_not_looked_up_here(kind: Kind):
    response, asked = run(kind, f"https://{HOST}/jobs")
    assert b"host: jobs.acme.example\r\n" in response.body.lower()
    assert asked == [f"CONNECT {HOST}:443 HTTP/1.1"]


def test_a_plain_page_is_asked_for_with_its_whole_address():
    """Most proxies open tunnels to port 443 alone."""
    _, asked = run(HttpTransport, f"http://{HOST}/jobs?page=2")
    assert asked == [f"GET http://{HOST}/jobs?page=2 HTTP/1.1"]


@BOTH
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_proxy_gets_its_password_and_the_site_does_not(kind: Kind, scheme: str):
    login = base64.b64encode(f"anna:{SECRET}".encode()).decode()
    response, asked = run(kind, f"{scheme}://{HOST}/", login=login)
    assert asked
    if scheme == "https":  # in plain HTTP it is the proxy that takes it out
        assert b"proxy-authorization" not in response.body.lower()


@pytest.mark.promise(17)
@BOTH
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "https://10.0.0.1/", "http://localhost/", "http://169.254.169.254/latest/"]
)
def test_what_must_not_be_reached_is_not_asked_of_a_proxy_either(kind: Kind, url: str):
    with pytest.raises(Refused, match=r"fetch\.allow"):
        run(kind, url)


def test_a_public_address_in_a_url_goes_through_the_proxy_too():
    _, asked = run(HttpTransport, "http://93.184.215.14/")
    assert asked == ["GET http://93.184.215.14/ HTTP/1.1"]


def test_a_host_of_ones_own_and_a_mapped_one_are_reached_directly():
    def mapped(resolver: Resolver, port: int) -> Resolver:
        return MappedResolver({HOST: f"http://127.0.0.1:{port}"}, resolver)

    assert run(HttpTransport, f"http://{HOST}/", wrap=mapped)[1] == []
    with pytest.raises(ConnectionFailed, match="looked up on this side"):
        run(HttpTransport, "http://wiki.intra/", allow=("wiki.intra",))


@BOTH
@pytest.mark.parametrize(
    ("status", "kind_of_error", "says", "gate"),
    [
        ("407 Proxy Authentication Required", ConnectionFailed, "wants a user name and a password", None),
        ("403 Forbidden", Refused, f"does not allow {HOST}", None),
        ("502 Bad Gateway", ConnectionFailed, "answered 502", f"host:{HOST}"),
    ],
)
def test_what_the_proxy_refuses_is_told_as_the_proxys_word(
    kind: Kind, status: str, kind_of_error: type[TaskError], says: str, gate: str | None
):
    with pytest.raises(kind_of_error, match=says) as caught:
        run(kind, f"https://{HOST}/", status=status)
    assert caught.value.gate == gate
    assert PROXY in str(caught.value)
    assert SECRET not in str(caught.value)


@BOTH
@pytest.mark.parametrize("url", [f"https://{HOST}/", f"http://{HOST}/"])
def test_a_proxy_that_is_away_is_no_fault_of_the_host(kind: Kind, url: str):
    """A breaker of the host would stop a crawl of everything, one host after the other."""

    async def act() -> None:
        guard = Guard()
        async with proxying(1) as proxy:
            port = proxy.port
        found = kind(through(port, guard, "anna", SECRET), guard)
        try:
            await found.send(Request(url), QUICK)
        finally:
            await found.close()

    with pytest.raises(ConnectionFailed, match=r"no connection to the proxy.*fetch\.proxy") as caught:
        asyncio.run(act())
    assert caught.value.gate is None
    assert SECRET not in str(caught.value)


@pytest.mark.promise(17)
def test_the_browser_goes_out_through_the_proxy_and_nowhere_else():
    with a_world() as world:
        world.pages["/"] = (
            "<p>hello</p><script>fetch('http://127.0.0.1/x').catch(() => document.title = 'no')</script>"
        )

        async def act() -> tuple[str, list[str]]:
            guard = Guard()
            async with proxying(world.port) as proxy:
                browser = Browser(1, through(proxy.port, guard), guard)
                try:
                    page = await browser.render(
                        "http://site.example/", BOUNDS, rendering=Rendering(idle=False)
                    )
                    with pytest.raises(ConnectionFailed):
                        await browser.render("https://site.example/", BOUNDS, rendering=Rendering(idle=False))
                finally:
                    await browser.close()
                return page.body.decode(), proxy.asked

        body, asked = world.run(_coroutine(act))
    assert "hello" in body
    assert asked[0] == "GET http://site.example/ HTTP/1.1"
    assert "CONNECT site.example:443 HTTP/1.1" in asked
    assert not any("127.0.0.1" in line for line in asked)


def _coroutine(act: Callable[[], Awaitable[tuple[str, list[str]]]]) -> Awaitable[tuple[str, list[str]]]:
    return act()


def test_a_proxy_is_read_with_its_password_and_shown_without():
    proxy = read_proxy("http://anna:h%40%3A%2F%25@proxy.corp.example")
    assert (proxy.host, proxy.port, proxy.user, proxy.password) == (PROXY, 3128, "anna", SECRET)
    assert SECRET not in f"{proxy} {proxy!r}"
