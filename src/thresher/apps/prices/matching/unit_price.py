"""The price of one: what a listing asks for, divided by how many it offers; or why there is none.

A wrong price is worse than none. What is not certain does not count, and the reason says so.
"""

from dataclasses import dataclass

from thresher.apps.prices.matching.comparison import ListingTexts, affirmed, quote_of
from thresher.apps.prices.matching.lots import LotSize, lot_size
from thresher.apps.prices.matching.vocabulary import phrases
from thresher.apps.prices.matching.words import read_words
from thresher.apps.prices.model import Listing, PriceType

EACH = "each"


@dataclass(frozen=True, slots=True)
class UnitPrice:
    """The price of one, None where none could be read. `quantity` is how many the price is for, `quote` the
    text that says so, `reason` why the price does not count.
    """

    unit: int | None
    quantity: int = 1
    quote: str | None = None
    reason: str | None = None


def unit_price(
    listing: Listing, texts: ListingTexts, known: frozenset[str], own: int, *, is_coin: bool
) -> UnitPrice:
    """The price of one item. `known` are the item's own words, `own` how many pieces one item has."""
    if (reason := _no_price(listing)) is not None:
        return UnitPrice(None, reason=reason)
    amount = listing.amount or 0
    lot = _offered(listing, texts, known, is_coin=is_coin)
    reason = _doubtful(listing)
    each = affirmed(texts.title, phrases("each_words"))
    if (each or listing.per == EACH) and own == 1:
        quote = quote_of(texts.title, each[0]) if each else listing.quote
        if each and lot.quantity not in (None, 1):
            reason = (
                reason
                or f"it offers {lot.quantity} and speaks of one ({quote!r}): the price may be for either"
            )
        return UnitPrice(amount, 1, quote, reason)
    if lot.quantity is None:
        return UnitPrice(amount, 1, lot.quote, reason or lot.reason)
    if lot.quantity % own:
        said = f"it offers {lot.quantity}, and one item is {own} pieces"
        return UnitPrice(amount, 1, lot.quote, reason or said)
    quantity = lot.quantity // own
    return UnitPrice(_divided(amount, quantity), quantity, lot.quote, reason)


def pieces_of(words: str, *, is_coin: bool) -> int:
    """How many pieces one item has, from what is said of it: a "2-pack" has two."""
    found = lot_size(read_words(words), frozenset(), is_coin=is_coin)
    return found.quantity or 1


def _no_price(listing: Listing) -> str | None:
    """Why there is no price at all."""
    if listing.amount is None:
        return listing.doubts[0] if listing.doubts else "no price could be read"
    if listing.currency is None:
        return "the currency of the price is not known"
    if listing.amount <= 0:
        return "a price of 0 is no price"
    return None


def _doubtful(listing: Listing) -> str | None:
    """Why the price that was read does not count. Doubts beside an amount are about other fields."""
    if listing.high is not None and listing.high != listing.amount:
        return "the price is a range, and it does not say which variant costs what"
    if listing.per is not None and listing.per != EACH:
        return f"the price is per {listing.per}"
    if listing.price_type is PriceType.ASK and listing.available is False:
        return "it is not available"
    return None


def _offered(listing: Listing, texts: ListingTexts, known: frozenset[str], *, is_coin: bool) -> LotSize:
    """How many are offered, by the title and by the source's own count. Two that differ say nothing."""
    titled = lot_size(texts.title, known, is_coin=is_coin)
    said = listing.quantity
    if said is None or said < 1 or said == titled.quantity:
        return titled
    if said == 1 and titled.quantity is not None:
        return titled
    if (
        said > 1
        and titled.quantity in (None, 1)
        and (titled.quantity == 1 or "several" in (titled.reason or ""))
    ):
        return LotSize(said, titled.quote)
    if titled.quantity is None:
        return titled
    return LotSize(None, titled.quote, f"the source counts {said}, and the title {titled.quantity}")


def _divided(amount: int, quantity: int) -> int:
    """Half up, in whole numbers."""
    return (2 * amount + quantity) // (2 * quantity)
