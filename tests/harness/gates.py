"""Gates as tests speak of them."""

from typing import Any

from thresher.core.gate import GateLimits
from thresher.store import lanes, sources
from thresher.store.store import Store


def gate(store: Store, name: str, slots: int | None = None, **limits: Any) -> str:
    """A gate with these limits and no others."""
    with store.write() as session:
        assert lanes.add_gate(session, name, GateLimits(max_in_flight=slots, **limits))
    return name


def gate_row(store: Store, name: str) -> dict[str, Any]:
    with store.read() as session:
        (found,) = sources.find_gates(session, name=name)
    return found


def lane_status(store: Store, *gates: str) -> str:
    with store.read() as session:
        return str(
            session.rows(
                "select status from lanes where key = :key order by scope desc", {"key": "\n".join(gates)}
            )[0][0]
        )
