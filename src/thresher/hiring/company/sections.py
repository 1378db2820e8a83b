"""Sections below a heading: about, culture, mission. A section is a span of the dossier, so its text is
its own quote.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from thresher.hiring.company.dossier import Dossier, DossierLine
from thresher.hiring.company.phrases import phrases, phrases_of
from thresher.hiring.finding import Finding
from thresher.hiring.records import company_name_key
from thresher.reading.text.vocabulary import Words, plain

MAX_LENGTH = 1_500  # characters of a section that are kept
MIN_LENGTH = 20
MAX_HEADING = 60
PROSE = 40  # characters from which a line reads like a sentence
ENOUGH = 150  # characters after which a heading begins something else
APART = 3  # lines that may stand between two paragraphs of one text
_END = re.compile(r"[.!?。]\s")
_WORD = re.compile(r"[\w'-]+")
_SMALL = frozenset(
    (
        "our",
        "the",
        "and",
        "at",
        "of",
        "a",
        "we",
        "und",
        "unsere",
        "unser",
        "et",
        "nos",
        "notre",
        "y",
        "nuestra",
        "nuestros",
        "e",
        "i",
        "onze",
        "vår",
        "våra",
    )
)
_ABOUT = re.compile(r"(?:about|über|à propos de|over|om|sobre|chi è)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines `first` to `last` of a dossier."""

    first: int
    last: int


def section(dossier: Dossier, topic: str, name: str = "") -> Finding[str] | None:
    """The longest text below a heading of this topic."""
    runs = list(_below(dossier.lines, topic, name))
    found = [stretch for run in runs if (stretch := _stretch(dossier, run)) is not None]
    return max(found, key=lambda each: len(each.value), default=None)


def opening_text(dossier: Dossier, *roles: str) -> Finding[str] | None:
    """The first paragraphs of a page that was read for one of these roles."""
    for role in roles:
        lines = [(at, line) for at, line in enumerate(dossier.lines) if line.role == role]
        first = next((at for at, line in lines if _is_prose(line)), None)
        if first is not None:
            return _stretch(dossier, _Run(first, _goes_on(lines, first)))
    return None


def _goes_on(lines: list[tuple[int, DossierLine]], first: int) -> int:
    """The last paragraph of a text that begins here. A heading ends it, unless little has been said
    before.
    """
    last = first
    begins = next(line.start for at, line in lines if at == first)
    for at, line in lines:
        if at <= first:
            continue
        if at - last > APART or (line.level and line.start - begins > ENOUGH):
            break
        if _is_prose(line):
            last = at
    return last


def sentence(dossier: Dossier, topic: str) -> Finding[str] | None:
    """The first sentence that begins as sentences on this topic do."""
    for line in dossier.lines:
        if line.linked > 0.5:
            continue
        low = line.text.lower()
        for phrase in phrases(topic, "sentence"):
            at = low.find(phrase)
            if at >= 0 and (at == 0 or low[at - 1] in " \"'“(:—-") and len(low) == len(line.text):
                start = _sentence_start(line.text, at)
                end = _END.search(line.text, at)
                return _cut(
                    dossier, line.start + start, line.start + (end.start() + 1 if end else len(line.text))
                )
    return None


def _sentence_start(text: str, at: int) -> int:
    """Where the sentence begins in which a phrase stands."""
    ends = [match.end() for match in _END.finditer(text, 0, at)]
    return ends[-1] if ends else 0


def _below(lines: tuple[DossierLine, ...], topic: str, name: str) -> Iterator[_Run]:
    for at, line in enumerate(lines):
        if line.level and _speaks_of(line.text, topic, name):
            last = _last(lines, at, whole=topic == "culture")
            if last > at:
                yield _Run(at + 1, last)


def _speaks_of(heading: str, topic: str, name: str) -> bool:
    if len(heading) > MAX_HEADING or phrases_of("not").names(heading):
        return False
    if phrases_of(topic, "heading").is_one(heading):
        return True
    if topic == "about":
        match = _ABOUT.match(heading)
        return bool(match and name and company_name_key(heading[match.end() :]) == company_name_key(name))
    return _whole_phrases(topic).names(heading) or _says_only(heading, topic, name)


def _says_only(heading: str, topic: str, name: str) -> bool:
    """Whether a heading says nothing but the topic: "Mission & Vision", "Acme values". "Computer Vision" says
    something else.
    """
    said = [
        word
        for word in _WORD.findall(plain(heading))
        if word not in _SMALL and word not in plain(name).split()
    ]
    return bool(said) and all(word in phrases(topic, "heading") for word in said)


@cache
def _whole_phrases(topic: str) -> Words:
    """The phrases of several words: they mean the topic wherever they stand in a heading."""
    return Words(phrase for phrase in phrases(topic, "heading") if " " in phrase or not phrase.isascii())


def _last(lines: tuple[DossierLine, ...], at: int, *, whole: bool) -> int:
    """The last line of a section. `whole`: what stands under lower headings is part of it, as each value has
    one of its own.
    """
    heading = lines[at]
    last = at
    for place in range(at + 1, len(lines)):
        line = lines[place]
        ends = line.page != heading.page or (line.level and (line.level <= heading.level or not whole))
        if ends or line.start - heading.end > MAX_LENGTH or phrases_of("not").names(line.text):
            break
        if line.linked <= 0.5:
            last = place
        elif line.linked > 0.9 and last < place - 1:
            break
    return last


def _is_prose(line: DossierLine) -> bool:
    return (
        not line.level
        and line.linked < 0.4
        and len(line.text) >= PROSE
        and not phrases_of("not").names(line.text)
    )


def _stretch(dossier: Dossier, run: _Run) -> Finding[str] | None:
    return _cut(dossier, dossier.lines[run.first].start, dossier.lines[run.last].end)


def _cut(dossier: Dossier, start: int, end: int) -> Finding[str] | None:
    """The stretch without white space around it, cut behind a sentence where it is too long."""
    text = dossier.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if len(text) > MAX_LENGTH:
        ends = [match.start() + 1 for match in _END.finditer(text, 0, MAX_LENGTH)]
        text = text[: ends[-1] if ends and ends[-1] > MAX_LENGTH // 3 else MAX_LENGTH].rstrip()
    return Finding(text, start, start + len(text)) if len(text) >= MIN_LENGTH else None
