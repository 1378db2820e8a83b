"""Look for items now: which collections that makes, which not and why; and what collections wait for."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thresher.apps.prices.adapters.adapter import NotAsked
from thresher.apps.prices.adapters.known_adapters import adapter_of
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.kinds import kind_named
from thresher.apps.prices.model import Item, PriceSource
from thresher.apps.prices.refresh import REFRESH
from thresher.apps.prices.service.sources import NONE, REFRESH_KEY, shut_sentence, source_named, source_view
from thresher.apps.prices.store.collections import Collection, asked, collections_of
from thresher.apps.prices.store.items import find_item, list_items
from thresher.apps.prices.store.overview import COLLECT, LiveTask, live_tasks
from thresher.apps.prices.store.sources import list_price_sources
from thresher.core.errors import UnknownName, UsageError
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store.session import Session
from thresher.store.store import Store, Transaction

PORTION = 1_000  # items that are read at once
MAX_DIRECT = 500  # items whose collections are asked for one by one


@dataclass(frozen=True, slots=True)
class CollectionView:
    """How the collections of an item at one source stand. `verdict` is what the last look proved: found,
    confirmed_empty, unknown or blocked; None: there was none. `waits` says why nothing happens now, or what
    happens next; `task` is the live task.
    """

    source: str
    adapter: str
    verdict: str | None
    reason: str | None
    listings: int
    counted: int
    changes: int
    complete: bool
    from_cache: bool
    failures: int
    ended_at: int | None
    last_success_at: int | None
    due_at: int | None
    task: int | None
    state: str | None
    waits: str | None


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """What comes of asking one source for one item: a task, or why there is none. `task` None with `asked`: a
    dry run. With `why` and `asked` the task waits for what `why` says.
    """

    item: str
    source: str
    asked: bool
    why: str | None = None
    task: int | None = None


@dataclass(frozen=True, slots=True)
class Collected:
    """What came of `collect`. `added` are new tasks, `already` were under way."""

    added: int
    already: int
    not_asked: int
    dry_run: bool
    plans: tuple[CollectionPlan, ...]


_Planned = tuple[CollectionPlan, tuple[Item, PriceSource]]

# Which sources an item is looked for at


def sources_of(session: Session, item: Item) -> list[PriceSource]:
    """The sources that an item is looked for at: those that it names, else all. Retired ones are left out."""
    found = list_price_sources(session)
    return [each for each in found if not item.spec.sources or each.name in item.spec.sources]


def why_not(item: Item, source: PriceSource) -> str | None:
    """Why an item is not looked for at a source; None where it is."""
    if not item.is_live:
        return "the item is archived"
    if lacks := kind_named(item.spec.kind).lacking(item.spec.attributes):
        return f"the item lacks {', '.join(lacks)}"
    if not source.spec.adapter.collects:
        return "its prices are entered by a person"
    try:
        query = adapter_of(source.spec).query(item)
    except UsageError as problem:
        return str(problem)
    return query.reason if isinstance(query, NotAsked) else None


def look_for(transaction: Transaction, registry: Registry, items: Sequence[Item], now: int) -> int:
    """Ask for the collections that look for these items now; how many. Where they are many, the refresh asks
    for them in portions.
    """
    session = transaction.session
    pairs = [
        (item.id, source.id)
        for item in items
        for source in (sources_of(session, item) if len(items) <= MAX_DIRECT else ())
        if why_not(item, source) is None
    ]
    if len(items) > MAX_DIRECT:
        transaction.enqueue([registry.admit(NewTask(REFRESH, key=REFRESH_KEY))])
        return len(items) * len(list_price_sources(session))
    return _ask(transaction, registry, pairs, now)


def _ask(transaction: Transaction, registry: Registry, pairs: Sequence[tuple[int, int]], now: int) -> int:
    ids = transaction.enqueue([registry.admit(collect_task(*pair)) for pair in pairs])
    asked(transaction.session, {"pairs": pairs, "dropped": []}, now)
    return sum(each is not None for each in ids)


# Look now


def collect_now(
    store: Store,
    registry: Registry,
    names: Sequence[str] = (),
    sources: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> Collected:
    """Ask the sources for these items now, or for all. A dry run says which, and which not and why."""
    with store.read() as session:
        only = {source_named(session, each).name for each in sources}
        plans = [plan for item in _items(session, names) for plan in _plans(store, session, item, only)]
    wanted = [plan for plan, _ in plans if plan.asked]
    if dry_run:
        return Collected(0, 0, len(plans) - len(wanted), True, tuple(plan for plan, _ in plans))
    done: list[CollectionPlan] = []
    for at in range(0, len(plans), PORTION):
        done += _carry_out(store, registry, plans[at : at + PORTION])
    added = sum(each.task is not None for each in done)
    return Collected(added, len(wanted) - added, len(plans) - len(wanted), False, tuple(done))


def _carry_out(store: Store, registry: Registry, plans: Sequence[_Planned]) -> list[CollectionPlan]:
    wanted = [(item.id, source.id) for plan, (item, source) in plans if plan.asked]
    with store.transaction() as transaction:
        ids = iter(transaction.enqueue([registry.admit(collect_task(*pair)) for pair in wanted]))
        pairs = {"pairs": wanted, "dropped": []}
        asked(transaction.session, pairs, store.backend.now(transaction.session))
    return [_with_task(plan, next(ids)) if plan.asked else plan for plan, _ in plans]


def _with_task(plan: CollectionPlan, task: int | None) -> CollectionPlan:
    why = plan.why if task is not None or plan.why else "it is under way"
    return CollectionPlan(plan.item, plan.source, True, why, task)


def _items(session: Session, names: Sequence[str]) -> Iterator[Item]:
    for name in names:
        item = find_item(session, name)
        if item is None:
            raise UnknownName(f"there is no item {name[:80]!r}; thresher prices list shows them")
        yield item
    after = 0
    while not names and (found := list_items(session, after=after, limit=PORTION)):
        yield from found
        after = found[-1].id


def _plans(store: Store, session: Session, item: Item, only: set[str]) -> Iterator[_Planned]:
    now, sources = store.backend.now(session), list_price_sources(session)
    tasks = live_tasks(session, [f"{item.id}:{each.id}" for each in sources])
    for source in sources:
        if only and source.name not in only:
            continue
        if item.spec.sources and source.name not in item.spec.sources:
            why: str | None = f"the item names other sources: {', '.join(item.spec.sources)}"
        else:
            why = why_not(item, source)
        is_asked = why is None
        if is_asked:
            task = tasks.get((COLLECT, f"{item.id}:{source.id}"))
            shut = shut_sentence(source_view(session, source, NONE, now, os.environ))
            why = shut or (task.waits() if task else None)
        yield CollectionPlan(item.name, source.name, is_asked, why), (item, source)


# What collections wait for


def collection_views(session: Session, item: Item, now: int) -> list[CollectionView]:
    """How the collections of an item stand, by source: where it is looked for, and where it was."""
    stood = {each.source_id: each for each in collections_of(session, item.id)}
    wanted = {each.id: each for each in sources_of(session, item)}
    sources = {each.id: each for each in list_price_sources(session, retired=True)}
    ids = [each for each in sources if each in wanted or (each in stood and stood[each].ended_at)]
    tasks = live_tasks(session, [f"{item.id}:{each}" for each in ids])
    return [
        _view(
            session,
            item,
            sources[each],
            stood.get(each, Collection(item.id, each)),
            tasks.get((COLLECT, f"{item.id}:{each}")),
            now,
        )
        for each in ids
    ]


def _view(
    session: Session,
    item: Item,
    source: PriceSource,
    stood: Collection,
    task: LiveTask | None,
    now: int,
) -> CollectionView:
    return CollectionView(
        source.name,
        source.spec.adapter.value,
        stood.verdict.value if stood.verdict else None,
        stood.reason,
        stood.listings,
        stood.counted,
        stood.changes,
        stood.complete,
        stood.from_cache,
        stood.failures,
        stood.ended_at or None,
        stood.last_success_at or None,
        stood.due_at if stood.is_planned and stood.due_at and task is None else None,
        task.id if task else None,
        task.state if task else None,
        _waits(session, item, source, task, now),
    )


def _waits(session: Session, item: Item, source: PriceSource, task: LiveTask | None, now: int) -> str | None:
    if source.retired_at:
        return "the source is retired"
    if not source.spec.adapter.collects:
        return None  # nobody waits for a person
    if (why := why_not(item, source)) is not None:
        return why
    if (shut := shut_sentence(source_view(session, source, NONE, now, os.environ))) is not None:
        return shut
    return None if task is None else task.waits()
