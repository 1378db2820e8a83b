"""The one way out of the browser: a forward proxy of our own, on loopback, one for each page.

Chromium resolves nothing and connects to nothing but this. Every document, script, redirect and websocket
comes by here as a host name, is looked up by our resolver, judged by our guard, and connected to the judged
address and no other. So a page cannot reach what the fetcher may not, whatever its scripts try. Being one per
page it also counts the page's bytes, and knows why something did not come: the browser itself only says that
it did not.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Mapping
from types import MappingProxyType

import ada_url

from thresher.core.errors import ConnectionFailed, Malformed, TaskError, TimedOut, TooLarge
from thresher.fetch.egress import END, EgressProxy
from thresher.fetch.guard import Guard, Target, route
from thresher.fetch.request import BeforeSend
from thresher.fetch.resolver import Endpoint, Resolver
from thresher.fetch.transfer import sentence

LOOPBACK = "127.0.0.1"
HEAD_LIMIT = 64 * 1024
CHUNK = 64 * 1024
TLS_HELLO = b"\x16"  # the type of the record that every TLS connection begins with
INFORMATIONAL = b"1"  # an answer whose status begins with this is followed by the real one
TLS_PORT = "443"
PLAIN_PORT = "80"
# Headers that concern one connection only. We speak for ourselves on both sides, one request to a connection.
HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"upgrade"}
)

Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Open it, give `address` to one page, close it. `problem(url)` says afterwards why that address did not
    answer.
    """

    def __init__(
        self,
        resolver: Resolver,
        guard: Guard,
        *,
        connect: float,
        most: int,
        alarm: Callable[[Exception], None],
        before_send: BeforeSend | None = None,
    ) -> None:
        self._resolver, self._guard = resolver, guard
        self._connect, self._most, self._alarm = connect, most, alarm
        self._before_send, self._gun = before_send, asyncio.Lock()
        self._problems: dict[tuple[str, str], TaskError] = {}
        self._lines: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.passed = 0

    async def open(self) -> None:
        """Listen on a port that the system chooses."""
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0, limit=HEAD_LIMIT)

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://{LOOPBACK}:{self._server.sockets[0].getsockname()[1]}"

    def problem(self, url: str) -> TaskError | None:
        """What went wrong on the way to the host of `url`, if something did."""
        return self._problems.get(authority(url))

    def judge(self, url: str) -> None:
        """Raise `Refused` if the target is not allowed."""
        self._guard.check_url(url)

    async def is_plain(self, url: str) -> bool:
        """Whether the operator has mapped this https address to a place that speaks plain HTTP."""
        try:
            return not (await route(self._guard.check_url(url), self._resolver, self._guard))[0].tls
        except TaskError:
            return False  # the request itself will say so

    async def close(self) -> None:
        """Hang up on everything."""
        if self._server is not None:
            self._server.close()
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = asyncio.current_task()
        assert line is not None
        self._lines.add(line)
        try:
            await self._answer(reader, writer)
        except (
            OSError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            asyncio.CancelledError,
            ValueError,
        ):
            pass  # Hung up, cut off or garbled: the browser is told in the same way, by hanging up.
        finally:
            self._lines.discard(line)
            _hang_up(writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(END)
        url, tunnel = read_target(head)
        try:
            far, unused_to_tls, egress = await self._reach(url, tunnel)
        except TaskError as problem:
            self._problems.setdefault(authority(url), problem)
            return
        try:
            if not tunnel:
                far[1].write(_onward(head, egress))
                await self._head_back(far[0], writer, url)
            elif not await self._opened((reader, writer), far[1], unused_to_tls):
                return
            await self._relay((reader, writer), far)
        finally:
            _hang_up(far[1])

    async def _reach(self, url: str, tunnel: bool) -> tuple[Line, bool, EgressProxy | None]:
        """Judge, look up, judge again, connect. Says too whether an https address leads to a place without
        TLS.
        """
        target = self._guard.check_url(url)
        endpoints = await route(target, self._resolver, self._guard)
        line = await self._connected(target, endpoints, tunnel)
        try:
            await self._fire()
        except BaseException:
            _hang_up(line[1])
            raise
        return line, target.tls and not endpoints[0].tls, endpoints[0].proxy

    async def _opened(self, near: Line, far: asyncio.StreamWriter, unused_to_tls: bool) -> bool:
        """Say that the tunnel stands. What knows no TLS must not be greeted with it: the browser tries, and
        is let down.
        """
        near[1].write(b"HTTP/1.1 200 OK" + END)
        if unused_to_tls:
            hello = await near[0].read(CHUNK)
            if hello.startswith(TLS_HELLO):
                return False
            far.write(hello)
        return True

    async def _connected(self, target: Target, endpoints: tuple[Endpoint, ...], tunnel: bool) -> Line:
        trouble: OSError | None = None
        try:
            async with asyncio.timeout(self._connect):
                for endpoint in endpoints:
                    try:
                        return await _dial(target, endpoint, tunnel)
                    except OSError as problem:
                        trouble = problem
        except TimeoutError:
            raise TimedOut(
                f"{target.host} did not accept a connection within {self._connect:g} s"
            ) from trouble
        if endpoints[0].proxy is not None:
            raise endpoints[0].proxy.unreachable(trouble)
        why = (
            sentence(trouble, target.host)
            if isinstance(trouble, ssl.SSLError)
            else f"{target.host} could not be reached: {trouble}"
        )
        raise ConnectionFailed(why) from trouble

    async def _fire(self) -> None:
        """Tell, once, that the page's first connection stands. A second connection waits until that is
        told.
        """
        async with self._gun:
            if self._before_send is not None:
                try:
                    await self._before_send()
                except Exception as problem:  # whatever it is, the caller of `render` gets it
                    self._alarm(problem)
                    raise ConnectionFailed("the request was not allowed to start") from problem
                self._before_send = None

    async def _head_back(
        self, far_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: str
    ) -> None:
        """Pass the answer's head on, saying that this connection ends with it: the next request may go
        elsewhere.
        """
        status = INFORMATIONAL
        while status.startswith(INFORMATIONAL):
            try:
                head = await far_reader.readuntil(END)
            except asyncio.LimitOverrunError:
                self._problems.setdefault(
                    authority(url),
                    Malformed(f"the headers of the response are larger than {HEAD_LIMIT:,} bytes"),
                )
                raise
            self._count(len(head))
            status = head.partition(b"\r\n")[0].partition(b" ")[2]
        writer.write(_with_close(head))

    async def _relay(self, near: Line, far: Line) -> None:
        pumps = {
            asyncio.ensure_future(self._pump(near[0], far[1])),
            asyncio.ensure_future(self._pump(far[0], near[1])),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(CHUNK):
            self._count(len(chunk))
            writer.write(chunk)
            await writer.drain()

    def _count(self, number: int) -> None:
        self.passed += number
        if self.passed > self._most:
            self._alarm(TooLarge(f"the page and everything it loads have more than {self._most:,} bytes"))
            raise ConnectionAbortedError


def read_target(head: bytes) -> tuple[str, bool]:
    """Where a request to a proxy wants to go, and whether it wants a tunnel. ValueError for anything else."""
    method, where, _ = head.partition(b"\r\n")[0].decode("ascii").split(" ")
    if method == "CONNECT":
        # A tunnel to port 80 is a websocket without TLS.
        scheme = "http" if where.endswith(f":{PLAIN_PORT}") else "https"
        return f"{scheme}://{where}/", True
    if not where.lower().startswith("http://"):
        raise ValueError("not a request to a proxy")
    return where, False


def plain(url: str) -> str:
    """An https address as it is asked of this proxy when the place behind it speaks plain HTTP: http, to port
    443.
    """
    parsed = ada_url.URL(url)
    port = parsed.port or TLS_PORT
    parsed.protocol = "http:"
    parsed.port = port
    return parsed.href


def authority(url: str) -> tuple[str, str]:
    """Host and port: what a connection is made to."""
    parsed = ada_url.URL(url)
    return parsed.hostname, parsed.port or (TLS_PORT if parsed.protocol in ("https:", "wss:") else PLAIN_PORT)


async def _dial(target: Target, endpoint: Endpoint, tunnel: bool) -> Line:
    """Connect to the judged address. A plain request to a place that speaks TLS is wrapped here; a tunnel
    wraps itself.
    """
    if endpoint.proxy is not None:
        return await _dial_proxy(target, endpoint, endpoint.proxy, tunnel)
    wrap = endpoint.tls and not tunnel
    context = ssl.create_default_context() if wrap else None
    return await asyncio.open_connection(
        endpoint.ip,
        endpoint.port,
        limit=HEAD_LIMIT,
        ssl=context,
        server_hostname=target.host if wrap else None,
    )


async def _dial_proxy(target: Target, endpoint: Endpoint, proxy: EgressProxy, tunnel: bool) -> Line:
    line = await asyncio.open_connection(endpoint.ip, endpoint.port, limit=HEAD_LIMIT)
    if not tunnel:
        return line
    try:
        line[1].write(proxy.tunnel_request(target.host, target.port))
        proxy.check_tunnel(await line[0].readuntil(END), target.host)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as problem:
        _hang_up(line[1])
        raise proxy.refusal(0, target.host) from problem
    except BaseException:
        _hang_up(line[1])
        raise
    return line


def _onward(head: bytes, proxy: EgressProxy | None) -> bytes:
    """The request as the server wants it: the path instead of the whole address, which a proxy wants."""
    first, _, fields = head.partition(b"\r\n")
    method, where, protocol = first.split(b" ")
    if proxy is not None:
        return _with_close(head, proxy.headers)
    path = where.partition(b"://")[2].partition(b"/")[2]
    return _with_close(b" ".join((method, b"/" + path, protocol)) + b"\r\n" + fields)


def _with_close(head: bytes, added: Mapping[str, str] = MappingProxyType({})) -> bytes:
    first, *fields = head[: -len(END)].split(b"\r\n")
    kept = [field for field in fields if field.partition(b":")[0].strip().lower() not in HOP_BY_HOP]
    more = [f"{name}: {value}".encode("ascii") for name, value in added.items()]
    return b"\r\n".join([first, *kept, *more, b"Connection: close"]) + END


def _hang_up(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(RuntimeError):  # the loop may be closing with us
        writer.close()
