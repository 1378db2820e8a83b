"""A page about one opening that declares nothing for machines: what its headline, its labels, the names of
its elements and the lines beside the headline say.

Each field has a few candidates, the most trusted first, and a value that proves itself (a known place, a
readable date, a sum with its currency) is taken before one that does not. Without proof or label, nothing
is read.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice
from urllib.parse import unquote, urlsplit

from thresher.reading.html.blocks import UNSEEN, read
from thresher.reading.html.document import Document
from thresher.reading.html.labels import LabelledValue, agrees, field_of, headline_of, read_labels
from thresher.reading.html.parser import Node, Selector, written_selector
from thresher.reading.postings.employer import (
    around_headline,
    linked,
    named_in_title,
    owner,
    part_of_title,
    parts_of,
    repeated,
)
from thresher.reading.postings.openings import (
    fields_of,
    is_about_openings,
    is_category,
    should_list,
    speaks_of_openings,
)
from thresher.reading.postings.posting import UNDER_HEADLINE, Listing, Posting, Salary
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.site_name import folded, label_of
from thresher.reading.text.content import text_under
from thresher.reading.text.plain import render
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.dates import AGO_BEFORE, AGO_BEHIND, read_date
from thresher.reading.values.dates import folded as unaccented
from thresher.reading.values.places import is_place
from thresher.reading.values.salaries import salary_of

ENOUGH = 2  # labels, named elements or lines that only openings have together
ENOUGH_SECTIONS = 2  # headings of the text of an opening, which stand for labels
MAX_LINKS = 1_000
CERTAIN = 3  # labels with which a page is about one opening whatever else it links to
MAX_REPEATS = 3  # values of one label: on a page about one opening a label may stand twice
_DATELINE = frozenset({"location", "posted"})  # what an article begins with, too
FIELDS = ("company", "location", "posted", "employment_type", "salary")
SOURCE = "the headline and labels of the page"


@dataclass(frozen=True, slots=True)
class _Opening:
    """What was found on a page before it is decided whether it is an opening."""

    document: Document
    facts: Facts
    headline: Node
    title: str
    labels: list[LabelledValue]
    sections: int
    today: date


def read_single(document: Document, facts: Facts, *, today: date, certain: bool = False) -> Listing | None:
    """The one opening of a page; None where too little says that it is about one. `certain` asks for more:
    that nothing else on the page can be meant.
    """
    sections = _sections(document)
    if not (is_about_openings(document) or sections >= ENOUGH_SECTIONS):
        return None
    labels = read_labels(document)
    headline = headline_of_opening(document, facts)
    title = _title(headline, labels, document)
    if title is None or _is_nothing(title):
        return None
    found = _Opening(document, facts, headline or document.root, title, labels, sections, today)
    said = _fields(found)
    enough = _is_certain(found, said) if certain else _is_enough(found, said)
    if not enough:
        return None
    named = _description(document)
    description = named or _text(document, headline)
    company = said.get("company") or owner(document, facts, description or "")
    posting = Posting(
        title=_without_company(title, company),
        company=company,
        location=said.get("location"),
        url=document.url or None,
        posted_date=_day(said.get("posted"), found),
        employment_type=said.get("employment_type"),
        salary=salary_of(said.get("salary")),
        description=description,
        where=UNDER_HEADLINE if description and not named else headline.path if headline else "title",
    )
    return Listing((posting,), SOURCE, rows=1, single=True)


def _is_enough(found: _Opening, said: Mapping[str, str]) -> bool:
    known = sum(name in said for name in FIELDS)
    if should_list(found.document):  # lines beside the headline may be those of its first row
        return len(_sure(found) & said.keys()) >= ENOUGH
    told = known - ("salary" in said)  # what a profession pays, an article says as well
    if said and said.keys() <= _DATELINE and _sure(found) <= {"posted"}:
        is_posted = speaks_of_openings(found.document) and _can_be_applied_for(found.document)
        return found.sections >= ENOUGH_SECTIONS or is_posted
    return known >= ENOUGH or (
        found.sections >= ENOUGH_SECTIONS and (told > 0 or _can_be_applied_for(found.document))
    )


def _can_be_applied_for(document: Document) -> bool:
    """Whether a button or a link leads to an application: what an article about a profession lacks."""
    nodes = document.root.css("a, button, input[type=submit]")[:MAX_LINKS]
    said = (node.attribute("value") or "" if node.tag == "input" else node.line for node in nodes)
    return any(words("opening", "apply").is_one(text[:MAX_HEADING]) for text in said)


def _sure(found: _Opening) -> set[str]:
    """The fields that have labels."""
    return {label.field for label in found.labels if label.sure and label.field in FIELDS}


def _is_certain(found: _Opening, said: Mapping[str, str]) -> bool:
    """Whether labels that stand there once each speak of the headline, and the page's title repeats it."""
    values = Counter(
        label.field for label in {(each.field, plain(each.value)): each for each in found.labels}.values()
    )
    return (
        agrees(found.title, found.document)
        and len(_sure(found) & said.keys()) >= CERTAIN
        and max(values.values(), default=0) < MAX_REPEATS
    )


