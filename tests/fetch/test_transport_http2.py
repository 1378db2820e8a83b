"""HTTP/2 keeps the same promises, against a real server that speaks it over TLS."""

import asyncio
import gzip
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import pytest
import trustme

from tests.fetch.hostile import QUICK, Nowhere, hostile, polite
from thresher.core.errors import (
    ConnectionFailed,
    Malformed,
    Refused,
    TaskError,
    TimedOut,
    TooLarge,
    UsageError,
)
from thresher.fetch import http2
from thresher.fetch.guard import Guard
from thresher.fetch.http2 import Http2Transport
from thresher.fetch.request import Bounds, Request, Response
from thresher.fetch.resolver import Endpoint, MappedResolver

AUTHORITY = trustme.CA()
HOST = "jobs.acme.example"


@dataclass
class Seen:
    port: int = 0
    connections: int = 0
    requests: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Conversation:
    """One connection. What a path does is in `ROUTES`."""

    def __init__(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen, self.reader, self.writer = seen, reader, writer
        config = h2.config.H2Configuration(
            client_side=False, validate_outbound_headers=False, normalize_outbound_headers=False
        )
        self.h2 = h2.connection.H2Connection(config)

    async def run(self) -> None:
        self.h2.initiate_connection()
        while True:
            await self.flush()
            data = await self.reader.read(65536)
            if not data:
                return
            for event in self.h2.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.seen.requests.append(
                        {name.decode(): value.decode() for name, value in event.headers}
                    )
                elif isinstance(event, h2.events.DataReceived):
                    self.seen.bodies.append(event.data)
                elif isinstance(event, h2.events.StreamEnded):
                    await ROUTES[self.seen.requests[-1][":path"]](self, event.stream_id)

    async def flush(self) -> None:
        self.writer.write(self.h2.data_to_send())
        await self.writer.drain()

    def answer(self, stream: int, body: bytes = b"", **headers: str) -> None:
        pairs = {
            "status": "200",
            "content-length": str(len(body)),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        status = pairs.pop("status")
        self.h2.send_headers(stream, [(":status", status), *pairs.items()])
        self.h2.send_data(stream, body, end_stream=True)


async def echo(talk: Conversation, stream: int) -> None:
    talk.answer(stream, json.dumps(talk.seen.requests[-1]).encode())


async def packed(talk: Conversation, stream: int) -> None:
    talk.answer(stream, gzip.compress(b"hello"), content_encoding="gzip", set_cookie="a=b")


async def bomb(talk: Conversation, stream: int) -> None:
    talk.answer(stream, gzip.compress(bytes(15_000_000))[:60_000], content_encoding="gzip")


async def endless(talk: Conversation, stream: int) -> None:
    talk.h2.send_headers(stream, [(":status", "200")])
    while True:
        room = min(talk.h2.local_flow_control_window(stream), 16_384)
        if room:
            talk.h2.send_data(stream, bytes(room))
            await talk.flush()
            await asyncio.sleep(0)
        else:
            talk.h2.receive_data(await talk.reader.read(65536))


async def cut(talk: Conversation, stream: int) -> None:
    talk.h2.send_headers(stream, [(":status", "200"), ("content-length", "10")])
    talk.h2.send_data(stream, b"abc")
    await talk.flush()
    raise ConnectionAbortedError


async def lie(talk: Conversation, stream: int) -> None:
    talk.answer(stream, b"abc", content_length="10")


async def reset(talk: Conversation, stream: int) -> None:
    talk.h2.reset_stream(stream)


async def stall(talk: Conversation, stream: int) -> None:
    await talk.flush()
    await talk.reader.read()


async def heavy(talk: Conversation, stream: int) -> None:
    talk.h2.send_headers(
        stream,
        [(":status", "200"), *((f"x-{number}", "y" * 1_000) for number in range(200))],
        end_stream=True,
    )


async def odd(talk: Conversation, stream: int) -> None:
    talk.h2.send_headers(stream, [(":status", "abc")], end_stream=True)


async def noise(talk: Conversation, stream: int) -> None:
    talk.writer.write(bytes(range(256)) * 64)


async def leave(talk: Conversation, stream: int) -> None:
    """ "I did not begin with that one": the library would send it again on another connection."""
    talk.h2.close_connection(last_stream_id=max(stream - 2, 0))


ROUTES = {
    f"/{route.__name__}": route
    for route in (echo, packed, bomb, endless, cut, lie, reset, stall, heavy, odd, noise, leave)
}


def certificate(authority: trustme.CA, *names: str, **how: object) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names, **how).configure_cert(context)
    return context


@asynccontextmanager
async def multiplexed() -> AsyncIterator[Seen]:
    seen = Seen()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        try:
            await Conversation(seen, reader, writer).run()
        except (OSError, h2.exceptions.ProtocolError, asyncio.CancelledError):
            pass
        finally:
            seen.gone.set()
            writer.transport.abort()

    context = certificate(AUTHORITY, HOST, "*.acme.example")
    context.set_alpn_protocols(["h2"])
    server = await asyncio.start_server(met, "127.0.0.1", 0, ssl=context)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()


@asynccontextmanager
async def transport(port: int, scheme: str = "https") -> AsyncIterator[Http2Transport]:
    trust = ssl.create_default_context()
    AUTHORITY.configure_trust(trust)
    found = Http2Transport(
        MappedResolver({"*": f"{scheme}://127.0.0.1:{port}"}, Nowhere()), Guard(), trust=trust
    )
    try:
        yield found
    finally:
        await found.close()


def asked(path: str, bounds: Bounds = QUICK, **request: object) -> tuple[Response, Seen]:
    async def walk() -> tuple[Response, Seen]:
        async with multiplexed() as seen, transport(seen.port) as found:
            return await found.send(Request(f"https://{HOST}{path}", **request), bounds), seen

    return asyncio.run(walk())


def test_a_request_goes_out_over_http2():
    found, seen = asked("/echo", method="POST", headers={"user-agent": "Us/1"}, body=b"hello")
    sent = json.loads(found.body)
    assert (sent[":method"], sent[":authority"], sent[":scheme"], sent["user-agent"]) == (
        "POST",
        HOST,
        "https",
        "Us/1",
    )
    assert b"".join(seen.bodies) == b"hello"
    assert sorted(found.timings) == ["connect", "dns", "first_byte", "total"]


def test_a_packed_answer_is_unpacked_and_cookies_are_dropped():
    found, _ = asked("/packed")
    assert found.body == b"hello"
    assert "set-cookie" not in found.headers


def test_a_server_that_speaks_only_the_old_protocol_is_understood():
    async def walk() -> bytes:
        async with hostile(polite) as server, transport(server.port, "http") as found:
            return (await found.send(Request(f"https://{HOST}/x"), QUICK)).body

    assert asyncio.run(walk()).startswith(b"GET /x HTTP/1.1\r\n")


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("path", "error", "sentence"),
    [
        ("/endless", TooLarge, "more than 1,048,576 bytes"),
        ("/bomb", TaskError, "bomb|size_limit|cut off"),
        ("/cut", ConnectionFailed, "cut off after 3 of 10 bytes"),
        ("/lie", TaskError, "jobs.acme.example"),
        ("/reset", TaskError, "jobs.acme.example"),
        ("/stall", TimedOut, "sent nothing for 0.3 s"),
        ("/heavy", Malformed, "not HTTP"),
        ("/odd", Malformed, "not HTTP"),
        ("/noise", Malformed, "not HTTP"),
        ("/leave", TaskError, "jobs.acme.example"),
    ],
)
def test_a_hostile_server_gets_the_typed_error_it_deserves(path: str, error: type[TaskError], sentence: str):
    with pytest.raises(error, match=sentence) as failure:
        asked(path, Bounds(connect=5.0, read=0.3, total=10.0, size=1024 * 1024))
    assert failure.value.gate == f"host:{HOST}"


