"""What an opening pays, read from numbers with names or from a sentence. Nothing is guessed: an unclear one
keeps its words.
"""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from thresher.reading.postings.posting import Salary
from thresher.reading.values.money import Price, read_price

_PERIODS = {
    "hour": ("hour", "hourly", "hr", "stunde", "heure", "hora", "ora", "uur", "godz", "godzina", "timme"),
    "day": ("day", "daily", "tag", "jour", "día", "dia", "giorno", "dag"),
    "week": ("week", "weekly", "woche", "semaine", "semana", "settimana"),
    "month": (
        "month",
        "monthly",
        "monat",
        "mois",
        "mes",
        "mês",
        "mese",
        "maand",
        "monatlich",
        "mensuel",
        "mensual",
        "miesiąc",
        "miesięcznie",
        "månad",
        "måned",
        "měsíc",
        "měsíčně",
    ),
    "year": (
        "year",
        "yearly",
        "annual",
        "annually",
        "annum",
        "yr",
        "jahr",
        "año",
        "ano",
        "anno",
        "jaar",
        "pa",
        "jährlich",
        "annuel",
        "anual",
        "rok",
        "rocznie",
        "år",
        "ročně",
    ),
}
_BY_WORD = {word: period for period, names in _PERIODS.items() for word in names}
_WORD = re.compile(r"[^\W\d_]+")
MAX_LENGTH = 300


def salary_of(
    text: str | None, low: Any = None, high: Any = None, currency: Any = None, period: Any = None
) -> Salary | None:
    """A salary from its parts where there are any, else from its sentence."""
    least, most = _number(low), _number(high)
    if least is None and most is None:
        return _from_sentence(text) if text else None
    code = str(currency).strip().upper() if currency else None
    every = period_of(str(period)) if period else None
    said = text or _written(least, most, code, every)
    return Salary(
        said[:MAX_LENGTH],
        least if least is not None else most,
        most if most is not None else least,
        code,
        every,
    )


def salary_from_schema(value: Any) -> Salary | None:
    """`baseSalary` of schema.org: an amount, a range, a list of either, or a sentence."""
    if isinstance(value, list):
        return next((found for each in value if (found := salary_from_schema(each))), None)
    if not isinstance(value, Mapping):
        return salary_of(str(value)) if isinstance(value, str) and value.strip() else None
    amount = value.get("value", value)
    if not isinstance(amount, Mapping):
        return salary_of(None, amount, amount, value.get("currency"), value.get("unitText"))
    only = amount.get("value")
    currency = value.get("currency") or amount.get("currency")
    period = amount.get("unitText") or value.get("unitText")
    return salary_of(None, amount.get("minValue", only), amount.get("maxValue", only), currency, period)


def period_of(text: str) -> str | None:
    """Which span of time a sentence names."""
    if "par an" in text.lower():  # "an" by itself is the article of "an hour"
        return "year"
    return next((_BY_WORD[word] for word in _WORD.findall(text.lower()) if word in _BY_WORD), None)


def _from_sentence(text: str) -> Salary | None:
    text = " ".join(text.split())
    if not text or not any(char.isdigit() for char in text):
        return None
    price = read_price(text[:MAX_LENGTH])
    if not isinstance(price, Price):
        return Salary(text[:MAX_LENGTH], period=period_of(text))
    scale = price.amount / price.amount_minor if price.amount_minor else Decimal(1)
    high = price.amount if price.high is None else price.high * scale
    return Salary(text[:MAX_LENGTH], price.amount, high, price.currency, period_of(text))


def _number(value: Any) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        number = Decimal(str(value).replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 < number < 10**12 else None


def _written(low: Decimal | None, high: Decimal | None, currency: str | None, period: str | None) -> str:
    amounts = [f"{each:f}" for each in dict.fromkeys((low, high)) if each is not None]
    return " ".join(filter(None, (currency, " - ".join(amounts), f"a {period}" if period else "")))
