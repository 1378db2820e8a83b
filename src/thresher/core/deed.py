"""What a settlement does besides filing records: named changes of tables that an app has in the store, with what they need.

A stage writes nothing. Where records are not enough (a queue of its own, a million pairs) it returns deeds, and the store does
them behind the same fence, in the same transaction. Doing one twice must do no harm: an attempt may be settled, and its answer lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Deed:
    """One such change. `name` is in the store's list (`store/deeds.py`)."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
