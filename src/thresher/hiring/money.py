"""Sums of money as postings write them: "$120,000 - $150,000", "60-75K", "€60.000", "CHF 110'000", "$45/hr",
"12-18 LPA".

Only the writing is read here: what was written, in which currency, for how long. Whether it is what the
opening pays is decided by `pay`, from the words around it.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from thresher.reading.values.currency import Currency, signs
from thresher.reading.values.numbers import Numeral

# The currencies that pay is written in: any other code is a word more often than money.
CODES = (
    "usd|eur|gbp|cad|aud|nzd|sgd|hkd|chf|sek|nok|dkk|pln|czk|huf|ron|inr|jpy|cny|"
    "brl|mxn|zar|ils|aed|try|krw|twd|php|ars|clp|cop|sar|thb|myr|idr|uah|bgn"
)
_LEAD = (
    r"(?:(?<![a-z0-9])(?:us|usd|ca|can|cad|c|cdn|a|au|aud|nz|s|sg|hk|r|mx)\$|"
    rf"(?<![a-z0-9])(?:{CODES})(?: ?[$€£]|\b)|[$€£₹¥₪₺]|(?<![a-z0-9])rs\.?)"
)
_TRAIL = rf"(?:€|£|\$|₹|zł|kč|euros?\b|dollars\b|(?:{CODES})\b)"
_NUMBER = r"(?:[0-9]{1,3}(?:[., '][0-9]{3})+(?![0-9])|[0-9]{1,9})(?:[.,][0-9]{1,2}(?![0-9]))?"
_TIMES = r"(?:(?:k|tsd\.?|thousand|million|mio\.?|mn|mm|m|billion|bn|b|lakhs?|lacs?|lpa|crores?|cr)(?![a-z]))"
_EVERY = (
    r"(?:/|per|an?|each|pro|je|par|por|p\.|al) ?(?P<{name}>hour|hr|h|day|week|wk|month|mo|mth|year|yr|annum|a|y|stunde|std|tag|woche|"
    r"monat|jahr|heure|mois|an|hora|mes|año)\b"
)
MONEY = re.compile(
    rf"(?:(?P<lead1>{_LEAD}) ?|(?<![\w.,$€£-]))(?P<number1>{_NUMBER})(?P<times1> ?{_TIMES})?(?P<trail1> ?{_TRAIL})?(?P<plus>\+)?"
    rf"(?: ?{_EVERY.format(name='every1')})?"
    rf"(?: ?(?:gross|brutto)?,? ?(?:--?|\bto\b|\bbis(?: zu)?\b|\band\b|\bund\b|\bup to\b|~|\bà\b|\ba\b|"
    rf"\bthrough\b) {{0,3}}(?P<lead2>{_LEAD})? ?"
    rf"(?P<number2>{_NUMBER})(?P<times2> ?{_TIMES})?(?P<trail2> ?{_TRAIL})?(?: ?{_EVERY.format(name='every2')})?)?(?![\w%]|[.,][0-9])"
)
_THOUSANDS = {
    "k": 3,
    "tsd": 3,
    "tsd.": 3,
    "thousand": 3,
    "lakh": 5,
    "lakhs": 5,
    "lac": 5,
    "lacs": 5,
    "lpa": 5,
}
_PERIODS = {
    "hour": "hour hr h stunde std heure hora",
    "day": "day tag",
    "week": "week wk woche",
    "month": "month mo mth monat mois mes",
    "year": "year yr y a annum jahr an año",
}
_PERIOD = {word: period for period, words in _PERIODS.items() for word in words.split()}


@dataclass(frozen=True, slots=True)
class MoneyText:
    """An amount or a range, and the characters it stands in. `currency` is "$" where only the sign is known.

    `scaled`: it counts in thousands; `short`: it is written so ("75k"). `more`: a plus stands behind it.
    """

    start: int
    end: int
    low: Decimal
    high: Decimal | None
    currency: str | None
    period: str | None
    scaled: bool
    short: bool
    more: bool


def sum_of(match: re.Match[str]) -> MoneyText | None:
    """What a match of MONEY says; None where it cannot be pay: millions, a retirement plan, a range that
    falls.
    """
    times1, times2 = _times(match["times1"]), _times(match["times2"])
    if times1 is None or times2 is None or (match["number1"] == "401" and match["number2"] is None):
        return None
    low, high = _value(match["number1"]), _value(match["number2"])
    if low is None:
        return None
    if high is not None and times2 and not times1 and low < 1_000:  # "60-75k": both in thousands
        times1 = times2
    low *= 10**times1
    high = None if high is None else high * 10**times2
    if high is not None and not low <= high <= 20 * low:
        return None
    code = next(
        (found for name in ("lead1", "lead2", "trail1", "trail2") if (found := _currency(match[name]))), None
    )
    every = match["every2"] or match["every1"]
    lakhs = "lpa" in (match["times1"] or "") + (match["times2"] or "")
    period = _PERIOD[every] if every else "year" if lakhs else None
    scaled = bool(times1 or times2) or low >= 1_000
    certain = next(
        (
            found
            for found in (_currency(match["trail2"]), _currency(match["trail1"]))
            if found and found != "$"
        ),
        code,
    )
    currency = certain if code == "$" else code or ("INR" if lakhs else None)
    return MoneyText(
        match.start(),
        match.end(),
        low,
        high,
        currency,
        period,
        scaled,
        bool(times1 or times2),
        bool(match["plus"]),
    )


def _times(written: str | None) -> int | None:
    """The power of ten; None where it is too large for pay."""
    return 0 if written is None else _THOUSANDS.get(written.strip())


def _value(written: str | None) -> Decimal | None:
    return None if written is None else Numeral(0, len(written), written).value()


def _currency(written: str | None) -> str | None:
    if written is None:
        return None
    sign = written.strip()
    if sign in ("$", "dollars"):
        return "$"
    known = _signs().get(sign)
    return known.code if known else sign[:3].upper()


@cache
def _signs() -> dict[str, Currency]:
    """The signs of all currencies in lower case, as the text is."""
    return {sign.lower(): meaning for sign, meaning in reversed(signs().items())}
