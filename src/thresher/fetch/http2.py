"""HTTP/2 where the server speaks it, HTTP/1.1 where it does not: the same promises over another library.

An extra, for the few sites that serve browsers only over HTTP/2; the ordinary transport needs a fraction of
its time. The library is imported when the first transport is made, so that nobody else pays for it or has to
install it.
"""

import asyncio
import importlib
import re
import ssl
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Self
from weakref import WeakValueDictionary

from thresher.core.errors import Refused, TaskError, TimedOut, UsageError
from thresher.fetch.body import ResponseBody, once_answered, outgoing, plain
from thresher.fetch.egress import END, MAX_HEAD, EgressProxy
from thresher.fetch.guard import Guard, Target
from thresher.fetch.http import KEEP_ALIVE, MAX_KEPT
from thresher.fetch.request import BeforeSend, Bounds, Request, Response
from thresher.fetch.resolver import Endpoint, Resolver, literal
from thresher.fetch.transfer import TRANSFER, Transfer

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
UNSENDABLE = re.compile(r"[\x00\r\n]")


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """The library, and everything it may raise that is not our own mistake."""
    try:
        core, h2, h11 = (importlib.import_module(name) for name in ("httpcore2", "h2.exceptions", "h11"))
    except ImportError:
        raise UsageError(
            "HTTP/2 needs an extra that is not installed; install it with: pip install 'thresher[http2]'"
        ) from None
    raised = (
        core.NetworkError,
        core.TimeoutException,
        core.ProtocolError,
        core.UnsupportedProtocol,
        core.ConnectionNotAvailable,
    )
    return core, (*raised, h2.H2Error, h11.ProtocolError)


class Http2Transport:
    """`trust` replaces the system's certificate authorities. It must not be shared: what is offered to
    servers is set in it.
    """

    def __init__(
        self, resolver: Resolver, guard: Guard, *, trust: ssl.SSLContext | None = None, at_once: int = 256
    ) -> None:
        self._core, self._raised = _library()
        self._resolver = resolver
        self._guard = guard
        self._places = asyncio.Semaphore(at_once)
        self._starts: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._pool = self._core.AsyncConnectionPool(
            ssl_context=trust or ssl.create_default_context(),
            max_connections=at_once,
            max_keepalive_connections=MAX_KEPT,
            keepalive_expiry=KEEP_ALIVE,
            http2=True,
            network_backend=_Pinned(self._core),
        )

    async def send(self, request: Request, bounds: Bounds, before_send: BeforeSend | None = None) -> Response:
        target = self._guard.check_url(request.url)
        _check(request)
        turn = self._starts.setdefault(target.authority, asyncio.Lock())
        async with _Turn(turn) as mine, self._places:
            try:
                async with asyncio.timeout(bounds.total) as limit:
                    return await self._transfer(request, Transfer(target, bounds, limit, before_send), mine)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise TimedOut(
                    f"{target.host} took longer than {bounds.total:g} s in total", gate=f"host:{target.host}"
                ) from None

    async def _transfer(self, request: Request, transfer: Transfer, turn: "_Turn") -> Response:
        await transfer.find_way(self._resolver, self._guard)
        token = TRANSFER.set(transfer)
        asked = self._request(request, transfer, turn)
        try:
            response = await self._pool.handle_async_request(asked)
            return await self._answer(response, transfer)
        except BaseException as problem:
            if problem is transfer.problem:
                raise  # nothing was sent, and the connection is as good as before
            await asyncio.shield(self._hang_up(asked.url.origin))
            if isinstance(problem, (*self._raised, ValueError)):
                raise self._typed(problem, transfer) from problem
            raise
        finally:
            TRANSFER.reset(token)

    async def _hang_up(self, origin: Any) -> None:
        """The library does not tell a server to stop; what it would go on sending stops with the
        connection.
        """
        for connection in self._pool.connections:
            if connection.can_handle_request(origin) and connection.can_multiplex():
                with suppress(*self._raised, OSError):
                    await connection.aclose()

    def _request(self, request: Request, transfer: Transfer, turn: "_Turn") -> Any:
        async def trace(event: str, _: object) -> None:
            if event.endswith(".send_request_headers.started"):
                await transfer.begin()
            elif event.endswith(".send_request_headers.complete"):
                turn.over()

        target, bounds = transfer.target, transfer.bounds
        headers = outgoing(request, target)
        if request.body:
            headers["content-length"] = str(len(request.body))
        return self._core.Request(
            request.method,
            self._core.URL(
                scheme="https" if transfer.endpoints[0].tls else "http",
                host=literal(target.host) or target.host,
                port=target.port,
                target=target.path,
            ),
            headers=[(name.encode("ascii"), value.encode()) for name, value in headers.items()],
            content=request.body,
            extensions={
                "timeout": {"connect": bounds.connect, "read": bounds.read, "write": bounds.read},
                "trace": trace,
            },
        )

    async def _answer(self, response: Any, transfer: Transfer) -> Response:
        first_byte = transfer.now()
        headers = plain(
            (name.decode("latin-1"), value.decode("utf-8", "surrogateescape"))
            for name, value in response.headers
        )
        body = ResponseBody(headers, transfer.bounds, transfer.gate)
        with once_answered(response.status):
            try:
                async for chunk in response.stream:
                    body.add(chunk)
                await response.aclose()
            except self._raised as problem:
                if isinstance(problem, self._core.TimeoutException):
                    raise
                raise transfer.failed(body.cut_off()) from problem
            unpacked = await body.unpacked()
        return Response(response.status, headers, unpacked, transfer.timings(first_byte), body.wire)

    def _typed(self, problem: BaseException, transfer: Transfer) -> TaskError:
        core, said = self._core, " ".join(str(problem).split())[:200]
        if isinstance(problem, core.ConnectTimeout):
            return transfer.late(f"no connection within {transfer.bounds.connect:g} s")
        if isinstance(problem, core.TimeoutException):
            return transfer.late(f"sent nothing for {transfer.bounds.read:g} s")
        if isinstance(problem, core.ConnectError):
            encrypted = next((cause for cause in _causes(problem) if isinstance(cause, ssl.SSLError)), None)
            if encrypted is not None:
                return transfer.untrusted(encrypted)
            return transfer.unreachable(said)
        if isinstance(problem, core.NetworkError | core.ConnectionNotAvailable) or "disconnected" in said:
            return transfer.failed(
                f"hung up before it answered ({said})" if said else "hung up before it answered"
            )
        return transfer.unreadable(f"its response is not HTTP ({said})")

    async def close(self) -> None:
        await self._pool.aclose()


