"""The verdict on a page: found, confirmed empty, unknown or blocked, with the sentence that says why.

Nothing found is not nothing there. An empty page is proof only where the source says so itself, where nothing
that it says contradicts it, and where its word counts.
"""

from dataclasses import dataclass

from thresher.core.page import Look, Verdict
from thresher.reading.postings.posting import Listing
from thresher.reading.verdict.emptiness import Statement

OK = 200
MAX_RECOMMENDED = 10  # rows: recommendations are seldom more
_REFUSED = {
    401: "asks for credentials",
    403: "refuses us",
    407: "asks for credentials",
    429: "asks us to slow down",
    451: "refuses to answer",
}
_GONE = {404: "has no such page", 410: "says the page is gone"}
CLIENT_ERRORS = range(400, 500)
SERVER_ERRORS = range(500, 600)


@dataclass(frozen=True, slots=True)
class VerdictInput:
    """Everything a verdict is made of."""

    status: int = OK
    wall: str | None = None
    shell: str | None = None
    listing: Listing | None = None
    products: int = 0
    statement: Statement | None = None
    is_main: bool = True  # whether the statement is what the page is about
    counted: bool = False  # whether the page itself counts more than none
    characters: int = 0  # of text that was read
    lists: bool = False  # whether the page is one that should hold a list


def judge(seen: VerdictInput) -> Look:
    """The rules in order, the most final first."""
    if seen.wall:
        return Look(Verdict.BLOCKED, f"blocked by {seen.wall}", seen.wall)
    if (look := _by_status(seen.status)) is not None:
        return look
    if seen.listing is not None and not seen.listing.postings:
        return _empty_listing(seen.listing)
    if seen.statement is not None and (look := _by_statement(seen, seen.statement)) is not None:
        return look
    if seen.listing is not None:
        return Look(Verdict.FOUND, _found(seen.listing))
    if seen.products:
        return Look(Verdict.FOUND, f"{seen.products} {'product' if seen.products == 1 else 'products'}")
    if seen.shell:
        return Look(Verdict.UNKNOWN, f"{seen.shell}; render it (--render)")
    if seen.lists:
        return Look(
            Verdict.UNKNOWN,
            "the page should list something, but no rows were recognised and it does not say that there are none",
        )
    if seen.characters:
        return Look(Verdict.FOUND, f"{seen.characters:,} characters of text")
    return Look(Verdict.UNKNOWN, "the page holds no text")


def _by_statement(seen: VerdictInput, said: Statement) -> Look | None:
    """What the page says counts where it is its main matter. Rows beside it may be recommendations, unless
    the page counts them.
    """
    rows = len(seen.listing.postings) if seen.listing else seen.products
    if said.is_headline or (seen.is_main and not rows):
        return Look(Verdict.CONFIRMED_EMPTY, f'the page says "{said.quote}"', said.quote)
    is_detail = rows == 1 and (seen.products == 1 or (seen.listing is not None and seen.listing.single))
    too_many = rows > (MAX_RECOMMENDED * 2 if seen.is_main else MAX_RECOMMENDED)
    if not rows or is_detail or seen.counted or too_many:
        return None
    return Look(
        Verdict.UNKNOWN,
        f'the page says "{said.quote}" but shows {rows} rows: they may be recommendations',
        said.quote,
    )


def _by_status(status: int) -> Look | None:
    if status in _REFUSED:
        return Look(Verdict.BLOCKED, f"the server {_REFUSED[status]} ({status})", str(status))
    if status in _GONE:
        return Look(Verdict.UNKNOWN, f"the server {_GONE[status]} ({status})", str(status))
    if status in CLIENT_ERRORS:
        return Look(Verdict.UNKNOWN, f"the server did not accept the request ({status})", str(status))
    if status in SERVER_ERRORS:
        return Look(Verdict.UNKNOWN, f"the server failed ({status})", str(status))
    return None


def _empty_listing(listing: Listing) -> Look:
    if listing.total:
        return Look(
            Verdict.UNKNOWN,
            f"{listing.source} counts {listing.total:,} but holds no rows",
            str(listing.total),
        )
    if listing.rows:
        return Look(
            Verdict.UNKNOWN,
            f"{listing.source} holds {listing.rows} rows, but none of them is a listed posting",
        )
    if not listing.proof:
        return Look(
            Verdict.UNKNOWN,
            f"{listing.source} is empty, which proves nothing: it may give the same answer for a "
            "board that does not exist",
        )
    return Look(Verdict.CONFIRMED_EMPTY, f"{listing.source} is empty and counts nothing", "0")


def _found(listing: Listing) -> str:
    number = len(listing.postings)
    what = f"{number} {'posting' if number == 1 else 'postings'} in {listing.source}"
    doubles = (
        f"; {listing.rows - number} of {listing.rows} rows were duplicates" if listing.rows > number else ""
    )
    more = (
        f"; the source counts {listing.total:,}"
        if listing.total is not None and listing.total > listing.rows
        else ""
    )
    return what + doubles + more
