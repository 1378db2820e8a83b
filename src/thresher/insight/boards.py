"""Boards as a person sees them: whose they are and by what proof, how the last look ended, and what is wrong
with them.
"""

from dataclasses import dataclass
from typing import Any

from thresher.core.record import Found, Is, Link
from thresher.hiring.kinds import BOARD, POSTING
from thresher.insight.lookup import among, count, find, moment, one
from thresher.store.store import Store

SHOWN_BY = "thresher boards list"
STATUSES = ("pending", "active", "disabled")


@dataclass(frozen=True, slots=True)
class BoardView:
    """One board in a list. `reason` is why it stands so: disabled, its last look, or, before any, the proof
    of whose it is.
    """

    key: str
    platform: str | None
    url: str | None
    company: str | None
    company_name: str | None
    status: str | None
    confidence: str | None
    verdict: str | None
    reason: str | None
    open: int | None
    failures: int
    alarms: tuple[str, ...]
    scraped_at: int | None
    due_at: int | None


@dataclass(frozen=True, slots=True)
class BoardDetail:
    """One board with everything that is known of it. `postings` are those that are open and those that are
    closed.
    """

    board: BoardView
    data: dict[str, Any]
    postings: dict[str, int]
    tasks: list[int]


def list_boards(
    store: Store,
    *,
    status: str | None = None,
    platform: str | None = None,
    company: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[BoardView]:
    """Boards, the newest first; those after the one of the key `before`."""
    wanted = among(status, STATUSES, "the status of a board")
    where = [Is(name, value) for name, value in (("status", wanted), ("platform", platform)) if value]
    link = Link("company", company) if company else None
    return [
        board_view(each) for each in find(store, BOARD, link=link, where=where, before=before, limit=limit)
    ]


def show_board(store: Store, key: str) -> BoardDetail:
    """One board."""
    found = one(store, BOARD, key, SHOWN_BY)
    own = Link("board", key)
    postings = {
        state: count(store, POSTING, link=own, where=[Is("state", state)]) for state in ("open", "closed")
    }
    return BoardDetail(
        board_view(found), dict(found.data), postings, sorted({found.first_task, found.last_task} - {0})
    )


def board_view(found: Found) -> BoardView:
    """A board as a line of a list."""
    data = found.data
    look = data.get("last_look") or {}
    why = data.get("disabled_reason") or look.get("reason") or data.get("proof")
    return BoardView(
        found.key,
        data.get("platform"),
        data.get("url"),
        data.get("company"),
        data.get("company_name"),
        data.get("status"),
        data.get("confidence"),
        look.get("verdict"),
        why,
        data.get("open"),
        int(data.get("failures") or 0),
        tuple(data.get("alarms") or ()),
        moment(data.get("scraped_at")),
        moment(data.get("due_at")),
    )
