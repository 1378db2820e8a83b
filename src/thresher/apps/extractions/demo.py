"""The extractions app's part of the demo: a catalogue of the practice web, read whole into a data set.

How the site is walked is detected on the first day. On every later day it is extracted again, and the two
data sets are compared.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.apps.extractions.app import app
from thresher.apps.extractions.cli.extract import dollars
from thresher.apps.extractions.service import datasets, extractions
from thresher.apps.extractions.service.datasets import DataSetDiff, DataSetView, quotes_of
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.apps.extractions.service.recipes import show_recipe
from thresher.apps.extractions.store.datasets import DataItem
from thresher.cli.format import short
from thresher.runtime import opened_store
from thresher.store.store import Store

RECIPE = "courses"
SITE = "https://n24.numbered.catalogues.example/courses"  # twenty-four of its items
ITEMS, FIELDS, CHANGES = 3, 3, 6  # that are shown
MAX_CELL = 80
MAX_ITEMS = 1_000
LOOK = ("recipes show courses", "extract status 1", "datasets show courses")
READERS = {"data": "from their own data", "learned": "by what was learned", "model": "by a model"}


def ask(run: DemoRun) -> None:
    """On the first day, add the recipe: a worker finds out how its site is walked. On every later day,
    extract the site again.
    """
    if run.day:
        run.command("extract", "run", RECIPE)
    else:
        run.command("recipes", "add", RECIPE, "--url", SITE, "--entity", "course")


def finish(run: DemoRun) -> int:
    """Extract what was detected today, unless that was begun already by a run that was interrupted."""
    with opened_store(run.database, apps=(app,)) as store:
        is_ready = show_recipe(store, RECIPE).recipe.configured
        begun = any(each.created_at >= run.began for each in extractions.list_views(store, RECIPE, limit=1))
    if begun or not is_ready:
        return 0
    run.command("extract", "run", RECIPE)
    return run.command("run")


def report(run: DemoRun, store: Store) -> Iterator[Table | str]:
    """How the site is walked, what became of its pages, and some items with the words that prove them."""
    recipe = show_recipe(store, RECIPE).recipe
    latest = extractions.list_views(store, RECIPE, limit=1)
    if not latest or latest[0].created_at < run.began:
        yield f"\n[bold]A site, read whole[/bold]\n{escape(recipe.reason or recipe.status)}"
        return
    found = latest[0]
    yield steps(found)
    yield summary(store, found, recipe.reason)
    yield items(datasets.list_items(store, RECIPE, limit=ITEMS))
    if before := datasets.previous_dataset(store, RECIPE):
        yield from changes(store, before)


def counts(run: DemoRun, store: Store) -> dict[str, int]:  # noqa: ARG001  every app is asked alike
    """How many pages the newest extraction has read into how many items."""
    found = extractions.list_views(store, RECIPE, limit=MAX_ITEMS)
    newest = found[0] if found else None
    return {
        "extractions": len(found),
        "pages": newest.pages if newest else 0,
        "items": newest.items if newest else 0,
        "unverified": newest.unverified if newest else 0,
    }


def steps(found: ExtractionView) -> Table:
    names = ("step", "pages are", "pages", "fetched", "failed", "items")
    table = _table("A site, read whole", names, names[2:])
    for each in found.steps:
        figures = (each.total, each.succeeded, each.failed, each.items)
        table.add_row(each.kind.value, each.page_type, *(f"{number:,}" for number in figures))
    return table


def summary(store: Store, found: ExtractionView, reason: str | None) -> str:
    """How the site was understood, how the extraction ended, who read its pages, and what that cost."""
    by = Counter(each.read_by for each in datasets.list_items(store, RECIPE, limit=MAX_ITEMS))
    readers = ", ".join(f"{by[name]} {words}" for name, words in READERS.items() if by[name])
    ended = f"{found.status}: {found.reason or found.waits}"
    return escape(
        f"{short(reason, 100)}. {ended}. Read: {readers or 'none'}. Its cost: {dollars(found.cost) or 'nothing'}."
    )


def items(found: Sequence[DataItem]) -> Table:
    table = _table("Three of its items, and the words of the page", ("item", "field", "on the page"), ())
    for item in found:
        name = datasets.name_of(item)
        for place, (field, quote) in enumerate(list(quotes_of(item).items())[:FIELDS]):
            shown = "" if place else escape(short(name, MAX_CELL))
            table.add_row(shown, field, escape(short(quote, MAX_CELL)))
    return table


def changes(store: Store, before: DataSetView) -> Iterator[Table | str]:
    """What is new, changed and gone since the data set before."""
    found: DataSetDiff = datasets.diff(store, str(before.id), RECIPE, limit=CHANGES)
    counts = found.counts
    table = _table("Since the last time", ("", "item", "what changed"), ())
    for each in found.changes:
        table.add_row(each.what, escape(short(each.name, MAX_CELL)), ", ".join(each.fields))
    yield table
    yield f"{counts.new} new, {counts.changed} changed, {counts.gone} gone, {counts.same} the same."


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(
        title=f"\n{escape(title)}", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in names:
        table.add_column(name, justify="right" if name in numbers else "left")
    return table


DEMO = Demo(ask, report, counts, finish, look=LOOK)
