"""The app's own table: how the effect writes it, and how everybody reads it."""

from collections.abc import Iterator, Mapping
from typing import Any

from thresher import Check, Export
from thresher.store.session import Session
from thresher.store.store import Store

_WRITE = """insert into tide_levels (harbour, metres, measured_at) values (:harbour, :metres, :now)
    on conflict (harbour) do update set metres = excluded.metres, measured_at = excluded.measured_at,
        measurements = tide_levels.measurements + 1 where tide_levels.measured_at < excluded.measured_at"""
_READ = "select harbour, metres, measurements from tide_levels order by harbour"
COLUMNS = ("harbour", "metres", "measurements")


def write_level(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Write a measurement. The same one again changes nothing."""
    session.run(_WRITE, {"harbour": data["harbour"], "metres": data["metres"], "now": now})


def levels(store: Store) -> list[dict[str, Any]]:
    """How high the water stands in each harbour."""
    with store.read() as session:
        return [dict(zip(COLUMNS, row, strict=True)) for row in session.rows(_READ)]


def check_floods(store: Store) -> Iterator[Check]:
    """Warn about harbours with too much water."""
    limit = float(store.settings["tides.flood"])
    if high := [level["harbour"] for level in levels(store) if level["metres"] >= limit]:
        yield Check.warn("tides", f"at {limit:g} m or above: {', '.join(high)}", "move the boats")
    else:
        yield Check.ok("tides", f"no harbour is at {limit:g} m")


CHECKS = (check_floods,)
EXPORTS = {"tides": Export(lambda store, _status: levels(store), ("harbour", "level=metres"))}
