"""The shape of an address: what addresses of things of one kind have in common (`/item/*`), and when two of
them are the same thing.
"""

import re
from functools import lru_cache
from urllib.parse import parse_qsl

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url

# Addresses of chores: signing in, sharing, printing. Never a thing of a list.
CHORES = re.compile(
    r"/(?:login|log-?in|sign-?in|sign-?up|signup|register|auth\w*|share|sharer|print|email\w*|help|faq|support|privacy[\w-]*|terms[\w-]*"
    r"|cookies?[\w-]*|cart|basket|checkout|wishlist|compare|account|my-account)(?:[/?.]|$)",
    re.IGNORECASE,
)
_ID = re.compile(r"\d{6,}|[0-9a-f]{8}-[0-9a-f]{4}-")
_FILE = re.compile(r"^[A-Za-z_-]+\.(?:php|aspx?|jsp|do|html?|cgi|cfm)$", re.IGNORECASE)
_VARIES = re.compile(r"\d|%|[A-Z].*[a-z].*[A-Z]")


@lru_cache(maxsize=8_192)
def same_thing(url: str) -> str:
    """One spelling for addresses of one thing: where the path ends in an id, the query only says how one came
    there.
    """
    try:
        same = canonical_url(url)
    except InvalidUrl:
        same = url.partition("#")[0]
    path, _, query = same.partition("?")
    return path if query and _ID.search(path.rstrip("/").rpartition("/")[2]) else same


@lru_cache(maxsize=8_192)
def shape(url: str) -> str:
    """An address with everything that tells one thing from another taken out: `/offer/*`, `/item?id`."""
    try:
        parsed = ada_url.URL(url, "https://here.invalid/")
    except ValueError:
        return url
    parts = [part for part in parsed.pathname.split("/") if part]
    asked_for = parse_qsl(parsed.search[1:], keep_blank_values=True)
    # `/view?id=123`: the last segment names a kind, the query the thing.
    by_query = any(_VARIES.search(value) for _, value in asked_for)
    kept = [
        "*"
        if not _is_script(part, by_query=by_query and at == len(parts))
        and _is_one_thing(part, last=at == len(parts))
        else part
        for at, part in enumerate(parts, 1)
    ]
    names = sorted({name for name, _ in asked_for})
    asked = f"?{','.join(names[:3])}" if not kept or kept[-1] != "*" else ""
    return f"{parsed.hostname}/{'/'.join(kept)}{asked}"


def _is_script(part: str, *, by_query: bool) -> bool:
    """Whether the last segment is what answers a query: `view`, `offer_detail.php`."""
    return by_query and (part.isalpha() or bool(_FILE.search(part)))


def _is_one_thing(part: str, *, last: bool) -> bool:
    """Whether a segment names one page rather than a kind of page."""
    return (
        len(part) > 30
        or bool(_VARIES.search(part))
        or part.count("-") > 2
        or "_" in part
        or (last and "." not in part)
    )
