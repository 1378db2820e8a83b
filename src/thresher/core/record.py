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
from typing import Any

import orjson

from thresher.core.errors import InvalidPayload
from thresher.core.evidence import Evidence, PlacesAt, as_json
from thresher.core.limits import (
    MAX_INTEGER,
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
    """A record checked and written as JSON, ready to store.

    `data` is the record as it is when it is new; merged into one that is there, it leaves the fields that
    `initial` names as they are. `said` is what `data` says, for whoever merges it or looks for its marks;
    without it, `data` has to be read.
    """

    kind: str
    key: str
    data: str
    links: tuple[Link, ...] = ()
    evidence: str | None = None
    merge: bool = False
    initial: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    said: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Return its approximate size in bytes."""
        links = sum(len(link.name) + len(link.target) for link in self.links)
        return len(self.key) + len(self.data) + len(self.evidence or "") + links


def pack(record: Record, limit: int) -> Filing:
    """Check a record while its attempt can still be blamed for it."""
    kind, key = record.kind, record.key
    if not is_storable(kind, MAX_NAME_BYTES):
        kind = indexed(kind, "the kind of a record", MAX_NAME_BYTES)
    if not is_storable(key, MAX_KEY_BYTES):
        key = indexed(key, f"the key of a {kind} record", MAX_KEY_BYTES)
    name = kind, key
    data, said, initial = _dump_data(record, name, limit)
    links = tuple([_checked_link(name, link) for link in record.links])
    evidence = None if record.evidence is None else _dump_evidence(record.evidence, name, limit)
    _check_marks(name, record)
    return Filing(kind, key, data, links, evidence, record.merge, initial, record.marks, said)


Name = tuple[str, str]  # the kind and the key of a record


def _words(name: Name) -> str:
    """The record that a message is about. Thousands are packed without one."""
    kind, key = name
    return f"{kind}/{brief(key)}"


def _checked_link(name: Name, link: Link) -> Link:
    if is_storable(link.name, MAX_NAME_BYTES) and is_storable(link.target, MAX_KEY_BYTES):
        return link
    what = _words(name)
    of = indexed(link.name, f"the name of a link of record {what}", MAX_NAME_BYTES)
    return Link(
        of, indexed(link.target, f"the target of a {brief(of)!r} link of record {what}", MAX_KEY_BYTES)
    )


def indexed(text: object, what: str, most: int) -> str:
    """Return a text as both databases store it, short enough for their indexes."""
    return check_text(clean(text) if isinstance(text, str) else text, what, most)


def is_storable(text: object, most: int) -> bool:
    """Whether `indexed` would return this text as it is, as far as one look can tell."""
    return type(text) is str and len(text) <= most and text.isascii() and text.isprintable()


def _dump_data(record: Record, name: Name, limit: int) -> tuple[str, Mapping[str, Any], tuple[str, ...]]:
    """Write the data of a record that is new, without control characters; return also what was written, and
    the names of what is only for a new one. What may be wrong with data is rare, and cheap to see in the
    result: only then is each part looked at on its own.
    """
    data, initial = record.data, record.initial
    whole = {**initial, **data} if initial and type(data) is type(initial) is dict else data
    written = _plain_json(whole)
    is_usual = written and len(written) <= limit and not (_may_be_null(whole) and b"null" in written)
    if not is_usual or controls_in(written) or len(whole) < len(data) + len(initial):
        data = _checked_data(data, "data", name, limit)
        initial = _checked_data(initial, "first data", name, limit) if initial else {}
        whole = {**initial, **data}
        written = orjson.dumps(whole)
    if initial and not record.merge:
        return orjson.dumps(data).decode(), data, ()
    return written.decode(), whole, tuple([each for each in initial if each not in data])


def _checked_data(data: Mapping[str, Any], part: str, name: Name, limit: int) -> Mapping[str, Any]:
    what = f"{part} of record {_words(name)}"
    if controls_in(dump(data, what, limit).encode()):
        data = all_without_controls(data)
        dump(data, what, limit)  # it may be longer now
    return data


def _dump_evidence(evidence: Evidence, name: Name, limit: int) -> str:
    """Write evidence as JSON that both databases accept: half a surrogate pair on a page must not cost us the
    record.
    """
    written = _plain_json(as_json(evidence))
    most = EVIDENCE_SHARE * limit
    if not written or len(written) > most or _has_null_position(evidence, written) or controls_in(written):
        return dump(_with_clean_quotes(as_json(evidence)), f"evidence of record {_words(name)}", most)
    return written.decode()


def _with_clean_quotes(evidence: dict[str, Any]) -> dict[str, Any]:
    for place in filter(None, evidence["places"].values()):
        place["quote"] = clean(place["quote"])
    return evidence


def _has_null_position(evidence: Evidence, written: bytes) -> bool:
    """Whether the writer made null of a position that is no number; one that is None is left out."""
    if isinstance(evidence.places, PlacesAt):  # they have a path, and no position
        return False
    return b'"start":null' in written or b'"end":null' in written


_NEVER_NULL = frozenset((str, int, bool))


def _may_be_null(data: Mapping[str, Any]) -> bool:
    """Whether a null in the JSON of this is possible: to look for one in a long text takes longer than to
    write it.
    """
    return not _NEVER_NULL.issuperset(map(type, data.values()))


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


def _check_marks(name: Name, record: Record) -> None:
    if not _are_short(record.marks):
        for mark in record.marks:
            indexed(mark, f"the name of a mark of record {_words(name)}", MAX_NAME_BYTES)
    for said in (record.data, record.initial) if record.initial else (record.data,):
        for mark in record.marks:
            value = said.get(mark)
            is_usual = type(value) is str and len(value) <= MAX_KEY and "\x00" not in value
            if value is not None and not is_usual:
                _check_mark(name, mark, value)


def _check_mark(name: Name, mark: str, value: object) -> None:
    if type(value) is int and -MAX_INTEGER <= value <= MAX_INTEGER:
        return
    what = f"record {_words(name)} has the mark {mark}, which"
    if not isinstance(value, str | int):
        raise InvalidPayload(f"{what} must be text or a whole number, got {value!r}")
    if isinstance(value, int):
        check_integer(value, what)
    if isinstance(value, str) and "\x00" in value:
        raise InvalidPayload(f"{what} contains a NUL character; remove it")
    if isinstance(value, str) and len(value) > MAX_KEY:
        raise InvalidPayload(f"{what} has {len(value)} characters; the limit is {MAX_KEY}")


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
    kept = {
        name: place
        for name, place in old["places"].items()
        if name not in fields and name.partition(".")[0] not in fields
    }
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
