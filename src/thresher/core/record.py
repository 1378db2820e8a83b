"""What a stage brings home: a record, what it belongs to, and where its values stand.

A record is identified by (kind, key). Seen again, it is not stored twice; it still gains every new link, so a posting
found under a second role, query or source belongs to both. Its data is replaced by the newer, and so is its evidence, both or
neither: places of old values say nothing about new ones. Whoever brings a record without evidence leaves it without.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.core.evidence import Evidence, Place, as_json
from thresher.core.task import dump

# Evidence quotes the values, and says for each where it stands: it is larger than they are.
EVIDENCE_SHARE = 4


@dataclass(frozen=True, slots=True)
class Link:
    """One thing a record belongs to, such as ("role", "python-developer")."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Record:
    """One fact found, ready to be stored with the settlement of the task that found it.

    `evidence` says where each value of `data` stands; a value that it has no place for is unverified.
    """

    kind: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Filing:
    """A record checked and written out as JSON: what the store files."""

    kind: str
    key: str
    data: str
    links: tuple[Link, ...] = ()
    evidence: str | None = None


def pack(record: Record, limit: int) -> Filing:
    """Check a record while its own attempt can still be blamed for it."""
    what = f"{record.kind}/{record.key}"
    data = dump(record.data, f"data of record {what}", limit)
    links = tuple(Link(clean(link.name), clean(link.target)) for link in record.links)
    evidence = None if record.evidence is None else dump(_written(record.evidence), f"evidence of record {what}", EVIDENCE_SHARE * limit)
    return Filing(clean(record.kind), clean(record.key), data, links, evidence)


def _written(evidence: Evidence) -> dict[str, Any]:
    """Evidence as JSON, with quotes that both databases keep: half a surrogate pair on a page must not cost us the record."""
    return as_json(replace(evidence, places={name: place and _cleaned(place) for name, place in evidence.places.items()}))


def _cleaned(place: Place) -> Place:
    return replace(place, quote=clean(place.quote))


def clean(text: str) -> str:
    """Text that both databases keep alike: PostgreSQL has no NUL, and half a surrogate pair is not text at all."""
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return whole.replace("\x00", "\N{REPLACEMENT CHARACTER}")