@pytest.mark.promise(18)
def test_a_stream_without_end_is_hung_up_on_and_the_next_request_is_served():
    async def walk() -> int:
        async with multiplexed() as seen, transport(seen.port) as found:
            with pytest.raises(TooLarge):
                await found.send(Request(f"https://{HOST}/endless"), Bounds(size=100_000))
            await seen.gone.wait()
            return (await found.send(Request(f"https://{HOST}/echo"), QUICK)).status

    assert asyncio.run(walk()) == 200


@pytest.mark.promise(16)
def test_leave_is_asked_before_the_request_and_once():
    async def walk() -> list[tuple[int, int]]:
        asked_at: list[tuple[int, int]] = []
        async with multiplexed() as seen, transport(seen.port) as found:

            async def before_send() -> None:
                for _ in range(20):
                    await asyncio.sleep(0)
                asked_at.append((seen.connections, len(seen.requests)))

            await found.send(Request(f"https://{HOST}/echo"), QUICK, before_send)
            await found.send(Request(f"https://{HOST}/echo"), QUICK, before_send)
            with pytest.raises(TaskError):
                await found.send(Request(f"https://{HOST}/leave"), QUICK, before_send)
            assert len(seen.requests) == 3
        return asked_at

    assert asyncio.run(walk()) == [(1, 0), (1, 1), (1, 2)]


