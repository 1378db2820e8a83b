"""Where a text names something that a vocabulary has, as whole words: no "ai" in "html", no "java" in
"javascript".

A phrase may be sure wherever it stands, sure in one spelling, or an ordinary word too: "Go", "Spring" or "C"
count only where a neighbouring word is of the vocabulary, and in lower case only directly beside it. Words
are looked up, and only hits are examined, so that a posting costs microseconds. `technology.py` and
`skills.py` are the vocabularies.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import Any

# Ambiguous words: their neighbours decide.

NEAR = 60  # characters within which a technology vouches for a word that is spelled like one
WINDOW = 40  # characters before and after that are read
_SENTENCE = re.compile(r"[.!?]\s")
_YEAR = re.compile(r"\s{0,2}(?:19|20)\d\d(?!\d)")
_JOINED = re.compile(
    r"\s{0,3}(?:[,/|;&+·•]|\s-|\n|and\s|or\s|und\s|oder\s|et\s|ou\s|y\s|o\s|e\s|i\s|och\s|en\s)(?:[\s·•*-]|and\s|or\s){0,6}"
)
_AFTER = re.compile(
    r"[\s-]{1,2}(?:developers?|development|devs?|engineers?|engineering|programmers?|programming|programs?|code|codebase|coding|frameworks?|"
    r"librar(?:y|ies)|backend|back-end|frontend|front-end|services?\b(?=.{0,20}\bapi)|microservices|stack|sdk|apis?|modules?|experience|"
    r"skills|knowledge|ecosystem|compiler|runtime|clusters?|pipelines?|jobs|apps?|applications|components|entwickler\w{0,6}|"
    r"entwicklung|kenntnisse|erfahrung|-entwickler\w{0,6})\b"
)
_BEFORE = re.compile(
    r"(?:written in|built (?:in|with|on)|build in|programming in|program in|coding in|code in|developed in|development in|developing in|"
    r"experience (?:with|in|of|using)|experienced (?:with|in)|expert in|expertise (?:with|in)|proficien(?:t|cy) (?:with|in)|"
    r"fluent in|skilled in|knowledge of|familiar(?:ity)? with|background in|working with|work with|languages? (?:like|such as)|"
    r"such as|apache|kenntnisse in|erfahrung (?:mit|in)|expérience (?:en|avec)|experiencia (?:en|con)|"
    r"(?:stack|technologies|technology|languages|tools|tech|technologien|frameworks?|skills)\s?:)\s{0,3}$"
)
_USED = re.compile(
    r"\b(?:uses?|using|used|writes?|writing|codes?|learn|love|know|years of|years'?|nutzen|verwenden|utilisons|usamos)\s$"
)
_BINDS = frozenset("-&'’")
_FORENAME = re.compile(r"\b[A-Z]\w{0,20}\.? $")
_SURNAME = re.compile(r"\. [A-Z]")
_PLAIN = re.compile(r"\s[^\W\d_]")
_JOINS = re.compile(r"\s(?:and|or|und|oder|et|ou|y|o|e|i|och|en|is|as|for|with|in|on|to|from|mit|avec|con)\b")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A text, and where technologies stand in it: surely, and likely. All in order."""

    text: str
    low: str
    sure: Sequence[tuple[int, int]]
    likely: Sequence[tuple[int, int]]


def speaks(around: Surroundings, start: int, end: int, *, spelled: bool) -> bool:
    """Whether the word from `start` to `end` is a technology. `spelled`: it is written as the technology
    is.
    """
    if _YEAR.match(around.low, end) or (end - start == 1 and _is_initial(around.text, start, end)):
        return False
    ends = _ends(around.low, end)
    if ends and (
        _listed(around, around.sure, start, end) or (spelled and _listed(around, around.likely, start, end))
    ):
        return True
    if spelled and (ends or not _opens(around.low, start)) and _near(around, start, end):
        return True
    return _named(around.low, start, end) or (
        spelled and ends and _USED.search(around.low[max(0, start - WINDOW) : start]) is not None
    )


