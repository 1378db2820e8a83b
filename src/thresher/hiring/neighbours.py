"""Whether a word that is only sometimes a technology is one here: its neighbours tell.

"Rust, Go and Python" is a list of technologies, "a Go developer" has a noun that only technologies have; "Go
further with us" and "no rust on our bridges" have neither.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

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
