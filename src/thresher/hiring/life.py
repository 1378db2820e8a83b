"""The lives of a board's postings: what one look at the board means for each posting that is known of it.

    new        not known before
    changed    its row reads differently
    relisted   it was closed, and is listed again
    back       it was missed, and is there again
    missed     it is not there, in a complete look: counted, nothing more
    closed     it was missed in two complete looks in a row

Only a complete look counts what is missing. A look that would close an implausible share of the board is doubted, and a
third one has to say the same: a source that is broken in a way that looks like the truth is more likely than that
everybody was hired at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class Rules:
    """`looks` complete ones in a row close a posting. A look is doubted that closes more than `few`, and more than `share` of all."""

    looks: int = 2
    few: int = 10
    share: float = 0.6


USUAL = Rules()


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a posting: its state, in how many complete looks in a row it was missed, and how its row read."""

    state: str = OPEN
    missed: int = 0
    listed: str = ""

    @classmethod
    def of(cls, marks: Mapping[str, str | int]) -> "Known":
        """From the marks of its record."""
        return cls(str(marks.get("state", OPEN)), int(marks.get("missed", 0) or 0), str(marks.get("listed", "")))

    @property
    def is_open(self) -> bool:
        return self.state != CLOSED


@dataclass(frozen=True, slots=True)
class Lives:
    """The keys of postings by what becomes of them. `missed` are with the new count; `same` leads from a new key to the one it had."""

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    relisted: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    missed: Mapping[str, int] = field(default_factory=dict)
    closed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has to be written down."""
        return not (self.new or self.changed or self.relisted or self.back or self.missed or self.closed)


def lives(known: Mapping[str, Known], seen: Mapping[str, str], *, complete: bool, rules: Rules = USUAL) -> Lives:
    """What becomes of the known postings, and of those that a look has seen: their keys, and how their rows read."""
    same = _renamed(known, seen)
    rows = {same.get(key, key): listed for key, listed in seen.items()}
    there = {key: known[key] for key in rows if key in known}
    relisted = tuple(key for key, was in there.items() if not was.is_open)
    changed = tuple(key for key, was in there.items() if was.is_open and was.listed != rows[key])
    back = tuple(key for key, was in there.items() if was.is_open and was.missed and was.listed == rows[key])
    touched = {*relisted, *changed, *back}
    missed, closed, doubts = _gone(known, rows, complete, rules)
    return Lives(
        new=tuple(key for key in rows if key not in known),
        changed=changed,
        relisted=relisted,
        back=back,
        missed=missed,
        closed=closed,
        unchanged=tuple(key for key in there if key not in touched),
        same=same,
        alarms=(*_rotation(same, known), *doubts),
    )


def _gone(
    known: Mapping[str, Known], rows: Mapping[str, str], complete: bool, rules: Rules
) -> tuple[dict[str, int], tuple[str, ...], tuple[str, ...]]:
    """What is missed, what is closed, and why something is not closed yet."""
    if not complete:
        return {}, (), ()
    is_open = [key for key, was in known.items() if was.is_open]
    missed = {key: known[key].missed + 1 for key in is_open if key not in rows}
    closing = [key for key, count in missed.items() if count >= rules.looks]
    doubt = _doubt(len(closing), len(is_open), len(rows), rules)
    closed = tuple(key for key in closing if not doubt or missed[key] > rules.looks)
    held = len(closing) - len(closed)
    says = (f"{doubt}: {held} are held open until another complete look says the same",) if doubt and held else ()
    return {key: count for key, count in missed.items() if key not in set(closed)}, closed, says


def _doubt(closing: int, is_open: int, seen: int, rules: Rules) -> str | None:
    """Why a look is not believed at once."""
    if closing and not seen:
        return f"the board shows nothing, and {_all(closing, is_open)} would be closed"
    if closing > rules.few and closing > rules.share * is_open:
        return f"{_all(closing, is_open)} would be closed"
    return None


def _all(closing: int, is_open: int) -> str:
    return f"all {is_open} open postings" if closing == is_open else f"{closing} of {is_open} open postings"


def _renamed(known: Mapping[str, Known], seen: Mapping[str, str]) -> dict[str, str]:
    """Postings that read as before under other numbers.

    One such may have been listed anew. Where most of a board comes back so, it hands out other numbers with every
    answer, and the rows are told apart by what they say.
    """
    is_open = [key for key, was in known.items() if was.is_open]
    by_row = _by_row((known[key].listed, key) for key in is_open if key not in seen)
    pairs = {}
    for key, listed in seen.items():
        if key not in known and by_row[listed]:
            pairs[key] = by_row[listed].pop(0)
    return pairs if len(pairs) > 1 and 2 * len(pairs) > len(is_open) else {}


def _by_row(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for listed, key in rows:
        if listed:
            found[listed].append(key)
    return found


def _rotation(same: Mapping[str, str], known: Mapping[str, Known]) -> Sequence[str]:
    if not same:
        return ()
    came = f"{len(same)} of {sum(was.is_open for was in known.values())} open postings came back under other numbers"
    return (f"{came}: this board numbers its rows anew with every answer, so they are told apart by what they say",)
