"""A server without manners: it speaks bytes, so it can cut off, stall, lie about lengths, and never stop."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from thresher.core.errors import ConnectionFailed
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.request import BeforeSend, Bounds, Request, Response
from thresher.fetch.resolver import Endpoint, MappedResolver

Say = Callable[[bytes], Awaitable[None]]
Script = Callable[[bytes, Say], Awaitable[None]]
QUICK = Bounds(connect=2.0, read=2.0, total=5.0)


@dataclass
class Hostile:
    """What the server saw: the head and body of each request, and how many connections there were."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    said: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)  # a client hung up


class Nowhere:
    """No name exists but those that are mapped."""

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        raise ConnectionFailed(f"the name {host} does not exist")


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A well-formed answer; `content_length=...` lies."""
    lines = {"content_length": str(len(body)), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def saying(*pieces: bytes) -> Script:
    """Says these and hangs up."""

    async def script(request: bytes, say: Say) -> None:
        for piece in pieces:
            await say(piece)
        raise ConnectionAbortedError

    return script


def stalling(*pieces: bytes) -> Script:
    """Says these, and nothing more until the client gives up."""

    async def script(request: bytes, say: Say) -> None:
        for piece in pieces:
            await say(piece)
        await asyncio.Event().wait()

    return script


def endlessly(start: bytes, again: bytes) -> Script:
    async def script(request: bytes, say: Say) -> None:
        await say(start)
        while True:
            await say(again)

    return script


async def polite(request: bytes, say: Say) -> None:
    """Answers with what it was asked, and keeps the connection."""
    await say(answer(request, content_type="text/plain"))


async def _request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    return head + await reader.readexactly(length)


@asynccontextmanager
async def hostile(script: Script, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Hostile]:
    found = Hostile()
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def say(data: bytes) -> None:
            writer.write(data)
            await writer.drain()
            await asyncio.sleep(0)  # drain alone does not give way while the kernel still takes bytes
            found.said += len(data)

        try:
            while True:
                request = await _request(reader)
                found.requests.append(request)
                watch = asyncio.ensure_future(script(request, say))
                tasks.add(watch)
                await watch
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            found.gone.set()
        finally:
            writer.transport.abort() if tls else writer.close()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        found.open += 1
        await talk(reader, writer)
        found.open -= 1

    server = await asyncio.start_server(met, "127.0.0.1", 0, ssl=tls)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def transport(
    server: Hostile, *, trust: ssl.SSLContext | None = None, guard: Guard | None = None
) -> AsyncIterator[HttpTransport]:
    scheme = "https" if trust else "http"
    found = HttpTransport(
        MappedResolver({"*": f"{scheme}://127.0.0.1:{server.port}"}, Nowhere()), guard or Guard(), trust=trust
    )
    try:
        yield found
    finally:
        await found.close()


def ask(
    script: Script,
    bounds: Bounds = QUICK,
    request: Request | None = None,
    before_send: BeforeSend | None = None,
) -> Response:
    """One request to a server that follows this script."""

    async def walk() -> Response:
        async with hostile(script) as server, transport(server) as found:
            return await found.send(
                request or Request("https://jobs.acme.example/list?a=1"), bounds, before_send
            )

    return asyncio.run(walk())
