"""The postings of a page, from whatever of it can be trusted most.

In this order: the answer of a platform; what the page declares (JSON-LD, microdata); a platform's own rows;
what the page embeds for its script; the rows it shows; and for a page about one opening, its headline and
labels. What is embedded counts only if the page also shows some of it, because scripts carry all sorts of
lists.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import islice

import ada_url

from thresher.reading.html.blocks import read
from thresher.reading.html.document import Document
from thresher.reading.html.labels import MIN_LENGTH, agrees, headline_of, labelled
from thresher.reading.html.parser import Node, Selector, first_selected, written_selector
from thresher.reading.lists.rows import read_rows
from thresher.reading.platforms.answers import read_answer
from thresher.reading.platforms.boards import Board, key_in, recognise
from thresher.reading.platforms.platform import Platform, platforms
from thresher.reading.postings.openings import COMPANY_PAGE, fields_of, is_about_openings, read_cards
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import schema_posting
from thresher.reading.text.plain import render
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

# A page about one opening that declares nothing for machines: what its headline, labels and names of
# elements say.

ENOUGH = 2  # labels or named elements that only openings have together
MAX_LINKS = 1_000
MAX_NAMED = 100
MAX_NAME = 100
FOLLOWING = 3  # lines under the headline
MIN_DESCRIPTION = 200  # characters
NEARLY_ALL = (
    0.8  # of a description: an element inside it that holds as much is it, without the headings around it
)
_FIELDS = ("company", "location", "posted", "employment_type", "salary")
_CHROME = "nav, header, footer, [role=navigation], [role=contentinfo]"
_SEPARATOR = re.compile(r"\s+[-|·•»–—]\s+|\s*\|\s*|\s+(?:at|in|bei|à|en|chez)\s+")
_NOT_A_LETTER = re.compile(r"[\W_]+")


def read_single(document: Document, *, today: date) -> Listing | None:
    """The one opening of a page; None where too little says that it is about one."""
    if not is_about_openings(document):
        return None
    headline, said = headline_of(document), labelled(document)
    title = _title(headline, said, document)
    beside = _beside(headline) if headline is not None and headline.tag == "h1" else {}
    said = {**_linked(document), **_repeated(headline, document), **beside, **said}
    if title is None or sum(name in said for name in _FIELDS) < ENOUGH:
        return None
    posting = Posting(
        title=title,
        company=said.get("company"),
        location=said.get("location"),
        url=document.url or None,
        posted_date=posted_on(said.get("posted"), today),
        employment_type=said.get("employment_type"),
        salary=salary_of(said.get("salary")),
        description=_description(document),
        where=headline.path if headline is not None else "title",
    )
    return Listing((posting,), "the headline and labels of the page", rows=1, single=True)


def _title(headline: Node | None, said: dict[str, str], document: Document) -> str | None:
    """The headline; but a label that the page's title repeats names the opening better than a headline that
    it does not.
    """
    labelled_title = said.get("title")
    if (
        labelled_title
        and agrees(labelled_title, document)
        and not (headline is not None and agrees(headline.line, document))
    ):
        return labelled_title
    return headline.line if headline is not None else labelled_title


def _repeated(headline: Node | None, document: Document) -> dict[str, str]:
    """Company and place: lines right under the headline that the page's title repeats behind it, in this
    order.
    """
    if headline is None:
        return {}
    behind = plain(document.title).partition(plain(headline.line))[2]
    lines = list(islice(_following(headline), FOLLOWING))
    company = next((line for line in lines[:2] if _repeats(line, behind)), None)
    if company is None:
        return {}
    rest = behind.partition(plain(company))[2]
    place = next((line for line in lines[lines.index(company) + 1 :] if _starts_part(line, rest)), None)
    return {"company": company, **({"location": place} if place else {})}


def _following(headline: Node) -> Iterator[str]:
    node = headline.next
    while node is not None:
        if node.line:
            yield node.line
        node = node.next


def _repeats(line: str, behind: str) -> bool:
    """Whether a title holds a line: a short one (HP) only as a part of its own."""
    said = plain(line)
    return bool(said) and (said in _parts(behind) or (len(said) >= MIN_LENGTH and said in behind))


def _starts_part(line: str, behind: str) -> bool:
    """Whether a part of the title begins as the line does, up to its comma: a title writes "Leeds, UK" where
    the line has all of it.
    """
    town = next((piece for each in plain(line).split(",") if (piece := each.strip(" ,"))), "")
    return (
        len(line) <= MAX_NAME
        and len(town) > 2
        and any(part.lstrip(" ,").startswith(town) for part in _parts(behind))
    )


def _parts(title: str) -> list[str]:
    return [part.strip() for part in _SEPARATOR.split(title) if part and part.strip()]


def _linked(document: Document) -> dict[str, str]:
    """The company: what links to the page of one company say, where that page's address says it too. Of
    several, none.
    """
    found: dict[str, str] = {}
    chrome = set(document.root.css(_CHROME))
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        url, text = (node.attribute("href") or "").partition("?")[0], node.line
        if len(text) > MAX_NAME or not COMPANY_PAGE.search(url) or not _names(url, text):
            continue
        if chrome.isdisjoint(islice(node.ancestors, 20)):
            found.setdefault(plain(text), text)
    return {"company": next(iter(found.values()))} if len(found) == 1 else {}


def _names(url: str, text: str) -> bool:
    """Whether the end of an address is the text: `/company/acme_ladders.html` is that of Acme Ladders,
    `/company/about` of nobody.
    """
    said, last = _squeezed(text), _squeezed(url.rstrip("/").rpartition("/")[2])
    if len(said) < 2 or plain(text) in vocabulary("fields")["site_pages"] or words("button").is_one(text):
        return False
    return last.startswith(said) or (len(last) > 2 and said.startswith(last))


def _squeezed(text: str) -> str:
    return _NOT_A_LETTER.sub("", plain(text))


def _description(document: Document) -> str | None:
    """The text of the element that is named as the description; None where none is, for a whole page
    describes its menu too.
    """
    named = [
        node
        for node in document.root.select_by(_described())[:MAX_NAMED]
        if len(node.line) >= MIN_DESCRIPTION
    ]
    best = max(named, key=lambda node: len(node.line), default=None)
    if best is None:
        return None
    inner = [node for node in named if len(node.line) >= NEARLY_ALL * len(best.line)]
    return render(read(min(inner, key=lambda node: len(node.line))).blocks).strip() or None


@cache
def _described() -> Selector:
    """A selector for elements whose names speak of a description."""
    names, attributes = (
        vocabulary("fields")["description_hints"],
        ("class", "id", "itemprop", "data-testid", "data-automation", "data-automation-id"),
    )
    return written_selector(
        ", ".join(f'body [{attribute}*="{name}" i]' for name in names for attribute in attributes)
    )


def _beside(headline: Node) -> dict[str, str]:
    """What the elements around the headline are named and say: the block that holds it, and the one around
    that.
    """
    said: dict[str, str] = {}
    for block in islice(headline.ancestors, 4):
        if block.tag in ("body", "main", "html"):
            break
        for name, text in fields_of(block).items():
            if headline.line not in text:
                said.setdefault(name, text)
    return said


MIN_LISTED = 5  # rows: fewer may be what a page about one opening recommends beside it
ENOUGH_SEEN = 3
MAX_PART = 5  # one row in five, if fewer than ENOUGH_SEEN
MAX_ROWS = 2_000


def read_postings(document: Document, facts: Facts, board: Board | None, *, today: date) -> Listing | None:
    """The postings of an HTML page; None where it shows none."""
    declared = _declared(document, facts, today)
    if declared is not None and len(declared.postings) == 1:
        return declared
    found = [
        each
        for each in (
            declared,
            _platform_rows(document, board, today),
            *_embedded(document, facts, board, today),
        )
        if each
    ]
    shown = read_cards(facts, today=today)
    if shown is not None:
        found.append(shown)
    best = max(found, key=lambda each: len(each.postings)) if found else None
    if best is None or len(best.postings) < MIN_LISTED or _is_elsewhere(best, document):
        return read_single(document, today=today) or best
    return _enriched(best, found)


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


def _embedded(document: Document, facts: Facts, board: Board | None, today: date) -> Iterator[Listing]:
    text: str | None = None
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
            if _is_seen(listing, text):
                yield listing


def _is_seen(listing: Listing, text: str) -> bool:
    seen = sum(plain(posting.title) in text for posting in listing.postings)
    return seen >= ENOUGH_SEEN or seen * MAX_PART >= len(listing.postings)
