"""What the rows of a list say besides their title: company, location, date, pay, price.

A field belongs to a column, not to a text: where most texts of a column are places, the others are, too, and
where its element is named after the field, all of them are. A label ("Location: Leeds") counts before both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thresher.reading.html.labels import field_of
from thresher.reading.lists.pieces import Piece
from thresher.reading.lists.roles import (
    FIELDS,
    is_button,
    is_date,
    is_price,
    role_of,
)
from thresher.reading.lists.table import Column, RowTable
from thresher.reading.values.places import is_place

MAX_FIELD = 120
MAX_LABEL = 30
MAX_BESIDE = 80  # characters of a text beside the title
MOST = 0.5  # share of a column that decides what it is
SOME = 0.25
BESIDE = 0.6  # share of rows that have a text beside their title
SEVERAL = 3  # names: a long list of few employers repeats each of them


@dataclass(frozen=True, slots=True)
class _Said:
    """A text of a row, and how sure it is that it says this."""

    sure: float
    text: str


def fields_of_rows(table: RowTable) -> list[Mapping[str, str]]:
    """The fields of each row. `beside` is the text that stands next to the title in most rows: on a page of
    openings, mostly the company.
    """
    kinds = {column.slot: _kinds(column) for column in table.columns}
    heads = _heads(table)
    found = [
        _fields(pieces, title, kinds) | _by_head(cells, heads)
        for pieces, title, cells in zip(table.pieces, table.titles, table.cells, strict=True)
    ]
    beside = _beside(table, kinds)
    return [
        {**said, **({"beside": text} if (text := _text_in(pieces, beside, title)) else {})}
        for said, pieces, title in zip(found, table.pieces, table.titles, strict=True)
    ]


def _kinds(column: Column) -> dict[str, float]:
    """The fields that a column may hold, and how much speaks for each."""
    found: dict[str, float] = {}
    role = role_of(column.names)
    if role in FIELDS or role == "price":
        found[str(role)] = 2.0
    if column.company_link > MOST:
        found["company"] = max(found.get("company", 0.0), 1.9)  # a link may say more than the name
    measured = {
        "location": column.place,
        "posted": max(column.date, column.machine),
        "price": column.price,
        "employment_type": column.type,
        "company": column.company * 0.8,
    }
    for field, share in measured.items():
        if share >= (MOST if field in ("posted", "price", "employment_type") else SOME):
            found[field] = found.get(field, 0.0) + 1.0 + share
    return found


def _fields(
    pieces: Sequence[Piece], title: str | None, kinds: Mapping[str, dict[str, float]]
) -> dict[str, str]:
    best: dict[str, _Said] = {}
    for field, said in _candidates(pieces, title, kinds):
        if _is_usable(field, said.text) and (field not in best or said.sure > best[field].sure):
            best[field] = said
    found = {field: said.text for field, said in best.items()}
    return found | _places(pieces, found.get("location"))


def _places(pieces: Sequence[Piece], first: str | None) -> dict[str, str]:
    """All the places of a row that stand side by side: a link for each town."""
    slot = next((piece.slot.partition("#")[0] for piece in pieces if piece.text == first), None)
    texts = [piece.text for piece in pieces if piece.slot.partition("#")[0] == slot and is_place(piece.text)]
    joined = ", ".join(dict.fromkeys(texts))
    return {"location": joined} if first in texts and len(texts) > 1 and len(joined) <= MAX_FIELD else {}


def _candidates(
    pieces: Sequence[Piece], title: str | None, kinds: Mapping[str, dict[str, float]]
) -> Iterator[tuple[str, _Said]]:
    label: str | None = None
    for piece in pieces:
        if label is not None:
            yield label, _Said(5.0, piece.text)
        label, value = _labelled(piece.text)
        if label and value:
            yield label, _Said(5.0, value)
            label = None
        if piece.text != title:
            for field, sure in kinds.get(piece.slot, _kinds_of(piece)).items():
                text = piece.machine if field == "posted" and piece.machine else piece.text
                yield field, _Said(sure + _value_fits(field, piece), text)


def _kinds_of(piece: Piece) -> dict[str, float]:
    """The same for a text in a slot that few rows have."""
    role = role_of(piece.names)
    found = {str(role): 1.0} if role in FIELDS or role == "price" else {}
    if piece.machine and "time" in piece.tags:
        found["posted"] = 2.0
    if is_place(piece.text):
        found["location"] = 1.0
    return found


def _value_fits(field: str, piece: Piece) -> float:
    match field:
        case "location":
            return 1.0 if is_place(piece.text) else 0.0
        case "posted":
            return 1.0 if piece.machine or is_date(piece.text) else -2.0
        case "price" | "salary":
            return 1.0 if is_price(piece.text) else -1.0
        case "company":
            return -3.0 if is_place(piece.text) or is_date(piece.text) or is_price(piece.text) else 0.0
    return 0.0


def _labelled(text: str) -> tuple[str | None, str]:
    """The field and the value of `Location: Leeds`; of a label alone, the field."""
    label, colon, value = text.partition(":")
    if not colon:
        label, colon, value = text.partition("：")
    if len(label) > MAX_LABEL or (not colon and len(text) > MAX_LABEL):
        return None, ""
    field = field_of(label) if colon else None
    return (field if field in FIELDS else None), value.strip()


def _is_usable(field: str, text: str) -> bool:
    if not 1 < len(text) <= MAX_FIELD or is_button(text):
        return False
    if field in ("posted", "salary", "price"):
        return any(char.isdigit() for char in text) or is_date(text)
    return sum(char.isalpha() for char in text) * 2 > len(text)  # a number is an id, not a name


def _beside(table: RowTable, kinds: Mapping[str, dict[str, float]]) -> list[str]:
    """The slots of short texts that most rows have and that are nothing else, the nearest to the title
    first.
    """
    place = _order_of_titles(table)
    free = [
        column
        for column in table.columns
        if column.coverage >= BESIDE
        and 2 <= column.length <= MAX_BESIDE
        and not kinds[column.slot]
        and not _is_other(column)
        and column.slot not in table.title_slots
        and column.button < SOME
        and column.worded > MOST
        and (column.distinct > SOME or len(table.pieces) < 4 or len(set(column.texts)) >= SEVERAL)
    ]
    # What the addresses repeat beside the title (`/jobs/cook/acme`) is a name.
    return [
        column.slot
        for column in sorted(free, key=lambda each: (table.repeated(each) < MOST, abs(each.order - place)))
    ]


def _is_other(column: Column) -> bool:
    """Whether a text says by its own element that it is no name. What the box around several texts is called
    (`meta`, `footer`) is about all of them.
    """
    has_class = "." in column.slot.rpartition("/")[2]
    return has_class and role_of(column.names) == "other"


def _order_of_titles(table: RowTable) -> float:
    slots = table.title_slots
    orders = [column.order for column in table.columns if column.slot in slots]
    return orders[0] if orders else 0.0


def _text_in(pieces: Sequence[Piece], slots: Sequence[str], title: str | None) -> str | None:
    texts = {piece.slot: piece.text for piece in pieces if piece.text != title}
    return next((texts[slot] for slot in slots if slot in texts), None)


# Tables: the head of a column says what its cells hold.


def _heads(table: RowTable) -> list[str | None]:
    return [field if (field := field_of(text)) in FIELDS else None for text in table.head]


def _by_head(cells: Sequence[str], heads: Sequence[str | None]) -> dict[str, str]:
    if len(cells) != len(heads):
        return {}
    return {
        field: text for field, text in zip(heads, cells, strict=True) if field and _is_usable(field, text)
    }
