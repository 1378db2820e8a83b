"""The amounts in a text, each with its currency and with what the words around it make of it.

Most numbers on a page are no prices: weights, ratings, codes, discounts, the order value from which shipping
is free. What is refused is refused for a reason that a person can read.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, auto

from thresher.reading.values import currency
from thresher.reading.values.currency import Currency
from thresher.reading.values.numbers import Numeral, numerals
from thresher.reading.values.price_words import (
    BEFORE_SAVING,
    FROM,
    IDENTIFIER,
    INSTALMENT,
    LIST,
    NOW,
    QUANTITY,
    REFUSED_AFTER,
    REFUSED_BEFORE,
    UP_TO,
    multiple_at,
    unit_of,
)


class AmountRole(Enum):
    """What an amount is to the thing on sale."""

    PLAIN = auto()
    NOW = auto()
    LIST = auto()  # what it cost before, or should cost
    UNIT = auto()  # for a kilogram, an hour, a month


@dataclass(frozen=True, slots=True)
class Amount:
    """A number that may be a price. `start` and `end` enclose its currency sign; `refusal` says why it is
    none.
    """

    start: int
    end: int
    value: Decimal
    currency: Currency | None
    leads: bool = False  # the sign stands in front
    role: AmountRole = AmountRole.PLAIN
    per: str | None = None
    bound: str | None = None
    refusal: str | None = None


# "12,-" and "12:-" are twelve.
_DASH_FOR_ZEROS = re.compile(r"[.,:]\s?[-–—]{1,2}(?![\d-])|[.,](?=\s?[^\s\d]|$)")
_MINUS = re.compile(r"(?<![\w.)€$£])[-−]$")
_NOT_AMOUNTS = re.compile(
    # dates, times
    r"\b\d{1,4}([./-])\d{1,2}\1\d{2,4}\b|\b\d{4}-\d{2}-\d{2}|^\d{1,4}[-/]\d{1,2}$|\b\d{1,2}:\d{2}\b"
    r"|\+\d[\d ().-]{7,}|(?<!\d)0\d{2,4}[ /-]\d{2,}[\d /-]*|\(\d{3}\) ?\d{3}(?:[-. ]?\d{4})?"  # telephones
    r"|\b\d{3}[-.]\d{3}[-.]\d{4}\b|\b\d-\d{3}-\d+|\b\d{3}-\d{4}\b"
    r"|\b\d+(?:\.\d+)? ?[x×] ?\d+(?:\.\d+)?\b"  # sizes
)


def amounts(line: str) -> list[Amount]:
    """Every number of the line as an amount, in order. The line is short and went through `plain_digits`."""
    spans = [each.span() for each in _NOT_AMOUNTS.finditer(line)]
    found: list[Amount] = []
    for number in numerals(line):
        since = found[-1].end if found else 0
        if (amount := _amount(line, number, since)) is not None:
            inside = amount.currency is None and any(
                start < number.end and number.start < end for start, end in spans
            )
            found.append(
                replace(amount, refusal="a date, a time, a size or a phone number") if inside else amount
            )
    return found


def _amount(line: str, number: Numeral, since: int) -> Amount | None:
    lead, start = _lead(line, number.start, since)
    times = multiple_at(line, number.end, lead.code if lead else None)
    trail, end = _trail(line, number.end, times[1] if times else _past_dash(line, number.end), lead)
    cents = _cents(line, number.end) if lead is None and trail is None else None
    chosen = cents or _agreed(lead, trail)
    value = number.value(thousandths=_in_thousandths(chosen, number.written))
    if value is None:
        return None
    if cents is not None:
        value, end = value / 100, line.index(cents.sign, number.end) + len(cents.sign)
    elif chosen is not None and times is not None:
        value, end = value * 10 ** times[0], max(end, times[1])
    elif times is not None:
        end = number.end
    return _judged(Amount(start, end, value, chosen, leads=lead is not None), line, since)


def _cents(line: str, end: int) -> Currency | None:
    tail = line[end : end + 9]
    found = currency.cents_after(tail.lstrip())
    apart = tail[:1].isspace() and found is not None and found.sign in ("p", "c")  # "5 p." is a page
    return None if apart else found


def _lead(line: str, start: int, since: int) -> tuple[Currency | None, int]:
    head = line[max(since, start - 24) : start]
    bare = head.rstrip(" :.")  # "US$: 12", "$.75"
    found = (
        currency.before(head, glued=True)
        or currency.before(head.rstrip(), glued=False)
        or currency.before(bare, glued=False)
    )
    if found is None:
        return None, start
    begin = line.rindex(found.sign, since, start)
    if not found.certain:  # "NZD $5", "US $5": a code in front of the sign says which
        front = line[max(since, begin - 24) : begin].rstrip()
        further = currency.before(front, glued=False)
        if further is not None and further.certain:
            return further, line.rindex(further.sign, since, begin)
    return found, begin


def _trail(line: str, number_end: int, end: int, lead: Currency | None) -> tuple[Currency | None, int]:
    for at in (number_end, end):
        tail = line[at : at + 24]
        gap = len(tail) - len(tail.lstrip())
        found = currency.after(tail.lstrip())
        if found is not None and (
            lead is None or (not lead.certain and found.certain and len(found.sign) == 3)
        ):
            return found, at + gap + len(found.sign)
    return None, end if line[end - 1] in "-–—" else number_end


def _past_dash(line: str, end: int) -> int:
    dash = _DASH_FOR_ZEROS.match(line, end)
    return dash.end() if dash else end


def _agreed(lead: Currency | None, trail: Currency | None) -> Currency | None:
    if lead is not None and trail is not None and not lead.certain:
        return trail
    return lead or trail


def _in_thousandths(chosen: Currency | None, written: str) -> bool:
    code = chosen.code if chosen else None
    return currency.minor_digits(code) == 3 and ("." in written or code == "TND")


def _judged(amount: Amount, line: str, since: int) -> Amount:
    before, after = line[since : amount.start], line[amount.end : amount.end + 60]
    if (refusal := _refusal(amount, line, before, after)) is not None:
        return replace(amount, refusal=refusal)
    bound = "from" if FROM.search(before) else "up to" if UP_TO.search(before) else None
    role = (
        AmountRole.LIST if LIST.search(before) else AmountRole.NOW if NOW.search(before) else AmountRole.PLAIN
    )
    per = unit_of(after)
    return replace(amount, role=AmountRole.UNIT if per not in (None, "each") else role, per=per, bound=bound)


def _refusal(amount: Amount, line: str, before: str, after: str) -> str | None:
    clause = re.split(r"[!?;|•]|\.\s", before)[-1]
    if INSTALMENT.search(line[max(0, amount.start - 30) : amount.start]):
        return "one of several instalments"
    for pattern, reason in REFUSED_BEFORE:
        if pattern.search(clause) and not BEFORE_SAVING.search(clause):
            return reason
    for pattern, reason in REFUSED_AFTER:
        if pattern.match(after):
            return reason
    if _MINUS.search(line, max(0, amount.start - 2), amount.start):
        return "a deduction, not a price"
    return None if amount.currency is not None else _unsigned(before, after)


def _unsigned(before: str, after: str) -> str | None:
    if QUANTITY.match(after):
        return "a quantity, a rating or a size"
    if IDENTIFIER.search(before):
        return "a code or a number of something"
    if before[-1:].isalnum() or after[:1].isalnum() or before[-1:] in ("_", "/", "@") or after[:1] == "_":
        return "part of a word"
    if before[-1:] == "(" and after[:1] == ")":
        return "a count in brackets"
    return None
