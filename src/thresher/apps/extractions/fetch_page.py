"""fetchPage: fetch one page, keep it, and branch: the rest of its list, the data set, the next level.

The task waits in the lanes of its recipe and its host, so a busy host costs nothing and nothing is queued
anew. What the page leads to is inserted and spawned in the transaction that says the page was read: no page
is ever known without a task, or the other way round. A list whose pages are known one by one is one task that
goes on from page to page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from thresher.apps.extractions.model import (
    Extraction,
    ExtractionPage,
    Level,
    PageStatus,
    PageType,
    PagingKind,
    extract_key,
    fetch_key,
    source_of,
)
from thresher.apps.extractions.store.pages import PageToFetch, to_rows
from thresher.apps.extractions.walking.branch import Branch, NewPage, branch, explored
from thresher.apps.extractions.walking.facts import (
    MAX_CLICKED,
    MAX_LINKS,
    PageFacts,
    explore_links,
    read_page,
)
from thresher.core.clock import HOUR
from thresher.core.context import Context
from thresher.core.errors import Gone
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Effect, Finds, Next, Outcome, Skipped
from thresher.core.page import Page
from thresher.core.pipeline import Pipeline, Source, Stage, Trip
from thresher.core.rendering import Click, Collect, Rendering, Wait
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task

FETCH_PAGE, EXTRACT_DATA = "fetchPage", "extractData"
SLOTS = Source("extractions.fetchPage", in_flight=2, trip_after=None)
MAX_SECONDS = 600.0


def gates(trip: Trip) -> tuple[str, ...]:
    """The recipe, our own two slots, and the host of the page that is next."""
    url = trip.checkpoint.get("url") or trip.url or ""
    return (f"source:{source_of(trip.payload['recipe'])}", SLOTS.gate, host_gate(url))


def recipe_of(trip: Trip) -> str | None:
    """What a task of an extraction is about. Old tasks do not say it."""
    name = trip.payload.get("recipe")
    return name if isinstance(name, str) else None


async def fetch(ctx: Context) -> Outcome:
    """Fetch the page that is next, and say what follows from it."""
    name = ctx.task.checkpoint.get("page") or ctx.task.payload["page"]
    asked = {"extraction": ctx.task.payload["extraction"], "page": name}
    todo: PageToFetch | None = await ctx.read("extractions.page", asked)
    if todo is None:
        return Skipped(
            "the limit of pages was reached by other pages, or its extraction is not there any more"
        )
    if not todo.is_open:
        return Skipped(f"its extraction is {todo.extraction.status}")
    if late := over_time(todo.extraction, ctx.now()):
        cancel = Effect("extractions.cancel", {"extraction": todo.extraction.id, "reason": late})
        return Skipped(late, effects=(cancel,))
    if why := _not_wanted(todo):
        return _skipped(todo.page, why)
    level = todo.extraction.configuration.levels[todo.page.level]
    try:
        page = await _fetched(ctx, todo.page, level)
    except Gone as problem:
        if not todo.page.number:
            raise
        return _skipped(todo.page, f"the list ends before it: {problem}")
    facts = await ctx.compute(read_page, page, level)
    of = replace(todo.of, counting=todo.page.counting or "page" in ctx.task.checkpoint)
    found = branch(todo.extraction.configuration, todo.page, facts, of)
    return await _settled(ctx, todo, page, facts, found)


def over_time(extraction: Extraction, now: int) -> str | None:
    """Why an extraction takes longer than its recipe lets it."""
    hours, began = extraction.limits.hours, max(extraction.started_at, extraction.resumed_at)
    if not hours or not began or now - began <= hours * HOUR:
        return None
    return (
        f"its time is over: the recipe lets it take {hours:g} hours; raise limits.hours of the recipe "
        f"{extraction.recipe_name} if need be, then: thresher extract resume {extraction.id}"
    )


def _skipped(page: ExtractionPage, why: str) -> Outcome:
    said = {"extraction": page.extraction_id, "page": page.page, "note": why}
    return Done(effects=(Effect("extractions.page_skipped", said),), note=why)


def _not_wanted(todo: PageToFetch) -> str | None:
    """Why a page is not requested after all."""
    if todo.page.status is PageStatus.SUCCESS:
        return "it was fetched already"
    if todo.after_end:
        return "the list ends before it: two pages before it are empty"
    return None


async def _fetched(ctx: Context, page: ExtractionPage, level: Level) -> Page:
    render = True if level.needs_browser else level.render
    return await ctx.fetch(
        page.url, render=render, rendering=rendering_of(level) if render else None, max_age=0
    )


def rendering_of(level: Level) -> Rendering:
    """What a browser does on a page of this level."""
    steps: list[Click | Wait] = []
    for each in level.setup:
        if each.click:
            steps.append(Click(each.click, optional=each.optional))
        if each.wait_for or each.wait:
            steps.append(Wait(each.wait_for or each.wait or 0.0))
    paging = level.pagination
    if paging is not None and paging.kind is PagingKind.LOAD_MORE and paging.selector:
        steps.append(Click(paging.selector, repeat=paging.clicks, optional=True))
    collect = (
        Collect(level.click_selector, level.click_limit or MAX_CLICKED) if level.click_selector else None
    )
    return Rendering(steps=tuple(steps), screenshot=True, collect=collect)


async def _settled(ctx: Context, todo: PageToFetch, page: Page, facts: PageFacts, found: Branch) -> Outcome:
    pages = (*found.pages, *((found.follow,) if found.follow else ()))
    admitted = await admit(ctx, todo.extraction, pages, facts.left + found.left)
    follow = found.follow if found.follow in admitted.new else None  # a list that leads back to itself ends
    told = await _told(ctx, todo, page, facts, found)
    effects = [
        Effect("extractions.page_fetched", told),
        Effect("extractions.add_pages", admitted.told(todo.page)),
    ]
    children = [_child(todo, each) for each in admitted.new if each is not follow]
    if found.extract:
        read = await _read(ctx, todo, page, told["content"])
        effects += read.effects
        children += read.children
    if follow is None:
        return Done(effects=tuple(effects), children=tuple(children))
    checkpoint = {"url": follow.url, "page": follow.page}
    return Next(checkpoint=checkpoint, again=True, effects=tuple(effects), children=tuple(children))


@dataclass(frozen=True, slots=True)
class Admitted:
    """Of the pages that a page leads to those that nobody has met, those that are known, and how many a limit
    keeps out. `most` is that limit where it is near: other pages may reach it at the same time.
    """

    new: tuple[NewPage, ...] = ()
    met: tuple[str, ...] = ()
    dropped: int = 0
    most: int | None = None

    def told(self, parent: ExtractionPage) -> dict[str, Any]:
        """As the effect `add_pages` is told."""
        said = {"extraction": parent.extraction_id, "parent": parent.page, "pages": to_rows(self.new)}
        return {**said, "met": list(self.met), "dropped": self.dropped, "most": self.most}


async def admit(ctx: Context, extraction: Extraction, pages: Sequence[NewPage], left: int) -> Admitted:
    """Which of these pages belong to the extraction, as far as its limit allows. `left` is how many more were
    left out before.
    """
    distinct = list({each.page: each for each in pages}.values())
    asked = {"extraction": extraction.id, "pages": [each.page for each in distinct]}
    known = await ctx.read("extractions.known_pages", asked) if distinct else frozenset()
    new = [each for each in distinct if each.page not in known]
    met = tuple(sorted(each.page for each in distinct if each.page in known))
    if not new:
        return Admitted(met=met, dropped=left)
    most = extraction.limits.pages or int(ctx.setting("extractions.max_pages"))
    there: int = await ctx.read("extractions.count_pages", {"extraction": extraction.id, "limit": most})
    # The task that reads a page into the data set stands below the one that fetches it.
    is_deep = ctx.task.depth + 2 > int(ctx.setting("lineage.max_depth"))
    kept = new[: 0 if is_deep else max(most - there, 0)]
    is_near = most - there - len(kept) < MAX_LINKS
    return Admitted(tuple(kept), met, left + len(new) - len(kept), most if is_near else None)


async def _told(
    ctx: Context, todo: PageToFetch, page: Page, facts: PageFacts, found: Branch
) -> dict[str, Any]:
    return {
        "extraction": todo.extraction.id,
        "page": todo.page.page,
        "status": PageStatus.SUCCESS.value,
        "note": facts.shell or _leads_nowhere(todo, facts) or facts.note,
        "final_url": page.final_url,
        "content": await ctx.save(page.body),
        "markdown": await ctx.save(facts.markdown.encode()),
        "screenshot": await ctx.save(page.screenshot) if page.screenshot else None,
        "content_type": page.headers.get("content-type"),
        "links": len(facts.links),
        "empty": facts.empty,
        "extraction_status": PageStatus.WAITING.value if found.extract else None,
    }


def _leads_nowhere(todo: PageToFetch, facts: PageFacts) -> str | None:
    """What is to be said of a list without a link to follow. Behind the end of a list that is as it should
    be, and where the list says so itself.
    """
    level = todo.extraction.configuration.levels[todo.page.level]
    if level.page_type.holds_data or facts.links or todo.page.number:
        return None
    if facts.empty:
        return f'it says "{facts.empty}"'
    why = "no link of it matches link_pattern" if level.link_pattern else "it shows no list"
    return f"{why}, so it leads nowhere"


async def _read(ctx: Context, todo: PageToFetch, page: Page, content: str) -> Finds:
    """Who reads the page. Where it is as it was in the previous extraction, and so is what is read from it,
    its items are taken from there, and it leads on as it did.
    """
    extraction, items = todo.extraction, None
    if extraction.previous_id is not None:
        asked = {"extraction": extraction.previous_id, "page": todo.page.page, "content": content}
        version = {"recipe_version": extraction.recipe_version}
        items = await ctx.read("extractions.items_unchanged", {**asked, **version})
    if items is None:
        return Finds(children=(_extraction(todo),))
    said = {"extraction": extraction.id, "page": todo.page.page, "version": todo.version}
    carried = Effect("extractions.items_carried", {**said, "previous": extraction.previous_id})
    more = await explore(ctx, todo, page) if items else Finds()
    return Finds(effects=(carried, *more.effects), children=more.children)


async def explore(ctx: Context, todo: PageToFetch, page: Page) -> Finds:
    """The pages of the same origin that a page with items leads to, where the recipe wants them."""
    level = todo.extraction.configuration.levels[todo.page.level]
    if not (level.explore or level.page_type is PageType.EXPLORATORY):
        return Finds()
    limit = todo.extraction.limits.depth
    depth = int(ctx.setting("extractions.max_depth")) if limit is None else limit
    urls, left = await ctx.compute(explore_links, page, level)
    pages = explored(todo.page, urls, depth)
    admitted = await admit(ctx, todo.extraction, pages, left if pages else 0)
    added = Effect("extractions.add_pages", admitted.told(todo.page))
    return Finds(effects=(added,), children=tuple(_child(todo, each) for each in admitted.new))


def _child(todo: PageToFetch, page: NewPage) -> NewTask:
    return fetch_task(todo.extraction.id, todo.extraction.recipe_name, page.page, page.url)


def fetch_task(extraction: int, recipe: str, page: str, url: str) -> NewTask:
    """The task that fetches a page."""
    payload = {"extraction": extraction, "recipe": recipe, "page": page}
    return NewTask(FETCH_PAGE, payload, url=url, key=fetch_key(extraction, page))


def _extraction(todo: PageToFetch) -> NewTask:
    each = todo.extraction
    return extract_task(each.id, each.recipe_name, todo.page.page, todo.version)


def extract_task(extraction: int, recipe: str, page: str, version: int) -> NewTask:
    """The task that reads a stored page into a version of the data set."""
    payload = {"extraction": extraction, "recipe": recipe, "page": page, "version": version}
    return NewTask(EXTRACT_DATA, payload, key=extract_key(extraction, page, version))


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  all are given the settings
    """A page that cannot be fetched says why."""
    page = task.checkpoint.get("page") or task.payload["page"]
    failure = {"error": error.name, "message": error.message, "stage": task.stage}
    said = {"extraction": task.payload["extraction"], "page": page, "failure": failure}
    return Finds(effects=(Effect("extractions.page_failed", said),))


PIPELINES = (
    Pipeline(FETCH_PAGE, Stage(fetch, through=gates, timeout=MAX_SECONDS), failed=failed, about=recipe_of),
)
SOURCES = (SLOTS,)
