"""`price_points` and `price_observations`: the latest state of each listing, and every price that it has had.

A page of listings is filed at once, in the transaction that settles its task. What it changes is decided in
plain code from the rows that are there; those are held first, in the order of their keys, so that two workers
that file the same page wait for each other and never in a circle.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson

from thresher.apps.prices.model import (
    Change,
    Observation,
    PointEvidence,
    PricePoint,
    PriceType,
    PrunablePoints,
)
from thresher.apps.prices.point_row import PointRow
from thresher.apps.prices.store.listings_without_ids import Said, keys_they_have
from thresher.apps.prices.store.sources import APP
from thresher.core.stored import read
from thresher.store.bulk import Columns, among, insert_returning, insert_rows, pour
from thresher.store.owners import disown_hashes, own_bodies
from thresher.store.session import Row, Session, one

MAX_LIVE = 20_000  # points that one valuation looks at
MAX_DUPLICATES = 100


_TYPES = {
    "price": "bigint",
    "unit": "bigint",
    "quantity": "bigint",
    "match_strength": "bigint",
    "counts": "bigint",
}
_ROW: Columns = tuple((name, _TYPES.get(name, "text")) for name in PointRow._fields)
_NEW: Columns = (
    ("item_id", ":item"),
    ("source_id", ":source"),
    *_ROW,
    ("first_seen", ":at"),
    ("observed_at", ":at"),
    ("judged_at", ":at"),
)
_MADE = "on conflict (item_id, source_id, dedupe_key) do nothing returning dedupe_key, id"
# Those that are there are only locked: PostgreSQL does that also where the condition is false.
_HELD_OR_MADE = """on conflict (item_id, source_id, dedupe_key) do update set observed_at = excluded.observed_at
    where false returning dedupe_key, id"""
# With each, when somebody last changed what is said of the item and of the source.
_KNOWN = f"""select (select updated_at from price_items where id = :item),
        (select updated_at from price_sources where id = :source), id, observed_at, ended_at, judged_at,
        {", ".join(PointRow._fields)} from price_points
    where item_id = :item and source_id = :source and dedupe_key {{keys}} order by dedupe_key"""
_OWN = 2  # columns of a stored row before its id, and before those of a PointRow
_SAYS = 6
_EVIDENCE_AT = PointRow._fields.index("evidence")  # only the hash of the answer comes after it
_KEPT = ("dedupe_key", "external_id")
_UPDATED: Columns = (
    ("id", "bigint"),
    ("observed_at", "bigint"),
    ("ended_at", "bigint"),
    ("judged_at", "bigint"),
    *(each for each in _ROW if each[0] not in _KEPT),
)
_UPDATE = f"""update price_points set {", ".join(f"{name} = n.{name}" for name, _ in _UPDATED[1:])}
    from {{rows}} where price_points.id = n.id"""
_SEEN = "update price_points set observed_at = :at where id {keys}"
_OBSERVED: Columns = (
    ("item_id", ":item"),
    ("observed_at", ":at"),
    ("point_id", "bigint"),
    ("price", "bigint"),
    ("currency", "text"),
    ("price_type", "text"),
    ("unit", "bigint"),
    ("match_strength", "bigint"),
    ("what", "text"),
)
_ONCE = "on conflict (item_id, observed_at, point_id) do nothing"
_VANISHED = """select id, price, currency, price_type, unit, match_strength from price_points
    where item_id = :item and source_id = :source and price_type = 'ask' and ended_at = 0 and observed_at < :at
    order by dedupe_key"""
_END = "update price_points set ended_at = :at where id {keys}"
_PART = """select max(id), count(*) from
    (select id from price_points where id > :after order by id limit :limit) as part"""
_PRUNABLE = """select id from price_points where id > :after and id <= :last and counts = 0 and observed_at < :before
    order by id"""
_PRUNE = """delete from price_points where id {keys} and counts = 0 and observed_at < :before
    returning item_id, id, body"""
_FORGET = "delete from price_observations where item_id = :item and point_id {keys}"
# Most answers are still needed by the first point that is looked at.
_NEEDED = """select n.key from {asked} where exists
    (select 1 from price_points p where p.item_id = :item and p.body = n.key)"""

_POINT = (
    "id",
    "item_id",
    "source_id",
    "dedupe_key",
    "price",
    "currency",
    "price_type",
    "unit",
    "quantity",
    "match_strength",
    "counts",
    "reason",
    "title",
    "url",
    "external_id",
    "item_condition",
    "grade",
    "listing_date",
    "first_seen",
    "observed_at",
    "ended_at",
)
_SELECT = f"select {', '.join(_POINT)} from price_points where item_id = :item"
_OF_ITEM = f"{_SELECT} and id > :after order by id limit :limit"
_OF_ITEM_BY_COUNTS = f"{_SELECT} and id > :after and counts = :counts order by id limit :limit"
_LIVE = f"{_SELECT} and ended_at = 0 order by id desc limit :limit"
_BY_ID = f"select {', '.join(_POINT)} from price_points where id = :id"
_EVIDENCE = "select body, evidence from price_points where id = :id"
_OBSERVATIONS = """select point_id, observed_at, price, currency, price_type, unit, match_strength, what
    from price_observations where item_id = :item order by observed_at desc, point_id desc limit :limit"""
_DUPLICATES = """select item_id, source_id, dedupe_key, count(*) from price_points
    group by item_id, source_id, dedupe_key having count(*) > 1 limit :limit"""


# Effects


def file_points(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: these listings were seen. `data` brings `item`, `source`, `rows` (PointRow), and `observed_at`,
    when their answer was fetched; of a list also `began_at`, when its first page was.

    The price of a page that is newer than what is stored takes the place of the old one and is an
    observation, whatever its strength. The words (title, address, condition, signals, whether it counts) are
    those of the stronger match, and of the newer of two that are equally strong; but once somebody has
    changed what is said of the item or the source, those of the first listing seen after it. What was sold
    stays sold. Doing it twice changes nothing.
    """
    item, source, at = data["item"], data["source"], data["observed_at"]
    rows = _one_per_key(data["rows"])
    if not rows:
        return {}
    asked = {"item": item, "source": source}
    rows = _found_again(session, rows, asked, data.get("began_at"), at)
    known = _known(session, rows, asked)
    new = {key: row for key, row in rows.items() if key not in known}
    made = _insert(session, new, asked | {"at": at})
    if len(made) < len(new):  # another worker has just filed them
        known |= _known(session, new.keys() - made.keys(), asked)
    same, changes = [], []
    for key, old in known.items():
        if _is_same(old, rows[key]):
            same.append(old)
        else:
            changes.append(_change(_old(old), rows[key], at))
    observed = [_observation(made[key], row, Change.NEW) for key, row in new.items() if key in made]
    observed += [_observation(each.old.id, each.row, each.what) for each in changes if each.what]
    rewritten = [each for each in changes if each.is_rewritten]
    seen = [old[_OWN] for old in same if old[_OWN + 1] < at] + [
        each.old.id for each in changes if each.is_seen
    ]
    dialect = session.dialect
    pour(dialect, session, _UPDATE, _UPDATED, [each.values() for each in rewritten])
    among(dialect, session, _SEEN, seen, at=at)
    insert_rows(dialect, session, "price_observations", _OBSERVED, observed, _ONCE, item=item, at=at)
    _keep_bodies(session, item, [new[key] for key in made], rewritten, now)
    told = Counter(each.what for each in changes)
    counts = {
        "price_points_new": len(made),
        "price_points_changed": told[Change.CHANGED],
        "price_points_returned": told[Change.RETURNED],
        "price_points_known": told[None] + len(same),
        "price_points_late": sum(each.is_late for each in changes),
    }
    return {name: number for name, number in counts.items() if number}


