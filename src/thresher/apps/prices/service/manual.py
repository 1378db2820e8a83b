"""Prices that a person enters or imports from a CSV file: judged and filed as those of any other source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import orjson

from thresher.apps.prices.adapters.csv import (
    MAX_NOTES,
    PORTION,
    BadCell,
    RowDefaults,
    checked_header,
    listing_of,
    read_file,
)
from thresher.apps.prices.collect import judge_page
from thresher.apps.prices.kinds import kind_named
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import Adapter, Item, Listing, Origin, PriceSource, PriceType, SourceSpec
from thresher.apps.prices.money import money
from thresher.apps.prices.store.items import find_item
from thresher.apps.prices.store.points import file_points
from thresher.apps.prices.store.sources import (
    find_price_source,
    list_price_sources,
    price_source_of_id,
    save_price_source,
)
from thresher.apps.prices.store.valuations import request_valuation
from thresher.apps.prices.valuing import value_task
from thresher.core.clock import day_of
from thresher.core.errors import UnknownName, UsageError
from thresher.engine.registry import Registry
from thresher.store.blobs import hold, pack
from thresher.store.session import Session
from thresher.store.store import Store, Transaction

MANUAL = "manual"  # the source of what a person enters, unless there is another one
MAX_ROWS = 10_000
TIER = 3
REPUTATION = 0.7


@dataclass(frozen=True, slots=True)
class EnteredPoint:
    """One price that somebody entered, and how it was judged. `reason` says why it does not count."""

    place: str
    title: str
    price: str
    type: PriceType
    date: date | None
    match_strength: int
    counts: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class PointsAdded:
    """What came of entering prices. `bad` are rows that could not be read, by line and column; `filed` counts
    new and changed points. A dry run files nothing.
    """

    item: str
    source: str
    points: tuple[EnteredPoint, ...]
    bad: tuple[str, ...]
    bad_rows: int
    filed: Mapping[str, int]
    dry_run: bool

    @property
    def counted(self) -> int:
        return sum(each.counts for each in self.points)


@dataclass(frozen=True, slots=True)
class Entered:
    """Rows as they were read."""

    listings: tuple[Listing, ...]
    bad: tuple[str, ...]
    bad_rows: int
    body: bytes


def add_points(
    store: Store,
    registry: Registry,
    item: str,
    rows: Sequence[Mapping[str, str]],
    *,
    source: str | None = None,
    dry_run: bool = False,
) -> PointsAdded:
    """Enter prices of an item: rows with title, price, currency, type, url, id, date, condition, quantity,
    and aspects. Without a title a row is about the item itself. All are filed or, with one bad row, none.
    """
    if not 0 < len(rows) <= MAX_ROWS:
        raise UsageError(f"enter 1 to {MAX_ROWS:,} prices at once, got {len(rows):,}")
    with store.read() as session:
        found, now = _item(session, item), store.backend.now(session)
    defaults = RowDefaults(day_of(now), currency=found.spec.currency)
    listings = tuple(_entered(row, found, defaults, at) for at, row in enumerate(rows, 1))
    body = orjson.dumps([dict(row) for row in rows])
    return _file(store, registry, found, Entered(listings, (), 0, body), source, dry_run=dry_run)


def _entered(row: Mapping[str, str], item: Item, defaults: RowDefaults, at: int) -> Listing:
    """The listing of one row. Raises UsageError that names the row and the column."""
    try:
        said = checked_header(row)
        if not said.get(
            "title", ""
        ).strip():  # it is about the item itself, and so it is all that the item is
            said = {**_aspects(item), **said, "title": item.name}
        return listing_of(said, defaults, f"row {at}")
    except BadCell as problem:
        raise UsageError(f"row {at}, {problem}. Nothing was entered.") from None


def _aspects(item: Item) -> dict[str, str]:
    """What is said of an item, as a listing would say it."""
    said = item.spec.attributes
    return {
        each.name: said[each.name]
        for each in kind_named(item.spec.kind).attributes
        if each.name in said and not each.flag
    }


def import_points(
    store: Store,
    registry: Registry,
    item: str,
    body: bytes,
    *,
    source: str | None = None,
    day_first: bool | None = None,
    dry_run: bool = False,
) -> PointsAdded:
    """Enter the prices of a CSV file. Rows that cannot be read are named and left out; the others are filed.
    A dry run says how each row is judged, and files nothing.
    """
    with store.read() as session:
        found, now = _item(session, item), store.backend.now(session)
    defaults = RowDefaults(day_of(now), currency=found.spec.currency, day_first=day_first)
    return _file(store, registry, found, _read(body, defaults), source, dry_run=dry_run)


def _read(body: bytes, defaults: RowDefaults) -> Entered:
    """All rows of a file. Raises UsageError for one that has none."""
    listings: list[Listing] = []
    bad: list[str] = []
    bad_rows = start = 0
    while True:
        page = read_file(body, start, defaults)
        listings += page.listings
        bad += page.notes
        bad_rows += page.bad_rows
        if page.next is None:
            break
        start += PORTION
        if start >= MAX_ROWS:
            raise UsageError(f"the file has over {MAX_ROWS:,} rows; split it. Nothing was entered.")
    if not listings:
        raise UsageError(f"{page.reason}. Nothing was entered.")
    return Entered(tuple(listings), tuple(bad[:MAX_NOTES]), bad_rows, body)


def _file(
    store: Store, registry: Registry, item: Item, entered: Entered, source: str | None, *, dry_run: bool
) -> PointsAdded:
    needed = int(store.settings["prices.match_needed"])
    with store.read() as session:
        wanted = _manual_source(session, source)
    rules = wanted.spec.rules if wanted is not None else ()
    points = tuple(_judged(each, item, needed, wanted) for each in entered.listings)
    name = wanted.name if wanted is not None else MANUAL
    told = (item.name, name, points, entered.bad, entered.bad_rows)
    if dry_run:
        return PointsAdded(*told, {}, dry_run=True)
    packed = pack(entered.body)
    with store.transaction() as transaction:
        session, now = transaction.session, store.backend.now(transaction.session)
        into = _made_source(session, name, now)
        hold(session, packed, now, session.dialect.lock)
        rows = judge_page(entered.listings, item, rules, needed, now, packed.hash, whole=False).rows
        said = {"item": item.id, "source": into.id, "rows": rows, "bodies": [packed.hash], "observed_at": now}
        filed = file_points(session, said, now)
        _have_valued(transaction, registry, item.id, now)
    return PointsAdded(*told, filed, dry_run=False)


def _have_valued(transaction: Transaction, registry: Registry, item: int, now: int) -> None:
    request_valuation(transaction.session, {"item": item}, now)
    transaction.enqueue([registry.admit(value_task(item))])


def _judged(listing: Listing, item: Item, needed: int, source: PriceSource | None) -> EnteredPoint:
    found = judge(listing, item, source.spec.rules if source is not None else (), needed)
    assert listing.amount is not None
    assert listing.currency is not None
    return EnteredPoint(
        listing.place,
        listing.title,
        money(listing.amount, listing.currency),
        listing.price_type,
        listing.listed_on,
        found.strength,
        found.counts,
        found.reason,
    )


def _item(session: Session, name: str) -> Item:
    found = find_item(session, name)
    if found is None:
        raise UnknownName(f"there is no item {name[:80]!r}; thresher prices list --archived shows them all")
    if not found.is_live:
        raise UsageError(f"{found.name} is archived; unarchive it first. Nothing was entered.")
    return found


def _manual_source(session: Session, name: str | None) -> PriceSource | None:
    """The source that a person's entries belong to; None where the usual one is still to be made."""
    manual = [each for each in list_price_sources(session) if each.spec.adapter is Adapter.MANUAL]
    if name is None:
        usual = next((each for each in manual if each.name == MANUAL), None)
        if usual is None and len(manual) > 1:
            raise UsageError(
                f"say which source the prices belong to: {', '.join(each.name for each in manual)}"
            )
        name = usual.name if usual is not None else manual[0].name if manual else MANUAL
    found = find_price_source(session, name)
    if found is None and name == MANUAL:
        return None
    if found is None:
        raise UnknownName(f"there is no price source {name[:60]!r}; thresher prices sources list shows them")
    if found.spec.adapter is not Adapter.MANUAL:
        raise UsageError(
            f"{found.name} is a {found.spec.adapter} source, and prices are entered for manual ones; add "
            f"one with the adapter manual, or name another"
        )
    return found


def _made_source(session: Session, name: str, now: int) -> PriceSource:
    found = find_price_source(session, name)
    if found is None or found.retired_at:
        spec = SourceSpec(name, Adapter.MANUAL, tier=TIER, reputation=REPUTATION, rate_per_minute=None)
        found = price_source_of_id(session, save_price_source(session, spec, Origin.PERSON, now))
    assert found is not None
    return found
