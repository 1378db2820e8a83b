"""Inspect a response for programs: JSON and XML, from platforms, feeds and others."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from thresher.core.page import Look, Verdict
from thresher.reading.inspect.body import Body, Format
from thresher.reading.inspect.company import CompanyOnPage
from thresher.reading.inspect.report import MAX_TEXT, Inspection, PageKind, board_of
from thresher.reading.lists.rows import read_rows
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.postings.priced_rows import ROOT, products_in
from thresher.reading.structured.jsonld import things_in
from thresher.reading.structured.schema_org import Product, schema_posting
from thresher.reading.text.language import language
from thresher.reading.verdict.verdict import VerdictInput, judge
from thresher.reading.verdict.wall import wall

ENOUGH_PROSE = 200  # characters
REFUSED = 400  # statuses from here on say more than the body


def inspect_data(body: Body, today: date) -> Inspection:
    page, data = body.page, body.data
    board = recognise(page.url)
    listing = None if body.error else _listing(body, board, today)
    products = () if body.error or (listing and listing.postings) else tuple(products_in(data))
    if products:
        listing = None  # a list of things with prices is no empty list of openings
    seen = VerdictInput(
        status=page.status,
        wall=wall(page.status, page.headers, body.text),
        listing=listing,
        products=len(products),
        characters=len(body.text),
        lists=body.error is None and board is not None,
    )
    look = (
        Look(Verdict.UNKNOWN, body.error)
        if body.error and page.status < REFUSED and not seen.wall
        else judge(seen)
    )
    if listing is None and not products and look.verdict is Verdict.FOUND:
        look = Look(
            Verdict.UNKNOWN, "the data was read, but nothing in it was recognised as postings or products"
        )
    platform = listing.platform if listing else None
    postings = listing.postings if listing and look.verdict is Verdict.FOUND else ()
    return Inspection(
        source=page.url,
        status=page.status,
        look=look,
        kind=PageKind.WALL if seen.wall else _kind_of_data(body, listing, platform, products),
        title=_title(data),
        language=_language(postings),
        board=board or board_of(listing, page.url),
        company=_company_of(postings),
        postings=postings,
        products=products if look.verdict is Verdict.FOUND else (),
        next=listing.next if listing else None,
        markdown=body.text[:MAX_TEXT],
        text=body.text[:MAX_TEXT],
        timings=page.timings,
    )


def _listing(body: Body, board: Board | None, today: date) -> Listing | None:
    root = body.root if body.format is Format.XML else None
    listing = read_answer(body.data, today=today, board=board, xml_root=root) or read_answer(
        body.data, today=today, xml_root=root
    )
    if listing is not None:
        return listing
    declared = merged(
        posting
        for thing in things_in(body.data)
        if "JobPosting" in thing.types
        and (posting := schema_posting(thing.properties, today=today, url=None, where=thing.path))
    )
    if declared:
        return Listing(declared, "what the data declares", rows=len(declared), single=len(declared) == 1)
    return read_rows(
        body.data, today=today, source="the feed" if body.is_feed else "the answer", url=body.page.url
    )


def _kind_of_data(
    body: Body, listing: Listing | None, platform: str | None, products: tuple[Product, ...]
) -> PageKind:
    if body.is_feed:
        return PageKind.FEED
    if (listing is not None and listing.single) or (products and products[0].where == ROOT):
        return PageKind.DETAIL
    if platform is not None:
        return PageKind.BOARD
    return PageKind.LISTING if listing is not None or products else PageKind.OTHER


def _title(data: Any) -> str:
    inner = data.get("channel", data) if isinstance(data, Mapping) else None
    title = inner.get("title") if isinstance(inner, Mapping) else None
    return title if isinstance(title, str) else ""


def _language(postings: tuple[Posting, ...]) -> str | None:
    """The language of the first descriptions; titles and places alone are too little to tell."""
    sample = " ".join(posting.description or "" for posting in postings[:5])
    return language(sample).code if len(sample) >= ENOUGH_PROSE else None


def _company_of(postings: tuple[Posting, ...]) -> CompanyOnPage:
    names = {posting.company for posting in postings}
    return CompanyOnPage(name=names.pop() if len(names) == 1 else None)
