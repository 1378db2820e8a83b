"""A session of a scraper as it stands in the database: a claim on a role, for a time, with a fence."""

from dataclasses import dataclass
from typing import Any

import orjson

from thresher.core.clock import SECOND
from thresher.store.session import Row, Session, one

COLUMNS = (
    "id",
    "session_id",
    "key_id",
    "scraper_name",
    "role_id",
    "role_name",
    "claim",
    "platforms",
    "status",
    "verdict",
    "started_at",
    "updated_at",
    "lease_until",
    "completed_at",
    "found",
    "imported",
    "updated",
    "linked",
    "skipped",
    "error_message",
)
SELECT = f"select {', '.join(COLUMNS)} from scrape_sessions"
OPEN = "in_progress"
_OPEN_OF = f"{SELECT} where key_id = :key and status = 'in_progress' order by id desc limit :limit"


@dataclass(frozen=True, slots=True)
class Scrape:
    """`session_id` is the token that the scraper knows it by; no `platforms` means wherever it likes."""

    id: int
    session_id: str
    key_id: int
    scraper_name: str
    role_id: int
    role_name: str
    claim: int
    platforms: tuple[str, ...]
    status: str
    verdict: str | None
    started_at: int
    updated_at: int
    lease_until: int
    completed_at: int | None
    found: int
    imported: int
    updated: int
    linked: int
    skipped: int
    error_message: str | None

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    def duration_s(self, now: int) -> int:
        """How long it took, or has taken so far."""
        return max(0, (now if self.completed_at is None else self.completed_at) - self.started_at) // SECOND


def find_scrape(session: Session, token: str, lock: str = "") -> Scrape | None:
    """The session that a scraper calls by this token."""
    found = one(session, f"{SELECT} where session_id = :token{lock}", {"token": token})
    return as_scrape(found) if found else None


def open_scrapes(session: Session, key_id: int, limit: int = 100) -> list[Scrape]:
    """The sessions of a key that are under way, the newest first."""
    return [as_scrape(row) for row in session.rows(_OPEN_OF, {"key": key_id, "limit": limit})]


def as_scrape(row: Row) -> Scrape:
    said: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    said["platforms"] = tuple(orjson.loads(said["platforms"]))
    return Scrape(**said)
