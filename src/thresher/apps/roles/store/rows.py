"""Rows of the roles app as values: sessions (`Scrape`), roles and platforms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.core.clock import SECOND
from thresher.core.errors import UnknownName
from thresher.store.records import AT_ONCE
from thresher.store.session import Row, Session, one

SCRAPE_COLUMNS = (
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
SELECT_SCRAPE = f"select {', '.join(SCRAPE_COLUMNS)} from scrape_sessions"
OPEN = "in_progress"
_OPEN_OF = f"{SELECT_SCRAPE} where key_id = :key and status = 'in_progress' order by id desc limit :limit"


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
    found = one(session, f"{SELECT_SCRAPE} where session_id = :token{lock}", {"token": token})
    return as_scrape(found) if found else None


def open_scrapes(session: Session, key_id: int, limit: int = 100) -> list[Scrape]:
    """The sessions of a key that are under way, the newest first."""
    return [as_scrape(row) for row in session.rows(_OPEN_OF, {"key": key_id, "limit": limit})]


def as_scrape(row: Row) -> Scrape:
    said: dict[str, Any] = dict(zip(SCRAPE_COLUMNS, row, strict=True))
    said["platforms"] = tuple(orjson.loads(said["platforms"]))
    return Scrape(**said)


# Roles

ROLE_COLUMNS = (
    "id",
    "name",
    "status",
    "priority",
    "category",
    "method",
    "candidates",
    "imported",
    "waiting_since",
    "rank",
    "claim",
    "session_id",
    "scraped_at",
    "created_at",
    "updated_at",
)
SELECT_ROLE = f"select {', '.join(ROLE_COLUMNS)} from roles"
_NAMES = "select role_id, name from role_names where role_id in (:ids*) order by role_id, key"
# A write is the lock that both databases have: the second transaction waits here, then sees what the first
# did.
_HOLD = f"update roles set updated_at = :now where id = :id returning {', '.join(ROLE_COLUMNS)}"


@dataclass(frozen=True, slots=True)
class Role:
    """`aliases` are its other names. `session_id` is the row of the session that holds it, `claim` the fence
    that it was given.
    """

    id: int
    name: str
    status: str
    priority: str
    category: str | None
    method: str
    candidates: int
    imported: int
    waiting_since: int
    rank: int
    claim: int
    session_id: int | None
    scraped_at: int | None
    created_at: int
    updated_at: int
    aliases: tuple[str, ...] = ()


def find_role(session: Session, role_id: int) -> Role | None:
    """The role of that id."""
    found = one(session, f"{SELECT_ROLE} where id = :id", {"id": role_id})
    return whole(session, [found])[0] if found else None


def hold_role(session: Session, role_id: int, now: int) -> Role:
    """The role, and nobody else changes it until this transaction ends. Without its aliases."""
    found = one(session, _HOLD, {"id": role_id, "now": now})
    if found is None:
        raise UnknownName(f"there is no role {role_id}; thresher roles list shows them")
    return as_role(found)


def whole(session: Session, rows: Sequence[Row]) -> list[Role]:
    """Roles with their other names."""
    names: dict[int, list[str]] = {row[0]: [] for row in rows}
    ids = list(names)
    for at in range(0, len(ids), AT_ONCE):
        for role_id, name in session.rows(_NAMES, {"ids": ids[at : at + AT_ONCE]}):
            names[role_id].append(name)
    return [as_role(row, names[row[0]]) for row in rows]


def as_role(row: Row, names: Sequence[str] = ()) -> Role:
    said: dict[str, Any] = dict(zip(ROLE_COLUMNS, row, strict=True))
    return Role(**said, aliases=tuple(name for name in names if name != said["name"]))


# Platforms

PLATFORM_COLUMNS = (
    "name",
    "every_us",
    "per_minute",
    "in_flight",
    "failures",
    "paused_until",
    "paused_tag",
    "paused_reason",
)
SELECT_PLATFORM = f"select {', '.join(PLATFORM_COLUMNS)} from platforms"


@dataclass(frozen=True, slots=True)
class Platform:
    """`every_us` lies between two starts at the same role; `per_minute` is for scrapers to keep; `in_flight`
    sessions at a time.
    """

    name: str
    every_us: int = 0
    per_minute: int | None = None
    in_flight: int | None = None
    failures: int = 0
    paused_until: int = 0
    paused_tag: str | None = None
    paused_reason: str | None = None


def list_platforms(session: Session, limit: int = 1_000) -> list[Platform]:
    """All platforms, by name."""
    return [
        Platform(*row)
        for row in session.rows(f"{SELECT_PLATFORM} order by name limit :limit", {"limit": limit})
    ]


def find_platform(session: Session, name: str) -> Platform | None:
    """The platform of that name."""
    found = one(session, f"{SELECT_PLATFORM} where name = :name", {"name": name})
    return Platform(*found) if found else None