def _is_initial(text: str, start: int, end: int) -> bool:
    """A single letter that is bound to what stands beside it: `D.C.`, `R&D`, `C-suite`, `John C. Smith`."""
    if text[max(0, start - 1) : start] in _BINDS or text[end : end + 1] in _BINDS:
        return True
    return (
        _SURNAME.match(text, end) is not None
        and _FORENAME.search(text[max(0, start - WINDOW) : start]) is not None
    )


def _named(low: str, start: int, end: int) -> bool:
    return (
        _AFTER.match(low, end, end + WINDOW) is not None
        or _BEFORE.search(low[max(0, start - WINDOW) : start]) is not None
    )


def _ends(low: str, end: int) -> bool:
    """Whether the word ends what it stands in, so that it is not the verb or the attribute of what
    follows.
    """
    return (
        _PLAIN.match(low, end) is None
        or _JOINS.match(low, end) is not None
        or _AFTER.match(low, end, end + WINDOW) is not None
    )


def _opens(low: str, start: int) -> bool:
    """Whether it begins a sentence: there every word has a capital."""
    before = low[max(0, start - 5) : start].rstrip(" \t")
    return not before or before[-1] in ".!?\n:"


def _listed(around: Surroundings, others: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether another one stands right beside it, with nothing but a comma, a slash or an "and" between the
    two.
    """
    at = bisect_left(others, (start, end))
    before = next((other for other in reversed(others[max(0, at - 2) : at]) if other[1] <= start), None)
    after = next((other for other in others[at : at + 3] if other[0] >= end), None)
    return bool(
        (before and _joined(around.low, before[1], start)) or (after and _joined(around.low, end, after[0]))
    )


def _joined(low: str, start: int, end: int) -> bool:
    return end - start <= 12 and _JOINED.fullmatch(low, start, end) is not None


def _near(around: Surroundings, start: int, end: int) -> bool:
    """Whether a sure one stands in the same sentence, not far away."""
    at = bisect_left(around.sure, (start, end))
    beside = around.sure[max(0, at - 1) : at + 1]
    return any(_same_sentence(around.low, min(other[1], end), max(other[0], start)) for other in beside)


def _same_sentence(low: str, start: int, end: int) -> bool:
    return end - start <= NEAR and _SENTENCE.search(low, start, end) is None


MAX_TEXT = 200_000  # characters that are read; no posting is longer
MAX_PLACES = 2_000  # at which one name is looked at
SHORT = 3  # letters
_SPACES = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_DENSE = 0x2E80  # from here on scripts put no space between a word and its neighbour


@dataclass(frozen=True, slots=True)
class Mention:
    """`name` is the one we call it by; characters `start` to `end` are how the text does."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Alias:
    """One way to write a name. `word` is in lower case; with `spelling` only that, or (`unsure`) at
    least with a neighbour.
    """

    name: str
    word: str
    spelling: str | None = None
    unsure: bool = False
    refused: tuple[
        tuple[int, tuple[str, ...]], ...
    ] = ()  # phrases that make it another word, by how far before it they begin


@dataclass(frozen=True, slots=True)
class PreparedText:
    """A text made ready, so that several lexicons share the work: in lower case with every character at its
    place, and the words that it consists of.
    """

    text: str
    low: str
    tokens: frozenset[bytes]


def prepared(text: str) -> PreparedText:
    text = text[:MAX_TEXT]
    low = _lowered(text)
    return PreparedText(text, low, frozenset(_tokens(low)))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`index` has the aliases by one of their words, each with its other words. `names` say what a phrase is
    called, also such as are read in no text; `families` which family a name is of.
    """

    aliases: tuple[Alias, ...]
    index: Mapping[bytes, tuple[tuple[frozenset[bytes], Alias], ...]]
    names: Mapping[str, str]
    families: Mapping[str, str]

    def mentions(self, words: PreparedText, known: Sequence[Mention] = ()) -> list[Mention]:
        """Every mention, in the order of the text. Of overlapping ones the longer counts; of those that
        overlap `known` ones, of another lexicon, only what encloses them. They are neighbours too.
        """
        text, low = words.text, words.low
        sure: list[Mention] = []
        unsure: list[tuple[Mention, Alias]] = []
        for alias in self._candidates(words.tokens):
            for start in _places(alias, text, low):
                mention = Mention(alias.name, start, start + len(alias.word))
                if alias.unsure:
                    unsure.append((mention, alias))
                else:
                    sure.append(mention)
        found = _longest(sure, known)
        if unsure:
            beside = _merged(found, known)
            found = _longest(chain(found, _confirmed(unsure, beside, text, low)), known)
        return found

    def known_as(self, word: str) -> str:
        """Our name for a phrase as people write it in a list. Otherwise the phrase itself."""
        plain = " ".join(word.lower().split())
        return self.names.get(plain, plain)

    def family(self, name: str) -> str | None:
        return self.families.get(name)

    def _candidates(self, tokens: frozenset[bytes]) -> Iterator[Alias]:
        return (
            alias
            for token in self.index.keys() & tokens
            for others, alias in self.index[token]
            if tokens.issuperset(others)
        )


def lexicon(
    aliases: Iterable[Alias], families: Mapping[str, str], *, unread: Mapping[str, str] | None = None
) -> Lexicon:
    """Put one together. `unread` are phrases with their names that are looked for in no text."""
    listed = tuple(aliases)
    names = {alias.word: alias.name for alias in listed} | dict(unread or {})
    return Lexicon(listed, _index(listed), names | {name: name for name in families}, families)


def read_entries(listed: Mapping[str, Mapping[str, Any]]) -> Iterator[Alias]:
    """The aliases of a file that people write: names by family, each with its phrases by sort."""
    for entries in listed.values():
        for name, said in entries.items():
            yield from _aliases_of(str(name), said)


def families_of(listed: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {str(name): family for family, entries in listed.items() for name in entries}


def _lowered(text: str) -> str:
    """In lower case, with every character at its place: a single one, the dotted capital I, grows when it is
    lowered.
    """
    low = text.lower()
    return (
        low
        if len(low) == len(text)
        else text.replace("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "i").lower()
    )


def _tokens(low: str) -> list[bytes]:
    return low.encode("utf-8", "replace").translate(_SPACES).split()


def _places(alias: Alias, text: str, low: str) -> Iterator[int]:
    size, spelling = len(alias.word), None if alias.unsure else alias.spelling
    for start in islice(_occurrences(alias.word, low), MAX_PLACES):
        spelled = spelling is None or text.startswith(spelling, start)
        if (
            spelled
            and _alone(low, start, start + size)
            and not (alias.refused and _refused(alias, low, start))
        ):
            yield start


def _occurrences(word: str, low: str) -> Iterator[int]:
    """Where these characters stand. Short ones stand in every second word, so those are left out that a
    letter follows.
    """
    if len(word) <= SHORT:
        yield from (match.start() for match in _ending(word).finditer(low))
        return
    at = low.find(word)
    while at >= 0:
        yield at
        at = low.find(word, at + 1)


def _alone(low: str, start: int, end: int) -> bool:
    """Whether these characters are words of their own, and no piece of an address, a file name or another
    technology.
    """
    if start:
        before = low[start - 1]
        if (
            _is_letter(before)
            or before == "@"
            or (before == "." and start > 1 and _is_letter(low[start - 2]))
        ):
            return False
    if end == len(low):
        return True
    after = low[end]
    if after in " ,\n":
        return True
    return not (
        _is_letter(after)
        or after == "#"
        or low.startswith("++", end)
        or (after == "." and _is_letter(low[end + 1 : end + 2]))
    )


def _is_letter(char: str) -> bool:
    return (char.isalnum() and ord(char) < _DENSE) or char == "_"


def _refused(alias: Alias, low: str, at: int) -> bool:
    return any(
        low.startswith(phrases, at - back) and any(_stands(low, phrase, at - back) for phrase in phrases)
        for back, phrases in alias.refused
        if back <= at
    )


def _stands(low: str, phrase: str, at: int) -> bool:
    end = at + len(phrase)
    return low.startswith(phrase, at) and not (end < len(low) and low[end].isalnum())


def _longest(mentions: Iterable[Mention], known: Sequence[Mention] = ()) -> list[Mention]:
    """Those that overlap no other, or are longer."""
    kept: list[Mention] = []
    ends = [each.end for each in known]
    for mention in sorted(mentions, key=lambda each: (each.start, -each.end)):
        if (not kept or mention.start >= kept[-1].end) and not _is_known(mention, known, ends):
            kept.append(mention)
    return kept


def _is_known(mention: Mention, known: Sequence[Mention], ends: Sequence[int]) -> bool:
    """Whether it overlaps one that is known and does not say more than that: SAP FI says more than SAP."""
    for each in islice(known, bisect_right(ends, mention.start), None):
        if each.start >= mention.end:
            return False
        if not encloses(mention, each):
            return True
    return False


def encloses(mention: Mention, other: Mention) -> bool:
    """Whether another one is a part of it."""
    inside = mention.start <= other.start and other.end <= mention.end
    return inside and mention.end - mention.start > other.end - other.start


def _merged(found: list[Mention], known: Sequence[Mention]) -> list[Mention]:
    return sorted((*found, *known), key=lambda each: each.start) if known else found


def _confirmed(
    unsure: list[tuple[Mention, Alias]], sure: list[Mention], text: str, low: str
) -> Iterator[Mention]:
    """The doubtful ones with a neighbour. Spelled as they should be, two of them side by side in a list vouch
    for each other.
    """
    spelled = {
        mention: alias.spelling is not None and text.startswith(alias.spelling, mention.start)
        for mention, alias in unsure
    }
    around = Surroundings(
        text=text,
        low=low,
        sure=[(each.start, each.end) for each in sure],
        likely=sorted((each.start, each.end) for each, right in spelled.items() if right),
    )
    for mention, right in spelled.items():
        if speaks(around, mention.start, mention.end, spelled=right):
            yield mention


@cache
def _ending(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word) + "(?![a-z0-9_])")


def _index(aliases: Sequence[Alias]) -> dict[bytes, tuple[tuple[frozenset[bytes], Alias], ...]]:
    """The aliases by the word that the fewest of them share: few texts have it, so few are examined."""
    words = [(alias, _tokens(alias.word)) for alias in aliases]
    shared = Counter(token for _, tokens in words for token in set(tokens))
    found: dict[bytes, list[tuple[frozenset[bytes], Alias]]] = {}
    for alias, tokens in words:
        rarest = min(tokens, key=lambda token: shared[token])
        found.setdefault(rarest, []).append((frozenset(tokens) - {rarest}, alias))
    return {token: tuple(listed) for token, listed in found.items()}


def _aliases_of(name: str, said: Any) -> Iterator[Alias]:
    said = {"is": said} if isinstance(said, str) else said
    refused = phrases(said.get("not", ""))
    for key in ("is", "exact", "may"):
        for phrase in phrases(said.get(key, "")):
            low = phrase.lower()
            yield Alias(name, low, None if key == "is" else phrase, key == "may", _by_distance(low, refused))


def _by_distance(word: str, phrases: list[str]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    found: dict[int, list[str]] = {}
    for phrase in phrases:
        for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", phrase):
            found.setdefault(match.start(), []).append(phrase)
    return tuple((back, tuple(listed)) for back, listed in found.items())


def phrases(text: str) -> list[str]:
    """What stands between semicolons."""
    return [phrase for piece in text.split(";") if (phrase := " ".join(piece.split()))]