def _one_per_key(rows: Iterable[Sequence[Any]]) -> dict[str, PointRow]:
    """The rows in the order of their keys. Of several with one key the sold one is taken, else the strongest,
    else the first.
    """
    found: dict[str, PointRow] = {}
    for each in rows:
        row = each if type(each) is PointRow else PointRow(*each)
        other = found.setdefault(row.dedupe_key, row)
        if other is not row and _rank(row) > _rank(other):
            found[row.dedupe_key] = row
    return dict(sorted(found.items()))


def _rank(row: PointRow) -> tuple[bool, int]:
    return row.price_type == PriceType.SOLD.value, row.match_strength


def _found_again(
    session: Session, rows: dict[str, PointRow], asked: Mapping[str, Any], began_at: int | None, at: int
) -> dict[str, PointRow]:
    """The rows, those without an id under the keys that earlier looks have filed them by."""
    without_id = [] if began_at is None else [_said(row) for row in rows.values() if row.external_id is None]
    if began_at is None or not without_id:
        return rows
    keys = keys_they_have(session, without_id, asked, began_at=began_at, at=at)
    renamed = (row._replace(dedupe_key=keys[key]) if key in keys else row for key, row in rows.items())
    return _one_per_key(renamed)


def _said(row: PointRow) -> Said:
    return Said(row.dedupe_key, row.price_type, row.title, row.url, row.listing_date, row.currency, row.price)


