"""The guard: what the words of a title and of a role near it do not share, and whether that makes two roles.

Vectors put "Front End Developer" and "Back End Developer" side by side, because people write about them in
the same places. So words are asked first. Some differences make another role however near it is: another
technology, another standing (an assistant, a trainee, who leads them), a word that makes other work of it.
Every other word that only one side has is a qualifier that nobody can explain, and counts as a difference:
`likeness` says how much.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from thresher.hiring.technology import names
from thresher.hiring.title.core import head_at, is_person, is_wide, singular, vocabulary

TYPO = 6  # letters from which on one of them may be wrong
STEM, MAX_ENDING = 5, 2  # letters that two forms of a word share at least, and by how many one may be longer
FIELD, LOOSE_FIELD = 3, 2  # shared words from which on people of different names may do one work
_JOINED = frozenset(("and", "or"))
# Both sides are written so: what matters is that they end up alike, not that it is a word.
_SPELLINGS = (
    ("ae", "e"),
    ("oe", "e"),
    ("our", "or"),
    ("yse", "yze"),
    ("ise", "ize"),
    ("isa", "iza"),
    ("isi", "izi"),
    ("ogue", "og"),
    ("ll", "l"),
    ("tyre", "tire"),
    ("aluminium", "aluminum"),
)
_PERSONS = ("woman", "person", "man", "er", "or")  # endings of one noun for people: salesman, salesperson


@dataclass(frozen=True, slots=True)
class CoreWords:
    """`heads` are several where a name joins them: "technologists and technicians"."""

    tools: frozenset[str]
    said: str
    heads: frozenset[str]
    words: frozenset[str]


def apart(left: str, right: str, *, meaning: bool = True) -> str | None:
    """Why two cores are different roles however near they are; None where nearness may decide.

    Without `meaning` nearness is one of letters: then every word that only one has makes another role.
    """
    if _is_one(left, right):
        return None
    for core in (left, right):
        if is_wide(core):
            return f"{core!r} alone is too broad to compare"
    one, other = core_words(left), core_words(right)
    if one.tools != other.tools:
        return f"the technologies differ: {_said(one.tools)} and {_said(other.tools)}"
    mine, theirs = rest(one.words, other.words), rest(other.words, one.words)
    if (standing := _other_standing(one, other)) is not None:
        return f"{_said(standing)} makes it another role"
    if (two := _opposed(mine, theirs)) is not None:
        return f"{two[0]} is not {two[1]}"
    if not meaning:
        return explained(left, right)
    made = frozenset(word for word in mine | theirs if word in vocabulary().makers or is_person(word))
    if made and mine and theirs:
        return f"{_said(mine)} is not {_said(theirs)}"
    return f"{_said(made)} makes it another role" if made else None


class Difference(StrEnum):
    """What two cores do not share, as far as nothing forbids that they are one role."""

    NOTHING = "nothing"
    MORE = "the title says more"
    LESS = "the role says more"
    BOTH = "each says something else"
    KIN = "the heads are akin"
    KIN_BOTH = "the heads are akin, and the words differ"
    FIELD = "the heads differ, the field is the same"
    HEAD = "the heads differ"


def difference(title: str, role: str) -> Difference:
    """What only one of two cores says, with nothing on the other side that means the same."""
    if _is_one(title, role):
        return Difference.NOTHING
    one, other = core_words(title), core_words(role)
    mine, theirs = rest(one.words, other.words), rest(other.words, one.words)
    if share_head(one.heads, other.heads):
        return _BY_WORDS[bool(mine), bool(theirs)]
    if _akin(one.heads, other.heads):
        return Difference.KIN_BOTH if mine or theirs else Difference.KIN
    return Difference.FIELD if _in_one_field(one, other) else Difference.HEAD


_BY_WORDS = {
    (False, False): Difference.NOTHING,
    (True, False): Difference.MORE,
    (False, True): Difference.LESS,
    (True, True): Difference.BOTH,
}


def explained(title: str, role: str) -> str | None:
    """Say what two cores do not share; None if they say the same."""
    found, one, other = difference(title, role), core_words(title), core_words(role)
    mine, theirs = rest(one.words, other.words), rest(other.words, one.words)
    match found:
        case Difference.NOTHING:
            return None
        case Difference.MORE:
            return f"only the title says {_said(mine)}"
        case Difference.LESS:
            return f"only the role says {_said(theirs)}"
        case Difference.BOTH:
            return f"{_said(mine)} is not {_said(theirs)}"
        case _:
            return f"{one.said} is not {other.said}"


def _akin(title: frozenset[str], role: frozenset[str]) -> bool:
    """Whether two heads often name one work; a title that joins several heads says more than one of them."""
    return len(title) == 1 and any(
        not title.isdisjoint(line) and not role.isdisjoint(line) for line in vocabulary().kin
    )


def _in_one_field(one: CoreWords, other: CoreWords) -> bool:
    """Whether two heads may name one work, for the field is the same: three shared words say so, and two
    where a head says only that somebody knows the field. A "wind energy engineering consultant" may be a wind
    energy engineer; a network specialist need not be a network engineer.
    """
    shared = {
        word
        for side, against in ((one, other), (other, one))
        for word in side.words - rest(side.words, against.words) | _of_trade(side.words, against.heads)
    }
    loose = bool((one.heads | other.heads) & vocabulary().loose)
    return len(shared) >= (LOOSE_FIELD if loose else FIELD)


def _of_trade(words: frozenset[str], heads: frozenset[str]) -> frozenset[str]:
    """The words for what people of these names do: engineering, for an engineer."""
    return frozenset(
        word
        for word in words
        for head in heads
        if _differ_at(word, head) >= max(STEM, len(word) - len("ing"), len(head) - len("er"))
    )


def _other_standing(one: CoreWords, other: CoreWords) -> frozenset[str] | None:
    """The words by which one of two helps, learns or leads and the other does not; None if there is none."""
    known, left, right = vocabulary().standing, one.words | {one.said}, other.words | {other.said}
    mine, theirs = rest(left, right) & known.keys(), rest(right, left) & known.keys()
    if {known[word] for word in mine} == {known[word] for word in theirs}:
        return None
    return mine | theirs


def _opposed(mine: frozenset[str], theirs: frozenset[str]) -> tuple[str, str] | None:
    """Two words of which a role has one or the other: primary and secondary, or two numbers."""
    opposites = vocabulary().opposites
    for one in sorted(mine):
        for other in sorted(theirs):
            if (one in opposites and opposites[one] == opposites.get(other)) or (
                one[0].isdigit() and other[0].isdigit()
            ):
                return one, other
    return None


def _is_one(left: str, right: str) -> bool:
    return left.replace(" ", "") == right.replace(" ", "")


def shelf_of(core: str) -> tuple[frozenset[str], str]:
    """Where to look for what may be the same role: only cores of one technology and one head are. (A slip in
    the head is not found so.)
    """
    read, known = core_words(core), vocabulary().heads
    return read.tools, known.get(read.said, read.said)


def keeps_tools(core: str, name: str) -> bool:
    """Tell whether a proposed name is about the same technologies: none is added, and not all are
    left out.
    """
    had, has = frozenset(names(core)), frozenset(names(name))
    return has <= had and bool(has) == bool(had)


@lru_cache(16_384)
def core_words(core: str) -> CoreWords:
    known, words = vocabulary(), core.split()
    at = head_at(words)
    head = singular(words[at]) if words else ""
    joined = {
        place
        for place, word in enumerate(words[:-1])
        if place != at and words[place + 1] in _JOINED and is_person(singular(word))
    }
    tools = frozenset(names(core))
    of_tools = {word for tool in tools for word in tool.replace(".", " ").split()} | tools
    rest = [
        singular(word)
        for place, word in enumerate(words)
        if place != at and place not in joined and word not in known.small and word not in of_tools
    ]
    heads = {head, *(singular(words[place]) for place in joined)}
    return CoreWords(
        tools,
        head,
        frozenset(known.heads.get(each, each) for each in heads),
        frozenset(known.words.get(word, word) for word in rest),
    )


def rest(mine: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    """My words that the other has not, in any spelling and however they are joined."""
    left, right = mine - theirs, theirs - mine
    spelled = {_spelled(word) for word in right}
    return frozenset(
        word
        for word in left
        if _spelled(word) not in spelled
        and not any(_slip(word, other) for other in right)
        and not _joined(word, left, right)
    )


def _joined(word: str, left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether one side writes as two words what the other writes as one: wire drawing, wiredrawing."""
    return any(word == one + other for one in right for other in right) or any(
        word + other in right or other + word in right for other in left
    )


