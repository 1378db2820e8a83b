"""HTTP caching (RFC 9111, private cache), pure: may a response be stored, may a copy be used, how is it
revalidated.

Time is an argument. Nothing is guessed: without a lifetime from the server or from the caller a copy is stale
at once and must be revalidated (no heuristic freshness). A caller's `max_age` is an agreement about one
source and overrules the server's lifetime, never its no-store.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Protocol

from thresher.core.clock import SECOND
from thresher.fetch.redirect import SHARED
from thresher.fetch.redirect import STATUSES as REDIRECTS
from thresher.fetch.request import Request, Response

# The interface of the page cache, and the key of a copy.
#
# A key names everything an answer may depend on, so that one thing is never filed under another: for which
# source it was asked, whether and how it was rendered, the method, the exact address as sent (not a cleaned
# one: `?a=1&b=2` and `?b=2&a=1` may be two pages), the body, and every header the caller chose, credentials
# among them. Each part is written with its length before it, so that no two lists of parts read the same.

# Headers of caching itself; they select no other page.
_ABOUT_CACHING = frozenset(
    {
        "cache-control",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-unmodified-since",
        "if-range",
        "pragma",
    }
)


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A kept answer. Times in microseconds; `vary` holds what we sent in the headers that the answer says it
    depends on.

    `body` is the hash under which the cache finds the bytes.
    """

    url: str
    method: str
    status: int
    headers: Mapping[str, str]
    requested_at: int
    answered_at: int
    vary: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


class PageCache(Protocol):
    """Whatever can keep answers, for all workers."""

    async def find(self, key: str) -> CachedResponse | None: ...

    async def body(self, copy: CachedResponse) -> bytes: ...

    async def keep(self, key: str, copy: CachedResponse, body: bytes) -> None: ...

    async def refresh(self, key: str, copy: CachedResponse) -> None:
        """New headers and times for a copy whose body is as it was."""
        ...

    async def forget(self, key: str) -> None: ...


def key_of(request: Request, *, source: str = "", rendered: bool = False, variant: str = "") -> str:
    """The key of what this request asks for. `variant` tells renderings of one page from each other."""
    allowed = request.allowed_credentials
    secret = sorted({**allowed.headers, **allowed.query}.items()) if allowed else []
    chosen = (
        sorted((name, value) for name, value in request.headers.items() if name not in _ABOUT_CACHING)
        + secret
    )
    return keyed(
        "page",
        source,
        "rendered" + variant if rendered else "",
        request.method,
        request.url,
        hashlib.sha256(request.body).hexdigest(),
        *(word for pair in chosen for word in pair),
    )


def keyed(*parts: str) -> str:
    """A key of these parts in this order, and of no others."""
    whole = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % len(raw) + raw)
    return whole.hexdigest()


# Cache-Control and dates as found in the wild. What cannot be parsed is read the careful way.

# Headers are cut at this length before they are parsed.
MAX_HEADER = 4_096
MAX_LENGTH = 2**31  # seconds; RFC 9111 §1.2.2 lets larger numbers count as this

_DIRECTIVE = re.compile(r'([A-Za-z0-9_-]+)(?:\s*=\s*("[^"]*"|[^,\s"]*))?')

Directives = Mapping[str, str | None]


def directives(headers: Mapping[str, str]) -> Directives:
    """The directives of Cache-Control by their names in lower case; the first of two counts."""
    found: dict[str, str | None] = {}
    for name, value in _DIRECTIVE.findall(headers.get("cache-control", "")[:MAX_HEADER]):
        found.setdefault(name.lower(), value.strip('"') or None)
    return found


def seconds(said: Directives, name: str, unreadable: int = 0) -> int | None:
    """A directive's number; None where it is not there, and `unreadable` where it is no number."""
    if name not in said:
        return None
    value = said[name] or ""
    return (
        min(int(value), MAX_LENGTH) if value.isascii() and value.isdigit() and len(value) < 20 else unreadable
    )


def date_of(text: str | None) -> float | None:
    """An HTTP date in seconds since 1970, or None."""
    if not text or len(text) > 64:
        return None
    try:
        found: datetime = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


# Complete, successful responses. A 206 is partial, a 4xx or 5xx is an error: neither may become a hit.
KEEPABLE = frozenset({200, 203}) | REDIRECTS
# What describes the body stays as it was when a 304 brings new headers: the body stayed, too (RFC 9111 §3.2).
_OF_THE_BODY = frozenset(
    {"content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"}
)
_OWN_CONDITIONS = (
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "range",
)


class Use(Enum):
    """What a copy is good for."""

    FRESH = "fresh"
    CONFIRM = "confirm"
    NOTHING = "nothing"


def is_ours(request: Request) -> bool:
    """Whether the cache has a say. Who sends conditions or ranges of their own wants to hear the server
    itself.
    """
    return not any(name in request.headers for name in _OWN_CONDITIONS)


def may_keep(request: Request, answer: Response, max_age: float | None = None) -> bool:
    """Whether an answer may be kept at all."""
    if answer.status not in KEEPABLE or not is_ours(request):
        return False
    if request.method != "GET" and (request.method != "POST" or max_age is None):
        # the answer to a POST belongs to that POST alone; only the caller can know that it is a question
        return False
    if answer.headers.get("vary", "").strip() == "*":
        return False
    return not ("no-store" in directives(answer.headers) or "no-store" in directives(request.headers))


