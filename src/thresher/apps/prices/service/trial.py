"""A real look at a price source, for a person who asks: one page, judged for one item, and nothing kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from thresher.apps.prices.adapters.adapter import NotAsked
from thresher.apps.prices.adapters.known_adapters import adapter_of
from thresher.apps.prices.amounts import Money, amount_of
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import WHOLE, Item, JudgedListing, Listing, PriceSource, SourceRule
from thresher.apps.prices.service.items import item_named
from thresher.apps.prices.service.refresh import why_not
from thresher.apps.prices.service.sources import source_named
from thresher.apps.prices.store.overview import newest_items
from thresher.core.context import Context
from thresher.core.errors import TaskError, UsageError
from thresher.core.page import Verdict
from thresher.runtime import DirectFetch
from thresher.store.store import Store

SHOWN = 10  # listings of a trial
TRIED = 100  # items that are looked through for one that the source can be asked for


@dataclass(frozen=True, slots=True)
class TriedListing:
    """A listing as it was read and judged. Without a price none could be read for certain."""

    title: str
    price: Money | None
    price_type: str
    match_strength: float
    counts: bool
    reason: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class TriedSource:
    """What one page of a source shows. `verdict` is found, confirmed_empty, unknown or blocked; None: it
    could not be asked, and `reason` says why.
    """

    source: str
    item: str
    verdict: str | None
    reason: str
    listings: int
    total: int | None
    counted: int
    sample: tuple[TriedListing, ...]
    notes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        return self.verdict in (Verdict.FOUND.value, Verdict.CONFIRMED_EMPTY.value)


class TrialContext:
    """What an adapter uses of a stage's context. Nothing is learned, and no model is asked."""

    def __init__(self, direct: DirectFetch, now: Callable[[], int]) -> None:
        self.fetch, self.compute, self.now = direct.fetch, direct.compute, now

    async def learn(self, pages: object, schema: object) -> None:
        """Learn nothing from a look of a person."""
        del pages, schema

    async def extract(self, page: object, schema: object, **how: object) -> NoReturn:
        """Ask no model."""
        del page, schema, how
        raise UsageError("a model reads pages for workers only")


def trial_of(store: Store, source: str, item: str | None) -> tuple[PriceSource, Item]:
    """The source, and the item that it is asked for: without one the newest that can be looked for there.
    Raises UsageError that says what is missing.
    """
    with store.read() as session:
        found = source_named(session, source)
        if item is not None:
            return found, item_named(session, item)
        for candidate in newest_items(session, TRIED):
            if why_not(candidate, found) is None:
                return found, candidate
    raise UsageError(
        f"there is no item that {found.name} could be asked for; add one: thresher prices add NAME"
    )


async def try_source(
    source: PriceSource, item: Item, direct: DirectFetch, now: Callable[[], int], needed: int
) -> TriedSource:
    """Ask for the first page, and judge what it shows."""
    adapter = adapter_of(source.spec)
    query = adapter.query(item)
    if isinstance(query, NotAsked):
        return TriedSource(source.name, item.name, None, query.reason, 0, None, 0, ())
    ctx = cast("Context", TrialContext(direct, now))
    try:
        page = await adapter.fetch(ctx, query, None)
        found = await adapter.read(ctx, query, None, page)
        judged = await ctx.compute(_judged, found.listings, item, source.spec.rules, needed)
    except (TaskError, UsageError) as problem:
        why = f"{type(problem).__name__}: {problem}"
        return TriedSource(source.name, item.name, None, why, 0, None, 0, ())
    best = sorted(judged, key=lambda each: (not each.counts, -each.strength))
    return TriedSource(
        source.name,
        item.name,
        found.verdict.value,
        found.reason,
        len(found.listings),
        found.total,
        sum(each.counts for each in judged),
        tuple(_tried(each) for each in best[:SHOWN]),
        found.notes,
    )


def _judged(
    listings: Sequence[Listing], item: Item, rules: Sequence[SourceRule], needed: int
) -> list[JudgedListing]:
    return [judge(each, item, rules, needed) for each in listings]


def _tried(judged: JudgedListing) -> TriedListing:
    listing = judged.listing
    price: Any = None
    if listing.amount is not None and listing.currency:
        price = amount_of(listing.amount, listing.currency)
    return TriedListing(
        listing.title,
        price,
        listing.price_type.value,
        round(judged.strength / WHOLE, 3),
        judged.counts,
        judged.reason,
        listing.url,
    )
