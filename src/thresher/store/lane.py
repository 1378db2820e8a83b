"""The key of a lane: the names of its gates, one a line. Lanes for tasks without gates are numbered instead."""

from functools import lru_cache

OPEN = "open:"


@lru_cache(8_192)
def gates_in(key: str) -> tuple[str, ...]:
    """The names of the gates in a lane's key."""
    return () if key.startswith(OPEN) else tuple(key.split("\n"))
