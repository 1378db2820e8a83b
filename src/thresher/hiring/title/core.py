"""The core of a title: without rank, place, hours, numbers and punctuation, abbreviations expanded; and the
key by which titles are compared.

"Sr. Java Dev (m/f/d) - Remote" and "Java Developer III" have one core, "java developer". The core of a core
is itself.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from thresher.hiring.headline import Part, divided, is_place
from thresher.hiring.technology import family, names, technologies
from thresher.reading.structured.yaml_file import read_yaml

# The key of a title: the title as titles are compared, without case, accents and punctuation. C, C++, C#
# and .NET stay apart.

MAX_LENGTH = 300  # characters of a title that are read
MAX_KEY = 200
# Letters and digits of any script. What follows a letter in C++ and C#, and what stands before .NET, belongs
# to the word.
_WORD = re.compile(r"\.net\b|[^\W_]+(?:\+\+|#)?")


def title_key(title: str) -> str:
    """Its words in their order, one space between two; empty for what has none. Long ones are cut: no title
    is that long.
    """
    return " ".join(words_of(title))[:MAX_KEY].rstrip()


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared."""
    bare = unicodedata.normalize("NFKD", text[:MAX_LENGTH]).casefold()
    plain = "".join(char for char in bare if not unicodedata.combining(char))
    return _WORD.findall(
        plain.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "").replace("&", " and ")
    )


