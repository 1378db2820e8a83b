"""Data sets and their items.

What a page brought replaces what the same page had brought to the same data set, so reading it twice stores
nothing twice. An item that stands on two pages with the same values is one item of both. Where one key has
other values on another page, both are kept: a site that calls all its pages by one address must not lose any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from thresher.apps.extractions.entities import entity_from
from thresher.apps.extractions.model import Entity
from thresher.apps.extractions.store.pages import APP, end_list, note_page, note_read
from thresher.core.errors import UnknownName
from thresher.store.bulk import insert_rows
from thresher.store.owners import own_bodies
from thresher.store.session import Row, Session, one

_ENSURE = """insert into datasets (recipe_id, extraction_id, version, entity, created_at)
    select e.recipe_id, e.id, :version, e.entity, :now from extractions e where e.id = :extraction
    on conflict (extraction_id, version) do nothing"""
_ID = "select id from datasets where extraction_id = :extraction and version = :version"
_SET = """select d.id, d.recipe_id, r.name, d.extraction_id, d.version, d.entity, d.created_at, d.ended_at, d.coverage,
    (select count(*) from data_items i where i.dataset_id = d.id),
    (select count(*) from data_items i where i.dataset_id = d.id and i.verified = 0)
    from datasets d join recipes r on r.id = d.recipe_id"""
_BY_ID = f"{_SET} where d.id = :id"
_LATEST = f"{_SET} where d.id < :before order by d.id desc limit :limit"
_OF_RECIPE = f"{_SET} where d.recipe_id = :recipe and d.id < :before order by d.id desc limit :limit"
_OF_EXTRACTION = f"{_SET} where d.extraction_id = :extraction order by d.version desc"
_COUNT = "select count(*) from data_items where dataset_id = :dataset"
_NEXT_VERSION = "select coalesce(max(version), 0) + 1 from datasets where extraction_id = :extraction"
_FORGET_LINKS = "delete from data_item_pages where dataset_id = :dataset and page = :page"
_FORGET = """delete from data_items where dataset_id = :dataset and page = :page and not exists (select 1 from data_item_pages p
    where p.dataset_id = data_items.dataset_id and p.item_key = data_items.item_key)"""
_DIGESTS = "select item_key, digest from data_items where dataset_id = :dataset and item_key in (:keys*)"
_ITEM = (
    ("dataset_id", ":dataset"),
    ("item_key", "text"),
    ("page", ":page"),
    ("place", "bigint"),
    ("data", "text"),
    ("evidence", "text"),
    ("verified", "bigint"),
    ("doubts", "text"),
    ("read_by", "text"),
    ("digest", "text"),
    ("url", "text"),
    ("created_at", ":now"),
)
_LINK = (("dataset_id", ":dataset"), ("page", ":page"), ("item_key", "text"))
_FIELDS = (
    "id",
    "dataset_id",
    "item_key",
    "page",
    "place",
    "data",
    "evidence",
    "verified",
    "doubts",
    "read_by",
    "digest",
    "url",
    "created_at",
)
_ITEMS = f"select {', '.join('i.' + name for name in _FIELDS)} from data_items i where i.dataset_id = :dataset and i.id > :after"
_ITEM_BY_KEY = f"select {', '.join('i.' + name for name in _FIELDS)} from data_items i where i.dataset_id = :dataset and i.item_key = :key"
_OF_PAGE = f"""select {", ".join("i." + name for name in _FIELDS)} from data_items i join data_item_pages p
    on p.dataset_id = i.dataset_id and p.item_key = i.item_key where p.dataset_id = :dataset and p.page = :page order by i.place"""
_CARRY = """select i.item_key, i.place, i.data, i.evidence, i.verified, i.doubts, i.read_by, i.digest, i.url from data_items i
    join data_item_pages p on p.dataset_id = i.dataset_id and p.item_key = i.item_key
    where p.dataset_id = (select max(d.id) from datasets d where d.extraction_id = :previous) and p.page = :page order by i.place"""
_END = "update datasets set ended_at = :now, coverage = :coverage where id = :dataset"
_NEW = """select n.item_key from data_items n where n.dataset_id = :new and n.item_key > :after and not exists
    (select 1 from data_items o where o.dataset_id = :old and o.item_key = n.item_key) order by n.item_key limit :limit"""
_CHANGED = """select n.item_key from data_items n join data_items o on o.dataset_id = :old and o.item_key = n.item_key
    where n.dataset_id = :new and n.item_key > :after and n.digest <> o.digest order by n.item_key limit :limit"""
_COUNTS = """select (select count(*) from data_items n where n.dataset_id = :new),
    (select count(*) from data_items n join data_items o on o.dataset_id = :old and o.item_key = n.item_key where n.dataset_id = :new),
    (select count(*) from data_items n join data_items o on o.dataset_id = :old and o.item_key = n.item_key
        where n.dataset_id = :new and n.digest <> o.digest),
    (select count(*) from data_items o where o.dataset_id = :old)"""
BATCH = 500
_DIGEST = 7  # its place in a row of an item


@dataclass(frozen=True, slots=True)
class DataSet:
    """What an extraction brought: one version of it. `coverage` says of each field how many items have it,
    and how many of those values are verified.
    """

    id: int
    recipe_id: int
    recipe_name: str
    extraction_id: int
    version: int
    entity: Entity
    created_at: int
    ended_at: int = 0
    items: int = 0
    unverified: int = 0
    coverage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataItem:
    """One item of a data set. `evidence` is in its stored form; `place` counts the items of its page."""

    id: int
    dataset_id: int
    item_key: str
    page: str
    place: int
    values: Mapping[str, Any]
    evidence: Mapping[str, Any]
    verified: bool
    doubts: tuple[str, ...]
    read_by: str
    digest: str
    url: str
    created_at: int


@dataclass(frozen=True, slots=True)
class DiffCounts:
    """How two data sets differ."""

    new: int
    changed: int
    gone: int
    same: int


def ensure_dataset(session: Session, extraction_id: int, version: int, now: int) -> int:
    """The data set of an extraction, made where there is none."""
    asked = {"extraction": extraction_id, "version": version}
    row = one(session, _ID, asked)
    if row is None:
        session.run(_ENSURE, {**asked, "now": now})
        row = session.rows(_ID, asked)[0]
    return int(row[0])


def next_version(session: Session, extraction_id: int) -> int:
    return int(session.rows(_NEXT_VERSION, {"extraction": extraction_id})[0][0])


def get_dataset(session: Session, dataset_id: int) -> DataSet:
    """One data set. Raises UnknownName."""
    row = one(session, _BY_ID, {"id": dataset_id})
    if row is None:
        raise UnknownName(f"there is no data set {dataset_id}; thresher datasets list shows them")
    return _dataset(row)


def list_datasets(
    session: Session, recipe_id: int | None = None, *, limit: int = 50, before: int | None = None
) -> list[DataSet]:
    """Data sets, of one recipe or of all, newest first."""
    asked = {"recipe": recipe_id, "limit": limit, "before": before if before is not None else 2**62}
    return [_dataset(row) for row in session.rows(_LATEST if recipe_id is None else _OF_RECIPE, asked)]


def datasets_of(session: Session, extraction_id: int) -> list[DataSet]:
    """The versions of an extraction's data set, newest first."""
    return [_dataset(row) for row in session.rows(_OF_EXTRACTION, {"extraction": extraction_id})]


