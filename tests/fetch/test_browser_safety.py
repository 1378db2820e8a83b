"""Whatever a page tries, the browser reaches nothing that the fetcher may not. The canary must never sing."""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from tests.fetch.browsing import World, a_world
from thresher.core.errors import ConnectionFailed, Refused, TaskError, TimedOut
from thresher.core.rendering import Rendering
from thresher.fetch.guard import Guard
from thresher.fetch.proxy import Proxy, read_target
from thresher.fetch.rendering import MEANINGS, code_of, meaning
from thresher.fetch.request import Bounds
from thresher.fetch.resolver import Endpoint, MappedResolver, SystemResolver

pytestmark = pytest.mark.promise(17)

# Everything a script can think of to reach a port of this machine, a neighbour, the cloud's metadata, a file.
ATTACK = """<!doctype html><p id=said></p>
<iframe src="http://127.0.0.1:PORT/iframe"></iframe><iframe src="http://localhost:PORT/iframe"></iframe>
<iframe src="http://10.0.0.1/"></iframe><iframe src="file:///etc/passwd"></iframe>
<img src="http://127.0.0.1:PORT/img"><img src="http://[::1]:PORT/img"><img src="http://0.0.0.0:PORT/img">
<img src="http://0x7f.1:PORT/img"><img src="http://2130706433:PORT/img"><img src="http://[::ffff:127.0.0.1]:PORT/img">
<script src="http://127.0.0.1:PORT/js"></script><link rel=stylesheet href="http://localhost:PORT/css">
<link rel=preconnect href="http://127.0.0.1:PORT"><link rel=prefetch href="http://127.0.0.1:PORT/prefetch">
<link rel=dns-prefetch href="http://localhost:PORT"><video src="http://127.0.0.1:PORT/video"></video>
<object data="http://127.0.0.1:PORT/object"></object><a id=a ping="http://127.0.0.1:PORT/ping" href="#x">x</a>
<form id=f method=post action="http://127.0.0.1:PORT/form" target=t><input name=a></form><iframe name=t></iframe>
<script>
const here = "127.0.0.1:PORT", heard = [];
const targets = [`http://${here}/fetch`, "http://169.254.169.254/latest/meta-data/", "http://localhost:PORT/f", "http://nowhere.localhost:PORT/",
  "http://10.0.0.1/", "http://192.168.0.1/", "http://[fd00:ec2::254]/", "file:///etc/passwd", "http://rebound.test:PORT/", "http://rebound.test/",
  "ftp://127.0.0.1:PORT/", "http://moved.example/to-canary"];
const tries = targets.map(t => fetch(t, {mode: "no-cors"}).then(r => heard.push(t + " " + r.type), () => 0));
navigator.sendBeacon(`http://${here}/beacon`, "x"); a.click(); f.submit();
new EventSource(`http://${here}/events`);
try { new WebSocket(`ws://${here}/socket`).onopen = () => heard.push("websocket"); } catch (e) {}
try { new WebSocket("ws://localhost:PORT/socket").onopen = () => heard.push("websocket"); } catch (e) {}
try { new Worker(URL.createObjectURL(new Blob([`fetch("http://${here}/worker", {mode: "no-cors"})`]))); } catch (e) {}
try {
  const turn = [`turn:${here}`, `turn:${here}?transport=tcp`, `turns:${here}?transport=tcp`];
  const peer = new RTCPeerConnection({iceServers: [{urls: `stun:${here}`}, {urls: turn, username: "a", credential: "b"}]});
  peer.onicecandidate = e => e.candidate && heard.push(e.candidate.candidate);
  peer.createDataChannel("x"); peer.createOffer().then(o => peer.setLocalDescription(o));
} catch (e) {}
try { new WebTransport(`https://${here}/transport`); } catch (e) {}
Promise.all(tries).then(() => setTimeout(() => said.innerHTML = "<b id=done>" + JSON.stringify(heard) + "</b>", 800));
</script>"""


@dataclass
class Canary:
    """A port of this machine, TCP and UDP, that nobody may find."""

    port: int = 0
    sang: list[bytes] = field(default_factory=list)

    async def perch(self) -> asyncio.Server:
        async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.sang.append(await reader.read(200))
            writer.close()

        server = await asyncio.start_server(hear, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        canary = self

        class Ear(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, addr: object) -> None:
                canary.sang.append(data)

        await asyncio.get_running_loop().create_datagram_endpoint(Ear, local_addr=("127.0.0.1", self.port))
        return server


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


@pytest.fixture(scope="module")
def canary(world: World) -> Canary:
    bird = Canary()
    world.run(bird.perch())
    return bird


def to(place: str):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"location": place})

    return answer


