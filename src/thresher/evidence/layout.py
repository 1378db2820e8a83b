"""The layout of a text: where, beside the things that were named, similar things begin.

An answer may leave things out. The row below the named one is still another row, the next heading of the same
level another section, the next element of a JSON list another thing, and nothing in it is evidence for ours.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from thresher.evidence.segments import Borders, Layout
from thresher.evidence.text_index import DataSheet, TextIndex
from thresher.reading.text.split import headings, parents, repeats

# What share of the values may be lost to borders of a kind before the borders are doubted.
SURE, LIKELY, UNLIKELY = 1.0, 0.5, 0.2

_LOOK = re.compile(r"([ \t]*)(?:(#{1,6})[ \t]|([-*+•]|\d{1,3}[.)])[ \t]|(\|))?")
_LINE = re.compile(r"^(?=[^\n]*\S)", re.MULTILINE)
_INDEX = re.compile(r"\[(\d+)\]")


def layout_of(sheet: TextIndex) -> Layout:
    return _Data(sheet) if isinstance(sheet, DataSheet) else _Text(sheet.text)


class _Text:
    """Headings, list items and table rows of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._headings = headings(text)
        self._starts = [each.start for each in self._headings]
        self._parents = parents(self._headings)
        self._known: dict[int, list[tuple[int, int, int]]] = {}

    def heads(self, position: int, place: int) -> bool:
        return any(start <= position < end for start, end, _ in self._above(place))

    def introduces(self, position: int, place: int, things: Sequence[int]) -> bool:
        for start, _, following in self._above(place):
            first = bisect_right(things, start)
            if first < len(things) and start <= position < min(following, things[first]):
                return True
        return False

    def _above(self, place: int) -> list[tuple[int, int, int]]:
        """Where each heading over a place starts and ends, and where the next one stands."""
        if place not in self._known:
            self._known[place] = self._over(bisect_right(self._starts, place) - 1, place)
        return self._known[place]

    def _over(self, at: int, place: int) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        while at >= 0:
            following = self._starts[at + 1] if at + 1 < len(self._starts) else len(self._text)
            if self._starts[at] < place:
                found.append((self._starts[at], self._headings[at].end, following))
            at = self._parents[at]
        return found

    def borders(self, anchors: Sequence[int]) -> Sequence[Borders]:
        looks = {self._look(self._text.rfind("\n", 0, anchor) + 1) for anchor in anchors}
        if len(looks) > 1:
            return ()
        look = looks.pop()
        if not look:
            return self._repeated(anchors)
        if look[0] == "#":
            return [Borders([each.start for each in self._headings if each.depth <= len(look)], SURE)]
        begins = [each.start() for each in _LINE.finditer(self._text) if self._look(each.start()) == look]
        return [Borders(begins, LIKELY if look == "|" else UNLIKELY)]

    def _repeated(self, anchors: Sequence[int]) -> Sequence[Borders]:
        """Blocks without any mark that repeat themselves, each anchor in one of its own."""
        for lines in (False, True):
            tellings = repeats(self._text, lines=lines)
            apart = [
                begins
                for begins in tellings
                if len({bisect_right(begins, at) for at in anchors}) == len(anchors)
            ]
            if apart:
                return [Borders(begins, LIKELY) for begins in apart]
        return ()

    def _look(self, start: int) -> str:
        """How a line is marked: as a heading of a size, as an item so far in, as a row. Empty: it is not."""
        look = _LOOK.match(self._text, start)
        assert look is not None, "it matches nothing as well"
        if look[2]:
            return look[2]
        return f"{look[1]}-" if look[3] else "|" if look[4] else ""


class _Data:
    """The elements of a list in structured data."""

    def __init__(self, sheet: DataSheet) -> None:
        self._paths = [leaf.path for leaf in sheet.leaves]

    def heads(self, position: int, place: int) -> bool:
        """Data has no headings: what stands in no element of the list is the page's anyway."""
        return position == place

    def introduces(self, position: int, place: int, things: Sequence[int]) -> bool:
        return position == place and not things

    def borders(self, anchors: Sequence[int]) -> Sequence[Borders]:
        lists = {_list_of(self._paths[anchor], anchors, self._paths) for anchor in anchors}
        found = next(iter(lists))
        if len(lists) > 1 or found is None:
            return ()
        begins: list[int] = []
        last = ""
        for at, path in enumerate(self._paths):
            index = _INDEX.match(path, len(found)) if path.startswith(found) else None
            if index is not None and index[1] != last:
                begins.append(at)
                last = index[1]
        return [Borders(begins, SURE)]


def _list_of(path: str, anchors: Sequence[int], paths: Sequence[str]) -> str | None:
    """The list that an anchor is in an element of: where its path and the next anchor's part, or the
    innermost for a single one.
    """
    if len(anchors) == 1:
        inner = list(_INDEX.finditer(path))
        return path[: inner[-1].start()] if inner else None
    at = bisect_right(anchors, paths.index(path)) - 1
    other = paths[anchors[at + 1] if at + 1 < len(anchors) else anchors[at - 1]]
    for mine, theirs in zip(_INDEX.finditer(path), _INDEX.finditer(other), strict=False):
        if path[: mine.start()] != other[: theirs.start()]:
            return None
        if mine[1] != theirs[1]:
            return path[: mine.start()]
    return None
