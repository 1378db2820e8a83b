"""The company behind a page: its name, its site, what it says of itself, and where its openings are."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.platforms.boards import recognise
from thresher.reading.structured.schema_org import text_of
from thresher.reading.text.vocabulary import plain, vocabulary, words

MAX_LINKS = 3_000
MAX_ABOUT = 500
ENOUGH = 2.0
_SEPARATOR = re.compile(r"\s+[|·•»:–—-]\s+|\s*\|\s*")
_SPLIT = re.compile(r"[/._?=&-]+")
_ORGANISATIONS = (
    "Organization",
    "Corporation",
    "LocalBusiness",
    "NewsMediaOrganization",
    "OnlineStore",
    "Store",
    "WebSite",
)
_TALK = re.compile(
    r"(?:blog|news|article|story|press|post|privacy|policy|terms|log-?in|sign-?in|sign-?up|register|salar|faq|help)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CompanyOnPage:
    """What could be read; None for what could not."""

    name: str | None = None
    website: str | None = None
    about: str | None = None
    careers_url: str | None = None


def read_company(
    document: Document, things: Iterable[tuple[str, Mapping[str, Any]]], meta: Mapping[str, str]
) -> CompanyOnPage:
    """The company of a page. `things` are pairs of (type, properties) that the page declares."""
    declared = next(
        (data for kind, data in things if kind in _ORGANISATIONS and text_of(data.get("name"))), {}
    )
    return CompanyOnPage(
        name=text_of(declared.get("name")) or meta.get("og:site_name") or _from_title(document),
        website=_site(text_of(declared.get("url")) or document.url),
        about=_about(declared, meta),
        careers_url=board.url if (board := recognise(document.url)) else careers_url(document),
    )


def careers_url(document: Document) -> str | None:
    """The link that leads to the company's openings, by its words and its address; a link to a hiring board
    is the best of all.
    """
    best: tuple[float, str] | None = None
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        url = document.absolute(node.attribute("href") or "")
        score = _score(node, url, document.url) if url else 0.0
        if url and score >= ENOUGH and (best is None or score > best[0]):
            best = (score, url)
    return best[1] if best else None


def _score(node: Node, url: str, here: str) -> float:
    text = node.line or node.attribute("title") or node.attribute("aria-label") or ""
    said = plain(text)
    score = 0.0
    if words("careers").is_one(said):
        score += 3.0
    elif len(said) <= 40 and words("careers").names(said):
        score += 1.25
    elif words("careers", "weak").is_one(said):
        score += 1.0
    score += _address_score(url)
    if score and recognise(url):
        score += 2.0
    elif score and here and _domain(url) != _domain(here):
        score -= 0.5
    return score - 2.0 if _TALK.search(urlsplit(url).path) else score


def _address_score(url: str) -> float:
    """How much the address itself speaks of openings: its last segments more than others, and its host."""
    known = frozenset(vocabulary("careers")["address"])
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.lower().split("/") if segment]
    last = segments[-1].partition(".")[0] if segments else ""
    if last in known or (len(segments) > 1 and segments[-1].startswith("index") and segments[-2] in known):
        return 2.0
    if any(segment in known for segment in segments):
        return 1.0
    if (parts.hostname or "").split(".")[0] in known:
        return 1.5
    return 0.5 if set(_SPLIT.split(parts.path.lower())) & known else 0.0


def _domain(url: str) -> str:
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])


def _site(url: str | None) -> str | None:
    parts = urlsplit(url or "")
    return f"{parts.scheme}://{parts.netloc}/" if parts.scheme in ("http", "https") and parts.netloc else None


def _about(declared: Mapping[str, Any], meta: Mapping[str, str]) -> str | None:
    text = text_of(declared.get("description")) or meta.get("description") or meta.get("og:description")
    return " ".join(text.split())[:MAX_ABOUT] if text else None


def _from_title(document: Document) -> str | None:
    """The part of the title that the site's own address repeats, else nothing: a slogan is not a name."""
    label = (urlsplit(document.url).hostname or "").removeprefix("www.").split(".")[0].replace("-", "")
    parts = [part.strip() for part in _SEPARATOR.split(document.title) if part and part.strip()]
    for part in sorted(parts, key=len):
        squeezed = re.sub(r"\W", "", part.lower())
        repeats = bool(squeezed) and (squeezed in label or label in squeezed)
        if repeats and len(label) > 2 and len(part) <= 60 and label not in vocabulary("careers")["address"]:
            return part
    return None