def test_a_page_that_tries_everything_gets_nothing(world: World, canary: Canary):
    world.pages |= {
        "/attack": ATTACK.replace("PORT", str(canary.port)),
        "/to-canary": to(f"http://127.0.0.1:{canary.port}/redirected"),
    }
    page = world.render("/attack", Bounds(total=20), wait_for="#done", block=())
    assert b'<b id="done">[]</b>' in page.body
    assert canary.sang == []


def test_the_canary_sings_where_it_is_allowed_to_be_found(world: World, canary: Canary):
    """Else its silence proves nothing."""
    browser = world.browser()
    browser._guard = Guard(allow=(f"127.0.0.1:{canary.port}", f"localhost:{canary.port}"))
    world.pages["/attack"] = ATTACK.replace("PORT", str(canary.port))
    world.run(browser.render("http://site.example/attack", rendering=Rendering(wait_for="#done", block=())))
    sung = b" ".join(canary.sang)
    canary.sang.clear()
    assert [
        path
        for path in (b"/iframe", b"/img", b"/js", b"/fetch", b"/beacon", b"/socket", b"/worker")
        if path not in sung
    ] == []
    world.run(browser.close())


@pytest.mark.parametrize(
    "place",
    ["http://127.0.0.1:{}/", "http://localhost:{}/", "http://[::1]:{}/", "http://169.254.169.254/latest/"],
)
def test_a_redirect_to_where_we_may_not_go_is_refused(world: World, canary: Canary, place: str):
    world.pages["/r"] = to(place.format(canary.port))
    with pytest.raises(Refused, match=r"fetch\.allow"):
        world.render("/r")
    assert canary.sang == []


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "chrome://version", "data:text/html,x", "javascript:alert(1)"]
)
def test_a_redirect_to_something_else_than_the_web_brings_nothing(world: World, place: str):
    world.pages["/r"] = to(place)
    with pytest.raises(TaskError):
        world.render("/r")


@pytest.mark.parametrize(
    "place",
    ["file:///etc/passwd", "http://127.0.0.1:9/", "chrome://version", "view-source:http://site.example/"],
)
def test_a_redirect_of_a_mapped_https_host_is_judged_like_any_other(world: World, place: str):
    world.pages["/r"] = to(place)
    with pytest.raises(Refused):
        world.render("https://site.example/r")


def test_a_script_that_moves_on_to_this_machine_is_refused(world: World, canary: Canary):
    world.pages["/s"] = f"<script>location = 'http://127.0.0.1:{canary.port}/'</script>"
    with pytest.raises(Refused):
        world.render("/s", idle=True)
    world.pages["/s"] = f"<meta http-equiv=refresh content='0; url=http://localhost:{canary.port}/'>"
    with pytest.raises(Refused):
        world.render("/s", idle=True)
    assert canary.sang == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "file:///etc/passwd",
        "http://0x7f.1/",
        "http://site.example:22/",
    ],
)
def test_an_address_that_is_forbidden_never_reaches_the_browser(world: World, url: str):
    with pytest.raises(Refused):
        world.render(url)


def test_a_name_that_does_not_exist_says_so(world: World):
    with pytest.raises(ConnectionFailed, match=r"the name no-such-name\.invalid") as caught:
        world.render("http://no-such-name.invalid/")
    assert caught.value.gate == "host:no-such-name.invalid"


def test_a_port_where_nobody_listens_says_so(world: World):
    with socket.socket() as idle:
        idle.bind(("127.0.0.1", 0))
        browser = world.browser()
        browser._resolver = MappedResolver(
            {"*": f"http://127.0.0.1:{idle.getsockname()[1]}"}, SystemResolver()
        )
        with pytest.raises(ConnectionFailed, match=r"dead\.example could not be reached"):
            world.run(browser.render("http://dead.example/"))
        world.run(browser.close())


class Liar:
    """A name server that gives a harmless answer first and our own machine afterwards; or both at once."""

    def __init__(self, *answers: tuple[Endpoint, ...]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


async def ask(proxy: Proxy, request: bytes) -> bytes:
    await proxy.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.address.rpartition(":")[2]))
    writer.write(request)
    try:
        return await reader.read(1000)
    finally:
        writer.close()
        await proxy.close()


def proxy_of(resolver, **options) -> Proxy:
    return Proxy(resolver, Guard(), connect=2, most=10_000, alarm=options.pop("alarm", print), **options)


