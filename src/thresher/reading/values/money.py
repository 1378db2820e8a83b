"""What a text says something costs, or why it does not say.

Our own rather than price-parser's: that one always answers with the first number it meets ("free shipping
over $50" costs 50 there), and a wrong price is worse than none. The amount is exact and counted in the
currency's smallest unit.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from thresher.reading.values import currency
from thresher.reading.values.amounts import Amount, AmountRole, amounts
from thresher.reading.values.currency import Currency, minor_digits
from thresher.reading.values.numbers import plain_digits

MAX_LENGTH = 1_000  # characters: what is longer is a description, and its first number anything


@dataclass(frozen=True, slots=True)
class Price:
    """A price as read. `amount` is as written, `amount_minor` counts the smallest unit (cents; two digits
    where the currency is unknown).

    `currency` is an ISO 4217 code; `certain` is False where the sign `symbol` may mean another one too.
    `high` is the upper end of a range, `was` the list price named beside it, both in the smallest unit.
    `bound` is "from" or "up to". `per` is what it buys where that is not the whole thing: "kg", "hour",
    "month". `text` is the part that was read.
    """

    amount_minor: int
    currency: str | None
    text: str
    amount: Decimal
    symbol: str | None = None
    certain: bool = True
    high: int | None = None
    was: int | None = None
    bound: str | None = None
    per: str | None = None


@dataclass(frozen=True, slots=True)
class NoPrice:
    """There is no price in it, and why."""

    reason: str
    text: str = ""


_RANGE = re.compile(r"\s*(?:[-–—~〜]|to|bis|à|a|до|do|til|till|tot|hasta|até|until)\s*", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|und|et|y|e|en|i|и|og|och)\s*", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\b(?:between|zwischen|entre|tra|fra|tussen|między|mellan|mellem|между)\s*$", re.IGNORECASE
)
_FREE = re.compile(
    r"(?:price|preis|prix|cena|цена)?[\s:]*(?:for |currently |it['’]s )?(?:free|gratis|kostenlos|gratuit|gratuito|gratuita|grátis|za darmo|"
    r"zdarma|бесплатно|безкоштовно|ingyenes|ücretsiz|ilmainen|無料|免费|무료)(?: of charge| download)?[\s!.*]*",
    re.IGNORECASE,
)
_ON_REQUEST = re.compile(
    r"\b(?:call|ask|contact|request|inquire|enquire|quote|poa|anfrage|demande|consult\w*|richiesta|aanvraag|zapytaj|уточн\w+|запрос\w*|договор\w+|"
    r"negotiable|tbd|tba)\b",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"sold out|out of stock|unavailable|not available|no longer|ausverkauft|vergriffen|agotado|épuisé|esgotado|esaurito|"
    r"нет в наличии|немає",
    re.IGNORECASE,
)
# The only words that may stand beside a number without a currency.
_BESIDE = """
    price prices cost costs now only just from to at sale our your special regular retail list was each incl inc including excl ex vat tax
    gst hst current original final total rrp msrp net gross for buy approx about estimate estimated best today new old unit per ea starting
    as low the is preis nur jetzt ab statt inkl exkl mwst zzgl und versand brutto netto uvp prix dès ttc ht à partir de precio desde iva
    incluido ahora antes preço por prezzo da prijs vanaf btw pris från fra nu cena od do naše běžná hinta fiyat fiyatı kdv ár цена цены ціна
    от від за розничная стоимость стартовая итого τιμή από giá
