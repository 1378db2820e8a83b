"""Patterns: how the values of a field are written, as a regular expression; only where that tells them from
other texts.

Telephone numbers, dates, ISBNs and prices can be known by their look. The expression is built from the known
values run by run; runs of figures may vary, words may not. It holds no nested repetition, so it is linear
whatever it meets.
"""

import re
from collections.abc import Sequence

_RUNS = re.compile(r"\d+|[^\W\d_]+|\s+|[^\w\s]|_")
MAX_RUNS = 30
MAX_LENGTH = 80
MIN_DIGITS = 4  # shorter numbers stand everywhere


def pattern(values: Sequence[str]) -> str | None:
    """The expression that all values fit; None where they have no look of their own."""
    if not values or any(len(value) > MAX_LENGTH for value in values):
        return None
    runs = [_RUNS.findall(" ".join(value.split())) for value in values]
    if len({len(each) for each in runs}) != 1 or len(runs[0]) > MAX_RUNS:
        return None
    pieces = [_piece(column) for column in zip(*runs, strict=True)]
    if (
        any(piece is None for piece in pieces)
        or min(sum(char.isdecimal() for char in value) for value in values) < MIN_DIGITS
    ):
        return None
    return rf"(?<![\w.,]){''.join(piece for piece in pieces if piece)}(?!\w|[.,]\d)"


def _piece(column: Sequence[str]) -> str | None:
    if all(each.isdecimal() for each in column):
        lengths = {len(each) for each in column}
        return (
            rf"\d{{{min(lengths)}}}"
            if len(lengths) == 1 and min(lengths) > 2
            else rf"\d{{1,{max(lengths) + 1}}}"
        )
    if len(set(column)) > 1:
        return None
    return r"\s+" if column[0].isspace() else re.escape(column[0])