@lru_cache(16_384)
def _spelled(word: str) -> str:
    """One spelling for what is written in two on the two sides of the Atlantic."""
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    return word[:-2] + "er" if word.endswith("tre") else word


def _slip(one: str, other: str) -> bool:
    """Whether two words are one: another form of it (graphic, graphics; therapist, therapy), or a slip of one
    letter.
    """
    short, long = sorted((one, other), key=len)
    if short == long.removesuffix("s"):
        return True
    if len(long) - len(short) > MAX_ENDING or short[0] != long[0]:
        return False
    at = _differ_at(short, long)
    return at >= max(STEM, len(short) - MAX_ENDING - 1) or (
        len(short) >= TYPO and _one_letter(short, long, at)
    )


def _differ_at(one: str, other: str) -> int:
    """The first place where two words differ; the end of the shorter one, if it begins the other."""
    ends = min(len(one), len(other))
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), ends)


def _one_letter(short: str, long: str, at: int) -> bool:
    """Whether one letter is wrong, missing or exchanged with its neighbour, at the first place where they
    differ.
    """
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return short[at + 1 :] == long[at + 1 :] or (
        short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    )


def share_head(title: frozenset[str], role: frozenset[str]) -> bool:
    """Whether the role has every head of the title: a role may join several, but a "puppet designer and
    puppeteer" is more than a puppet designer.
    """
    return all(one in role or any(_same_head(one, other) for other in role) for one in title)


def _same_head(one: str, other: str) -> bool:
    """Heads are nearer to each other than other words: an engineer is no engine. Only a slip of one letter is
    forgiven, and another ending for the person: a salesperson is a salesman.
    """
    if (stem := _stem(one)) and stem == _stem(other):
        return True
    short, long = sorted((one, other), key=len)
    at = _differ_at(short, long)
    return len(short) >= TYPO and len(long) - len(short) <= 1 and at > 0 and _one_letter(short, long, at)


def _stem(head: str) -> str | None:
    stem = next((head.removesuffix(ending) for ending in _PERSONS if head.endswith(ending)), "")
    return stem if len(stem) >= STEM else None


def _said(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "none"
