"""A platform as it stands in the database: where scrapers look, how often, how many at once, and how it goes
there.
"""

from dataclasses import dataclass

from thresher.store.session import Session, one

COLUMNS = (
    "name",
    "every_us",
    "per_minute",
    "in_flight",
    "failures",
    "paused_until",
    "paused_tag",
    "paused_reason",
)
SELECT = f"select {', '.join(COLUMNS)} from platforms"


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
    return [Platform(*row) for row in session.rows(f"{SELECT} order by name limit :limit", {"limit": limit})]


def find_platform(session: Session, name: str) -> Platform | None:
    """The platform of that name."""
    found = one(session, f"{SELECT} where name = :name", {"name": name})
    return Platform(*found) if found else None
