"""Any board of a hiring platform as a client, such as `greenhouse:acme`. Its list is whole: an offer that is
no longer there is gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from thresher.apps.queries.clients.client import Client, bounded, key_of, wanted
from thresher.apps.queries.clients.search import Offer, Reach, Search, SearchPage
from thresher.core.errors import ConfigError, Malformed
from thresher.core.page import Page
from thresher.reading.apis.paging import ListPlace, place_of
from thresher.reading.inspect.body import Body, Format, read_body
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board, board_named, recognise
from thresher.reading.platforms.calls import Call, detail_call, list_call, with_auth
from thresher.reading.platforms.definition import Platform
from thresher.reading.platforms.platform import platform_named
from thresher.reading.postings.posting import Listing, Posting

HELP = "A board by its key, such as greenhouse:acme, or by its address."
REFUSED = 400  # statuses from here on


@dataclass(frozen=True, slots=True)
class BoardClient(Client):
    """The boards that the platforms' files describe."""

    def call(self, search: Search, cursor: str | None, env: Mapping[str, str]) -> Call:
        board, platform = self._board(search)
        place, kind = place_of(cursor, ""), platform.paging.kind
        call = list_call(
            board,
            at=place.rows if kind == "offset" else 0,
            page=place.pages if kind == "page" else None,
            cursor=str(place.at) or None,
        )
        if call is None:
            raise ConfigError(
                f"{board.platform} has no list that can be requested for {board.url or board.token}; follow "
                "the company in the jobs app instead"
            )
        return with_auth(call, platform, env)

    def read_page(self, search: Search, cursor: str | None, page: Page) -> SearchPage:
        board, platform = self._board(search)
        found = _listing(page, board, search.today)
        if isinstance(found, str):
            return SearchPage(trouble=found)
        if not found.rows and not found.proof:
            return SearchPage(trouble=f"an empty list of {board.platform} proves nothing")
        offers = tuple(bounded(Offer(each)) for each in found.postings)
        made = SearchPage(offers, found.rows, total=found.total)
        return _continued(made, found, platform, place_of(cursor, ""))

    def detail_call(self, offer: Offer, env: Mapping[str, str]) -> Call | None:
        if offer.posting.description:
            return None  # most lists say everything
        board = recognise(offer.posting.url or "")
        platform = platform_named(board.platform) if board else None
        call = detail_call(board, offer.posting) if board else None
        return with_auth(call, platform, env) if call and platform else None

    def read_detail(self, offer: Offer, page: Page) -> Offer:
        board = recognise(offer.posting.url or "")
        found = _listing(page, board, offer.day or date(2100, 1, 1)) if board else "it is on no known board"
        if isinstance(found, str) or len(found.postings) != 1:
            why = found if isinstance(found, str) else f"it has {len(found.postings):,} postings"
            raise Malformed(f"the detail of an offer cannot be read: {why}")
        if found.postings[0].key and offer.posting.key not in (None, found.postings[0].key):
            raise Malformed("this is the detail of another offer")
        return bounded(replace(offer, posting=_completed(offer.posting, found.postings[0])))

    def _board(self, search: Search) -> tuple[Board, Platform]:
        said = wanted(self.checked(search).get("board"), self.name, "board", HELP)
        platform, _, token = said.partition(":")
        board = recognise(said) if "/" in said or "." in platform else board_named(platform, token)
        known = platform_named(board.platform) if board else None
        if board is None or known is None:
            raise ConfigError(
                f"{said!r} is not a board of a known platform; write greenhouse:acme or its address"
            )
        return board, known


def board_client() -> BoardClient:
    return BoardClient(
        "board",
        "Board of a hiring platform",
        reach=Reach(whole=True),
        parameters={"board": HELP},
        has_details=True,
    )


def _listing(page: Page, board: Board, today: date) -> Listing | str:
    """The postings of an answer, or why it cannot be read."""
    if page.status >= REFUSED:
        return f"the answer has the status {page.status}"
    body: Body = read_body(page, replay=False)
    if body.error:
        return body.error[:200]
    if body.format is Format.HTML:
        return "a page for people came instead of data"
    root = body.root if body.format is Format.XML else None
    return (
        read_answer(body.data, today=today, board=board, xml_root=root)
        or f"the answer is not as {board.platform} answers"
    )


def _continued(made: SearchPage, found: Listing, platform: Platform, place: ListPlace) -> SearchPage:
    keys = [key_of(each) for each in made.offers]
    seen, paging = place.rows + found.rows, platform.paging
    total = found.total if found.total is not None and found.total >= seen else None
    missing = f"it says that there are {total:,}, and shows {seen:,}" if total and total > seen else None
    if place.pages and keys and place.repeats(keys):
        return replace(made, offers=(), trouble=f"page {place.pages + 1} repeats the rows of an earlier one")
    if paging.cap is not None and seen >= paging.cap:
        return replace(made, capped=f"it shows {paging.cap:,} rows at most")
    if paging.kind == "none":
        return replace(made, capped=missing)
    # Rows are counted as the source counts them: what was merged stood there as well.
    after = replace(place.after(keys, found.next or ""), rows=seen)
    if paging.kind == "next":
        return replace(made, next=str(after)) if found.next else replace(made, capped=missing)
    if not found.rows:
        return replace(
            made, trouble=f"page {place.pages + 1} is empty, although {missing}" if missing else None
        )
    last = total <= seen if total is not None else found.rows < (paging.size or 1)
    return replace(made, next=None if last else str(after))


def _completed(posting: Posting, found: Posting) -> Posting:
    names = (
        "company",
        "location",
        "url",
        "posted_date",
        "employment_type",
        "salary",
        "description",
        "remote",
    )
    return replace(posting, **{name: getattr(posting, name) or getattr(found, name) for name in names})
