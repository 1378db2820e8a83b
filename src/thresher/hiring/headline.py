"""A title as it is compared between boards: what every board adds is taken off, what tells two openings apart
stays.

Gone are case and punctuation, "(m/f/d)", requisition numbers, "full-time", the company's own name and the
place. Kept is everything that a person would read as another role: "(Agentforce)" and "(Data Cloud)", "II"
and "III", "Night shift", "Summer 2026".
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from thresher.hiring.locations import read_spots
from thresher.hiring.records import company_name_key
from thresher.reading.values.gazetteer import cities_named, country_named, is_word, regions_named

MAX_LENGTH = 400
_GENDER = re.compile(
    r"\(?\b(?:[mwfdxh]|div|gn|all)(?: ?[/|,*.] ?(?:[mwfdxihn]|div|gn|in|nb|a|all)\b){1,4}\)?|\((?:all genders?|gn|any gender|"
    r"alle geschlechter)\)|\b(?:all genders)\b|"
    r"(?<=\w)(?:[:*/_]-?in(?:nen)?|/-in)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"[\[(#]? ?\b(?:job|req|requisition|ref|reference|id|posting|vacancy|position|stellen-?id|kennziffer)\b\.?(?: ?(?:id|no|nr|number|"
    r"code|#))?\.? ?[:#-]? ?[a-z]{0,4}-?[0-9]{2,}[0-9_-]*\b ?[\])]?|"
    r"#[0-9]{2,}\b|[\[(] ?[a-z]{0,5}-?[0-9]{4,}[0-9_-]* ?[\])]|\b(?:r|jr|req|jo|ref|wd|p)[-_ ]?[0-9]{4,}\b|\b[0-9]{2}wd[0-9]{4,}\b|"
    r"(?<![\w-])[0-9]{5,}\b",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\((?:remote|hybrid|on-?site|remote possible|100% remote)\)|\b(?:full[- ]?time|vollzeit)\b|^copy of\b|"
    r"^(?:job|hiring|now hiring|urgent):"
)
_DIVIDED = re.compile(r"(\s+[-–—|@•·]\s+|\s*[|(),;\[\]]\s*|\s+(?:at|bei|chez|in|@)\s+)")
_SHORT = {
    "sr": "senior",
    "snr": "senior",
    "jr": "junior",
    "mgr": "manager",
    "eng": "engineer",
    "engr": "engineer",
    "dev": "developer",
    "swe": "software engineer",
    "fullstack": "full stack",
    "frontend": "front end",
    "backend": "back end",
}
_WORD = re.compile(r"[^\W_]+(?:[+#]+)?|\.net\b")
_COUNTRIES = frozenset(("us", "usa", "uk", "eu", "emea", "apac", "latam", "dach"))
_WORKPLACES = frozenset(("remote", "hybrid", "onsite", "on-site", "on site", "homeoffice", "home office"))


@lru_cache(8_192)
def headline(title: str, company: str = "") -> str:
    """The words of a title that tell it from others, in order."""
    return " ".join(
        _SHORT.get(word, word) for part in parts_of(title, company) for word in _WORD.findall(part)
    )


def parts_of(title: str, company: str = "") -> list[str]:
    """What is left of a title, in lower case, where dashes, commas and brackets divide it."""
    return [part.text for part in divided(title, company)]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a title, and what divides it from the part before: a word such as "in", or a sign."""

    text: str
    divider: str


def divided(title: str, company: str = "") -> list[Part]:
    """The same, each part with its divider; the first has none."""
    text = unicodedata.normalize("NFKC", title[:MAX_LENGTH]).lower()
    text = _ADDED.sub(" ", _NUMBERED.sub(" ", _GENDER.sub(" ", text)))
    texts = _DIVIDED.split(text)
    parts = [
        Part(part, divider.strip())
        for each, divider in zip(texts[::2], ("", *texts[1::2]), strict=True)
        if (part := each.strip(" -–—:/."))
    ]
    own = company_name_key(company) if company else None
    kept = [
        part
        for at, part in enumerate(parts)
        if at == 0 or not (is_place(part.text) or company_name_key(part.text) == own)
    ] or parts
    if len(kept) > 1 and own and company_name_key(kept[0].text) == own:
        kept = kept[1:]
    return kept


@lru_cache(8_192)
def places_of(title: str) -> tuple[str, ...]:
    """The parts of a title that name a place: "Engineer - Berlin"."""
    parts = [part.strip(" -–—:/.") for part in _DIVIDED.split(title[:MAX_LENGTH])[::2]]
    return tuple(
        part for part in parts[1:] if part and part.lower() not in _WORKPLACES and is_place(part.lower())
    )


def is_place(part: str) -> bool:
    """Whether a part of a title, in lower case, names a place or says that there is none."""
    if part in _WORKPLACES or part in _COUNTRIES or country_named(part):
        return True
    if cities_named(part):
        return not is_word(part)  # "Engineer, Mobile", "Sales Manager - Enterprise"
    if len(part) > 3 and regions_named(part):
        return True
    words = part.split()
    if len(words) == 1 and len(part) == 2:
        return bool(regions_named(part.upper()))
    if not 2 <= len(words) <= 4:
        return False
    last = words[-1].upper()
    if not (words[0] in _WORKPLACES or country_named(last) or regions_named(last)):
        return False
    found = read_spots(part.title())
    return len(found) == 1 and bool(cities_named(found[0].city or ""))
