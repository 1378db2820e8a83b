"""A receiver of webhooks on loopback, which keeps what it was sent and misbehaves as it is told."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

MAX_HEAD = 65_536
PATIENCE = 30.0
HUGE = b"x" * 65_536
OK = "HTTP/1.1 204 No Content\r\n\r\n"


@dataclass(frozen=True)
class Message:
    """One request as it came. Header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes


def answer(status: int, body: str = "", **headers: str) -> str:
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Said\r\ncontent-length: {len(body.encode())}\r\nconnection: close\r\n{named}\r\n{body}"


@dataclass
class Receiver:
    """`says` are its answers in order, then always the last: bytes of HTTP, or `hang`, `drop` or `huge`."""

    says: list[str] = field(default_factory=lambda: [OK])
    got: list[Message] = field(default_factory=list)
    port: int = 0
    heard: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def allow(self) -> str:
        return f"127.0.0.1:{self.port}"

    def tell(self, *says: str) -> None:
        self.says = list(says)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._exchange(reader, writer)
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in head[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        self.got.append(Message(head[0].split(" ")[1], headers, body))
        self.heard.set()
        if said == "hang":
            await reader.read()  # until the other side gives up
        elif said == "huge":
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
            for _ in range(64):
                writer.write(HUGE)
                await writer.drain()
        elif said != "drop":
            writer.write(said.encode())
            await writer.drain()


@contextlib.asynccontextmanager
async def receiving(*says: str, into: Receiver | None = None) -> AsyncIterator[Receiver]:
    """A receiver on this loop."""
    found = into or Receiver(list(says) or [OK])
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0, limit=MAX_HEAD)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()


@contextlib.contextmanager
def receiver_on_thread(*says: str) -> Iterator[Receiver]:
    """A receiver on a loop of its own, for commands and other processes."""
    found, ready, ending = Receiver(list(says) or [OK]), threading.Event(), threading.Event()

    async def live() -> None:
        async with receiving(into=found):
            ready.set()
            await asyncio.get_running_loop().run_in_executor(None, ending.wait)

    thread = threading.Thread(target=asyncio.run, args=(live(),), name="receiver")
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield found
    finally:
        ending.set()
        thread.join(PATIENCE)
