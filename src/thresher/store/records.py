"""Records and their links, filed with the settlement that brought them."""

from collections.abc import Sequence

from thresher.core.record import Filing
from thresher.store.session import Session

_UPSERT = """insert into records (kind, key, data, first_task, last_task, created_at, updated_at)
    values (:kind, :key, :data, :task, :task, :now, :now)
    on conflict (kind, key) do update set data = excluded.data, last_task = excluded.last_task,
        seen = records.seen + 1, updated_at = excluded.updated_at
    returning id"""
_LINK = """insert into links (record_id, name, target, task_id, created_at)
    values (:record, :name, :target, :task, :now) on conflict do nothing"""


def file_records(session: Session, found: Sequence[tuple[int, Filing]], now: int) -> None:
    """Store each record once and add its links. In key order, so that two settlers never wait in a circle."""
    for task_id, filing in sorted(found, key=lambda pair: (pair[1].kind, pair[1].key)):
        values = {"kind": filing.kind, "key": filing.key, "data": filing.data, "task": task_id, "now": now}
        record_id = session.rows(_UPSERT, values)[0][0]
        for link in sorted(filing.links, key=lambda link: (link.name, link.target)):
            session.run(_LINK, {"record": record_id, "name": link.name, "target": link.target, "task": task_id, "now": now})
