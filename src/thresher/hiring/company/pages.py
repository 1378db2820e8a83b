"""Which pages of a site speak of the company (those its own links name, else the few usual addresses), and
where they say that its openings are.

A request that was not needed is impolite. So nothing is guessed that the home page names, and of several
guesses the first that answers ends the search.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import ada_url

from thresher.hiring.company.dossier import DossierPage
from thresher.hiring.company.phrases import phrases, phrases_of
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.inspect.company import careers_url
from thresher.reading.platforms.boards import Board, fingerprint, is_partial, recognise
from thresher.reading.platforms.definition import Confidence
from thresher.reading.platforms.platform import platform_named
from thresher.reading.text.vocabulary import plain, words
from thresher.reading.values.addresses import registered_domain
from thresher.reading.verdict.emptiness import shell

HOME, ABOUT, CAREERS = "home", "about", "careers"
TOPICS = (ABOUT, "culture", "mission")
MAX_LINKS = 2_000
MAX_LINK = 40
# Where sites keep these pages when no link says so.
GUESSES = {ABOUT: ("about", "about-us", "company"), CAREERS: ("careers", "jobs")}
# In which order pages are put together: what is said of the company itself first.
ORDER = (ABOUT, HOME, "mission", "culture", CAREERS)


def named(document: Document) -> dict[str, str]:
    """The pages that a page's own links name, by what they are for. Openings may be on another host, all
    others may not.
    """
    found: dict[str, tuple[float, str]] = {}
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        url = document.absolute(node.attribute("href") or "")
        if url and _is_other_page(url, document.url) and _site(url) == _site(document.url):
            for topic in TOPICS:
                score = _score(node, url, topic)
                if score > found.get(topic, (0.0, ""))[0]:
                    found[topic] = (score, url)
    pages = {topic: url for topic, (_, url) in found.items()}
    if careers := careers_url(document):
        pages[CAREERS] = careers
    return pages


def guesses(website: str, role: str) -> tuple[str, ...]:
    """The usual addresses of a page of this role."""
    return tuple(ada_url.join_url(website, f"/{path}") for path in GUESSES.get(role, ()))


def candidates(website: str, names: dict[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each role the addresses to try, in order. A board needs no visit: its address says what it is."""
    for role in (ABOUT, CAREERS, "culture", "mission"):
        if role in names:
            if not recognise(names[role]):
                yield role, (names[role],)
        elif role in GUESSES:
            yield role, guesses(website, role)


def _score(node: Node, url: str, topic: str) -> float:
    """How much a link speaks of a topic: by its words, and by the last part of its address."""
    said = plain(node.line or node.attribute("aria-label") or node.attribute("title") or "")
    segments = [segment for segment in urlsplit(url).path.lower().split("/") if segment]
    score = 0.0
    if phrases_of(topic, "heading").is_one(said) or (
        topic == ABOUT and said.startswith("about ") and len(said) <= MAX_LINK
    ):
        score += 2.0
    if topic != "mission" and segments and segments[-1].partition(".")[0] in phrases(topic, "path"):
        score += 1.5 / len(segments)
    return score if not phrases_of("not").names(said) else 0.0


def _site(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return registered_domain(host) or host.removeprefix("www.")


def _is_other_page(url: str, here: str) -> bool:
    return _bare(url) != _bare(here)


def _bare(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query


# Where a company's openings are, as its own pages show it, and how sure that is.

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
        return Openings(board.url, _confidence(board), page, board, careers)
    for leaf in ordered:
        if leaf.role == CAREERS and (feed := _feed(leaf.document)):
            return Openings(feed, Confidence.HIGH, leaf.document.url, None, careers)
    read = next((leaf.document for leaf in ordered if leaf.role == CAREERS), None)
    own = read.url if read else careers
    unread = read is None or bool(shell(read))
    return Openings(own, Confidence.LOW if own else None, own, None, careers or own, unread)


def _confidence(board: Board) -> Confidence:
    """How sure a board is by its address alone. One whose list cannot be asked for by it is not certain."""
    platform = platform_named(board.platform)
    known = platform.confidence if platform else Confidence.LOW
    return Confidence.MEDIUM if known is Confidence.HIGH and is_partial(board) else known


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
