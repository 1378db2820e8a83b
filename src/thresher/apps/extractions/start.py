"""startExtraction: begin an extraction, go on with one that stopped, or read its stored pages again.

Each is a run of the machine: a group whose tasks are counted in the transactions that end them, and whose
last one is followed by updateExtractionCompletion. So an extraction is over exactly when nothing of it waits.
"""

from enum import StrEnum

from thresher.apps.extractions.api.definition import first_url
from thresher.apps.extractions.fetch_page import extract_task, fetch_task
from thresher.apps.extractions.model import (
    Configuration,
    Extraction,
    ExtractionPage,
    PageStatus,
    PageType,
    StepKind,
    api_key,
    page_name,
)
from thresher.apps.extractions.store.extractions import group_key
from thresher.apps.extractions.walking.branch import NewPage
from thresher.core.context import Context
from thresher.core.group import Run
from thresher.core.outcome import Done, Effect, Next, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.task import NewTask

START_EXTRACTION = "startExtraction"
COMPLETION = "updateExtractionCompletion"
API_EXTRACTION = "extractDataWithApi"
PORTION = 1_000  # pages that are enqueued at a time


class Mode(StrEnum):
    """`resume` takes up what still waits, `retry` also what failed and the lists that led nowhere,
    `reextract` reads every stored page again into a new version of the data set.
    """

    START = "start"
    RESUME = "resume"
    RETRY = "retry"
    REEXTRACT = "reextract"


async def start(ctx: Context) -> Outcome:
    """Open the run: with the root page, or with the first portion of the pages that are to go on."""
    extraction: Extraction | None = await ctx.read("extractions.extraction", ctx.task.payload)
    if extraction is None:
        return Skipped("its extraction is not there any more")
    mode = Mode(ctx.task.payload["mode"])
    noted = Effect(
        "extractions.note_run", {"extraction": extraction.id, "task": ctx.task.id, "mode": mode.value}
    )
    if mode is Mode.START:
        if extraction.status.is_over:  # cancelled before it began: there is no run whose end would tell it
            return Done(children=(_completion(extraction, mode, 1),), note=f"it is {extraction.status}")
        return Done(effects=(noted,), children=(_root_task(extraction),), group=_run(extraction, mode, 1))
    return Next(checkpoint={"state": states_of(mode)[0], "after": ""}, effects=(noted,))


def root_page(url: str, configuration: Configuration) -> NewPage:
    """The page that an extraction begins with."""
    if configuration.is_api:
        return NewPage(page_name(url), url, 0, StepKind.API, 0, PageType.API)
    return NewPage(page_name(url), url, 0, StepKind.ROOT, 0, configuration.levels[0].page_type)


def _root_task(extraction: Extraction) -> NewTask:
    name = page_name(extraction.url)
    if extraction.configuration.api is None:
        return fetch_task(extraction.id, extraction.recipe_name, name, extraction.url)
    payload = {"extraction": extraction.id, "recipe": extraction.recipe_name, "page": name}
    url = first_url(extraction.configuration.api, extraction.entity)
    return NewTask(API_EXTRACTION, payload, url=url, key=api_key(extraction.id, name))


def _run(extraction: Extraction, mode: Mode, version: int) -> Run:
    last = _completion(extraction, mode, version)
    return Run(group_key(extraction.id), last, subject=extraction.recipe_name)


def _completion(extraction: Extraction, mode: Mode, version: int) -> NewTask:
    payload = {"extraction": extraction.id, "mode": mode.value, "version": version}
    return NewTask(COMPLETION, payload)


def states_of(mode: Mode) -> tuple[str, ...]:
    """The states of pages that a mode takes up, in their order."""
    match mode:
        case Mode.RESUME:
            return ("waiting", "unread")
        case Mode.RETRY:
            return ("waiting", "unread", "failed", "astray")
        case Mode.REEXTRACT:
            return ("succeeded",)
        case Mode.START:
            return ()


async def go_on(ctx: Context) -> Outcome:
    """Enqueue the next portion of pages. The task is a member of its own run, so that the run cannot end
    before the last portion.
    """
    said, payload = ctx.task.checkpoint, ctx.task.payload
    extraction: Extraction | None = await ctx.read("extractions.extraction", payload)
    if extraction is None:
        return Skipped("its extraction is not there any more")
    mode, version = Mode(payload["mode"]), int(payload.get("version") or 1)
    asked = {"extraction": extraction.id, "state": said["state"], "after": said["after"], "limit": PORTION}
    pages: list[ExtractionPage] = await ctx.read("extractions.open_pages", asked)
    tasks = {page.page: _task_of(extraction, page, mode, version) for page in pages}
    children = tuple(task for task in tasks.values() if task is not None)
    again = "extractions.reread_pages" if mode is Mode.REEXTRACT else "extractions.retry_pages"
    taken_up = [page for page, task in tasks.items() if task is not None]
    effects = (Effect(again, {"extraction": extraction.id, "pages": taken_up}),) if taken_up else ()
    group = _run(extraction, mode, version)
    following = _following(mode, said["state"], pages)
    if following is None:
        return Done(effects=effects, children=children, group=group)
    return Next(checkpoint=following, again=True, effects=effects, children=children, group=group)


def _following(mode: Mode, state: str, pages: list[ExtractionPage]) -> dict[str, str] | None:
    """Where the next portion begins."""
    if len(pages) == PORTION:
        return {"state": state, "after": pages[-1].page}
    states = states_of(mode)
    at = states.index(state) + 1
    return {"state": states[at], "after": ""} if at < len(states) else None


def _task_of(extraction: Extraction, page: ExtractionPage, mode: Mode, version: int) -> NewTask | None:
    """What is to be done for a page: fetch it, read it again, or nothing."""
    if mode is Mode.REEXTRACT:
        has_data = page.page_type.holds_data and page.content is not None
        return extract_task(extraction.id, extraction.recipe_name, page.page, version) if has_data else None
    if page.step == 0 and extraction.configuration.is_api:
        return _root_task(extraction)
    if page.status is PageStatus.SUCCESS and page.page_type.holds_data:
        return extract_task(extraction.id, extraction.recipe_name, page.page, version)
    return fetch_task(extraction.id, extraction.recipe_name, page.page, page.url)


PIPELINES = (Pipeline(START_EXTRACTION, Stage(start), Stage(go_on)),)
