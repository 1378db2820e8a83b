"""Where kept answers stand, as the fetcher sees it: a seam, and the one way to name what stands there.

A key names everything an answer may depend on, so that one thing is never filed under another: for which
source it was asked, whether it was rendered, the method, the exact address as sent (not a cleaned one:
`?a=1&b=2` and `?b=2&a=1` may be two pages), the body, and every header the caller chose, credentials among
them. Each part is written with its length before it, so that no two lists of parts read the same.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from thresher.fetch.request import Request

# Of these the rules of caching speak themselves; they choose no other page.
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
class Copy:
    """A kept answer. Times in microseconds; `vary` holds what we sent in the headers that the answer says it
    depends on.

    `body` is the hash under which the shelf finds the bytes.
    """

    url: str
    method: str
    status: int
    headers: Mapping[str, str]
    requested_at: int
    answered_at: int
    vary: Mapping[str, str] = field(default_factory=dict)
    body: str = ""


class Shelf(Protocol):
    """Whatever can keep answers, for all workers."""

    async def find(self, key: str) -> Copy | None: ...

    async def body(self, copy: Copy) -> bytes: ...

    async def keep(self, key: str, copy: Copy, body: bytes) -> None: ...

    async def refresh(self, key: str, copy: Copy) -> None:
        """New headers and times for a copy whose body is as it was."""
        ...

    async def forget(self, key: str) -> None: ...


def key_of(request: Request, *, source: str = "", rendered: bool = False) -> str:
    """The key of what this request asks for."""
    allowed = request.allowed_credentials
    secret = sorted({**allowed.headers, **allowed.query}.items()) if allowed else []
    chosen = (
        sorted((name, value) for name, value in request.headers.items() if name not in _ABOUT_CACHING)
        + secret
    )
    return keyed(
        "page",
        source,
        "rendered" if rendered else "",
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
