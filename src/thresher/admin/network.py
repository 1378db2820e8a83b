"""Whether this machine reaches the sites that the project visits: the line `network` of `thresher doctor`.

Nobody is asked who is not asked anyway. A few names of hosts that were fetched before are looked up, and one
connection is opened and closed again, by the way that pages are fetched: the same resolver, address guard and
proxy. Nothing is requested over it. All of it together takes a few seconds at most, also where a name server
or a firewall swallows everything.
"""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from thresher.core.errors import DatabaseProblem, TaskError
from thresher.core.extension import Check
from thresher.fetch.guard import Guard, Target, route
from thresher.fetch.resolver import Endpoint, Resolver, literal
from thresher.store.sources import hosts_lately
from thresher.store.store import Store

MAX_NAMES = 3  # that are looked up
LIMIT_SECONDS = 3.0  # for a lookup, and again for a connection
# Reserved for documentation: a route to them is the way to everywhere, and nobody is there.
FAR = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
PROXY_ADVICE = "if this network lets programs out through a proxy only: add fetch: {proxy: http://HOST:PORT} to thresher.yaml"


@dataclass(frozen=True, slots=True)
class Tried:
    """One host: where it is, or why that is not known."""

    host: str
    endpoints: tuple[Endpoint, ...] = ()
    problem: str | None = None


def known_hosts(store: Store) -> tuple[str, ...]:
    """Return hosts that were fetched lately and are open now; none where the schema is older."""
    try:
        with store.read() as session:
            found = hosts_lately(session, store.backend.now(session), 10 * MAX_NAMES)
    except DatabaseProblem:
        return ()
    return tuple(host for host in found if literal(host) is None)[:MAX_NAMES]


def has_route() -> bool:
    """Tell whether any network leads out of this machine. Nothing is sent."""
    for family, address in FAR:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return True
    return False


def look_up(host: str, limit: float = LIMIT_SECONDS) -> list[str]:
    """Ask the system for a name, for a limited time. The thread of a lookup that hangs is left behind, and
    keeps nobody from ending.
    """
    answer: list[list[str] | OSError] = []

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            answer.append(list(dict.fromkeys(str(entry[4][0]) for entry in found)))
        except OSError as problem:
            answer.append(problem)

    asked = threading.Thread(target=ask, daemon=True)
    asked.start()
    asked.join(limit)
    if not answer:
        raise socket.gaierror(socket.EAI_AGAIN, f"no name server has answered within {limit:g} s")
    if isinstance(answer[0], OSError):
        raise answer[0]
    return answer[0]


def check_network(
    hosts: Sequence[str],
    resolver: Resolver,
    guard: Guard,
    *,
    limit: float = LIMIT_SECONDS,
    leads_out: Callable[[], bool] = has_route,
) -> Check:
    """Check that at least one of these hosts can be reached."""
    if not hosts:
        return _without_hosts(leads_out())
    tried, found = asyncio.run(_try(hosts, resolver, guard, limit))
    strange = [f"{each.host}: {each.problem}" for each in tried if each.problem]
    if found is not None:
        return Check.ok("network", "; ".join([found, *strange]))
    if not leads_out():
        return _offline()
    advice = "check the network and its name servers" if not any(each.endpoints for each in tried) else None
    advice = advice or "a firewall may block connections to the outside"
    return Check.warn(
        "network",
        f"none of the hosts of this project can be reached: {'; '.join(strange)}",
        f"{advice}; {PROXY_ADVICE}",
    )


def _without_hosts(leads_out: bool) -> Check:
    if not leads_out:
        return _offline()
    return Check.ok("network", "a network leads out of this machine; no site has been requested yet")


def _offline() -> Check:
    return Check.warn(
        "network",
        "this machine is offline: no network leads out of it",
        "connect it; tasks that fetch something fail until then and are tried again",
    )


async def _try(
    hosts: Sequence[str], resolver: Resolver, guard: Guard, limit: float
) -> tuple[list[Tried], str | None]:
    """Look all of them up, and connect to the first that lets us."""
    tried = list(await asyncio.gather(*(_locate(host, resolver, guard, limit) for host in hosts)))
    for at, each in enumerate(tried):
        if not each.endpoints:
            continue
        problem = await _connect(each.endpoints[0], limit)
        if problem is None:
            return tried, _reached(each)
        tried[at] = Tried(each.host, each.endpoints, problem)
    return tried, None


async def _locate(host: str, resolver: Resolver, guard: Guard, limit: float) -> Tried:
    try:
        async with asyncio.timeout(limit):
            target: Target = guard.check_url(f"https://{host}/")
            return Tried(host, await route(target, resolver, guard))
    except TaskError as problem:
        return Tried(host, problem=str(problem))
    except TimeoutError:
        return Tried(host, problem=f"its name was not found within {limit:g} s")


async def _connect(endpoint: Endpoint, limit: float) -> str | None:
    """Open a connection and close it; why it could not be opened."""
    where = f"{endpoint.proxy or _address(endpoint)}"
    try:
        async with asyncio.timeout(limit):
            _, writer = await asyncio.open_connection(endpoint.ip, endpoint.port)
    except TimeoutError:
        return f"no connection to {where} within {limit:g} s"
    except OSError as problem:
        return f"no connection to {where}: {os.strerror(problem.errno) if problem.errno else problem}"
    writer.close()
    return None


def _address(endpoint: Endpoint) -> str:
    return f"[{endpoint.ip}]:{endpoint.port}" if ":" in endpoint.ip else f"{endpoint.ip}:{endpoint.port}"


def _reached(tried: Tried) -> str:
    endpoint = tried.endpoints[0]
    if endpoint.proxy is not None:
        return f"the proxy {endpoint.proxy} takes connections"
    return f"{tried.host} takes connections ({_address(endpoint)})"
