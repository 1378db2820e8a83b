"""The sums of money in a text, each with its currency, and when a sum of the page is the one that a value
names.

Words that make a price something else (shipping, a saving) do not matter here: a field may ask for just that.
What has no currency on the page counts only where it cannot be a quantity, a rating or a code.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from thresher.evidence.numbers import stands_alone
from thresher.evidence.plain_text import BREAKS
from thresher.reading.values import currency
from thresher.reading.values.amounts import Amount, amounts
from thresher.reading.values.currency import Currency
from thresher.reading.values.money import Price, read_price
from thresher.reading.values.numbers import numerals

WINDOW = 300  # characters that are read at once: what an amount means stands near it
MAX_SUMS = 50_000

_LINE = re.compile(f"[^{BREAKS}]+")
_JOINS = re.compile(
    r"\s*(?:[-–—~〜]|to|bis|à|a|до|do|til|till|tot|hasta|até|until|and|und|et|y|e|и)\s*", re.IGNORECASE
)
_SPLIT_CENTS = re.compile(
    r"[^\d€$£]{0,20}(?:\d[\d.,']{0,12}\s?[€$£]\s?\d{2}|[€$£]\s?\d[\d,.]{0,12} \d{2})\D{0,20}"
)


@dataclass(frozen=True, slots=True)
class FoundSum:
    """An amount of the plain text. `high` is the other end where it begins a range; `line` is where one
    without a currency stands.
    """

    value: Decimal
    currency: Currency | None
    start: int
    end: int
    per: str | None = None
    high: Decimal | None = None
    line: str = ""


def sums(text: str) -> Iterator[FoundSum]:
    """Every amount, in order: each by itself, and those that make a range once more as that."""
    count = 0
    for start, window in _windows(text):
        for found in _in_window(window):
            yield replace(found, start=found.start + start, end=found.end + start)
            count += 1
            if count >= MAX_SUMS:
                return


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Lines and cells; long ones are cut at spaces, and what has none for so long holds no price."""
    for line in _LINE.finditer(text):
        start, end = line.span()
        while end - start > WINDOW:
            cut = text.rfind(" ", start, start + WINDOW)
            if cut > start:
                yield start, text[start:cut]
                start = cut + 1
            else:
                cut = text.find(" ", start + WINDOW, end)
                start = cut + 1 if cut >= 0 else end
        if end > start:
            yield start, text[start:end]


def _in_window(window: str) -> Iterator[FoundSum]:
    if not any(char.isdigit() for char in window):
        return
    if _SPLIT_CENTS.fullmatch(window) and isinstance(price := read_price(window), Price):
        yield FoundSum(price.amount, _currency_of(price), *_trimmed(window))
    found = [each for each in amounts(window) if each.currency is not None or _may_be_money(window, each)]
    unsigned = all(each.currency is None for each in found)
    for at, amount in enumerate(found):
        other = _joined(window, found, at)
        meant = amount.currency or (other.currency if other else None)
        per = amount.per or (other.per if other else None)
        single = FoundSum(amount.value, meant, amount.start, amount.end, per, line=window if unsigned else "")
        yield single
        if other is not None and other.start > amount.start:
            yield replace(single, end=other.end, high=other.value)


def _is_priced(line: str) -> bool:
    """Whether the words of a line say that the number without a currency is a price."""
    return any(char.isalpha() for char in line) and isinstance(read_price(line), Price)


def _trimmed(window: str) -> tuple[int, int]:
    start = len(window) - len(window.lstrip())
    return start, start + len(window.strip())


def _may_be_money(window: str, amount: Amount) -> bool:
    return amount.refusal is None and stands_alone(window, amount.start, amount.end)


def _joined(window: str, found: Sequence[Amount], at: int) -> Amount | None:
    """The other end of the range that this amount belongs to."""
    amount = found[at]
    if (
        at + 1 < len(found)
        and found[at + 1].value > amount.value
        and _JOINS.fullmatch(window, amount.end, found[at + 1].start)
    ):
        return found[at + 1]
    if (
        at
        and found[at - 1].value < amount.value
        and _JOINS.fullmatch(window, found[at - 1].end, amount.start)
    ):
        return found[at - 1]
    return None


def _currency_of(price: Price) -> Currency | None:
    if price.symbol is None:
        return None
    return currency.of_word(price.symbol) or Currency(price.symbol, price.currency, price.certain)


@dataclass(frozen=True, slots=True)
class WantedSum:
    """The sum that a value names."""

    value: Decimal
    currency: Currency | None
    per: str | None
    high: Decimal | None


def wanted(text: str) -> WantedSum | None:
    """None where the value names no sum, or more than one: then it is a text like any other."""
    price = read_price(text)
    if not isinstance(price, Price):
        return None
    inside = len(numerals(price.text)) if price.text != text.strip() else 1 + (price.high is not None)
    if len(numerals(text)) > max(inside, 1) and price.text in text and price.text != text.strip():
        return None
    high = None if price.high is None else Decimal(price.high).scaleb(-currency.minor_digits(price.currency))
    return WantedSum(price.amount, _currency_of(price), price.per, high)


def matches(asked: WantedSum, found: FoundSum, named: frozenset[str]) -> bool:
    """Whether the page's sum is the one asked for. `named` are the currencies that the page names for
    certain.
    """
    if asked.value != found.value or asked.high != found.high or not _same_unit(asked.per, found.per):
        return False
    if asked.currency is None:
        return True
    if found.currency is None:
        return asked.currency.code in named or _is_priced(found.line)
    return _same_currency(asked.currency, found.currency, named)


def _same_unit(asked: str | None, found: str | None) -> bool:
    return asked in (None, "each") or asked == found


def _same_currency(asked: Currency, found: Currency, named: frozenset[str]) -> bool:
    if asked.sign == found.sign or (asked.code is not None and asked.code == found.code):
        return True
    if not found.certain and asked.code in found.others:
        return found.code is None or asked.code in named  # `$` is Canadian where the page says so
    return not asked.certain and found.code in asked.others


_CODE = re.compile(r"(?<![^\W\d_])[A-Z]{3}(?![^\W\d_])|[A-Z]{1,3}\$")


def named_currencies(text: str) -> frozenset[str]:
    """The currencies that a text names by their code or by a sign that no other has."""
    known = (
        currency.of_word(word)
        for word in set(_CODE.findall(text)) | {char for char in set(text) if not char.isalnum()}
    )
    return frozenset(each.code for each in known if each is not None and each.certain and each.code)
