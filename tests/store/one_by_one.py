"""Records stored one after the other, in several statements each: the plain way, to compare with."""

import orjson

from thresher.core.record import merged_evidence
from thresher.store.owners import hashes_in, own_named

_OLD = "select id, data, evidence from records where kind = :kind and key = :key"
_INSERT = """insert into records (kind, key, data, evidence, first_task, last_task, created_at, updated_at)
    values (:kind, :key, :data, :evidence, :task, :task, :now, :now) returning id"""
_UPDATE = """update records set data = :data, evidence = :evidence, last_task = :task, seen = seen + 1, updated_at = :now
    where id = :id"""
_LINK = """insert into links (record_id, name, target, task_id, created_at)
    values (:record, :name, :target, :task, :now) on conflict do nothing"""
_MARKED = "select name, word, number from marks where record_id = :record"
_MARK = """insert into marks (record_id, kind, name, word, number) values (:record, :kind, :name, :word, :number)
    on conflict (record_id, name) do update set word = excluded.word, number = excluded.number"""
_UNMARK = "delete from marks where record_id = :record and name = :name"


def file_one_by_one(session, found, now):
    named = {}
    for task, filing in sorted(found, key=lambda pair: (pair[1].kind, pair[1].key)):
        record = {"kind": filing.kind, "key": filing.key, "task": task, "now": now}
        old = session.rows(_OLD, {"kind": filing.kind, "key": filing.key})
        data, evidence = filing.data, filing.evidence
        if old and filing.merge:
            data, evidence = _merged(filing, *old[0][1:])
        if old:
            record_id = old[0][0]
            changes = {"data": data, "evidence": evidence, "task": task, "now": now, "id": record_id}
            session.run(_UPDATE, changes)
        else:
            record_id = session.rows(_INSERT, {**record, "data": data, "evidence": evidence})[0][0]
        if hashes := hashes_in(data, evidence):
            named[record_id] = hashes
        for link in filing.links:
            said = {"name": link.name, "target": link.target}
            session.run(_LINK, {"record": record_id, **said, "task": task, "now": now})
        _mark(session, record_id, filing, orjson.loads(data))
    own_named(session, named, now)


def _merged(filing, data, evidence):
    said = orjson.loads(filing.data)
    new = {name: value for name, value in said.items() if name not in filing.initial}
    before, brought = (None if text is None else orjson.loads(text) for text in (evidence, filing.evidence))
    places = merged_evidence(before, brought, new)
    return orjson.dumps(orjson.loads(data) | new).decode(), orjson.dumps(places).decode() if places else None


def _mark(session, record_id, filing, data):
    known = {name: (word, number) for name, word, number in session.rows(_MARKED, {"record": record_id})}
    for name in filing.marks:
        value = data.get(name)
        word, number = (value, None) if isinstance(value, str) else (None, value)
        if value is None:
            session.run(_UNMARK, {"record": record_id, "name": name})
        elif known.get(name) != (word, number):
            number = None if number is None else int(number)
            columns = {"word": word, "number": number}
            session.run(_MARK, {"record": record_id, "kind": filing.kind, "name": name, **columns})
