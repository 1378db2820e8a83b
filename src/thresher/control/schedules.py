"""Schedules: stop them for a while, and start them again."""

from thresher.core.errors import UnknownName
from thresher.store.schedules import pause_plan
from thresher.store.store import Store


def pause_schedule(store: Store, name: str) -> None:
    """No firing until it is resumed."""
    _pause(store, name, paused=True)


def resume_schedule(store: Store, name: str) -> None:
    """Fire again. Missed firings are treated as the schedule says."""
    _pause(store, name, paused=False)


def _pause(store: Store, name: str, *, paused: bool) -> None:
    with store.write() as session:
        if not pause_plan(session, name, paused=paused):
            raise UnknownName(f"there is no schedule {name!r}; thresher schedules list shows them")
