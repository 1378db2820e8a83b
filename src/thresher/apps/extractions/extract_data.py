"""extractData: read a stored page into the data set, each value with its place on the page.

The page was kept when it was fetched, so nothing is requested here, and a failed reading is repeated without
the site. `ctx.extract` chooses what reads it: what was learned of the site, the page's own data, or a model.
Where items were found and the recipe says so, links of the same origin lead on to more pages.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from thresher.apps.extractions.fetch_page import EXTRACT_DATA, explore, over_time, recipe_of
from thresher.apps.extractions.model import (
    Entity,
    Extraction,
    ExtractionPage,
    Level,
)
from thresher.apps.extractions.store.pages import PageToFetch
from thresher.apps.extractions.walking.facts import content_of, identity_of
from thresher.core.answer import DOLLAR, Extract
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted
from thresher.core.evidence import Evidence, as_json
from thresher.core.outcome import Done, Effect, Finds, Outcome, Skipped
from thresher.core.page import Page, Via
from thresher.core.pipeline import Pipeline, Source, Stage
from thresher.core.schema import Schema, Thing, names, values_of
from thresher.core.settlement import Error
from thresher.core.task import Task

SLOTS = Source("extractions.extractData", in_flight=2, trip_after=None)
MAX_SECONDS = 900.0
MAX_KEY = 400  # characters of a key that stand as they are
HTML = "text/html; charset=utf-8"
_ONE_OF_SEVERAL = re.compile(r"item (\d{1,9}): |(\d{1,9})\.(?=[^\d\s])")


async def extract(ctx: Context) -> Outcome:
    """Read one page."""
    began = ctx.now()
    asked = {"extraction": ctx.task.payload["extraction"], "page": ctx.task.payload["page"]}
    todo: PageToFetch | None = await ctx.read("extractions.page", asked)
    if todo is None or todo.page.content is None:
        return Skipped("its page is not stored any more")
    if todo.extraction.status == "CANCELLED":
        return Skipped("its extraction is CANCELLED")
    if late := over_time(todo.extraction, began):
        cancel = Effect("extractions.cancel", {"extraction": todo.extraction.id, "reason": late})
        return Skipped(late, effects=(cancel,))
    level = todo.extraction.configuration.levels[todo.page.level]
    page = await stored_page(ctx, todo.page)
    try:
        found = await _read(ctx, todo.extraction, level, page)
    except BudgetExhausted as problem:
        if not problem.own:
            raise
        return _out_of_money(todo, problem)
    identity = await ctx.compute(identity_in, page, level)
    items = list(rows_of(todo.extraction.entity, level, identity, page.url, found))
    stored = _stored(todo, ctx.task.payload["version"], began, found, items)
    is_first = not todo.page.extracted_at  # what is read again is read without a request
    more = await explore(ctx, todo, page) if items and is_first else Finds()
    note = f"{len(items):,} {'item' if len(items) == 1 else 'items'}, read by {found.by}"
    return Done(effects=(stored, *more.effects), children=more.children, note=note)


async def stored_page(ctx: Context, page: ExtractionPage) -> Page:
    """A page as it was fetched."""
    body = await ctx.load(page.content or "")
    headers = {"content-type": page.content_type or HTML}
    return Page(page.url, page.final_url or page.url, 200, headers, body, page.fetched_at, Via.CACHE)


async def _read(ctx: Context, extraction: Extraction, level: Level, page: Page) -> Extract:
    if level.content_selector is not None:
        html = await ctx.compute(content_in, page, level)
        page = replace(page, body=html.encode(), headers={"content-type": HTML})
    schema = schema_of(extraction.entity, level)
    site = site_of(extraction.recipe_name, level)
    return await ctx.extract(page, schema, site=site, budget=await _left(ctx, extraction))


async def _left(ctx: Context, extraction: Extraction) -> float | None:
    """What this run may spend: a budget is that of the extraction, however often it was resumed."""
    budget = extraction.limits.budget
    if budget is None:
        return None
    asked = {"extraction": extraction.id, "lineage": ctx.task.tracking_id}
    before: int = await ctx.read("extractions.spent_before", asked)
    return max(0.0, budget - before / DOLLAR)


def site_of(recipe: str, level: Level) -> str:
    """What is learned is learned of the pages of one level of one recipe: they look alike."""
    return f"recipe.{recipe}{'.several' if level.several else ''}"


def schema_of(entity: Entity, level: Level) -> Schema:
    return replace(entity.schema, many=level.several)


def content_in(page: Page, level: Level) -> str:
    return content_of(page, level).html


def identity_in(page: Page, level: Level) -> str:
    return identity_of(content_of(page, level))


def rows_of(entity: Entity, level: Level, identity: str, url: str, found: Extract) -> Iterator[list[Any]]:
    """The items of a page as rows of the data set. A thing without a single value is none."""
    schema = schema_of(entity, level)
    things = schema.things(found.value) if found.value else []
    for place, thing in enumerate(things):
        data = {name: value for name, value in thing.items() if value not in (None, "", [])}
        if not data:
            continue
        evidence = _evidence_of(schema, thing, place, found.evidence)
        doubts = list(_doubts_of(place, found.doubts)) if schema.many else [*found.doubts]
        yield [
            item_key(schema, thing, identity),
            place,
            orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode(),
            orjson.dumps(as_json(evidence)).decode(),
            int(not any(evidence.unverified())),
            orjson.dumps(doubts).decode() if doubts else None,
            found.by.value,
            digest_of(data),
            url,
        ]


def _doubts_of(place: int, doubts: Sequence[str]) -> Iterator[str]:
    """Of the doubts about a page of several things those that are about this one, or about all."""
    for doubt in doubts:
        about = _ONE_OF_SEVERAL.match(doubt)
        if about is None:
            yield doubt
        elif place == (int(about[2]) if about[2] else int(about[1]) - 1):
            yield doubt[about.end() :]


def digest_of(data: Mapping[str, Any]) -> str:
    """Two items with the same digest say the same."""
    return hashlib.sha256(orjson.dumps(data, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _evidence_of(schema: Schema, thing: Thing, place: int, evidence: Evidence) -> Evidence:
    """The places of one thing, by their names within it. A value that nobody looked for is not verified."""
    before = f"{place}." if schema.many else ""
    wanted = [name for field in schema.fields if not field.judged for name in names(field, thing)]
    return Evidence({name: evidence.places.get(before + name) for name in wanted}, evidence.source)


def item_key(schema: Schema, thing: Thing, identity: str) -> str:
    """What makes an item the same in another data set: the fields of its key, else the page that it is
    on, and where a page has several, everything that it says.
    """
    chosen = [schema[name] for name in schema.key]
    said = [str(each) for field in chosen for each in values_of(field, thing)]
    if not said and not schema.many:
        return _short(identity)
    if not said:
        said = [str(each) for field in schema.fields for each in values_of(field, thing)]
    folded = " | ".join(" ".join(each.split()).casefold() for each in said)
    return _short(f"{folded}" if schema.key else f"{identity} | {folded}")


def _short(key: str) -> str:
    if len(key) <= MAX_KEY:
        return key
    return f"{key[:MAX_KEY]}…{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _stored(
    todo: PageToFetch, version: int, began: int, found: Extract, items: Sequence[Sequence[Any]]
) -> Effect:
    return Effect(
        "extractions.items_stored",
        {
            "extraction": todo.extraction.id,
            "page": todo.page.page,
            "version": version,
            "items": items,
            "bodies": [found.evidence.source] if found.evidence.source else [],
            "started": began,
            "extractor": found.by.value,
        },
    )


def _out_of_money(todo: PageToFetch, problem: BudgetExhausted) -> Outcome:
    """Its own budget is spent: the extraction ends here, and says so. The page has not failed: it waits for
    who raises the budget.
    """
    extraction = todo.extraction
    why = (
        f"its budget of ${extraction.limits.budget:g} is spent: {problem}; raise limits.budget of the recipe "
        f"{extraction.recipe_name}, then: thresher extract resume {extraction.id}"
    )
    return Skipped(why, effects=(Effect("extractions.cancel", {"extraction": extraction.id, "reason": why}),))


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  all are given the settings
    """A page that cannot be read says why."""
    failure = {"error": error.name, "message": error.message, "stage": task.stage}
    said = {"extraction": task.payload["extraction"], "page": task.payload["page"], "task": task.id}
    return Finds(effects=(Effect("extractions.page_unread", {**said, "failure": failure}),))


PIPELINES = (
    Pipeline(
        EXTRACT_DATA,
        Stage(extract, through=(SLOTS.gate,), timeout=MAX_SECONDS),
        failed=failed,
        about=recipe_of,
    ),
)
SOURCES = (SLOTS,)
