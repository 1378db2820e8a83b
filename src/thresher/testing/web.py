"""A web of pages given by hand, in place of the transport: everything above it (robots.txt, gates, cache,
walls) is real.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from thresher.core.errors import Permanent, UsageError
from thresher.core.keys import canonical_url
from thresher.fetch.request import BeforeSend, Bounds, Request, Response


@dataclass(frozen=True, slots=True)
class Reply:
    """The response of a URL."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Requested:
    """One request as the fake web saw it. `at` is on the world's clock, in microseconds."""

    url: str
    method: str
    headers: Mapping[str, str]
    body: bytes
    at: int


Page = str | bytes | int | Reply | Callable[[Requested], "str | bytes | int | Reply"]


class FakeWeb:
    """Serves `pages` by their URL: a body, a status, a `Reply`, or a function of the request that returns one
    of these.

    A URL that ends with `*` stands for all that begin so and have no page of their own. A URL without a page
    fails its task and is named in `missing`. A host without a robots.txt among the pages
    allows everything.
    """

    def __init__(self, pages: Mapping[str, Page], now: Callable[[], int]) -> None:
        self.requests: list[Requested] = []
        self.missing: list[str] = []
        self._now = now
        self._pages: dict[str, Page] = {}
        self.add(pages)

    def add(self, pages: Mapping[str, Page]) -> None:
        """Add pages, or replace those with the same URL."""
        self._pages |= {_key(url): page for url, page in pages.items()}

    async def send(self, request: Request, bounds: Bounds, before_send: BeforeSend | None = None) -> Response:  # noqa: ARG002  the seam's shape
        if before_send is not None:
            await before_send()
        seen = Requested(request.url, request.method, dict(request.headers), request.body, self._now())
        self.requests.append(seen)
        page = self._find(request.url)
        if page is None and request.url.endswith("/robots.txt"):
            page = 404
        if page is None:
            self.missing.append(request.url)
            raise Permanent(f"the fake web has no page {request.url}; add it to pages=")
        return _answer(page(seen) if callable(page) else page, request.url)

    def _find(self, url: str) -> "Page | None":
        if (page := self._pages.get(canonical_url(url))) is not None or url.endswith("/robots.txt"):
            return page
        begins = (key for key in self._pages if key.endswith("*") and url.startswith(key[:-1]))
        return self._pages[best] if (best := max(begins, key=len, default=None)) else None

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _key(url: str) -> str:
    return url if url.endswith("*") else canonical_url(url)


def _answer(page: "str | bytes | int | Reply", url: str) -> Response:
    match page:
        case Reply():
            reply = page
        case int():
            reply = Reply(status=page)
        case str() | bytes():
            reply = Reply(page)
        case _:
            raise UsageError(
                f"the page {url} is a {type(page).__name__}; give text, bytes, a status or a Reply"
            )
    body = reply.body.encode() if isinstance(reply.body, str) else reply.body
    headers = {"content-type": "text/html; charset=utf-8"} | {
        name.lower(): value for name, value in reply.headers.items()
    }
    return Response(reply.status, headers, body, wire=len(body))
