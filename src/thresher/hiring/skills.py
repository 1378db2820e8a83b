"""The skills that a text names: technologies, and what people can do besides, such as MIG welding.

`vocabulary/skills.yaml` is written by people; `vocabulary/esco_skills.txt` by `make skills`, from ESCO.
Titles and companies are read by technologies alone (`technology.py`): two accountants are in one role,
whatever they can do. What a posting asks to have studied is no skill it asks for.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.hiring import technology
from thresher.hiring.mentions import (
    Alias,
    Lexicon,
    Mention,
    encloses,
    families_of,
    lexicon,
    phrases,
    prepared,
    read_entries,
)
from thresher.reading.structured.yaml_file import read_yaml

ESCO = "esco_skills.txt"
MIN_PLURAL = 5  # letters; the plural of something shorter is another word
WINDOW = 90  # characters before and after in which a degree may stand
_DEGREE = (
    r"\b(?:degrees?|diplomas?|bachelor(?:'s|’s|s)?|master(?:'s|’s|s)|b\.?sc?\b\.?|m\.?sc?\b\.?|b\.a\.|ph\.?d\.?|doctorate|undergraduate|"
    r"graduated?|majors?|majoring|studi(?:es|ed|um)|studying|coursework|a-levels?|abschluss|hochschulstudium|diplôme|licence en|título|grado en)"
)
_STUDIED = re.compile(_DEGREE + r"(?![^\n.;:]*\b(?:experience|skills|knowledge|ability|years)\b)[^\n.;:]*$")
_DEGREE_AFTER = re.compile(
    r"(?:[,/\s]|\b\w+\b){0,6}?\s(?:degrees?|diploma|or (?:a )?related (?:field|discipline)|or similar field)\b"
)


def skills(text: str) -> list[Mention]:
    """Every mention of a skill, in the order of the text. Of overlapping ones the longer counts, and of equal
    ones the technology.
    """
    words = prepared(text)
    known = technology.all_technologies().mentions(words)
    found = [each for each in all_skills().mentions(words, known) if not _is_studied(words.low, each)]
    if not found:
        return known
    return sorted((*_apart(known, found), *found), key=lambda each: each.start)


def names(text: str) -> tuple[str, ...]:
    """The skills that a text names, each once, in the order of the text."""
    return tuple(dict.fromkeys(mention.name for mention in skills(text)))


def known_as(word: str) -> str:
    """Return our name for a skill as written in a list: `golang` is go, `A/P` accounts payable. Otherwise the
    word itself.
    """
    known = technology.known_as(word)
    return known if technology.family(known) is not None else all_skills().known_as(word)


def family(name: str) -> str | None:
    """The sort of skill: that of a technology, else the occupation: accounting, health, trades."""
    return technology.family(name) or all_skills().family(name)


def _apart(known: list[Mention], found: list[Mention]) -> Iterator[Mention]:
    """The technologies that are no part of a longer skill: AWS D1.1 is about welding."""
    starts = [each.start for each in found]
    for each in known:
        at = bisect_right(starts, each.start) - 1
        if at < 0 or not encloses(found[at], each):
            yield each


def _is_studied(low: str, mention: Mention) -> bool:
    """Whether it is the subject of a degree that is asked for."""
    before = low[max(0, mention.start - WINDOW) : mention.start]
    return (
        _STUDIED.search(before) is not None
        or _DEGREE_AFTER.match(low, mention.end, mention.end + WINDOW) is not None
    )


@cache
def all_skills() -> Lexicon:
    """What is known besides technologies; read when it is first needed."""
    own = written_by_people()
    families, listed = dict(own.families), list(own.aliases)
    for name, family_, aliases in _esco(_read(ESCO)):
        families.setdefault(name, family_)
        listed += (alias for alias in aliases if alias.word not in own.names)
    return lexicon(listed, families, unread=own.names)


def written_by_people() -> Lexicon:
    """What `skills.yaml` lists alone: it counts before ESCO."""
    listed = read_yaml(_read("skills.yaml"))
    aliases = (form for each in read_entries(listed) for form in _forms(each))
    return lexicon(aliases, families_of(listed), unread=dict(_unread(listed)))


def _read(name: str) -> str:
    return (files("thresher.hiring") / "vocabulary" / name).read_text("utf-8")


def _unread(listed: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for entries in listed.values():
        for name, said in entries.items():
            for phrase in phrases(said.get("alone", "")) if isinstance(said, dict) else ():
                yield phrase.lower(), str(name)


def _esco(table: str) -> Iterator[tuple[str, str, list[Alias]]]:
    """Name, family and aliases of each line: name, family, sure phrases, unsure ones, exact ones."""
    for line in table.splitlines():
        if not line.startswith("#"):
            name, family_, *sorts = line.split("\t")
            sure, unsure, exact = (phrases(sort) for sort in sorts)
            yield (
                name,
                family_,
                [
                    *(form for each in sure for form in _forms(Alias(name, each.lower()))),
                    *(Alias(name, each.lower(), each, unsure=True) for each in unsure),
                    *(Alias(name, each.lower(), each) for each in exact),
                ],
            )


def _forms(alias: Alias) -> Iterator[Alias]:
    """A phrase, and what else it is when it is sure: with spaces for its hyphens, and several of it."""
    yield alias
    if alias.spelling is None:
        for word in dict.fromkeys((alias.word, alias.word.replace("-", " "))):
            if word != alias.word:
                yield replace(alias, word=word)
            if len(word) >= MIN_PLURAL and word[-1].isalpha() and word[-1] not in "sy":
                yield replace(alias, word=f"{word}s")
