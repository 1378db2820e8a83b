"""The lifecycle of a board's postings: what one look at the board means for each known posting.

    new        not known before
    changed    its row reads differently
    moved      its row reads as before, and links to another page
    relisted   it was closed, and is listed again
    back       it was missed, and is there again
    missed     it is absent from a complete look: counted, nothing more
    closed     it was missed in two complete looks in a row

Only a complete look counts what is missing. A look that would close an implausible share of the board needs a
third one to confirm it: a source that is broken in a plausible way is more likely than that everybody was
hired at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

OPEN, CLOSED = "open", "closed"
BY_ADDRESS = (
    "url/"  # how the keys of postings begin that have no number of their board's (`records.posting_key`)
)


@dataclass(frozen=True, slots=True)
class LifecycleRules:
    """`looks` complete ones in a row close a posting. A look is doubted that closes more than `few`, and more
    than `share` of all.
    """

    looks: int = 2
    few: int = 10
    share: float = 0.6


USUAL = LifecycleRules()


@dataclass(frozen=True, slots=True)
class Known:
    """What is kept of a posting: its state, in how many complete looks in a row it was missed, and the
    fingerprints of its row.
    """

    state: str = OPEN
    missed: int = 0
    listed: str = ""

    @classmethod
    def of(cls, marks: Mapping[str, str | int]) -> "Known":
        """From the marks of its record."""
        return cls(
            str(marks.get("state", OPEN)), int(marks.get("missed", 0) or 0), str(marks.get("listed", ""))
        )

    @property
    def is_open(self) -> bool:
        return self.state != CLOSED


class Prints(NamedTuple):
    """The fingerprints of a row: how it reads, where it leads, what it asks there, the number of that page.
    See `row.marked`.
    """

    row: str
    path: str = ""
    query: str = ""
    number: str = ""

    @classmethod
    def of(cls, mark: str) -> "Prints":
        return cls(*mark.split(".", 3)[:4])


@dataclass(frozen=True, slots=True)
class Lifecycles:
    """The keys of postings by what becomes of them. `missed` are with the new count; `same` leads from a new
    key to the one it had.

    `rotated` are those that a board numbers anew with every answer.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    relisted: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    missed: Mapping[str, int] = field(default_factory=dict)
    closed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    rotated: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    alarms: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has to be written down."""
        return not (
            self.new or self.changed or self.relisted or self.back or self.moved or self.missed or self.closed
        )


def lives(
    known: Mapping[str, Known], seen: Mapping[str, str], *, complete: bool, rules: LifecycleRules = USUAL
) -> Lifecycles:
    """What becomes of the known postings, and of those that a look has seen: their keys, and the fingerprints
    of their rows.
    """
    before = {key: Prints.of(was.listed) for key, was in known.items()}
    now = {key: Prints.of(mark) for key, mark in seen.items()}
    renamed = _renamed(known, before, now)
    same = renamed or _numbered(known, before, now)
    rows = {same.get(key, key): prints for key, prints in now.items()}
    there = {key: known[key] for key in rows if key in known}
    relisted = tuple(key for key, was in there.items() if not was.is_open)
    changed = tuple(key for key, was in there.items() if was.is_open and before[key].row != rows[key].row)
    back = tuple(
        key for key, was in there.items() if was.is_open and was.missed and before[key].row == rows[key].row
    )
    rotated = tuple(key for key in renamed.values() if key not in changed)
    moved = _moved(
        {key: (before[key], rows[key]) for key in there if key not in {*relisted, *changed, *rotated}}
    )
    touched = {*relisted, *changed, *back}
    missed, closed, doubts = _gone(known, rows, complete, rules)
    return Lifecycles(
        new=tuple(key for key in rows if key not in known),
        changed=changed,
        relisted=relisted,
        back=back,
        missed=missed,
        closed=closed,
        unchanged=tuple(key for key in there if key not in touched),
        moved=moved,
        rotated=rotated,
        same=same,
        alarms=(*_rotation(renamed, known), *doubts),
    )


def _gone(
    known: Mapping[str, Known], rows: Mapping[str, Prints], complete: bool, rules: LifecycleRules
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
    says = (f"{doubt}: {held} stay open until another complete look confirms it",) if doubt and held else ()
    return {key: count for key, count in missed.items() if key not in set(closed)}, closed, says


def _doubt(closing: int, is_open: int, seen: int, rules: LifecycleRules) -> str | None:
    """Why a look is not believed at once."""
    if closing and not seen:
        return f"the board shows nothing, and {_all(closing, is_open)} would be closed"
    if closing > rules.few and closing > rules.share * is_open:
        return f"{_all(closing, is_open)} would be closed"
    return None


def _all(closing: int, is_open: int) -> str:
    return f"all {is_open} open postings" if closing == is_open else f"{closing} of {is_open} open postings"


def _moved(rows: Mapping[str, tuple[Prints, Prints]]) -> tuple[str, ...]:
    """Those that lead to another page than before. An address of which nothing was kept, or that is none now,
    is no other one.

    Where most of a board asks for something else on the same pages, it writes something new into its
    addresses with every answer.
    """
    known = {key: pair for key, pair in rows.items() if pair[0].path and pair[1].path}
    elsewhere = [key for key, (was, now) in known.items() if was.path != now.path]
    asked = [key for key, (was, now) in known.items() if was.path == now.path and was.query != now.query]
    return (*elsewhere, *(() if len(asked) > 1 and 2 * len(asked) > len(known) else asked))


def _numbered(
    known: Mapping[str, Known], before: Mapping[str, Prints], now: Mapping[str, Prints]
) -> dict[str, str]:
    """Postings whose address has other words and the same number; nobody else on the board has it, then or
    now.

    Only of those that are known by their addresses: where a board numbers its rows, that is what they are.
    """
    holders = _by_row(
        (prints.number, key)
        for each in (before, now)
        for key, prints in each.items()
        if key.startswith(BY_ADDRESS)
    )
    pairs = {}
    for keys in (list(dict.fromkeys(each)) for each in holders.values()):
        old, new = (
            [key for key in keys if key in known and key not in now],
            [key for key in keys if key not in known],
        )
        if len(keys) == 2 and len(old) == len(new) == 1 and known[old[0]].is_open:
            pairs[new[0]] = old[0]
    return pairs


def _renamed(
    known: Mapping[str, Known], before: Mapping[str, Prints], now: Mapping[str, Prints]
) -> dict[str, str]:
    """Postings that read as before under other numbers.

    One such may have been listed anew. Where most of a board comes back so, it hands out other numbers with
    every answer, and the rows are told apart by what they say.
    """
    is_open = [key for key, was in known.items() if was.is_open]
    by_row = _by_row((before[key].row, key) for key in is_open if key not in now)
    pairs = {}
    for key, prints in now.items():
        if key not in known and by_row[prints.row]:
            pairs[key] = by_row[prints.row].pop(0)
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
    came = (
        f"{len(same)} of {sum(was.is_open for was in known.values())} open postings came back with other ids"
    )
    return (f"{came}: this board renumbers its rows with every response, so they are matched by content",)
