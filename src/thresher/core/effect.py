"""Effects: changes of an app's own tables that a settlement makes besides filing records, by name.

A stage writes nothing. Where records are not enough (a queue of its own, a million pairs) it returns effects,
and the store makes them behind the same fence, in the same transaction. Making one twice must do no harm: an
attempt may be settled, and its answer lost.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# Given the open transaction (a `thresher.store.session.Session`), what the stage asked for, and the time in
# microseconds since 1970.
MakeEffect = Callable[[Any, Mapping[str, Any], int], None]


@dataclass(frozen=True, slots=True)
class Effect:
    """One such change, as a stage asks for it. `name` is one of those that its own app lists
    (`App.effects`).
    """

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)


class CheckedEffect(NamedTuple):
    """An effect with the function that makes it."""

    name: str
    data: Mapping[str, Any]
    make: MakeEffect
