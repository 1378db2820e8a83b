"""A page about one opening that declares nothing for machines: what its headline, labels and names of
elements say.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import islice

from thresher.reading.html.blocks import read
from thresher.reading.html.document import Document
from thresher.reading.html.labels import MIN_LENGTH, agrees, headline_of, labelled
from thresher.reading.html.parser import Node, Selector
from thresher.reading.html.selectors import written_selector
from thresher.reading.postings.openings import COMPANY_PAGE, fields_of, is_about_openings
from thresher.reading.postings.posting import Listing, Posting
from thresher.reading.text.plain import render
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

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
