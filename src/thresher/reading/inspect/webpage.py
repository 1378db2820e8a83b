"""Inspect an HTML page, from a wall in front of it to the links that lead on."""

from dataclasses import replace
from datetime import date

from thresher.core.page import Look, Verdict
from thresher.reading.html.document import Document
from thresher.reading.inspect.body import Body
from thresher.reading.inspect.company import CompanyOnPage, read_company
from thresher.reading.inspect.report import MAX_TEXT, Inspection, PageKind, board_of, worth_following
from thresher.reading.lists.pagination import Pagination, pagination
from thresher.reading.platforms.boards import Board, fingerprint, recognise
from thresher.reading.postings.openings import should_list
from thresher.reading.postings.postings import read_postings
from thresher.reading.postings.products import declared_products, shared_product, shown_products, with_shown
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import Product
from thresher.reading.text.content import main_content
from thresher.reading.text.language import language
from thresher.reading.text.markdown import main_markdown
from thresher.reading.text.plain import full_text
from thresher.reading.verdict.emptiness import counts_rows, is_main, shell, statement
from thresher.reading.verdict.verdict import VerdictInput, judge
from thresher.reading.verdict.wall import wall


def inspect_html(body: Body, today: date) -> Inspection:
    page, document = body.page, body.document
    blocked = wall(page.status, page.headers, document.html)
    facts, said = Facts(document), statement(document)
    board = fingerprint(document)
    empty = said is not None and said.is_headline
    listing = None if blocked or empty else read_postings(document, facts, board, today=today)
    products = () if blocked or empty or (listing and listing.postings) else tuple(_products(facts))
    text, paging = full_text(document), pagination(document)
    lists = recognise(document.url) is not None or should_list(document)
    seen = VerdictInput(
        status=page.status,
        wall=blocked,
        shell=shell(document),
        listing=listing,
        products=len(products),
        statement=said,
        is_main=lists or (said is not None and is_main(said, document, len(text))),
        counted=bool(paging.total) or counts_rows(document, text),
        characters=len(text),
        lists=lists,
    )
    look = _with_doubts(judge(seen), paging)
    found = look.verdict is Verdict.FOUND
    things = [(thing.type, thing.properties) for thing in facts.structured.things]
    return Inspection(
        source=page.url,
        status=page.status,
        look=look,
        kind=_kind(document, look, seen, board, products),
        title=document.title,
        language=language(text, document.language_hint).code,
        board=board if board and board.token else board_of(listing, document.url) or board,
        company=CompanyOnPage() if blocked else read_company(document, things, facts.meta),
        postings=listing.postings if listing and found else (),
        products=products if found else (),
        lists=() if blocked else facts.lists,
        links=() if blocked else worth_following(facts),
        next=paging.next,
        pages=tuple(paging.pages),
        markdown=main_markdown(document)[:MAX_TEXT],
        text=text[:MAX_TEXT],
        timings=page.timings,
    )


def _with_doubts(look: Look, paging: Pagination) -> Look:
    """A page whose next-links contradict each other says so: whoever follows one of them may miss rows."""
    others = [url for url in paging.disagreements if url != paging.next]
    return replace(look, reason=f"{look.reason}; another next-link leads to {others[0]}") if others else look


def _products(facts: Facts) -> list[Product]:
    """What is for sale: declared, else told to those who share the page, else shown."""
    declared = declared_products((thing.path, thing.properties) for thing in facts.structured.of("Product"))
    if any(product.price for product in declared):
        return with_shown(declared, facts)
    shared = shared_product(facts.meta)
    return [shared] if shared and shared.price else shown_products(facts) or declared


def _kind(
    document: Document, look: Look, seen: VerdictInput, board: Board | None, products: tuple[Product, ...]
) -> PageKind:
    if seen.wall:
        return PageKind.WALL
    if seen.listing is not None and seen.listing.postings:
        return PageKind.DETAIL if seen.listing.single else PageKind.LISTING
    if products:
        return PageKind.DETAIL if len(products) == 1 else PageKind.LISTING
    if look.verdict is Verdict.CONFIRMED_EMPTY:
        return PageKind.LISTING
    if seen.shell:
        return PageKind.SHELL
    if board and recognise(document.url):
        return PageKind.BOARD
    if main_content(document).is_article:
        return PageKind.ARTICLE
    return PageKind.COMPANY if _is_company(document) else PageKind.OTHER


def _is_company(document: Document) -> bool:
    """A page of a company's own site: its front page, or one that says it is about the company."""
    is_front = document.url.count("/") <= 3 and document.root.css_first("a[href]") is not None
    return is_front or document.root.css_first("[itemtype*=Organization]") is not None
