"""A posting that is seen again: what changes of what we have of it.

Its own source is believed: what it says now replaces what it said before, and what it leaves out stays. A
twin, the same posting under another number or on another platform, only fills gaps: two sources that word one
posting differently would otherwise change it back and forth for ever. Either way it is seen, and open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.hiring.life import OPEN

# What a twin says of itself, not of the posting.
_ITS_OWN = frozenset(("number", "platform", "content"))
# What is kept besides what a source says; the facts were read from what it said, and are read anew when that
# has changed.
_OURS = frozenset(("state", "seen_at", "first_seen", "closed_at", "facts"))


@dataclass(frozen=True, slots=True)
class Seen:
    """A posting after it was seen, and whether there is anything new about it."""

    data: dict[str, Any]
    changed: bool


def seen_first(said: Mapping[str, Any], now: int) -> dict[str, Any]:
    """The data of a posting that is new."""
    return {**said, "state": OPEN, "first_seen": now, "seen_at": now}


def seen_again(known: Mapping[str, Any], said: Mapping[str, Any], now: int, *, twin: bool = False) -> Seen:
    """The data of a posting that is known. One that was closed is open again, which is new about it."""
    offered = (
        said.items()
        if not twin
        else ((name, value) for name, value in said.items() if name not in _ITS_OWN and name not in known)
    )
    news = {name: value for name, value in offered if name not in _OURS and known.get(name) != value}
    data = {**known, **news, "state": OPEN, "seen_at": max(now, known.get("seen_at") or 0)}
    data.setdefault("first_seen", now)
    data.pop("closed_at", None)
    if news:
        data.pop("facts", None)
    return Seen(data, bool(news) or known.get("state") != OPEN)
