"""Records: what a stage found, with links, marks and evidence; and what a query of records takes and returns.

A record is identified by (kind, key). Seen again, it is not stored twice; it still gains every new link, so a
posting found under a second role, query or source belongs to both. Its data is replaced by the newer, and so
is its evidence, both or neither: evidence of old values says nothing about new ones. A record brought without
evidence is left without.

A record assembled by several tasks says so (`merge`): each brings only the fields it knows, with their
evidence, and leaves the others alone. What belongs to a person, such as the status of a match, is `initial`:
it is written once.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from thresher.core.errors import InvalidPayload
from thresher.core.evidence import Evidence, as_json
from thresher.core.limits import (
    MAX_KEY_BYTES,
    MAX_NAME_BYTES,
    all_without_controls,
    brief,
    check_integer,
    check_text,
    controls_in,
    without_controls,
)
from thresher.core.task import MAX_KEY, dump

# Evidence quotes the values and locates each, so it is larger than they are.
EVIDENCE_SHARE = 4
A_LINE = 256  # characters: in a longer text it is quicker to look for what is wrong with it


@dataclass(frozen=True, slots=True)
class Link:
    """One thing that a record belongs to, such as ("role", "python-developer")."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Record:
    """One fact found, ready to be stored with the settlement of the task that found it.

    `evidence` says where each value of `data` stands; a value that it has no place for is unverified. `marks`
    name the fields of `data` that the record is found and ordered by: short texts and whole numbers.
    `initial` is only for a record that is new.
    """

    kind: str
    key: str
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    evidence: Evidence | None = None
    merge: bool = False
    initial: Mapping[str, Any] = field(default_factory=dict)
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filing:
    """A record checked and written as JSON, ready to store."""

    kind: str
    key: str
    data: str
    links: tuple[Link, ...] = ()
    evidence: str | None = None
    merge: bool = False
    initial: str | None = None
    marks: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return its approximate size in bytes."""
        links = sum(len(link.name) + len(link.target) for link in self.links)
        return len(self.key) + len(self.data) + len(self.evidence or "") + len(self.initial or "") + links


def pack(record: Record, limit: int) -> Filing:
    """Check a record while its attempt can still be blamed for it."""
    kind = indexed(record.kind, "the kind of a record", MAX_NAME_BYTES)
    key = record.key
    if not is_storable(key, MAX_KEY_BYTES):
        key = indexed(key, f"the key of a {kind} record", MAX_KEY_BYTES)
    what = _What(kind, key)
    data = _dump(record.data, "data", what, limit)
    links = tuple([_checked_link(what, link) for link in record.links])
    evidence = None if record.evidence is None else _dump_evidence(record.evidence, what, limit)
    initial = _dump(record.initial, "first data", what, limit) if record.initial else None
    _check_marks(what, record)
    return Filing(kind, key, data, links, evidence, record.merge, initial, record.marks)


class _What(NamedTuple):
    """The record that a message is about. Thousands are packed without one, so it is not put into words
    before.
    """

    kind: str
    key: str

    def __str__(self) -> str:
        return f"{self.kind}/{brief(self.key)}"


def _checked_link(what: _What, link: Link) -> Link:
    if is_storable(link.name, MAX_NAME_BYTES) and is_storable(link.target, MAX_KEY_BYTES):
        return link
    name = indexed(link.name, f"the name of a link of record {what}", MAX_NAME_BYTES)
    return Link(
        name,
        indexed(link.target, f"the target of a {brief(name)!r} link of record {what}", MAX_KEY_BYTES),
    )


def indexed(text: object, what: str, most: int) -> str:
    """Return a text as both databases store it, short enough for their indexes."""
    return check_text(clean(text) if isinstance(text, str) else text, what, most)


def is_storable(text: object, most: int) -> bool:
    """Whether `indexed` would return this text as it is, as far as one look can tell."""
    return type(text) is str and len(text) <= most and text.isascii() and text.isprintable()


def _dump(data: Mapping[str, Any], part: str, what: _What, limit: int) -> str:
    """Write data as JSON without control characters. They are rare, and so is everything else that `dump`
    looks for: in the result that is cheap to see.
    """
    written = _plain_json(data)
    if not written or len(written) > limit or b"null" in written:
        written = dump(data, f"{part} of record {what}", limit).encode()
    if controls_in(written):
        return dump(all_without_controls(data), f"{part} of record {what}", limit)
    return written.decode()


def _dump_evidence(evidence: Evidence, what: _What, limit: int) -> str:
    """Write evidence as JSON that both databases accept: half a surrogate pair on a page must not cost us the
    record.
    """
    found = as_json(evidence, clean)
    written = _plain_json(found)
    # The writer makes null of a position that is no number; one that is None is left out.
    is_usual = written and b'"start":null' not in written and b'"end":null' not in written
    if not is_usual or len(written) > EVIDENCE_SHARE * limit:
        return dump(found, f"evidence of record {what}", EVIDENCE_SHARE * limit)
    return written.decode()


def _plain_json(data: object) -> bytes:
    """A dictionary as JSON, or nothing where something is wrong with it."""
    try:
        return orjson.dumps(data) if type(data) is dict else b""
    except (TypeError, ValueError):
        return b""


@lru_cache(256)
def _are_short(names: tuple[str, ...]) -> bool:
    """Whether an index can hold these names of marks. Every record of a kind has the same."""
    return all(
        isinstance(name, str) and len(clean(name).encode("utf-8", "replace")) <= MAX_NAME_BYTES
        for name in names
    )


def _check_marks(what: _What, record: Record) -> None:
    if not _are_short(record.marks):
        for name in record.marks:
            indexed(name, f"the name of a mark of record {what}", MAX_NAME_BYTES)
    for said in (record.data, record.initial) if record.initial else (record.data,):
        for name in record.marks:
            if (value := said.get(name)) is not None:
                _check_mark(what, name, value)


def _check_mark(what: _What, name: str, value: object) -> None:
    if not isinstance(value, str | int):
        raise InvalidPayload(
            f"record {what} has the mark {name}, which must be text or a whole number, got {value!r}"
        )
    if isinstance(value, int):
        check_integer(value, f"record {what} has the mark {name}, which")
    if isinstance(value, str) and "\x00" in value:
        raise InvalidPayload(f"record {what} has the mark {name}, which contains a NUL character; remove it")
    if isinstance(value, str) and len(value) > MAX_KEY:
        raise InvalidPayload(
            f"record {what} has the mark {name}, which has {len(value)} characters; the limit is {MAX_KEY}"
        )


def merged_evidence(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, fields: Collection[str]
) -> dict[str, Any] | None:
    """The evidence of a merged record, as JSON: that of the new fields, and what is left of the old.

    The places of old values say nothing about new ones, so those of every field that is written again go.
    What stays counts in the text it was found in, whichever text the new places count in.
    """
    if old is None:
        return dict(new) if new else None
    if new is None:
        new = {"source": old["source"], "places": {}}
    kept = {name: place for name, place in old["places"].items() if name.partition(".")[0] not in fields}
    if old["source"] != new["source"]:
        kept = {name: place and {"source": old["source"], **place} for name, place in kept.items()}
    return {"source": new["source"], "places": kept | new["places"]}


def clean(text: str) -> str:
    """Return text that both databases store alike and that is safe on a terminal: no control characters, no
    half surrogate pair.
    """
    if len(text) <= A_LINE and text.isprintable():
        return text
    return without_controls(text if text.isascii() else text.encode("utf-8", "replace").decode())


# Queries of records, and what they return.
#
# Records are found by their kind and key, by what they belong to, or by their marks: the few values that
# whoever wrote them wanted them found by.

Mark = str | int


@dataclass(frozen=True, slots=True)
class Is:
    """The mark has one of these values."""

    name: str
    values: tuple[Mark, ...]

    def __init__(self, name: str, *values: Mark) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class Between:
    """The mark is a number from `low` to `high`, inclusive. None: no bound."""

    name: str
    low: int | None = None
    high: int | None = None


Where = Is | Between


@dataclass(frozen=True, slots=True)
class Found:
    """A stored record. `id` orders records by when they were first seen; times are microseconds
    since 1970.
    """

    kind: str
    key: str
    data: Mapping[str, Any]
    links: tuple[Link, ...] = ()
    evidence: Evidence | None = None
    id: int = 0
    seen: int = 1
    created_at: int = 0
    updated_at: int = 0
    first_task: int = 0
    last_task: int = 0
    marks: Mapping[str, Mark] = field(default_factory=dict)

    def linked(self, name: str) -> tuple[str, ...]:
        """Return what it belongs to, under one name."""
        return tuple(link.target for link in self.links if link.name == name)


# A neighbour: a known thing whose name is similar to a text.


@dataclass(frozen=True, slots=True)
class Neighbour:
    """`id` identifies it, `score` is the cosine similarity. Without `meaning` only shared letters were
    compared.
    """

    id: int
    name: str
    score: float
    meaning: bool = True
