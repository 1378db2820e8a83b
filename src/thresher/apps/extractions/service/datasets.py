"""Data sets: browse their items, compare two of them, and write one into a file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from thresher.admin.export import Exported, FileFormat, export, export_file
from thresher.apps.extractions.entities import result_schema
from thresher.apps.extractions.store import datasets
from thresher.apps.extractions.store.datasets import DataItem, DataSet, DiffCounts
from thresher.apps.extractions.store.recipes import find_recipe
from thresher.core.errors import UnknownName, UsageError
from thresher.core.extension import Export
from thresher.store.session import Session
from thresher.store.store import Store

_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
CHANGES = ("new", "changed", "gone")


@dataclass(frozen=True, slots=True)
class FieldCoverage:
    """How many items of a data set have a field, and of how many it stands on their page."""

    field: str
    items: int
    verified: int
    share: float


@dataclass(frozen=True, slots=True)
class DataSetView:
    """A data set as people see it. `fields` is in the order of its schema."""

    id: int
    recipe: str
    extraction: int
    version: int
    entity: str
    created_at: int
    ended_at: int | None
    items: int
    unverified: int
    fields: tuple[FieldCoverage, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item that two data sets do not agree on. `fields` has what changed, as it was and as it is."""

    what: str
    item_key: str
    url: str
    name: str
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataSetDiff:
    """Two data sets compared: how many items differ, and the first of them. `more` says that these are not
    all.
    """

    old: DataSetView
    new: DataSetView
    counts: DiffCounts
    changes: tuple[ItemChange, ...] = ()
    more: bool = False


# Look


def list_views(
    store: Store, recipe: str | None = None, *, limit: int = 50, before: int | None = None
) -> list[DataSetView]:
    """Data sets, newest first."""
    with store.read() as session:
        known = find_recipe(session, recipe) if recipe is not None else None
        if recipe is not None and known is None:
            raise UnknownName(f"there is no recipe {recipe[:80]!r}; thresher recipes list shows them")
        found = datasets.list_datasets(session, known.id if known else None, limit=limit, before=before)
        return [_view(session, each) for each in found]


def show_dataset(store: Store, name: str) -> DataSetView:
    """One data set: by its number, or the newest of a recipe."""
    with store.read() as session:
        return _view(session, _found(session, name))


def _found(session: Session, name: str) -> DataSet:
    if _NUMBER.fullmatch(name):
        return datasets.get_dataset(session, int(name))
    recipe = find_recipe(session, name)
    newest = datasets.list_datasets(session, recipe.id, limit=1) if recipe else []
    if not newest:
        raise UnknownName(
            f"there is no data set {name[:80]!r}; write its number, or a recipe that was extracted: thresher datasets list"
        )
    return newest[0]


def _view(session: Session, found: DataSet) -> DataSetView:
    coverage = found.coverage or ({} if found.ended_at else datasets.read_coverage(session, found.id))
    return DataSetView(
        found.id,
        found.recipe_name,
        found.extraction_id,
        found.version,
        found.entity.name,
        found.created_at,
        found.ended_at or None,
        found.items,
        found.unverified,
        tuple(_covered(each.name, coverage, found.items) for each in found.entity.schema.fields),
    )


def _covered(name: str, coverage: Mapping[str, Mapping[str, int]], items: int) -> FieldCoverage:
    counted = coverage.get(name, {})
    number = counted.get("items", 0)
    return FieldCoverage(name, number, counted.get("verified", 0), number / items if items else 0.0)


def list_items(
    store: Store, name: str, *, verified: bool | None = None, after: int = 0, limit: int = 50
) -> list[DataItem]:
    """Items of a data set in the order in which they were stored."""
    with store.read() as session:
        found = _found(session, name)
        return datasets.list_items(session, found.id, verified=verified, after=after, limit=limit)


def show_item(store: Store, name: str, key: str) -> DataItem:
    """One item, by its key."""
    with store.read() as session:
        found = datasets.find_item(session, _found(session, name).id, key)
    if found is None:
        raise UnknownName(f"data set {name} has no item {key[:80]!r}")
    return found


def json_schema(store: Store, name: str) -> dict[str, Any]:
    """The JSON Schema of one item."""
    with store.read() as session:
        return result_schema(_found(session, name).entity.schema)


# Compare


