"""The fingerprint of a posting: when two postings say the same, and where one nearly says what another does.

    exact    equal for the same title, company, places and words, whatever boards do to spaces, entities,
             links and numbers of their own
    sketch   a few numbers drawn from the words alone, of which two texts share as many as they share text

The exact one is what a changed posting is known by, too.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from zlib import crc32

from thresher.hiring.headline import headline, places_of
from thresher.hiring.locations import read_spots
from thresher.hiring.opening import Spot
from thresher.hiring.records import PostingRecord, company_name_key

MAX_LENGTH = 30_000  # characters of a description that are read
MAX_LINE = 1_000  # of a title, a name, a location
SHINGLE = 4  # words that are taken together
DRAWN = 64  # numbers of a sketch
# Each begins with plain letters: so it is found fast.
_NOISE = (
    ("http", re.compile(r"https?://[^\s<>()]{1,2000}")),
    ("www.", re.compile(r"www\.[^\s<>()]{1,2000}")),
    ("<", re.compile(r"</?[a-z][^<>]{0,500}>")),
    ("#li-", re.compile(r"#li-[\w-]{1,20}")),
)
# Lines that a board writes for itself.
_OWN_LINE = re.compile(
    r"[ \t*#>-]{0,6}(?:(?:(?:job|req|requisition|reference|posting|position|vacancy) )?(?:id|number|no|nr|code|ref|requisition|reference|"
    r"date posted|posted|posting date|apply by|apply before|application deadline|closing date|deadline|source|via|published)\b[ .#*]{0,3}:"
    r"[^\n]{0,60}|about (?:the|this) (?:job|role|position)[:.]?|"
    r"(?:full )?(?:job )?(?:description|overview|summary)[:.]?|(?:show|read|see) (?:more|less)|(?:easy )?apply(?: now| here| online|"
    r" today)?[!.]?|(?:share|save|report) this (?:job|posting|position|role)|"
    r"(?:back to|view all|see all)[ \w]{0,20}|posted [^\n]{0,20}(?:ago|today|yesterday|[0-9]{4}))[ \t*\r]{0,4}"
)
MAX_OWN = 110
# What divides words. Of the marks beyond ASCII only those that pages use; any other is a part of its word on
# every board alike.
_DIVIDING = bytes(byte if byte >= 128 or chr(byte).isalnum() else 32 for byte in range(256))
_MARKS = "–—‐‑‒−“”„‘’‚«»‹›•·●▪◦‣■□○★☆✓✔→⇒©®°´、。，；：！？（）「」"
_DOMAIN = re.compile(r"\.(?:com|io|ai|co|net|org|app|dev|de|eu|tech|so|inc|hq)$")


@dataclass(frozen=True, slots=True)
class Print:
    """What a posting is known by, in parts. `words` are those of the description, as they are compared."""

    title: str
    company: str
    places: frozenset[tuple[str, str, str]]
    remote: bool
    words: tuple[str, ...]

    @property
    def exact(self) -> str:
        """One short text for all of it."""
        places = sorted("/".join(place) for place in self.places)
        parts = (
            self.title,
            self.company,
            ";".join(places),
            "remote" if self.remote else "",
            " ".join(self.words),
        )
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:32]

    @property
    def sketch(self) -> tuple[int, ...]:
        return sketch(self.words)


def print_of(posting: PostingRecord) -> Print:
    """The fingerprint of a posting."""
    title, company, location = (
        (said or "")[:MAX_LINE] for said in (posting.title, posting.company_name, posting.location)
    )
    spots = _spots(title, location)
    return Print(
        title=headline(title, company),
        company=firm(company) or posting.company or "",
        places=frozenset(_place(spot) for spot in spots if spot.city or spot.region or spot.country),
        remote=any(spot.remote for spot in spots),
        words=words(posting.description or ""),
    )


@lru_cache(4_096)
def firm(company: str) -> str:
    """A company's name as it is compared: "Jerry", "Jerry.ai" and "Jerry Inc." are one."""
    return company_name_key(_DOMAIN.sub("", company[:200].strip().lower()))


