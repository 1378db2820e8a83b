"""HTTP over aiohttp: one exchange, bounded in time and size, with an address that was checked.

aiohttp is held to four things it does not do by itself. It connects only to the addresses that passed the
guard; it awaits our permission after connecting and before writing; it never sends a request a second time
(it would, when a kept connection breaks, unseen by whoever counts requests); and failures become our own
errors.
"""

import asyncio
import os
import socket
import ssl

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from thresher.core.errors import Refused, TaskError, TimedOut
from thresher.fetch.body import ResponseBody, once_answered, outgoing, plain
from thresher.fetch.guard import Guard, Target
from thresher.fetch.request import BeforeSend, Bounds, Request, Response
from thresher.fetch.resolver import Resolver
from thresher.fetch.transfer import TRANSFER, Transfer

# Connections kept open, by host, and their maximum number.
#
# A crawl of many hosts would otherwise end with more open connections than the system allows, each waiting
# for a second request that never comes.


class Idle:
    """Remembers who was asked last. Pure: the time comes in, and nothing is closed here."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._used: dict[str, float] = {}  # the longest unused first

    def keeps(self, host: str, now: float) -> bool:
        """Whether the connection that is used now may stay open afterwards."""
        while (oldest := next(iter(self._used), None)) is not None and self._used[
            oldest
        ] < now - self._seconds:
            del self._used[oldest]
        if self._used.pop(host, None) is None and len(self._used) >= self._most:
            return False
        self._used[host] = now
        return True


# Common servers hang up after five idle seconds. Hanging up first means never to write into a connection that
# is closing.
KEEP_ALIVE = 4.0
MAX_KEPT = 256
MAX_LINE = 16 * 1024
MAX_HEADERS = 256


class HttpTransport:
    """HTTP/1.1. `trust` replaces the system's certificate authorities.

    `at_once` bounds the requests under way, `kept` the hosts to which a connection is kept open between two
    of them.
    """

    def __init__(
        self,
        resolver: Resolver,
        guard: Guard,
        *,
        trust: ssl.SSLContext | None = None,
        at_once: int = 256,
        kept: int = MAX_KEPT,
    ) -> None:
        self._resolver = resolver
        self._guard = guard
        self._trust = trust
        self._places = asyncio.Semaphore(at_once)
        self._idle = Idle(kept, KEEP_ALIVE)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Request, bounds: Bounds, before_send: BeforeSend | None = None) -> Response:
        target = self._guard.check_url(request.url)
        async with self._places:
            try:
                async with asyncio.timeout(bounds.total) as limit:
                    return await self._transfer(request, Transfer(target, bounds, limit, before_send))
            except TimeoutError:
                if not limit.expired():
                    raise
                raise TimedOut(
                    f"{target.host} took longer than {bounds.total:g} s in total", gate=f"host:{target.host}"
                ) from None

    async def _transfer(self, request: Request, transfer: Transfer) -> Response:
        await transfer.find_way(self._resolver, self._guard)
        transfer.keeps = self._idle.keeps(transfer.target.authority, transfer.resolved)
        token = TRANSFER.set(transfer)
        try:
            response = await self._ask(request, transfer)
            try:
                return await _answer(response, transfer)
            finally:
                response.close()  # a no-op after the last byte, when the connection went back to its pool
        except aiohttp.ClientError as problem:
            raise _typed(problem, transfer) from problem
        finally:
            TRANSFER.reset(token)

    async def _ask(self, request: Request, transfer: Transfer) -> aiohttp.ClientResponse:
        target, proxy, encrypted = transfer.target, transfer.proxy, transfer.endpoints[0].tls
        headers = outgoing(request, target)
        if proxy is not None and not encrypted:
            headers.update(proxy.headers)  # inside a tunnel they would be the site's to read
        try:
            return await self._opened().request(
                request.method,
                _address(target, encrypted=encrypted),
                headers=headers,
                data=request.body or None,
                allow_redirects=False,
                proxy=str(proxy) if proxy else None,
                proxy_headers=proxy.headers if proxy else None,
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=transfer.bounds.connect, sock_read=transfer.bounds.read
                ),
            )
        except BaseException as problem:
            if transfer.problem is not None:
                raise transfer.problem from None
            if isinstance(problem, ValueError) and not isinstance(problem, aiohttp.ClientError):
                raise Refused(f"the request to {target.host} cannot be sent: {problem}") from problem
            raise

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                resolver=_Pinned(),
                use_dns_cache=False,
                limit=0,
                keepalive_timeout=KEEP_ALIVE,
                ssl=self._trust or True,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                request_class=_Asking,
                middlewares=(_once,),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Content-Type"),
                max_line_size=MAX_LINE,
                max_field_size=MAX_LINE,
                max_headers=MAX_HEADERS,
            )
        return self._session

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


class _Pinned(AbstractResolver):
    """Looks nothing up: hands out the addresses of the request under way, which were checked."""

    async def resolve(
        self,
        host: str,
        port: int = 0,  # noqa: ARG002
        family: socket.AddressFamily = socket.AF_INET,
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=endpoint.ip,
                port=endpoint.port,
                family=family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for endpoint in TRANSFER.get().endpoints
        ]

    async def close(self) -> None: ...


class _Spoiled(aiohttp.ServerDisconnectedError):
    """A kept connection that must not be used. Nothing was sent: aiohttp may open another."""


class _Asking(aiohttp.ClientRequest):
    """Called with a connection that stands, new or kept; the first thing the inherited `send` does is
    write.
    """

    async def send(self, conn: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
        # On a kept connection there may wait what nobody asked for. It would be taken for the answer to this
        # request.
        if conn.protocol is None or conn.protocol.should_close or not conn.protocol.is_connected():
            raise _Spoiled
        if not TRANSFER.get().keeps:
            conn.protocol.force_close()  # when the answer is read
        await TRANSFER.get().begin()
        return await super().send(conn)


async def _once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Takes the error out of aiohttp's hands before it decides to send the request again."""
    try:
        return await handler(request)
    except _Spoiled:
        raise
    except aiohttp.ClientError as problem:
        raise _typed(problem, TRANSFER.get()) from problem


