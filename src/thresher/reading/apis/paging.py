"""Where a list has got to. The text of a place is the cursor of the next page, and opaque to everybody
else.
"""

import hashlib
from dataclasses import dataclass

import orjson

from thresher.core.errors import InvalidPayload

PRINT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ListPlace:
    """`at` is the number of a page or row, a mark or a link. `pages` and `rows` were read before it. `first`,
    `last` and `mark` are prints of the rows of three pages: the first, the last, and one that moves up
    whenever the number of pages has doubled. A list that starts again, or goes round in a circle of any
    length, is seen by them.
    """

    at: int | str
    pages: int = 0
    rows: int = 0
    first: str = ""
    last: str = ""
    mark: str = ""

    def __str__(self) -> str:
        return orjson.dumps([self.at, self.pages, self.rows, self.first, self.last, self.mark]).decode()

    def after(self, keys: list[str], at: int | str) -> "ListPlace":
        """Where the list goes on behind a page with these rows."""
        seen, pages = rows_print(keys), self.pages + 1
        mark = seen if pages & (pages - 1) == 0 else self.mark
        return ListPlace(at, pages, self.rows + len(keys), self.first or seen, seen, mark)

    def repeats(self, keys: list[str]) -> bool:
        return rows_print(keys) in (self.first, self.last, self.mark)


def place_of(cursor: str | None, first: int | str) -> ListPlace:
    """The place that a cursor names. Raises InvalidPayload where it is none of ours."""
    if cursor is None:
        return ListPlace(first)
    try:
        at, pages, rows, start, last, *more = orjson.loads(cursor)
    except (ValueError, TypeError):
        raise InvalidPayload("the cursor of a list cannot be read; start the query again") from None
    mark = more[0] if more else ""  # earlier releases had none
    kinds = [type(each) for each in (at, pages, rows, start, last, mark)]
    if kinds != [type(first), int, int, str, str, str] or min(pages, rows) < 0 or len(more) > 1:
        raise InvalidPayload("the cursor of a list cannot be read; start the query again")
    return ListPlace(at, pages, rows, start, last, mark)


def rows_print(keys: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(keys)).encode()).hexdigest()[:PRINT_DIGITS]
