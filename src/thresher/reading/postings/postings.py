"""The postings of a page, from whatever of it can be trusted most.

In this order: the answer of a platform; what the page declares (JSON-LD, microdata); a platform's own rows;
what the page embeds for its script; the rows it shows; and for a page about one opening, its headline and
labels. What is embedded counts only if the page also shows some of it, because scripts carry all sorts of
lists.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

import ada_url

from thresher.reading.html.document import Document
from thresher.reading.html.labels import headline_of
from thresher.reading.html.parser import Node, first_selected, written_selector
from thresher.reading.lists.rows import read_rows
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board, key_in, recognise
from thresher.reading.platforms.platform import Platform, platforms
from thresher.reading.postings.openings import is_about_openings, read_lists, should_list
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.postings.single import read_single
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import schema_posting
from thresher.reading.text.vocabulary import plain
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

MIN_LISTED = 5  # rows: fewer may be what a page about one opening recommends beside it
ENOUGH_SEEN = 3
MAIN = 0.7  # of a list's share: half of the page's text
MAX_PART = 5  # one row in five, if fewer than ENOUGH_SEEN
MAX_ROWS = 2_000
LINKED = 4  # times a row without a link
TOLD = 3  # times a row that tells neither company nor place


def read_postings(document: Document, facts: Facts, board: Board | None, *, today: date) -> Listing | None:
    """The postings of an HTML page; None where it shows none."""
    declared = _declared(document, facts, today)
    shown = read_lists(facts, today=today)
    if declared is not None and len(declared.postings) == 1:
        return _with_declared(declared, shown)
    found = [
        each
        for each in (
            declared,
            _platform_rows(document, board, today),
            *_embedded(document, facts, board, today, shown),
            shown,
        )
        if each
    ]
    best = max(found, key=_weight) if found else None
    if best is None or len(best.postings) < MIN_LISTED or _is_elsewhere(best, document):
        return read_single(document, facts, today=today) or best
    if best is shown and (single := read_single(document, facts, today=today, certain=True)):
        return single
    return _enriched(best, found)


def _weight(listing: Listing) -> int:
    """Rows that lead to their pages count for more, since what a script carries without links is often half
    of a list that the page links; so do rows that tell whose opening it is or where, since bare links may be
    a menu of searches (`Jobs in Leeds`).
    """
    return sum(
        (LINKED if posting.url else 1) * (TOLD if posting.company or posting.location else 1)
        for posting in listing.postings
    )


def _with_declared(declared: Listing, shown: Listing | None) -> Listing:
    """One declared opening; on a page that mostly shows rows, the rows with what it declares of one of
    them.
    """
    if shown is None or len(shown.postings) < MIN_LISTED or shown.share < MAIN:
        return declared
    one = declared.postings[0]
    names = {plain(posting.title) for posting in shown.postings}
    rows = shown.postings if plain(one.title) in names else (one, *shown.postings)
    return _enriched(replace(shown, postings=rows), [declared])


def _is_elsewhere(listing: Listing, document: Document) -> bool:
    """Whether all the rows are what the page itself is about: one opening that is offered in other towns as
    well.
    """
    titles = {plain(posting.title) for posting in listing.postings}
    headline = headline_of(document) if len(titles) == 1 else None
    return headline is not None and plain(headline.line) in titles


def _enriched(best: Listing, found: list[Listing]) -> Listing:
    """The rows of the page say little; where its script carries the same openings, they lend what is
    missing.
    """
    others = [posting for listing in found if listing is not best for posting in listing.postings]
    named = {plain(posting.title): posting for posting in others}
    count = Counter(plain(posting.title) for posting in (*others, *best.postings))
    # Two openings of one title would lend to each other what is not theirs.
    postings = tuple(
        _lent(each, named.get(plain(each.title)) if count[plain(each.title)] == 2 else None)
        for each in best.postings
    )
    return replace(best, postings=postings)


def _lent(posting: Posting, other: Posting | None) -> Posting:
    if other is None:
        return posting
    names = ("company", "location", "posted_date", "employment_type", "salary", "description")
    return replace(posting, **{name: getattr(posting, name) or getattr(other, name) for name in names})


def _declared(document: Document, facts: Facts, today: date) -> Listing | None:
    found = [
        posting
        for thing in facts.structured.of("JobPosting")
        if (
            posting := schema_posting(
                thing.properties, today=today, url=document.url or None, where=thing.path
            )
        )
    ]
    postings = merged(found)
    return (
        Listing(postings, "what the page declares", rows=len(found), single=len(postings) == 1)
        if postings
        else None
    )


def _platform_rows(document: Document, board: Board | None, today: date) -> Listing | None:
    """Rows by the selectors of a platform's file: of the page's platform, or of any whose selectors fit."""
    for platform in platforms():
        for selectors in platform.cards:
            if board is not None and board.platform != platform.name:
                continue
            rows = document.root.select_by(written_selector(selectors["rows"][0]))[:MAX_ROWS]
            postings = [
                posting
                for row in rows
                if (posting := _by_selectors(document, row, selectors, today, platform))
            ]
            if postings:
                at = next((found for each in postings if each.url and (found := recognise(each.url))), None)
                return Listing(
                    merged(postings),
                    f"the rows of {platform.name}",
                    rows=len(rows),
                    platform=platform.name,
                    board=at,
                )
    return None


def _absolute(document: Document, link: str, platform: Platform) -> str:
    """A link written whole. In a saved page without an address, the host that all boards of a platform share
    will do.
    """
    host = (platform.home or "").partition("{")[0]
    return document.absolute(link) or (
        ada_url.join_url(host, link) if host.count("/") > 2 and not document.url else link
    )


def _by_selectors(
    document: Document, row: Node, selectors: Mapping[str, Sequence[str]], today: date, platform: Platform
) -> Posting | None:
    said = {name: first_selected(row, choices) for name, choices in selectors.items() if name != "rows"}
    title = said.get("title")
    if not title:
        return None
    link = said.get("url")
    return Posting(
        title=title,
        company=said.get("company"),
        location=said.get("location"),
        url=_absolute(document, link, platform) if link else None,
        posted_date=posted_on(said.get("posted"), today, day_first=platform.day_first),
        employment_type=said.get("employment_type"),
        salary=salary_of(said.get("salary")),
        description=said.get("description"),
        key=said.get("id") or key_in(platform, link and _absolute(document, link, platform)),
        where=row.path,
    )


def _embedded(
    document: Document, facts: Facts, board: Board | None, today: date, shown: Listing | None
) -> Iterator[Listing]:
    """Rows that a script carries. They count if the page also shows some of them, or if it is about openings
    and shows none: then the script draws the list.
    """
    text: str | None = None
    undrawn = (shown is None or len(shown.postings) < MIN_LISTED) and (
        is_about_openings(document) or should_list(document)
    )
    for each in facts.embedded:
        value, where = each.value, each.name
        listing = read_answer(value, today=today, board=board) or read_answer(value, today=today)
        if listing and listing.postings:
            yield listing
            continue
        listing = read_rows(
            value, today=today, source=f"the script of the page, {where}", url=document.base_url
        )
        if listing and listing.postings:
            text = plain((document.root.css_first("body") or document.root).line) if text is None else text
            if _is_seen(listing, text) or (undrawn and _is_whole(listing)):
                yield listing


def _is_whole(listing: Listing) -> bool:
    """Whether rows that nobody sees are surely openings: each with its page, nearly all with company and
    place.
    """
    sure = sum(bool(each.url and each.company and each.location) for each in listing.postings)
    return len(listing.postings) >= ENOUGH_SEEN and sure * 10 >= 8 * len(listing.postings)


def _is_seen(listing: Listing, text: str) -> bool:
    seen = sum(plain(posting.title) in text for posting in listing.postings)
    return seen >= ENOUGH_SEEN or seen * MAX_PART >= len(listing.postings)
