"""A row of an API's answer as a listing. What a row says is a stranger's: a value that does not fit is left
out and named, and a row without a title is no listing.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

from thresher.apps.prices.adapters.amounts import ReadAmount, read_amount
from thresher.apps.prices.adapters.definition import ListingAnswer, ListingApi, Pairs
from thresher.apps.prices.model import Listing, PriceType
from thresher.core.page import Page
from thresher.reading.apis.answer import ListAnswer, kind_of
from thresher.reading.apis.request import web_link
from thresher.reading.platforms.paths import (
    Leaf,
    LocatedText,
    first,
    located,
    located_field,
    spelled,
    text_of,
)
from thresher.reading.text.plain import described
from thresher.reading.values.dates import read_date

MAX_TITLE = 300
MAX_ID = 200
MAX_VALUE = 200
MAX_QUOTE = 300
MAX_ASPECTS = 40
MAX_PAIRS = 200
MAX_DOUBTS = 10
MAX_QUANTITY = 1_000_000
LATEST = date(2100, 1, 1)  # where nobody knows which day it is, no day is too late
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)


def listing_of(api: ListingApi, answer: ListAnswer[ListingAnswer], row: Leaf) -> Listing | str:
    """A row as a listing, or why it is none."""
    if not isinstance(row.value, Mapping):
        return f"it is {kind_of(row.value)}, not an object"
    said = {name: _found(spec, row, answer.data) for name, spec in answer.shape.fields.items()}
    title = line_of(_text(said, "title"), MAX_TITLE)
    if not any(char.isalnum() for char in title):
        return "it has no title"
    price_type = _type(api, row.value, answer.data)
    if price_type is None:
        return f"{api.price.path} does not say whether it was sold or is for sale"
    doubts: list[str] = []
    amount = _amount(answer.shape, said, row, doubts)
    before = len(doubts)
    high, quantity = _other(said, "high", amount, doubts) or amount.high, _quantity(said, doubts)
    if len(doubts) > before:  # an amount of which nobody can tell what it buys is not believed either
        amount, high, quantity = ReadAmount(), None, None
    identity = line_of(_text(said, "id"), MAX_ID + 1)
    if len(identity) > MAX_ID:
        doubts.append(f"its id has more than {MAX_ID} characters")
    url = web_link(_text(said, "url"), answer.page.final_url)
    if _text(said, "url") and url is None:
        doubts.append("its address is no web address")
    where = said.get("amount")
    return Listing(
        title=title,
        price_type=price_type,
        amount=amount.minor,
        currency=amount.currency,
        quote=line_of(where.text if where else None, MAX_QUOTE),
        place=_place(where, row),
        external_id=identity if 0 < len(identity) <= MAX_ID else None,
        url=url,
        high=high,
        was=_was(said, amount, doubts),
        shipping=_shipping(said, amount, doubts),
        quantity=quantity,
        per=line_of(_text(said, "per"), MAX_VALUE) or amount.per,
        condition=line_of(_text(said, "condition"), MAX_VALUE) or None,
        aspects=_aspects(answer.shape, row, answer.data),
        listed_on=_day(said, day_of(answer.page), doubts),
        available=None if price_type is PriceType.SOLD else True,
        doubts=tuple(doubts[:MAX_DOUBTS]),
    )


def line_of(text: str | None, limit: int) -> str:
    """A stranger's text on one line, without markup and controls."""
    plain = (described(text) or "") if text and ("&" in text or "<" in text) else text or ""
    line = "".join(char if char.isprintable() else " " for char in plain)
    return " ".join(line.split())[:limit].rstrip()


def day_of(page: Page) -> date:
    """The day on which a page was fetched, where it is known."""
    return (_EPOCH + timedelta(microseconds=page.fetched_at)).date() if page.fetched_at else LATEST


def believed_day(text: str | None, today: date) -> date | None:
    """The day that a text names for certain. A day that has not come yet is nonsense."""
    found = read_date(text, today=today) if text else None
    if found is None or found.precision != "day" or found.or_earlier or found.approximate:
        return None
    return found.day if found.day <= today + _DAY else None


def _found(spec: Any, row: Leaf, data: Any) -> LocatedText | None:
    return located_field(spec)(row.value, data)


