"""Records and their links, filed with the settlement that brought them."""

from collections.abc import Sequence
from typing import Any

import orjson

from thresher.core.record import Filing
from thresher.store.session import Row, Session

# Evidence goes with the data it speaks of, also when there is none.
_UPSERT = """insert into records (kind, key, data, evidence, first_task, last_task, created_at, updated_at)
    values (:kind, :key, :data, :evidence, :task, :task, :now, :now)
    on conflict (kind, key) do update set data = excluded.data, evidence = excluded.evidence, last_task = excluded.last_task,
        seen = records.seen + 1, updated_at = excluded.updated_at
    returning id"""
_LINK = """insert into links (record_id, name, target, task_id, created_at)
    values (:record, :name, :target, :task, :now) on conflict do nothing"""

_COLUMNS = ("id", "kind", "key", "data", "evidence", "first_task", "last_task", "seen", "created_at", "updated_at")
_FIND = f"select {', '.join('r.' + name for name in _COLUMNS)} from records r"
_FILTERS = {
    "kind": "r.kind = :kind",
    "key": "r.key = :key",
    "before": "r.id < :before",
    "link": "r.id in (select record_id from links where name = :link_name and target = :link_target)",
}
_LINKS = "select record_id, name, target from links where record_id in (:ids*) order by record_id, name, target"


def file_records(session: Session, found: Sequence[tuple[int, Filing]], now: int) -> None:
    """Store each record once and add its links. In key order, so that two settlers never wait in a circle."""
    for task_id, filing in sorted(found, key=lambda pair: (pair[1].kind, pair[1].key)):
        values = {
            "kind": filing.kind, "key": filing.key, "data": filing.data, "evidence": filing.evidence, "task": task_id, "now": now,
        }  # fmt: skip
        record_id = session.rows(_UPSERT, values)[0][0]
        for link in sorted(filing.links, key=lambda link: (link.name, link.target)):
            session.run(_LINK, {"record": record_id, "name": link.name, "target": link.target, "task": task_id, "now": now})


def find_records(
    session: Session, *, kind: str | None = None, key: str | None = None, link: tuple[str, str] | None = None,
    before: int | None = None, limit: int = 50,
) -> list[dict[str, Any]]:  # fmt: skip
    """Records that match, the newest first, each with its links."""
    given = {name: value for name, value in {"kind": kind, "key": key, "before": before}.items() if value is not None}
    clauses = [_FILTERS[name] for name in given]
    if link:
        clauses.append(_FILTERS["link"])
        given |= {"link_name": link[0], "link_target": link[1]}
    where = f" where {' and '.join(clauses)}" if clauses else ""
    rows = session.rows(f"{_FIND}{where} order by r.id desc limit :limit", given | {"limit": limit})
    found = {row[0]: _fields(row) for row in rows}
    for record_id, name, target in session.rows(_LINKS, {"ids": list(found)}) if found else ():
        found[record_id]["links"].append(f"{name}={target}")
    return list(found.values())


def _fields(row: Row) -> dict[str, Any]:
    data, evidence = orjson.loads(row[3]), row[4] and orjson.loads(row[4])
    return dict(zip(_COLUMNS, row, strict=True)) | {"data": data, "evidence": evidence, "links": []}