def _dataset(row: Row) -> DataSet:
    id_, recipe_id, name, extraction_id, version, entity, created, ended, coverage, items, unverified = row
    return DataSet(
        id_,
        recipe_id,
        name,
        extraction_id,
        version,
        entity_from(entity),
        created,
        ended,
        items,
        unverified,
        orjson.loads(coverage) if coverage else {},
    )


def list_items(
    session: Session, dataset_id: int, *, verified: bool | None = None, after: int = 0, limit: int = 100
) -> list[DataItem]:
    """Items in the order in which they were stored."""
    only = "" if verified is None else f" and i.verified = {int(verified)}"
    asked = {"dataset": dataset_id, "after": after, "limit": limit}
    return [_item(row) for row in session.rows(f"{_ITEMS}{only} order by i.id limit :limit", asked)]


def every_item(session: Session, dataset_id: int, verified: bool | None = None) -> Iterator[DataItem]:
    """All items, a batch at a time."""
    after = 0
    while found := list_items(session, dataset_id, verified=verified, after=after, limit=BATCH):
        yield from found
        after = found[-1].id


def find_item(session: Session, dataset_id: int, key: str) -> DataItem | None:
    row = one(session, _ITEM_BY_KEY, {"dataset": dataset_id, "key": key})
    return _item(row) if row else None


def items_of_page(session: Session, dataset_id: int, page: str) -> list[DataItem]:
    return [_item(row) for row in session.rows(_OF_PAGE, {"dataset": dataset_id, "page": page})]


def _item(row: Row) -> DataItem:
    said = dict(zip(_FIELDS, row, strict=True))
    values = orjson.loads(said.pop("data"))
    return DataItem(
        values=values,
        **{
            **said,
            "evidence": orjson.loads(said["evidence"]),
            "verified": bool(said["verified"]),
            "doubts": tuple(orjson.loads(said["doubts"])) if said["doubts"] else (),
        },
    )


def count_diff(session: Session, old: int, new: int) -> DiffCounts:
    """How many items are new, changed, gone and the same."""
    now, both, changed, before = session.rows(_COUNTS, {"old": old, "new": new})[0]
    return DiffCounts(now - both, changed, before - both, both - changed)


def diff_keys(
    session: Session, old: int, new: int, what: str, *, after: str = "", limit: int = 100
) -> list[str]:
    """Keys of items that are new, changed or gone, in their order."""
    sql = _CHANGED if what == "changed" else _NEW
    ends = {"old": new, "new": old} if what == "gone" else {"old": old, "new": new}
    return [row[0] for row in session.rows(sql, {**ends, "after": after, "limit": limit})]


