"""The company behind an opening that declares nothing: who hires is seldom labelled.

On a site with postings of many employers the name of the site is nobody's employer, so it counts only on a
company's own site. Where nothing says who hires, nobody is named.
"""

import re
from collections.abc import Iterator
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.labels import MIN_LENGTH
from thresher.reading.html.parser import Node
from thresher.reading.lists.table import COMPANY_PAGE
from thresher.reading.platforms.boards import recognise
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.site_name import cleaned, folded, label_of, name_key, site_name
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.places import is_place

MAX_LINKS = 1_000
MAX_NAME = 100
MAX_TITLE = 500
MAX_TEXT = 20_000  # characters in which a company may name itself
FOLLOWING = 3  # lines under the headline
MAX_TEXTS = 8  # short texts beside it
_CHROME = "nav, header, footer, [role=navigation], [role=contentinfo]"
_SEPARATOR = re.compile(r"\s+[-|·•»–—]\s+|\s*\|\s*|\s+(?:at|in|bei|à|en|chez)\s+")
_ENDS = re.compile(r"\s+[-|·•»–—]\s+|\s*[|(,]\s*|\s+(?:in|à)\s+|$")
_OPENING = re.compile(
    r"^[\s:,]*(?:\([^()]{1,20}\)\s*)?(?:jobs?|vacancy|position|role|stelle)?\s+", re.IGNORECASE
)
_ARTICLES = frozenset(
    ["the", "de", "het", "die", "der", "das", "la", "le", "les", "el", "los", "il", "lo", "i", "gli"]
)
_NOT_A_LETTER = re.compile(r"[\W_]+")


def parts_of(title: str) -> list[str]:
    """The parts of a page's title."""
    return [part.strip() for part in _SEPARATOR.split(title) if part and part.strip()]


def around_headline(document: Document, headline: str) -> tuple[str, str]:
    """What stands before the headline in the page's title, and behind it, as it is written."""
    title = document.title[:MAX_TITLE]
    at = title.lower().find(headline.lower())
    if at < 0 or len(title.lower()) != len(title):
        return "", ""
    return title[:at].strip(), f" {title[at + len(headline) :].strip()}"


def named_in_title(document: Document, headline: str) -> str | None:
    """The company by the words of the page's title: "Ladder maker at Acme", "Acme hiring Ladder maker"."""
    before, behind = around_headline(document, headline)
    for word in vocabulary("opening")["hires"]:
        if before.lower().endswith(f" {word}"):
            return cleaned(before[: -len(word) - 1])
    rest = _OPENING.sub("", behind, count=1)
    for word in vocabulary("opening")["at"]:
        if rest.lower().startswith(f"{word} "):
            name = rest[len(word) + 1 :]
            ends = _ENDS.search(name)
            return cleaned(name[: ends.start()] if ends else name)
    return None


def repeated(headline: Node, document: Document) -> dict[str, str]:
    """Company and place: lines right under the headline that the page's title repeats behind it, in this
    order.
    """
    behind = plain(document.title[:MAX_TITLE]).partition(plain(headline.line))[2]
    lines = list(islice(_following(headline), FOLLOWING))
    company = next((line for line in lines[:2] if _repeats(line, behind) and not is_place(line)), None)
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
    return bool(said) and (said in parts_of(behind) or (len(said) >= MIN_LENGTH and said in behind))


def _starts_part(line: str, behind: str) -> bool:
    """Whether a part of the title begins as the line does, up to its comma: a title writes "Leeds, UK" where
    the line has all of it.
    """
    town = next((piece for each in plain(line).split(",") if (piece := each.strip(" ,"))), "")
    return (
        len(line) <= MAX_NAME
        and len(town) > 2
        and any(part.lstrip(" ,").startswith(town) for part in parts_of(behind))
    )


def part_of_title(document: Document, facts: Facts, headline: str, texts: list[str]) -> str | None:
    """A text beside the headline that is a part of the page's title behind it: the company, if it is neither
    the site's name nor a place.
    """
    parts = {name_key(part) for part in parts_of(around_headline(document, headline)[1])}
    own = {label_of(document.url), name_key(facts.meta.get("og:site_name", "")[:MAX_NAME])}
    found = (text for text in texts[:MAX_TEXTS] if name_key(text) in parts - own and not is_place(text))
    return next((text for text in found if cleaned(text)), None)


def linked(document: Document) -> str | None:
    """What links to the page of one company say, where that page's address says it too. Of several, none."""
    found: dict[str, str] = {}
    chrome = set(document.root.css(_CHROME))
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        url, text = (node.attribute("href") or "").partition("?")[0], node.line
        if len(text) > MAX_NAME or not COMPANY_PAGE.search(url) or not _names(url, text):
            continue
        if chrome.isdisjoint(islice(node.ancestors, 20)):
            found.setdefault(plain(text), text)
    return next(iter(found.values())) if len(found) == 1 else None


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


def owner(document: Document, facts: Facts, text: str) -> str | None:
    """The company whose own site this is: its name agrees with the address, and the title or the text of the
    opening says it. `text` is what the page says of the opening.
    """
    board = recognise(document.url)
    label = folded(board.token) if board and board.token else label_of(document.url)
    if len(label) < 2 or (board is None and is_board_of_many(document, facts, label)):
        return None
    things = [(thing.type, thing.properties) for thing in facts.structured.things]
    name = site_name(document, things, facts.meta, token=board.token if board else None)
    if name is None or not _agrees(name, label):
        return None
    in_title = (part for part in parts_of(document.title[:MAX_TITLE]) if name_key(part) == name_key(name))
    spoken = next(in_title, None)
    return spoken or (name if name_key(name) in folded(text[:MAX_TEXT]) else None)


def _agrees(name: str, label: str) -> bool:
    """Whether a name begins as the address does, or the other way round, with its article or without."""
    article, _, rest = plain(name).partition(" ")
    return any(
        len(shorter) > 1 and (shorter == longer or (len(shorter) > 3 and longer.startswith(shorter)))
        for each in (name, rest if article in _ARTICLES else name)
        for shorter, longer in (sorted((name_key(each), label), key=len),)
    )


def is_board_of_many(document: Document, facts: Facts, label: str) -> bool:
    """Whether a site has the postings of many employers: by its name, or by links that only such sites
    have.
    """
    name = f"{label} {facts.meta.get('og:site_name', '')}".lower()
    if any(piece in name for piece in vocabulary("opening")["board_names"]):
        return True
    links = document.root.css("a[href]")[:MAX_LINKS]
    return any(words("opening", "boards").is_one(node.line[:MAX_NAME]) for node in links)