@pytest.mark.parametrize(
    "line",
    [b"CONNECT site.test:443 HTTP/1.1\r\n\r\n", b"GET http://site.test/ HTTP/1.1\r\nHost: site.test\r\n\r\n"],
)
def test_one_bad_address_among_good_ones_refuses_the_name(canary: Canary, world: World, line: bytes):
    resolver = Liar(
        (Endpoint("93.184.216.34", canary.port, False), Endpoint("127.0.0.1", canary.port, False))
    )
    proxy = proxy_of(resolver)
    assert world.run(ask(proxy, line)) == b""
    assert isinstance(
        proxy.problem("https://site.test/" if b"CONNECT" in line else "http://site.test/"), Refused
    )
    assert canary.sang == []


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1",
        b"GET ftp://x.test/ HTTP/1.1",
        b"CONNECT  HTTP/1.1",
        b"\x00\xff",
        b"GET http://\xff/ HTTP/1.1",
        b"CONNECT user:word@site.test:443 HTTP/1.1",
        b"CONNECT 127.0.0.1:80 HTTP/1.1",
        b"CONNECT [::1]:443 HTTP/1.1",
        b"GET http://127.0.0.1@site.test/ HTTP/1.1",
        b"X" * 100_000,
        b"CONNECT site.test:99999 HTTP/1.1",
    ],
    ids=lambda line: line[:20].decode("latin-1").strip(),
)
def test_what_is_no_proper_request_to_a_proxy_is_hung_up_on(canary: Canary, world: World, line: bytes):
    resolver = Liar((Endpoint("127.0.0.1", canary.port, False, vouched=True),))
    assert world.run(ask(proxy_of(resolver), line + b"\r\n\r\n")) == b""
    assert canary.sang == []


@pytest.mark.parametrize(
    ("head", "target"),
    [
        (b"CONNECT a.example:443 HTTP/1.1\r\n\r\n", ("https://a.example:443/", True)),
        (b"CONNECT a.example:80 HTTP/1.1\r\n\r\n", ("http://a.example:80/", True)),
        (b"GET http://a.example:8080/x?y HTTP/1.1\r\n\r\n", ("http://a.example:8080/x?y", False)),
    ],
)
def test_a_request_to_the_proxy_is_read_as_a_url(head: bytes, target: tuple[str, bool]):
    assert read_target(head) == target


def test_headers_of_one_connection_do_not_travel(world: World):
    seen: list[str] = []

    async def headers(request: web.Request) -> web.Response:
        seen.extend(name.lower() for name in request.headers)
        seen.append(request.raw_path)
        return web.Response(text="ok", headers={"Keep-Alive": "timeout=99"})

    world.pages["/h"] = headers
    lines = (
        "GET http://a.example/h?q HTTP/1.1",
        "Host: a.example",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic",
        "X-A: 1",
    )
    head = "\r\n".join((*lines, "", "")).encode()
    answer = world.run(
        ask(proxy_of(MappedResolver({"*": f"http://127.0.0.1:{world.port}"}, SystemResolver())), head)
    )
    assert "x-a" in seen
    assert "/h?q" in seen
    assert not {"proxy-connection", "proxy-authorization"} & set(seen)
    assert b"keep-alive" not in answer.lower()
    assert b"connection: close" in answer.lower()


def test_a_port_that_takes_no_connection_is_given_up_in_time(world: World):
    async def slow(host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        return (Endpoint("127.0.0.1", full.getsockname()[1], False, vouched=True),)

    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        queue = [socket.socket() for _ in range(4)]
        for each in queue:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        resolver = Liar()
        resolver.resolve = slow  # type: ignore[method-assign]
        proxy = Proxy(resolver, Guard(), connect=0.2, most=100, alarm=print)
        world.run(ask(proxy, b"GET http://a.example/ HTTP/1.1\r\n\r\n"))
        assert isinstance(proxy.problem("http://a.example/"), TimedOut)
        for each in queue:
            each.close()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("net::ERR_CERT_DATE_INVALID at https://x", ConnectionFailed),
        ("net::ERR_NAME_NOT_RESOLVED", ConnectionFailed),
        ("net::ERR_UNSAFE_REDIRECT", Refused),
        ("net::ERR_TIMED_OUT", TimedOut),
        ("no code at all", ConnectionFailed),
    ],
)
def test_what_the_browser_complains_of_has_a_type(said: str, kind: type[TaskError]):
    problem = meaning(code_of(said), "https://x.example/")
    assert type(problem) is kind
    assert "https://x.example/" in str(problem)


def test_the_last_meaning_fits_everything():
    assert MEANINGS[-1][0] == "ERR_"
