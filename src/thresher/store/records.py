"""Records with their links and marks: stored by the settlement that brought them, and looked up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from thresher.core.errors import UsageError
from thresher.core.evidence import of_json
from thresher.core.limits import MAX_INTEGER
from thresher.core.record import Between, Filing, Found, Link, Mark, Where, clean, merged_evidence
from thresher.store.owners import hashes_in, own_named
from thresher.store.session import Row, Session, one

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
    """Store one record; return its id. Task 0 means that it was changed manually. `lock` is the dialect's,
    for records that are merged.
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
    """Merge new fields into old ones. A second writer of a new record waits for the first, and merges into
    its result.
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


# Remove links. Only a person does: tasks add links and never remove one.

_UNLINK = """delete from links where name = :name and target = :target
    and record_id in (select id from records where kind = :kind and key = :key)"""


def remove_links(session: Session, kind: str, key: str, links: Iterable[Link]) -> int:
    """Remove these links of a record; how many were there."""
    return sum(
        session.run(_UNLINK, {"kind": kind, "key": key, "name": link.name, "target": link.target})
        for link in links
    )


# Look up records by key, links and marks.

AT_ONCE = 500  # names in one statement
_COLUMNS = (
    "id",
    "kind",
    "key",
    "data",
    "evidence",
    "first_task",
    "last_task",
    "seen",
    "created_at",
    "updated_at",
)
_FIND = f"select {', '.join('r.' + name for name in _COLUMNS)}"
_BY_IDS = f"{_FIND} from records r where r.id in (:ids*) and r.kind = :kind order by r.id"
_LINKED = "exists (select 1 from links k where k.record_id = r.id and k.name = :linked)"
_ONE = f"{_FIND} from records r where r.kind = :kind and r.key = :key"
# What a record belongs to, and what it is found by, in one question: every one of them is a way to the
# database and back.
_BESIDE = """select record_id, name, target, cast(null as bigint), 0 from links where record_id in (:ids*)
    union all select record_id, name, word, number, 1 from marks where record_id in (:too*)"""
_BESIDE_ONE = _BESIDE.replace("in (:ids*)", "= :id").replace(
    "in (:too*)", "= :id"
)  # by far the most are asked for alone
_MARKS_OF = """select r.key, m.name, m.word, m.number from links l join records r on r.id = l.record_id join marks m on m.record_id = r.id
    where l.name = :name and l.target = :target and r.kind = :kind"""


def find_records(
    session: Session,
    *,
    kind: str | None = None,
    keys: Sequence[str] | None = None,
    link: Link | None = None,
    where: Sequence[Where] = (),
    order: str | None = None,
    before: int | None = None,
    limit: int = 100,
    linked: str | None = None,
) -> list[Found]:
    """Records that match everything, the newest first; with `order` by that mark, the least first, or the
    greatest after a minus.

    `linked` asks for any link of that name.
    """
    search = _search(kind, keys, link, where, before, order)
    if linked is not None:
        joint = "and" if " where " in search.sql else "where"
        search = replace(
            search, sql=f"{search.sql} {joint} {_LINKED}", values={**search.values, "linked": clean(linked)}
        )
    sorting = f"{search.age} desc"
    if order is not None:
        sorting = f"o.number {'desc' if order.startswith('-') else 'asc'}, o.record_id"
    return _whole(
        session,
        session.rows(
            f"{_FIND}{search.sql} order by {sorting} limit :limit", {**search.values, "limit": limit}
        ),
    )


def find_by_ids(session: Session, kind: str, ids: Sequence[int]) -> list[Found]:
    """The records of a kind with these ids, in the order of their ids; those that are gone are left out."""
    wanted = sorted(set(ids))
    rows = [row for some in _portions(wanted) for row in session.rows(_BY_IDS, {"kind": kind, "ids": some})]
    return _whole(session, rows)


def find_record(session: Session, kind: str, key: str) -> Found | None:
    """The record of a kind and a key: what is asked for most often by far, so nothing is made up for it."""
    found = _whole(session, session.rows(_ONE, {"kind": clean(kind), "key": clean(key)}))
    return found[0] if found else None


def count_records(
    session: Session, *, kind: str | None = None, link: Link | None = None, where: Sequence[Where] = ()
) -> int:
    """How many records match."""
    search = _search(kind, None, link, where, None, None)
    return int(session.rows(f"select count(*){search.sql}", search.values)[0][0])


def marks_of(session: Session, kind: str, link: Link) -> dict[str, dict[str, Mark]]:
    """The marks of all records of a kind that belong to something, by their keys."""
    found: dict[str, dict[str, Mark]] = {}
    for key, name, word, number in session.rows(
        _MARKS_OF, {"kind": kind, "name": link.name, "target": link.target}
    ):
        found.setdefault(key, {})[name] = word if word is not None else number
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """The tables and conditions of a question, and what orders the records by when they were first seen."""

    sql: str
    age: str
    values: Mapping[str, Any]


def _search(
    kind: str | None,
    keys: Sequence[str] | None,
    link: Link | None,
    where: Sequence[Where],
    before: int | None,
    order: str | None,
) -> _Search:
    """Records whose keys are known are asked for by them. All others are looked for where they are listed in
    order (by a mark, by what they belong to), and only those that fit are read: a search must cost what it
    finds, not what there is.
    """
    one = keys[0] if keys is not None and len(keys) == 1 else None
    several = None if one is not None or keys is None else list(map(clean, keys))
    asked = {"kind": _cleaned(kind), "key": _cleaned(one), "keys": several, "before": before}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    lists = dict(_lists(link, where, order, given))
    own = {"kind": "r.kind = :kind", "key": "r.key = :key", "keys": "r.key in (:keys*)"}
    if keys is not None or not lists:
        lead, tables = "r.id", ["records r", *(f"join {table} on {_of(table)} = r.id" for table in lists)]
    else:
        first, *others = lists
        lead = _of(first)
        # To SQLite a cross join means: in this order.
        tables = [
            first,
            *(f"join {table} on {_of(table)} = {lead}" for table in others),
            "cross join records r",
        ]
        own = (
            {} if any(table.startswith("marks") for table in lists) else own
        )  # a mark knows the kind of its record
    clauses = [*lists.values(), *(clause for name, clause in own.items() if name in given)]
    clauses += [f"r.id = {lead}"] if lead != "r.id" else []
    clauses += [f"{lead} < :before"] if before is not None else []
    # Those whose keys are known are sorted once they are found: an order that an index has would have the
    # whole kind walked through.
    age = f"{lead} + 0" if "keys" in given else lead
    return _Search(
        f" from {' '.join(tables)}" + (f" where {' and '.join(clauses)}" if clauses else ""), age, given
    )


def _cleaned(text: str | None) -> str | None:
    """As it was when it was stored: what cannot be kept is found by what was kept instead."""
    return None if text is None else clean(text)


def _of(table: str) -> str:
    return f"{table.rpartition(' ')[2]}.record_id"


def _lists(
    link: Link | None, where: Sequence[Where], order: str | None, given: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Each table that names records, with its conditions. What they are compared with goes into `given`."""
    kind = "{0}.kind = :kind and " if "kind" in given else ""
    for at, each in enumerate(where):
        clause, values = _marked(each, at)
        given |= values | {f"mark{at}": clean(each.name)}
        yield f"marks m{at}", f"{kind.format(f'm{at}')}m{at}.name = :mark{at} and {clause}"
    if link is not None:
        given |= {"link_name": clean(link.name), "link_target": clean(link.target)}
        yield "links l", "l.name = :link_name and l.target = :link_target"
    if order is not None:
        given["order_name"] = clean(order.removeprefix("-"))
        yield "marks o", f"{kind.format('o')}o.name = :order_name and o.number is not null"


