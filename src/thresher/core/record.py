"""What a stage brings home: a record, and what it belongs to.

A record is identified by (kind, key). Seen again, it is not stored twice; it still gains every new link, so a posting
found under a second role, query or source belongs to both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.task import dump


@dataclass(frozen=True, slots=True)
class Link:
    """One thing a record belongs to, such as ("role", "python-developer")."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Record:
    """One fact found, ready to be stored with the settlement of the task that found it."""

    kind: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Filing:
    """A record checked and written out as JSON: what the store files."""

    kind: str
    key: str
    data: str
    links: tuple[Link, ...] = ()


def pack(record: Record, limit: int) -> Filing:
    """Check a record while its own attempt can still be blamed for it."""
    data = dump(record.data, f"data of record {record.kind}/{record.key}", limit)
    links = tuple(Link(clean(link.name), clean(link.target)) for link in record.links)
    return Filing(clean(record.kind), clean(record.key), data, links)


def clean(text: str) -> str:
    """Text that both databases keep alike: PostgreSQL has no NUL, and half a surrogate pair is not text at all."""
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return whole.replace("\x00", "\N{REPLACEMENT CHARACTER}")