def diff(
    store: Store, old: str, new: str, *, what: str | None = None, after: str = "", limit: int = 100
) -> DataSetDiff:
    """What is new, changed and gone from one data set to another of the same entity. `after` is the key of
    the last item that was seen of those of one kind.
    """
    if what is not None and what not in CHANGES:
        raise UsageError(f"there are no {what!r} items; write one of {', '.join(CHANGES)}")
    if after and what is None:
        raise UsageError(f"to go on after an item, say in which list it stands: one of {', '.join(CHANGES)}")
    with store.read() as session:
        was, now = _found(session, old), _found(session, new)
        if was.entity.name != now.entity.name:
            raise UsageError(
                f"data set {was.id} has {was.entity.name} items and {now.id} has {now.entity.name} "
                "items; only data sets of one entity can be compared"
            )
        counts = datasets.count_diff(session, was.id, now.id)
        changes = [
            change
            for kind in ((what,) if what else CHANGES)
            for change in _changes(session, was, now, kind, after, limit + 1)
        ]
        shown, more = tuple(changes[:limit]), len(changes) > limit
        return DataSetDiff(_view(session, was), _view(session, now), counts, shown, more)


def _changes(
    session: Session, old: DataSet, new: DataSet, kind: str, after: str, limit: int
) -> Iterator[ItemChange]:
    for key in datasets.diff_keys(session, old.id, new.id, kind, after=after, limit=limit):
        was = datasets.find_item(session, old.id, key) if kind != "new" else None
        is_ = datasets.find_item(session, new.id, key) if kind != "gone" else None
        shown = is_ or was
        if shown is not None:
            yield ItemChange(kind, key, shown.url, name_of(shown), changed_fields(was, is_))


def changed_fields(was: DataItem | None, is_: DataItem | None) -> dict[str, tuple[Any, Any]]:
    """What two states of an item differ in."""
    if was is None or is_ is None:
        return {}
    names = sorted(was.values.keys() | is_.values.keys())
    return {
        name: (was.values.get(name), is_.values.get(name))
        for name in names
        if was.values.get(name) != is_.values.get(name)
    }


def name_of(item: DataItem) -> str:
    """What a person would call an item: its name or title, else its first value."""
    said = (item.values.get(each) for each in ("name", "title", "text", "headline"))
    return str(next((each for each in said if each), next(iter(item.values.values()), item.item_key)))


def previous_dataset(store: Store, name: str) -> DataSetView | None:
    """The data set of the same recipe before this one."""
    with store.read() as session:
        found = _found(session, name)
        before = datasets.list_datasets(session, found.recipe_id, limit=1, before=found.id)
        return _view(session, before[0]) if before else None


# Write


def export_dataset(
    store: Store, name: str, form: FileFormat, out: Path | BinaryIO, *, verified: bool | None = None
) -> Exported:
    """Write the items of a data set, each value beside the quote that proves it."""
    with store.read() as session:
        found = _found(session, name)
    what = export_of(found, verified)
    if isinstance(out, Path):
        return export_file(store, f"dataset-{found.id}", what, form, out)
    return Exported(f"dataset-{found.id}", form, export(store, f"dataset-{found.id}", what, form, out), "-")


def export_of(dataset: DataSet, verified: bool | None = None) -> Export:
    """The columns of a data set: its fields, where each item is from, and the evidence of each field."""
    names = [each.name for each in dataset.entity.schema.fields]
    columns = (
        *(f"{name}=values.{name}" for name in names),
        "url",
        "verified",
        "read_by",
        "doubts",
        *(f"{name}_evidence=quotes.{name}" for name in names),
        "item_key",
    )

    def rows(store: Store, _: str | None) -> Iterator[dict[str, Any]]:
        after = 0
        while found := _portion(store, dataset.id, verified, after):
            yield from map(_row, found)
            after = found[-1].id

    def lines(store: Store, _: str | None) -> Iterator[dict[str, Any]]:
        return map(_line, rows(store, None))

    return Export(rows, columns, (), lines, "; ")


def _portion(store: Store, dataset: int, verified: bool | None, after: int) -> Sequence[DataItem]:
    with store.read() as session:
        return datasets.list_items(session, dataset, verified=verified, after=after, limit=datasets.BATCH)


def _row(item: DataItem) -> dict[str, Any]:
    return {
        "values": item.values,
        "url": item.url,
        "verified": item.verified,
        "read_by": item.read_by,
        "doubts": list(item.doubts),
        "quotes": quotes_of(item),
        "item_key": item.item_key,
        "evidence": item.evidence,
    }


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("url", "verified", "read_by", "doubts", "evidence", "item_key")
    return {**row["values"], "_": {name: row[name] for name in kept}}


def quotes_of(item: DataItem) -> dict[str, str]:
    """The words of the page behind each field."""
    found: dict[str, list[str]] = {}
    for name, place in (item.evidence.get("places") or {}).items():
        if place and place.get("quote"):
            found.setdefault(name.partition(".")[0], []).append(place["quote"])
    return {name: "; ".join(dict.fromkeys(quotes)) for name, quotes in found.items()}
