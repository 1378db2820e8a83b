"""The server: its socket, its signals, trusted proxies, and a public address only where somebody could log
in.
"""

import contextlib
import errno
import ipaddress
import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from thresher.admin.admins import has_admins
from thresher.admin.keys import has_keys
from thresher.core.errors import UsageError
from thresher.engine.signals import signals_passed_to
from thresher.runtime import Runtime
from thresher.web.app import make_app
from thresher.web.connections import Connections, line_with
from thresher.web.pages.live import Changes
from thresher.web.proxied import TrustedHeader, read_header
from thresher.web.request_context import RequestContext

log = logging.getLogger("thresher.web")

BACKLOG = 512


class _Server(uvicorn.Server):
    """Leaves signals to us, because its own handling ends the process before the database is closed. Says
    when it is ready.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], changes: Changes) -> None:
        super().__init__(config)
        self._ready, self._changes = ready, changes

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._changes.close()  # a stream never ends by itself, and would be waited for
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def check_address(runtime: Runtime, host: str) -> None:
    """Refuse an address that other machines can reach while there is neither a key nor an administrator."""
    if not is_loopback(host) and not has_keys(runtime.store) and not has_admins(runtime.store):
        raise UsageError(
            f"{host} can be reached from other machines, and nobody could log in yet; first run: "
            "thresher admin create NAME, or for programs: thresher keys create NAME --scope read. "
            "To serve this machine only, leave out --host"
        )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address. For a name, all its addresses count."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise UsageError(
            f"{host!r} is not an address of this machine: {problem}; try --host 127.0.0.1"
        ) from None
    return bool(host) and all(
        ipaddress.ip_address(str(each[4][0]).partition("%")[0]).is_loopback for each in found
    )


def bind(host: str, port: int, tries: int = 1) -> socket.socket:
    """Open a socket that listens at this address; port 0 takes any free port. With more `tries` it is the
    first free one of so many ports from there on.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        for ahead in range(tries):
            try:
                return _listening(family, kind, proto, (address[0], port + ahead, *address[2:]))
            except OSError as problem:
                if problem.errno != errno.EADDRINUSE or ahead == tries - 1:
                    raise
    except OSError as problem:
        raise UsageError(
            f"cannot listen at {host}:{port}: {problem.strerror}; choose another with --port or --host"
        ) from None
    raise AssertionError("at least one port is tried")


def _listening(family: int, kind: int, proto: int, address: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(family, kind, proto)
    try:
        if os.name != "nt":  # there it would take the port from whoever listens
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)  # now: of two that bind the same port, the second learns of it only here
    except BaseException:
        made.close()
        raise
    return made


def address_of(bound: socket.socket) -> str:
    """Return the URL of a socket, as this machine reaches it."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:  # which not every browser can open
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(
    runtime: Runtime, ready: Callable[[], None], proxies: Sequence[str] = (), user_header: str | None = None
) -> uvicorn.Server:
    """Build the server of a project without starting it. `ready` is called when it accepts connections;
    `proxies` are trusted to name the client, and in `user_header` who it is.
    """
    settings = runtime.store.settings
    many = Connections(settings.count("web.connections"), settings.count("web.address_connections"), proxies)
    app = make_app(runtime)
    served: Any = app
    if proxies:
        served = ProxyHeadersMiddleware(served, trusted_hosts=list(proxies))
    if user_header is not None:
        # Outside of the other: that one replaces the address of the proxy with the one it forwards for.
        served = TrustedHeader(served, read_header(user_header, proxies), proxies)
    served = RequestContext(served, runtime.spans)
    config = uvicorn.Config(
        served,
        http=line_with(float(settings["web.body_patience"]), many),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=settings.count("web.connections") + 1,
        timeout_graceful_shutdown=settings.count("web.grace"),
    )
    return _Server(config, ready, app.state.changes)


async def serve(
    runtime: Runtime,
    bound: socket.socket,
    ready: Callable[[], None],
    proxies: Sequence[str] = (),
    user_header: str | None = None,
) -> list[int]:
    """Serve until a signal comes, then let running requests finish; return the signals."""
    server, came = make_server(runtime, ready, proxies, user_header), list[int]()
    with signals_passed_to(partial(_stop, server, came)):
        await server.serve([bound])
    return came


def _stop(server: uvicorn.Server, came: list[int], signalled: int) -> None:
    """Finish on the first signal, drop everything on the second."""
    came.append(signalled)
    server.should_exit = True
    if len(came) == 1:
        log.warning("Stopping: running requests may finish. Press Ctrl-C again to drop them.")
    else:
        drop(server)


def drop(server: uvicorn.Server) -> None:
    """End at once. What the library says of being cut short is no news."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    server.should_exit = server.force_exit = True


# Proxies whose forwarding headers are believed. No others are: an address that anybody can make up protects
# nothing.

OPTION = "--forwarded-allow-ips"
MAX_PROXIES = 100
_MAPPED = 96  # bits before an IPv4 address in an IPv6 one


def read_proxies(text: str) -> list[str]:
    """Parse the comma-separated addresses and networks of proxies. An IPv4 address also covers its
    IPv6 form.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > MAX_PROXIES:
        raise UsageError(
            f"{OPTION} names {len(parts):,} proxies; the limit is {MAX_PROXIES}. A network covers "
            "many: 10.1.0.0/16"
        )
    return [each for part in parts for each in _network(part)]


def _network(part: str) -> Sequence[str]:
    if part == "*":
        raise UsageError(
            f"{OPTION} must name the addresses of the proxies; * would let anyone forge their address"
        )
    try:
        found = ipaddress.ip_network(part)
    except ValueError as problem:
        raise UsageError(
            f"{OPTION} must be addresses or networks such as 10.0.0.5 or 10.1.0.0/16, got "
            f"{part[:60]!r}: {problem}"
        ) from None
    if found.version == 6:
        return (str(found),)
    return (str(found), f"::ffff:{found.network_address}/{_MAPPED + found.prefixlen}")
