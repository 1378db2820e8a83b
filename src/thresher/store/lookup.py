"""Looking records up: by key, by what they belong to, by their marks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from thresher.core.errors import UsageError
from thresher.core.evidence import of_json
from thresher.core.found import Between, Found, Mark, Where
from thresher.core.record import Link
from thresher.store.session import Row, Session

AT_ONCE = 500  # names in one statement
_COLUMNS = ("id", "kind", "key", "data", "evidence", "first_task", "last_task", "seen", "created_at", "updated_at")
_FIND = f"select {', '.join('r.' + name for name in _COLUMNS)} from records r"
_ORDER = " join marks o on o.record_id = r.id and o.name = :order_name and o.number is not null"
_FILTERS = {
    "kind": "r.kind = :kind",
    "keys": "r.key in (:keys*)",
    "before": "r.id < :before",
    "link": "r.id in (select record_id from links where name = :link_name and target = :link_target)",
}
_LINKS = "select record_id, name, target from links where record_id in (:ids*) order by record_id, name, target"
_MARKS = "select record_id, name, word, number from marks where record_id in (:ids*)"
_MARKS_OF = """select r.key, m.name, m.word, m.number from links l join records r on r.id = l.record_id join marks m on m.record_id = r.id
    where l.name = :name and l.target = :target and r.kind = :kind"""
_COUNT = "select count(*) from records r"


def find_records(
    session: Session, *, kind: str | None = None, keys: Sequence[str] | None = None, link: Link | None = None, where: Sequence[Where] = (),
    order: str | None = None, before: int | None = None, limit: int = 100,
) -> list[Found]:  # fmt: skip
    """Records that match everything, the newest first; with `order` by that mark, the least first, or the greatest after a minus."""
    clauses, values = _wanted(kind, keys, link, where, before)
    join, sorting = "", "r.id desc"
    if order is not None:
        join, sorting = _ORDER, f"o.number {'desc' if order.startswith('-') else 'asc'}, r.id"
        values["order_name"] = order.removeprefix("-")
    rows = session.rows(f"{_FIND}{join}{clauses} order by {sorting} limit :limit", {**values, "limit": limit})
    return _whole(session, rows)


def count_records(session: Session, *, kind: str | None = None, link: Link | None = None, where: Sequence[Where] = ()) -> int:
    """How many records match."""
    clauses, values = _wanted(kind, None, link, where, None)
    return int(session.rows(f"{_COUNT}{clauses}", values)[0][0])


def marks_of(session: Session, kind: str, link: Link) -> dict[str, dict[str, Mark]]:
    """The marks of all records of a kind that belong to something, by their keys."""
    found: dict[str, dict[str, Mark]] = {}
    for key, name, word, number in session.rows(_MARKS_OF, {"kind": kind, "name": link.name, "target": link.target}):
        found.setdefault(key, {})[name] = word if word is not None else number
    return found


def _wanted(
    kind: str | None, keys: Sequence[str] | None, link: Link | None, where: Sequence[Where], before: int | None
) -> tuple[str, dict[str, Any]]:
    given: dict[str, Any] = {
        name: value for name, value in (("kind", kind), ("keys", keys), ("before", before)) if value is not None
    }
    clauses = [_FILTERS[name] for name in given]
    if link is not None:
        clauses.append(_FILTERS["link"])
        given |= {"link_name": link.name, "link_target": link.target}
    for at, each in enumerate(where):
        clause, values = _marked(each, at)
        clauses.append(f"r.id in (select record_id from marks where name = :mark{at} and {clause}{' and kind = :kind' if kind else ''})")
        given |= values | {f"mark{at}": each.name}
    return (f" where {' and '.join(clauses)}" if clauses else ""), given


def _marked(where: Where, at: int) -> tuple[str, dict[str, Any]]:
    if isinstance(where, Between):
        bounds = {f"low{at}": where.low, f"high{at}": where.high}
        asked = {name: value for name, value in bounds.items() if value is not None}
        clauses = [f"number {'>=' if name.startswith('low') else '<='} :{name}" for name in asked]
        return " and ".join(["number is not null", *clauses]), asked
    words = [value for value in where.values if isinstance(value, str)]
    if words and len(words) < len(where.values):
        raise UsageError(f"the mark {where.name!r} is a text or a number; {where.values!r} mixes the two")
    return f"{'word' if words else 'number'} in (:values{at}*)", {f"values{at}": list(where.values)}


def _whole(session: Session, rows: Sequence[Row]) -> list[Found]:
    """The records with what they belong to and are found by."""
    ids = [row[0] for row in rows]
    links: dict[int, list[Link]] = {each: [] for each in ids}
    marks: dict[int, dict[str, Mark]] = {each: {} for each in ids}
    for some in _portions(ids):
        for record_id, name, target in session.rows(_LINKS, {"ids": some}):
            links[record_id].append(Link(name, target))
        for record_id, name, word, number in session.rows(_MARKS, {"ids": some}):
            marks[record_id][name] = word if word is not None else number
    return [_found(row, links[row[0]], marks[row[0]]) for row in rows]


def _found(row: Row, links: Iterable[Link], marks: Mapping[str, Mark]) -> Found:
    said = dict(zip(_COLUMNS, row, strict=True))
    evidence = said.pop("evidence")
    said["data"] = orjson.loads(said["data"])
    return Found(**said, links=tuple(links), marks=marks, evidence=of_json(orjson.loads(evidence)) if evidence else None)


def _portions(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