def is_worth_keeping(answer: Response, max_age: float | None = None) -> bool:
    """Whether HTTP's rules would ever let us use it again: it has a lifetime, or something to ask for it
    by.
    """
    said = directives(answer.headers)
    lifetime = (seconds(said, "max-age") or 0) > 0 or "expires" in answer.headers
    return lifetime or bool(max_age) or bool(_conditions(answer.headers))


def copy_of(
    request: Request, answer: Response, sent: Mapping[str, str], requested_at: int, answered_at: int
) -> CachedResponse:
    """What is kept of an answer. `sent` are all headers as they went out, for what Vary names."""
    names = [name.strip().lower() for name in answer.headers.get("vary", "").split(",") if name.strip()]
    vary = {name: _remembered(name, sent) for name in names}
    return CachedResponse(
        request.url, request.method, answer.status, dict(answer.headers), requested_at, answered_at, vary
    )


def _remembered(name: str, sent: Mapping[str, str]) -> str:
    """What is kept of a header that was sent: itself where it is surely no secret, else only what it can be
    recognised by.
    """
    value = sent.get(name, "")
    return (
        value
        if not value or name in SHARED
        else hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    )


def use_of(
    copy: CachedResponse, request: Request, sent: Mapping[str, str], now: int, max_age: float | None = None
) -> Use:
    """What a copy is good for, now and for this request."""
    if copy.method != request.method or copy.url != request.url or not is_ours(request):
        return Use.NOTHING
    if any(_remembered(name, sent) != value for name, value in copy.vary.items()):
        return Use.NOTHING
    if _is_fresh(copy, request, now, max_age):
        return Use.FRESH
    return Use.CONFIRM if request.method == "GET" and _conditions(copy.headers) else Use.NOTHING


def _is_fresh(copy: CachedResponse, request: Request, now: int, max_age: float | None) -> bool:
    wants, said = directives(request.headers), directives(copy.headers)
    if "no-cache" in wants or ("pragma" in request.headers and "cache-control" not in request.headers):
        return False
    age = age_of(copy, now)
    most = seconds(wants, "max-age")
    if most is not None and age > most:
        return False
    if max_age is not None:
        return since_answer(copy, now) < max_age
    if "no-cache" in said:
        return False
    left = lifetime_of(copy) - age - (seconds(wants, "min-fresh") or 0)
    return left > 0 or ("max-stale" in wants and "must-revalidate" not in said and -left <= _patience(wants))


def _patience(wants: Mapping[str, str | None]) -> float:
    return float("inf") if wants["max-stale"] is None else seconds(wants, "max-stale") or 0


def lifetime_of(copy: CachedResponse) -> float:
    """For how many seconds the server vouches for it (RFC 9111 §4.2.1); 0 where it does not say."""
    most = seconds(directives(copy.headers), "max-age")
    if most is not None:
        return most
    if "expires" not in copy.headers:
        return 0
    until = date_of(copy.headers["expires"])  # "0" and other nonsense mean: expired
    return (
        0
        if until is None
        else max(0.0, until - (date_of(copy.headers.get("date")) or copy.answered_at / SECOND))
    )


def age_of(copy: CachedResponse, now: int) -> float:
    """How old it is, the time spent in other caches included (RFC 9111 §4.2.3)."""
    date = date_of(copy.headers.get("date"))
    apparent = 0.0 if date is None else max(0.0, copy.answered_at / SECOND - date)
    said = copy.headers.get("age", "").partition(",")[0].strip()
    carried = int(said) if said.isascii() and said.isdigit() and len(said) < 12 else 0
    on_the_way = max(0, copy.answered_at - copy.requested_at) / SECOND
    return max(apparent, carried + on_the_way) + since_answer(copy, now)


def since_answer(copy: CachedResponse, now: int) -> float:
    """Seconds since we were given it. A clock that was set back makes nothing younger than new."""
    return max(0, now - copy.answered_at) / SECOND


def _conditions(headers: Mapping[str, str]) -> dict[str, str]:
    asked = {"if-none-match": headers.get("etag", ""), "if-modified-since": headers.get("last-modified", "")}
    return {name: value for name, value in asked.items() if value}


def confirming(request: Request, copy: CachedResponse) -> Request:
    """The request that asks whether a copy is still good."""
    return replace(request, headers={**request.headers, **_conditions(copy.headers)})


def confirms(copy: CachedResponse, answer: Response) -> bool:
    """Whether a 304 speaks of this copy: one with another ETag speaks of something we do not have (RFC 9111
    §4.3.4).
    """
    theirs, ours = answer.headers.get("etag"), copy.headers.get("etag")
    return not theirs or not ours or theirs.removeprefix("W/") == ours.removeprefix("W/")


def refreshed(copy: CachedResponse, answer: Response, requested_at: int, answered_at: int) -> CachedResponse:
    """The copy after a 304: the old body, the new headers (RFC 9111 §3.2)."""
    news = {name: value for name, value in answer.headers.items() if name not in _OF_THE_BODY}
    old = {
        name: value for name, value in copy.headers.items() if name != "age"
    }  # it was the age of another answer
    return replace(copy, headers={**old, **news}, requested_at=requested_at, answered_at=answered_at)
