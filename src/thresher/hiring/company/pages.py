"""Which pages of a site speak of the company: those its own links name, and where they name none, the few
usual addresses.

A request that was not needed is impolite. So nothing is guessed that the home page names, and of several
guesses the first that answers ends the search.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

import ada_url

from thresher.hiring.company.phrases import phrases, words
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.inspect.company import careers_url
from thresher.reading.platforms.boards import recognise
from thresher.reading.text.vocabulary import plain
from thresher.reading.values.addresses import registered_domain

HOME, ABOUT, CAREERS = "home", "about", "careers"
TOPICS = (ABOUT, "culture", "mission")
MAX_LINKS = 2_000
MAX_LINK = 40
# Where sites keep these pages when no link says so.
GUESSES = {ABOUT: ("about", "about-us", "company"), CAREERS: ("careers",)}
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
    if words(topic, "heading").is_one(said) or (
        topic == ABOUT and said.startswith("about ") and len(said) <= MAX_LINK
    ):
        score += 2.0
    if topic != "mission" and segments and segments[-1].partition(".")[0] in phrases(topic, "path"):
        score += 1.5 / len(segments)
    return score if not words("not").names(said) else 0.0


def _site(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return registered_domain(host) or host.removeprefix("www.")


def _is_other_page(url: str, here: str) -> bool:
    return _bare(url) != _bare(here)


def _bare(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/"), parts.query
