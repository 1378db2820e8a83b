"""How companies, boards and postings are written down: their keys, and what they are found by.

    company  by the domain of its site, or by its name where no site is known
    board    by platform and token, or by its address where a site lists its own openings
    posting  by its board and the board's own number for it, or by its address

Several tasks know a part of each, so all are merged: a task writes the fields that it knows.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from thresher.core.evidence import Evidence
from thresher.core.keys import canonical_url, url_key
from thresher.core.limits import bounded
from thresher.core.record import Link, Record
from thresher.hiring.kinds import BOARD, COMPANY, GROUP, POSTING
from thresher.reading.platforms.boards import Board
from thresher.reading.values.addresses import read_address

SITE = "site"  # the platform of a board that stands on a company's own pages

# What each kind is found and ordered by. Of a posting, `listed` is the fingerprint of its row as the board
# lists it, by which a look knows what has changed; `checked_at` is when a look had its own page asked for,
# because the list does not say enough; `print` is that of the whole posting, and `kin` that of its title and
# company, by which the same opening is looked for on other boards.
MARKS: Mapping[str, tuple[str, ...]] = {
    COMPANY: ("status", "tier", "name_key", "analyzed_at"),
    BOARD: ("status", "company", "platform", "due_at", "scraped_at"),
    POSTING: ("state", "listed", "print", "kin", "missed", "board", "company", "seen_at", "checked_at"),
    GROUP: ("lead",),
}
_NOT_WORDS = re.compile(r"[^\w]+")
_FORMS = frozenset(
    (
        "ab",
        "ag",
        "aps",
        "as",
        "bv",
        "co",
        "corp",
        "corporation",
        "company",
        "gmbh",
        "group",
        "holding",
        "holdings",
        "inc",
        "incorporated",
        "kg",
        "kk",
        "limited",
        "llc",
        "llp",
        "lp",
        "ltd",
        "nv",
        "oy",
        "plc",
        "pte",
        "pty",
        "sa",
        "sarl",
        "sas",
        "se",
        "spa",
        "srl",
        "the",
    )
)


def entry(
    kind: str,
    key: str,
    data: Mapping[str, Any],
    *links: Link,
    evidence: Evidence | None = None,
    initial: Mapping[str, Any] = {},
) -> Record:
    """What one task knows of a company, a board or a posting."""
    return Record(kind, key, data, links, evidence, merge=True, initial=initial, marks=MARKS[kind])


def company_key(name: str | None, website: str | None) -> str:
    """The key of a company."""
    address = read_address(website) if website else None
    return (address and (address.domain or address.hostname.removeprefix("www."))) or company_name_key(
        name or ""
    )


def company_name_key(name: str) -> str:
    """The name of a company as it is compared: without case, accents, punctuation and its legal form."""
    bare = "".join(
        char for char in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(char)
    )
    words = [word for word in _NOT_WORDS.split(bare) if word]
    kept = [word for word in words if word not in _FORMS]
    return "".join(kept or words)


def board_key(board: Board) -> str:
    """The key of a board. A platform may keep several boards under one token, so everything that its address
    needs is part of it.
    """
    if board.token is None:
        return bounded(f"site:{canonical_url(board.url)}") if board.url else board.platform
    others = [value for name, value in sorted(board.parts.items()) if name != "token" and value]
    return bounded(":".join([board.platform, board.token, *others]))


def posting_key(board: str, number: str | None, url: str | None, title: str = "") -> str:
    """The key of a posting: the board's own number for it, else its address, else its title."""
    if number:
        return bounded(f"{board}/{number}")
    return f"url/{url_key(url)}" if url else bounded(f"{board}/{company_name_key(title)}")


def board_of(data: Mapping[str, Any]) -> Board:
    """The board that a record describes, ready to be called. A record may say anything: what makes no sense
    is left out.
    """
    said, token = data.get("parts"), data.get("token")
    parts = {str(name): str(value) for name, value in said.items()} if isinstance(said, Mapping) else {}
    return Board(
        str(data.get("platform") or SITE), str(token) if token else None, str(data.get("url") or ""), parts
    )