# Effects


def items_stored(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page was read into the data set. `items` are its rows; `bodies` the texts that their evidence counts
    in.
    """
    dataset = ensure_dataset(session, data["extraction"], data["version"], now)
    stored = _replace_page(session, dataset, data["page"], [tuple(each) for each in data["items"]], now)
    own_bodies(session, APP, data["extraction"], data["bodies"])
    told = {name: data[name] for name in ("extraction", "page", "started", "extractor")}
    note_read(session, {**told, "items": len(data["items"])}, now)
    return {"items": stored}


def items_carried(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """A page is as it was in the previous extraction: its items are taken from there."""
    dataset = ensure_dataset(session, data["extraction"], data["version"], now)
    rows = session.rows(_CARRY, {"previous": data["previous"], "page": data["page"]})
    stored = _replace_page(session, dataset, data["page"], rows, now)
    bodies = {orjson.loads(row[3]).get("source") for row in rows} - {None}
    own_bodies(session, APP, data["extraction"], sorted(bodies))
    told = {"extraction": data["extraction"], "page": data["page"], "started": now}
    note_read(session, {**told, "extractor": "unchanged", "items": len(rows)}, now)
    return {"items": stored, "pages_unchanged": 1}


def api_ended(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """An API was read to its end. What an earlier run had read behind that end is there no more. Where a list
    shows some rows twice and others never, only the number of different items tells.
    """
    dataset = ensure_dataset(session, data["extraction"], data["version"], now)
    for page in end_list(session, data, now):
        ends = {"dataset": dataset, "page": page}
        session.run(_FORGET_LINKS, ends)
        session.run(_FORGET, ends)
    found = int(session.rows(_COUNT, {"dataset": dataset})[0][0])
    if data["expected"] is not None and data["expected"] > found:
        why = f"it says that there are {data['expected']:,}, and {found:,} different ones came"
        note_page(session, {**data, "note": "; ".join(filter(None, (data["note"], why)))})
    return {"apis_read": 1}


def _replace_page(session: Session, dataset: int, page: str, rows: Sequence[Row], now: int) -> int:
    """Store the items of a page in place of those that it had. Returns how many of them nobody had."""
    ends = {"dataset": dataset, "page": page}
    session.run(_FORGET_LINKS, ends)
    session.run(_FORGET, ends)
    items = list({row[0]: row for row in _told_apart(rows, page)}.values())
    stored = _insert_items(session, dataset, page, items, now)
    known = _digests(session, dataset, items)
    # The key is taken, by another page and other values.
    rivals = [(f"{row[0]}#{page}", *row[1:]) for row in items if known[row[0]] != row[_DIGEST]]
    stored += _insert_items(session, dataset, page, rivals, now)
    kept = [row[0] for row in items if known[row[0]] == row[_DIGEST]] + [row[0] for row in rivals]
    rows_of_links = [(key,) for key in kept]
    then = "on conflict do nothing"
    insert_rows(session.dialect, session, "data_item_pages", _LINK, rows_of_links, then, **ends)
    return stored


def _told_apart(rows: Sequence[Row], page: str) -> Iterator[Row]:
    """Rows of one page with one key and other values are several items."""
    seen: dict[str, str] = {}
    for row in rows:
        first = seen.setdefault(row[0], row[_DIGEST])
        yield row if first == row[_DIGEST] else (f"{row[0]}#{page}.{row[1]}", *row[1:])


def _insert_items(session: Session, dataset: int, page: str, rows: Sequence[Row], now: int) -> int:
    then = "on conflict (dataset_id, item_key) do nothing"
    return insert_rows(
        session.dialect, session, "data_items", _ITEM, sorted(rows), then, dataset=dataset, page=page, now=now
    )


def _digests(session: Session, dataset: int, rows: Sequence[Row]) -> dict[str, str]:
    return dict(session.rows(_DIGESTS, {"dataset": dataset, "keys": [row[0] for row in rows]}))


def dataset_ended(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Nothing more comes: write down how much of each field there is."""
    dataset = ensure_dataset(session, data["extraction"], data["version"], now)
    coverage = orjson.dumps(data["coverage"]).decode()
    session.run(_END, {"dataset": dataset, "coverage": coverage, "now": now})


def read_coverage(session: Session, dataset_id: int) -> dict[str, dict[str, int]]:
    """Of each field: how many items have it, and of how many it is verified."""
    found: dict[str, dict[str, int]] = {}
    for item in every_item(session, dataset_id):
        places = item.evidence.get("places") or {}
        unverified = {name.partition(".")[0] for name, place in places.items() if place is None}
        for name, value in item.values.items():
            if value not in (None, "", []):
                counted = found.setdefault(name, {"items": 0, "verified": 0})
                counted["items"] += 1
                counted["verified"] += name not in unverified
    return found
