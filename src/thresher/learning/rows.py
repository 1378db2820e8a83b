"""Rows by repeated structure: the things of a page of results, without a label and without a model.

Cards are found by the shape of what they link to. What a card is called and where it leads is known from
that; a price, a date or a picture is taken if the card has exactly one, any other field from the one element
that bears its name.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from thresher.core.schema import Field, Kind, Schema
from thresher.learning.meaning import meaning
from thresher.learning.wording import one_line, value_of
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.lists.find_lists import ListGroup, ListRow
from thresher.reading.lists.pieces import NAMING
from thresher.reading.structured.facts import Facts
from thresher.reading.values.money import Price, read_price

MIN_ROWS = 3
MAX_ROWS = 1_000
MAX_GROUPS = 10
SAMPLE = 10
FAR_MORE = 2  # fields
MAX_INSIDE = 300
MAX_LENGTH = 300


def rows(schema: Schema, document: Document) -> list[dict[str, Any]]:
    """The things of the largest group of alike cards, or of one that says far more of what was asked for;
    none without a group.
    """
    large = [cards for each in Facts(document).lists[:MAX_GROUPS] if len(cards := _own(each)) >= MIN_ROWS]
    full = [_fullness(schema, cards, document) for cards in large]
    best = next(
        (cards for cards, fullness in zip(large, full, strict=True) if fullness > max(full) - FAR_MORE), []
    )
    found = [_thing(schema, card, document) for card in best[:MAX_ROWS]]
    return [thing for thing in found if thing]


def _fullness(schema: Schema, cards: Sequence[ListRow], document: Document) -> int:
    """How many fields most cards have, by a sample of them."""
    sample = [_thing(schema, card, document) for card in cards[:SAMPLE]]
    return sum(2 * sum(field.name in thing for thing in sample) > len(sample) for field in schema.fields)


def _own(group: ListGroup) -> list[ListRow]:
    return [card for card in group.rows if not card.aside]


def _thing(schema: Schema, card: ListRow, document: Document) -> dict[str, Any]:
    said = ((field.name, _value(field, card, document)) for field in schema.fields if not field.judged)
    return {name: value for name, value in said if value is not None}


def _value(field: Field, card: ListRow, document: Document) -> Any:
    text = _text(field, card)
    value = value_of(field, text, document) if text and len(text) <= MAX_LENGTH else None
    return [value] if field.many and value is not None else value


def _text(field: Field, card: ListRow) -> str | None:
    match meaning(field):
        case "title" | "name":
            return card.title
        case "url":
            return card.url
        case "image":
            return _only(
                {src for image in card.node.css("img[src]")[:MAX_INSIDE] if (src := image.attribute("src"))}
            )
    if field.kind is Kind.MONEY:
        return _only({line for line in _lines(card.node) if isinstance(read_price(line), Price)})
    return _only({one_line(node.line) for node in _inside(card.node) if _bears(node, field)})


def _lines(node: Node) -> Iterator[str]:
    return (line for each in _inside(node) if (line := one_line(each.own_text)) and len(line) <= 60)


def _inside(node: Node) -> Iterator[Node]:
    return islice(node.walk(), MAX_INSIDE)


def _bears(node: Node, field: Field) -> bool:
    wanted = {field.name.replace("_", "-"), field.name, meaning(field).replace("_", "-")}
    return any(
        name.lower() in wanted for attribute in NAMING for name in (node.attribute(attribute) or "").split()
    )


def _only(found: set[str]) -> str | None:
    return found.pop() if len(found) == 1 else None
