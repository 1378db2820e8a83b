"""The address guard: refuses URLs and addresses that are not public, and finds the checked endpoints of a
host.

A page, a redirect or a name server may point anywhere: at this machine, at the router, at the cloud's
metadata service that hands out keys. So a URL is judged twice: as it is written (`check_url`), and by every
address its name resolves to (`check_spots`). One bad address among good ones refuses the name, because a name
server may order them as it likes.

Only what is globally routable passes. Exceptions (an intranet) are written down by a person.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import ada_url

from thresher.core.errors import ConfigError, ConnectionFailed, Refused
from thresher.core.keys import MAX_URL
from thresher.fetch.resolver import Endpoint, Resolver, literal

# Special-purpose networks and their descriptions.
#
# Pure, and our own list, because Python's `is_global` differs between releases. An address that stands in
# none of these networks is one of the public web.

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# The special-purpose registries of IANA, and the addresses from which clouds hand out keys. The narrower
# network stands first: its word is the better one.
SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(network), word)
    for network, word in (
        ("169.254.169.254/32", "the metadata service of a cloud"),
        ("169.254.170.2/32", "the metadata service of a cloud"),
        ("100.100.100.200/32", "the metadata service of a cloud"),
        ("168.63.129.16/32", "the metadata service of a cloud"),
        ("192.0.0.192/32", "the metadata service of a cloud"),
        ("0.0.0.0/8", "this machine or network"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's shared network"),
        ("127.0.0.0/8", "this machine (loopback)"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation only"),
        ("192.31.196.0/24", "reserved for protocols"),
        ("192.52.193.0/24", "reserved for protocols"),
        ("192.88.99.0/24", "a retired relay"),
        ("192.168.0.0/16", "a private network"),
        ("192.175.48.0/24", "reserved for protocols"),
        ("198.18.0.0/15", "for benchmarks only"),
        ("198.51.100.0/24", "for documentation only"),
        ("203.0.113.0/24", "for documentation only"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
        ("fd00:ec2::254/128", "the metadata service of a cloud"),
        ("fd20:ce::254/128", "the metadata service of a cloud"),
        ("::/128", "this machine or network"),
        ("::1/128", "this machine (loopback)"),
        ("::/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b:1::/48", "a local translation to IPv4"),
        ("100::/64", "a black hole"),
        ("2001::/32", "a tunnel to an unknown IPv4 address (Teredo)"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation only"),
        ("2002::/16", "a tunnel to an IPv4 address (6to4)"),
        ("2620:4f:8000::/48", "reserved for protocols"),
        ("3fff::/20", "for documentation only"),
        ("5f00::/16", "reserved for routing"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "a private network"),
        ("ff00::/8", "multicast"),
    )
)
V6_GLOBAL = ipaddress.IPv6Network("2000::/3")  # everything else of IPv6 is not handed out to anybody
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What a host allowed by name may be. A name never opens the way to a metadata service; only its address in
# writing does.
OWN = {"this machine (loopback)", "a private network", "a carrier's shared network"}


@lru_cache(maxsize=4_096)
def why_not(ip: str) -> str | None:
    """Why this address is not one of the public web; None where it is."""
    address = meant(ip)
    if address is None:
        return "an unknown kind of address"
    word = next(
        (word for network, word in SPECIAL if network.version == address.version and address in network), None
    )
    if word is None and address.version == 6 and address not in V6_GLOBAL:
        return "reserved"
    return word


def meant(ip: str) -> Address | None:
    """The address a connection would end at: an IPv4 address inside an IPv6 one is taken out. None for
    nonsense and zones.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.scope_id:
        return None
    if address.ipv4_mapped:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else address


