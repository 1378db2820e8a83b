"""The changes that a settlement may ask for by name, and who makes them. Each is safe to make twice."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from thresher.core.deed import Deed
from thresher.store.backend import Backend
from thresher.store.session import Session

Do = Callable[[Backend, Session, Mapping[str, Any], int], None]

DEEDS: dict[str, Do] = {}


def do_deeds(backend: Backend, session: Session, deeds: Sequence[Deed], now: int) -> None:
    """Make these changes, in their order."""
    for deed in deeds:
        DEEDS[deed.name](backend, session, deed.data, now)
