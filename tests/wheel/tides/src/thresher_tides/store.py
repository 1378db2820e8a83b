"""The app's own table: how the effect writes it, and how everybody reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from thresher import Check, Export
from thresher.core.extension import Declaration
from thresher.store.budgets import spent_by
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

_WRITE = """insert into tide_levels (harbour, metres, measured_at) values (:harbour, :metres, :now)
    on conflict (harbour) do update set metres = excluded.metres, measured_at = excluded.measured_at,
        measurements = tide_levels.measurements + 1 where tide_levels.measured_at < excluded.measured_at"""
_READ = "select harbour, metres, measurements from tide_levels order by harbour"
_CLOSED = "select harbour from tide_closed order by harbour"
_OPEN = "delete from tide_closed"
_CLOSE = "insert into tide_closed (harbour) values (:harbour)"
COLUMNS = ("harbour", "metres", "measurements")


def write_level(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Write a measurement. The same one again changes nothing."""
    session.run(_WRITE, {"harbour": data["harbour"], "metres": data["metres"], "now": now})


def closed(session: Session, data: Mapping[str, Any], now: int) -> list[str]:
    """The harbours that nobody measures: a read."""
    return [row[0] for row in session.rows(_CLOSED)]


def declare(store: Store, declaration: Declaration) -> None:
    """See to it that the database says which harbours the project file closes."""
    said = declaration.said or {}
    if not isinstance(said, dict) or not isinstance(said.get("closed", []), list) or said.keys() - {"closed"}:
        raise declaration.error("tides", f"must be a mapping with the key closed, a list, got {said!r}")
    wanted = sorted({str(each) for each in said.get("closed", [])})
    in_transaction(store, lambda session: _close(session, wanted))


def _close(session: Session, wanted: list[str]) -> None:
    session.run(_OPEN)
    for harbour in wanted:
        session.run(_CLOSE, {"harbour": harbour})


def levels(store: Store) -> list[dict[str, Any]]:
    """How high the water stands in each harbour."""
    with store.read() as session:
        return [dict(zip(COLUMNS, row, strict=True)) for row in session.rows(_READ)]


def cost(store: Store, tracking_id: int) -> int:
    """What the models have cost that a task and its lineage have asked, in millionths of a dollar."""
    with store.read() as session:
        return spent_by(session, tracking_id)


def check_floods(store: Store) -> Iterator[Check]:
    """Warn about harbours with too much water."""
    limit = float(store.settings["tides.flood"])
    if high := [level["harbour"] for level in levels(store) if level["metres"] >= limit]:
        yield Check.warn("tides", f"at {limit:g} m or above: {', '.join(high)}", "move the boats")
    else:
        yield Check.ok("tides", f"no harbour is at {limit:g} m")


CHECKS = (check_floods,)
EXPORTS = {"tides": Export(lambda store, _status: levels(store), ("harbour", "level=metres"))}