class _Turn:
    """One start at a time per host, until its headers are out: the library gives two starts the same stream
    number otherwise.
    """

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._mine = False

    async def __aenter__(self) -> Self:
        self._mine = await self._lock.acquire()
        return self

    def over(self) -> None:
        if self._mine:
            self._mine = False
            self._lock.release()

    async def __aexit__(self, *_: object) -> None:
        self.over()


class _Pinned:
    """Opens connections to the addresses that were checked for the request under way, and looks nothing
    up.
    """

    def __init__(self, core: Any) -> None:
        self._core = core
        self._inner = core.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:  # noqa: ARG002, ASYNC109
        transfer = TRANSFER.get()
        if transfer.proxy is None:
            return await self._connected(transfer.endpoints, timeout, options)
        try:
            stream = await self._connected(transfer.endpoints, timeout, options)
        except (self._core.ConnectError, self._core.ConnectTimeout) as problem:
            raise transfer.proxy.unreachable(" ".join(str(problem).split())[:200] or "no answer") from problem
        try:
            await _tunnel(stream, transfer.proxy, transfer.target, timeout)
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def _connected(
        self, endpoints: tuple[Endpoint, ...], seconds: float | None, options: dict[str, Any]
    ) -> Any:
        for endpoint in endpoints[:-1]:
            try:
                return await self._inner.connect_tcp(
                    endpoint.ip, endpoint.port, seconds and seconds / len(endpoints), **options
                )
            except (self._core.ConnectError, self._core.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(
            endpoints[-1].ip, endpoints[-1].port, seconds and seconds / len(endpoints), **options
        )

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _tunnel(stream: Any, proxy: EgressProxy, target: Target, seconds: float | None) -> None:
    """Have the proxy open a way to the host; what is read and written from here on is the host's."""
    await stream.write(proxy.tunnel_request(target.host, target.port), seconds)
    head = b""
    while END not in head:
        piece = await stream.read(MAX_HEAD, seconds)
        head += piece
        if not piece or len(head) > MAX_HEAD:
            break
    proxy.check_tunnel(head, target.host)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    seen = 0
    while problem is not None and seen < 8:
        yield problem
        problem, seen = problem.__cause__ or problem.__context__, seen + 1


def _check(request: Request) -> None:
    if not TOKEN.fullmatch(request.method):
        raise Refused(f"{request.method[:40]!r} is not an HTTP method")
    for name, value in request.headers.items():
        if not TOKEN.fullmatch(name) or UNSENDABLE.search(value):
            raise Refused(f"the header {name[:40]!r} cannot be sent: it has a line break or an invalid name")
