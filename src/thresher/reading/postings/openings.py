"""Postings from the rows of a page: which cards are openings, and what each row says besides its title."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.labels import field_of
from thresher.reading.html.parser import Node
from thresher.reading.lists.find_lists import ListGroup, ListRow
from thresher.reading.lists.pieces import NAMING
from thresher.reading.lists.shapes import shape
from thresher.reading.lists.table import COMPANY_PAGE
from thresher.reading.postings.employer import is_board_of_many
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.site_name import label_of
from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

# The subject of a page: whether it is about openings, and whether it should list them.


def is_about_openings(document: Document) -> bool:
    """Whether the address or the title of a page speaks of openings."""
    return speaks_of_openings(document) or words("employment").names(document.title)


def speaks_of_openings(document: Document) -> bool:
    """Whether the address of a page does."""
    return _pieces(document.url.partition("://")[2])


def should_list(document: Document) -> bool:
    """Whether this is the page on which a company lists its openings: by the end of its address, or by its
    headline.
    """
    last = document.url.partition("?")[0].rstrip("/").rpartition("/")[2].partition(".")[0].lower()
    headline = document.root.css_first("h1")
    return last in vocabulary("careers")["address"] or bool(
        headline and words("careers").is_one(headline.line)
    )


ENOUGH = 2.0  # how much must speak for openings before rows are called postings
ENOUGH_ALONE = 3.0  # the same for a single row, which may be anything
NEAR_BEST = 2.0  # of score: a list that may be what the page is for
LIKENESS = 1.5  # of score for each point that speaks for openings
ENOUGH_TOLD = 2  # fields of a row that stands alone
ALIKE = 0.5
SAMPLE = 8
MAX_NODES = 250
MAX_FIELD = 120
_NOT_LETTERS = re.compile(r"[^a-z]+")
_FIELDS = ("company", "location", "posted", "salary", "employment_type")
_TOLD = ("company", "location", "salary", "employment_type", "posted")


def read_lists(facts: Facts, *, today: date) -> Listing | None:
    """The openings that the page shows as rows; None where no rows look like openings."""
    best = openings_list(facts)
    if best is None:
        return None
    many = _is_of_many(facts)
    rows = _of_one_kind([row for row in best.rows if not row.aside])
    postings = [_posting(row, today, many=many) for row in rows]
    return Listing(merged(postings), "the rows of the page", rows=len(postings), share=best.share)


def openings_list(facts: Facts) -> ListGroup | None:
    """The list of a page whose rows are openings: the likeliest of those that speak of employment."""
    top = max((group.score for group in facts.lists), default=0.0)
    ranked = sorted(
        ((_likeness(group, facts.document, top), group) for group in facts.lists),
        key=lambda pair: -(pair[0] * LIKENESS + pair[1].score),
    )
    found = next((group for likeness, group in ranked if likeness >= ENOUGH), None)
    if found is not None:
        return found
    lone = (group for group in facts.lone_rows if len(set(group.rows[0].fields) & set(_TOLD)) >= ENOUGH_TOLD)
    alone = ((_likeness(group, facts.document, top), group) for group in lone)
    return next((group for likeness, group in alone if likeness >= ENOUGH_ALONE and _speaks(group)), None)


def _likeness(group: ListGroup, document: Document, top: float) -> float:
    """How much speaks for openings: the address, names of classes, the page's headline, what the rows
    hold.
    """
    own = [row for row in group.rows if not row.aside]
    if not own or sum(is_category(row.title) for row in own) * 2 >= len(own):
        return 0.0
    linked = sum(row.url is not None for row in own)
    if group.menu or linked * 2 <= len(own) or group.alike < ALIKE:
        return 0.0  # rows that lead nowhere are paragraphs, rows unlike each other are parts of the page
    address = 1.5 if _speaks(group) else 0.0
    named = 1.0 if _pieces(" ".join(f"{_names(row)} {_around(row)}" for row in own[:5])) else 0.0
    page = 1.0 if _is_page_of_openings(document) else 0.0
    sample = own[:SAMPLE]
    filled = sum(any(name in row.fields for name in _TOLD) for row in sample) / len(sample)
    if not address and not named:
        # On a page about openings, the list that the page is for needs no more than rows that name a place,
        # a company or what is paid.
        is_main = group.score >= top - NEAR_BEST
        told = sum(
            bool(set(row.fields) & {"location", "company", "salary", "employment_type"}) for row in sample
        )
        return page + filled + 1.0 if page and is_main and told * 2 > len(sample) else 0.0
    return address + named + page + filled


def _of_one_kind(rows: list[ListRow]) -> list[ListRow]:
    """Rows without those of another box that lead elsewhere: news in the same markup as the openings."""
    speaking = [row for row in rows if row.url and _pieces(_path(row.url))]
    boxes = {row.node.parent for row in speaking}
    if len(speaking) * 2 < len(rows) or len(speaking) == len(rows):
        return rows
    return [row for row in rows if row.node.parent in boxes]


def _path(url: str) -> str:
    return shape(url).partition("/")[2]


def _is_page_of_openings(document: Document) -> bool:
    return should_list(document) or words("employment").names(f"{document.title} {_headline(document)}")


def _speaks(group: ListGroup) -> bool:
    """Whether the addresses themselves speak of openings."""
    paths = [_path(url) for url in group.urls[:SAMPLE]]
    return sum(map(_pieces, paths)) * 2 > len(paths)


def _is_of_many(facts: Facts) -> bool:
    """Whether the rows are those of many employers, so that the text beside a title may name one."""
    label = label_of(facts.document.url) if facts.document.url else ""
    return is_board_of_many(facts.document, facts, label)


def is_category(title: str) -> bool:
    """Whether a text names a list of openings: "Jobs in Leeds"."""
    text = plain(title)
    return text.endswith(vocabulary("employment")["category_ends"]) or words(
        "employment", "categories"
    ).names(text)


def _pieces(text: str) -> bool:
    return any(piece in text.lower() for piece in vocabulary("employment")["pieces"])


def _names(row: ListRow) -> str:
    """Class names, ids and data attributes of a row, for hints."""
    return " ".join(value for name in NAMING if (value := row.node.attribute(name)))


def _around(row: ListRow) -> str:
    return " ".join(each.attribute("class") or "" for each in islice(row.node.ancestors, 3))


def _headline(document: Document) -> str:
    found = document.root.css_first("h1")
    return found.line if found else ""


def _posting(row: ListRow, today: date, *, many: bool) -> Posting:
    said = row.fields
    beside = said.get("beside") if many else None
    return Posting(
        title=row.title,
        company=said.get("company") or beside,
        location=said.get("location"),
        url=row.url,
        posted_date=posted_on(said.get("posted"), today),
        employment_type=said.get("employment_type"),
        salary=salary_of(said.get("salary") or said.get("price")),
        where=row.node.path,
    )


def fields_of(card: Node) -> dict[str, str]:
    """What the names of a row's elements say about its texts. Nothing is read into a text without such a
    name.
    """
    said: dict[str, str] = {}
    linked: dict[
        str, str
    ] = {}  # what a link to a company's page says, or a time for machines: the names of elements may be mistaken
    for number, node in enumerate(card.walk()):
        if number > MAX_NODES:
            break
        if node.tag == "time" and "posted" not in linked:
            written = node.attribute("datetime")
            said["posted"] = written or said.get("posted") or node.line
            if written:
                linked["posted"] = written
        if (
            "company" not in linked
            and node.tag == "a"
            and COMPANY_PAGE.search(node.attribute("href") or "")
            and _is_usable("company", node.line)
        ):
            linked["company"] = node.line
        for field in _hinted(_NOT_LETTERS.sub("-", _name_of(node).lower())):
            text = _value(node)
            # An element inside the first one that is named the same says it more exactly.
            if _is_usable(field, text) and (
                field not in said or (len(text) < len(said[field]) and text in said[field])
            ):
                said[field] = text
    return _by_column(card) | said | _exact(linked, said)


def _exact(linked: dict[str, str], said: dict[str, str]) -> dict[str, str]:
    """A link may say more than the name ("12 reviews of Acme"); an element inside the same words that is
    named so says it exactly.
    """
    company = said.get("company", "")
    return {} if company and company in linked.get("company", "") else linked


def _by_column(row: Node) -> dict[str, str]:
    """What the head of a table says about the cells of its rows."""
    table = (
        next((each for each in islice(row.ancestors, 3) if each.tag == "table"), None)
        if row.tag == "tr"
        else None
    )
    head = table.css_first("tr") if table is not None else None
    if head is None or head == row:
        return {}
    pairs = zip(
        (field_of(cell.line) for cell in head.children), (cell.line for cell in row.children), strict=False
    )
    return {field: text for field, text in pairs if field in _FIELDS and _is_usable(field, text)}


def _value(node: Node) -> str:
    """The text of an element without the label it may carry."""
    defined = node.css_first("dd")
    return defined.line if defined else node.line


def _is_usable(field: str, text: str) -> bool:
    if (
        not 1 < len(text) <= MAX_FIELD
        or words("button").is_one(text)
        or plain(text).startswith(vocabulary("button")["starts"])
    ):
        return False
    return field in ("posted", "salary") or sum(char.isalpha() for char in text) * 2 > len(
        text
    )  # a number is an id, not a name


def _name_of(node: Node) -> str:
    return " ".join(filter(None, (node.attribute(name) for name in NAMING if name != "aria-label")))


def _hinted(names: str) -> Iterator[str]:
    if names:
        yield from (field for field, hints in _hints() if any(hint in names for hint in hints))


@cache
def _hints() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((field, tuple(vocabulary("fields")[f"{field}_hints"])) for field in _FIELDS)
