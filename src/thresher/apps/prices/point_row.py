"""A judged listing as the row of a price point: pure, and bounded whatever the listing says."""

from typing import Any, NamedTuple

import orjson

from thresher.apps.prices.dedupe import dedupe_key
from thresher.apps.prices.model import JudgedListing, PointEvidence
from thresher.core.keys import MAX_URL
from thresher.core.limits import without_controls
from thresher.core.stored import written

MAX_AMOUNT = 10**15  # in the smallest unit: what is more is no price of anything
MAX_QUANTITY = 1_000_000
MAX_TITLE, MAX_WORDS = 500, 200  # characters of a title; of a condition, a grade and a reason
MAX_QUOTE, MAX_LISTED = 500, 50  # characters of a quote; signals and doubts of one point


class PointRow(NamedTuple):
    """A listing on its way into the table: what one row says, in the order of its columns."""

    dedupe_key: str
    external_id: str | None
    price: int
    currency: str
    price_type: str
    unit: int
    quantity: int
    match_strength: int
    counts: int
    reason: str | None
    title: str
    url: str | None
    item_condition: str | None
    grade: str | None
    listing_date: str | None
    evidence: str
    body: str | None


def point_row(judged: JudgedListing, observed_at: int, body: str | None) -> PointRow | None:
    """A judged listing as a row; None where no price could be read. `body` is the hash of the answer.

    Where nobody knows how many a listing offers, it has no price of one: it does not count, and its unit is
    the price of all.
    """
    listing = judged.listing
    if not _is_price(listing.amount) or not listing.currency:
        return None
    assert listing.amount is not None
    reason, counts, unit = judged.reason, judged.counts, judged.unit
    if not _is_price(unit) or not 1 <= judged.quantity <= MAX_QUANTITY:
        reason, counts, unit = reason or "it is not known how many it offers", False, listing.amount
    assert unit is not None
    return PointRow(
        dedupe_key(listing, observed_at),
        _text(listing.external_id, MAX_WORDS),
        listing.amount,
        listing.currency,
        listing.price_type.value,
        unit,
        min(max(judged.quantity, 1), MAX_QUANTITY),
        judged.strength,
        int(counts),
        _text(reason, MAX_WORDS),
        _text(listing.title, MAX_TITLE) or "",
        _text(listing.url, MAX_URL) if len(listing.url or "") <= MAX_URL else None,
        _text(listing.condition, MAX_WORDS),
        _text(judged.grade, MAX_WORDS),
        listing.listed_on.isoformat() if listing.listed_on else None,
        _evidence(judged),
        body,
    )


def _is_price(amount: int | None) -> bool:
    return amount is not None and 0 <= amount <= MAX_AMOUNT


def _evidence(judged: JudgedListing) -> str:
    listing = judged.listing
    quote, place = _text(listing.quote, MAX_QUOTE) or "", _text(listing.place, MAX_QUOTE) or ""
    doubts = tuple(_text(each, MAX_QUOTE) or "" for each in listing.doubts[:MAX_LISTED])
    amounts = (each if _is_price(each) else None for each in (listing.shipping, listing.was, listing.high))
    evidence = PointEvidence(None, quote, place, judged.signals[:MAX_LISTED], doubts, *amounts)
    try:
        return orjson.dumps(written(evidence)).decode()
    except TypeError:  # half a surrogate pair in a signal
        return orjson.dumps(_encodable(written(evidence))).decode()


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {name: _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value


def _text(text: str | None, most: int) -> str | None:
    """What both databases can store and a terminal can show of a text."""
    if not text:
        return None
    cut = text[:most]
    return without_controls(cut if cut.isascii() else cut.encode("utf-8", "replace").decode())
