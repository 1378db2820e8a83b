"""Amounts of money as views show them and as people write them: with the decimals of their currency."""

import re
from dataclasses import dataclass

from thresher.apps.prices.money import decimal_of, money
from thresher.core.errors import UsageError
from thresher.reading.values.currency import CODES, minor_digits

MAX_MINOR = 10**15
_PERCENT = re.compile(r"([0-9]{1,4})(?:\.([0-9]))?\s*%?", re.ASCII)
_AMOUNT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,3}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount: `minor` counts the smallest unit of the currency, `amount` is the same as a decimal."""

    minor: int
    currency: str
    amount: str

    def __str__(self) -> str:
        return money(self.minor, self.currency)


def amount_of(minor: int, currency: str) -> Money:
    """So many of the smallest unit of a currency: 4500 and USD are 45.00 USD."""
    return Money(minor, currency, str(decimal_of(minor, currency)))


def maybe_amount(minor: int | None, currency: str) -> Money | None:
    """The same where there may be no amount."""
    return None if minor is None else amount_of(minor, currency)


def checked_currency(text: str) -> str:
    """An ISO 4217 code in capitals. Raises UsageError."""
    code = text.strip().upper()
    if code not in CODES:
        raise UsageError(f"{text[:40]!r} is no currency; write its code, such as USD, EUR or JPY")
    return code


def minor_of(text: str, currency: str) -> int:
    """What a person writes as an amount of this currency, in its smallest unit. Raises UsageError for
    anything but a plain decimal number: what a comma means differs from place to place.
    """
    match = _AMOUNT.fullmatch(text.strip())
    digits = minor_digits(currency)
    example = str(decimal_of(123_450, currency))
    if match is None or len(match[2] or "") > digits:
        decimals = f"at most {digits} decimals" if digits else "no decimals"
        raise UsageError(
            f"{text[:40]!r} is no amount of {currency}; write a number with {decimals}, such as {example}"
        )
    minor: int = int(match[1]) * 10**digits + int((match[2] or "").ljust(digits, "0") or 0)
    if minor > MAX_MINOR:
        raise UsageError(f"{text[:40]} {currency} is more than the limit of {money(MAX_MINOR, currency)}")
    return minor


def share_of(text: str) -> int:
    """A percentage in thousandths: 10% and 10 are 100. Raises UsageError."""
    match = _PERCENT.fullmatch(text.strip())
    thousandths: int = int(match[1]) * 10 + int(match[2] or 0) if match else 0
    if thousandths < 1:
        raise UsageError(f"{text[:40]!r} is no change; write a percentage such as 10% or 2.5%")
    return thousandths
