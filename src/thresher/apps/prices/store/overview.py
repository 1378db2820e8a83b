"""What people see of items and sources: pages of items with their value, and how their collections stand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from thresher.apps.prices.model import Bands, Item, ItemStatus
from thresher.apps.prices.store.items import SELECT, item_of_row
from thresher.core.task import LIVE
from thresher.store.session import Row, Session

COLLECT = "collect_prices"
VALUE = "value_item"

_PAGE = {
    "after": "id > :after",
    "status": "status = :status",
    "kind": "kind = :kind",
    "text": "lower(name) like :text escape '!'",
    "live": "archived_at = 0",
}
_NEWEST = f"{SELECT} where archived_at = 0 order by id desc limit :limit"
_VALUES = """select item_id, currency, p10, p20, p40, median, p60, p80, p90, mean, confidence, comp_count, sold_count,
    ask_count, source_count, computed_at from price_valuations where item_id in (:items*)"""
_COLLECTED = (
    "select item_id, max(ended_at) from price_collections where item_id in (:items*) group by item_id"
)
_TASKS = f"""select kind, dedupe_key, id, state, error_name, reason from tasks where kind in ('{COLLECT}', '{VALUE}')
    and dedupe_key in (:keys*) and state in ({", ".join(f"'{state}'" for state in sorted(LIVE))})"""
_STATUSES = "select status, count(*) from price_items group by status"
_BY_SOURCE = """select source_id, coalesce(verdict, 'none'), count(*), sum(case when failures > 0 then 1 else 0 end)
    from price_collections group by source_id, coalesce(verdict, 'none')"""
_UNFOUND = """select i.id, i.name from price_items i where i.status = 'attributed'
    and exists (select 1 from price_collections c where c.item_id = i.id and c.ended_at > 0)
    and not exists (select 1 from price_collections c where c.item_id = i.id and c.counted > 0)
    order by i.id limit :limit"""
_FAILED = """select c.item_id, i.name, s.name, c.reason, c.failures from price_collections c
    join price_items i on i.id = c.item_id join price_sources s on s.id = c.source_id
    where c.failures > 0 and i.archived_at = 0 and s.retired_at = 0
    order by c.failures desc, c.item_id limit :limit"""
_FOREIGN = """select distinct p.currency, v.currency from price_points p join price_valuations v on v.item_id = p.item_id
    where p.currency <> v.currency"""
_DUE = "select count(*) from price_collections where source_id = :source and due_at <= :now"
_POINTS = """select counts, case when ended_at > 0 then 1 else 0 end, count(*) from price_points where item_id = :item
    group by counts, case when ended_at > 0 then 1 else 0 end"""


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items are listed: those of a status or a kind, with this text in their name."""

    status: ItemStatus | None = None
    kind: str | None = None
    text: str | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True)
class ItemValue:
    """The valuation of an item in figures. Without bands there is no evidence to go by."""

    item_id: int
    currency: str
    bands: Bands | None
    confidence: int | None
    comp_count: int
    sold_count: int
    ask_count: int
    source_count: int
    computed_at: int


@dataclass(frozen=True, slots=True)
class LiveTask:
    """A task that waits or runs. `error` and `reason` say how its last attempt failed."""

    id: int
    state: str
    error: str | None
    reason: str | None

    def waits(self) -> str:
        """What it waits for, in words."""
        if self.state == "running":
            return f"it is looked for now, by task {self.id}"
        if self.state == "retryable":
            why = f": {self.reason}" if self.reason else ""
            return (
                f"its last look failed{why}; it is tried again later, or now: thresher tasks retry {self.id}"
            )
        return f"task {self.id} waits for a worker: thresher run, or thresher worker"


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """At a source: the items that were looked for, those found, and those whose last look failed."""

    items: int = 0
    found: int = 0
    failing: int = 0


@dataclass(frozen=True, slots=True)
class FailedCollection:
    """An item whose last look at a source failed or proved nothing, and how often in a row."""

    item_id: int
    item: str
    source: str
    reason: str | None
    failures: int


