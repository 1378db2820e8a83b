"""Crawl one board's list with real requests, page by page, to its end.

The first page decides most: whether it is unchanged since last time, whether it can be read, and how the list
goes on. Pages fetched since the crawl began come from the page cache, so a crawl that has to wait continues
where it was; but not indefinitely, because pages of different days do not form one list.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from thresher.apps.jobs.discovery.trial import first_call
from thresher.apps.jobs.scraping.page_result import PageResult, read_sight
from thresher.core.clock import SECOND, day_of
from thresher.core.context import Context
from thresher.core.errors import Gone, InvalidUrl
from thresher.core.keys import content_hash, parse
from thresher.core.page import Look, Page, Verdict
from thresher.hiring.list_walk import Ask, Tally, Walk, WalkLimits, name_of
from thresher.hiring.records import LastLook
from thresher.reading.platforms.boards import Board
from thresher.reading.platforms.calls import Call, list_call, with_auth
from thresher.reading.platforms.platform import platform_named
from thresher.reading.postings.posting import Posting
from thresher.reading.values.addresses import registered_domain

MARGIN = 0.001  # seconds: a page that came in the moment in which the walk began is of this walk

IsKnown = Callable[[Posting], bool]
Knowledge = Callable[[], Awaitable[IsKnown]]
ReadMore = Callable[[Page, PageResult], Awaitable[PageResult]]


@dataclass(slots=True)
class BoardCrawl:
    """What came of it. `hash` is that of the first page, under which it is kept; `stood` that of the page
    each posting stood on.
    """

    look: Look
    tally: Tally | None = None
    hash: str = ""
    stood: dict[str, str] = field(default_factory=dict)

    @property
    def is_unchanged(self) -> bool:
        """The first page is the one of the last time, and was read no further."""
        return self.tally is None and self.look.verdict.is_proof


class Walker:
    """Walks over one board for one stage."""

    def __init__(
        self,
        ctx: Context,
        board: Board,
        *,
        since: int,
        oldest: float,
        bounds: WalkLimits,
        most_bytes: int,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        """`since` is when the walk began; pages of it that are more than `oldest` seconds old are fetched
        again.
        """
        self._ctx, self._board, self._bounds, self._env = ctx, board, bounds, env
        self._since, self._oldest, self._left = since, oldest, most_bytes
        self._call = first_call(board)

    async def walk(self, last: LastLook, knowledge: Knowledge, read_more: ReadMore) -> BoardCrawl:
        """Walk to the end. `last` is the look before; `knowledge` says which postings are known; `read_more`
        reads what shows no rows.
        """
        if self._call is None:
            return BoardCrawl(
                Look(
                    Verdict.UNKNOWN,
                    f"{self._board.url} does not contain what is needed to request its list from "
                    f"{self._board.platform}",
                )
            )
        page = await self._fetch(self._call)
        trail = BoardCrawl(Look(Verdict.UNKNOWN, ""), hash=content_hash(page.body))
        if is_same(last, trail.hash):
            trail.look = Look(Verdict.FOUND, f"unchanged since the last look: {last.reason or ''}")
            return trail
        if away := _elsewhere(self._call, page):
            trail.look = Look(Verdict.UNKNOWN, away)
        else:
            sight = await read_more(page, await self._read(page))
            trail.look = sight.look
            if sight.look.verdict.is_proof:
                await self._go_on(trail, page, sight, await knowledge())
        if trail.tally is None or not (trail.tally.found or trail.tally.complete):
            await self._ctx.save(page.body)  # what could not be read is kept, for a person to look at
        return trail

    async def _go_on(self, trail: BoardCrawl, page: Page, sight: PageResult, is_known: IsKnown) -> None:
        walk = Walk(sight.paging(self._board), self._bounds)
        await self._take(walk, trail, page, sight, is_known)
        while walk.ask:
            following = await self._next(walk, walk.ask)
            if following is None:
                break
            page = following
            sight = await self._read(page)
            if not sight.is_list:
                walk.give_up(f"page {walk.tally().pages + 1} is {sight.look.verdict}: {sight.look.reason}")
                break
            await self._take(walk, trail, page, sight, is_known)
        trail.tally = walk.tally()

    async def _read(self, page: Page) -> PageResult:
        return await self._ctx.compute(read_sight, page, self._board, day_of(page.fetched_at))

    async def _take(
        self, walk: Walk, trail: BoardCrawl, page: Page, sight: PageResult, is_known: IsKnown
    ) -> None:
        fresh = [posting for posting in sight.listing.postings if not is_known(posting)]
        walk.take(
            sight.listing, facets=sight.facets, known=not fresh, doubt=sight.doubt, of_pages=sight.of_pages
        )
        if fresh:  # their evidence; of what is known it is kept already
            digest = await self._ctx.save(page.body)
            for posting in fresh:
                trail.stood.setdefault(name_of(posting), digest)

    async def _next(self, walk: Walk, ask: Ask) -> Page | None:
        """The page that is asked for; None ends the walk before its end."""
        call = self._call_for(ask)
        if self._left <= 0:
            walk.give_up("stopped at the size limit")
            return None
        if call is None:
            walk.give_up(
                "the next page is on another site"
                if ask.cursor
                else "the list does not continue the way its platform describes"
            )
            return None
        try:
            return await self._fetch(call)
        except Gone:  # of the first page it would be the board's end; here it is only that of the walk
            walk.give_up(f"page {walk.tally().pages + 1} does not exist, although another page links to it")
            return None

    def _call_for(self, ask: Ask) -> Call | None:
        platform = platform_named(self._board.platform)
        if platform and platform.endpoint and not (ask.cursor and platform.paging.kind != "next"):
            return list_call(self._board, at=ask.at, cursor=ask.cursor, facets=ask.facets, page=ask.page)
        if not ask.cursor or self._call is None or not _is_one_site(ask.cursor, self._call.url):
            return None
        return Call(ask.cursor, headers=self._call.headers)

    async def _fetch(self, call: Call) -> Page:
        platform = platform_named(self._board.platform)
        sent = with_auth(call, platform, self._env) if platform else call
        # A list is data. Only a page for people can be an empty shell, which a browser may fill.
        render = False if platform and platform.endpoint else None
        max_age = min(max(0, self._ctx.now() - self._since) / SECOND, self._oldest) + MARGIN
        page = await self._ctx.fetch(
            sent.url,
            method=sent.method,
            headers=sent.headers,
            body=sent.body,
            render=render,
            max_age=max_age,
            credentials=sent.credentials,
        )
        self._left -= len(page.body)
        return page


def is_same(last: LastLook, digest: str) -> bool:
    """Whether the first page alone says that nothing has changed: it held the whole list, complete, and
    nothing was left in doubt.
    """
    whole = last.complete and last.alone and bool(last.found)
    return whole and not last.missed and last.hash == digest


def _elsewhere(call: Call, page: Page) -> str | None:
    """Why an answer is not this board's."""
    if _is_one_site(call.url, page.final_url):
        return None
    return f"{parse(call.url).hostname} redirects to {parse(page.final_url).hostname}, which is another site"


def _is_one_site(one: str, other: str) -> bool:
    try:
        first, second = parse(one).hostname, parse(other).hostname
    except InvalidUrl:
        return False
    domain = registered_domain(first)
    return first == second or (domain is not None and domain == registered_domain(second))
