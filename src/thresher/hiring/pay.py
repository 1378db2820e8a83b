"""What an opening pays, as a field says it or as the description does, and what that is in a year.

Most sums in a description are no pay: funding, bonuses, budgets, users, a 401k. A sum counts where the words
before it speak of pay, where it is paid by the hour or the year, or where it is a range no other thing would
have. Several ranges close together, one for each level or city, are one: from the least to the most. A second
currency is left alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from thresher.hiring.finding import Finding, flat
from thresher.hiring.money import CODES, MONEY, MoneyText, sum_of
from thresher.hiring.opening import Pay
from thresher.reading.values.salaries import period_of, salary_of

IN_A_YEAR: Mapping[str, int] = {"hour": 2_080, "day": 260, "week": 52, "month": 12, "year": 1}
MAX_SUMS = 60
MAX_NUMBERS = 300  # digits of each kind that are looked at; a posting has a few dozen of all
APART = 400  # characters within which another range belongs to the same statement
MAX_LENGTH = 300
# The least and the most that is paid for each span of time, in currencies of which one is worth about a
# dollar.
_PLAUSIBLE = {
    "hour": (3, 1_500),
    "day": (30, 8_000),
    "week": (100, 40_000),
    "month": (250, 150_000),
    "year": (5_000, 5_000_000),
}
_DOLLARS = {"CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "MX": "MXN", "TW": "TWD"}
# Currencies of which one is worth far less than a dollar, or at most half of one.
_SMALL = frozenset(
    (
        "AED",
        "ARS",
        "BGN",
        "BRL",
        "CLP",
        "CNY",
        "COP",
        "CZK",
        "DKK",
        "HKD",
        "HUF",
        "IDR",
        "ILS",
        "INR",
        "ISK",
        "JPY",
        "KRW",
        "MXN",
        "MYR",
        "NOK",
        "PHP",
        "PLN",
        "RON",
        "RUB",
        "SAR",
        "SEK",
        "THB",
        "TRY",
        "TWD",
        "UAH",
        "VND",
        "ZAR",
    )
)
_SIGNED = frozenset("$€£₹")
_MONEYED = re.compile(rf"[$€£₹¥₪₺]|zł|kč|euro|\b(?:{CODES})\b|rs\b|lpa|lakh|dollars")
_PAYING = re.compile(
    r"salary|compensation|\bpay\b|wage|gehalt|vergütung|salaire|salario|remuneration|hourly|\bote\b|earnings|you earn|range"
)
_PAID = re.compile(
    r"\b(?:salar(?:y|ies)|compensation|pay|paying|pays|paid|wages?|rate|base|ote|earn(?:ings?)?|gehalt|jahresgehalt|monatsgehalt|"
    r"vergütung|salaire|salario|remuneration|rémunération|"
    r"package|hiring range|brutto|stundenlohn|cash range)\b"
)
# What these two cannot do without: whether one of the words stands somewhere is known in a fraction of the
# time.
_PAY_WORDS = (
    "salar",
    "compensation",
    "pay",
    "wage",
    "range",
    "hourly",
    "gehalt",
    "vergütung",
    "salaire",
    "remuneration",
    "ote",
    "earnings",
    "you earn",
)
_PAID_WORDS = (
    "salar",
    "compensation",
    "pay",
    "paid",
    "wage",
    "rate",
    "base",
    "ote",
    "earn",
    "gehalt",
    "vergütung",
    "salaire",
    "remuneration",
    "rémunération",
    "package",
    "range",
    "brutto",
    "stundenlohn",
)
_ELSE = re.compile(
    r"\b(?:bonus(?:es)?|sign-?on|signing|referral|stipend|allowance|budget|reimburse\w*|funding|funded|raised|raising|raise|series [a-f]|"
    r"revenues?|arr|valuation|valued|"
    r"investments?|invested|backed|grants?|401|equity|stock|rsus?|insurance|deductible|premiums?|quota|deals?|contracts?|sales|sav(?:e|"
    r"ed|ings?)|portfolio|"
    r"assets|aum|worth|market|spend\w*|donat\w*|gifts?|prizes?|award(?:ed)?|fees?|costs?|match(?:ing)?|contributions?|transactions?|"
    r"volume|loans?|orders?|credits?|"
    r"processed|processing|payments? of|pay off|paid out|customers|users|discount)\b"
)
_ELSE_BEHIND = re.compile(
    r" ?(?:(?:in|of|worth of|for|per|a|an|toward|towards|to|as|annual|annually|yearly|quarterly|monthly|each|year|month|your|"
    r"additional|value|usd|total) ){0,4}"
    r"(?:bonus|sign-?on|signing|stipend|allowance|budget|funding|revenue|arr\b|raised|users|customers|clients|deals?\b|stock|"
    r"contribution|reimburse|referral|match|"
    r"credit|deductible|investment|series|valuation|market|business|portfolio|assets|gift|fund|learning|education|training|tuition|"
    r"wellness|professional development|"
    r"equipment|home office|internet|phone|development|in sales|in savings|contracts|transactions|volume|loans|companies|company|"
    r"organi[sz]ation|startup|"
    r"enterprise|accounts|quota|options|rsu|employee|expenses|travel|childcare|gym|fitness|lunch|meals|commut|"
    r"people|members|patients|stores|students|workers|hours|units|miles|sq|households|businesses|sites|locations|readers|subscribers|downloads)"
)
_TARGET = re.compile(
    r"\b(?:ote|on-target|on target|total (?:cash|compensation|target)|target (?:cash|compensation)|commissions?)\b"
)
_TARGET_BEHIND = re.compile(r"[ (]{0,2}ote\b")
_BEFORE_PERIOD = (
    (re.compile(r"\b(?:hourly|per hour|an hour|stundenlohn|hour)\b"), "hour"),
    (re.compile(r"\b(?:daily rate|day rate|per day|tagessatz)\b"), "day"),
    (re.compile(r"\b(?:weekly)\b"), "week"),
    (re.compile(r"\b(?:monthly|per month|monatlich\w*|monatsgehalt)\b"), "month"),
    (re.compile(r"\b(?:annual\w*|yearly|per year|per annum|p\.a\.|jahres\w*)\b"), "year"),
)
_BEHIND_PERIOD = re.compile(
    r"[ ,()*]{0,3}(?:usd|cad|aud|eur|gbp|chf|gross|brutto|base)?[ ,()*]{0,3}(?:(?P<hour>hourly|(?:per|an|/|each) ?(?:hour|hr)\b|/h\b|"
    r"pro stunde)|(?P<day>daily|(?:per|a|/) ?day\b)|"
    r"(?P<week>weekly|(?:per|a|/) ?(?:week|wk)\b)|(?P<month>monthly|(?:per|a|/) ?(?:month|mo)\b|im monat|pro monat|monatlich)|"
    r"(?P<year>annual\w*|yearly|(?:per|a|/) ?(?:year|yr|annum)\b|p\.? ?a\b|pa\b|im jahr|pro jahr|jährlich|/ ?jahr|par an\b))"
)
_GROSS = re.compile(r" (?:brutto|gross|base)\b")
_UP_TO = re.compile(r"(?:up to|maximum(?: of)?|max\.?|bis zu|bis|jusqu'à|hasta|not exceed)[ :]{0,2}$")
_FROM = re.compile(
    r"(?:from|starting(?: at| from)?|start at|starts at|minimum(?: of)?|min\.?|at least|ab|mindestens|desde|à partir de|"
    r"no less than)[ :]{0,2}$"
)


@dataclass(frozen=True, slots=True)
class _Said:
    """A sum that is pay, in whole. `target`: with what may be earned on top."""

    sum: MoneyText
    low: Decimal | None
    high: Decimal | None
    period: str | None
    target: bool


def of_field(salary: Any, country: str | None = None) -> Pay | None:
    """Pay from the field of a posting: its numbers where it has them, else its words."""
    if isinstance(salary, str):
        salary = {"text": salary}
    if not isinstance(salary, Mapping):
        return None
    text = str(salary.get("text") or "")[:MAX_LENGTH]
    if salary.get("low") is not None or salary.get("high") is not None:
        known = salary_of(
            text or None, salary.get("low"), salary.get("high"), salary.get("currency"), salary.get("period")
        )
        if known is not None and known.low is not None:
            currency = known.currency if known.currency and len(known.currency) == 3 else None
            return in_a_year(
                Pay(known.text, known.low, known.high, currency, known.period or period_of(text))
            )
    found = in_text(flat(text), text, country=country, surely=True)
    if found is not None:
        return replace(found.value, text=text)
    return Pay(text) if any(char.isdecimal() for char in text) else None


def in_text(low: str, text: str, *, country: str | None = None, surely: bool = False) -> Finding[Pay] | None:
    """Pay from a flat text. `surely`: the text is about nothing else, so that no word has to say so."""
    said = list(_said(low, surely=surely))
    if not said:
        return None
    plain = [each for each in said if not each.target] or said
    first = next((each for each in plain if each.sum.high is not None), plain[0])
    joined = _joined(first, plain[plain.index(first) + 1 :])
    start, end = first.sum.start, joined[-1].sum.end
    lows, highs = [each.low for each in joined], [each.high for each in joined]
    pay = Pay(
        text=text[start:end],
        low=None if None in lows else min(each for each in lows if each is not None),
        high=None if None in highs else max(each for each in highs if each is not None),
        currency=_currency(joined, country),
        period=first.period,
    )
    return Finding(in_a_year(pay), start, end)


def _currency(said: list[_Said], country: str | None) -> str | None:
    named = next((each.sum.currency for each in said if each.sum.currency not in (None, "$")), None)
    return named or (_DOLLARS.get(country or "", "USD") if said[0].sum.currency == "$" else None)


def in_a_year(pay: Pay) -> Pay:
    """Pay with what it is in a year. Where no span of time is said, a sum that only a year can pay is a
    year's.
    """
    if pay.period is not None:
        times = IN_A_YEAR[pay.period]
    elif (
        pay.low is not None
        and pay.low >= 15_000
        and (pay.currency or "") not in _SMALL
        and _is_plausible(pay.low, "year", pay.currency)
    ):
        times = 1
    else:
        return pay
    if any(
        each is not None and not _is_plausible(each, pay.period or "year", pay.currency)
        for each in (pay.low, pay.high)
    ):
        return pay
    least, most = (None if each is None else round(each * times) for each in (pay.low, pay.high))
    return replace(pay, year_low=least, year_high=most)


def _is_plausible(value: Decimal, period: str, currency: str | None) -> bool:
    least, most = _PLAUSIBLE[period]
    return least <= value <= most * (5_000 if (currency or "") in _SMALL else 1)


def _joined(first: _Said, others: list[_Said]) -> list[_Said]:
    """The ranges that follow closely, in the same currency and for the same span of time."""
    found = [first]
    for each in others:
        near = each.sum.start - found[-1].sum.end <= APART
        alike = (
            _same_money(each.sum.currency, first.sum.currency)
            and each.period == first.period
            and each.sum.high is not None
        )
        if not near or first.sum.high is None:
            break
        if alike:
            found.append(each)
    return found


def _same_money(one: str | None, other: str | None) -> bool:
    """Whether two currencies may be one: a bare dollar sign is any dollar."""
    return one == other or ("$" in (one, other) and {one, other} <= {"$", "USD", *_DOLLARS.values()})


def _said(low: str, *, surely: bool) -> Iterator[_Said]:
    for found in _sums(low, surely=surely):
        before = _clause(low, found.start)
        if _is_else(low, before, found):
            continue
        period = found.period or _period(low, before, found)
        paid = surely or _is_paid(low, before, found.end)
        if not _counts(found, period, paid=paid, signed=found.currency is not None):
            continue
        least, most = _ends(found, before)
        target = _TARGET.search(before[-60:]) or _TARGET_BEHIND.match(low, found.end)
        yield _Said(found, least, most, period, target is not None)


def _counts(found: MoneyText, period: str | None, *, paid: bool, signed: bool) -> bool:
    """Whether a sum is pay: said to be, or paid by time, or a range of a size that only pay has."""
    most = found.high or found.low
    plausible = (
        _is_plausible(most, period, found.currency)
        if period
        else _is_plausible(most, "year", found.currency) and most >= 12_000
    )
    if not plausible:
        return paid and signed and period is None and most >= 5 and found.high is not None
    if not signed:  # a bare number must look like pay, not only stand near its word
        return paid and ((found.scaled and (found.high is not None or found.short)) or period is not None)
    return paid or period in ("hour", "year") or (found.high is not None and found.scaled)


def _sums(low: str, *, surely: bool) -> Iterator[MoneyText]:
    """The sums beside a sign or a code, or behind a word of pay, in order, each once."""
    done, left = 0, MAX_SUMS
    for at in _digits(low):
        if at < done or not left or not (surely or _is_moneyed(low, at, done)):
            continue
        left -= 1
        match = MONEY.search(
            low, max(done, at - 8), at + 100
        )  # a sum begins at most a code before its digits
        if match is not None and match.start() <= at:
            done = match.end()
            # Most are years, people and the like.
            known = surely or _is_signed(match) or _is_paid(low, _clause(low, match.start()), done)
            if known and (found := sum_of(match)) is not None:
                yield found


def _is_signed(match: re.Match[str]) -> bool:
    return any(match.group("lead1", "trail1", "lead2", "trail2")) or "lpa" in match[0]


def _is_paid(low: str, before: str, end: int) -> bool:
    """Whether the words around a sum say that it is pay. One without a currency counts only then."""
    return (_has(_PAID_WORDS, before) and _PAID.search(before) is not None) or _GROSS.match(
        low, end
    ) is not None


def _is_moneyed(low: str, at: int, since: int) -> bool:
    if low[at - 1 : at] in _SIGNED:
        return True
    if _MONEYED.search(low, max(since, at - 9), at + 26) is not None:
        return True
    before = max(0, at - 70)
    return _has(_PAY_WORDS, low[before:at]) and _PAYING.search(low, before, at) is not None


def _has(words: tuple[str, ...], text: str) -> bool:
    return any(map(text.__contains__, words))


def _digits(low: str) -> list[int]:
    """Where the first few digits of each kind stand. Ten searches for one character each cost a quarter of
    one for all of them.
    """
    found: list[int] = []
    for digit in "0123456789":
        at, left = low.find(digit), MAX_NUMBERS
        while at >= 0 and left:
            left -= 1
            found.append(at)
            at = low.find(digit, at + 1)
    found.sort()
    return [at for before, at in zip((-2, *found), found, strict=False) if at != before + 1]


def _clause(low: str, start: int) -> str:
    """What stands before a sum in its line; a label on the line before counts too."""
    begin = max(0, start - 140)
    line = low.rfind("\n", begin, start)
    if line < 0 or start - line > 12:
        return low[max(begin, line + 1) : start]
    return low[
        max(
            begin,
            low.rfind("\n", begin, low[:start].rstrip().rfind("\n") + 1 if low[line:start].strip() else line)
            + 1,
        ) : start
    ]


def _is_else(low: str, before: str, found: MoneyText) -> bool:
    """Whether the nearest word that says what a sum is says something else than pay."""
    if _ELSE_BEHIND.match(low, found.end):
        return True
    # Little else comes in such ranges.
    likely = found.high is not None and found.low >= 20_000 and found.currency is not None
    near = re.split(r"[.;!?]\s|\n", before)[-1][-25 if likely else -90 :]
    other = max((each.end() for each in _ELSE.finditer(near)), default=-1)
    paid = max((each.end() for each in _PAID.finditer(near)), default=-1)
    return other > paid


def _period(low: str, before: str, found: MoneyText) -> str | None:
    behind = _BEHIND_PERIOD.match(low, found.end)
    if behind is not None:
        return str(behind.lastgroup)
    near = before[-90:]
    last = max(
        ((each.end(), period) for pattern, period in _BEFORE_PERIOD for each in pattern.finditer(near)),
        default=None,
    )
    if last is None or not _is_plausible(found.high or found.low, last[1], found.currency):
        return None
    return last[1]


def _ends(found: MoneyText, before: str) -> tuple[Decimal | None, Decimal | None]:
    if found.high is not None:
        return found.low, found.high
    if _UP_TO.search(before):
        return None, found.low
    if found.more or _FROM.search(before):
        return found.low, None
    return found.low, found.low
