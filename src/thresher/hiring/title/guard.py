"""The guard: which of the roles near a title is meant, if any, by the words they do not share.

Vectors put "Front End Developer" and "Back End Developer" side by side, because people write about them in
the same places. The words that differ decide: another technology, another head noun, a qualifier on each side
that the other lacks, or a word that makes it another role. Similarity only decides whether an extra word on
one side matters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thresher.core.record import Neighbour
from thresher.hiring.technology import names
from thresher.hiring.title.core import core_of, head_at, is_person, is_wide, singular, vocabulary

TYPO = 6  # letters from which on one of them may be wrong
STEM, MAX_ENDING = 5, 2  # letters that two forms of a word share at least, and by how many one may be longer


@dataclass(frozen=True, slots=True)
class _Read:
    tools: frozenset[str]
    said: str
    head: str
    words: frozenset[str]


def apart(left: str, right: str, *, meaning: bool = True) -> str | None:
    """Why two cores are different roles however near they are; None where nearness may decide.

    Without `meaning` nearness is one of letters: then a further word is always another role.
    """
    if left == right or left.replace(" ", "") == right.replace(" ", ""):
        return None
    for core in (left, right):
        if is_wide(core):
            return f"{core!r} alone is too broad to compare"
    one, other = _read(left), _read(right)
    if one.tools != other.tools:
        return f"the technologies differ: {_said(one.tools)} and {_said(other.tools)}"
    if one.head != other.head and not _same_head(one.head, other.head):
        return f"{one.said} is not {other.said}"
    mine, theirs = _rest(one.words, other.words), _rest(other.words, one.words)
    if mine and theirs:
        return f"{_said(mine)} is not {_said(theirs)}"
    more = mine | theirs
    made = (
        more
        if not meaning
        else frozenset(word for word in more if word in vocabulary().makers or is_person(word))
    )
    return f"{_said(made)} makes it another role" if made else None


def shelf_of(core: str) -> tuple[frozenset[str], str]:
    """Where to look for what may be the same role: only cores of one technology and one head are. (A slip in
    the head is not found so.)
    """
    read = _read(core)
    return read.tools, read.head


def keeps_tools(core: str, name: str) -> bool:
    """Tell whether a proposed name is about the same technologies: none is added, and not all are
    left out.
    """
    had, has = frozenset(names(core)), frozenset(names(name))
    return has <= had and bool(has) == bool(had)


@lru_cache(16_384)
def _read(core: str) -> _Read:
    known, words = vocabulary(), core.split()
    at = head_at(words)
    head = singular(words[at]) if words else ""
    tools = frozenset(names(core))
    of_tools = {word for tool in tools for word in tool.replace(".", " ").split()} | tools
    rest = (
        singular(word)
        for place, word in enumerate(words)
        if place != at and word not in known.small and word not in of_tools
    )
    return _Read(
        tools, head, known.heads.get(head, head), frozenset(known.words.get(word, word) for word in rest)
    )


def _rest(mine: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    """My words that the other has not, in any spelling."""
    return frozenset(word for word in mine - theirs if not any(_slip(word, other) for other in theirs - mine))


def _slip(one: str, other: str) -> bool:
    """Whether two words are one: another form of it (graphic, graphics; therapist, therapy), or a slip of one
    letter.
    """
    short, long = sorted((one, other), key=len)
    if short == long.removesuffix("s"):
        return True
    if len(long) - len(short) > MAX_ENDING or short[0] != long[0]:
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return at >= max(STEM, len(short) - MAX_ENDING - 1) or (
        len(short) >= TYPO and _one_letter(short, long, at)
    )


def _one_letter(short: str, long: str, at: int) -> bool:
    """Whether one letter is wrong, missing or exchanged with its neighbour, at the first place where they
    differ.
    """
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return short[at + 1 :] == long[at + 1 :] or (
        short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    )


def _same_head(one: str, other: str) -> bool:
    """Heads are nearer to each other than other words: an engineer is no engine. Only a slip of one letter is
    forgiven.
    """
    short, long = sorted((one, other), key=len)
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return len(short) >= TYPO and len(long) - len(short) <= 1 and at > 0 and _one_letter(short, long, at)


def _said(words: Iterable[str]) -> str:
    return ", ".join(sorted(words)) or "none"


# Choose among the nearest roles: near enough, and not contradicted by a word.

LOOKED_AT = 10  # neighbours of a title


@dataclass(frozen=True, slots=True)
class Choice:
    """`role` is the role that is meant, or None; then `nearest` is the most similar one. `reason`
    says why.
    """

    role: Neighbour | None
    nearest: Neighbour | None
    reason: str


def choose(core: str, near: Sequence[Neighbour], least: float) -> Choice:
    """The nearest that is near enough and not another role; `near` is in order, the nearest first."""
    refused = ""
    for each in near:
        if each.score < least:
            break
        why = apart(core, core_of(each.name), meaning=each.meaning)
        if why is None:
            return Choice(
                each, near[0], f"{each.name!r} is similar enough: {each.score:.3f}, at least {least:g} needed"
            )
        refused = refused or f"{each.name!r} is similar ({each.score:.3f}) but another role: {why}"
    if refused or not near:
        return Choice(None, near[0] if near else None, refused or "no known role is similar")
    return Choice(
        None,
        near[0],
        f"the most similar role, {near[0].name!r}, is too different: {near[0].score:.3f}, at least "
        f"{least:g} needed",
    )