# The words of titles, from their file: read once, and checked where a slip would be silent.

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What each field is stands above it in `title.yaml`."""

    levels: Mapping[tuple[str, ...], Words]
    leading: Mapping[str, Words]
    grades: Words
    noise: tuple[tuple[str, ...], ...]
    no_noise: Mapping[str, Words]
    phrases: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    short: Mapping[str, tuple[str, ...]]
    pairs: Words
    wide: Words
    people: Words
    things: Words
    small: Words
    heads: Mapping[str, str]
    kin: tuple[Words, ...]
    words: Mapping[str, str]
    makers: Words
    loose: Words
    standing: Mapping[str, str]
    opposites: Mapping[str, str]
    spelled: Mapping[str, str]


@cache
def vocabulary() -> Vocabulary:
    """The words of titles."""
    said: Mapping[str, Any] = read_yaml((files("thresher.hiring.title") / "title.yaml").read_text("utf-8"))
    return Vocabulary(
        levels={
            phrase: _listed(said["levels"][" ".join(phrase)])
            for phrase in _longest_first(map(str.split, said["levels"]))
        },
        leading={word: _listed(but) for word, but in said["leading"].items()},
        noise=_longest_first(each.split() for each in _listed(said["noise"])),
        no_noise={word: _listed(before) for word, before in said["no_noise"].items()},
        phrases=tuple(
            (each, tuple(said["phrases"][" ".join(each)].split()))
            for each in _longest_first(map(str.split, said["phrases"]))
        ),
        short={short: tuple(long.split()) for short, long in said["short"].items()},
        heads=(heads := _leaders(said["same_heads"])),
        kin=tuple(frozenset(heads.get(word, word) for word in _listed(line)) for line in said["kin_heads"]),
        words=_leaders(said["same_words"]),
        standing=_leaders(said["standing"]),
        opposites=_leaders(said["opposites"]),
        spelled=said["spelled"],
        **{
            name: _listed(said[name])
            for name in ("grades", "pairs", "wide", "people", "things", "small", "makers", "loose")
        },
    )


def _listed(text: str) -> Words:
    return frozenset(word for piece in str(text).split(";") if (word := " ".join(piece.split())))


def _longest_first(phrases: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(map(tuple, phrases), key=lambda phrase: (-len(phrase), phrase)))


def _leaders(groups: Iterable[str]) -> dict[str, str]:
    """Each word of a group to the first in it."""
    return {word: group.split(";")[0].strip() for group in groups for word in _listed(group)}


# The word of a title that names the person: most share an ending, the others are listed.

MIN_LENGTH = 4  # letters
_ENDING = re.compile(
    r"(?:er|or|eer|ist|ian|ant|ent|yst|man|men|woman|women|person|ier|eur|ess|smith|keeper|maker|ographer)$"
)
_NO_ENDING = re.compile(r"(?:ment|ness|less|ower|ater)$")
_CLAUSE = frozenset(("of", "for", "to", "with", "in", "at"))


@lru_cache(16_384)
def is_person(word: str) -> bool:
    """Whether a word says who, not what."""
    known = vocabulary()
    if word in known.people or word in known.wide:
        return True
    if word in known.things or len(word) < MIN_LENGTH or _NO_ENDING.search(word):
        return False
    return _ENDING.search(word) is not None


def head_at(words: list[str] | tuple[str, ...]) -> int:
    """Where the head of a title stands: the last noun for a person before an "of", else the last one at all,
    else the last word.
    """
    end = next((at for at, word in enumerate(words) if at and word in _CLAUSE), len(words))
    for stop in (end, len(words)):
        for at in range(stop - 1, -1, -1):
            if is_person(words[at]):
                return at
    return end - 1


def singular(word: str) -> str:
    """One of them: "developers" is developer. A word that is no noun for people stays as it is: "operations",
    "sales".
    """
    if word.endswith("men") and len(word) > MIN_LENGTH and word not in vocabulary().things:
        return word[:-2] + "an"
    if not word.endswith("s") or word.endswith("ss") or is_person(word):
        return word
    for cut, put in (("ies", "y"), ("wives", "wife"), ("es", ""), ("s", "")):
        one = word.removesuffix(cut) + put
        if word.endswith(cut) and (
            one in vocabulary().people
            or (cut != "es" and is_person(one))
            or (cut == "es" and one.endswith("ess"))
        ):
            return one
    return word


MAX_WORDS = 12
MAX_READINGS = 3
PREFIX = 3  # words of a part beside the main one that may tell it from others; more is prose
MANY = 2  # technologies that are a list of skills
TURNED = frozenset(
    ("manager", "director", "president", "supervisor", "coordinator", "superintendent", "professor", "dean")
)
TOOLS = frozenset(("language", "frontend", "backend"))
_DIVIDES = frozenset(
    ("in", "at", "bei", "chez")
)  # where a title is divided; what is left of a "drive-in" must not be
_EMPLOYERS = frozenset(("at", "@", "bei", "chez"))  # whom the work is for stands behind these
_LISTED = ("and ", "or ", "& ")
_EXCEPT = ("except ", "other than ")
_NO_WORDS = re.compile(r"[{}<>\"=:\\]")  # no part of a title that says which work is meant
_IN_TRAINING = re.compile(r"[ -]in[ -]training\b", re.IGNORECASE)
_JOINS = frozenset(("of", "and", "or"))
_SURE = frozenset(("ii", "iii", "iv"))  # numbers that are nothing else
_GRADED = frozenset(("level", "grade", "tier", "band", "class"))
# A dot before a word would be taken for punctuation on the way.
_DOTTED, _KEPT = ".net", "dotnet"


@lru_cache(16_384)
def core_of(title: str) -> str:
    """The core, as words in lower case; empty where a title has no word."""
    core = _read(title[:MAX_LENGTH])
    for _ in range(MAX_READINGS):  # what is taken off may bring together what was apart
        if core == (again := _read(core)):
            break
        core = again
    return core


def _read(title: str) -> str:
    text = _IN_TRAINING.sub(" trainee", _one_name_each(title))
    parts = [(words, part.divider) for part in _whole(divided(text)) if (words := reduced(part.text))]
    if not parts:
        return " ".join(words_of(title)[-MAX_WORDS:])[:MAX_KEY].rstrip()
    return " ".join(_with_head_singular(_main(parts, text))[-MAX_WORDS:])[:MAX_KEY].rstrip()


def _whole(parts: Iterable[Part]) -> list[Part]:
    """The parts without places and exceptions; what commas list ("Sales, Service, and Repair Manager") is
    one part.
    """
    whole: list[Part] = []
    for part in map(_behind_in, parts):
        if part.text.startswith(_EXCEPT) or (part.divider == "in" and is_place(part.text)):
            continue
        if part.divider and _NO_WORDS.search(part.text):
            continue
        listed = [part]
        while listed[0].divider == "," and part.text.startswith(_LISTED) and whole:
            listed.insert(0, whole.pop())
        whole.append(Part(" ".join(each.text for each in listed), listed[0].divider))
    return whole


def _behind_in(part: Part) -> Part:
    """Divide at an "in" that a bracket stands before, as in "Nurse (ICU) in Berlin"."""
    return Part(part.text.removeprefix("in "), "in") if part.divider and part.text.startswith("in ") else part


def reduced(part: str) -> list[str]:
    """The words of one part of a title without what says nothing about the work; none where it says nothing
    else.
    """
    known = vocabulary()
    words = [_DOTTED if word == _KEPT else word for word in words_of(part) if word not in _DIVIDES]
    words = _written_out(_phrased(words))
    here = set(words)
    for phrase in known.noise:
        if phrase[0] in here:
            words = _without(words, phrase)
    return _turned(_without_master(_without_grade(_without_rank(words))))


def _one_name_each(title: str) -> str:
    """Technologies under the one name that we call them by: golang is go, React.js is react. "ML Engineer"
    stays an engineer.
    """
    pieces, at = [], 0
    for mention in technologies(title):
        *_, last = words_of(title[mention.start : mention.end]) or [""]
        name = _KEPT if mention.name == _DOTTED else mention.name
        pieces += [
            title[at : mention.start],
            f"{name} {last}" if is_person(last) and not name.endswith(last) else name,
        ]
        at = mention.end
    return "".join(pieces) + title[at:]


def _phrased(words: list[str]) -> list[str]:
    here = set(words)
    for phrase, meant in vocabulary().phrases:
        if not here.issuperset(phrase):
            continue
        size, at = len(phrase), 0
        while at + size <= len(words):
            if tuple(words[at : at + size]) == phrase:
                words = [*words[:at], *meant, *words[at + size :]]
                at += len(meant)
            else:
                at += 1
    return words


def _written_out(words: Sequence[str]) -> list[str]:
    short = vocabulary().short
    return [long for word in words for long in short.get(word, (word,))]


def _without(words: list[str], phrase: tuple[str, ...]) -> list[str]:
    """Without a phrase of noise, unless the word behind it makes a part of the work of it."""
    size, before = len(phrase), vocabulary().no_noise.get(phrase[-1], frozenset())
    kept, at = [], 0
    while at < len(words):
        if tuple(words[at : at + size]) == phrase and not before.intersection(
            words[at + size : at + size + 1]
        ):
            at += size
        else:
            kept.append(words[at])
            at += 1
    return kept


def _without_rank(words: list[str]) -> list[str]:
    """Without the words of rank. A title of nothing else keeps its last one: a lead is a lead."""
    known = vocabulary()
    kept, at = [], 0
    while at < len(words):
        phrase = next((each for each in known.levels if tuple(words[at : at + len(each)]) == each), None)
        after = words[at + len(phrase)] if phrase and at + len(phrase) < len(words) else ""
        if phrase and after not in known.levels[phrase]:
            at += len(phrase)
        else:
            kept.append(words[at])
            at += 1
    while (
        len(kept) > 1
        and kept[0] in known.leading
        and kept[1] not in known.leading[kept[0]]
        and any(map(is_person, kept[1:]))
    ):
        kept = kept[1:]
    return kept


def _without_grade(words: list[str]) -> list[str]:
    """Without the number of a grade: "Engineer II", "Level 3 Support Engineer"."""
    grades = vocabulary().grades
    if len(words) > 2 and words[0] in _GRADED and words[1] in grades:
        words = words[2:]
    while len(words) > 1 and (
        words[-1] in _SURE or (words[-1] in grades and (is_person(words[-2]) or words[-2] in _GRADED))
    ):
        words = words[:-1]
        if words[-1] in _GRADED and len(words) > 1:
            words = words[:-1]
    return words


def _without_master(words: list[str]) -> list[str]:
    """Whom somebody works for is not what they do: "Assistant to the CEO"."""
    at = next((at for at, word in enumerate(words) if at and word == "to" and is_person(words[at - 1])), None)
    return words if at is None else words[:at]


def _turned(words: list[str]) -> list[str]:
    """The sales director, for "Director of Sales"."""
    if "of" not in words:
        return words
    at = words.index("of")
    behind = [word for word in words[at + 1 :] if word != "the"]
    if not at or words[at - 1] not in TURNED or not behind or any(map(is_person, behind)):
        return words
    return [*behind, *words[:at]]


def _main(parts: list[tuple[list[str], str]], text: str) -> list[str]:
    """The part that names the work, behind everything beside it that tells it from other work."""
    at = next((at for at, (part, _) in enumerate(parts) if any(map(is_person, part))), 0)
    main = parts[at][0]
    beside = [*parts[at + 1 :], *parts[:at]]
    skills = names(text.replace(_KEPT, _DOTTED)) if beside else []  # of several none says which work it is
    told = [
        word
        for words, divider in beside
        if _qualifies(words, divider, main) and (divider == "in" or len(skills) < MANY)
        for word in words
    ]
    tool = _tool_beside(main, skills) if beside and not names(" ".join((*told, *main))) else []
    return [*tool, *told, *main]


def _qualifies(words: list[str], divider: str, main: list[str]) -> bool:
    """Whether a part beside the main one says which work is meant: always behind "in", for places are gone
    by now; else if it is short, is no other name for the same, and has no number (hours, pay, dates).
    """
    if set(words) <= set(main) or any(char.isdigit() for word in words for char in word):
        return False
    if divider == "in":
        return True
    if (
        divider in _EMPLOYERS
        or len(words) > PREFIX
        or any(map(is_person, words))
        or _is_initials(words, main)
    ):
        return False
    return not names(" ".join(words).replace(_KEPT, _DOTTED))


def _is_initials(words: list[str], main: list[str]) -> bool:
    return len(words) == 1 and words[0] in "".join(word[0] for word in main)


def _tool_beside(main: list[str], skills: Sequence[str]) -> list[str]:
    """The one technology that stands beside a developer, or beside a head that says nothing alone."""
    if is_wide(" ".join(main)) or vocabulary().heads.get(singular(main[-1])) == "developer":
        tools = [skill for skill in skills if family(skill) in TOOLS]
        return words_of(tools[0]) if len(tools) == 1 else []
    return []


def _with_head_singular(words: list[str]) -> list[str]:
    heads = {at for at in range(len(words)) if at == len(words) - 1 or (at and words[at + 1] in _JOINS)}
    return [singular(word) if at in heads else word for at, word in enumerate(words)]


def is_wide(core: str) -> bool:
    """Whether a core is as wide as a trade: a head that says nothing alone, and nothing before it."""
    return core in vocabulary().wide
