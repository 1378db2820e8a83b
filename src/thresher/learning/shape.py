"""A shape: what the values of a field have looked like, so that something else in their place is noticed.

A few pages cannot say what all values look like. Only what would surprise a person counts: letters in a
number, a price without a figure, a name of four hundred characters.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from thresher.core.schema import Field, Kind
from thresher.learning.meaning import meaning
from thresher.learning.wording import number
from thresher.reading.text.vocabulary import words
from thresher.reading.values.dates import read_date
from thresher.reading.values.money import Price, read_price

# Value shapes: what sort of text a value is at first sight, so that a date among names is noticed.

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


_CODES = frozenset({ValueShape.FIGURES, ValueShape.CODE})
_PLAIN = frozenset({ValueShape.FIGURES, ValueShape.CODE, ValueShape.WORDS})


def look(text: str) -> ValueShape:
    """What a text looks like."""
    if not 0 < len(text) <= MAX_LENGTH:
        return ValueShape.WORDS
    has_digit, has_letter = any(map(str.isdigit, text)), any(map(str.isalpha, text))
    if has_digit and is_priced(text):
        return ValueShape.PRICE
    if figured(text) and not text.isdigit() and is_dated(text):
        # Ten figures are a moment to a machine, and an ISBN to a reader.
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
    """Tell whether a text contains a date, in any order. Which date does not matter, so today may
    be any day.
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


# Where a page states nothing: what it writes in the place of a value that it has not, or does not show.


def is_unstated(text: str) -> bool:
    """Whether a text says that there is no value: a dash, "N/A", "Sign in to see"."""
    return not any(map(str.isalnum, text)) or (len(text) <= MAX_LENGTH and words("unstated").is_one(text))


_NUMERIC = (Kind.NUMBER, Kind.INTEGER)
_STATES = frozenset({"availability"})  # of which "not available" is a value
_FIGURES = (*_NUMERIC, Kind.MONEY, Kind.DATE)
_LABELS = (":", "：")
ROOM = 4  # times longer or shorter than anything seen
LONG = 80  # characters: what is shorter may be shorter still
RANGE = 50  # times larger or smaller than anything seen


@dataclass(frozen=True, slots=True)
class Shape:
    """What is usual. Kinds of characters are letter, digit and currency.

    `always` are those that every value had, and must have; of `usually` another value may do without.
    `never`: none had. `looks` are all that were seen, `low` and `high` the range of amounts. `always_there`
    says that every page had the field; `pages` of `seen` had it. `stated`: no known value says that there is
    none. `unlabelled`: none ends as a label does.
    """

    shortest: int
    longest: int
    always: frozenset[str]
    never: frozenset[str]
    usually: frozenset[str] = frozenset()
    looks: frozenset[str] = frozenset()
    low: float | None = None
    high: float | None = None
    priced: bool = False
    dated: bool = False
    always_there: bool = True
    pages: int = 0
    seen: int = 0
    stated: bool = True
    unlabelled: bool = True

    @property
    def share(self) -> float:
        """The share of the known pages that had the field: what coverage is measured against."""
        return self.pages / self.seen if self.seen else 0.0

    def complaint(self, text: str, *, strictly: bool = False) -> str | None:
        """What is odd about a text, in words; None where nothing is. Strictly, where there is nothing else to
        go by.
        """
        if len(text) > self.longest * ROOM + 40 or (
            self.shortest >= LONG and len(text) < self.shortest // ROOM
        ):
            return f"has {len(text)} characters; usual are {self.shortest} to {self.longest}"
        kinds = _kinds(text)
        if lost := (self.always | self.usually if strictly else self.always) - kinds:
            return f"has no {', no '.join(sorted(lost))}, which every known value has"
        if strange := self.never & kinds:
            return f"has a {' and a '.join(sorted(strange))}, which no known value has"
        if (found := odd_look(text, self.looks)) is not None:
            return f"looks like {found}; known values look like {' or '.join(sorted(self.looks))}"
        if self.unlabelled and text.endswith(_LABELS):
            return "looks like a label"
        if self.priced and _priced(text) is None:
            return "names no price"
        if self.dated and not is_dated(text):
            return "names no day"
        return None

    def lacks_value(self, text: str) -> bool:
        """Whether a text says that the page has no value to give, and no known value says so."""
        return self.stated and is_unstated(text)

    def out_of_range(self, text: str) -> str | None:
        """Whether an amount is far outside of what was seen, in words."""
        found = _amount(text, self.priced)
        if found is None or self.low is None or self.high is None:
            return None
        if min(self.low / RANGE, self.low) <= float(found) <= max(self.high * RANGE, self.high):
            return None
        return f"is {found}; usual is {self.low:g} to {self.high:g}"


def shape(field: Field, texts: Sequence[str], *, pages: int, seen: int) -> Shape:
    """The shape of the known values of a field."""
    kinds = [_kinds(text) for text in texts]
    looks = frozenset(map(look, texts))
    always, ever = frozenset.intersection(*kinds), frozenset.union(*kinds)
    if looks <= _CODES:
        always -= {"letter"}  # a code may be all figures
    # Three places with a postcode do not make one without it odd; three figures without a letter do make a
    # word odd.
    figures = "digit" in always and "letter" not in ever
    wanted = always if figures or field.kind in _FIGURES or all(map(figured, texts)) else always - {"digit"}
    never = frozenset({"letter", "currency"} - ever) if figures else frozenset()
    priced = field.kind is Kind.MONEY and all(_priced(text) is not None for text in texts)
    sums = (
        [found for text in texts if (found := _amount(text, priced)) is not None]
        if priced or field.kind in _NUMERIC
        else []
    )
    lengths = [len(text) for text in texts]
    return Shape(
        shortest=min(lengths),
        longest=max(lengths),
        always=wanted,
        never=never,
        usually=always - wanted,
        looks=looks,
        low=float(min(sums)) if sums else None,
        high=float(max(sums)) if sums else None,
        priced=priced,
        dated=field.kind is Kind.DATE and all(map(is_dated, texts)),
        always_there=pages == seen,
        pages=pages,
        seen=seen,
        stated=meaning(field) not in _STATES and not any(map(is_unstated, texts)),
        unlabelled=not any(text.endswith(_LABELS) for text in texts),
    )


def _kinds(text: str) -> frozenset[str]:
    return frozenset(_kinds_of(text))


def _kinds_of(text: str) -> Iterable[str]:
    for char in set(text[:2_000]):
        if char.isalpha():
            yield "letter"
        elif char.isdigit():
            yield "digit"
        elif unicodedata.category(char) == "Sc":
            yield "currency"


def _priced(text: str) -> Decimal | None:
    found = read_price(text)
    return found.amount if isinstance(found, Price) else None


def _amount(text: str, priced: bool) -> Decimal | None:
    return _priced(text) if priced else number(text)
