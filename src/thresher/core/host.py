"""The gate a web address stands behind: one per host name, whatever the scheme, the port or the spelling.

A limit that `EXAMPLE.com.`, `example.com:8080` and `example.com` each had for themselves would be three
limits.
"""

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.limits import MAX_HOST

PREFIX = "host:"


def parse(url: str) -> ada_url.URL:
    """The address as browsers read it, or an error that says what is wrong."""
    try:
        parsed = ada_url.URL(url.strip())
    except ValueError:
        raise InvalidUrl(f"{url[:200]!r} is not a URL; write it whole, as in https://example.com/a") from None
    if parsed.protocol not in ("http:", "https:"):
        raise InvalidUrl(f"{url[:200]!r} is not a web address; only http and https can be followed")
    check_host(parsed.hostname)
    return parsed


def check_host(name: str) -> None:
    """Refuse a host name that is longer than any can be."""
    if len(name.rstrip(".")) > MAX_HOST:
        raise InvalidUrl(f"a host name of {len(name):,} characters ({name[:80]}…); the limit is {MAX_HOST}")


def host_gate(url: str) -> str:
    """`host:NAME` for an address: what a stage that fetches it should go through."""
    return PREFIX + parse(url).hostname.rstrip(".")