# The headline

MAX_HEADING = 150
MIN_HEADING = 3
MAX_HEADINGS = 300
MAX_LEVELS = 12
MIN_SCORE = 1.5
REPEATED, SPELLED, THE_SITE = 3.0, 2.0, -4.0
_HEADINGS = "h1, h2, h3, h4, [class*=title i], [id*=title i], [itemprop=title], b, strong"
_WEIGHTS = {"h1": 2.5, "h2": 1.5, "h3": 1.0, "h4": 0.5, "b": 0.0, "strong": 0.0}
_BESIDES = frozenset({"nav", "footer", "aside", "dialog", "form", "button", "select", "label"})
_WORD = re.compile(r"[^\W_]+")


def headline_of_opening(document: Document, facts: Facts) -> Node | None:
    """The element that names the opening: by its rank, by the page's title and by its address. The name of
    the site and the heading of a part name none.
    """
    address, site = _address_words(document.url), _site_names(document, facts)
    titles = plain(f"{document.title[:1_000]} {facts.meta.get('og:title', '')[:500]}")
    best: tuple[float, Node] | None = None
    for node in document.root.css(_HEADINGS)[:MAX_HEADINGS]:
        line = node.line
        if not MIN_HEADING <= len(line) <= MAX_HEADING or _is_nothing(line):
            continue
        score = _WEIGHTS.get(node.tag, 0.5) + _agreement(line, titles, address)
        score += THE_SITE if folded(line) in site else 0.0
        if score >= MIN_SCORE and (best is None or score > best[0]) and not _is_beside(node):
            best = (score, node)
    return best[1] if best else headline_of(document) if not document.root.css_first("h1, h2, h3") else None


def _agreement(line: str, titles: str, address: frozenset[str]) -> float:
    said = plain(line)
    spelled = [word for word in _WORD.findall(unaccented(line)) if len(word) > 1]
    in_address = sum(word in address for word in spelled)
    return (REPEATED if len(said) > MIN_HEADING and said in titles else 0.0) + (
        SPELLED if len(address) > 1 and in_address * 3 >= len(spelled) * 2 > 0 else 0.0
    )


def _address_words(url: str) -> frozenset[str]:
    """The words of the last two parts of an address."""
    try:
        path = unquote(urlsplit(url).path[:500])
    except ValueError:
        return frozenset()
    return frozenset(_WORD.findall(unaccented(" ".join(path.rstrip("/").split("/")[-2:]))))


def _site_names(document: Document, facts: Facts) -> frozenset[str]:
    names = (facts.meta.get("og:site_name", "")[:200], facts.meta.get("application-name", "")[:200])
    return frozenset(filter(None, (label_of(document.url), *map(folded, names))))


def _is_nothing(line: str) -> bool:
    """Whether a heading names no opening: one of a part, a button, or a question that an article answers."""
    return (
        words("opening", "generic").is_one(line)
        or field_of(line) is not None
        or is_category(line)
        or words("opening", "sections").is_one(line)
        or words("opening", "offers").is_one(line)
        or plain(line).startswith(tuple(f"{word} " for word in vocabulary("opening")["working"]))
        or words("button").is_one(line)
        or words("careers").is_one(line)
        or words("recommended").is_one(line)
        or (plain(line).endswith("?") and plain(line).partition(" ")[0] in vocabulary("opening")["asks"])
    )


def _is_beside(node: Node) -> bool:
    return (
        any(each.tag in _BESIDES for each in islice(node.ancestors, MAX_LEVELS))
        and node.closest("nav, footer, aside, dialog, button, select, label") is not None
    )


