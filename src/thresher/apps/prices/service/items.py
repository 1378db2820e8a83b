"""Items: add, import, change, list, show, watch, archive and bring them back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.apps.prices.amounts import Money, maybe_amount
from thresher.apps.prices.item_file import ItemWish, checked_item, refresh_of
from thresher.apps.prices.kinds import Attribute, kind_named, kinds
from thresher.apps.prices.model import Item, ItemSpec, ItemStatus, Origin
from thresher.apps.prices.service.refresh import CollectionView, collection_views, look_for
from thresher.apps.prices.store.items import find_item, item_of_id, save_item, set_status
from thresher.apps.prices.store.overview import (
    ItemFilter,
    ItemValue,
    PointFigures,
    collected_at,
    count_points,
    count_statuses,
    page_of_items,
    values_of,
)
from thresher.core.clock import SECOND
from thresher.core.errors import UnknownName, UsageError
from thresher.engine.registry import Registry
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_PAGE = 1_000
SECTION = "prices.items"
EVERY_ITEM = ItemFilter()


@dataclass(frozen=True, slots=True)
class ValueView:
    """What an item is worth, in figures. Without a median there is no evidence to go by. `quick_sale` is what
    it brings quickly, `fair_low` to `fair_high` a fair price, `premium` what a patient seller may ask.
    """

    currency: str
    median: Money | None
    quick_sale: Money | None
    fair_low: Money | None
    fair_high: Money | None
    premium: Money | None
    p10: Money | None
    p90: Money | None
    mean: Money | None
    confidence: int | None
    comp_count: int
    sold_count: int
    ask_count: int
    source_count: int
    computed_at: int


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item as people see it. `lacks` are the attributes without which it cannot be looked for.
    `refresh_seconds` is how often it is looked for; None: as its age and its prices suggest.
    """

    id: int
    name: str
    kind: str
    status: str
    attributes: Mapping[str, str]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    currency: str
    urls: tuple[str, ...]
    sources: tuple[str, ...]
    refresh_seconds: int | None
    lacks: tuple[str, ...]
    value: ValueView | None
    collected_at: int | None
    declared_in: str
    created_at: int
    updated_at: int
    archived_at: int | None


@dataclass(frozen=True, slots=True)
class ItemDetail:
    """An item with its price points in figures and how its collections stand. `waits` says, sentence by
    sentence, what it waits for.
    """

    item: ItemView
    points: PointFigures
    collections: list[CollectionView]
    waits: list[str]


@dataclass(frozen=True, slots=True)
class ItemChanged:
    """What became of an item that somebody added or changed. `collections` are the tasks that look for it
    now.
    """

    item: ItemView
    new: bool
    changed: bool
    collections: int


@dataclass(frozen=True, slots=True)
class ItemsImported:
    """What an import came to."""

    new: int
    changed: int
    unchanged: int
    collections: int
    skipped: int = 0
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttributeView:
    """One attribute of a kind. `takes` says what it may be: text, yes or no, or one of several words."""

    name: str
    title: str
    help: str
    required: bool
    takes: str


@dataclass(frozen=True, slots=True)
class KindView:
    """A kind of item with its attributes, in the order in which people are asked for them."""

    name: str
    title: str
    attributes: tuple[AttributeView, ...]


# Look


def list_kinds() -> list[KindView]:
    """The kinds of items."""
    return [
        KindView(kind.name, kind.title, tuple(_attribute_view(each) for each in kind.attributes))
        for kind in kinds().values()
    ]


def _attribute_view(attribute: Attribute) -> AttributeView:
    takes = "yes or no" if attribute.flag else ", ".join(attribute.choices) or "text"
    return AttributeView(attribute.name, attribute.title, attribute.help, attribute.required, takes)


def list_views(
    store: Store, wanted: ItemFilter = EVERY_ITEM, *, after: int = 0, limit: int = 100
) -> list[ItemView]:
    """Items by id, those above `after`."""
    with store.read() as session:
        found = page_of_items(session, wanted, after, min(limit, MAX_PAGE))
        return _views(session, found)


def _views(session: Session, items: Sequence[Item]) -> list[ItemView]:
    ids = [each.id for each in items]
    values, looked = values_of(session, ids), collected_at(session, ids)
    return [_view(each, values.get(each.id), looked.get(each.id)) for each in items]


def show_item(store: Store, name: str) -> ItemDetail:
    """One item, by name or id."""
    with store.read() as session:
        item = item_named(session, name)
        view = view_of(session, item)
        now = store.backend.now(session)
        collections = collection_views(session, item, now)
        return ItemDetail(view, count_points(session, item.id), collections, _waits(view, collections))


