"""Grades of coins in all their spellings, and the normal form in which they are compared.

"MS65", "MS-65", "ms 65" and "PCGS MS65" are one grade; MS65+ and MS65 PL are others. A grade of a damaged
coin ("AU details") is one of its own. What somebody hopes for ("possible MS65", "MS65?") is none.
"""

import re
from dataclasses import dataclass

from thresher.apps.prices.matching.comparison import (
    SILENT,
    Compared,
    ListingTexts,
    affirmed,
    denied,
    differs,
    matches,
)
from thresher.apps.prices.matching.vocabulary import phrases, word_set
from thresher.apps.prices.matching.words import Words, read_words
from thresher.apps.prices.model import RAW

_SAME = {"PF": "PR", "PRF": "PR", "PROOF": "PR", "EF": "XF", "UNC": "MS", "BU": "MS", "FAIR": "FR"}
_SCALE = {
    "MS": range(60, 71),
    "PR": range(1, 71),
    "SP": range(1, 71),
    "AU": range(50, 60),
    "XF": range(40, 50),
    "VF": range(20, 40),
    "F": range(12, 20),
    "VG": range(7, 12),
    "G": range(4, 7),
    "AG": range(3, 4),
    "FR": range(2, 3),
    "PO": range(1, 2),
}
_NUMBERED = re.compile(
    r"(?<![^\W_])(MS|PR|PF|PRF|SP|AU|XF|EF|VF|VG|AG|FR|PO|F|G|UNC|BU|Proof)(?:\s?[-–]\s?|\s)?0?(\d{1,2})(\+)?"
    r"(?:\s?[-/–]\s?(\d{2})(?!\d))?([A-Z]{2,4})?(?![^\W_])",
    re.IGNORECASE,
)
_DESIGNATIONS = {
    "PL": "PL",
    "DMPL": "DMPL",
    "DPL": "DMPL",
    "CAM": "CAM",
    "CAMEO": "CAM",
    "DCAM": "DCAM",
    "UCAM": "DCAM",
    "UC": "DCAM",
    "RD": "RD",
    "RB": "RB",
    "BN": "BN",
    "FB": "FB",
    "FBL": "FBL",
    "FS": "FS",
    "FH": "FH",
    "FT": "FT",
}
CERTIFIED = "graded"  # by somebody, without saying how
MAX_HEDGE = 3  # words between "possible" and the grade that it is about


@dataclass(frozen=True, slots=True)
class GradeFound:
    """The grade that a text states, in its normal form, with its quote. `others` are further ones."""

    grade: str
    quote: str
    others: tuple[str, ...] = ()


def normal_grade(text: str) -> str | None:
    """The normal form of a grade; None for a text that states none."""
    found = grade_in(read_words(text))
    return found.grade if found is not None else None


def grade_in(words: Words) -> GradeFound | None:
    """The grade that a text states."""
    if raw := affirmed(words, phrases("raw")):
        return GradeFound(RAW, words.quote(raw[0].start, raw[0].end))
    if unslabbed := denied(words, phrases("graded")):
        return GradeFound(RAW, words.quote(max(0, unslabbed[0].start - 1), unslabbed[0].end))
    found = _numbered(words) or _adjectives(words)
    if not found:
        return None
    grades = tuple(dict.fromkeys(grade for grade, _ in found))
    return GradeFound(grades[0], found[0][1], grades[1:])


def _numbered(words: Words) -> list[tuple[str, str]]:
    found = []
    for each in _NUMBERED.finditer(words.text):
        letters = _SAME.get(each[1].upper(), each[1].upper())
        if int(each[2]) not in _SCALE[letters]:
            continue
        glued = (each[5] or "").upper()
        if glued and glued not in _DESIGNATIONS:
            continue
        first, last = words.at_character(each.start()), words.at_character(each.end())
        if _is_hoped_for(words, first, each.end()):
            continue
        suffix, quote = _designation(words, glued, each, last)
        grade = f"{letters}{int(each[2])}{each[3] or ''}{suffix}"
        found.append((grade, quote))
        if each[4] and each[4] != each[2] and int(each[4]) in _SCALE[letters]:
            found.append((f"{letters}{each[4]}", quote))
    return found


