"""The guard: which of the roles near a title is meant, if any, by the words they do not share.

Vectors put "Front End Developer" and "Back End Developer" side by side, because people write about them in
the same places. So words are asked first. Some differences make another role however near it is: another
technology, another standing (an assistant, a trainee, who leads them), a word that makes other work of it.
Every other word that only one side has is a qualifier that nobody can explain, and counts as a difference:
such a role has to be clearly nearer than the next one, and the less clearly, the nearer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from thresher.core.record import Neighbour
from thresher.hiring.technology import names
from thresher.hiring.title.core import core_of, head_at, is_person, is_wide, singular, vocabulary

TYPO = 6  # letters from which on one of them may be wrong
STEM, MAX_ENDING = 5, 2  # letters that two forms of a word share at least, and by how many one may be longer
FIELD, LOOSE_FIELD = 3, 2  # shared words from which on people of different names may do one work
_JOINED = frozenset(("and", "or"))
_PERSONS = ("woman", "person", "man", "er", "or")  # endings of one noun for people: salesman, salesperson


@dataclass(frozen=True, slots=True)
class _Read:
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
    one, other = _read(left), _read(right)
    if one.tools != other.tools:
        return f"the technologies differ: {_said(one.tools)} and {_said(other.tools)}"
    mine, theirs = _rest(one.words, other.words), _rest(other.words, one.words)
    if (standing := _other_standing(one, other)) is not None:
        return f"{_said(standing)} makes it another role"
    if (two := _opposed(mine, theirs)) is not None:
        return f"{two[0]} is not {two[1]}"
    if not meaning:
        doubt = unexplained(left, right)
        return doubt.reason if doubt else None
    made = frozenset(word for word in mine | theirs if word in vocabulary().makers or is_person(word))
    if made and mine and theirs:
        return f"{_said(mine)} is not {_said(theirs)}"
    return f"{_said(made)} makes it another role" if made else None


@dataclass(frozen=True, slots=True)
class Doubt:
    """What nobody can explain. `open`: no nearness settles it, for the head is another one or the title says
    less than the role.
    """

    reason: str
    open: bool = False


def unexplained(title: str, role: str) -> Doubt | None:
    """What only one of two cores says, with nothing on the other side that means the same; None if both
    say the same.
    """
    if _is_one(title, role):
        return None
    one, other = _read(title), _read(role)
    if not _share_head(one.heads, other.heads):
        return Doubt(f"{one.said} is not {other.said}", open=not _in_one_field(one, other))
    mine, theirs = _rest(one.words, other.words), _rest(other.words, one.words)
    if mine and theirs:
        return Doubt(f"{_said(mine)} is not {_said(theirs)}")
    if mine:
        return Doubt(f"only the title says {_said(mine)}")
    return Doubt(f"only the role says {_said(theirs)}", open=True) if theirs else None


def _in_one_field(one: _Read, other: _Read) -> bool:
    """Whether two heads may name one work, for the field is the same: three shared words say so, and two
    where a head says only that somebody knows the field. A "wind energy engineering consultant" may be a wind
    energy engineer; a network specialist need not be a network engineer.
    """
    shared = {
        word
        for side, against in ((one, other), (other, one))
        for word in side.words - _rest(side.words, against.words) | _of_trade(side.words, against.heads)
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


def _other_standing(one: _Read, other: _Read) -> frozenset[str] | None:
    """The words by which one of two helps, learns or leads and the other does not; None if there is none."""
    known, left, right = vocabulary().standing, one.words | {one.said}, other.words | {other.said}
    mine, theirs = _rest(left, right) & known.keys(), _rest(right, left) & known.keys()
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
    read, known = _read(core), vocabulary().heads
    return read.tools, known.get(read.said, read.said)


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
    return _Read(
        tools,
        head,
        frozenset(known.heads.get(each, each) for each in heads),
        frozenset(known.words.get(word, word) for word in rest),
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


def _share_head(title: frozenset[str], role: frozenset[str]) -> bool:
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


# Choose among the nearest roles: near enough, and not contradicted by a word.

LOOKED_AT = 10  # neighbours of a title
MAX_LEAD = 0.2  # of a role over the next one, as far as it counts
LONE_LEAD = 0.1  # of a role that is the only one: nobody knows by how much it would lead


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a role has to be: `same` at least, and that is enough where title and role say the same. Where
    they do not it has to be nearer than the next role, by `lead` at least, and its similarity and its lead
    have to be `other` together: what lies alone may lie farther off.
    """

    same: float
    other: float
    lead: float


@dataclass(frozen=True, slots=True)
class Choice:
    """`role` is the role that is meant, or None; then `nearest` is the most similar one. `reason`
    says why.
    """

    role: Neighbour | None
    nearest: Neighbour | None
    reason: str


def choose(core: str, near: Sequence[Neighbour], least: Nearness) -> Choice:
    """The nearest that is near enough and not another role; `near` is in order, the nearest first.

    One that says the same is taken before one that is nearer and says something else.
    """
    if not near or near[0].score < least.same:
        return Choice(None, near[0] if near else None, _too_far(near, least.same))
    refused: dict[int, str] = {}
    doubtful: list[tuple[Neighbour, Doubt]] = []
    for each in near:
        known = core_of(each.name)
        if (why := apart(core, known, meaning=each.meaning)) is not None:
            refused[each.id] = f"{each.name!r} is similar ({each.score:.3f}) but another role: {why}"
        elif (doubt := unexplained(core, known)) is not None:
            doubtful.append((each, doubt))
        elif each.score >= least.same:
            return Choice(each, near[0], _near_enough(each, least.same))
    return _in_doubt(near, doubtful, refused, least)


def _in_doubt(
    near: Sequence[Neighbour],
    doubtful: Sequence[tuple[Neighbour, Doubt]],
    refused: Mapping[int, str],
    least: Nearness,
) -> Choice:
    """The nearest of those that say more or less than the title, if it is near enough and nearer than the
    next.
    """
    if not doubtful:
        return Choice(None, near[0], refused.get(near[0].id) or _too_far(near, least.same))
    best, doubt = next((each for each in doubtful if not each[1].open), doubtful[0])
    said = f"{best.name!r} is similar ({best.score:.3f}), but {doubt.reason}"
    if doubt.open:
        return Choice(None, near[0], said)
    if best.score < least.same:
        return Choice(None, near[0], f"{said}: at least {least.same:g} needed")
    after = next((each for each in near if each.id != best.id), None)
    lead = LONE_LEAD if after is None else min(best.score - after.score, MAX_LEAD)
    if after is not None and lead < least.lead:
        return Choice(None, near[0], f"{said}, and {after.name!r} is nearly as similar ({after.score:.3f})")
    if best.score + lead < least.other:
        needed = f"with a lead of {lead:.3f} at least {least.other - lead:.3f} needed"
        return Choice(None, near[0], f"{said}: {needed}")
    return Choice(best, near[0], f"{_near_enough(best, least.other - lead)} where {doubt.reason}")


def _near_enough(role: Neighbour, least: float) -> str:
    return f"{role.name!r} is similar enough: {role.score:.3f}, at least {least:.3g} needed"


def _too_far(near: Sequence[Neighbour], least: float) -> str:
    if not near:
        return "no known role is similar"
    return (
        f"the most similar role, {near[0].name!r}, is too different: {near[0].score:.3f}, at least "
        f"{least:g} needed"
    )
