"""collect_prices: look for one item at one source, a page per attempt, and file what is about the item.

    look     without gates: what is known of the pair, and whether the cache has the answer already
    ask      through the source's gate and its host's: fetch a page, read it, judge each listing

The cache asks nobody, so a hit costs neither the source's rate nor its breaker. Whatever is asked waits for
both gates before every page, in whichever process: a paused or disabled source is waited for.

Each page is filed in the transaction that says where the list goes on: whoever is killed between two pages
loses none and repeats none. An answer that proves nothing ends no asking price and is no success.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceAdapter, SourceQuery
from thresher.apps.prices.adapters.catalogue import missing_variables
from thresher.apps.prices.adapters.known_adapters import adapter_of
from thresher.apps.prices.cadence import price_cadence_of
from thresher.apps.prices.kinds import kinds
from thresher.apps.prices.matching.judge import judge
from thresher.apps.prices.model import Adapter, Item, Listing, PriceSource, SourceRule
from thresher.apps.prices.point_row import PointRow, point_row
from thresher.apps.prices.store.answers import (
    StoredAnswer,
    StoredPage,
    cache_us,
    may_keep,
    stored_page,
)
from thresher.apps.prices.store.collections import Collection, spec_text
from thresher.apps.prices.valuing import requests
from thresher.core.clock import HOUR
from thresher.core.context import Context
from thresher.core.errors import (
    Blocked,
    ClaimLost,
    Gone,
    InvalidPayload,
    NotYet,
    RateLimited,
    TaskError,
    ThresherError,
    UnknownName,
)
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Effect, Failed, Finds, Next, Outcome, Skipped, Snooze
from thresher.core.page import Page, Verdict
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.settlement import Error
from thresher.core.stored import read as read_stored
from thresher.core.stored import written
from thresher.core.task import NewTask, Task

COLLECT = "collect_prices"
MAX_SECONDS = 300.0  # for one page, with the waits at its host's gate
# A list that was interrupted for longer begins again: its first pages may have changed meanwhile.
MAX_PAUSE = HOUR
MAX_RESTARTS = 2  # of one collection; a list that changes all the time is cut short then
MAX_NOTES = 5
KEYS_WAIT = 300.0  # seconds: another worker may have what this one lacks
MAX_NOTE = 300  # characters


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a list was read: the checkpoint. `gate` and `host` are what its next page goes through, `key`
    is the hash of the query. `began_at` and `asked_at` are when the first and the last page were fetched.
    `answer` are the pages so far, as the cache keeps them; None once there are too many to keep.
    """

    NOT_STORED: ClassVar = (None, 0, ())

    gate: str = ""
    host: str | None = None
    key: str = ""
    began_at: int = 0
    asked_at: int = 0
    cursor: str | None = None
    pages: int = 0
    listings: int = 0
    counted: int = 0
    unpriced: int = 0
    unproven: str | None = None
    capped: bool = False
    restarts: int = 0
    notes: tuple[str, ...] = ()
    answer: tuple[StoredPage, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What a page is as evidence about an item: rows to file, and how many of its listings count, or have no
    price that could be read.
    """

    rows: tuple[PointRow, ...] = ()
    counted: int = 0
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class OpenCollection:
    """An item and a source that are both live, what is known of the two, and how the source is asked."""

    item: Item
    source: PriceSource
    before: Collection | None
    adapter: SourceAdapter
    query: SourceQuery

    @property
    def pair(self) -> dict[str, int]:
        return {"item": self.item.id, "source": self.source.id}


def collect_task(item: int, source: int) -> NewTask:
    """The task that looks for an item at a source; one at a time."""
    return NewTask(COLLECT, {"item": item, "source": source}, key=f"{item}:{source}")


def gates(trip: Trip) -> tuple[str, ...]:
    """The source, and the host of what it is asked for next, as far as it is known."""
    host = trip.checkpoint.get("host")
    return (trip.checkpoint["gate"], *((host,) if host else ()))


async def look(ctx: Context) -> Outcome:
    """See whether anything is to be asked, and whether the cache has the answer."""
    todo = await _open(ctx)
    if not isinstance(todo, OpenCollection):
        return todo
    return await _from_cache(ctx, todo) or Next(checkpoint=_stored(_fresh(todo)))


async def ask(ctx: Context) -> Outcome:
    """Ask for the page that is next."""
    todo = await _open(ctx)
    if not isinstance(todo, OpenCollection):
        return todo
    progress = read_stored(Progress, ctx.task.checkpoint)
    if _must_restart(todo, progress, ctx.now()):
        progress = replace(_fresh(todo), restarts=progress.restarts)
    if progress.pages == 0 and (found := await _from_cache(ctx, todo)):
        return found  # another task has asked the same meanwhile
    if missing := missing_variables(todo.source.spec, os.environ):
        return Snooze(
            KEYS_WAIT,
            f"{todo.source.name} needs {', '.join(missing)}, which is not set where this worker runs",
        )
    try:
        page = await todo.adapter.fetch(ctx, todo.query, progress.cursor)
    except (Gone, InvalidPayload) as problem:
        if progress.cursor is None:
            raise _blamed(todo, problem) from problem
        return _without_cursor(ctx, todo, progress, str(problem))
    except TaskError as problem:
        raise _blamed(todo, problem) from problem
    return await _keep(ctx, todo, progress, page)


# What is asked


async def _open(ctx: Context) -> OpenCollection | Skipped:
    """The item and the source, or why nothing is asked."""
    pair = {"item": int(ctx.task.payload["item"]), "source": int(ctx.task.payload["source"])}
    item, source, before = await ctx.read("prices.pair", pair)
    if why := _not_live(item, source):
        return _skip(pair, why)
    if item.spec.sources and source.name not in item.spec.sources:
        return _skip(pair, f"{item.name} is looked for at {', '.join(item.spec.sources)} only")
    adapter = adapter_of(source.spec)
    query = adapter.query(item)
    if isinstance(query, NotAsked):
        return _skip(pair, query.reason)
    return OpenCollection(item, source, before, adapter, query)


def _not_live(item: Item | None, source: PriceSource | None) -> str | None:
    if item is None:
        return "the item is not there any more"
    if source is None:
        return "the source is not there any more"
    if not item.is_live:
        return f"{item.name} is archived"
    if lacking := _lacking(item):
        return f"{item.name} lacks {', '.join(lacking)}"
    if source.retired_at:
        return f"the source {source.name} is retired"
    if not source.spec.adapter.collects:
        return f"the prices of {source.name} are entered manually"
    return None


def _lacking(item: Item) -> tuple[str, ...]:
    """The attributes without which an item of its kind is not looked for."""
    kind = kinds().get(item.spec.kind)  # None: of a newer release
    return kind.lacking(item.spec.attributes) if kind is not None else ()


def _skip(pair: Mapping[str, int], reason: str) -> Skipped:
    return Skipped(reason, effects=(Effect("prices.collection_skipped", {**pair, "reason": reason}),))


def _fresh(todo: OpenCollection) -> Progress:
    """A list that begins. The host of the first page is known where the query names its address."""
    host = host_gate(todo.query.urls[0]) if todo.query.urls else None
    return Progress(todo.source.gate, host, todo.query.key(todo.source.spec))


def _must_restart(todo: OpenCollection, progress: Progress, now: int) -> bool:
    """Whether the pages that were read are no longer the beginning of the list: the item or the source was
    changed, or it was interrupted for long.
    """
    if progress.key != todo.query.key(todo.source.spec):
        return True
    return progress.pages > 0 and now - progress.asked_at > MAX_PAUSE


def _without_cursor(ctx: Context, todo: OpenCollection, progress: Progress, why: str) -> Outcome:
    """The place in the list no longer holds: begin again, but not for ever."""
    if progress.restarts < MAX_RESTARTS:
        again = replace(_fresh(todo), restarts=progress.restarts + 1)
        return Next(checkpoint=_stored(again), again=True)
    notes = _noted(progress, f"the list is cut short: {why}")
    return _finished(ctx, todo, replace(progress, capped=True, answer=None, notes=notes), ())


def _blamed(todo: OpenCollection, problem: ThresherError) -> ThresherError:
    """The same trouble, with the source's gate to blame. Product pages are of many hosts, so there it is the
    host's.
    """
    is_blamed = isinstance(problem, TaskError) and not isinstance(problem, NotYet | ClaimLost)
    if not is_blamed or todo.source.spec.adapter is Adapter.PAGE:
        return problem
    assert isinstance(problem, TaskError)
    if isinstance(problem, RateLimited):
        told = RateLimited(str(problem), retry_after=problem.retry_after, gate=todo.source.gate)
        told.asked, told.near = problem.asked, True
        return told
    problem.gate, problem.near = todo.source.gate, True
    return problem


# One page


async def _keep(ctx: Context, todo: OpenCollection, progress: Progress, page: Page) -> Outcome:
    """A page that was fetched: keep its body, file what it says about the item, and go on or end."""
    if not page.fetched_at:
        page = replace(page, fetched_at=ctx.now())
    body = await ctx.save(page.body)
    found = await todo.adapter.read(ctx, todo.query, progress.cursor, page)
    if found.verdict is Verdict.BLOCKED:
        raise _blamed(todo, Blocked(found.reason))
    judged = await _judged(ctx, todo, found.listings, page.fetched_at, body)
    kept = stored_page(page, body, progress.cursor)
    progress = replace(_after(progress, found, judged), answer=_answer(progress, kept))
    began_at = min(progress.began_at or page.fetched_at, page.fetched_at)
    progress = replace(progress, began_at=began_at, asked_at=ctx.now(), host=_next_host(todo, page))
    effects = _filed(todo, judged, progress, page.fetched_at, body)
    # Product pages are each by itself; of any other list nobody knows where it goes on.
    goes_on = found.verdict.is_proof or todo.source.spec.adapter is Adapter.PAGE
    if found.next is None or not goes_on:
        return _finished(ctx, todo, progress, effects)
    if progress.pages >= (most := int(ctx.setting("prices.max_pages"))):
        why = f"the list is cut short after {_many(most, 'page')} (prices.max_pages)"
        if found.unseen:  # what was paid comes before what is asked for
            why += f", and nothing was asked for of {', '.join(found.unseen)}"
        return _finished(ctx, todo, replace(progress, capped=True, notes=_noted(progress, why)), effects)
    return Next(checkpoint=_stored(replace(progress, cursor=found.next)), again=True, effects=effects)


def _next_host(todo: OpenCollection, page: Page) -> str | None:
    """The host of the page that is next: that of this one, unless each page has one of its own."""
    if not page.url.startswith(("https://", "http://")):
        return None
    hosts = {host_gate(each) for each in (page.url, *todo.query.urls)}
    return hosts.pop() if len(hosts) == 1 else None


def _answer(progress: Progress, page: StoredPage) -> tuple[StoredPage, ...] | None:
    if progress.answer is None:
        return None
    pages = (*progress.answer, page)
    return pages if may_keep(pages) else None


async def _judged(
    ctx: Context, todo: OpenCollection, listings: Sequence[Listing], observed_at: int, body: str
) -> Judged:
    """Judge the listings in a process that can be killed: their titles are strangers' words."""
    needed = int(ctx.setting("prices.match_needed"))
    whole = todo.source.spec.adapter is Adapter.CSV
    said = (tuple(listings), todo.item, todo.source.spec.rules, needed, observed_at, body, whole)
    return await ctx.compute(judge_page, *said) if listings else Judged()


def judge_page(
    listings: Sequence[Listing],
    item: Item,
    rules: Sequence[SourceRule],
    needed: int,
    observed_at: int,
    body: str | None,
    whole: bool,
) -> Judged:
    """Judge each listing as evidence about an item. `whole`: the list is not what was found for the item but
    all that the source has, so what is about something else is not filed.
    """
    rows, counted, unpriced = [], 0, 0
    for listing in listings:
        judged = judge(listing, item, rules, needed)
        if whole and judged.strength < needed:
            continue
        row = point_row(judged, observed_at, body)
        if row is None:
            unpriced += 1
            continue
        rows.append(row)
        counted += row.counts
    return Judged(tuple(rows), counted, unpriced)


def _after(progress: Progress, found: ListingPage, judged: Judged) -> Progress:
    """The progress after a page."""
    notes = progress.notes
    for note in found.notes:
        notes = _noted(replace(progress, notes=notes), note)
    return replace(
        progress,
        pages=progress.pages + 1,
        listings=progress.listings + len(found.listings),
        counted=progress.counted + judged.counted,
        unpriced=progress.unpriced + judged.unpriced,
        unproven=progress.unproven if found.verdict.is_proof else found.reason[:MAX_NOTE],
        capped=progress.capped or found.capped,
        notes=notes,
    )


def _noted(progress: Progress, note: str) -> tuple[str, ...]:
    """The first notes, each cut to what a person reads."""
    return (*progress.notes, note[:MAX_NOTE])[:MAX_NOTES]


def _filed(
    todo: OpenCollection, judged: Judged, progress: Progress, observed_at: int, body: str
) -> tuple[Effect, ...]:
    if not judged.rows:
        return ()
    seen = {"observed_at": observed_at, "began_at": progress.began_at}
    return (Effect("prices.file_points", {**todo.pair, "rows": list(judged.rows), "bodies": [body], **seen}),)


# The end


def _finished(
    ctx: Context,
    todo: OpenCollection,
    progress: Progress,
    effects: tuple[Effect, ...],
    *,
    from_cache: bool = False,
) -> Outcome:
    """The end of a collection: what it proves, and what follows from that."""
    verdict, complete = _verdict(progress), not progress.unproven and not progress.capped
    if complete and _ends_asks(verdict, todo.before):
        effects += (Effect("prices.end_asks", {**todo.pair, "began_at": progress.began_at}),)
    if not from_cache and not progress.unproven and verdict is Verdict.FOUND and progress.answer:
        effects += _cached(ctx, todo, progress, complete)
    reason = _reason(progress, verdict)
    effects += (
        Effect(
            "prices.collected",
            {
                **todo.pair,
                **cadence_data(ctx.setting),
                "spec": spec_text(todo.item.spec),
                "verdict": verdict.value,
                "reason": reason,
                "began_at": progress.began_at,
                "pages": progress.pages,
                "listings": progress.listings,
                "counted": progress.counted,
                "complete": complete,
                "from_cache": from_cache,
            },
        ),
    )
    children: tuple[NewTask, ...] = ()
    if verdict.is_proof or progress.listings:
        request, child = requests(todo.item.id, ctx.task.id)
        effects, children = (*effects, request), (child,)
    if not verdict.is_proof:
        return Failed(reason, effects=effects, children=children)
    return Done(f"{'from the cache: ' if from_cache else ''}{reason}", effects=effects, children=children)


def _verdict(progress: Progress) -> Verdict:
    """What the pages prove together. Listings on one page prove that the source could be read, though not
    that these are all.
    """
    if progress.unproven and (progress.pages <= 1 or not progress.listings):
        return Verdict.UNKNOWN
    return Verdict.FOUND if progress.listings else Verdict.CONFIRMED_EMPTY


def _ends_asks(verdict: Verdict, before: Collection | None) -> bool:
    """Whether what a complete list does not show is gone. A list that is empty for the first time is not
    believed at once.
    """
    if verdict is Verdict.CONFIRMED_EMPTY:
        return before is not None and before.verdict is Verdict.CONFIRMED_EMPTY
    return verdict is Verdict.FOUND


def _reason(progress: Progress, verdict: Verdict) -> str:
    """The collection in one sentence."""
    if verdict is Verdict.UNKNOWN:
        return f"the answer proves nothing: {progress.unproven}"
    listings, pages = _many(progress.listings, "listing"), _many(progress.pages, "page")
    said = [f"{listings} on {pages}, {progress.counted:,} count"]
    if verdict is Verdict.CONFIRMED_EMPTY:
        said = ["the source says that it has none"]
    if progress.unpriced:
        said.append(f"{progress.unpriced:,} without a certain price")
    if progress.unproven:
        said.append(f"not complete: {progress.unproven}")
    return "; ".join((*said, *progress.notes))


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def cadence_data(setting: Any) -> dict[str, int]:
    """What the end of a collection needs of the settings."""
    cadence = price_cadence_of(setting)
    silent_after = int(setting("prices.silent_after"))
    return {"shortest": cadence.shortest, "longest": cadence.longest, "silent_after": silent_after}


# The cache


def _cache_us(ctx: Context, todo: OpenCollection) -> int:
    """How long an answer of the source is used again. A file of the project is read anew, for nobody is
    asked.
    """
    if todo.source.spec.adapter is Adapter.CSV and not todo.query.urls:
        return 0
    enabled, seconds = bool(ctx.setting("prices.cache_enabled")), float(ctx.setting("prices.cache_ttl"))
    return cache_us(todo.source, enabled=enabled, seconds=seconds)


async def _from_cache(ctx: Context, todo: OpenCollection) -> Outcome | None:
    """The collection by a stored answer; None where there is none that can be used. The listings are read
    from the bodies again and judged for this item.
    """
    key = todo.query.key(todo.source.spec)
    asked = {"source": todo.source.id, "key": key, "keep": _cache_us(ctx, todo)}
    answer: StoredAnswer | None = await ctx.read("prices.answer", asked)
    if answer is None:
        return None
    progress = replace(_fresh(todo), began_at=answer.fetched_at, capped=not answer.complete, answer=None)
    effects: tuple[Effect, ...] = ()
    for stored in answer.pages:
        try:
            page = stored.page(await ctx.load(stored.body))
        except UnknownName:
            return None  # it was pruned: the source is asked, and its answer takes the place of this one
        found = await todo.adapter.read(ctx, todo.query, stored.cursor, page)
        if found.verdict is not Verdict.FOUND:
            return None
        judged = await _judged(ctx, todo, found.listings, stored.fetched_at, stored.body)
        progress = _after(progress, found, judged)
        effects += _filed(todo, judged, progress, stored.fetched_at, stored.body)
    if answer.reason:
        progress = replace(progress, notes=_noted(progress, answer.reason))
    return _finished(ctx, todo, progress, effects, from_cache=True)


def _cached(ctx: Context, todo: OpenCollection, progress: Progress, complete: bool) -> tuple[Effect, ...]:
    """Keep the answer for whoever asks the same."""
    if _cache_us(ctx, todo) <= 0:
        return ()
    query = {
        "text": todo.query.text,
        "parameters": dict(todo.query.parameters),
        "urls": list(todo.query.urls),
    }
    said = {
        "source": todo.source.id,
        "key": progress.key,
        "query": query,
        "pages": progress.answer,
        "complete": complete,
        "reason": None if complete else next(iter(progress.notes[-1:]), None),
    }
    return (Effect("prices.keep_answer", said),)


def _stored(progress: Progress) -> Mapping[str, Any]:
    said: Mapping[str, Any] = written(progress)
    return said


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    """A collection that failed for good says why, and comes back as usual."""
    pair = {"item": task.payload["item"], "source": task.payload["source"]}
    reason = f"{error.name}: {error.message}"[:2_000]
    said = {**pair, **cadence_data(settings.__getitem__), "reason": reason}
    effect = Effect("prices.collection_failed", said)
    if not task.checkpoint.get("listings"):
        return Finds(effects=(effect,))
    request, child = requests(pair["item"], task.id)  # some of its pages were filed
    return Finds(effects=(effect, request), children=(child,))


PIPELINES = (Pipeline(COLLECT, Stage(look), Stage(ask, through=gates, timeout=MAX_SECONDS), failed=failed),)
