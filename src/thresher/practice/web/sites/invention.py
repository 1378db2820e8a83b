"""Values that look right and stand nowhere: what a model says when it would rather please than read."""

from thresher.practice.web.answer import Json
from thresher.practice.web.draw import Draw
from thresher.practice.web.words import CITIES, FIRST, SECOND

TRIES = 50
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def invented(draw: Draw, kind: str, name: str, choices: list[Json], text: str) -> Json:
    """A plausible value of a field that is not in the text, as far as one can be found. Of choices, any."""
    if choices:
        return draw.pick(choices)
    if kind == "boolean":
        return draw.chance(50)
    lower = text.lower()
    for _ in range(TRIES):
        value = _number(draw, kind) if kind in ("integer", "number") else _words(draw, name)
        if str(value).lower() not in lower:
            return value
    return f"{_words(draw, name)} {draw.between(10_000, 99_999)}"


def _number(draw: Draw, kind: str) -> float:
    return draw.between(1_001, 9_998) if kind == "integer" else draw.between(100_101, 999_998) / 100


def _words(draw: Draw, name: str) -> str:
    """Of the sort that the name of the field makes one expect."""
    if any(part in name for part in ("price", "salary", "pay", "cost", "amount", "shipping")):
        return f"€{draw.between(1_001, 9_998):,}.{draw.between(11, 98)}"
    if any(part in name for part in ("date", "starts", "posted", "sold", "deadline")):
        return f"{draw.between(1, 28)} {draw.pick(MONTHS)} {draw.between(1931, 1959)}"
    if any(part in name for part in ("location", "city", "place", "where")):
        city = draw.pick(CITIES)
        return f"{city[0]}, {draw.pick(CITIES)[2]}"
    if "url" in name or "link" in name:
        return f"https://www.{draw.pick(FIRST).lower()}{draw.pick(SECOND).lower()}.example/{draw.between(1_000, 9_999)}"
    return f"{draw.pick(FIRST)} {draw.pick(SECOND)} {draw.between(10, 99)}"
