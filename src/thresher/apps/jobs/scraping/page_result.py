"""What one page of a board's list shows: its rows, its total, the next page, and whether it can be trusted.
Pure.

A board on a platform answers in one of the shapes that the platform's file describes. A company's own pages
and feeds are read like any page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from thresher.core.page import Look, Page, Verdict
from thresher.reading.inspect.body import Body, Format, read_body
from thresher.reading.inspect.datasheet import inspect_data
from thresher.reading.inspect.report import Inspection, PageKind
from thresher.reading.inspect.webpage import inspect_html
from thresher.reading.lists.pagination import pagination
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board
from thresher.reading.platforms.calls import facets_of
from thresher.reading.platforms.platform import Paging, platform_named
from thresher.reading.postings.posting import Listing
from thresher.reading.verdict.verdict import VerdictInput, judge


@dataclass(frozen=True, slots=True)
class PageResult:
    """A page, read. `doubt` is why it may not lead to all the others; `is_page`: it was made for people, and
    leads on by links.

    `is_list`: it is certainly a page of the list, be it without rows. Of a first page that alone is no proof
    of anything. `of_pages` is how many pages it speaks of.
    """

    listing: Listing
    look: Look
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    doubt: str | None = None
    is_page: bool = False
    is_list: bool = False
    of_pages: int | None = None

    def paging(self, board: Board) -> Paging:
        """How the list goes on: by the links of the page, where it has any; else as the platform counts."""
        platform = platform_named(board.platform)
        known = platform.paging if platform else Paging("next")
        by_links = self.is_page and (self.listing.next or known.kind == "none")
        return Paging("next") if by_links else known


def read_sight(page: Page, board: Board, today: date) -> PageResult:
    """Read one page of a board's list. Never raises for what the page holds."""
    body = read_body(page)
    if body.format is Format.HTML:
        return _of_html(body, board, today)
    return _of_platform(body, board, today) if platform_named(board.platform) else _of_data(body, today)


def _of_platform(body: Body, board: Board, today: date) -> PageResult:
    root = body.root if body.format is Format.XML else None
    if body.error:
        return PageResult(_nothing(), Look(Verdict.UNKNOWN, body.error))
    listing = _bare(body, board) or read_answer(body.data, today=today, board=board, xml_root=root)
    if listing is None or listing.single:
        return PageResult(
            _nothing(),
            Look(
                Verdict.UNKNOWN,
                f"the response is not a list as the file of {board.platform} describes it",
            ),
        )
    look = judge(VerdictInput(listing=listing, characters=len(body.text), lists=True))
    return PageResult(listing, look, facets_of(board, body.data), is_list=True)


def _bare(body: Body, board: Board) -> Listing | None:
    """A list without anything around it, and nothing in it. It has no shape, so only who asked for it knows
    what it is.
    """
    platform = platform_named(board.platform)
    if platform is None or body.data != [] or not any(answer.rows == "[]" for answer in platform.answers):
        return None
    return Listing(
        (), f"the answer of {platform.name}", platform=platform.name, proof=platform.empty_is_proof
    )


def _of_data(body: Body, today: date) -> PageResult:
    seen = inspect_data(body, today)
    look = _honest(seen)
    newest = "a feed shows the newest rows only" if body.is_feed else None
    return PageResult(_listing(seen, None), look, doubt=newest, is_list=look.verdict.is_proof)


def _of_html(body: Body, board: Board, today: date) -> PageResult:
    seen = inspect_html(body, today)
    paging = pagination(body.document)
    others = [url for url in paging.disagreements if url != paging.next]
    look, doubt = _honest(seen), _doubt(seen, others, paging.more, paging.infinite)
    pages = paging.last_number if paging else _alone(seen, board)
    return PageResult(
        _listing(seen, paging.total),
        look,
        doubt=doubt,
        is_page=True,
        is_list=look.verdict.is_proof,
        of_pages=pages,
    )


def _alone(seen: Inspection, board: Board) -> int | None:
    """1 for a page that shows no way to others and is not full, so that it needs none."""
    platform = platform_named(board.platform)
    size = platform.paging.size if platform else None
    return 1 if size is not None and len(seen.postings) < size else None


def _doubt(seen: Inspection, others: list[str], more: str | None, infinite: bool) -> str | None:
    """What on a page speaks against its being one of a plain row of pages."""
    if seen.kind is PageKind.DETAIL:
        return "the page is one posting, not a list"
    if others:
        return f"another next-link leads to {others[0]}"
    if not seen.next and more:
        return f'the page has more behind a button ("{more}")'
    return "the page loads more when it is scrolled" if infinite and not seen.next else None


def _listing(seen: Inspection, total: int | None) -> Listing:
    return Listing(seen.postings, "the page", rows=len(seen.postings), total=total, next=seen.next)


def _honest(seen: Inspection) -> Look:
    """A page of text, or of products, was read well and is no list of openings all the same."""
    if seen.look.verdict is Verdict.FOUND and not seen.postings:
        return Look(
            Verdict.UNKNOWN,
            "the page lists no openings that could be recognised, and does not say that there are none",
        )
    return seen.look


def _nothing() -> Listing:
    return Listing((), "the answer", proof=False)
