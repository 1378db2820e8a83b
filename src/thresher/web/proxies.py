"""Which machines may say on whose behalf they ask. Nobody else is believed: an address that anybody could
make up guards nothing.
"""

import ipaddress
from collections.abc import Sequence

from thresher.core.errors import UsageError

OPTION = "--forwarded-allow-ips"
MAX_PROXIES = 100
_MAPPED = 96  # bits before an IPv4 address in an IPv6 one


def read_proxies(text: str) -> list[str]:
    """The addresses and networks of proxies, with commas between them. One that is written in IPv4 may also
    come in as IPv6.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > MAX_PROXIES:
        raise UsageError(
            f"{OPTION} names {len(parts):,} proxies; at most {MAX_PROXIES} are taken. A network stands for many: 10.1.0.0/16"
        )
    return [each for part in parts for each in _network(part)]


def _network(part: str) -> Sequence[str]:
    if part == "*":
        raise UsageError(
            f"{OPTION} wants the addresses of the proxies; * would let everybody say that they are somebody else"
        )
    try:
        found = ipaddress.ip_network(part)
    except ValueError as problem:
        raise UsageError(
            f"{OPTION} wants addresses or networks such as 10.0.0.5 or 10.1.0.0/16, got {part[:60]!r}: {problem}"
        ) from None
    if found.version == 6:
        return (str(found),)
    return (str(found), f"::ffff:{found.network_address}/{_MAPPED + found.prefixlen}")
