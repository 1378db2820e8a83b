"""Decide whether a page holds any of the things asked for, before paying to extract them.

The first check is free: a thing whose price is required cannot stand in a text without an amount. The second
is a short question to the cheap model, asked only where it costs little beside the extraction. Only a
definite no saves anything: unknown is not no.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from thresher.ai.prices import ModelTerms
from thresher.core.schema import Field, Kind, Schema
from thresher.reading.values import currency
from thresher.reading.values.dates import MONTHS, TODAY, UNIT_DAYS, YESTERDAY, folded
from thresher.reading.values.money import Price, read_price

# Output tokens for the answer "no", including the reasoning of a model that reasons first.
MAX_OUTPUT = 500
# The question must cost less than this fraction of the extraction, both at worst price.
WORTH_A_SHARE = 4
MAX_LINE = 300

PRESENCE = Schema(
    "presence", (Field("any", Kind.BOOLEAN, "whether at least one stands there", required=True, judged=True),)
)

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# Days named without a number: weekdays, tomorrow, immediately.
_DAYS = """
    monday tuesday wednesday thursday friday saturday sunday tomorrow tonight now immediately asap soon week month year
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag morgen sofort jetzt demnächst woche monat jahr
    lundi mardi mercredi jeudi vendredi samedi dimanche demain immédiatement maintenant semaine mois année
    lunes martes miércoles jueves viernes sábado domingo mañana ahora inmediato semana mes año
    segunda terça quarta quinta sexta amanhã agora imediato mês ano lunedì martedì mercoledì giovedì venerdì sabato domenica domani subito
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag nu direct måndag tisdag onsdag torsdag fredag lördag söndag omgående
    poniedziałek wtorek środa czwartek piątek sobota niedziela jutro teraz natychmiast понедельник вторник среда четверг пятница суббота
    воскресенье завтра сейчас срочно понеділок вівторок середа четвер пʼятниця субота неділя зараз
"""
_CALENDAR = frozenset({*MONTHS, *TODAY, *YESTERDAY, *UNIT_DAYS, *map(folded, _DAYS.split())})


def rules_out(schema: Schema, text: str) -> bool:
    """Whether a text surely shows none of these things, without asking anybody."""
    needed = {field.kind for field in schema.fields if field.required and not field.judged}
    return not text.strip() or any(not _SHOWS[kind](text) for kind in needed & _SHOWS.keys())


def _shows_amount(text: str) -> bool:
    return _shows_number(text) or any(_names_money(line) for line in _lines(text))


def _names_money(line: str) -> bool:
    """A currency may follow a number in words, and what is free has a price too."""
    return currency.anywhere(line) is not None or isinstance(read_price(line), Price)


def _shows_day(text: str) -> bool:
    """Scripts that write no spaces between words have none that could be looked up: they may always name a
    day.
    """
    return (
        _shows_number(text)
        or _UNSPACED.search(text) is not None
        or any(folded(word) in _CALENDAR for word in _WORD.findall(text))
    )


def _shows_number(text: str) -> bool:
    return any(char.isnumeric() for char in text)


def _lines(text: str) -> list[str]:
    return [line[at : at + MAX_LINE] for line in text.splitlines() for at in range(0, len(line), MAX_LINE)]


_SHOWS: Mapping[Kind, Callable[[str], bool]] = {Kind.MONEY: _shows_amount, Kind.DATE: _shows_day}


def brief(terms: ModelTerms) -> ModelTerms:
    """The terms for a question that is answered with yes or no."""
    return replace(terms, output=min(terms.output, MAX_OUTPUT))


def pays(asking: int, reading: int) -> bool:
    """Whether the question is worth its price beside that of the reading, both at worst."""
    return asking * WORTH_A_SHARE < reading


def wanted(schema: Schema) -> dict[str, Any]:
    """What is looked for, for a model that is asked whether it is there."""
    return {
        "wanted": {
            "what": schema.name,
            "with": {field.name: field.says for field in schema.fields if not field.judged},
        }
    }