def _title(headline: Node | None, labels: Iterable[LabelledValue], document: Document) -> str | None:
    """The headline; but a label that the page's title repeats names the opening better than a headline that
    it does not, or that says something else.
    """
    labelled_title = next((each.value for each in labels if each.sure and each.field == "title"), None)
    if labelled_title and agrees(labelled_title, document):
        line = headline.line if headline is not None and agrees(headline.line, document) else ""
        if plain(labelled_title) not in plain(line):
            return labelled_title
    return headline.line if headline is not None else labelled_title


def _without_company(title: str, company: str | None) -> str:
    """A headline without the company behind it: "Ladder maker at Acme"."""
    if not company or not plain(title).endswith(f" {plain(company)}"):
        return title
    rest = title[: -len(company)].rstrip()
    for word in (*vocabulary("opening")["at"], "-", "–", "—", "|", "·"):
        if rest.lower().endswith(f" {word}"):
            return rest[: -len(word)].strip() or title
    return title


def _sections(document: Document) -> int:
    """How many headings of the text of an opening a page has."""
    nodes = document.root.css("h2, h3, h4, h5, strong, b")[:MAX_HEADINGS]
    known = words("opening", "sections")
    return len(
        {plain(line) for node in nodes if len(line := node.line) <= MAX_HEADING and known.is_one(line)}
    )


# The fields

MAX_BESIDE = 150  # elements after the headline
MAX_PIECES = 60
MAX_PIECE = 120
MIN_YEARLY = 5_000  # a range of less that names no span of time may be that of a price
LONG = 200  # characters of a paragraph: the text of the opening has begun
_DIVIDED = re.compile(r"\s*[|·•●▪⋅\n\t]\s*|\s{3,}")
_SMALLER = re.compile(r"\s*/\s*|\s+[-–—]\s+")
_AGO = re.compile(rf"\b(?:{AGO_BEHIND})\W*$|^(?:{AGO_BEFORE})\b")
_PARTED = re.compile(r"\s*[,/&+;()]\s*|\s+(?:and|or|und|oder|et|ou|y|o|of|lub|-|–)\s+")


def _fields(found: _Opening) -> dict[str, str]:
    """Each field that something says."""
    headline, document = found.headline, found.document
    in_title = named_in_title(document, found.title)
    named = _named(headline) if headline.tag == "h1" else {}
    lines = repeated(headline, document)
    texts = list(_pieces(headline))
    checks = _checks(found)
    said: dict[str, str] = {}
    for field in FIELDS[1:]:
        labels = [label for label in found.labels if label.field == field]
        sure = [label.value for label in labels if label.sure and not _is_nothing(label.value)]
        others = [each for each in (lines.get(field), named.get(field)) if each and not _is_nothing(each)]
        proven = (label.value for label in labels)
        pieces = _proven_pieces(field, texts, found)
        value = next(filter(checks[field], proven), None)
        if field == "location":
            value = value or next(iter(sure), None) or lines.get(field)
        value = value or next(filter(checks[field], (*others, *pieces)), None)
        value = value or next(iter((*sure, *others)), None)
        if value:
            said[field] = value
    company = [label.value for label in found.labels if label.field == "company" and label.sure]
    beside = part_of_title(document, found.facts, found.title, texts)
    choices = (*company, in_title, named.get("company"), lines.get("company"), linked(document), beside)
    if employer := next((each for each in choices if each and _may_be_company(each, found)), None):
        said["company"] = employer
    return said


def _may_be_company(name: str, found: _Opening) -> bool:
    return not (_is_nothing(name) or is_place(name) or _is_type(name) or plain(name) == plain(found.title))


def _checks(found: _Opening) -> dict[str, Callable[[str], bool]]:
    return {
        "location": is_place,
        "posted": lambda text: _day(text, found) is not None,
        "employment_type": _is_type,
        "salary": lambda text: _pays(text) is not None,
    }


def _proven_pieces(field: str, pieces: list[str], found: _Opening) -> Iterator[str]:
    """What of the lines beside the headline, and of the title of the page, may be the value of a field."""
    if field == "posted":
        yield from (piece for piece in pieces if _tells_when(piece))
    elif field == "location":
        yield from (part for piece in pieces for part in (piece, *_SMALLER.split(piece)))
        yield from _places_in_title(found)
    else:
        yield from (part for piece in pieces for part in (piece, *_PARTED.split(piece)))


