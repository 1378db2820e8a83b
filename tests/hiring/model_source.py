"""A list as sources really serve them: with caps, wraps, repeats, doubles, moving totals and short pages,
each told to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.hiring.list_walk import Ask
from thresher.reading.platforms.platform import Paging
from thresher.reading.postings.posting import Listing, Posting

FACETS = ("family", "town", "time")


@dataclass
class ModelSource:
    """`rows` are numbers of postings. Whatever else is said is a way in which it misbehaves."""

    rows: list[int]
    size: int = 5
    kind: str = "offset"
    cap: int | None = None  # a cap that the platform's file knows of: the total stops there, too
    hidden_cap: int | None = None  # one that nobody knows of
    total_is_true: bool = False  # behind a cap: the total still counts everything
    says_total: bool = True
    total_once: bool = False
    total_off: int = 0
    wraps: bool = False
    repeats: bool = False  # after the last page comes the last page
    doubled: int = 0  # every so manieth row comes twice
    short: int = 0  # every so manieth page is one row short
    moves: Mapping[int, tuple[str, int]] = field(
        default_factory=dict
    )  # before which request, what happens to which row
    no_value: Mapping[str, int] = field(default_factory=dict)  # a facet that so manieth rows have no value of
    many_values: frozenset[str] = frozenset()  # facets of which rows have two values
    asked: int = 0

    def __post_init__(self) -> None:
        self.stayed = set(self.rows)

    @property
    def paging(self) -> Paging:
        parameter = None if self.kind in ("none", "next") else self.kind
        return Paging(self.kind, parameter, size=self.size if self.kind != "none" else None, cap=self.cap)

    def answer(self, ask: Ask) -> tuple[Listing, dict[str, dict[str, int]]]:
        self._move()
        self.asked += 1
        fitting = [row for row in self.rows if self._fits(row, ask.facets)]
        shown = self._shown(self._reachable(fitting), ask)
        total = None
        if self.says_total and not (self.total_once and self.asked > 1):
            total = max(0, len(self._doubled(fitting)) + self.total_off)
            total = min(total, self.cap) if self.cap and not self.total_is_true else total
        following = None
        if self.kind == "next" and int(ask.cursor or 0) + self.size < len(self._reachable(fitting)):
            following = str(int(ask.cursor or 0) + self.size)
        postings = tuple(Posting(f"Post {row}", key=str(row)) for row in dict.fromkeys(shown))
        return Listing(postings, "the model", rows=len(shown), total=total, next=following), self._facets(
            fitting
        )

    def _move(self) -> None:
        if self.asked not in self.moves:
            return
        what, row = self.moves[self.asked]
        if what == "leaves" and row in self.rows:
            self.rows.remove(row)
            self.stayed.discard(row)
        elif what == "comes":
            self.rows.insert(0, 10_000 + row)

    def _reachable(self, rows: list[int]) -> list[int]:
        found = self._doubled(rows)
        return found[: min(each for each in (self.cap, self.hidden_cap, len(found)) if each is not None)]

    def _doubled(self, rows: list[int]) -> list[int]:
        if not self.doubled:
            return rows
        return [
            each
            for place, row in enumerate(rows, 1)
            for each in ((row, row) if place % self.doubled == 0 else (row,))
        ]

    def _shown(self, rows: list[int], ask: Ask) -> list[int]:
        if self.kind == "none":
            return rows
        at = (
            int(ask.cursor or 0)
            if self.kind == "next"
            else ask.at
            if self.kind == "offset"
            else (ask.page or 0) * self.size
        )
        if at >= len(rows) and rows and self.wraps:
            at %= len(rows)
        if at >= len(rows) and rows and self.repeats:
            at = (len(rows) - 1) // self.size * self.size
        is_short = self.short and self.kind == "offset" and self.asked % self.short == 0 and self.size > 1
        return rows[at : at + self.size - (1 if is_short else 0)]

    def _values(self, row: int, facet: str) -> list[str]:
        if (every := self.no_value.get(facet)) and row % every == 0:
            return []
        own = f"{facet}{row % (3 + FACETS.index(facet))}"
        return [own, f"{facet}-also"] if facet in self.many_values and row % 2 else [own]

    def _fits(self, row: int, facets: Mapping[str, tuple[str, ...]]) -> bool:
        return all(set(ids) & set(self._values(row, name)) for name, ids in facets.items())

    def _facets(self, rows: list[int]) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {name: {} for name in FACETS}
        for row in rows:
            for name in FACETS:
                for value in self._values(row, name):
                    found[name][value] = found[name].get(value, 0) + 1
        return found
