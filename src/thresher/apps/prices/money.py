"""Amounts as people read them: 1,234.50 USD."""

from decimal import Decimal

from thresher.reading.values.currency import minor_digits


def money(minor: int, currency: str) -> str:
    """Write an amount that counts the smallest unit, with its currency and as many decimals as that has."""
    return f"{decimal_of(minor, currency):,} {currency}"


def decimal_of(minor: int, currency: str) -> Decimal:
    """The amount as a decimal number, with as many places as the currency has."""
    return Decimal(minor).scaleb(-minor_digits(currency))