def words(text: str) -> tuple[str, ...]:
    """The words of a description, without what boards add: links, tags, entities, numbers of their own."""
    plain = unescape(text[:MAX_LENGTH])
    if "&" in plain:  # some boards escape twice
        plain = unescape(plain)
    plain = plain.lower() if plain.isascii() else _folded(plain)
    for begins, noise in _NOISE:
        if begins in plain:
            plain = noise.sub(" ", plain)
    kept = " ".join(
        line for line in plain.split("\n") if len(line) > MAX_OWN or not _OWN_LINE.fullmatch(line)
    )
    if "@" in kept:  # addresses for letters
        kept = " ".join(word for word in kept.split() if "@" not in word)
    return tuple(kept.encode("utf-8", "replace").translate(_DIVIDING).decode().split())


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    for mark in _MARKS:
        folded = folded.replace(mark, " ")
    return folded


def sketch(said: Sequence[str]) -> tuple[int, ...]:
    """The smallest numbers of all runs of words: which they are depends on the text alone."""
    return tuple(sorted(set(_numbers(said)))[:DRAWN])


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """What share of their text two sketches have in common, about; 0 where one is empty."""
    if not one or not other:
        return 0.0
    drawn = sorted({*one, *other})[:DRAWN]
    return len({*one} & {*other} & {*drawn}) / len(drawn)


def _numbers(said: Sequence[str]) -> Iterable[int]:
    if len(said) < SHINGLE:
        return [crc32(" ".join(said).encode("utf-8", "replace"))] if said else []
    runs = zip(*(said[at:] for at in range(SHINGLE)), strict=False)
    return (crc32(" ".join(run).encode("utf-8", "replace")) for run in runs)


def _spots(title: str, location: str) -> list[Spot]:
    found = list(read_spots(location))
    for name in places_of(title):  # "Engineer - Berlin": the title names a place that the location may not
        found += [
            spot
            for spot in read_spots(name)
            if spot.city and not any(known.city == spot.city for known in found)
        ]
    return found


def _place(spot: Spot) -> tuple[str, str, str]:
    return (spot.country or "", spot.region or "", (spot.city or "").lower())


# What tells that two postings are one although their numbers differ: title, company, place and how the
# description begins.

BEGINNING = 100  # letters and digits of the description that are compared
_READ = 400  # characters in which they are looked for: spaces, stars and dashes do not count
_MOSTLY = 160  # characters in which most texts have them
_WORD = re.compile(r"\w+")
_ASCII = [chr(byte) for byte in range(128)]
_OTHERS = bytes(ord(char) for char in _ASCII if not char.isalnum() and char != "_")
_LOWER = bytes(range(256)).lower()
_PLACE_DIVIDERS = "".join(" " if ord(char) in _OTHERS else char.lower() for char in _ASCII)


def content_of(title: str, company: str | None, location: str | None, description: str | None) -> str | None:
    """A short text that is equal for the same posting; None where too little is said."""
    whose = firm(company) if company else ""
    if not whose or not (location or description):
        return None
    begins = _beginning(description) if description else "-"  # says that there is none; no word is a dash
    said = f"{_line(title)}\x1f{whose}\x1f{_line(location or '')}\x1f{begins}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


def _beginning(text: str) -> str:
    few = text[:_READ]
    if not few.isascii():
        return "".join(_words(few))[:BEGINNING]
    found = few[:_MOSTLY].encode().translate(_LOWER, _OTHERS)  # the same as by words, and many times as fast
    if len(found) < BEGINNING:
        found = few.encode().translate(_LOWER, _OTHERS)
    return found[:BEGINNING].decode()


def _bare(text: str) -> str:
    return " ".join(text.translate(_PLACE_DIVIDERS).split() if text.isascii() else _words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


_line = lru_cache(4_096)(_bare)  # titles and places come again and again