def _address(target: Target, *, encrypted: bool) -> URL:
    """As the guard spelled it; nothing may spell it anew. The scheme says what is spoken at the spot, not
    what was asked.
    """
    return URL(f"{'https' if encrypted else 'http'}://{target.host}:{target.port}{target.path}", encoded=True)


async def _answer(response: aiohttp.ClientResponse, transfer: Transfer) -> Response:
    first_byte = transfer.now()
    if response.status == 407 and transfer.proxy is not None:
        raise transfer.proxy.refusal(response.status, transfer.target.host)
    if response.status == 101:
        raise transfer.unreadable("switched to another protocol without being asked")
    headers = plain(response.headers.items())
    body = ResponseBody(headers, transfer.bounds, transfer.gate)
    with once_answered(response.status):
        try:
            async for chunk in response.content.iter_any():
                body.add(chunk)
        except aiohttp.ClientPayloadError as problem:
            raise transfer.failed(body.cut_off()) from problem
        unpacked = await body.unpacked()
    return Response(response.status, headers, unpacked, transfer.timings(first_byte), body.wire)


def _typed(problem: aiohttp.ClientError, transfer: Transfer) -> TaskError:
    """An error of aiohttp as one of ours, with a sentence for whoever reads the failure."""
    proxy = transfer.proxy
    match problem:
        case aiohttp.ClientProxyConnectionError() if proxy is not None:
            return proxy.unreachable(problem.os_error.strerror or problem.os_error)
        case aiohttp.ClientHttpProxyError() if proxy is not None:
            return proxy.refusal(problem.status, transfer.target.host)
        case aiohttp.ConnectionTimeoutError() if proxy is not None:
            return proxy.unreachable(
                f"it opened no way to {transfer.target.host} within {transfer.bounds.connect:g} s"
            )
        case aiohttp.ConnectionTimeoutError():
            return transfer.late(f"no connection within {transfer.bounds.connect:g} s")
        case aiohttp.ServerTimeoutError():
            return transfer.late(f"sent nothing for {transfer.bounds.read:g} s")
        case aiohttp.ClientConnectorCertificateError():
            return transfer.untrusted(problem.certificate_error)
        case aiohttp.ClientConnectorSSLError():
            return transfer.untrusted(problem.os_error)
        case aiohttp.ClientConnectorError():
            cause = problem.os_error
            return transfer.unreachable(os.strerror(cause.errno) if cause.errno else str(cause))
        case aiohttp.ServerDisconnectedError():
            return transfer.failed("hung up before it answered")
        case aiohttp.ClientResponseError():
            return transfer.unreadable(
                f"its response is not HTTP ({' '.join(problem.message.split())[:200]})"
            )
        case aiohttp.InvalidURL():
            return Refused(f"{transfer.target.href[:200]} cannot be requested: {problem}")
        case _:
            return transfer.failed(f"the connection broke ({str(problem)[:200] or type(problem).__name__})")