def _text(said: Mapping[str, LocatedText | None], name: str) -> str | None:
    found = said.get(name)
    return found.text if found is not None else None


def _type(api: ListingApi, row: Any, data: Any) -> PriceType | None:
    if api.price.fixed is not None:
        return api.price.fixed
    word = text_of(first(api.price.path, row, data))
    return api.price.words.get(word.casefold()) if word else None


def _amount(
    shape: ListingAnswer, said: Mapping[str, LocatedText | None], row: Leaf, doubts: list[str]
) -> ReadAmount:
    """What the row costs. One that is doubted is not believed."""
    found = read_amount(_text(said, "amount"), _text(said, "currency"))
    where = said.get("amount")
    if where is not None and len(where.parts) > 1 and not isinstance(shape.fields["amount"], Mapping):
        found = ReadAmount(doubt=f"it has {len(where.parts)} prices, and none is chosen")
    if found.doubt:
        doubts.append(found.doubt)
    for each in shape.doubts:
        words = (text_of(leaf.value) for leaf in islice(located(each.path, row.value), MAX_PAIRS))
        if any(word and (not each.words or word.casefold() in each.words) for word in words):
            doubts.append(each.says)
            found = ReadAmount()
    return found


def _other(
    said: Mapping[str, LocatedText | None], name: str, amount: ReadAmount, doubts: list[str]
) -> int | None:
    """Another amount of the same row, in the same currency."""
    text = _text(said, name)
    if text is None or amount.currency is None:
        return None
    found = read_amount(text, amount.currency, what=f"the field {name}")
    if found.doubt:
        doubts.append(found.doubt)
    return found.minor


def _was(said: Mapping[str, LocatedText | None], amount: ReadAmount, doubts: list[str]) -> int | None:
    found = _other(said, "was", amount, doubts) or amount.was
    return found if found is not None and found > (amount.minor or 0) else None


def _shipping(said: Mapping[str, LocatedText | None], amount: ReadAmount, doubts: list[str]) -> int | None:
    """What sending it costs, in the currency of the price. It may cost nothing."""
    text, currency = _text(said, "shipping"), _text(said, "shipping_currency") or amount.currency
    if text is None or amount.currency is None:
        return None
    if currency != amount.currency:
        doubts.append(f"shipping is in {line_of(currency, 10)}, the price in {amount.currency}")
        return None
    if not text.strip("0. "):
        return 0
    found = read_amount(text, currency, what="shipping")
    if found.doubt:
        doubts.append(found.doubt)
    return found.minor


def _quantity(said: Mapping[str, LocatedText | None], doubts: list[str]) -> int | None:
    text = _text(said, "quantity")
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 10 and 0 < int(text) <= MAX_QUANTITY:
        return int(text)
    doubts.append(f"its quantity is {line_of(text, 20)!r}, which is no number of things")
    return None


def _day(said: Mapping[str, LocatedText | None], today: date, doubts: list[str]) -> date | None:
    text = _text(said, "listed")
    found = believed_day(text, today)
    if text and found is None:
        doubts.append(f"its date is {line_of(text, 30)!r}, which names no certain day")
    return found


def _aspects(shape: ListingAnswer, row: Leaf, data: Any) -> Mapping[str, str]:
    named = ((name, _found(spec, row, data)) for name, spec in shape.aspects.items())
    made = {name: line_of(found.text, MAX_VALUE) for name, found in named if found is not None}
    for name, value in _paired(shape.pairs, row):
        if len(made) < MAX_ASPECTS:
            made.setdefault(name, value)
    return {name: value for name, value in made.items() if name and value}


def _paired(pairs: Iterable[Pairs], row: Leaf) -> Iterator[tuple[str, str]]:
    for each in pairs:
        for leaf in islice(located(each.each, row.value), MAX_PAIRS):
            name, value = text_of(first(each.name, leaf.value)), text_of(first(each.value, leaf.value))
            if name and value:
                yield line_of(name, 60).lower(), line_of(value, MAX_VALUE)


def _place(found: LocatedText | None, row: Leaf) -> str:
    if found is None or not found.parts:
        return ""
    trail = found.parts[0].trail
    return spelled(trail if trail[:1] == ("^",) else (*row.trail, *trail))
