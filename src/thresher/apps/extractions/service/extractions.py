"""Extractions: start, follow, cancel, resume, retry and read them again; and their pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from thresher.admin.tasks import Added, add_within, cancel_run
from thresher.apps.extractions.model import (
    Extraction,
    ExtractionPage,
    ExtractionStatus,
    PageStatus,
    Recipe,
    RecipeStatus,
    api_key,
    fetch_key,
    page_name,
)
from thresher.apps.extractions.start import START_EXTRACTION, Mode, root_page
from thresher.apps.extractions.store import datasets, extractions, pages
from thresher.apps.extractions.store.datasets import DataItem, DataSet
from thresher.apps.extractions.store.extractions import StepFigures, StoredExtraction, start_key
from thresher.apps.extractions.store.recipes import find_recipe
from thresher.apps.extractions.store.totals import why_it_waits
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store.session import Session
from thresher.store.store import Store

RESUMABLE = (ExtractionStatus.STALE, ExtractionStatus.CANCELLED, ExtractionStatus.ERROR)
_RUNNING = """select payload, checkpoint from tasks where kind in ('fetchPage', 'extractDataWithApi')
    and dedupe_key in (:keys*) and state = 'running'"""


@dataclass(frozen=True, slots=True)
class ExtractionView:
    """An extraction as people see it, with its steps. `status` is IN_PROGRESS as soon as a task of it runs.
    `waits` says what it waits for while nothing of it runs. `cost` is in millionths of a dollar.
    """

    id: int
    recipe: str
    recipe_version: int
    url: str
    entity: str
    status: str
    reason: str | None
    is_api: bool
    created_at: int
    started_at: int | None
    moved_at: int | None
    ended_at: int | None
    cost: int
    dropped: int
    steps: tuple[StepFigures, ...] = ()
    running: Mapping[str, int] = field(default_factory=dict)
    items: int = 0
    unverified: int = 0
    datasets: tuple[int, ...] = ()
    waits: str | None = None
    previous_id: int | None = None

    @property
    def pages(self) -> int:
        return sum(step.total for step in self.steps)

    @property
    def pages_done(self) -> int:
        return sum(step.attempted for step in self.steps)

    @property
    def failed(self) -> int:
        return sum(step.failed + step.extractions_failed for step in self.steps)


@dataclass(frozen=True, slots=True)
class PageView:
    """One page with what leads to it and what was read from it. `status` is IN_PROGRESS while its task
    runs.
    """

    page: ExtractionPage
    status: str
    parents: tuple[str, ...] = ()
    items: tuple[DataItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """An extraction that was asked for, and the task that begins it."""

    extraction: int
    task: Added


# Look


def list_views(
    store: Store, recipe: str | None = None, *, limit: int = 20, before: int | None = None
) -> list[ExtractionView]:
    """The latest extractions, newest first."""
    with store.read() as session:
        recipe_id = _recipe(session, recipe).id if recipe is not None else None
        found = extractions.list_extractions(session, recipe_id, limit=limit, before=before)
        return [_view(session, each) for each in found]


def _recipe(session: Session, name: str) -> Recipe:
    found = find_recipe(session, name)
    if found is None:
        raise UnknownName(f"there is no recipe {name[:80]!r}; thresher recipes list shows them")
    return found


def show_extraction(store: Store, extraction_id: int) -> ExtractionView:
    """One extraction as it is now."""
    with store.read() as session:
        return _view(session, extractions.get_extraction(session, extraction_id))


def _view(session: Session, stored: StoredExtraction) -> ExtractionView:
    each = stored.extraction
    running = extractions.running_tasks(session, each.id)
    sets = datasets.datasets_of(session, each.id)
    is_over = each.status.is_over
    return ExtractionView(
        each.id,
        each.recipe_name,
        each.recipe_version,
        each.url,
        each.entity.name,
        _shown_status(each, running),
        each.reason,
        each.configuration.is_api,
        each.created_at,
        each.started_at or None,
        extractions.moved_at(session, each) or None,
        each.ended_at or None,
        each.cost if is_over else extractions.spent(session, each.id),
        each.dropped,
        tuple(extractions.read_figures(session, each.id)),
        running,
        sets[0].items if sets else 0,
        sets[0].unverified if sets else 0,
        tuple(found.id for found in sets),
        None if is_over or any(running.values()) else why_it_waits(session, each),
        each.previous_id,
    )


def _shown_status(extraction: Extraction, running: Mapping[str, int]) -> str:
    """A task that runs is the proof that it is in progress, and nothing is left behind when it is killed."""
    is_waiting = extraction.status is ExtractionStatus.WAITING
    return (ExtractionStatus.IN_PROGRESS if is_waiting and any(running.values()) else extraction.status).value


def list_pages(
    store: Store,
    extraction_id: int,
    *,
    state: str | None = None,
    step: int | None = None,
    after: str = "",
    limit: int = 100,
) -> list[PageView]:
    """Pages of an extraction, by their names; all, or those of a state or a step."""
    if state is not None and state not in pages.PAGE_STATES:
        raise UsageError(
            f"there is no state {state!r} of a page; write one of {', '.join(pages.PAGE_STATES)}"
        )
    with store.read() as session:
        extractions.get_extraction(session, extraction_id)
        found = pages.list_pages(session, extraction_id, state=state, step=step, after=after, limit=limit)
        return [PageView(each, _page_status(session, each)) for each in found]


def show_page(store: Store, extraction_id: int, page: str) -> PageView:
    """One page, with its parents and its items in the newest data set."""
    with store.read() as session:
        found = pages.find_page(session, extraction_id, page)
        if found is None:
            raise UnknownName(f"extraction {extraction_id} has no page {page[:80]!r}")
        sets = datasets.datasets_of(session, extraction_id)
        items = datasets.items_of_page(session, sets[0].id, page) if sets else []
        parents = pages.parents_of(session, extraction_id, page)
        return PageView(found, _page_status(session, found), tuple(parents), tuple(items))


def addresses_of(store: Store, extraction_id: int, names: Sequence[str]) -> dict[str, str]:
    """The addresses of pages of an extraction, by their names."""
    with store.read() as session:
        return pages.addresses_of(session, extraction_id, names)


def _page_status(session: Session, page: ExtractionPage) -> str:
    if page.status is not PageStatus.WAITING:
        return page.status.value
    # A list whose pages lead from one to the next is one task, which goes by the name of its first page.
    names = {page.page, page.list_page or page.page}
    keys = [make(page.extraction_id, name) for make in (fetch_key, api_key) for name in names]
    runs = any(_page_of(*row) == page.page for row in session.rows(_RUNNING, {"keys": keys}))
    return (PageStatus.IN_PROGRESS if runs else PageStatus.WAITING).value


def _page_of(payload: str, checkpoint: str | None) -> str:
    """The page that a task is at."""
    reached = orjson.loads(checkpoint).get("page") if checkpoint else None
    return str(reached or orjson.loads(payload)["page"])


def newest_dataset(store: Store, extraction_id: int) -> DataSet | None:
    with store.read() as session:
        return next(iter(datasets.datasets_of(session, extraction_id)), None)


# Change


def start(store: Store, registry: Registry, recipe: str) -> Started:
    """Begin an extraction by a recipe as it is now: the pages of its site, or its API."""
    with store.transaction() as transaction:
        session = transaction.session
        found = _recipe(session, recipe)
        if found.retired_at:
            raise NotAllowed(f"{found.name!r} is retired; add it again: thresher recipes add {found.name}")
        if found.configuration is None:
            raise NotAllowed(_not_ready(found.name, found.status, found.reason))
        now = store.backend.now(session)
        extraction_id = extractions.create_extraction(session, found, now)
        root = root_page(found.url, found.configuration)
        pages.add_pages(session, {"extraction": extraction_id, "pages": pages.to_rows((root,))}, now)
        (added,) = add_within(transaction, [registry.admit(_task(extraction_id, Mode.START))])
    return Started(extraction_id, added)


def _not_ready(name: str, status: RecipeStatus, reason: str | None) -> str:
    if status is RecipeStatus.ERROR:
        return f"the configuration of {name} could not be detected: {reason}; thresher recipes edit {name}"
    return f"the configuration of {name} is still being detected; thresher recipes show {name}"


def _task(extraction_id: int, mode: Mode, version: int = 1) -> NewTask:
    payload: dict[str, Any] = {"extraction": extraction_id, "mode": mode.value, "version": version}
    return NewTask(START_EXTRACTION, payload, key=start_key(extraction_id))


def cancel(store: Store, extraction_id: int, reason: str) -> ExtractionView:
    """End an extraction: what waits is cancelled, what runs is stopped, what was read stays."""
    with store.write() as session:
        stored = extractions.get_extraction(session, extraction_id)
        if stored.extraction.status.is_over:
            raise NotAllowed(f"extraction {extraction_id} is {stored.extraction.status} already")
        now = store.backend.now(session)
        extractions.cancel(session, {"extraction": extraction_id, "reason": reason}, now)
        run = extractions.live_run(session, extraction_id)
    if run is not None:
        cancel_run(store, run, reason)
    return show_extraction(store, extraction_id)


def resume(store: Store, registry: Registry, extraction_id: int) -> Started:
    """Go on with an extraction that stopped: with the pages that nobody has read yet. If it stopped because
    pages failed, those are read again.
    """
    return _again(store, registry, extraction_id, Mode.RESUME)


def retry(store: Store, registry: Registry, extraction_id: int) -> Started:
    """Read the pages that failed again, and what else is left."""
    return _again(store, registry, extraction_id, Mode.RETRY)


def reextract(store: Store, registry: Registry, extraction_id: int) -> Started:
    """Read every stored page again, without a request, into a new version of the data set."""
    return _again(store, registry, extraction_id, Mode.REEXTRACT)


def _again(store: Store, registry: Registry, extraction_id: int, mode: Mode) -> Started:
    with store.transaction() as transaction:
        session = transaction.session
        stored = extractions.get_extraction(session, extraction_id)
        _check_again(session, stored.extraction, mode)
        mode = Mode.RETRY if mode is Mode.RESUME and _is_broken(session, stored.extraction) else mode
        version = pages.newest_version(session, extraction_id)
        if mode is Mode.REEXTRACT:
            version = datasets.next_version(session, extraction_id)
        (added,) = add_within(transaction, [registry.admit(_task(extraction_id, mode, version))])
    return Started(extraction_id, added)


def _is_broken(session: Session, extraction: Extraction) -> bool:
    """Whether pages that failed are what an extraction stopped for: then nothing waits, and whoever takes up
    only what waits comes to the same end.
    """
    root = pages.find_page(session, extraction.id, page_name(extraction.url))
    return extraction.status is ExtractionStatus.ERROR or (
        root is not None and root.status is PageStatus.ERROR
    )


def _check_again(session: Session, extraction: Extraction, mode: Mode) -> None:
    if extractions.live_run(session, extraction.id) is not None:
        raise NotAllowed(
            f"extraction {extraction.id} still has tasks in the queue: {why_it_waits(session, extraction)}. "
            f"Wait for them, or cancel it first: thresher extract cancel {extraction.id}"
        )
    if mode is Mode.RESUME and extraction.status not in RESUMABLE:
        raise NotAllowed(
            f"extraction {extraction.id} is {extraction.status}; there is nothing to resume. "
            f"thresher extract retry {extraction.id} reads failed pages again"
        )
    if mode is Mode.REEXTRACT and extraction.configuration.is_api:
        raise NotAllowed(
            f"extraction {extraction.id} was read from an API, which leaves no pages to read again; start a new one"
        )
