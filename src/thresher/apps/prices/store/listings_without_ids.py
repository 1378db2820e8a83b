"""Listings without an id, found again by what they say.

Their key holds their price and, if they have no date, the day on which they were seen. So the same listing
has another key on another day, and with another price. It would be a new point at each look, and its history
one of looks. Here it gets the key that it was first filed by.

Only what cannot be anything else is found again: the same title, address, date and type, and the same price;
or, for an ask with an address, another price, if the two are the only ones of their title that are left.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from thresher.apps.prices.dedupe import normalised_url
from thresher.apps.prices.model import PriceType
from thresher.store.bulk import among
from thresher.store.session import Session

_KNOWN = """select dedupe_key, price_type, title, url, listing_date, currency, price, ended_at, observed_at
    from price_points where item_id = :item and source_id = :source and external_id is null and title {keys}
    order by dedupe_key"""


class Said(NamedTuple):
    """What a listing without an id says, under its key."""

    key: str
    price_type: str
    title: str
    url: str | None
    listing_date: str | None
    currency: str
    price: int


class _Known(NamedTuple):
    """The same of a point that is stored."""

    said: Said
    ended_at: int
    observed_at: int


def keys_they_have(
    session: Session, listings: Sequence[Said], asked: Mapping[str, Any], *, began_at: int, at: int
) -> dict[str, str]:
    """The keys of stored points by those of the listings that they are, where the two differ.

    What another page of the same list has just shown is another listing, however alike the two are. The list
    began at `began_at`, and this page is of `at`.
    """
    titles = sorted({each.title for each in listings})
    stored = [
        _Known(Said(*row[:-2]), *row[-2:])
        for row in among(session.dialect, session, _KNOWN, titles, **asked)
        if not began_at <= row[-1] < at
    ]
    own = {each.key for each in listings}
    filed = {each.said.key for each in stored}
    rest = [each for each in listings if each.key not in filed]
    known = [each for each in stored if each.said.key not in own]
    found = _of_one_price(rest, known)
    left = [each for each in known if each.said.key not in found.values()]
    return found | _of_another_price([each for each in rest if each.key not in found], left)


def _of_one_price(listings: Iterable[Said], known: Iterable[_Known]) -> dict[str, str]:
    """Pairs that say the same to the last cent. Of several points the one that was seen last, a live one
    first.
    """
    keys: dict[tuple[Any, ...], str] = {}
    for each in sorted(known, key=lambda each: (each.ended_at > 0, -each.observed_at)):
        keys.setdefault(_whole(each.said), each.said.key)
    return {each.key: keys[_whole(each)] for each in listings if _whole(each) in keys}


def _of_another_price(listings: Iterable[Said], known: Iterable[_Known]) -> dict[str, str]:
    """Asks that have changed their price: the only ones of their title and address, then and now."""
    keys: dict[tuple[Any, ...], list[str]] = {}
    for each in known:
        if not each.ended_at:
            keys.setdefault(_without_price(each.said), []).append(each.said.key)
    asks = [each for each in listings if each.price_type == PriceType.ASK.value and each.url is not None]
    alike = Counter(map(_without_price, asks))
    return {
        each.key: keys[_without_price(each)][0]
        for each in asks
        if alike[_without_price(each)] == 1 == len(keys.get(_without_price(each), ()))
    }


def _whole(said: Said) -> tuple[Any, ...]:
    return (*_without_price(said), said.currency, said.price)


def _without_price(said: Said) -> tuple[Any, ...]:
    return said.price_type, said.title, normalised_url(said.url), said.listing_date