def _designation(words: Words, glued: str, found: re.Match[str], last: int) -> tuple[str, str]:
    """What stands behind a grade and makes it another one: "PL", "RD", "details"."""
    said = [_DESIGNATIONS[glued]] if glued else []
    at = last
    while (known := _DESIGNATIONS.get(words.word(at).upper())) is not None and at < last + 3:
        said.append(known)
        at += 1
    if _has_details(words, at):
        said.append("details")
        at += 1
    quote = words.text[found.start() : words.ends[at - 1]] if at > last else found[0]
    return "".join(f" {each}" for each in dict.fromkeys(said)), quote


def _has_details(words: Words, at: int) -> bool:
    return words.word(at) in word_set("details")


def _adjectives(words: Words) -> list[tuple[str, str]]:
    """Grades in words: "BU", "Extremely Fine". "AU" in small letters is no grade."""
    found = []
    for each in affirmed(words, phrases("adjectives")):
        quote = words.quote(each.start, each.end)
        if quote in ("au", "Au"):  # a symbol of gold
            continue
        if _is_hoped_for(words, each.start, words.ends[each.end - 1]):
            continue
        if _has_details(words, each.end):
            found.append((f"{each.label} details", words.quote(each.start, each.end + 1)))
        else:
            found.append((each.label, quote))
    if found:
        return found
    for each in affirmed(words, phrases("services")):
        if _has_details(words, each.end) or words.word(each.end) == "genuine":
            return [("details", words.quote(each.start, each.end + 1))]
        return [(CERTIFIED, words.quote(each.start, each.end))]
    return [(CERTIFIED, words.quote(each.start, each.end)) for each in affirmed(words, phrases("graded"))[:1]]


def _is_hoped_for(words: Words, first: int, end: int) -> bool:
    if words.text[end : end + 1] == "?":
        return True
    return any(words.word(at) in word_set("hedges") for at in range(max(0, first - MAX_HEDGE), first))


def stated_grade(texts: ListingTexts, aspects: tuple[str, ...]) -> GradeFound | None:
    """The grade that a listing states. What the source says by name and what stands in the title are both
    heard; two that differ are named both.
    """
    found = [
        each for words in (texts.title, texts.condition, *texts.named(aspects)) if (each := grade_in(words))
    ]
    if not found:
        return None
    raw = next((each for each in found if each.grade == RAW), None)
    if raw is not None and not affirmed(texts.title, phrases("services")):
        return raw  # a number beside it is what its seller thinks
    exact = [each for each in found if each.grade not in _WITHOUT_NUMBER]
    worded = [each for each in found if each.grade != CERTIFIED]
    kept = exact or worded or found
    grades = dict.fromkeys(grade for each in kept for grade in (each.grade, *each.others))
    first, *others = grades
    return GradeFound(first, kept[0].quote, tuple(others))


# A marketplace says "uncirculated" of every coin that has not been used: a number beside it says more.
_VAGUE = frozenset({"BU", "AU", "XF", "VF", "VG", "PL", "PR"})
_WITHOUT_NUMBER = frozenset({*_VAGUE, CERTIFIED})


def compare_grade(wanted: str, said: GradeFound | None) -> Compared:
    """Compare a grade with the one that a listing states."""
    if said is None:
        return SILENT
    own = RAW if wanted.strip().lower() == RAW else normal_grade(wanted) or " ".join(wanted.split())
    if said.others:
        return differs(said.quote, " and ".join((said.grade, *said.others)))
    if said.grade.casefold() == own.casefold():
        return matches(said.quote)
    if own == RAW and said.grade in _VAGUE:
        return matches(said.quote)  # a seller's word for the state of a coin that nobody has graded
    return differs(said.quote, said.grade)