def _places_in_title(found: _Opening) -> Iterator[str]:
    behind = around_headline(found.document, found.title)[1]
    for part in parts_of(behind)[:6]:
        yield part
        word, _, rest = part.partition(" ")
        if word.lower() in vocabulary("opening")["in"]:
            yield rest


def _pieces(headline: Node) -> Iterator[str]:
    """The short texts right above and below the headline, each by itself."""
    texts = (text for node in _beside(headline) for text in _own_texts(node))
    seen: set[str] = set()
    for text in texts:
        if len(text) >= LONG:
            break
        for piece in _DIVIDED.split(text):
            if 1 < len(piece) <= MAX_PIECE and piece not in seen:
                seen.add(piece)
                yield piece
        if len(seen) >= MAX_PIECES:
            break


def _own_texts(node: Node) -> list[str]:
    return [text for piece in node.pieces[:MAX_PIECES] if isinstance(piece, str) and (text := piece.strip())]


def _beside(headline: Node) -> Iterator[Node]:
    """The elements above the headline in the block that holds it, then those after it up to the next
    heading.
    """
    block = headline.parent
    if block is not None and block.tag not in ("body", "html", "main", "article"):
        for node in islice(block.walk(), MAX_BESIDE):
            if node == headline:
                break
            yield node
    for node in islice(headline.following, MAX_BESIDE):
        if node.tag in ("h1", "h2", "h3") and (_is_nothing(node.line) or node.tag == headline.tag):
            break
        if node.tag not in UNSEEN and node.tag not in _BESIDES:
            yield node


def _named(headline: Node) -> dict[str, str]:
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


def _is_type(text: str) -> bool:
    """Whether a text says how long somebody works, or as what, and nothing else."""
    known = words("opening", "types")
    parts = [part for part in _PARTED.split(text) if part]
    return len(text) <= MAX_PIECE and (
        known.is_one(text) or (bool(parts) and all(known.is_one(part) for part in parts))
    )


def _pays(text: str) -> Salary | None:
    """A sum with its currency and a span of time, or a range of large sums: less may be any price."""
    found = salary_of(text) if len(text) <= MAX_PIECE else None
    if found is None or found.low is None or found.currency is None:
        return None
    is_range = found.high is not None and found.low < found.high >= MIN_YEARLY
    return found if found.period is not None or is_range else None


# The day it was posted

MAX_DATED = 20_000  # characters of the text of a page that are searched for dates
_NUMERIC = re.compile(r"(?<![\d/.-])(\d{1,2})([/-])(\d{1,2})\2(?:19|20)\d\d(?![\d/-])")


def _tells_when(piece: str) -> bool:
    """Whether a line says when something was posted; a deadline and a first day of work do not."""
    said = unaccented(piece)
    return len(piece) <= MAX_PIECE and (
        any(said.startswith(unaccented(word)) for word in vocabulary("opening")["posted"])
        or _AGO.search(said) is not None
    )


def _day(text: str | None, found: _Opening) -> date | None:
    """A day for certain, and none that is yet to come."""
    if not text or len(text) > MAX_PIECE:
        return None
    day = read_date(
        text, today=found.today, day_first=_day_first(found.document), language=found.document.language_hint
    )
    if day is None or day.precision != "day" or day.or_earlier or day.day > found.today:
        return None
    return day.day


def _day_first(document: Document) -> bool | None:
    """Whether the dates of this page have the day first, where one of them can only be read in one way."""
    text = "\n".join(block.text[:500] for block in document.flow.blocks[:1_000])[:MAX_DATED]
    pairs = [(int(each[1]), int(each[3])) for each in _NUMERIC.finditer(text)]
    first = any(one > 12 >= two for one, two in pairs)
    second = any(two > 12 >= one for one, two in pairs)
    return None if first == second else first


# The text

MAX_NAMED = 100
MIN_DESCRIPTION = 200  # characters
NEARLY_ALL = (
    0.8  # of a description: an element inside it that holds as much is it, without the headings around it
)


def _text(document: Document, headline: Node | None) -> str | None:
    """What stands under the headline, where it is long enough to be the text of an opening."""
    text = text_under(document, headline.line) if headline is not None else ""
    return text if len(text) >= MIN_DESCRIPTION else None


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