def _known(session: Session, keys: Iterable[str], asked: Mapping[str, Any]) -> dict[str, Row]:
    """What is stored under these keys, held to the end of the transaction."""
    sql = _KNOWN + session.dialect.lock
    return {row[_SAYS]: row for row in among(session.dialect, session, sql, sorted(keys), **asked)}


def _is_same(old: Row, row: PointRow) -> bool:
    """Whether nothing is to be decided: most of a list says what it said when it was last read."""
    item_at, source_at, _, _, ended_at, judged_at = old[:_SAYS]
    is_judged = judged_at > (item_at or 0) and judged_at > (source_at or 0)
    return is_judged and not ended_at and old[_SAYS:-1] == row[:-1]


def _insert(session: Session, rows: Mapping[str, PointRow], asked: Mapping[str, Any]) -> dict[str, int]:
    """Insert these, in the order of their keys. Return the ids of those that nobody else had inserted."""
    then = _HELD_OR_MADE if session.dialect.lock else _MADE
    found = insert_returning(
        session.dialect, session, "price_points", _NEW, list(rows.values()), then, **asked
    )
    return dict(found)


@dataclass(frozen=True, slots=True)
class _Old:
    """A point as it stands. `said_at` is when somebody last changed what is said of its item or its source:
    what was judged before that gives way to any newer judgement.
    """

    said_at: int
    id: int
    observed_at: int
    ended_at: int
    judged_at: int
    row: PointRow


def _old(row: Row) -> _Old:
    item_at, source_at, point, observed_at, ended_at, judged_at = row[:_SAYS]
    said_at = max(item_at or 0, source_at or 0)
    return _Old(said_at, point, observed_at, ended_at, judged_at, PointRow(*row[_SAYS:]))


@dataclass(frozen=True, slots=True)
class _Changed:
    """A point as it will be."""

    old: _Old
    row: PointRow
    observed_at: int
    ended_at: int
    judged_at: int
    what: Change | None
    is_rejudged: bool = False  # for the first time since somebody changed what is said
    is_late: bool = False  # it brings another price than the newer one that is stored

    @property
    def is_rewritten(self) -> bool:
        return self.row is not self.old.row or self.ended_at != self.old.ended_at or self.is_rejudged

    @property
    def is_seen(self) -> bool:
        """Whether nothing is new but that it is still there."""
        return not self.is_rewritten and self.observed_at > self.old.observed_at

    def values(self) -> tuple[Any, ...]:
        return (self.old.id, self.observed_at, self.ended_at, self.judged_at, *self.row[len(_KEPT) :])


