"""The web on a socket: real HTTP on loopback and nowhere else. The `Host` header says which site is meant."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from importlib.util import find_spec

from aiohttp import web

from thresher.practice.web.control import CONTROL, command
from thresher.practice.web.delivery import Delivered, Nothing, deliver
from thresher.practice.web.web import Web

ADDRESS = "127.0.0.1"
BACKLOG = 1_024
MAX_BODY = 4 * 1024 * 1024


def listening(port: int = 0) -> socket.socket:
    """A socket on loopback. Bound here, so that its port is known before anything runs."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except OSError as error:
        listener.close()
        raise OSError(
            f"cannot listen on {ADDRESS}:{port} ({error.strerror}): a practice web may run there already, and "
            "will do; or choose another --port, 0 for any, and name it in fetch.resolve of thresher.yaml"
        ) from error
    return listener


@contextlib.asynccontextmanager
async def served(site: Web, listener: socket.socket) -> AsyncIterator[None]:
    """The web answers on this socket for the length of a block."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await _handle(site, request)

    # A client that leaves cancels its request, so that a hanging one ends with it. No access log: we keep our
    # own.
    server = web.Server(handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0.01)
    await runner.setup()
    try:
        await web.SockSite(runner, listener, backlog=BACKLOG).start()
        yield
    finally:
        await runner.cleanup()


async def _handle(site: Web, request: web.BaseRequest) -> web.StreamResponse:
    host = (request.host or "").lower().partition(":")[0].rstrip(".")
    headers = {name.lower(): value for name, value in request.headers.items()}
    if host == CONTROL:
        return command(site, request.method, request.path_qs, await _body(request))
    target = request.raw_path if request.raw_path.startswith("/") else request.rel_url.raw_path_qs
    exchange = site.arrive(host, request.method, target, headers)
    body, sent = b"", Delivered(Nothing())
    try:
        body = await _body(request)
        answer, knob = site.answer(exchange, headers, body)
        sent = await deliver(request, answer, knob)
    except ConnectionError:
        pass  # the client went away; the log says that it did not get the whole
    finally:
        site.end(exchange, body, sent.status, sent.size, whole=sent.whole)
    return sent.response


async def _body(request: web.BaseRequest) -> bytes:
    if not request.body_exists:
        return b""
    parts, size = [], 0
    async for part in request.content.iter_chunked(65_536):
        size += len(part)
        if size > MAX_BODY:
            raise ConnectionError(f"a request body may have {MAX_BODY} bytes at most")
        parts.append(part)
    return b"".join(parts)


async def serve(site: Web, listener: socket.socket, until: asyncio.Event) -> None:
    """Answer until told to stop."""
    async with served(site, listener):
        await until.wait()


# The event loop to serve on: uvloop where it is installed, because the practice web should wait for its
# clients.


def new_loop() -> asyncio.AbstractEventLoop:
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415  an extra: the practice web runs without it

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
