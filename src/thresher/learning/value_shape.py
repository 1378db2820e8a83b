"""Value shapes: what sort of text a value is at first sight, so that a date among names is noticed."""

import re
import unicodedata
from datetime import date
from enum import StrEnum

from thresher.reading.values.dates import read_date
from thresher.reading.values.money import Price, read_price

_ANY_DAY = date(2000, 1, 1)
_WEB = re.compile(r"(?:https?://)?[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}(?:/\S{0,500})?", re.IGNORECASE)
MAX_LENGTH = 100  # characters: what is longer is words, whatever is in it


class ValueShape(StrEnum):
    """From the most telling to the least."""

    PRICE = "price"
    DAY = "day"
    FIGURES = "figures"
    WEB = "web"
    CODE = "code"
    WORDS = "words"


_PLAIN = frozenset({ValueShape.FIGURES, ValueShape.CODE, ValueShape.WORDS})


def look(text: str) -> ValueShape:
    """What a text looks like."""
    if not 0 < len(text) <= MAX_LENGTH:
        return ValueShape.WORDS
    has_digit, has_letter = any(map(str.isdigit, text)), any(map(str.isalpha, text))
    if has_digit and is_priced(text):
        return ValueShape.PRICE
    if (
        figured(text) and not text.isdigit() and is_dated(text)
    ):  # ten figures are a moment to a machine, and an ISBN to a reader
        return ValueShape.DAY
    if has_digit and not has_letter:
        return ValueShape.FIGURES
    if "." in text and _WEB.fullmatch(text):
        return ValueShape.WEB
    return ValueShape.CODE if has_digit and " " not in text else ValueShape.WORDS


def figured(text: str) -> bool:
    """Whether figures are more than a quarter of it: a date, a number with its unit, but not a place with its
    postcode.
    """
    return 4 * sum(char.isdigit() for char in text) > len(text)


def is_dated(text: str) -> bool:
    """Whether a text names a day, in whichever order. Which day is nobody's question here, so today may be
    any.
    """
    return any(read_date(text, today=_ANY_DAY, day_first=first) is not None for first in (True, False))


def is_priced(text: str) -> bool:
    """Whether a text names a price with the sign of its currency. Letters will not do: a code may end in
    `C`.
    """
    return any(unicodedata.category(char) == "Sc" for char in text) and isinstance(read_price(text), Price)


def odd_look(text: str, known: frozenset[str]) -> ValueShape | None:
    """The look of a text, if it would surprise somebody who knows the others.

    A name may be a number (a book, a band), and a code may be all figures; neither is a price, a day or an
    address.
    """
    found = look(text)
    if found in known or (found in (ValueShape.FIGURES, ValueShape.CODE) and not known.isdisjoint(_PLAIN)):
        return None
    return found
