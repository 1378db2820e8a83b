"""extractDataWithApi: read an API in place of pages, one answer at a time.

Each answer is stored, and its items with it, in the transaction that says where the list goes on: whoever is
killed between two answers loses none and repeats none. The first answer is the page of the recipe, the others
are pages of their own, named by their number, so that an answer that is read again replaces itself.

Every answer has its own tries. A list of a thousand answers must not fail because three of them stuttered.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import orjson

from thresher.apps.extractions.api.definition import OpenApi, open_api
from thresher.apps.extractions.api.items import Batch, Item, read_batch, read_detail
from thresher.apps.extractions.extract_data import digest_of
from thresher.apps.extractions.fetch_page import over_time, recipe_of
from thresher.apps.extractions.model import PAGE_DIGITS, PageStatus, PageType, StepKind, source_of
from thresher.apps.extractions.start import API_EXTRACTION
from thresher.apps.extractions.store.pages import PageToFetch, to_rows
from thresher.apps.extractions.walking.branch import NewPage
from thresher.core.clock import SECOND
from thresher.core.context import Context
from thresher.core.errors import Permanent, ProcessDied, Transient
from thresher.core.evidence import Evidence, as_json
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Effect, Failed, Finds, Next, Outcome, Skipped, Snooze
from thresher.core.page import Page, Via
from thresher.core.pipeline import Pipeline, Source, Stage, Trip
from thresher.core.settlement import Error
from thresher.core.stored import read as read_stored
from thresher.core.stored import written
from thresher.core.task import Task
from thresher.reading.platforms.calls import Call

SLOTS = Source("extractions.extractDataWithApi", in_flight=2, trip_after=None)
MAX_SECONDS = 600.0
MAX_TRIES = 3  # of one answer
FIRST_WAIT = 1.0  # seconds before the second try; the third waits twice as long
DETAILS_AT_ONCE = 20
DETAIL_AGE = 3_600.0  # seconds: an attempt that is repeated does not ask for its details again
MAX_NOTES = 5
MAX_NOTE = 500  # characters


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer whose items are stored in portions, because each of them has a detail."""

    NOT_STORED: ClassVar = (None,)

    url: str = ""
    final_url: str = ""
    body: str = ""
    content_type: str | None = None
    fetched_at: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the API was read: the checkpoint of its task. `serial` numbers what is stored, `answers` what
    was requested; `row` is the first row of `answer` that is not stored yet. `claimed` is how many items the
    API says there are, `wait_until` when an answer is asked for again.
    """

    NOT_STORED: ClassVar = (None, 0, ())

    serial: int = 0
    turn: int = 0
    cursor: str | None = None
    answers: int = 0
    items: int = 0
    bad: int = 0
    claimed: int | None = None
    notes: tuple[str, ...] = ()
    answer: StoredAnswer | None = None
    row: int = 0
    tries: int = 0
    wait_until: int = 0


def gates(trip: Trip) -> tuple[str, ...]:
    """The recipe, our own two slots, and the host of the API, which never changes."""
    host = (host_gate(trip.url),) if trip.url else ()
    return (f"source:{source_of(trip.payload['recipe'])}", SLOTS.gate, *host)


async def extract(ctx: Context) -> Outcome:
    """Read the answer that is next, or the next of its details."""
    said = {name: ctx.task.payload[name] for name in ("extraction", "page")}
    todo: PageToFetch | None = await ctx.read("extractions.page", said)
    if todo is None:
        return Skipped("its extraction is not there any more")
    if not todo.is_open:
        return Skipped(f"its extraction is {todo.extraction.status}")
    if late := over_time(todo.extraction, ctx.now()):
        cancel = Effect("extractions.cancel", {"extraction": todo.extraction.id, "reason": late})
        return Skipped(late, effects=(cancel,))
    if todo.page.status is PageStatus.SUCCESS:
        return Skipped("the API was read already")
    progress = read_stored(Progress, ctx.task.checkpoint)
    if progress.wait_until > ctx.now():
        return Snooze((progress.wait_until - ctx.now()) / SECOND, "the API is asked again after a pause")
    try:
        return await _step(ctx, todo, progress)
    except (Transient, ProcessDied) as problem:
        return _try_again(ctx, progress, problem)


def _try_again(ctx: Context, progress: Progress, problem: Transient | ProcessDied) -> Outcome:
    tries = progress.tries + 1
    if tries >= MAX_TRIES:
        why = f"{problem} (tried {tries} times)"
        failure = {"error": type(problem).__name__, "message": why, "stage": ctx.task.stage}
        return Failed(why, effects=_ended_badly(ctx.task, failure))
    wait = round(FIRST_WAIT * 2**progress.tries * SECOND)
    waiting = replace(progress, tries=tries, wait_until=ctx.now() + wait)
    return Next(checkpoint=written(waiting), again=True)


async def _step(ctx: Context, todo: PageToFetch, progress: Progress) -> Outcome:
    began, extraction = ctx.now(), todo.extraction
    assert extraction.configuration.api is not None, "startExtraction starts it for APIs alone"
    opened = open_api(extraction.configuration.api, extraction.entity)
    page = await _answer(ctx, opened, progress)
    batch = await ctx.compute(read_batch, opened.api, extraction.entity, progress.cursor, page)
    if batch.trouble:
        raise Transient(f"the API did not answer as described: {_hidden(opened, batch.trouble)}")
    answer = progress.answer or await _kept(ctx, page)
    portion = DETAILS_AT_ONCE if opened.api.detail else len(batch.items)
    chosen = batch.items[progress.row : progress.row + portion]
    items, bodies = await _with_details(ctx, todo, opened, progress, chosen)
    effects = _stored(todo, progress, answer, batch, items, bodies, began)
    most = extraction.limits.pages or int(ctx.setting("extractions.max_pages"))
    after, is_end = after_portion(progress, opened, batch, answer, most)
    if not is_end:
        return Next(checkpoint=written(after), again=True, effects=effects)
    note = f"{after.items:,} items from {after.answers:,} answers"
    return Done(effects=(*effects, _ended(todo, opened, progress, after)), note=note)


# One answer


async def _answer(ctx: Context, opened: OpenApi, progress: Progress) -> Page:
    """The answer that is next: the one whose details are being read, or a new one."""
    kept = progress.answer
    if kept is None:
        return await _fetch(ctx, opened.list_call(progress.turn, progress.cursor, os.environ), 0.0)
    headers = {"content-type": kept.content_type} if kept.content_type else {}
    body = await ctx.load(kept.body)
    return Page(kept.url, kept.final_url, 200, headers, body, kept.fetched_at, Via.CACHE)


async def _kept(ctx: Context, page: Page) -> StoredAnswer:
    """Keep an answer that is as described; what refuses us may quote what we sent."""
    kind = page.headers.get("content-type")
    return StoredAnswer(page.url, page.final_url, await ctx.save(page.body), kind, page.fetched_at)


async def _fetch(ctx: Context, call: Call, max_age: float) -> Page:
    return await ctx.fetch(
        call.url,
        method=call.method,
        headers=call.headers,
        body=call.body,
        credentials=call.credentials,
        max_age=max_age,
    )


def _hidden(opened: OpenApi, text: str) -> str:
    """What an API says may quote what we sent."""
    credentials = opened.credentials(os.environ)
    return credentials.hidden_in(text) if credentials is not None else text


async def _with_details(
    ctx: Context, todo: PageToFetch, opened: OpenApi, progress: Progress, items: Sequence[Item]
) -> tuple[list[Item], list[str]]:
    """The items with what their details say, and the bodies of the details. A detail that cannot be had
    leaves a doubt, and the item as the list has it.
    """
    if opened.api.detail is None:
        return list(items), []
    made, bodies = [], []
    for item in items:
        try:
            whole, body = await _with_detail(ctx, todo, opened, progress.turn, item)
            bodies.append(body)
        except Permanent as problem:
            whole = _doubted(item, _hidden(opened, str(problem)))
        except Transient as problem:
            if progress.tries + 1 < MAX_TRIES:
                raise
            whole = _doubted(item, f"its detail could not be had: {problem}")
        made.append(whole)
    return made, bodies


async def _with_detail(
    ctx: Context, todo: PageToFetch, opened: OpenApi, turn: int, item: Item
) -> tuple[Item, str]:
    call = opened.detail_call(turn, item.row_id, os.environ)
    if call is None:
        raise Permanent("its row does not say by which id its detail is asked for")
    page = await _fetch(ctx, call, DETAIL_AGE)
    body = await ctx.save(page.body)
    entity = todo.extraction.entity
    return await ctx.compute(read_detail, opened.api, entity, item, page, body), body


def _doubted(item: Item, why: str) -> Item:
    return replace(item, doubts=(*item.doubts, why[:MAX_NOTE]))


# Where it goes on


def after_portion(
    progress: Progress, opened: OpenApi, batch: Batch, answer: StoredAnswer, most: int
) -> tuple[Progress, bool]:
    """How far the API was read once this portion is stored, and whether that is its end."""
    portion = DETAILS_AT_ONCE if opened.api.detail else len(batch.items)
    stored = len(batch.items[progress.row : progress.row + portion])
    made = replace(progress, serial=progress.serial + 1, items=progress.items + stored, tries=0, wait_until=0)
    if progress.row == 0:
        made = _counted(made, batch)
    is_part = progress.row + stored < len(batch.items)
    is_last = not is_part and batch.next is None and made.turn + 1 >= len(opened.turns)
    requests = made.answers + (made.items if opened.api.detail else 0)
    if not is_last and requests >= most:
        return _noted(made, f"it was read no further than {most:,} requests, which is the limit"), True
    if is_part:
        return replace(made, answer=answer, row=progress.row + stored), False
    made = replace(made, answer=None, row=0)
    if batch.next is not None:
        return replace(made, cursor=batch.next), False
    return replace(made, turn=made.turn + (not is_last), cursor=None), is_last


def _counted(progress: Progress, batch: Batch) -> Progress:
    """An answer was read: what it says of itself, and which rows were no items."""
    bad, claimed = progress.bad + len(batch.bad), batch.total if batch.total is not None else progress.claimed
    made = replace(progress, answers=progress.answers + 1, bad=bad, claimed=claimed)
    if batch.bad and not progress.bad:
        made = _noted(made, f"rows were left out; the first: {batch.bad[0]}")
    return _noted(made, batch.capped) if batch.capped else made


def _noted(progress: Progress, note: str) -> Progress:
    known = note in progress.notes or len(progress.notes) >= MAX_NOTES
    return progress if known else replace(progress, notes=(*progress.notes, note[:MAX_NOTE]))


# What is stored


def answer_page(page: str, serial: int) -> str:
    """The name of the page that an answer is: the first is that of the API itself."""
    if serial == 0:
        return page
    return hashlib.sha256(f"{page}#{serial}".encode()).hexdigest()[:PAGE_DIGITS]


def _stored(
    todo: PageToFetch,
    progress: Progress,
    answer: StoredAnswer,
    batch: Batch,
    items: Sequence[Item],
    bodies: Sequence[str],
    began: int,
) -> tuple[Effect, ...]:
    """The answer as a page, and its items. The page of the API itself waits until all of it was read."""
    root, serial, extraction = todo.page.page, progress.serial, todo.extraction.id
    name = answer_page(root, serial)
    page = NewPage(name, answer.url, 1, StepKind.PAGINATION, 0, PageType.API, serial, root)
    added = {"extraction": extraction, "parent": root, "pages": to_rows((page,))}
    fetched = {
        "extraction": extraction,
        "page": name,
        "status": (PageStatus.SUCCESS if serial else PageStatus.WAITING).value,
        "note": _page_note(progress, batch, items),
        "final_url": answer.final_url,
        "content": answer.body,
        "markdown": None,
        "screenshot": None,
        "content_type": answer.content_type,
        "links": 0,
        "empty": None,
        "extraction_status": None,
    }
    stored = {
        "extraction": extraction,
        "page": name,
        "version": todo.version,
        "items": [_row(each, progress.row + at, answer.body) for at, each in enumerate(items)],
        "bodies": [answer.body, *bodies],
        "started": began,
        "extractor": "api",
    }
    return (
        *((Effect("extractions.add_pages", added),) if serial else ()),
        Effect("extractions.page_fetched", fetched),
        Effect("extractions.items_stored", stored),
    )


def _page_note(progress: Progress, batch: Batch, items: Sequence[Item]) -> str | None:
    """What is to be said of one answer: rows that are no items, and which part of it this is."""
    said = [f"{len(batch.bad):,} of {batch.rows:,} rows were left out: {batch.bad[0]}"] if batch.bad else []
    if len(items) < len(batch.items):
        said.append(f"items {progress.row + 1:,} to {progress.row + len(items):,} of this answer")
    return "; ".join(said)[:MAX_NOTE] or None


def _row(item: Item, place: int, source: str) -> list[Any]:
    """An item as a row of the data set."""
    evidence = Evidence(item.places, source)
    return [
        item.key,
        place,
        orjson.dumps(item.values, option=orjson.OPT_SORT_KEYS).decode(),
        orjson.dumps(as_json(evidence)).decode(),
        int(not any(evidence.unverified())),
        orjson.dumps(item.doubts).decode() if item.doubts else None,
        "api",
        digest_of(item.values),
        item.url,
    ]


def _ended(todo: PageToFetch, opened: OpenApi, progress: Progress, after: Progress) -> Effect:
    bad = (f"{after.bad:,} rows were no items",) if after.bad else ()
    # Several lists may share items, so their totals say nothing together.
    claimed = after.claimed if len(opened.turns) == 1 and not after.notes else None
    said = {
        "extraction": todo.extraction.id,
        "page": todo.page.page,
        "version": todo.version,
        "number": progress.serial,
        "note": "; ".join((*bad, *after.notes))[:MAX_NOTE] or None,
        "expected": claimed,
    }
    return Effect("extractions.api_ended", said)


# Failure


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  all are given the settings
    """An API that cannot be read ends its extraction, and says why."""
    failure = {"error": error.name, "message": error.message, "stage": task.stage}
    return Finds(effects=_ended_badly(task, failure))


def _ended_badly(task: Task, failure: Mapping[str, Any]) -> tuple[Effect, ...]:
    said = {name: task.payload[name] for name in ("extraction", "page")}
    reason = f"its API could not be read: {failure['message']}"
    return (
        Effect("extractions.page_failed", {**said, "failure": failure}),
        Effect("extractions.cancel", {"extraction": said["extraction"], "reason": reason}),
    )


PIPELINES = (
    Pipeline(
        API_EXTRACTION, Stage(extract, through=gates, timeout=MAX_SECONDS), failed=failed, about=recipe_of
    ),
)
SOURCES = (SLOTS,)
