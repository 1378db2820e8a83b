"""What a lane is known by: the kind and stage of its tasks (its scope), and the names of its gates, one a
line.

A worker claims from lanes whose scope it knows. Lanes for tasks without gates are numbered instead of named.
"""

from functools import lru_cache

OPEN = "open:"

# Kind, stage, gates.
Place = tuple[str, str, tuple[str, ...]]


class LaneRemoved(Exception):
    """A lane or a gate that this process remembers has been removed by pruning. Raised before anything was
    written with it.
    """


@lru_cache(8_192)
def gates_in(key: str) -> tuple[str, ...]:
    """The names of the gates in a lane's key."""
    return () if key.startswith(OPEN) else tuple(key.split("\n"))


def unscoped(*gates: str) -> Place:
    """A lane that no task waits in: it stands for its gates."""
    return ("", "", gates)