@pytest.mark.promise(16)
@pytest.mark.parametrize(
    "problem", [Refused("paused"), TimeoutError("ours"), OSError("ours"), ValueError("ours")]
)
def test_without_leave_nothing_is_sent(problem: Exception):
    async def walk() -> int:
        async def before_send() -> None:
            raise problem

        async with multiplexed() as seen, transport(seen.port) as found:
            with pytest.raises(type(problem)) as raised:
                await found.send(Request(f"https://{HOST}/echo"), QUICK, before_send)
            assert raised.value is problem
            return len(seen.requests)

    assert asyncio.run(walk()) == 0


def test_many_at_once_over_one_connection_each_get_their_own_answer():
    async def walk() -> tuple[int, set[str]]:
        async with multiplexed() as seen, transport(seen.port) as found:

            async def before_send() -> None:
                await asyncio.sleep(0)

            sent = (
                found.send(
                    Request(f"https://{HOST}/echo", headers={"x-number": str(number)}), QUICK, before_send
                )
                for number in range(20)
            )
            answers = await asyncio.gather(*sent)
            return seen.connections, {json.loads(each.body)["x-number"] for each in answers}

    connections, numbers = asyncio.run(walk())
    assert numbers == {str(number) for number in range(20)}
    assert connections == 1


@pytest.mark.promise(17)
def test_the_guard_holds_for_names_and_addresses():
    class Lying:
        async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
            return (Endpoint("93.184.216.34", port, tls), Endpoint("10.0.0.1", port, tls))

    async def walk() -> None:
        found = Http2Transport(Lying(), Guard())
        for url in ("https://evil.example/", "http://127.0.0.1/", "http://[::1]/", "file:///etc/passwd"):
            with pytest.raises(Refused):
                await found.send(Request(url), QUICK)
        await found.close()

    asyncio.run(walk())


@pytest.mark.promise(17)
def test_the_checked_address_is_dialled_and_the_next_one_if_it_is_closed():
    async def walk() -> tuple[int, int]:
        class Twice:
            asked = 0

            async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
                self.asked += 1
                return (Endpoint("127.0.0.3", seen.port, tls), Endpoint("127.0.0.1", seen.port, tls))

        async with multiplexed() as seen:
            trust = ssl.create_default_context()
            AUTHORITY.configure_trust(trust)
            names = Twice()
            found = Http2Transport(names, Guard(allow=("127.0.0.0/8",)), trust=trust)
            await found.send(Request(f"https://{HOST}/echo"), QUICK)
            await found.close()
            return names.asked, seen.connections

    assert asyncio.run(walk()) == (1, 1)


@pytest.mark.parametrize(
    "request_", [Request(f"https://{HOST}/", headers={"x": "a\r\nb: c"}), Request(f"https://{HOST}/", "GE T")]
)
def test_a_request_that_would_smuggle_another_is_not_sent(request_: Request):
    async def walk() -> None:
        found = Http2Transport(Nowhere(), Guard())
        await found.send(request_, QUICK)

    with pytest.raises(Refused):
        asyncio.run(walk())


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(http2.importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"pip install 'thresher\[http2\]'"):
        Http2Transport(Nowhere(), Guard())


def test_the_module_itself_imports_nothing_of_the_extra():
    code = "import sys, thresher.fetch.http2; sys.exit('httpcore2' in sys.modules or 'h2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
