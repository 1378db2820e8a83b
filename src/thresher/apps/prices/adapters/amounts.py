"""What an amount and its currency say that something costs, or why they do not say.

A figure for machines is a plain decimal number. Anything else is read as people write prices, and only what
is certain is believed. Nothing costs zero or less, and nothing costs more than any thing that was ever sold.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from thresher.reading.values.currency import CODES, minor_digits
from thresher.reading.values.money import Price, read_price

MAX_MINOR = 10**13  # a hundred billion dollars
MAX_SHOWN = 40  # characters of what is written, in a doubt
_PLAIN = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ReadAmount:
    """An amount in the smallest unit of its currency. Where none is certain, both are None and `doubt` says
    why. `high` and `was` are what the same text says besides.
    """

    minor: int | None = None
    currency: str | None = None
    high: int | None = None
    was: int | None = None
    per: str | None = None
    doubt: str | None = None


def read_amount(text: str | None, currency: str | None, *, what: str = "the price") -> ReadAmount:
    """The amount in a text, with the currency beside it."""
    said = " ".join((text or "").split())
    if not said:
        return ReadAmount(doubt=f"{what} is not said")
    code = currency_code(currency)
    if currency and currency.strip() and code is None:
        return ReadAmount(doubt=f"the currency {_shown(currency)} is not known")
    found = _plain(said, code, what) if _PLAIN.fullmatch(said) else _written(said, code, what)
    if found.minor is None:
        return found
    if found.minor <= 0:
        return ReadAmount(doubt=f"{what} is {_shown(said)}, and nothing costs that")
    if found.minor > MAX_MINOR:
        return ReadAmount(doubt=f"{what} is {_shown(said)}, which no thing costs")
    return found


def currency_code(text: str | None) -> str | None:
    """A code of ISO 4217; None for what is none."""
    code = (text or "").strip().upper()
    return code if _CODE.fullmatch(code) and code in CODES else None


def _plain(said: str, code: str | None, what: str) -> ReadAmount:
    if code is None:
        return ReadAmount(doubt=f"{what} is {_shown(said)} without a currency")
    scaled = Decimal(said).scaleb(minor_digits(code))
    if scaled != scaled.to_integral_value():
        return ReadAmount(doubt=f"{what} is {_shown(said)}, which has more digits than {code} has")
    return ReadAmount(int(scaled), code)


def _written(said: str, code: str | None, what: str) -> ReadAmount:
    found = read_price(said, currency_hint=code)
    if not isinstance(found, Price):
        return ReadAmount(doubt=f"{what} is {_shown(said)}: {found.reason}")
    if found.currency is None or not (found.certain or (code is not None and found.currency == code)):
        return ReadAmount(doubt=f"{what} is {_shown(said)}, and its currency is not certain")
    if code is not None and found.currency != code:
        return ReadAmount(doubt=f"{what} is {_shown(said)}, but its currency is said to be {code}")
    if found.bound is not None:
        return ReadAmount(doubt=f"{what} is {_shown(said)}, which is a bound and no price")
    return ReadAmount(found.amount_minor, found.currency, found.high, found.was, found.per)


def _shown(text: str) -> str:
    line = "".join(char if char.isprintable() else " " for char in text)
    return repr(line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…")
