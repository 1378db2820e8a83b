"""Postings from the rows of a page: which cards are openings, and what each row says besides its title."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.labels import field_of
from thresher.reading.html.parser import Node
from thresher.reading.lists.cards import MAX_LEVELS, NAMING, Card, CardGroup
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.structured.facts import Facts
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
MAX_NODES = 250
MAX_FIELD = 120
_ADVERT = re.compile(r"/(?:pagead|adclick|aclk|ads?|sponsored|adserver|click-?ad)(?:/|\?|$)", re.IGNORECASE)
COMPANY_PAGE = re.compile(
    r"/(?:compan|cmp|employer|firma|unternehmen|entreprise|empresa|azienda|bedrijf|organi[sz]ation)[\w-]*/",
    re.IGNORECASE,
)
_NOT_LETTERS = re.compile(r"[^a-z]+")
_FIELDS = ("company", "location", "posted", "salary", "employment_type")


def read_cards(facts: Facts, *, today: date) -> Listing | None:
    """The openings that the page shows as rows; None where no rows look like openings."""
    document, found = facts.document, facts.groups
    ranked = sorted(
        ((_likeness(group, document), group) for group in found), key=lambda pair: -pair[0] * _own(pair[1])
    )
    for likeness, group in ranked:
        if likeness >= (ENOUGH if _own(group) > 1 else ENOUGH_ALONE) and (_own(group) > 1 or _speaks(group)):
            cards = _completed(group, found)
            postings = [
                _posting(card, today) for card in cards if not card.aside and not _ADVERT.search(card.url)
            ]
            return Listing(merged(postings), "the rows of the page", rows=len(postings)) if postings else None
    return None


def _own(group: CardGroup) -> int:
    return sum(not card.aside for card in group.cards)


def _likeness(group: CardGroup, document: Document) -> float:
    """How much speaks for openings: the address, names of classes, the page's headline, what the rows
    hold.
    """
    own = [card for card in group.cards if not card.aside]
    if not own or sum(is_category(card.title) for card in own) * 2 >= len(own):
        return 0.0
    address = 1.5 if _speaks(group) else 0.0
    named = 1.0 if _pieces(" ".join(f"{card.names} {_around(card)}" for card in own[:5])) else 0.0
    page = 1.0 if words("employment").names(f"{document.title} {_headline(document)}") else 0.0
    sample = own[:8]
    filled = sum(
        bool(set(fields_of(card.node)) & {"company", "location", "posted", "salary"}) for card in sample
    ) / len(sample)
    if (
        not address and not named
    ):  # on the page that lists a company's openings, rows that name their place need no more
        return (
            page + filled + 1.0
            if should_list(document) and all("location" in fields_of(card.node) for card in sample)
            else 0.0
        )
    return address + named + page + filled


def _speaks(group: CardGroup) -> bool:
    """Whether the addresses themselves speak of openings."""
    return _pieces(group.shape.partition("/")[2])


def is_category(title: str) -> bool:
    """Whether a text names a list of openings: "Jobs in Leeds"."""
    text = plain(title)
    return text.endswith(vocabulary("employment")["category_ends"]) or words(
        "employment", "categories"
    ).names(text)


def _pieces(text: str) -> bool:
    return any(piece in text.lower() for piece in vocabulary("employment")["pieces"])


def _around(card: Card) -> str:
    return " ".join(each.attribute("class") or "" for each in islice(card.node.ancestors, 3))


def _headline(document: Document) -> str:
    found = document.root.css_first("h1")
    return found.line if found else ""


def _completed(group: CardGroup, found: Sequence[CardGroup]) -> list[Card]:
    """The group with the rows that stand among its own but have an address of another shape."""
    parents = Counter(card.node.parent for card in group.cards if card.node.parent and not card.aside)
    if not parents:
        return list(group.cards)
    parent, count = parents.most_common(1)[0]
    if parent is None or count < 2 or count * 2 < len(group.cards):
        return list(group.cards)
    alike = {(card.node.tag, card.node.classes) for card in group.cards if card.node.parent == parent}
    known = {card.node for card in group.cards}
    for card in (card for other in found if other is not group for card in other.cards):
        row = next(
            (each for each in (card.node, *islice(card.node.ancestors, MAX_LEVELS)) if each.parent == parent),
            None,
        )
        if row is not None and row not in known and (row.tag, row.classes) in alike:
            known.add(row)
            group = CardGroup(group.shape, (*group.cards, replace(card, node=row, aside=False)))
    order = {node: place for place, node in enumerate(parent.children)}
    return sorted(group.cards, key=lambda card: order.get(card.node, len(order)))


def _posting(card: Card, today: date) -> Posting:
    said = fields_of(card.node)
    return Posting(
        title=card.title,
        company=said.get("company"),
        location=said.get("location"),
        url=card.url,
        posted_date=posted_on(said.get("posted"), today),
        employment_type=said.get("employment_type"),
        salary=salary_of(said.get("salary")),
        where=card.node.path,
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
