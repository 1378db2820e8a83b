"""How many people work at a company: from "our 240 people", "51-200 employees", "1.200 Mitarbeiter", and not
from whom it sells to.
"""

import re
from dataclasses import dataclass
from functools import cache

from thresher.hiring.company.phrases import one_of
from thresher.hiring.finding import Finding

MAX_HEADCOUNT = 5_000_000
MAX_VALUE = 150
BEFORE = 60  # characters before a number that say whom it counts
_NUMBER = r"(?:[0-9]{1,3}(?:[.,\u00a0\u202f '’][0-9]{3}){1,2}|[0-9]{1,7})(?:\s?[kK](?![a-z]))?\+?"
_RANGE = rf"{_NUMBER}(?:\s?(?:-|–|—|to|bis|à|a|do)\s?{_NUMBER})?"
_FIGURES = re.compile(r"[0-9]+")
_ABOUT = r"(?:~|>|<|≈|\+|ca\.?|about|over|around|nearly|almost|some|roughly|more than|über|rund|plus de|más de|oltre)?"
_LEADING = re.compile(rf"\s*{_ABOUT}\s*({_RANGE})(?![\w.,%]*[\w%])", re.IGNORECASE)
_MOMENT = re.compile(
    r"\b(?:in|since|by|until|from|of|year|seit|im jahr|jahr|en|depuis|nel|dal|desde|sinds|i|od|w|©)\s$",
    re.IGNORECASE,
)
_TEAM = re.compile(
    r"\b(?:team|staff|crew|workforce|headcount|company|group|équipe|equipo|squadra) (?:of|de|di|von) "
    rf"{_ABOUT}\s?({_RANGE})(?![%\w.,]*[%\w])(?!\s(?:years|months|hours|days))",
    re.IGNORECASE,
)
_PERSON = re.compile(
    rf"(?<![\w.,$€£-])({_NUMBER})[- ](?:person|people|strong|head|köpfige[ns]?)[- ](?:team|company|crew|group|staff|studio|agency)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Headcount:
    """`low` to `high` people, and how that is written. They are equal where one number is written; None: and
    more.
    """

    text: str
    low: int
    high: int | None


def headcount(text: str) -> Finding[Headcount] | None:
    """The first count of a company's own people in a line or a sentence."""
    for match in _people().finditer(text):
        if _counts(text, match):
            return _found(text, *match.span(1))
    for pattern in (_TEAM, _PERSON):
        said = pattern.search(text)
        if (
            said
            and not _is_year(text, said)
            and not _others().search(text[max(0, said.start() - BEFORE) : said.start()])
        ):
            return _found(text, *said.span(1))
    return None


def bare_count(text: str) -> Finding[Headcount] | None:
    """The count in a value that stands behind or above a label. There every number of people counts the
    company's own.
    """
    if len(text) > MAX_VALUE:
        return headcount(text)
    match = _LEADING.match(text) or _people().search(text)
    return _found(text, *match.span(1)) if match else headcount(text)


def _counts(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start(1) - BEFORE) : match.start(1)]
    if _others().search(before) or _is_year(text, match):
        return False
    if match["surely"]:
        return True
    return _ours().search(before) is not None or _here().match(text, match.end()) is not None


def _is_year(text: str, match: re.Match[str]) -> bool:
    number = match[1]
    is_like_one = len(number) == 4 and number.isdecimal() and number[:2] in ("19", "20")
    return is_like_one and _MOMENT.search(text[max(0, match.start(1) - BEFORE) : match.start(1)]) is not None


def _found(text: str, start: int, end: int) -> Finding[Headcount] | None:
    written = text[start:end]
    numbers = [_value(each) for each in re.findall(_NUMBER, written)]
    if not numbers or not 0 < max(numbers) <= MAX_HEADCOUNT:
        return None
    low = numbers[0]
    high = None if written.endswith("+") else max(numbers[-1], low)
    return Finding(Headcount(written.strip(), low, high), start, end)


def _value(written: str) -> int:
    thousands = 1_000 if "k" in written.lower() else 1
    return int("".join(_FIGURES.findall(written)) or 0) * thousands


@cache
def _people() -> re.Pattern[str]:
    """A number and whom it counts, with at most two words between the two: "240 talented people"."""
    whom = rf"(?:(?P<surely>{one_of('employees')})|{one_of('persons')})"
    return re.compile(
        rf"(?<![\w.,$€£#%-])({_RANGE})[\s-](?:[^\W\d_]{{2,15}}[\s-]){{0,2}}?{whom}(?!\w)", re.IGNORECASE
    )


@cache
def _others() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of('others')})(?!\w)[^.]{{0,30}}$", re.IGNORECASE)


@cache
def _ours() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of('ours')})(?:\s(?:{one_of('between')})){{0,4}}\s$", re.IGNORECASE)


@cache
def _here() -> re.Pattern[str]:
    return re.compile(rf"\s(?:{one_of('here')})(?!\w)", re.IGNORECASE)
