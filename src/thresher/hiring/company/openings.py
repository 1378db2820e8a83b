"""Where a company's openings are, as its own pages show it, and how sure that is.

    high      a board of a platform that answers by an API, or a feed of openings
    medium    a board of a platform that needs testing
    low       a page of the company's own that speaks of openings, and nothing more

Only the first goes on by itself; the others wait for a person.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thresher.hiring.company.dossier import DossierPage
from thresher.hiring.company.pages import CAREERS
from thresher.reading.html.document import Document
from thresher.reading.inspect.company import careers_url
from thresher.reading.platforms.boards import Board, fingerprint, recognise
from thresher.reading.platforms.definition import Confidence
from thresher.reading.platforms.platform import platform_named
from thresher.reading.text.vocabulary import words
from thresher.reading.verdict.emptiness import shell

MAX_FEEDS = 20
_FEEDS = "link[rel~=alternate][type='application/rss+xml'][href], link[rel~=alternate][type='application/atom+xml'][href]"


@dataclass(frozen=True, slots=True)
class Openings:
    """`url` is where the openings are; `page` the company's page that says so. `board` is None for a feed and
    for a page of its own.

    `unread`: nobody saw what that page shows, because it did not come or is an empty shell.
    """

    url: str | None = None
    confidence: Confidence | None = None
    page: str | None = None
    board: Board | None = None
    careers_url: str | None = None
    unread: bool = False


def openings(leaves: Sequence[DossierPage], careers: str | None = None) -> Openings:
    """What the pages show, those about careers first. `careers` is the address of the careers page, where one
    is known.
    """
    ordered = sorted(leaves, key=lambda leaf: leaf.role != CAREERS)
    careers = careers or next((url for leaf in ordered if (url := careers_url(leaf.document))), None)
    for board, page in _boards(ordered, careers):
        platform = platform_named(board.platform)
        return Openings(board.url, platform.confidence if platform else Confidence.LOW, page, board, careers)
    for leaf in ordered:
        if leaf.role == CAREERS and (feed := _feed(leaf.document)):
            return Openings(feed, Confidence.HIGH, leaf.document.url, None, careers)
    read = next((leaf.document for leaf in ordered if leaf.role == CAREERS), None)
    own = read.url if read else careers
    unread = read is None or bool(shell(read))
    return Openings(own, Confidence.LOW if own else None, own, None, careers or own, unread)


def _boards(leaves: Sequence[DossierPage], careers: str | None) -> Iterator[tuple[Board, str]]:
    if careers and (board := recognise(careers)):
        yield board, leaves[-1].document.url if leaves else careers
    for leaf in leaves:
        if board := fingerprint(leaf.document):
            yield board, leaf.document.url


def _feed(document: Document) -> str | None:
    """A feed of the careers page that speaks of openings itself: a blog has a feed on every page."""
    for node in document.root.css(_FEEDS)[:MAX_FEEDS]:
        url = document.absolute(node.attribute("href") or "")
        title = node.attribute("title") or ""
        said = f"{title} {url}".replace("/", " ").replace("-", " ").replace(".", " ")
        if url and "comment" not in said.lower() and words("careers").names(said):
            return url
    return None