def _marked(where: Where, at: int) -> tuple[str, dict[str, Any]]:
    if isinstance(where, Between):
        low, high = (
            None if bound is None else max(-MAX_INTEGER - 1, min(int(bound), MAX_INTEGER))
            for bound in (where.low, where.high)
        )
        bounds = {f"low{at}": low, f"high{at}": high}
        asked = {name: value for name, value in bounds.items() if value is not None}
        clauses = [f"m{at}.number {'>=' if name.startswith('low') else '<='} :{name}" for name in asked]
        return " and ".join([f"m{at}.number is not null", *clauses]), asked
    words = [value for value in where.values if isinstance(value, str)]
    if words and len(words) < len(where.values):
        raise UsageError(
            f"the values of mark {where.name!r} must be all text or all numbers, got {where.values!r}"
        )
    column = f"m{at}.{'word' if words else 'number'}"
    # No record has a value that cannot be kept; a truth value was kept as a number.
    values = [
        value if isinstance(value, str) else int(value) for value in where.values if _can_be_kept(value)
    ]
    if len(values) == 1:  # then they are in order already
        return f"{column} = :value{at}", {f"value{at}": values[0]}
    return f"{column} in (:values{at}*)", {f"values{at}": values}


def _can_be_kept(value: Mark) -> bool:
    return value == clean(value) if isinstance(value, str) else -MAX_INTEGER - 1 <= value <= MAX_INTEGER


def _whole(session: Session, rows: Sequence[Row]) -> list[Found]:
    """The records with what they belong to and are found by."""
    ids = [row[0] for row in rows]
    links: dict[int, list[Link]] = {each: [] for each in ids}
    marks: dict[int, dict[str, Mark]] = {each: {} for each in ids}
    for some in _portions(ids):
        asked = (_BESIDE, {"ids": some, "too": some}) if len(some) > 1 else (_BESIDE_ONE, {"id": some[0]})
        for record_id, name, word, number, marked in session.rows(*asked):
            if marked:
                marks[record_id][name] = word if word is not None else number
            else:
                links[record_id].append(Link(name, word))
    return [_found(row, sorted(links[row[0]], key=_by_name), marks[row[0]]) for row in rows]


def _by_name(link: Link) -> tuple[str, str]:
    return link.name, link.target


def _found(row: Row, links: Iterable[Link], marks: Mapping[str, Mark]) -> Found:
    said = dict(zip(_COLUMNS, row, strict=True))
    evidence = said.pop("evidence")
    said["data"] = orjson.loads(said["data"])
    return Found(
        **said,
        links=tuple(links),
        marks=marks,
        evidence=of_json(orjson.loads(evidence)) if evidence else None,
    )


def _portions(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
