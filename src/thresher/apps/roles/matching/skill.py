"""When two names of a skill mean the same: spelled the same, known to be the same, or one a misspelling of
the other.

A name that our vocabulary knows is never a misspelling of another that it knows: Java is not JavaScript, C is
not C++. Numbers and signs are never misspelled either: OAuth 1 is not OAuth 2.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from thresher.hiring.skills import family, known_as, names

MAX_LENGTH = 80  # characters of one skill that are read
MIN_LENGTH = 6  # letters; a shorter name with another letter is another name
MAX_FUZZY = 40
MAX_SKILLS = 100  # skills of one candidate, or of one posting
_PHRASE = 3  # words; whoever writes more has written a sentence, and may name skills in it
_BREAKS = str.maketrans(dict.fromkeys("-_/\u2010\u2011\u2012\u2013\u2014", " "))


def plain(word: str) -> str:
    """A name as it is compared: small letters, single spaces, nothing around it."""
    return " ".join(unicodedata.normalize("NFKC", word[:MAX_LENGTH]).casefold().split()).strip(" .,;:•*'\"")


@lru_cache(16_384)
def skill_key(word: str) -> str:
    """What all ways to write a skill have in common; empty for none."""
    name = plain(word)
    known = known_as(name)
    if known != name or family(known) is not None:
        return known
    spaced = " ".join(name.translate(_BREAKS).split())
    return known_as(spaced)


def is_known_skill(key: str) -> bool:
    """Whether our vocabulary has this skill, so that it says nothing about whoever wrote it."""
    return family(key) is not None


@lru_cache(16_384)
def keys_of(word: str) -> tuple[str, ...]:
    """The skills that one entry of a list means. A sentence means those that it names."""
    found = names(word[:MAX_LENGTH]) if len(word.split()) > _PHRASE else ()
    return found or tuple(key for key in (skill_key(word),) if key)


def skills_of(words: Iterable[object]) -> dict[str, str]:
    """Skills by what they are compared by, each as it was first written."""
    found: dict[str, str] = {}
    for word in words:
        if isinstance(word, str) and len(found) < MAX_SKILLS:
            for key in keys_of(word[:MAX_LENGTH]):
                found.setdefault(key, " ".join(word[:MAX_LENGTH].split()))
    return found


def may_misspell(key: str) -> bool:
    """Whether it is worth comparing a name letter by letter at all."""
    return MIN_LENGTH <= len(key) <= MAX_FUZZY


@lru_cache(65_536)
def alike(one: str, other: str, least: float) -> bool:
    """Whether one of two names is a misspelling of the other."""
    if one == other:
        return True
    if not (may_misspell(one) and may_misspell(other)) or one[0] != other[0]:
        return False
    if family(one) is not None and family(other) is not None:
        return False
    return _signs(one) == _signs(other) and likeness(one, other) >= least


def likeness(one: str, other: str) -> float:
    """Which share of their letters two names have in common, in the same order: 1 all of them."""
    return 2 * _common(one, other) / (len(one) + len(other))


def _signs(key: str) -> list[str]:
    """Everything in a name that is no letter, and not what merely parts its words."""
    return sorted(char for char in key if not char.isalpha() and not char.isspace() and char not in "-'.")


def _common(one: str, other: str) -> int:
    """The length of the longest common subsequence. All letters of `one` are looked at together, as the bits
    of a number.
    """
    places: dict[str, int] = {}
    for at, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << at
    full = left = (1 << len(one)) - 1
    for char in other:
        hit = left & places.get(char, 0)
        left = (left + hit) | (left - hit)
    return len(one) - (left & full).bit_count()
