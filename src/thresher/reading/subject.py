"""The subject of a page, before anything of it is read: does it speak of openings, and should it list
them?
"""

from thresher.reading.document import Document
from thresher.reading.words import vocabulary, words


def is_about_openings(document: Document) -> bool:
    """Whether the address or the title of a page speaks of openings."""
    address = document.url.partition("://")[2].lower()
    return any(piece in address for piece in vocabulary("employment")["pieces"]) or words("employment").names(
        document.title
    )


def should_list(document: Document) -> bool:
    """Whether this is the page on which a company lists its openings: by the end of its address, or by its
    headline.
    """
    last = document.url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0].lower()
    headline = document.root.css_first("h1")
    return last in vocabulary("careers")["address"] or bool(
        headline and words("careers").is_one(headline.line)
    )