def _change(old: _Old, row: PointRow, at: int) -> _Changed:
    """Pure: what becomes of a point that is seen again."""
    was, seen = old.row, max(at, old.observed_at)
    if was.price_type == PriceType.SOLD.value != row.price_type:
        return _Changed(old, was, seen, old.ended_at, old.judged_at, None)
    is_newer = at > old.observed_at and at > old.ended_at
    ended_at = 0 if is_newer else old.ended_at
    has_other_price = _price(row) != _price(was)
    takes_price = is_newer and has_other_price
    takes_words = row.match_strength > was.match_strength or (
        is_newer and (row.match_strength == was.match_strength or old.judged_at <= old.said_at)
    )
    found = _merged(was, row, takes_price or (takes_words and not has_other_price), takes_words)
    judged_at = at if takes_words and at > old.judged_at else old.judged_at
    return _Changed(
        old,
        was if _says_the_same(found, was) else found,
        seen,
        ended_at,
        judged_at,
        _what(old, row, is_newer, takes_price),
        is_rejudged=old.judged_at <= old.said_at < judged_at,
        is_late=has_other_price and not is_newer,
    )


def _what(old: _Old, row: PointRow, is_newer: bool, takes_price: bool) -> Change | None:
    if is_newer and old.ended_at and row.price_type == old.row.price_type:
        return Change.RETURNED
    return Change.CHANGED if takes_price else None


def _price(row: PointRow) -> tuple[int, str, str]:
    return row.price, row.currency, row.price_type


def _says_the_same(found: PointRow, was: PointRow) -> bool:
    """Whether nothing differs but the answer, and where in it the listing stands."""
    if found is was:
        return True
    if found[:_EVIDENCE_AT] != was[:_EVIDENCE_AT]:
        return False
    return found.evidence == was.evidence or _without_place(found.evidence) == _without_place(was.evidence)


def _without_place(evidence: str) -> dict[str, Any]:
    said: dict[str, Any] = orjson.loads(evidence)
    said.pop("place", None)
    return said


def _merged(was: PointRow, row: PointRow, takes_price: bool, takes_words: bool) -> PointRow:
    """The price of one and the words of the other. A quote goes with the price that was read from it."""
    if not takes_price and not takes_words:
        return was
    price, words = (row if takes_price else was), (row if takes_words else was)
    evidence = price.evidence if price is words else _joined(price.evidence, words.evidence)
    return words._replace(
        price=price.price,
        currency=price.currency,
        price_type=price.price_type,
        unit=price.unit,
        quantity=price.quantity,
        url=words.url or was.url,
        item_condition=words.item_condition or was.item_condition,
        listing_date=words.listing_date or was.listing_date,
        evidence=evidence,
        body=price.body,
    )


def _joined(price: str, words: str) -> str:
    """The quote of one, and the signals of the other."""
    read_from, judged = orjson.loads(price), orjson.loads(words)
    read_from.pop("signals", None)
    if "signals" in judged:
        read_from["signals"] = judged["signals"]
    return orjson.dumps(read_from).decode()


def _observation(point: int, row: PointRow, what: Change) -> tuple[Any, ...]:
    return point, row.price, row.currency, row.price_type, row.unit, row.match_strength, what.value


def _keep_bodies(
    session: Session, item: int, made: Sequence[PointRow], rewritten: Sequence[_Changed], now: int
) -> None:
    """Keep the answers that points of the item were read from, and give up those that none needs any more."""
    gained = {row.body for row in made} | {each.row.body for each in rewritten}
    own_bodies(session, APP, item, [body for body in gained if body])
    _give_up(session, item, {each.old.row.body for each in rewritten if each.old.row.body} - gained, now)


def _give_up(session: Session, item: int, bodies: AbstractSet[str | None], now: int) -> None:
    """Keep these bodies for the item no longer, but those that one of its points still needs."""
    lost = sorted(body for body in bodies if body)
    needed = {row[0] for row in among(session.dialect, session, _NEEDED, lost, item=item)}
    disown_hashes(session, APP, item, [body for body in lost if body not in needed], now)