def view_of(session: Session, item: Item) -> ItemView:
    """An item as people see it."""
    (view,) = _views(session, [item])
    return view


def item_named(session: Session, name: str, lock: str = "") -> Item:
    """The item of this name or id. Raises UnknownName."""
    found = find_item(session, name, lock)
    if found is None:
        raise UnknownName(f"there is no item {name[:80]!r}; thresher prices list --archived shows them all")
    return found


def checked_status(text: str | None) -> ItemStatus | None:
    """A status by its name. Raises UsageError."""
    if text is None:
        return None
    if text not in tuple(ItemStatus):
        raise UsageError(f"{text[:40]!r} is no status; write one of {', '.join(ItemStatus)}")
    return ItemStatus(text)


def count_by_status(store: Store) -> Mapping[str, int]:
    """How many items have each status."""
    with store.read() as session:
        return count_statuses(session)


def _view(item: Item, value: ItemValue | None, looked: int | None) -> ItemView:
    spec = item.spec
    return ItemView(
        item.id,
        item.name,
        spec.kind,
        item.status.value,
        spec.attributes,
        spec.include,
        spec.exclude,
        spec.currency,
        spec.urls,
        spec.sources,
        item.refresh // SECOND or None,
        lacking(spec),
        None if value is None else _value_view(value),
        looked,
        item.origin.value,
        item.created_at,
        item.updated_at,
        item.archived_at or None,
    )


def _value_view(value: ItemValue) -> ValueView:
    def at(name: str) -> Money | None:
        return maybe_amount(getattr(value.bands, name) if value.bands else None, value.currency)

    return ValueView(
        value.currency,
        at("median"),
        at("p20"),
        at("p40"),
        at("p60"),
        at("p80"),
        at("p10"),
        at("p90"),
        at("mean"),
        value.confidence,
        value.comp_count,
        value.sold_count,
        value.ask_count,
        value.source_count,
        value.computed_at,
    )


def lacking(spec: ItemSpec) -> tuple[str, ...]:
    """The attributes without which an item cannot be looked for."""
    return kind_named(spec.kind).lacking(spec.attributes)


def _waits(view: ItemView, collections: Sequence[CollectionView]) -> list[str]:
    """What an item waits for, in sentences."""
    if view.archived_at:
        return [f"it is archived; thresher prices unarchive {view.id} brings it back"]
    if view.lacks:
        example = " ".join(f"--set {each}=..." for each in view.lacks)
        return [f"it lacks {', '.join(view.lacks)}: thresher prices change {view.id} {example}"]
    if not collections:
        return ["there is no source to look at: thresher prices sources add --help"]
    return [f"{each.source}: {each.waits}" for each in collections if each.waits]


# Change


def add_item(store: Store, registry: Registry, name: str, said: Mapping[str, Any]) -> ItemChanged:
    """Add an item and look for it, or have one that is known be as it is said now. Raises UsageError that
    names what is wrong.
    """
    wish = checked_item(name, said)
    return _changed(store, registry, lambda _: wish)


def change_item(
    store: Store,
    registry: Registry,
    name: str,
    said: Mapping[str, Any],
    *,
    attributes: Mapping[str, Any] = {},
) -> ItemChanged:
    """Change what is said of an item; what is not named stays. `attributes` are changed one by one; an empty
    one is taken away.
    """

    def changed(session: Session) -> ItemWish:
        known = item_named(session, name)
        old = said_of(known)
        both = {**old, **said}
        both["attributes"] = {**both.get("attributes", {}), **attributes}
        return checked_item(known.name, both)

    return _changed(store, registry, changed)


def watch_item(store: Store, name: str, every: str) -> ItemView:
    """Have an item looked for this often: 12h, 7d; auto leaves it to its age and its prices."""
    try:
        refresh = refresh_of(every)
    except UsageError as problem:
        raise UsageError(f"every: {problem}") from None

    def work(session: Session) -> int:
        item = item_named(session, name, session.dialect.lock)
        _refuse_declared(item, "refresh")
        if not item.is_live:
            raise UsageError(f"{item.name!r} is archived; thresher prices unarchive {item.id} brings it back")
        save_item(session, item.spec, item.status, item.origin, refresh, store.backend.now(session))
        return item.id

    return _shown(store, in_transaction(store, work))


