"""Keys: when two URLs are the same page, two requests the same work, and which gate a URL belongs to.

A URL key is what the loop guard compares. It parses as a browser does (so `HTTP://Example.com:80/a/../b` is
`http://example.com/b`), drops what never changes the page (fragment, tracking parameters), and sorts the
query. The path keeps its case: on many servers `/Job/A` and `/job/a` are different pages.
"""

import hashlib
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.limits import MAX_HOST

# Host gates: one per host name, whatever the scheme, the port or the spelling.
#
# A limit that `EXAMPLE.com.`, `example.com:8080` and `example.com` each had for themselves would be three
# limits.

PREFIX = "host:"


def parse(url: str) -> ada_url.URL:
    """Parse a URL as browsers do, or raise an error that says what is wrong."""
    try:
        parsed = ada_url.URL(url.strip())
    except ValueError:
        raise InvalidUrl(
            f"{url[:200]!r} is not a URL; write it in full, as in https://example.com/a"
        ) from None
    if parsed.protocol not in ("http:", "https:"):
        raise InvalidUrl(f"{url[:200]!r} is not a web address; only http and https can be followed")
    check_host(parsed.hostname)
    return parsed


def check_host(name: str) -> None:
    """Refuse a host name that is too long to exist."""
    if len(name.rstrip(".")) > MAX_HOST:
        raise InvalidUrl(f"the host name {name[:80]}… has {len(name):,} characters; the limit is {MAX_HOST}")


def host_gate(url: str) -> str:
    """Return `host:NAME` for a URL: the gate of a stage that fetches it."""
    return PREFIX + parse(url).hostname.rstrip(".")


# Parameters that advertising and mail tools add and no site uses to choose a page.
TRACKING_PARAMETERS = frozenset(
    {
        "dclid",
        "fbclid",
        "gclid",
        "gbraid",
        "igshid",
        "mc_cid",
        "mc_eid",
        "msclkid",
        "twclid",
        "ttclid",
        "wbraid",
        "yclid",
    }
)
TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
MAX_URL = 8_192
REMEMBERED = 400  # characters: a site that writes long addresses must not fill our memory with them


def canonical_url(url: str) -> str:
    """Return the canonical spelling of a URL. Refuse anything but http and https."""
    return _known(url) if len(url) <= REMEMBERED else _canonical(url)


def _canonical(url: str) -> str:
    if len(url) > MAX_URL:
        raise InvalidUrl(f"the URL has {len(url):,} characters; the limit is {MAX_URL:,}")
    try:
        whole: str = ada_url.normalize_url(url.strip())
    except ValueError:
        raise InvalidUrl(f"{url!r} is not a URL; write it in full, as in https://example.com/jobs") from None
    if not whole.startswith(("http://", "https://")):
        raise InvalidUrl(f"{url!r} is not a web address; only http and https can be followed")
    # Most are short and have no query: to ask for the parts of one takes longer than to read it.
    if len(whole) > MAX_HOST or "?" in whole or "#" in whole:
        whole = _without_tracks(ada_url.URL(whole))
    if len(whole) > MAX_URL:  # written out in ASCII it may have grown
        raise InvalidUrl(f"the URL has {len(whole):,} characters; the limit is {MAX_URL:,}")
    return whole


def _without_tracks(parsed: ada_url.URL) -> str:
    """The address without its fragment and without the parameters that follow people around."""
    check_host(parsed.hostname)
    parsed.hash = ""
    parsed.search = _clean_query(parsed.search[1:])  # also where it is empty: a lone "?" is no query
    return str(parsed.href)


# A URL is canonicalised when it is enqueued, at its gate and when it is fetched.
_known = lru_cache(8_192)(_canonical)


def _clean_query(query: str) -> str:
    pairs = sorted(pair for pair in parse_qsl(query, keep_blank_values=True) if not _tracks(pair[0].lower()))
    return urlencode(pairs)


def _tracks(name: str) -> bool:
    return name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES)


def url_key(url: str) -> str:
    """Return a short, fixed-size key for the canonical URL."""
    return hashlib.sha256(canonical_url(url).encode()).hexdigest()[:32]


def content_hash(body: bytes) -> str:
    """Return the identity of a body: its SHA-256."""
    return hashlib.sha256(body).hexdigest()


# The key of a text's vector: whoever stores one and whoever drops it must agree.


def point_key(text: str) -> str:
    """Return the key of a text's vector. It depends on the text, so a changed text has another vector."""
    return content_hash(text.encode("utf-8", "replace"))
