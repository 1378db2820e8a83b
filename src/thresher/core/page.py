"""A page: the response to a request, whether from HTTP, a browser, the cache or a file; and the verdict on a
look.

The body is decoded. Everything that reads pages takes this one type.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

MAX_NODES = 500_000  # elements and texts of the tree of one page; the largest of the corpus has 13,000


class Via(StrEnum):
    """How a page was fetched."""

    HTTP = "http"
    BROWSER = "browser"
    CACHE = "cache"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Page:
    """`url` was requested, `final_url` responded; `hops` are the URLs in between. Header names are lower
    case.

    `fetched_at` is in microseconds since 1970; for a cached page, it is the time of the original request.
    `timings` are seconds, by step.

    What a `Rendering` asked for: `screenshot` is a PNG, `collected` are addresses in the order of the clicks,
    each once. `not_collected` counts the elements that matched and gave none: beyond the limit, or without
    another address behind them. `unfinished` are the selectors that were clicked as often as they may be, and
    could be clicked again.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: int = 0
    via: Via = Via.HTTP
    hops: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    screenshot: bytes | None = None
    collected: tuple[str, ...] = ()
    not_collected: int = 0
    unfinished: tuple[str, ...] = ()

    @property
    def content_type(self) -> str:
        """Return the media type alone, in lower case: `text/html`. Empty if none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


# How a look at a source ended. Nothing found is not nothing there.
#
#     found             there is something, and we read it
#     confirmed_empty   there is nothing, and the source itself said so
#     unknown           we read nothing and cannot tell why: a changed layout, a script shell, a count
#     blocked           a wall stood in front of it
#
# Only the first two complete work, move watermarks or close postings.


class Verdict(StrEnum):
    """The four possible results of a look."""

    FOUND = "found"
    CONFIRMED_EMPTY = "confirmed_empty"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"

    @property
    def is_proof(self) -> bool:
        """Tell whether it proves anything."""
        return self in (Verdict.FOUND, Verdict.CONFIRMED_EMPTY)


@dataclass(frozen=True, slots=True)
class Look:
    """A verdict with its explanation; `quote` is the part of the page that caused it."""

    verdict: Verdict
    reason: str
    quote: str | None = None
