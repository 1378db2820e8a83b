"""Records: look up one or many, and write or change one on behalf of a person."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from thresher.core.errors import UnknownName, UsageError
from thresher.core.event import NewEvent
from thresher.core.evidence import as_json
from thresher.core.record import Found, Is, Link, Record, Where, clean, pack
from thresher.store.events import record_event
from thresher.store.records import count_records, file_records, find_records, remove_links
from thresher.store.store import Store

PORTION = 500


def find(
    store: Store,
    kind: str,
    *,
    keys: Sequence[str] | None = None,
    link: Link | None = None,
    where: Sequence[Where] = (),
    order: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[Found]:
    """Records that match, the newest first, or in the order of a mark. `before`: only those older than the
    record of this key.
    """
    named, meant = (
        None if keys is None else [clean(key) for key in keys],
        link and Link(link.name, clean(link.target)),
    )
    older = None if before is None else _id(store, kind, before)
    with store.read() as session:
        return find_records(
            session,
            kind=kind,
            keys=named,
            link=meant,
            where=[*map(_cleaned, where)],
            order=order,
            before=older,
            limit=limit,
        )


def _id(store: Store, kind: str, key: str) -> int:
    return _known(store, kind, key).id


def _known(store: Store, kind: str, key: str) -> Found:
    found = maybe(store, kind, key)
    if found is None:
        raise UnknownName(f"there is no {kind} {key!r} to continue after; start again from the first page")
    return found


def in_order(
    store: Store,
    kind: str,
    order: str,
    *,
    where: Sequence[Where] = (),
    after: str | None = None,
    portion: int = PORTION,
) -> Iterator[Found]:
    """Records that match, in the order of a mark, in the memory of a few; those behind the one of the key
    `after`.
    """
    cleaned, mark = [*map(_cleaned, where)], order.removeprefix("-")
    behind = None if after is None else _place(_known(store, kind, after), mark)
    while True:
        with store.read() as session:
            some = find_records(session, kind=kind, where=cleaned, order=order, after=behind, limit=portion)
        yield from some
        if len(some) < portion:
            return
        behind = _place(some[-1], mark)


def _place(found: Found, mark: str) -> tuple[int, int]:
    """Where a record stands in the order of a mark. One without it stands where nothing follows."""
    number = found.marks.get(mark)
    return (number if isinstance(number, int) else 0), found.id


def count(store: Store, kind: str, *, link: Link | None = None, where: Sequence[Where] = ()) -> int:
    """How many records match."""
    with store.read() as session:
        return count_records(session, kind=kind, link=link, where=where)


def maybe(store: Store, kind: str, key: str) -> Found | None:
    """The record of that key, if there is one."""
    return next(iter(find(store, kind, keys=[key], limit=1)), None)


def one(store: Store, kind: str, key: str, shown_by: str) -> Found:
    """The record of that key. `shown_by` is the command that lists such records."""
    found = maybe(store, kind, key)
    if found is None:
        raise UnknownName(f"there is no {kind} {key!r}; {shown_by} shows them")
    return found


def every(
    store: Store,
    kind: str,
    *,
    link: Link | None = None,
    where: Sequence[Where] = (),
    before: str | None = None,
    portion: int = PORTION,
) -> Iterator[Found]:
    """All records that match, the newest first, in the memory of a few; `before`: only those older than the
    record of this key. What is added meanwhile is not among them.
    """
    older = None if before is None else _id(store, kind, before)
    while True:
        with store.read() as session:
            some = find_records(
                session, kind=kind, link=link, where=[*map(_cleaned, where)], before=older, limit=portion
            )
        yield from some
        if len(some) < portion:
            return
        older = some[-1].id


def _cleaned(where: Where) -> Where:
    """What a person typed may be no text at all; then it is compared as it would have been kept."""
    return (
        Is(where.name, *(clean(each) if isinstance(each, str) else each for each in where.values))
        if isinstance(where, Is)
        else where
    )


def among(value: str | None, known: Iterable[str], what: str) -> str | None:
    """What was asked for, if there can be such a thing: a word that nobody uses would find nothing, and look
    like no results.
    """
    words = list(known)
    if value is not None and value not in words:
        raise UsageError(f"{what} must be one of {', '.join(words)}; got {value!r}")
    return value


def moment(value: object) -> int | None:
    """A time of a record; 0 means never."""
    return value if isinstance(value, int) and value > 0 else None


def list_records(
    store: Store,
    *,
    kind: str | None = None,
    key: str | None = None,
    link: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Records that match, the newest first. `link` is written as name=target."""
    name, equals, target = (link or "").partition("=")
    if link and not (name and equals):
        raise UsageError(f"a link must be name=target, such as author=ada; got {link!r}")
    with store.read() as session:
        found = find_records(
            session,
            kind=kind,
            keys=None if key is None else [key],
            link=Link(name, target) if link else None,
            before=before,
            limit=limit,
        )
    return [_shown(each) for each in found]


def _shown(found: Found) -> dict[str, Any]:
    return {
        "id": found.id,
        "kind": found.kind,
        "key": found.key,
        "data": found.data,
        "evidence": as_json(found.evidence) if found.evidence else None,
        "links": [f"{link.name}={link.target}" for link in found.links],
        "first_task": found.first_task,
        "last_task": found.last_task,
        "seen": found.seen,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


# A person's write is filed like a task's, in its own transaction, under task 0.

BY_A_PERSON = 0

Unlinked = Mapping[tuple[str, str], Sequence[Link]]


def write_records(
    store: Store, records: Sequence[Record], unlinked: Unlinked = {}, events: Sequence[NewEvent] = ()
) -> None:
    """Write these, take back these links (by kind and key) and tell these events, all or nothing."""
    limit = store.settings.count("queue.payload_limit")
    filings = [(BY_A_PERSON, pack(record, limit)) for record in records]
    with store.write() as session:
        now = store.backend.now(session)
        file_records(session, filings, now)
        for (kind, key), links in sorted(unlinked.items()):
            remove_links(session, kind, key, links)
        for event in events:
            record_event(session, event.kind, now, **event.detail)