def import_items(
    store: Store,
    registry: Registry,
    wishes: Sequence[ItemWish],
    *,
    skipped: int = 0,
    ignored: Sequence[str] = (),
) -> ItemsImported:
    """Have these items, all or none."""
    new = changed = 0
    to_look_for: list[Item] = []
    with store.transaction() as transaction:
        session, now = transaction.session, store.backend.now(transaction.session)
        for wish in wishes:
            known = find_named(session, wish.spec.name)
            saved = _save(session, known, wish, now)
            new += known is None
            changed += saved is not None and known is not None
            if saved is not None and is_other(known, wish):
                to_look_for.append(saved)
        collections = look_for(transaction, registry, to_look_for, now)
    unchanged = len(wishes) - new - changed
    return ItemsImported(new, changed, unchanged, collections, skipped, tuple(ignored))


def archive_item(store: Store, name: str) -> ItemView:
    """Look for an item no more. What is known of it is kept."""

    def work(session: Session) -> int:
        item = item_named(session, name, session.dialect.lock)
        if item.is_live:
            _refuse_declared(item)
            set_status(session, item.id, ItemStatus.ARCHIVED, store.backend.now(session))
        return item.id

    return _shown(store, in_transaction(store, work))


def unarchive_item(store: Store, registry: Registry, name: str) -> ItemChanged:
    """Look for an archived item again."""

    def as_it_was(session: Session) -> ItemWish:
        item = item_named(session, name)
        return ItemWish(item.spec, item.refresh)

    return _changed(store, registry, as_it_was)


def said_of(item: Item) -> dict[str, Any]:
    """An item as somebody would say it."""
    spec = item.spec
    return {
        "kind": spec.kind,
        "attributes": dict(spec.attributes),
        "include": list(spec.include),
        "exclude": list(spec.exclude),
        "currency": spec.currency,
        "urls": list(spec.urls),
        "sources": list(spec.sources),
        "refresh": f"{item.refresh // SECOND}s" if item.refresh else None,
    }


def _changed(store: Store, registry: Registry, make: Callable[[Session], ItemWish]) -> ItemChanged:
    with store.transaction() as transaction:
        session, now = transaction.session, store.backend.now(transaction.session)
        wish = make(session)
        known = find_named(session, wish.spec.name)
        saved = _save(session, known, wish, now)
        is_due = saved is not None and is_other(known, wish)
        collections = look_for(transaction, registry, [saved], now) if saved is not None and is_due else 0
        item = find_named(session, wish.spec.name)
        assert item is not None
        view = view_of(session, item)
    return ItemChanged(view, known is None, saved is not None, collections)


def find_named(session: Session, name: str) -> Item | None:
    """The item of exactly this name: a name of digits is no id here."""
    found = find_item(session, name, session.dialect.lock)
    return found if found is not None and found.name == name else None


def _save(session: Session, known: Item | None, wish: ItemWish, now: int) -> Item | None:
    """Write an item as a person says it; None where nothing is changed."""
    if known is not None and known.is_live:
        if (known.spec, known.refresh) == (wish.spec, wish.refresh):
            return None
        _refuse_declared(known)
    return save_wish(session, known, wish, Origin.PERSON, now)


def save_wish(session: Session, known: Item | None, wish: ItemWish, origin: Origin, now: int) -> Item:
    """Write an item with the status that it has come to."""
    item = save_item(session, wish.spec, _status(session, known, wish.spec), origin, wish.refresh, now)
    saved = item_of_id(session, item)
    assert saved is not None
    return saved


def is_other(known: Item | None, wish: ItemWish) -> bool:
    """Whether an item is looked for anew: it is new, comes back, or another thing is said of it."""
    return known is None or not known.is_live or known.spec != wish.spec


def _status(session: Session, known: Item | None, spec: ItemSpec) -> ItemStatus:
    """PENDING until it says all that its kind needs, PRICED once there is a price."""
    if lacking(spec):
        return ItemStatus.PENDING
    value = values_of(session, [known.id]).get(known.id) if known is not None else None
    return ItemStatus.PRICED if value is not None and value.bands is not None else ItemStatus.ATTRIBUTED


def _refuse_declared(item: Item, key: str = "") -> None:
    if item.origin is Origin.FILE:
        place = f"{SECTION}.{item.name}" + (f".{key}" if key else "")
        raise UsageError(f"the project file declares the item {item.name!r}; change it there: {place}")


def _shown(store: Store, item: int) -> ItemView:
    with store.read() as session:
        found = item_of_id(session, item)
        assert found is not None
        return view_of(session, found)
