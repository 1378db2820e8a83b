"""Records that a person writes: the same filing as a task's, in a transaction of its own, under task 0."""

from collections.abc import Mapping, Sequence

from thresher.core.record import Link, Record, pack
from thresher.store.records import file_records, remove_links
from thresher.store.store import Store

BY_A_PERSON = 0

Unlinked = Mapping[tuple[str, str], Sequence[Link]]


def write_records(store: Store, records: Sequence[Record], unlinked: Unlinked = {}) -> None:
    """Write these, and take back these links (by kind and key), all or nothing."""
    limit = store.settings.count("queue.payload_limit")
    filings = [(BY_A_PERSON, pack(record, limit)) for record in records]
    with store.write() as session:
        file_records(session, filings, store.backend.now(session), store.backend.dialect.lock)
        for (kind, key), links in sorted(unlinked.items()):
            remove_links(session, kind, key, links)
