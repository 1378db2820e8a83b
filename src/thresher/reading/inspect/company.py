"""The company behind a page: its name, its site, what it says of itself, and where its openings are."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.platforms.boards import recognise
from thresher.reading.structured.schema_org import text_of
from thresher.reading.structured.site_name import ORGANISATIONS, site_name
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.addresses import registered_domain

MAX_LINKS = 3_000
MAX_ABOUT = 500
MAX_LEVELS = 12
MAX_WORDS = 80  # characters of a link that says one thing
SHORT = 40
ENOUGH = 2.0
WEAK = 1.0
_SPLIT = re.compile(r"[/._?=&-]+")
# Parts of an address that speak of articles, accounts and the law, not of openings.
_TALK = frozenset(
    (
        *(
            "blog",
            "blogs",
            "news",
            "newsroom",
            "article",
            "articles",
            "story",
            "stories",
            "press",
            "post",
            "posts",
        ),
        *(
            "privacy",
            "policy",
            "policies",
            "terms",
            "login",
            "signin",
            "signup",
            "log",
            "sign",
            "register",
            "account",
        ),
        *(
            "salary",
            "salaries",
            "faq",
            "faqs",
            "help",
            "support",
            "forum",
            "events",
            "event",
            "podcast",
            "magazine",
        ),
        *("registration", "auth", "sso", "wp-content", "tag", "tags", "author", "advice"),
    )
)
_DATED = re.compile(r"/(?:19|20)\d\d/\d\d?/")
_JOINED = re.compile(r"\s*[&/|,+·•:]\s*|\s+(?:and|und|et|y|e|en|i|og|och|-|–|—)\s+")
_INDEX = frozenset(("index", "home", "default", "main", "overview"))
_FURNITURE = frozenset(("nav", "header", "footer"))
_BADGE = re.compile(
    r"[\s(\[]*\d{1,5}\+?[)\]]*$|[\s!]+(?:new|neu|nouveau)!?$|[\u2190-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff\ufe0f]+"
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
    found = list(things)
    declared = next((data for kind, data in found if kind in ORGANISATIONS and text_of(data.get("name"))), {})
    board = recognise(document.url)
    return CompanyOnPage(
        name=site_name(document, found, meta, token=board.token if board else None),
        website=_site(text_of(declared.get("url")) or document.url),
        about=_about(declared, meta),
        careers_url=board.url if board else careers_url(document),
    )


def careers_url(document: Document) -> str | None:
    """The link that leads to the company's openings, by its words and its address; a link to a hiring board
    is the best of all.
    """
    best: tuple[float, str] | None = None
    here = _domain(document.url)
    for node in document.root.css("a[href], area[href]")[:MAX_LINKS]:
        url = document.absolute(node.attribute("href") or "")
        score = _score(node, url, here) if url else 0.0
        if url and score >= ENOUGH and (best is None or score > best[0]):
            best = (score, url)
    return best[1] if best else None


def _score(node: Node, url: str, here: str) -> float:
    """How much a link speaks of openings. Most links of a page say nothing of the kind, and cost little."""
    said = _words_score(node)
    address = _address_score(url)
    if not said and address < ENOUGH:
        return 0.0
    score = said + address
    if recognise(url):
        score += 3.0
    elif here and _domain(url) != here:
        score -= 0.5
    if node.tag == "a" and any(each.tag in _FURNITURE for each in islice(node.ancestors, MAX_LEVELS)):
        score += 0.25
    return score - 2.0 if _talks(url) else score


def _words_score(node: Node) -> float:
    """What the words of a link are worth: all of them that it shows, or that it has for those who do not see
    it.
    """
    texts = (node.line, *(node.attribute(name) or "" for name in ("aria-label", "title", "alt")))
    if not node.line and (image := node.css_first("img[alt]")):
        texts = (*texts, image.attribute("alt") or "")
    return max((_phrase_score(text) for text in dict.fromkeys(texts) if text), default=0.0)


def _phrase_score(text: str) -> float:
    if len(text) > MAX_WORDS:
        return 0.0
    said = _BADGE.sub("", plain(text)).strip()
    if words("careers", "not").names(said):
        return -3.0
    if words("careers").is_one(said):
        return 2.5 if words("careers", "generic").is_one(said) else 3.0
    if words("careers", "weak").is_one(said):
        return WEAK
    if said.startswith(vocabulary("careers")["starts"]):
        return 2.5
    if len(said) > SHORT or not words("careers").names(said):
        return 0.0
    return 2.0 if any(words("careers").is_one(part) for part in _JOINED.split(said)) else 1.25


def _address_score(url: str) -> float:
    """How much the address itself speaks of openings: its last segments more than others, and its host."""
    known = _addresses()
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.lower().split("/") if segment]
    last = segments[-1].partition(".")[0] if segments else ""
    if last in known or (len(segments) > 1 and last in _INDEX and segments[-2] in known):
        return 2.0
    if any(segment in known for segment in segments):
        return 1.0
    if not known.isdisjoint(_SPLIT.split(parts.hostname or "")):
        return 1.5
    return 0.5 if set(_SPLIT.split(f"{parts.path}#{parts.fragment}".lower())) & known else 0.0


def _talks(url: str) -> bool:
    """Whether an address is one of articles, of accounts or of the law."""
    path = urlsplit(url).path.lower()
    return bool(_DATED.search(path)) or not _TALK.isdisjoint(_SPLIT.split(path))


@cache
def _addresses() -> frozenset[str]:
    known = vocabulary("careers")
    return frozenset((*known["address"], *known["link_address"]))


@lru_cache(1_024)
def _domain(url: str) -> str:
    host = urlsplit(url).hostname or ""
    return registered_domain(host) or host


def _site(url: str | None) -> str | None:
    parts = urlsplit(url or "")
    return f"{parts.scheme}://{parts.netloc}/" if parts.scheme in ("http", "https") and parts.netloc else None


def _about(declared: Mapping[str, Any], meta: Mapping[str, str]) -> str | None:
    text = text_of(declared.get("description")) or meta.get("description") or meta.get("og:description")
    return " ".join(text.split())[:MAX_ABOUT] if text else None
