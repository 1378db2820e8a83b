"""An address taken apart as browsers do it, with what we add: the one spelling, its key, and whose domain it
is.

The parts follow the WHATWG URL standard, for any scheme. The registered domain ("shop.example.co.uk" belongs
to "example.co.uk") comes from the list that is installed with us; nothing is looked up.
"""

import unicodedata
from dataclasses import dataclass
from functools import cache

import ada_url
from publicsuffixlist import PublicSuffixList

from thresher.core.errors import InvalidUrl
from thresher.core.keys import MAX_URL, canonical_url, url_key


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an address. `canonical` and `key` are None where it cannot be followed (only http and
    https can).

    `domain` is the registered domain; None for an IP address, a bare suffix, and a name without one.
    """

    href: str
    origin: str
    protocol: str
    username: str
    password: str
    host: str
    hostname: str
    port: str
    pathname: str
    search: str
    hash: str
    canonical: str | None = None
    key: str | None = None
    domain: str | None = None


def read_address(text: str, base: str | None = None) -> Address:
    """The address that a text is, relative to a base if one is given. Raises `InvalidUrl`."""
    if len(text) > MAX_URL or len(base or "") > MAX_URL:
        raise InvalidUrl(
            f"the URL has {max(len(text), len(base or '')):,} characters; the limit is {MAX_URL:,}"
        )
    try:
        parsed = ada_url.URL(text, base=base) if base else ada_url.URL(text)
    except ValueError:
        against = (
            f" against {base!r}"
            if base
            else "; write it in full, as in https://example.com/jobs, or give its base"
        )
        raise InvalidUrl(f"{text!r} is not a URL{against}") from None
    except UnicodeError:
        raise InvalidUrl("the URL contains half a character (a lone surrogate)") from None
    if any(_is_nonsense(label) for label in parsed.hostname.split(".")):
        raise InvalidUrl(f"{text!r} has a host whose encoded name ({parsed.hostname}) is invalid")
    canonical = _canonical(parsed.href)
    return Address(
        parsed.href,
        parsed.origin,
        parsed.protocol,
        parsed.username,
        parsed.password,
        parsed.host,
        parsed.hostname,
        parsed.port,
        parsed.pathname,
        parsed.search,
        parsed.hash,
        canonical,
        url_key(canonical) if canonical else None,
        registered_domain(parsed.hostname),
    )


def _is_nonsense(label: str) -> bool:
    """An encoded label (`xn--...`) must decode to what encoding would start from: small letters in their
    normal form.
    """
    if not label.startswith("xn--"):
        return False
    try:
        decoded = label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return True
    return unicodedata.normalize("NFKC", decoded.lower()) != decoded


def registered_domain(host: str) -> str | None:
    """Return the registered domain of a host name: `example.co.uk` for `shop.example.co.uk`."""
    if not host or "." not in host or host.startswith("["):
        return None
    return _suffixes().privatesuffix(host)


@cache
def _suffixes() -> PublicSuffixList:
    # Only what registries sell under: "user.github.io" belongs to github.io, as its pages are on one host.
    return PublicSuffixList(accept_unknown=False, only_icann=True)


def _canonical(href: str) -> str | None:
    try:
        return canonical_url(href)
    except InvalidUrl:
        return None