"""
_PRICE_WORDS = frozenset(_BESIDE.split())
_BROKEN = re.compile(
    r"^(\D*\d[\d.,']*[.,]) (\d{2}(?:$|\s*[^\s\d.,:/x-]))"
)  # "8. 94": the cents fell off their point
_SPLIT = re.compile(r"(\D*\d[\d.,']*)\s?([€$£])\s?(\d{2})[^\d€$£]*|(.*[€$£])\s?(\d[\d,.]*) (\d{2})")


def read_price(text: str, *, currency_hint: str | None = None) -> Price | NoPrice:
    """The price in a text, or the reason why there is none. `currency_hint` is a code or any text that may
    name the currency.
    """
    if len(text) > MAX_LENGTH:
        return NoPrice(
            f"a text of {len(text):,} characters is not a price; give the part with the price (at "
            f"most {MAX_LENGTH:,})",
            text[:80],
        )
    line = _unsplit(_BROKEN.sub(r"\1\2", plain_digits(text)))
    found = _decided(line, amounts(line), _hinted(currency_hint))
    # What was mended before reading cannot be found on the page: then the whole text is the evidence.
    return found if found.text in text else replace(found, text=text.strip())


def _decided(line: str, found: Sequence[Amount], hint: Currency | None) -> Price | NoPrice:
    kept = [each for each in found if each.refusal is None]
    if not kept:
        return _nothing(line, found, hint)
    signed = any(each.currency is not None for each in kept)
    if not signed and (reason := _doubt(line, found, kept, hint)) is not None:
        return NoPrice(reason, line)
    return _priced(line, _with_ranges(line, kept), hint or (None if signed else currency.anywhere(line)))


def _hinted(hint: str | None) -> Currency | None:
    return currency.anywhere(plain_digits(hint[:500])) if hint else None


def _unsplit(line: str) -> str:
    """Cents set small behind the sign lose their point when a page becomes text: `12€ 50`, `$12 99`."""
    match = _SPLIT.fullmatch(line)
    if match is None:
        return line
    if match[2]:
        return line if re.search(r"[.,]\d\d?$", match[1]) else f"{match[1]}.{match[3]} {match[2]}"
    return line if re.search(r"[.]\d", match[5]) else f"{match[4]}{match[5]}.{match[6]}"


def _nothing(line: str, found: Sequence[Amount], hint: Currency | None) -> Price | NoPrice:
    if found:
        return NoPrice(found[0].refusal or "", line)
    if _FREE.fullmatch(line):
        return Price(
            0, hint.code if hint else None, line, Decimal(0), certain=hint is not None and hint.certain
        )
    if not line:
        return NoPrice("an empty text", line)
    if any(char.isdigit() for char in line):
        return NoPrice("its digits are not grouped like an amount: a date, a version or a phone number", line)
    if _GONE.search(line):
        return NoPrice("it is not for sale now", line)
    if _ON_REQUEST.search(line):
        return NoPrice("the price is given on request", line)
    return NoPrice("no amount in it", line)


def _doubt(line: str, found: Sequence[Amount], kept: Sequence[Amount], hint: Currency | None) -> str | None:
    """Why numbers without a currency are better not taken for a price."""
    refused = found[0].refusal or next(
        (each.refusal for each in found if each.refusal and each.currency is not None), None
    )
    if refused is not None:
        return refused
    if words := _other_words(line):
        return f"a number without a currency, beside other words ({words[0]!r})"
    named = (
        hint
        or currency.anywhere(line)
        or any(each.role in (AmountRole.NOW, AmountRole.LIST) for each in kept)
    )
    if len({each.value for each in kept}) > 1 and not named:
        return "several numbers and no currency"
    return None


def _other_words(line: str) -> list[str]:
    words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", line)
    return [word for word in words if word.lower() not in _PRICE_WORDS and currency.of_word(word) is None]


@dataclass(frozen=True, slots=True)
class _Offer:
    low: Amount
    high: Amount | None = None


def _with_ranges(line: str, kept: Sequence[Amount]) -> list[_Offer]:
    offers: list[_Offer] = []
    rest = list(kept)
    while rest:
        low = rest.pop(0)
        if rest and (joined := _range(line, low, rest[0])) is not None:
            offers.append(joined)
            rest.pop(0)
        else:
            offers.append(_Offer(low))
    return offers


def _range(line: str, low: Amount, high: Amount) -> _Offer | None:
    between = line[low.end : high.start]
    joins = _RANGE.fullmatch(between) or (_AND.fullmatch(between) and _BETWEEN.search(line[: low.start]))
    shared = low.currency is not None or not high.leads  # "2 - $5" is two of something
    if (
        not joins
        or not shared
        or high.value <= low.value
        or (high.role is not AmountRole.UNIT and high.role is not low.role)
    ):
        return None
    meant = low.currency or high.currency
    return _Offer(replace(low, currency=meant, role=high.role, per=low.per or high.per), high)


def _priced(line: str, offers: Sequence[_Offer], hint: Currency | None) -> Price:
    best = max(offers, key=_preference)  # the first of the best
    listed = next(
        (each.low for each in offers if each.low.role is AmountRole.LIST and each is not best), None
    )
    low, high = best.low, best.high
    meant = low.currency.decided_by(hint) if low.currency else hint
    code = meant.code if meant else None
    return Price(
        amount_minor=_minor(low.value, code),
        currency=code,
        text=line[low.start : high.end if high else low.end],
        amount=low.value,
        symbol=meant.sign if meant else None,
        certain=bool(meant and meant.certain and code),
        high=_minor(high.value, code) if high else None,
        was=_minor(listed.value, code) if listed and listed.value > low.value else None,
        bound=low.bound,
        per=low.per,
    )


def _preference(offer: _Offer) -> tuple[bool, bool, int]:
    """Prefer a real amount: a zero beside it is an unfilled template."""
    worth = {AmountRole.NOW: 3, AmountRole.PLAIN: 2, AmountRole.LIST: 1, AmountRole.UNIT: 0}
    return offer.low.currency is not None, offer.low.value > 0, worth[offer.low.role]


def _minor(value: Decimal, code: str | None) -> int:
    return int((value * 10 ** minor_digits(code)).quantize(Decimal(1), ROUND_HALF_UP))