def end_asks(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001  every effect gets the time
    """Effect: a list was read to its end, and asks of `item` at `source` that were last seen before
    `began_at` are no longer in it. What was sold or bid does not end.
    """
    at, dialect = data["began_at"], session.dialect
    asked = {"item": data["item"], "source": data["source"], "at": at}
    found = session.rows(_VANISHED + dialect.lock, asked)
    if not found:
        return {}
    among(dialect, session, _END, [row[0] for row in found], at=at)
    observed = [(*row, Change.ENDED.value) for row in found]
    insert_rows(dialect, session, "price_observations", _OBSERVED, observed, _ONCE, item=data["item"], at=at)
    return {"price_points_ended": len(found)}


def prune_points(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: remove those of these `points` that do not count and were last seen before `before`, with what
    was observed of them. One that has been seen again meanwhile stays.
    """
    dialect = session.dialect
    gone: dict[int, list[Row]] = {}
    for row in among(dialect, session, _PRUNE, sorted(data["points"]), before=data["before"]):
        gone.setdefault(row[0], []).append(row)
    for item, rows in sorted(gone.items()):
        among(dialect, session, _FORGET, sorted(row[1] for row in rows), item=item)
        _give_up(session, item, {row[2] for row in rows if row[2]}, now)
    removed = sum(map(len, gone.values()))
    return {"price_points_pruned": removed} if removed else {}


# Reads


def prunable_points(session: Session, data: Mapping[str, Any], now: int) -> PrunablePoints:  # noqa: ARG001  every read gets the time
    """Read: the points that may be removed among the next `limit` after an id."""
    last, number = session.rows(_PART, {"after": data["after"], "limit": data["limit"]})[0]
    if last is None:
        return PrunablePoints((), None)
    asked = {"after": data["after"], "last": last, "before": data["before"]}
    found = tuple(row[0] for row in session.rows(_PRUNABLE, asked))
    return PrunablePoints(found, last if number == data["limit"] else None)


def points_of(
    session: Session, item_id: int, *, counts: bool | None = None, after: int = 0, limit: int = 200
) -> list[PricePoint]:
    """Points of an item by id, those above `after`; only those that count, or do not, if it is said."""
    asked = {"item": item_id, "after": after, "limit": limit}
    if counts is None:
        return [_point(row) for row in session.rows(_OF_ITEM, asked)]
    return [_point(row) for row in session.rows(_OF_ITEM_BY_COUNTS, asked | {"counts": int(counts)})]


def live_points(session: Session, item_id: int, limit: int = MAX_LIVE) -> list[PricePoint]:
    """All points of an item but the asks that have ended, newest first: what a valuation looks at."""
    return [_point(row) for row in session.rows(_LIVE, {"item": item_id, "limit": limit})]


def point_of_id(session: Session, point_id: int) -> PricePoint | None:
    """The point of this id."""
    row = one(session, _BY_ID, {"id": point_id})
    return None if row is None else _point(row)


def evidence_of(session: Session, point_id: int) -> PointEvidence | None:
    """Why a point says what it says; None where there is no such point."""
    row = one(session, _EVIDENCE, {"id": point_id})
    return None if row is None else read(PointEvidence, orjson.loads(row[1]), body=row[0])


def observations_of(session: Session, item_id: int, limit: int = 1_000) -> list[Observation]:
    """Every price that the points of an item have had, newest first."""
    rows = session.rows(_OBSERVATIONS, {"item": item_id, "limit": limit})
    return [
        Observation(point, at, price, currency, PriceType(price_type), unit, strength, Change(what))
        for point, at, price, currency, price_type, unit, strength, what in rows
    ]


def duplicate_points(session: Session, limit: int = MAX_DUPLICATES) -> list[tuple[int, int, str, int]]:
    """Item, source and key that several points share, with their number. There are none."""
    return [(row[0], row[1], row[2], row[3]) for row in session.rows(_DUPLICATES, {"limit": limit})]


def _point(row: Row) -> PricePoint:
    (
        point,
        item,
        source,
        key,
        price,
        currency,
        price_type,
        unit,
        quantity,
        strength,
        counts,
        reason,
        title,
        url,
        external_id,
        condition,
        grade,
        listed,
        first_seen,
        observed_at,
        ended_at,
    ) = row
    return PricePoint(
        point,
        item,
        source,
        key,
        price,
        currency,
        PriceType(price_type),
        unit,
        quantity,
        strength,
        bool(counts),
        reason,
        title,
        url,
        external_id,
        condition,
        grade,
        date.fromisoformat(listed) if listed else None,
        first_seen,
        observed_at,
        ended_at,
    )