PORTS = (80, 443, 8080, 8443)
DEFAULT_PORT = {"http": 80, "https": 443}
HOST = re.compile(
    r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*"
)  # what name servers know; parsers of URLs let much more pass
MAX_HOST = 253


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that passed: what to resolve and what to ask. `authority` is what the Host header says."""

    href: str
    host: str
    port: int
    tls: bool
    authority: str
    path: str


class Guard:
    """Holds the rule and the operator's exceptions to it.

    `allow` takes networks (`10.20.0.0/16`), hosts (`wiki.intra`, on the usual ports) and one port of a host
    (`wiki.intra:8000`).
    """

    def __init__(self, allow: Iterable[str] = (), ports: Iterable[int] = PORTS) -> None:
        self._written = tuple(allow)
        self._ports = frozenset(ports)
        self._networks: list[Network] = []
        self._doors: set[tuple[str, int]] = set()
        for entry in self._written:
            self._admit(entry)

    def _admit(self, entry: str) -> None:
        network = _network(entry)
        if network is not None:
            self._networks.append(network)
            return
        host, port = _host_and_port(entry)
        self._doors.update((host, each) for each in (self._ports if port is None else (port,)))

    def check_url(self, url: str) -> Target:
        """Before anything is looked up. Raises `Refused`."""
        scheme, mark, rest = _spelled(url).partition("://")
        default = DEFAULT_PORT.get(scheme)
        if default is None or not mark:
            raise Refused(
                f"only http and https are fetched, not {_short(scheme.partition(':')[0])}: {_short(url)}"
            )
        authority, _, tail = rest.partition(
            "/"
        )  # once spelled by the parser, there always is a slash, and here is the first
        if "@" in authority:
            raise Refused(
                f"{_short(url)}: a URL with a user name or password is not fetched; send credentials "
                "as a header"
            )
        host, port = _split(authority, default)
        self._check_host(host, port)
        address = literal(host)
        if address is not None:
            self.check_spot(host, Endpoint(address, port, default == 443))
        elif not HOST.fullmatch(host):
            raise Refused(f"{_short(host)!r} is not a host name")
        path = "/" + tail.partition("#")[0]
        return Target(f"{scheme}://{authority}{path}", host, port, default == 443, authority, path)

    def _check_host(self, host: str, port: int) -> None:
        if len(host) > MAX_HOST:
            raise Refused(f"the host name has {len(host):,} characters; the limit is {MAX_HOST}")
        if host.endswith("."):
            raise Refused(
                f"{_short(host)}: a host name that ends with a dot is another name for the same "
                "host; remove the dot"
            )
        if (host == "localhost" or host.endswith(".localhost")) and (host, port) not in self._doors:
            raise Refused(
                f"{_short(host)} is this machine (loopback); to allow it, add {_short(host)} to fetch.allow"
            )
        if port not in self._ports and (host, port) not in self._doors:
            wanted = ", ".join(map(str, sorted(self._ports)))
            raise Refused(
                f"{_short(host)}: port {port} is not one of {wanted}; to allow it, add {_short(host)}:{port} to fetch.allow"
            )

    def check_spot(self, host: str, endpoint: Endpoint) -> None:
        """After the name was looked up: may we connect there? Raises `Refused`."""
        if endpoint.vouched:
            return
        word = why_not(endpoint.ip)
        if word is None or self._allowed(host, endpoint, word):
            return
        is_name = literal(host) != endpoint.ip
        found = (
            f"{_short(host)} leads to {endpoint.ip}, which is {word}"
            if is_name
            else f"{endpoint.ip} is {word} and is not fetched"
        )
        way = f"{_short(host)} or {endpoint.ip}" if is_name and word in OWN else endpoint.ip
        raise Refused(f"{found}; to allow it, add {way} to fetch.allow")

    def check_endpoints(self, host: str, endpoints: tuple[Endpoint, ...]) -> None:
        """Every address of a name; one bad one refuses them all."""
        for endpoint in endpoints:
            self.check_spot(host, endpoint)

    def _allowed(self, host: str, endpoint: Endpoint, word: str) -> bool:
        if (host, endpoint.port) in self._doors and (word in OWN or literal(host) is not None):
            return True
        address = meant(endpoint.ip)
        return address is not None and any(
            address in network for network in self._networks if network.version == address.version
        )

    def is_named(self, host: str, port: int) -> bool:
        """Tell whether the operator allowed this very host, port or network: it is one of their own."""
        address = literal(host)
        if address is None:
            return (host, port) in self._doors
        spot = meant(address)
        return (host, port) in self._doors or any(
            spot in network for network in self._networks if spot and network.version == spot.version
        )

    def describe(self) -> tuple[str, ...]:
        """Yield a sentence for each thing that may be fetched, for the operator."""
        ports = ", ".join(map(str, sorted(self._ports)))
        rule = f"public addresses on ports {ports}"
        return (rule, *(f"allowed besides: {entry}" for entry in self._written))


@lru_cache(1_024)  # a page is checked when it is asked for and again when it is sent for
def _spelled(url: str) -> str:
    """The one spelling of a URL, as browsers have it; from here on it can be taken apart by its
    punctuation.
    """
    if len(url) > MAX_URL:
        raise Refused(f"the URL has {len(url):,} characters; the limit is {MAX_URL:,}")
    try:
        return ada_url.normalize_url(url)
    except ValueError:
        raise Refused(
            f"{_short(url)!r} is not a URL; write it in full, as in https://example.com/jobs"
        ) from None


def _split(authority: str, default: int) -> tuple[str, int]:
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        return authority, default
    return host, int(port)


def _network(entry: str) -> Network | None:
    try:
        return ipaddress.ip_network(entry)
    except ValueError:
        return None


def _host_and_port(entry: str) -> tuple[str, int | None]:
    try:
        parsed = ada_url.URL(f"http://{entry}/")
    except ValueError:
        parsed = None
    if (
        parsed is None
        or parsed.pathname != "/"
        or parsed.username
        or "/" in entry
        or "*" in entry
        or not parsed.hostname
    ):
        raise ConfigError(
            f"fetch.allow: {entry!r} is not a network (10.20.0.0/16), a host (wiki.intra) or a host:port"
        )
    if parsed.port:
        return parsed.hostname, int(parsed.port)
    return parsed.hostname, 80 if entry.endswith(
        ":80"
    ) else None  # the parser drops the port that http has anyway


def _short(text: str) -> str:
    """Shorten a value for messages, and remove what may be a password."""
    text = text.rpartition("@")[2]
    return text if len(text) <= 120 else f"{text[:117]}..."


# One lookup per host; every address is checked, and no other is dialled.
#
# Between the check and the connection there must be no second lookup, or a name server could give a
# harmless answer to the first and our own router to the second.

MAX_ENDPOINTS = 8  # all are checked, so many are tried


async def route(target: Target, resolver: Resolver, guard: Guard) -> tuple[Endpoint, ...]:
    """Where the target may be reached. Raises `Refused` if any address of it is forbidden."""
    endpoints = await resolver.resolve(target.host, target.port, target.tls)
    address = literal(target.host)
    if address is not None and not any(endpoint.proxy for endpoint in endpoints):
        # As written in the URL: no resolver can turn it into another. `check_url` has judged it.
        endpoints = (Endpoint(address, target.port, target.tls),)
    guard.check_endpoints(target.host, endpoints)
    if not endpoints:
        raise ConnectionFailed(f"the name {target.host} has no address", gate=f"host:{target.host}")
    return endpoints[:MAX_ENDPOINTS]
