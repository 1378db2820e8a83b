"""From a host name to the addresses behind it, once.

The address that is checked must be the address that is dialled: whoever needs a connection asks here, has
every answer checked by the guard, and connects to exactly those. `MappedResolver` is the seam through which a
local web answers for real names: production code runs unchanged, and only the operator who wrote the map down
vouches for where it leads. `EgressResolver` leads to a proxy, which looks the names up.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import ada_url

from thresher.core.errors import ConfigError, ConnectionFailed, TaskError, TimedOut
from thresher.fetch.egress import EgressProxy

KEPT_NAMES = 4_096
LOOKUPS_AT_ONCE = 8
# Said by a name server that is alive and knows better; anything else may be different in a minute.
NO_SUCH_NAME = {code for code in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)) if code is not None}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect. `vouched`: the operator wrote this address down, so the guard lets it pass. `proxy`:
    the address is the proxy's, and `tls` is spoken to the host behind it.
    """

    ip: str
    port: int
    tls: bool
    vouched: bool = False
    proxy: EgressProxy | None = None


class Resolver(Protocol):
    """Whatever knows where a host is. All addresses of the name, never none."""

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]: ...


@lru_cache(maxsize=4_096)  # asked several times of every request
def literal(host: str) -> str | None:
    """The address, where the host is one already; brackets are taken off."""
    bare = host[1:-1] if host.startswith("[") else host
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None


Look = Callable[[str], list[str]]


def _system(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class SystemResolver:
    """Asks the operating system, on threads of its own: a name server that hangs must not take anybody
    else's.

    An answer is kept for `keep` seconds. That saves a lookup per page and weakens nothing, since what is kept
    is checked again before every request. `look` is the seam to the system's own lookup.
    """

    def __init__(self, *, limit: float = 10.0, keep: float = 30.0, look: Look = _system) -> None:
        self._limit = limit
        self._keep = keep
        self._look = look
        self._threads: ThreadPoolExecutor | None = None
        self._kept: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        address = literal(host)
        if address is not None:
            return (Endpoint(address, port, tls),)
        loop = asyncio.get_running_loop()
        until, addresses = self._kept.get(host, (0.0, ()))
        if until <= loop.time():
            addresses = await self._ask(loop, host)
            self._remember(host, loop.time() + self._keep, addresses)
        return tuple(Endpoint(address, port, tls) for address in addresses)

    async def _ask(self, loop: asyncio.AbstractEventLoop, host: str) -> tuple[str, ...]:
        self._threads = self._threads or ThreadPoolExecutor(LOOKUPS_AT_ONCE, "thresher-names")
        try:
            async with asyncio.timeout(self._limit):
                found = await loop.run_in_executor(self._threads, self._look, host)
        except TimeoutError:
            raise TimedOut(
                f"looking up the name {host} took longer than {self._limit:g} s", gate=f"host:{host}"
            ) from None
        except socket.gaierror as problem:
            raise ConnectionFailed(_unknown(host, problem), gate=f"host:{host}") from problem
        except (OSError, UnicodeError) as problem:
            raise ConnectionFailed(
                f"the name {host} could not be looked up: {problem}", gate=f"host:{host}"
            ) from problem
        if not found:
            raise ConnectionFailed(f"the name {host} has no address", gate=f"host:{host}")
        return tuple(found)

    def _remember(self, host: str, until: float, addresses: tuple[str, ...]) -> None:
        self._kept.pop(host, None)
        while len(self._kept) >= KEPT_NAMES:
            del self._kept[next(iter(self._kept))]
        self._kept[host] = (until, addresses)

    def close(self) -> None:
        """Lets go of the threads; a lookup that still hangs is not waited for."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None


def _unknown(host: str, problem: socket.gaierror) -> str:
    if problem.errno in NO_SUCH_NAME:
        return f"the name {host} does not exist; check the spelling of the address"
    return f"the name {host} could not be looked up ({problem.strerror}); is the network up?"


class MappedResolver:
    """Some hosts, or all of them, live at an address of the operator's choice; the rest is asked of
    `otherwise`.

    Rules are host (`www.acme.example`), suffix (`*.acme.example`) or `*`, to an address such as
    `http://127.0.0.1:8123`, whose scheme says whether TLS is spoken there. The most specific rule wins. An
    address in a URL is never mapped: `*` must not turn a forbidden one into a permitted one.
    """

    def __init__(self, rules: Mapping[str, str], otherwise: Resolver) -> None:
        self._spots = {pattern.lower(): _spot(pattern, address) for pattern, address in rules.items()}
        self._otherwise = otherwise

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        endpoint = None if literal(host) else self._mapped(host)
        return (endpoint,) if endpoint else await self._otherwise.resolve(host, port, tls)

    def _mapped(self, host: str) -> Endpoint | None:
        labels = host.split(".")
        suffixes = (f"*.{'.'.join(labels[start:])}" for start in range(1, len(labels)))
        return next(
            (self._spots[pattern] for pattern in (host, *suffixes, "*") if pattern in self._spots), None
        )


def _spot(pattern: str, address: str) -> Endpoint:
    try:
        parsed = ada_url.URL(address)
    except ValueError:
        raise ConfigError(
            f"resolve: {pattern!r} leads to {address!r}; it must lead to an address such as "
            "http://127.0.0.1:8123"
        ) from None
    ip = literal(parsed.hostname)
    if parsed.protocol not in ("http:", "https:") or ip is None or parsed.pathname != "/":
        raise ConfigError(
            f"resolve: {pattern!r} leads to {address!r}; the address must have a scheme, an IP "
            "address and a port: http://127.0.0.1:8123"
        )
    tls = parsed.protocol == "https:"
    return Endpoint(ip, int(parsed.port or (443 if tls else 80)), tls, vouched=True)


class EgressResolver:
    """Leads every host to the proxy, except for those that `is_direct` knows to be on this side of it."""

    def __init__(
        self, proxy: EgressProxy, otherwise: Resolver, is_direct: Callable[[str, int], bool]
    ) -> None:
        self._proxy = proxy
        self._otherwise = otherwise
        self._is_direct = is_direct

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        if self._is_direct(host, port):
            return await self._otherwise.resolve(host, port, tls)
        proxy = self._proxy
        try:
            found = await self._otherwise.resolve(proxy.host, proxy.port, tls=False)
        except TaskError as problem:
            raise proxy.unreachable(problem) from problem
        return tuple(Endpoint(each.ip, proxy.port, tls, vouched=True, proxy=proxy) for each in found)
