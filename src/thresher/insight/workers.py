"""Workers as a person sees them: alive or lost, and what they hold."""

from dataclasses import dataclass
from typing import Any

from thresher.store import lanes, overview
from thresher.store.session import Session

HELD_SHOWN = 5


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker that has not signed off. `holds` counts its tasks; `tasks` shows the longest-running few;
    `serves` names kinds.
    """

    id: int
    name: str
    host: str
    pid: int
    alive: bool
    started_at: int
    lease_until_at: int
    holds: int
    tasks: list[dict[str, Any]]
    serves: list[str]


def list_workers(session: Session, now: int) -> list[WorkerView]:
    """Everybody who is working, or vanished while working."""
    served = lanes.served_by(session)
    return [_view(session, row, now, served.get(row["id"], [])) for row in overview.workers(session)]


def _view(session: Session, row: dict[str, Any], now: int, serves: list[str]) -> WorkerView:
    alive = row["lost_at"] is None and row["lease_until"] >= now
    held = overview.held_by(session, row["id"], HELD_SHOWN) if row["holds"] else []
    return WorkerView(
        row["id"],
        row["name"],
        row["host"],
        row["pid"],
        alive,
        row["started_at"],
        row["lease_until"],
        row["holds"],
        held,
        serves,
    )
