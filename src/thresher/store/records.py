"""Records, their links and their marks, filed with the settlement that brought them."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from thresher.core.record import Filing, merged_evidence
from thresher.store.owners import hashes_in, own_named
from thresher.store.session import Session, one

Named = dict[int, set[str]]
Stored = tuple[
    int, Mapping[str, Any], set[str]
]  # the id of a record, its data where marks need them, the hashes that it may name

# Evidence goes with the data it speaks of, also when there is none.
_UPSERT = """insert into records (kind, key, data, evidence, first_task, last_task, created_at, updated_at)
    values (:kind, :key, :data, :evidence, :task, :task, :now, :now)
    on conflict (kind, key) do update set data = excluded.data, evidence = excluded.evidence, last_task = excluded.last_task,
        seen = records.seen + 1, updated_at = excluded.updated_at
    returning id"""
_INSERT = """insert into records (kind, key, data, evidence, first_task, last_task, created_at, updated_at)
    values (:kind, :key, :data, :evidence, :task, :task, :now, :now) on conflict (kind, key) do nothing returning id"""
_OLD = "select id, data, evidence from records where kind = :kind and key = :key"
_UPDATE = """update records set data = :data, evidence = :evidence, last_task = :task, seen = seen + 1, updated_at = :now
    where id = :id"""
_LINK = """insert into links (record_id, name, target, task_id, created_at)
    values (:record, :name, :target, :task, :now) on conflict do nothing"""
_MARK = """insert into marks (record_id, kind, name, word, number) values (:record, :kind, :name, :word, :number)
    on conflict (record_id, name) do update set word = excluded.word, number = excluded.number"""
_MARKED = "select name, word, number from marks where record_id = :record"
_UNMARK = "delete from marks where record_id = :record and name in (:names*)"


def file_records(session: Session, found: Sequence[tuple[int, Filing]], now: int, lock: str = "") -> None:
    """Store each record once and add its links. In key order, so that two settlers never wait in a circle."""
    named: Named = {}
    for task_id, filing in sorted(found, key=lambda pair: (pair[1].kind, pair[1].key)):
        _file(session, filing, task_id, now, lock, named)
    own_named(session, named, now)


def file_record(session: Session, filing: Filing, task_id: int, now: int, lock: str = "") -> int:
    """Store one record; its id. Task 0 means that a person did it. `lock` is the dialect's, for records that
    are merged.
    """
    named: Named = {}
    record_id = _file(session, filing, task_id, now, lock, named)
    own_named(session, named, now)
    return record_id


def _file(session: Session, filing: Filing, task_id: int, now: int, lock: str, named: Named) -> int:
    """Store one record; its id. What may be hashes of bodies in it is added to `named`."""
    values = {"kind": filing.kind, "key": filing.key, "task": task_id, "now": now}
    record_id, data, hashes = (
        _merge(session, filing, values, lock) if filing.merge else _replace(session, filing, values)
    )
    if hashes:
        named[record_id] = hashes
    for link in sorted(filing.links, key=lambda link: (link.name, link.target)):
        session.run(
            _LINK,
            {"record": record_id, "name": link.name, "target": link.target, "task": task_id, "now": now},
        )
    if filing.marks:
        _mark(session, record_id, filing, data)
    return record_id


def _replace(session: Session, filing: Filing, values: Mapping[str, Any]) -> Stored:
    record_id = session.rows(_UPSERT, {**values, "data": filing.data, "evidence": filing.evidence})[0][0]
    return (
        record_id,
        orjson.loads(filing.data) if filing.marks else {},
        hashes_in(filing.data, filing.evidence),
    )


def _merge(session: Session, filing: Filing, values: Mapping[str, Any], lock: str) -> Stored:
    """New fields over old ones. Whoever comes second to a new record waits for the first, and merges into
    what it wrote.
    """
    new = orjson.loads(filing.data)
    old = one(session, _OLD + lock, values)
    if old is None:
        whole = orjson.loads(filing.initial or "{}") | new
        text = orjson.dumps(whole).decode()
        made = session.rows(_INSERT, {**values, "data": text, "evidence": filing.evidence})
        if made:
            return made[0][0], whole, hashes_in(text, filing.evidence)
        old = session.rows(_OLD + lock, values)[0]
    record_id, data, evidence = old
    whole = orjson.loads(data) | new
    places = merged_evidence(_read(evidence), _read(filing.evidence), new)
    text, evidence = orjson.dumps(whole).decode(), orjson.dumps(places).decode() if places else None
    session.run(_UPDATE, {**values, "id": record_id, "data": text, "evidence": evidence})
    return record_id, whole, hashes_in(text, evidence)


def _mark(session: Session, record_id: int, filing: Filing, data: Mapping[str, Any]) -> None:
    """Marks as the data has them now. A field that is missing, or None, is no mark. Most stay as they were,
    and are not written.
    """
    present = {name: _columns(data[name]) for name in filing.marks if data.get(name) is not None}
    known = {name: (word, number) for name, word, number in session.rows(_MARKED, {"record": record_id})}
    changed = [(name, columns) for name, columns in present.items() if known.get(name) != columns]
    if changed:
        session.many(
            _MARK,
            [
                {"record": record_id, "kind": filing.kind, "name": name, "word": word, "number": number}
                for name, (word, number) in changed
            ],
        )
    absent = sorted((set(filing.marks) & set(known)) - set(present))
    if absent:
        session.run(_UNMARK, {"record": record_id, "names": absent})


def _columns(value: str | int) -> tuple[str | None, int | None]:
    return (value, None) if isinstance(value, str) else (None, int(value))


def _read(evidence: str | None) -> dict[str, Any] | None:
    return None if evidence is None else orjson.loads(evidence)