@dataclass(frozen=True, slots=True)
class PointFigures:
    """The price points of an item: those that count, those that do not, and the asks that have ended."""

    counted: int = 0
    left_out: int = 0
    ended: int = 0


def page_of_items(session: Session, wanted: ItemFilter, after: int, limit: int) -> list[Item]:
    """Items that match, by id, those above `after`."""
    values: dict[str, str | int] = {"after": after, "limit": limit}
    clauses = [_PAGE["after"]]
    if wanted.status is not None:
        values["status"] = wanted.status.value
        clauses.append(_PAGE["status"])
    elif not wanted.archived:
        clauses.append(_PAGE["live"])
    if wanted.kind is not None:
        values["kind"] = wanted.kind
        clauses.append(_PAGE["kind"])
    if wanted.text is not None:
        values["text"] = f"%{_escaped(wanted.text.lower())}%"
        clauses.append(_PAGE["text"])
    sql = f"{SELECT} where {' and '.join(clauses)} order by id limit :limit"
    return [item_of_row(row) for row in session.rows(sql, values)]


def newest_items(session: Session, limit: int) -> list[Item]:
    """Live items, the newest first."""
    return [item_of_row(row) for row in session.rows(_NEWEST, {"limit": limit})]


def _escaped(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def values_of(session: Session, items: Sequence[int]) -> Mapping[int, ItemValue]:
    """The valuations of these items, by item."""
    rows = session.rows(_VALUES, {"items": list(items)}) if items else []
    return {row[0]: _value(row) for row in rows}


def _value(row: Row) -> ItemValue:
    item, currency, *figures = row
    amounts, (confidence, comps, sold, asks, sources, at) = figures[:8], figures[8:]
    bands = None if any(each is None for each in amounts) else Bands(*amounts)
    return ItemValue(item, currency, bands, confidence, comps, sold, asks, sources, at)


def collected_at(session: Session, items: Sequence[int]) -> Mapping[int, int]:
    """When each of these items was last looked for, by item."""
    rows = session.rows(_COLLECTED, {"items": list(items)}) if items else []
    return {item: at for item, at in rows if at}


def live_tasks(session: Session, keys: Iterable[str]) -> Mapping[tuple[str, str], LiveTask]:
    """The collections and valuations that wait or run, by kind and key."""
    found = session.rows(_TASKS, {"keys": list(keys)})
    return {(kind, key): LiveTask(*rest) for kind, key, *rest in found}


def count_statuses(session: Session) -> Mapping[str, int]:
    """How many items have each status."""
    return dict(session.rows(_STATUSES))


def figures_by_source(session: Session) -> Mapping[int, SourceFigures]:
    """What the collections at each source came to."""
    found: dict[int, SourceFigures] = {}
    for source, verdict, number, failing in session.rows(_BY_SOURCE):
        old = found.get(source, SourceFigures())
        more = number if verdict == "found" else 0
        found[source] = SourceFigures(old.items + number, old.found + more, old.failing + int(failing or 0))
    return found


def count_due(session: Session, source: int, now: int) -> int:
    """How many items are to be looked for at a source now."""
    return int(session.rows(_DUE, {"source": source, "now": now})[0][0])


def count_points(session: Session, item: int) -> PointFigures:
    """The price points of an item in figures."""
    counted = left_out = ended = 0
    for counts, over, number in session.rows(_POINTS, {"item": item}):
        if over:
            ended += number
        elif counts:
            counted += number
        else:
            left_out += number
    return PointFigures(counted, left_out, ended)


def items_without_evidence(session: Session, limit: int) -> list[tuple[int, str]]:
    """Items that were looked for and of which no listing counts: id and name."""
    return [(item, name) for item, name in session.rows(_UNFOUND, {"limit": limit})]


def failed_collections(session: Session, limit: int) -> list[FailedCollection]:
    """Items whose last look at a source failed or proved nothing, the most often first."""
    return [FailedCollection(*row) for row in session.rows(_FAILED, {"limit": limit})]


def foreign_currencies(session: Session) -> set[tuple[str, str]]:
    """The currencies of prices that are another than their item's, each with that of the item."""
    return {(price, item) for price, item in session.rows(_FOREIGN)}
