"""Try a board: make the first call of a scrape once, and report what it returned. Nothing is stored.

It needs only something that fetches, so a stage, a command and a test try a board the same way.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from thresher.apps.jobs.scraping.page_result import PageResult, read_sight
from thresher.core.clock import day_of
from thresher.core.credentials import Credentials
from thresher.core.errors import InvalidUrl
from thresher.core.keys import parse
from thresher.core.page import Look, Page, Verdict
from thresher.hiring.records import BoardRecord
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import Call, list_call, with_auth
from thresher.reading.platforms.platform import Platform, platform_named
from thresher.reading.postings.posting import Posting
from thresher.reading.values.addresses import registered_domain

FEED = "rss"
SAMPLE = 5
T = TypeVar("T")

ReadMore = Callable[[Page, PageResult], Awaitable[PageResult]]


class Hand(Protocol):
    """Whatever fetches pages, and has them read."""

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        render: bool | None = False,
        max_age: float | None = None,
        credentials: Credentials | None = None,
    ) -> Page: ...

    async def compute(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


@dataclass(frozen=True, slots=True)
class Trial:
    """How the look ended, and what it saw. `page` is the answer itself; `is_page`: it was made for people."""

    board: Board
    look: Look
    url: str = ""
    status: int | None = None
    postings: tuple[Posting, ...] = ()
    total: int | None = None
    page: Page | None = None
    is_page: bool = False

    @property
    def count(self) -> int:
        return len(self.postings)

    @property
    def sample(self) -> tuple[str, ...]:
        """The first titles: enough for a person to see whose openings these are."""
        return tuple(posting.title for posting in self.postings[:SAMPLE])


async def trial(hand: Hand, board: BoardRecord) -> Trial:
    """Try the board of a record."""
    return await look_at(hand, board.address)


async def look_at(
    hand: Hand,
    board: Board,
    *,
    max_age: float | None = None,
    read_more: ReadMore | None = None,
    env: Mapping[str, str] = os.environ,
) -> Trial:
    """Make the call for a board's list, and read the answer as a scrape does. `read_more` reads what shows no
    rows to our own rules.

    Raises what the fetch raises, and `ConfigError` where a key is missing.
    """
    call = first_call(board)
    if call is None:
        return Trial(
            board,
            Look(Verdict.UNKNOWN, f"{board.url} does not say enough to ask {board.platform} for its list"),
        )
    platform = platform_named(board.platform)
    sent = with_auth(call, platform, env) if platform else call
    # A board's own answer is data; only a page for people can be an empty shell.
    render = None if call.method == "GET" and not _has_list(platform) else False
    page = await hand.fetch(
        sent.url,
        method=sent.method,
        headers=sent.headers,
        body=sent.body,
        render=render,
        max_age=max_age,
        credentials=sent.credentials,
    )
    if elsewhere := _elsewhere(board, call, page):
        return Trial(board, Look(Verdict.UNKNOWN, elsewhere), call.url, page.status)
    sight = await hand.compute(read_sight, page, board, day_of(page.fetched_at))
    sight = await read_more(page, sight) if read_more else sight
    postings = sight.listing.postings if sight.look.verdict is Verdict.FOUND else ()
    return Trial(board, sight.look, call.url, page.status, postings, sight.listing.total, page, sight.is_page)


def first_call(board: Board) -> Call | None:
    """The call a scrape begins with: for the list where the platform has one, else for the page that people
    see.
    """
    if _has_list(platform_named(board.platform)):
        return list_call(board)
    return Call(board.url) if board.url.startswith(("http://", "https://")) else None


def is_one_site(one: str, other: str) -> bool:
    """Whether two addresses are of one registered domain; where none is known, whether one host is below the
    other.
    """
    try:
        first, second = (parse(url).hostname.removeprefix("www.") for url in (one, other))
    except InvalidUrl:
        return False
    if (domain := registered_domain(first)) is not None:
        return domain == registered_domain(second)
    return first == second or first.endswith(f".{second}") or second.endswith(f".{first}")


def _has_list(platform: Platform | None) -> bool:
    return platform is not None and platform.endpoint is not None


def _elsewhere(board: Board, call: Call, page: Page) -> str | None:
    """Why the answer is not this board's: a token was put into the address, and the answer came from
    somewhere else.
    """
    asked, answered = parse(call.url).hostname, parse(page.final_url).hostname
    if asked == answered:
        return None
    if _has_list(platform_named(board.platform)):
        return f"{asked} sends us on to {answered}, which is not where the board's list is kept"
    if not is_one_site(call.url, page.final_url) or recognise(page.final_url):
        return f"{asked} sends us on to {answered}, which is another site"
    return None
