"""The name of the company behind a site, from all the places that say it.

A page says whose it is many times over: in what it declares, its title, its logo, its line of copyright, its
address. Each of them is wrong somewhere: a title is a slogan, a logo is that of a payment service, an article
declares its news agency. So each casts a vote, and the address decides between them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.structured.schema_org import text_of
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.addresses import registered_domain

ENOUGH = 2.5  # votes: what is declared needs no more, a title or a logo needs another that agrees
MAX_NAME = 60  # characters
MAX_WORDS = 7
MAX_IMAGES = 80
MAX_LINES = 400  # at the end of the page, where lines of copyright stand
MAX_LINE = 300
MAX_TITLE = 300
MAX_BLOCKS, MAX_BLOCK = 1_000, 2_000  # of the text of a page, and characters of each
MIN_TIMES = 2
MIN_SPELLED = 3
EXACT, BEGINS, WORD, INSIDE = 4.0, 2.5, 2.0, 1.0  # how well a name agrees with the address
ORGANISATIONS = {
    "Organization": 3.0,
    "Corporation": 3.0,
    "LocalBusiness": 3.0,
    "NewsMediaOrganization": 3.0,
    "OnlineStore": 3.0,
    "Store": 3.0,
    "WebSite": 2.5,
}
_META = {"og:site_name": 2.5, "application-name": 1.5, "apple-mobile-web-app-title": 1.5, "copyright": 1.0}
_SEPARATOR = re.compile(
    r"\s+[|·•»>:–—-]+\s+|\s*[|»•·｜]\s*|:\s+|,\s+|\s+[-–—](?=\S)|(?<=\S)[–—]\s+|：|\s{3,}"
)
_WORD = re.compile(r"[^\W_]+(?:['’&.+-][^\W_]+)*")
_NOT_LETTERS = re.compile(r"[\W_]+")
_COPYRIGHT = re.compile(r"©|\(c\)\s|\bcopyright\b|&copy;|ⓒ|著作権", re.IGNORECASE)
_YEARS = re.compile(
    r"(?:(?:19|20)\d\d)(?:\s*(?:[-–—/,&]|to|bis|until)\s*(?:(?:19|20)?\d\d|present|today|now))*"
)
_SENTENCE = re.compile(r"(?<=[^\W_]{3})[.。](?:\s|$)|\s+[|·•–—-]\s+|\s*[|•·]\s*|[!?;]")
_LOGO = re.compile(r"logo|brand|site-?title|site-?name|masthead|wordmark", re.IGNORECASE)
_LOGO_NAMES = "[class*=logo i], [id*=logo i], [class*=brand i], [class*=site-title i], [id*=site-title i], [class*=site-name i], [id*=site-name i]"
# Letters that have no accent to take off.
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "ı": "i"})


def site_name(
    document: Document,
    things: Iterable[tuple[str, Mapping[str, Any]]],
    meta: Mapping[str, str],
    *,
    token: str | None = None,
) -> str | None:
    """What a site calls its company; None where too little agrees. `token` is the company's on a platform
    that others share.
    """
    votes = _Votes(folded(token) if token else label_of(document.url))
    for kind, data in things:
        if kind in ORGANISATIONS and (name := text_of(data.get("name"))):
            votes.add(kind, name, ORGANISATIONS[kind])
    for name, weight in _META.items():
        votes.add(name, meta.get(name, ""), weight)
    for text in _logos(document):
        votes.add("logo", text, 1.25)
    for text in _holders(document):
        votes.add("copyright", text, 2.5 if _has_form(text) else 1.5)
    for text in (document.title, meta.get("og:title", "")):
        votes.add("title", text[:MAX_TITLE], 1.0)
    if votes.best() is None:
        votes.spelled_in(block.text for block in document.flow.blocks[:MAX_BLOCKS])
    return votes.best()


def label_of(url: str) -> str:
    """The part of the host name that is the company's own; empty where there is none."""
    host = urlsplit(url).hostname or ""
    domain = registered_domain(host) or ".".join(host.split(".")[-2:])
    return folded(_readable(domain.partition(".")[0]))


def _readable(label: str) -> str:
    try:
        return label.encode().decode("idna") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def _folded_word(word: str) -> str:
    return word.lower() if word.isascii() and word.isalnum() else folded(word)


def folded(text: str) -> str:
    """Letters and digits alone, without case and accents."""
    bare = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    return _NOT_LETTERS.sub("", "".join(char for char in bare if not unicodedata.combining(char)))


@dataclass(slots=True)
class _Candidate:
    text: str
    trust: float
    weights: dict[str, float] = field(default_factory=dict)
    agrees: float = 0.0

    @property
    def votes(self) -> float:
        return sum(self.weights.values()) + self.agrees


