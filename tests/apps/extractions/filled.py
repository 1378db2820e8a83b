"""A project in which a site was extracted, with values that strangers wrote to do harm."""

from dataclasses import dataclass

import orjson

from tests.apps.extractions.shop import LIST, PRODUCT, configuration
from thresher.apps.extractions.model import Limits, Origin, StepKind, page_name
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.start import root_page
from thresher.apps.extractions.store import datasets, extractions, pages
from thresher.apps.extractions.store.recipes import save_recipe
from thresher.apps.extractions.walking.branch import NewPage
from thresher.core.task import Task, TaskId
from thresher.store import blobs
from thresher.store.session import Session
from thresher.store.store import Store

EVIL = "<img src=x onerror=alert(1)>"
TEXT = f"# Bench {EVIL}\n\nIt costs 12.50 EUR and is called Oak Bench."
DETAIL = f"{LIST}/oak-bench"
BROKEN = f"{LIST}/broken"


@dataclass(frozen=True, slots=True)
class Filled:
    """What was put there."""

    extraction: int
    dataset: int
    page: str
    broken: str


def fill(store: Store) -> Filled:
    """A recipe, an extraction with one page that was read and one that failed, and its data set."""
    with store.write() as session:
        now = store.backend.now(session)
        spec = RecipeSpec(LIST, PRODUCT, configuration(), Limits())
        recipe = save_recipe(session, "shop", spec, Origin.PERSON, "anna", now)
        made = extractions.create_extraction(session, recipe, now)
        root = root_page(LIST, configuration())
        found = [_detail(DETAIL), _detail(BROKEN)]
        pages.add_pages(session, {"extraction": made, "pages": pages.to_rows((root,))}, now)
        added = {"extraction": made, "pages": pages.to_rows(found), "parent": root.page}
        pages.add_pages(session, added, now)
    text = blobs.save(store, TEXT.encode(), task())
    with store.write() as session:
        dataset = _settle(store, made, text, session)
    return Filled(made, dataset, page_name(DETAIL), page_name(BROKEN))


def _detail(url: str) -> NewPage:
    level = configuration().levels[1]
    return NewPage(page_name(url), url, 2, StepKind.LINKS, 1, level.page_type)


def task() -> Task:
    return Task(TaskId(1), 1, "fetchPage", "fetch", {}, {}, None, TaskId(1), None, 0, 0, 0)


def _settle(store: Store, extraction: int, text: str, session: Session) -> int:
    now = store.backend.now(session)
    fetched = {
        "extraction": extraction,
        "status": "SUCCESS",
        "note": None,
        "final_url": None,
        "content": text,
        "markdown": text,
        "screenshot": None,
        "empty": None,
        "content_type": "text/html",
        "links": 2,
    }
    pages.page_fetched(session, {**fetched, "page": page_name(LIST), "extraction_status": None}, now)
    pages.page_fetched(session, {**fetched, "page": page_name(DETAIL), "extraction_status": "WAITING"}, now)
    failure = {"error": "ServerError", "message": f"503 {EVIL}", "stage": "fetch"}
    pages.page_failed(session, {"extraction": extraction, "page": page_name(BROKEN), "failure": failure}, now)
    start = TEXT.index("Oak Bench")
    place = {"quote": "Oak Bench", "start": start, "end": start + len("Oak Bench")}
    values = {"name": "Oak Bench", "description": EVIL}
    evidence = {"source": text, "places": {"name": place, "description": None}}
    item = [
        "shop.example/oak-bench",
        0,
        orjson.dumps(values).decode(),
        orjson.dumps(evidence).decode(),
        0,
        orjson.dumps(["description is not found in the page"]).decode(),
        "model",
        "d" * 64,
        DETAIL,
    ]
    stored = {"version": 1, "items": [item], "bodies": [text], "started": now, "extractor": "model"}
    datasets.items_stored(session, {"extraction": extraction, "page": page_name(DETAIL), **stored}, now)
    return datasets.ensure_dataset(session, extraction, 1, now)
