"""Answers of hiring platforms, read by what the platforms' files say: which shape it is, and where everything
stands.

An answer is known by its shape, not by where it came from, so a saved file is read like one that was just
fetched.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from thresher.reading.platforms.boards import Board, board_named, key_in, recognise
from thresher.reading.platforms.definition import AnswerShape, Platform, Workplaces
from thresher.reading.platforms.paths import first, values
from thresher.reading.platforms.platform import platforms
from thresher.reading.postings.posting import Listing, Posting, merged
from thresher.reading.structured.xml import XmlData
from thresher.reading.text.plain import described
from thresher.reading.values.dates import posted_on
from thresher.reading.values.salaries import salary_of

_ONLY_COUNTED = re.compile(r"\d{1,4}\s+[^\W\d]+", re.ASCII)
MAX_ROWS = 20_000
MAX_FIGURES = 10  # of a count


def read_answer(
    data: Any, *, today: date, board: Board | None = None, xml_root: str | None = None
) -> Listing | None:
    """Return the postings of a platform's response; None if no platform file describes its shape."""
    known = [platform for platform in platforms() if board is None or platform.name == board.platform]
    fits = [
        (platform, answer, rows)
        for platform in (known or platforms())
        for answer in platform.answers
        if answer.xml == (xml_root is not None)
        and (answer.root in (None, xml_root))
        and (rows := _rows(answer, data)) is not None
    ]
    if not fits:
        return None
    platform, answer, rows = max(
        fits, key=lambda fit: (bool(fit[2]), len(fit[1].row_has) + len(fit[1].root_has))
    )
    return _listing(platform, answer, rows, data, today, board)


def _rows(answer: AnswerShape, data: Any) -> list[Any] | None:
    """The rows, if this is the shape; an empty list only where the rest of the answer says which platform it
    is.
    """
    rows = [data] if not answer.rows else values(answer.rows, data)
    if not answer.single and len(rows) == 1 and isinstance(rows[0], list):
        rows = rows[0]
    found, rows = (
        [row for row in rows if row not in (None, "")],
        [row for row in rows if isinstance(row, Mapping)],
    )
    if found and not rows:
        return None  # something stands where the rows should, and no row: that is not an empty list
    if rows and all(first(path, rows[0]) is not None for path in answer.row_has):
        return rows[:MAX_ROWS]
    specific = (
        len(answer.root_has) > 1
        and isinstance(data, Mapping)
        and all(first(path, data) is not None for path in answer.root_has)
    )
    return [] if not rows and specific and not answer.single else None


def _listing(
    platform: Platform, answer: AnswerShape, rows: list[Any], data: Any, today: date, board: Board | None
) -> Listing:
    board = board or _board(answer, rows, data)
    parts = dict(board.parts) if board else {}
    shown = [row for row in rows if answer.hidden is None or first(answer.hidden[0], row) != answer.hidden[1]]
    postings = [posting for row in shown if (posting := _posting(platform, answer, row, data, today, parts))]
    board = board or next(
        (found for posting in postings if posting.url and _is_on(platform, found := recognise(posting.url))),
        None,
    )
    return Listing(
        postings=merged(postings),
        source=f"the answer of {platform.name}",
        rows=len(rows),
        total=count_at(answer.total, data),
        next=str(first(answer.next, data) or "") or None if answer.next else None,
        board=board,
        platform=platform.name,
        proof=platform.empty_is_proof,
        single=answer.single,
    )


def _is_on(platform: Platform, board: Board | None) -> bool:
    return board is not None and board.platform == platform.name


def _board(answer: AnswerShape, rows: list[Any], data: Any) -> Board | None:
    if answer.token_from and (home := first(answer.token_from, data)):
        return recognise(str(home))
    token = answer.fields["token"](rows[0], data) if rows and "token" in answer.fields else None
    return _named(answer, token) if token else None


def _named(answer: AnswerShape, token: str) -> Board | None:
    return next(
        (board_named(platform.name, token) for platform in platforms() if answer in platform.answers), None
    )


def _posting(
    platform: Platform, answer: AnswerShape, row: Any, data: Any, today: date, parts: Mapping[str, str]
) -> Posting | None:
    # A template may name a part of the board's address.
    known = {**parts, **row} if isinstance(row, Mapping) else row
    said = {name: field(known, data) for name, field in answer.fields.items()}
    if not said.get("title"):
        return None
    return Posting(
        title=" ".join((described(said["title"]) or "").split()),
        company=said.get("company"),
        location=_place(said.get("location")),
        url=said.get("url"),
        posted_date=posted_on(said.get("posted"), today, day_first=answer.day_first),
        employment_type=said.get("employment_type"),
        salary=salary_of(
            said.get("salary"), *(said.get(name) for name in ("low", "high", "currency", "period"))
        ),
        description=described(said.get("description"), escaped=answer.escaped),
        key=said.get("id") or key_in(platform, said.get("url")),
        remote=workplace_at(answer.remote, known, data),
        where=f"{platform.name}: {answer.rows or 'the answer'}",
    )


def _place(said: str | None) -> str | None:
    """A place; "3 Locations" says how many there are, and none of them."""
    return None if said and _ONLY_COUNTED.fullmatch(said) else said


def workplace_at(said: Workplaces, row: Any, data: Any) -> str | None:
    """Where the work is done, as far as the answer says it in words that its file knows."""
    words = (
        (str(value).strip().lower(), places) for path, places in said for value in values(path, row, data)
    )
    return next((places[word] for word, places in words if word in places), None)


def count_at(path: str | None, data: Any) -> int | None:
    """How many postings the answer says there are. Whatever is no count is nothing."""
    total = first(path, data) if path else None
    if isinstance(total, XmlData):
        total = total.said
    if isinstance(total, str):
        total = total.strip().replace(",", "")
        return int(total) if total.isascii() and total.isdecimal() and len(total) < MAX_FIGURES else None
    if not isinstance(total, int | float) or isinstance(total, bool) or not 0 <= total < 10**MAX_FIGURES:
        return None
    return int(total)