class _Votes:
    """What the places of a page call the company, by the letters of the name."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._found: dict[str, _Candidate] = {}

    def add(self, source: str, text: str, weight: float) -> None:
        """Count a text, and each of its parts a little less."""
        text = " ".join(text.split())
        if not text:
            return
        parts = [part for part in _SEPARATOR.split(text) if part]
        whole = 1.0 if len(parts) == 1 else 0.7
        self._count(source, text, weight * whole)
        for part in parts if len(parts) > 1 else ():
            self._count(source, part, weight * 0.9 if source == "title" else weight * 0.6)
        for spelled in self._spelled(text[:MAX_TITLE]):
            if " " in spelled:  # one word may be any word of a slogan
                self._count(source, spelled, weight * 0.6)

    def _count(self, source: str, text: str, weight: float) -> None:
        name = cleaned(text)
        if not name:
            return
        key = name_key(name)
        known = self._found.setdefault(
            key, _Candidate(name, weight, agrees=_agreement(name, key, self._label))
        )
        if weight > known.trust:
            known.text, known.trust = name, weight
        known.weights[source] = max(weight, known.weights.get(source, 0.0))

    def spelled_in(self, texts: Iterable[str]) -> None:
        """Count what spells the address in the text of the page, if it is written so again and again."""
        found = Counter(
            name for text in texts for name in self._spelled(text[:MAX_BLOCK]) if name[:1].isupper()
        )
        name, times = next(iter(found.most_common(1)), ("", 0))
        if times >= MIN_TIMES:
            self._count("text", name, 1.0)

    def _spelled(self, text: str) -> Iterator[str]:
        """The words of a text that spell the address together: "the browser of Cốc Cốc" at coccoc.com."""
        if len(self._label) < MIN_SPELLED:
            return
        found = list(_WORD.finditer(text))
        letters = [_folded_word(each[0]) for each in found]
        for first, start in enumerate(letters):
            run, last = start, first
            while self._label.startswith(run) and run != self._label and last + 1 < len(found):
                last += 1
                run += letters[last]
            if run == self._label and last - first < MAX_WORDS:
                yield text[found[first].start() : found[last].end()]

    def best(self) -> str | None:
        found = max(self._found.values(), key=lambda each: (each.votes, -len(each.text)), default=None)
        return found.text if found is not None and found.votes >= ENOUGH else None


def _agreement(name: str, key: str, label: str) -> float:
    """How well a name agrees with the company's part of the address."""
    if len(label) < 2:
        return 0.0
    if key.removeprefix("the") == label.removeprefix("the"):
        return EXACT
    split = [folded(word) for word in _WORD.findall(name)]
    if len(split) > 2 and "".join(word[:1] for word in split) == label:
        return EXACT - 1
    shorter, longer = sorted((key, label), key=len)
    if len(shorter) > 3 and longer.startswith(shorter):
        return BEGINS
    if len(label) > 2 and label in split and len(split) <= 3:
        return WORD
    return INSIDE if len(shorter) > 4 and shorter in longer else 0.0


def cleaned(text: str) -> str | None:
    """A text as a name: without "Welcome to", "Home" and "logo"; None where it cannot be one."""
    name = " ".join(text.split()).strip(" .,:;|-–—_>»*®™\"'“”")
    for word in vocabulary("site")["before"]:
        if name.lower().startswith(f"{word} "):
            name = name[len(word) + 1 :].strip(" .,:;|-–—")
            break
    for word in vocabulary("site")["after"]:
        if name.lower().endswith(f" {word}"):
            name = name[: -len(word) - 1].strip(" .,:;|-–—'’")
            break
    name = name.replace("®", "").replace("™", "").strip()
    if not 1 < len(name) <= MAX_NAME or words("site", "nobody").is_one(name) or "://" in name or "@" in name:
        return None
    if len(_WORD.findall(name)) > MAX_WORDS or not any(char.isalpha() for char in name):
        return None
    return name


def name_key(name: str) -> str:
    """The letters of a name without its legal form."""
    split = [folded(each) for each in plain(name).replace(".", "").replace(" z oo", " zoo").split()]
    kept = [word for word in split if word and word not in _forms()]
    return "".join(kept or split)


@cache
def _forms() -> frozenset[str]:
    return frozenset(map(folded, vocabulary("site")["forms"]))


def _has_form(name: str) -> bool:
    return not _forms().isdisjoint(folded(each) for each in name.replace(".", "").split()[1:])


def _logos(document: Document) -> Iterator[str]:
    """What the logo says: the text for those who do not see it, else the words of an element that is named
    so.
    """
    root, home = document.root, _home(document)
    for image in root.css("img[alt]")[:MAX_IMAGES]:
        link = next((each for each in islice(image.ancestors, 3) if each.tag == "a"), None)
        leads_home = (
            link is not None and (document.absolute(link.attribute("href") or "") or "").rstrip("/") == home
        )
        named = (image.attribute(name) or "" for name in ("class", "id", "alt", "src"))
        if leads_home or _LOGO.search(" ".join(named)):
            yield image.attribute("alt") or ""
            if link is not None and leads_home:
                yield link.attribute("title") or link.attribute("aria-label") or ""
    for node in root.css(_LOGO_NAMES)[:MAX_IMAGES]:
        yield _short(node)
    for node in root.css("header a[href='/'], a[rel~=home]")[:5]:
        yield node.attribute("aria-label") or _short(node)


def _short(node: Node) -> str:
    line = node.line
    return line if len(line) <= MAX_NAME else ""


def _home(document: Document) -> str:
    parts = urlsplit(document.url)
    return f"{parts.scheme}://{parts.netloc}"


def _holders(document: Document) -> Iterator[str]:
    """Who holds the copyright, by the lines at the end of the page."""
    for block in document.flow.blocks[-MAX_LINES:]:
        if len(block.text) <= MAX_LINE * 3 and (sign := _COPYRIGHT.search(block.text)):
            before, after = block.text[: sign.start()], block.text[sign.end() : sign.end() + MAX_LINE]
            yield from (name for text in (after, before[-MAX_NAME:]) if (name := _holder(text)))


def _holder(text: str) -> str | None:
    """The name in one half of a line of copyright."""
    text = _YEARS.sub(" | ", _COPYRIGHT.sub(" ", text))
    text = " ".join(text.split())
    if rights := words("site", "rights").quote(text):
        text = text[: max(text.lower().find(rights), 0)]
    return next((part for each in _SENTENCE.split(text) if (part := each.strip(" ,.()-–—:|"))), None)
