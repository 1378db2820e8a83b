"""Compare names that have other names: denominations, series, mints; and texts word by word."""

import re
from collections.abc import Callable

from thresher.apps.prices.matching.comparison import (
    SILENT,
    Compared,
    affirmed,
    differs,
    matches,
    quote_of,
)
from thresher.apps.prices.matching.negation import is_denied
from thresher.apps.prices.matching.vocabulary import Mention, Name, phrases
from thresher.apps.prices.matching.words import Words, phrase_of, read_words

Compare = Callable[[str, Words], Compared]
_PREFIXED = re.compile(r"([^\W\d_]+)[ -]?(\d{1,4}[^\W\d_]?)", re.UNICODE)


def compare_named(group: str, wanted: str, words: Words) -> Compared:
    """Compare a name of a group: another one of the group contradicts, unless one is a kind of the other."""
    known = phrases(group).mentions(read_words(wanted))
    if not known:
        return compare_words(wanted, words)
    name = max(known, key=_length).name
    found = affirmed(words, phrases(group))
    for each in found:
        if not each.is_weak and not _is_same(each.name, name) and each.label not in name.broader:
            return differs(quote_of(words, each))
    same = next((each for each in found if _is_same(each.name, name)), None)
    return matches(quote_of(words, same)) if same else SILENT


def _is_same(said: Name, wanted: Name) -> bool:
    return said.label == wanted.label or wanted.label in said.broader


def _length(mention: Mention) -> int:
    return mention.end - mention.start


def compare_words(wanted: str, words: Words) -> Compared:
    """Compare a text that has no other names: its words must be there, in any order. A number of it with
    another in its place contradicts: "4 reales" is not "8 reales".
    """
    own = read_words(wanted)
    if (other := _other_number(own, words)) is not None:
        return other
    places = [next(iter(words.places((word,))), None) for word in own.words]
    found = [at for at in places if at is not None]
    if not found or len(found) < len(places) or any(is_denied(words, at, at + 1) for at in found):
        return SILENT
    if max(found) - min(found) == len(found) - 1:
        return matches(words.quote(min(found), max(found) + 1))
    return matches(" … ".join(words.quote(at, at + 1) for at in sorted(set(found))))


def _other_number(own: Words, words: Words) -> Compared | None:
    for at in range(1, len(own)):
        number, unit = own.words[at - 1], own.words[at]
        if not number.isdigit() or unit.isdigit():
            continue
        for place in words.places((unit,)):
            said = words.word(place - 1)
            if said.isdigit() and said != number and len(said) <= 3:
                return differs(words.quote(place - 1, place + 1))
    return None


def compare_variety(wanted: str, words: Words) -> Compared:
    """Compare a variety such as "VAM-3": another number behind the same letters contradicts."""
    own = _PREFIXED.fullmatch(" ".join(wanted.split()))
    if own is None:
        return _whole_phrase(wanted, words)
    letters, number = own[1].lower(), own[2].lower()
    parts = words.parts
    same = None
    for at in range(1, len(parts)):
        if parts[at - 1].text != letters or not parts[at].is_number:
            continue
        end = parts[at].end
        letter = at + 1 < len(parts) and parts[at + 1].start == end and len(parts[at + 1].text) == 1
        said = parts[at].text + (parts[at + 1].text if letter else "")
        quote = words.text[parts[at - 1].start : end + letter]
        if said.lstrip("0") != number.lstrip("0"):
            return differs(quote)
        same = same or matches(quote)
    return same or SILENT


def _whole_phrase(wanted: str, words: Words) -> Compared:
    phrase = phrase_of(wanted)
    same = None
    for at in words.places(phrase):
        end = at + len(phrase)
        if is_denied(words, at, end):
            return differs(words.quote(at - 1, end))
        same = same or matches(words.quote(at, end))
    return same or SILENT
