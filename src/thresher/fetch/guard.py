"""Where we go, and where we never go: the rule that keeps our hands out of other people's private networks.

A page, a redirect or a name server may point anywhere: at this machine, at the router, at the cloud's
metadata service that hands out keys. So a URL is judged twice: as it is written (`check_url`), and by every
address its name leads to (`check_spots`). One bad address among good ones refuses the name, for a name server
may shuffle them as it likes.

Only what is globally routable passes. What a person wants beyond that (an intranet of their own) they write
down.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import ada_url

from thresher.core.errors import ConfigError, Refused
from thresher.core.keys import MAX_URL
from thresher.fetch.networks import OWN, Network, meant, why_not
from thresher.fetch.resolver import Spot, literal

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
                f"only http and https are followed, not {_short(scheme.partition(':')[0])}: {_short(url)}"
            )
        authority, _, tail = rest.partition(
            "/"
        )  # once spelled by the parser, there always is a slash, and here is the first
        if "@" in authority:
            raise Refused(
                f"{_short(url)}: a URL with a user name or password in it is not followed; send credentials as a header"
            )
        host, port = _split(authority, default)
        self._check_host(host, port)
        address = literal(host)
        if address is not None:
            self.check_spot(host, Spot(address, port, default == 443))
        elif not HOST.fullmatch(host):
            raise Refused(f"{_short(host)!r} is not the name of a host")
        path = "/" + tail.partition("#")[0]
        return Target(f"{scheme}://{authority}{path}", host, port, default == 443, authority, path)

    def _check_host(self, host: str, port: int) -> None:
        if len(host) > MAX_HOST:
            raise Refused(f"a host name of {len(host):,} characters; the longest there can be has {MAX_HOST}")
        if host.endswith("."):
            raise Refused(
                f"{_short(host)}: a host name that ends with a dot is a second name for the same host; write it without"
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

    def check_spot(self, host: str, spot: Spot) -> None:
        """After the name was looked up: may we connect there? Raises `Refused`."""
        if spot.vouched:
            return
        word = why_not(spot.ip)
        if word is None or self._allowed(host, spot, word):
            return
        is_name = literal(host) != spot.ip
        found = (
            f"{_short(host)} leads to {spot.ip}, which is {word}"
            if is_name
            else f"{spot.ip} is {word}, and not fetched"
        )
        way = f"{_short(host)} or {spot.ip}" if is_name and word in OWN else spot.ip
        raise Refused(f"{found}; to allow it, add {way} to fetch.allow")

    def check_spots(self, host: str, spots: tuple[Spot, ...]) -> None:
        """Every address of a name; one bad one refuses them all."""
        for spot in spots:
            self.check_spot(host, spot)

    def _allowed(self, host: str, spot: Spot, word: str) -> bool:
        if (host, spot.port) in self._doors and (word in OWN or literal(host) is not None):
            return True
        address = meant(spot.ip)
        return address is not None and any(
            address in network for network in self._networks if network.version == address.version
        )

    def describe(self) -> tuple[str, ...]:
        """What may be asked, a sentence each, for whoever looks after this installation."""
        ports = ", ".join(map(str, sorted(self._ports)))
        rule = f"public addresses on ports {ports}"
        return (rule, *(f"allowed besides: {entry}" for entry in self._written))


@lru_cache(1_024)  # a page is checked when it is asked for and again when it is sent for
def _spelled(url: str) -> str:
    """The one spelling of a URL, as browsers have it; from here on it can be taken apart by its
    punctuation.
    """
    if len(url) > MAX_URL:
        raise Refused(f"a URL of {len(url):,} characters; the limit is {MAX_URL:,}")
    try:
        return ada_url.normalize_url(url)
    except ValueError:
        raise Refused(
            f"{_short(url)!r} is not a URL; write it whole, as in https://example.com/jobs"
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
            f"fetch.allow: got {entry!r}; it wants a network (10.20.0.0/16), a host (wiki.intra) or a host:port"
        )
    if parsed.port:
        return parsed.hostname, int(parsed.port)
    return parsed.hostname, 80 if entry.endswith(
        ":80"
    ) else None  # the parser drops the port that http has anyway


def _short(text: str) -> str:
    """For messages, which are kept and shown: not too long, and without what may be a password."""
    text = text.rpartition("@")[2]
    return text if len(text) <= 120 else f"{text[:117]}..."
