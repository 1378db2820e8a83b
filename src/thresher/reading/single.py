"""A page about one opening that declares nothing for machines: what its headline, labels and names of elements say."""

from datetime import date
from itertools import islice

from thresher.reading.document import Document
from thresher.reading.headline import agrees, headline_of
from thresher.reading.html import Node
from thresher.reading.labels import labelled
from thresher.reading.listing import Listing
from thresher.reading.openings import fields_of
from thresher.reading.posted import posted_on
from thresher.reading.posting import Posting
from thresher.reading.salaries import salary_of
from thresher.reading.subject import is_about_openings
from thresher.reading.words import plain

ENOUGH = 2  # labels or named elements that only openings have together
_FIELDS = ("company", "location", "posted", "employment_type", "salary")


def read_single(document: Document, *, today: date) -> Listing | None:
    """The one opening of a page; None where too little says that it is about one."""
    if not is_about_openings(document):
        return None
    headline, said = headline_of(document), labelled(document)
    title = _title(headline, said, document)
    said = {**_repeated(headline, document), **(_beside(headline) if headline is not None and headline.tag == "h1" else {}), **said}
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
        where=headline.path if headline is not None else "title",
    )
    return Listing((posting,), "the headline and labels of the page", rows=1, single=True)


def _title(headline: Node | None, said: dict[str, str], document: Document) -> str | None:
    """The headline; but a label that the page's title repeats names the opening better than a headline that it does not."""
    labelled_title = said.get("title")
    if labelled_title and agrees(labelled_title, document) and not (headline is not None and agrees(headline.line, document)):
        return labelled_title
    return headline.line if headline is not None else labelled_title


def _repeated(headline: Node | None, document: Document) -> dict[str, str]:
    """The company: what stands right under the headline and is repeated in the page's title behind it."""
    following = headline.next if headline is not None else None
    for _ in range(2):
        if headline is None or following is None:
            break
        line, behind = following.line, plain(document.title).partition(plain(headline.line))[2]
        if agrees(line, document) and plain(line) in behind:
            return {"company": line}
        following = following.next
    return {}


def _beside(headline: Node) -> dict[str, str]:
    """What the elements around the headline are named and say: the block that holds it, and the one around that."""
    said: dict[str, str] = {}
    for block in islice(headline.ancestors, 4):
        if block.tag in ("body", "main", "html"):
            break
        for name, text in fields_of(block).items():
            if headline.line not in text:
                said.setdefault(name, text)
    return said
