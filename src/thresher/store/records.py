"""Records with their links and marks: stored by the settlement that brought them, and looked up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import orjson

from thresher.core.errors import UsageError
from thresher.core.evidence import of_json
from thresher.core.limits import MAX_INTEGER
from thresher.core.record import Between, Filing, Found, Link, Mark, Where, clean, merged_evidence
from thresher.store.bulk import Columns, among, insert_returning, insert_rows, pour
from thresher.store.owners import hashes_in, own_named
from thresher.store.session import Row, Session, keep_to_indexes, one

# How many records are stored in one go. What they bring is in memory a second time until it is written.
PORTION = 500

_RECORD: Columns = (
    ("kind", "text"),
    ("key", "text"),
    ("data", "text"),
    ("evidence", "text"),
    ("first_task", "bigint"),
    ("last_task", "bigint"),
    ("seen", "bigint"),
    ("created_at", ":now"),
    ("updated_at", ":now"),
)
# Evidence goes with the data it speaks of, also when there is none.
_REPLACE = """on conflict (kind, key) do update set data = excluded.data, evidence = excluded.evidence,
    last_task = excluded.last_task, seen = records.seen + excluded.seen, updated_at = excluded.updated_at
    returning kind, key, id, seen"""
_MADE = "returning kind, key, id"
# Those that are there are only locked: PostgreSQL does that also where the condition is false. So one
# statement takes all of them in the order of their keys, the new and the known.
_HOLD = f"on conflict (kind, key) do update set seen = records.seen where false {_MADE}"
_OLD = "select id, data, evidence from records where kind = :kind and key = :key"
# To SQLite a cross join means: in this order.
_HELD = """select r.key, r.id, r.data, r.evidence from {asked} cross join records r
    where r.kind = :kind and r.key = n.key"""
_UPDATE = """update records set data = n.data, evidence = n.evidence, last_task = n.task, seen = seen + n.times,
    updated_at = n.at from {rows} where records.id = n.id"""
_UPDATED: Columns = (
    ("id", "bigint"),
    ("task", "bigint"),
    ("times", "bigint"),
    ("at", "bigint"),
    ("data", "text"),
    ("evidence", "text"),
)
_SEE = """update records set last_task = n.task, seen = seen + n.times, updated_at = n.at from {rows}
    where records.id = n.id"""
_SEEN = _UPDATED[:4]
_LINK: Columns = (
    ("record_id", "bigint"),
    ("name", "text"),
    ("target", "text"),
    ("task_id", "bigint"),
    ("created_at", ":now"),
)
_MARK: Columns = (
    ("record_id", "bigint"),
    ("kind", "text"),
    ("name", "text"),
    ("word", "text"),
    ("number", "bigint"),
)
_OF_NAME: Columns = (("record_id", "bigint"), ("kind", ":kind"), ("name", ":name"))
_WORD: Columns = (*_OF_NAME, ("word", "text"), ("number", "null"))
_NUMBER: Columns = (*_OF_NAME, ("word", "null"), ("number", "bigint"))
GROUPED = 100  # marks that are written together: fewer are not worth a statement for each name
_REMARK = "on conflict (record_id, name) do update set word = excluded.word, number = excluded.number"
_MARKED = "select record_id, name, word, number from marks where record_id {keys}"
_UNMARK = "delete from marks where (record_id, name) in (select n.record_id, n.name from {rows})"
_UNMARKED: Columns = (("record_id", "bigint"), ("name", "text"))

MarkRow = tuple[int, str, str, Mark]  # the record, its kind, the name and the value
Old = tuple[str, str | None]  # the data and the evidence of a record that is there
Known = dict[tuple[str, str], Row]  # id, data and evidence, by kind and key


@dataclass(slots=True)
class _Draft:
    """One record while it is stored: all that is brought of it, in order, and what it comes to."""

    name: tuple[str, str]  # its kind and key
    brought: list[tuple[int, Filing]]  # each with its task
    id: int = 0
    is_known: bool = False
    data: str = ""
    evidence: str | None = None
    marks: dict[str, Mark] = field(init=False)  # as its data have them
    hashes: AbstractSet[str] = frozenset()  # what may be hashes of bodies

    def fold(self, old: Old | None) -> None:
        """Apply what was brought, one after the other, to what is there."""
        marks = self.marks = {}
        self.hashes = frozenset()
        for _, filing in self.brought:
            whole, self.data, self.evidence = _applied(filing, old)
            old = self.data, self.evidence
            for name in filing.marks:
                if (value := whole.get(name)) is not None:
                    marks[name] = value
                else:
                    marks.pop(name, None)
            self.hashes = hashes_in(*old) or self.hashes

    def has_said(self, name: str) -> bool:
        """Whether what was brought says what this mark is, or that there is none."""
        return any(name in filing.marks for _, filing in self.brought)


def _needs_old(draft: _Draft) -> bool:
    """Whether what is in the table makes a difference."""
    return draft.brought[0][1].merge


def _applied(filing: Filing, old: Old | None) -> tuple[Mapping[str, Any], str, str | None]:
    """A record after one more was brought: what its data say and how they are written, and its evidence."""
    said: Mapping[str, Any] = {}
    if filing.merge or filing.marks:
        said = orjson.loads(filing.data) if filing.said is None else filing.said
    if old is None or not filing.merge:
        return said, filing.data, filing.evidence
    new = dict(said)
    for name in filing.initial:
        new.pop(name, None)
    whole = orjson.loads(old[0]) | new
    return whole, orjson.dumps(whole).decode(), _evidence_after(filing, old[1], new)


def _evidence_after(filing: Filing, old: str | None, new: Mapping[str, Any]) -> str | None:
    """The evidence of a record after these fields were merged into it."""
    if old is None:
        return filing.evidence
    before = orjson.loads(old)
    if filing.evidence is not None and before["places"].keys() <= new.keys():  # nothing of it stays
        return filing.evidence
    brought = None if filing.evidence is None else orjson.loads(filing.evidence)
    return orjson.dumps(merged_evidence(before, brought, new)).decode()


def file_records(session: Session, found: Iterable[tuple[int, Filing]], now: int) -> None:
    """Store each record once and add its links; with each, the task that brought it.

    All are taken in the order of their keys, so that two settlers never wait for each other in a circle. A
    second writer of a new record waits for the first, and merges into its result.
    """
    drafts = _drafts(found)
    for at in range(0, len(drafts), PORTION):
        _store(session, drafts[at : at + PORTION], now)
    own_named(session, {draft.id: draft.hashes for draft in drafts if draft.hashes}, now)


def file_record(session: Session, filing: Filing, task_id: int, now: int) -> int:
    """Store one record; return its id. Task 0 means that it was changed manually."""
    (draft,) = drafts = _drafts([(task_id, filing)])
    _store(session, drafts, now)
    own_named(session, {draft.id: draft.hashes} if draft.hashes else {}, now)
    return draft.id


def _drafts(found: Iterable[tuple[int, Filing]]) -> list[_Draft]:
    """The records that were brought, in the order of their keys."""
    by_name: dict[tuple[str, str], _Draft] = {}
    for pair in found:
        name = pair[1].kind, pair[1].key
        if (draft := by_name.get(name)) is None:
            by_name[name] = _Draft(name, [pair])
        else:
            draft.brought.append(pair)
    return [by_name[name] for name in sorted(by_name)]


def _store(session: Session, drafts: Sequence[_Draft], now: int) -> None:
    for needs_old, some in groupby(drafts, _needs_old):
        (_merge if needs_old else _replace)(session, list(some), now)
    _link(session, drafts, now)
    _mark(session, drafts)


def _replace(session: Session, drafts: Sequence[_Draft], now: int) -> None:
    for draft in drafts:
        draft.fold(None)
    found = {(kind, key): rest for kind, key, *rest in _insert(session, drafts, _REPLACE, now)}
    for draft in drafts:
        draft.id, seen = found[draft.name]
        draft.is_known = seen > len(draft.brought)


def _merge(session: Session, drafts: Sequence[_Draft], now: int) -> None:
    """Merge new fields into old ones. Where there is no order to keep, known records are looked for first:
    on SQLite, whose writer is alone, and for a single record.
    """
    lock = session.dialect.lock
    known = _held(session, drafts) if len(drafts) == 1 or not lock else {}
    unknown = [draft for draft in drafts if draft.name not in known] if known else drafts
    if unknown:
        for draft in unknown:
            draft.fold(None)
        made = _insert(session, unknown, _HOLD if lock else _MADE, now)
        ids = {(kind, key): record_id for kind, key, record_id in made}
        for draft in unknown:
            draft.id = ids.get(draft.name, 0)
        known |= _held(session, [draft for draft in unknown if not draft.id])
    if known:
        _update(session, known, drafts, now)


def _insert(session: Session, drafts: Sequence[_Draft], then: str, now: int) -> list[Row]:
    rows = [
        (
            *draft.name,
            draft.data,
            draft.evidence,
            draft.brought[0][0],
            draft.brought[-1][0],
            len(draft.brought),
        )
        for draft in drafts
    ]
    return insert_returning(session.dialect, session, "records", _RECORD, rows, then, now=now)


def _held(session: Session, drafts: Sequence[_Draft]) -> Known:
    """What is there of these records. A single one is locked; several are already."""
    if len(drafts) == 1:
        name = kind, key = drafts[0].name
        row = one(session, _OLD + session.dialect.lock, {"kind": kind, "key": key})
        return {name: row} if row else {}
    return {
        (kind, row[0]): row[1:]
        for kind, some in groupby(drafts, lambda draft: draft.name[0])
        for row in among(session.dialect, session, _HELD, [draft.name[1] for draft in some], kind=kind)
    }


def _update(session: Session, known: Known, drafts: Sequence[_Draft], now: int) -> None:
    """Write what has changed of known records; of the others only that they were seen."""
    changed, same = [], []
    for draft in drafts:
        if (row := known.get(draft.name)) is None:
            continue
        draft.id, data, evidence = row
        draft.is_known = True
        draft.fold((data, evidence))
        seen = (draft.id, draft.brought[-1][0], len(draft.brought), now)
        if (draft.data, draft.evidence) == (data, evidence):
            same.append(seen)
        else:
            changed.append((*seen, draft.data, draft.evidence))
    pour(session.dialect, session, _UPDATE, _UPDATED, changed)
    pour(session.dialect, session, _SEE, _SEEN, same)


def _link(session: Session, drafts: Sequence[_Draft], now: int) -> None:
    """Links are only ever gained. One belongs to the task that brought it first."""
    rows: list[tuple[int, str, str, int]] = []
    for draft in drafts:
        tasks: dict[tuple[str, str], int] = {}
        for task_id, filing in draft.brought:
            for link in filing.links:
                tasks.setdefault((link.name, link.target), task_id)
        rows += [(draft.id, name, target, task) for (name, target), task in sorted(tasks.items())]
    insert_rows(session.dialect, session, "links", _LINK, rows, "on conflict do nothing", now=now)


def _mark(session: Session, drafts: Sequence[_Draft]) -> None:
    """Marks as the data has them now. Most stay as they were, and are not written."""
    known: dict[int, dict[str, Mark]] = {
        draft.id: {}
        for draft in drafts
        if draft.is_known and any(filing.marks for _, filing in draft.brought)
    }
    for record_id, name, word, number in among(session.dialect, session, _MARKED, known):
        known[record_id][name] = number if word is None else word
    changed: list[MarkRow] = []
    absent: list[tuple[int, str]] = []
    for draft in drafts:
        was = known.get(draft.id, {})
        for name, value in draft.marks.items():
            if was.get(name) != value:
                changed.append((draft.id, draft.name[0], name, value))
        absent += [(draft.id, name) for name in was if name not in draft.marks and draft.has_said(name)]
    _insert_marks(session, changed)
    pour(session.dialect, session, _UNMARK, _UNMARKED, absent)


def _insert_marks(session: Session, rows: Sequence[MarkRow]) -> None:
    """Many marks go into SQLite one name after the other: kind, name and the null that each has are the same
    in all rows of a statement then, which halves the time.
    """
    if session.dialect.lock or len(rows) < GROUPED:
        values = [(*row[:3], *_word_or_number(row[3])) for row in rows]
        insert_rows(session.dialect, session, "marks", _MARK, values, _REMARK)
        return
    groups: dict[tuple[str, str, bool], list[tuple[int, Mark]]] = {}
    for record_id, kind, name, value in rows:
        groups.setdefault((kind, name, isinstance(value, str)), []).append((record_id, value))
    for (kind, name, is_word), some in groups.items():
        columns = _WORD if is_word else _NUMBER
        insert_rows(session.dialect, session, "marks", columns, some, _REMARK, kind=kind, name=name)


def _word_or_number(value: Mark) -> tuple[str | None, int | None]:
    return (value, None) if isinstance(value, str) else (None, int(value))


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
_WRITTEN = f"{_FIND} from records r where r.last_task = :task limit :most"
_LINKED = "exists (select 1 from links k where k.record_id = r.id and k.name = :linked)"
_ONE = f"{_FIND} from records r where r.kind = :kind and r.key = :key"
# What a record belongs to, and what it is found by, in one question: every one of them is a way to the
# database and back.
_BESIDE = """select record_id, name, target, cast(null as bigint), 0 from links where record_id in (:ids*)
    union all select record_id, name, word, number, 1 from marks where record_id in (:too*)"""
_BESIDE_ONE = _BESIDE.replace("in (:ids*)", "= :id").replace(
    "in (:too*)", "= :id"
)  # by far the most are asked for alone
_WORDS = (
    "select word, count(*) from marks where kind = :kind and name = :name and word is not null group by word"
)
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
    after: tuple[int, int] | None = None,
    limit: int = 100,
    linked: str | None = None,
) -> list[Found]:
    """Records that match everything, the newest first; with `order` by that mark, the least first, or the
    greatest after a minus. `after` goes on behind the number and the id of the last one in that order.

    `linked` asks for any link of that name.
    """
    search = _search(kind, keys, link, where, before, order)
    if order is not None and after is not None:
        # Two conditions, so that an index is entered at the number, and only its equals are looked through.
        beyond = "<" if order.startswith("-") else ">"
        behind = f"o.number {beyond}= :number and (o.number {beyond} :number or o.record_id > :behind)"
        search = replace(
            search,
            sql=f"{search.sql} and {behind}",
            values={**search.values, "number": after[0], "behind": after[1]},
        )
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


def written_by(session: Session, task_id: int, most: int) -> list[Found]:
    """The records that this task wrote last, up to so many."""
    keep_to_indexes(session)
    return _whole(session, session.rows(_WRITTEN, {"task": task_id, "most": most}))


def find_record(session: Session, kind: str, key: str) -> Found | None:
    """The record of a kind and a key: what is asked for most often by far, so nothing is made up for it."""
    found = _whole(session, session.rows(_ONE, {"kind": clean(kind), "key": clean(key)}))
    return found[0] if found else None


def count_records(
    session: Session, *, kind: str | None = None, link: Link | None = None, where: Sequence[Where] = ()
) -> int:
    """How many records match."""
    if link is None and not where:  # by estimate, PostgreSQL would read all records for those of a rare kind
        keep_to_indexes(session)
    search = _search(kind, None, link, where, None, None)
    return int(session.rows(f"select count(*){search.sql}", search.values)[0][0])


def count_words(session: Session, kind: str, name: str) -> dict[str, int]:
    """How many records of a kind have each word as this mark: read off the index of the marks alone."""
    rows = session.rows(_WORDS, {"kind": clean(kind), "name": clean(name)})
    return {str(word): int(number) for word, number in rows}


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
        # A mark knows the kind of its record.
        own = {} if any(table.startswith("marks") for table in lists) else own
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
