"""A role as it stands in the database: what candidates want, under one name, with its place in the queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thresher.core.errors import UnknownName
from thresher.store.records import AT_ONCE
from thresher.store.session import Row, Session, one

COLUMNS = (
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
SELECT = f"select {', '.join(COLUMNS)} from roles"
_NAMES = "select role_id, name from role_names where role_id in (:ids*) order by role_id, key"
# A write is the lock that both databases have: whoever comes second waits here, and then sees what the first
# did.
_HOLD = f"update roles set updated_at = :now where id = :id returning {', '.join(COLUMNS)}"


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
    found = one(session, f"{SELECT} where id = :id", {"id": role_id})
    return whole(session, [found])[0] if found else None


def hold_role(session: Session, role_id: int, now: int) -> Role:
    """The role, and nobody else changes it until this transaction ends. Without its aliases."""
    found = one(session, _HOLD, {"id": role_id, "now": now})
    if found is None:
        raise UnknownName(f"there is no role {role_id}; thresher roles list shows those there are")
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
    said: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
    return Role(**said, aliases=tuple(name for name in names if name != said["name"]))
