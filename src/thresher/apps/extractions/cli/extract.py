"""`thresher extract`: start extractions, follow them, and go on with those that stopped."""

import sys
import threading
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from thresher.admin.plain import jsonable
from thresher.admin.status import worker_notice
from thresher.admin.times import read_now
from thresher.apps.extractions.service import extractions
from thresher.apps.extractions.service.extractions import ExtractionView, PageView, Started
from thresher.apps.extractions.store.extractions import StepFigures
from thresher.apps.extractions.store.pages import PAGE_STATES
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, as_json, number, short, when
from thresher.cli.show import answer, cell, console, known, say, table
from thresher.core.answer import DOLLAR
from thresher.store.store import Store

app = typer.Typer()

Number = Annotated[int, typer.Argument(metavar="EXTRACTION", help="Number of the extraction.", min=1)]
EVERY = 0.5  # seconds between two looks
BAR_WIDTH = 32
_COLOURS = {
    "COMPLETE": "green",
    "SUCCESS": "green",
    "ERROR": "red",
    "STALE": "yellow",
    "CANCELLED": "bright_black",
    "IN_PROGRESS": "cyan",
    "SKIPPED": "magenta",
}


def status(word: str) -> Text:
    """The state of an extraction or a page, in its colour."""
    return cell(word, _COLOURS.get(word))


@app.command()
def run(
    ctx: typer.Context,
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="Name of the recipe.")],
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow it to its end. A worker does the work.")
    ] = False,
) -> None:
    """Start an extraction by a recipe. A worker does the work: thresher run, or thresher worker."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        started = extractions.start(runtime.store, runtime.registry, recipe)
        _started(
            call, started, f"Extraction {started.extraction} of {recipe} begins with task {started.task.id}."
        )
        if watch:
            _watch(call, runtime.store, started.extraction)


def _started(call: CommandCall, started: Started, sentence: str) -> None:
    say(call, started, sentence)


@app.command("list")
def list_(
    ctx: typer.Context,
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="Only those of this recipe.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 20,
) -> None:
    """List the latest extractions: how each stands, its pages, its items and its cost."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = extractions.list_views(store, recipe, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw_list(out, value, now))


def _draw_list(out: Console, found: list[ExtractionView], now: int) -> None:
    if not found:
        out.print("No extraction was started yet: thresher extract run RECIPE")
        return
    rows = [
        [
            each.id,
            each.recipe,
            status(each.status),
            ago(each.created_at, now),
            f"{each.pages_done:,}/{each.pages:,}",
            each.failed or None,
            each.items,
            dollars(each.cost),
            short(each.reason or each.waits, 80) or None,
        ]
        for each in found
    ]
    out.print(
        table(["!#id", "!recipe", "status", "-#ago", "#pages", "-#failed", "#items", "-#cost", "why"], rows)
    )


def dollars(cost: int) -> str | None:
    """A cost in millionths of a dollar, as people read it."""
    return f"${cost / DOLLAR:.4f}" if cost else None


@app.command("status")
def status_(
    ctx: typer.Context,
    extraction: Number,
    watch: Annotated[bool, typer.Option("--watch", help="Follow it to its end.")] = False,
) -> None:
    """Show one extraction: its steps with what became of their pages, its items and its cost."""
    call = call_of(ctx)
    with call.store() as store:
        if watch:
            _watch(call, store, extraction)
            return
        found, now = extractions.show_extraction(store, extraction), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: ExtractionView, now: int) -> None:
    out.print(
        known(
            [
                ("extraction", found.id),
                ("recipe", f"{found.recipe}, version {found.recipe_version}"),
                ("site", found.url),
                ("entity", found.entity),
                ("status", status(found.status)),
                ("why", found.reason),
                ("waits", found.waits),
                ("started", when(found.started_at, now) if found.started_at else None),
                ("last moved", when(found.moved_at, now) if found.moved_at else None),
                ("ended", when(found.ended_at, now) if found.ended_at else None),
                (
                    "items",
                    f"{found.items:,}" + (f", {found.unverified:,} unverified" if found.unverified else ""),
                ),
                ("not followed", number(found.dropped, "link") if found.dropped else None),
                ("cost", dollars(found.cost) or "$0"),
                ("data sets", ", ".join(map(str, found.datasets)) or None),
            ]
        )
    )
    out.print()
    out.print(_steps(found.steps))


def _steps(steps: tuple[StepFigures, ...]) -> RenderableType:
    rows = [
        [
            each.step,
            each.kind.value,
            each.page_type,
            each.total,
            each.waiting,
            each.succeeded,
            each.failed or None,
            each.skipped or None,
            each.extractions_succeeded or None,
            each.extractions_failed or None,
            each.items or None,
        ]
        for each in steps
    ]
    columns = [
        "#step",
        "found by",
        "pages are",
        "#pages",
        "#waiting",
        "#fetched",
        "#failed",
        "#skipped",
        "#read",
        "#unreadable",
        "#items",
    ]
    return table(columns, rows)


def _watch(call: CommandCall, store: Store, extraction: int) -> None:
    """Follow an extraction to its end. Ctrl-C ends the watching and nothing else."""
    pause, out = threading.Event(), console()
    if (notice := worker_notice(store)) and not call.json:
        console(stderr=True).print(cell(notice))
    try:
        if call.json or not out.is_terminal:
            _watch_lines(call, store, extraction, pause, out)
        else:
            with Live(console=out, auto_refresh=False) as live:
                while _is_open(found := extractions.show_extraction(store, extraction)):
                    live.update(picture(found), refresh=True)
                    pause.wait(EVERY)
                live.update(picture(found), refresh=True)
    except KeyboardInterrupt:
        return


def _watch_lines(
    call: CommandCall, store: Store, extraction: int, pause: threading.Event, out: Console
) -> None:
    last = ""
    while True:
        found = extractions.show_extraction(store, extraction)
        line = as_json(jsonable(found)) if call.json else _line(found)
        if line != last and call.json:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        elif line != last:
            out.print(cell(line))
        last = line
        if not _is_open(found):
            return
        pause.wait(EVERY)


def _is_open(found: ExtractionView) -> bool:
    return found.status in ("WAITING", "IN_PROGRESS")


def _line(found: ExtractionView) -> str:
    spent = f", {dollars(found.cost)}" if found.cost else ""
    said = f"{found.status}: {found.pages_done:,} of {found.pages:,} pages, {found.items:,} items{spent}"
    return f"{said}; {found.reason}" if found.reason else said


def picture(found: ExtractionView) -> Group:
    """A bar for each step, and one line for the whole."""
    grid = Table.grid(padding=(0, 1))
    for step in found.steps:
        bar = ProgressBar(
            total=max(step.total, 1),
            completed=step.attempted,
            width=BAR_WIDTH,
            complete_style="cyan",
            finished_style="green",
        )
        said = f"{step.attempted:,}/{step.total:,} pages" + (f", {step.items:,} items" if step.items else "")
        grid.add_row(cell(f"{step.kind.value}: {step.page_type}", "bold"), bar, Text(said))
    return Group(grid, cell(_line(found)))


@app.command()
def pages(
    ctx: typer.Context,
    extraction: Number,
    state: Annotated[
        str | None, typer.Option(help=f"Only pages in this state: {', '.join(PAGE_STATES)}.")
    ] = None,
    step: Annotated[int | None, typer.Option(min=0, help="Only pages of the step with this number.")] = None,
    after: Annotated[str, typer.Option(help="Only pages after this one: the next page of the list.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List the pages of an extraction, and what went wrong with those that failed."""
    call = call_of(ctx)
    with call.store() as store:
        found = extractions.list_pages(store, extraction, state=state, step=step, after=after, limit=limit)
    answer(call, found, lambda out, value: _draw_pages(out, value, limit))


def _draw_pages(out: Console, found: list[PageView], limit: int) -> None:
    if not found:
        out.print("There are no such pages.")
        return
    rows = [
        [
            each.page.page,
            status(each.status),
            each.page.page_type.value,
            each.page.items or None,
            each.page.extractor,
            short(_trouble(each), 80) or None,
            each.page.url,
        ]
        for each in found
    ]
    out.print(table(["!page", "status", "-type", "#items", "-read by", "why", "@url"], rows))
    if len(found) == limit:
        out.print(f"There may be more: --after {found[-1].page.page}")


def _trouble(view: PageView) -> str | None:
    failure = view.page.failure
    return f"{failure['error']}: {failure['message']}" if failure else view.page.note


@app.command()
def cancel(
    ctx: typer.Context,
    extraction: Number,
    reason: Annotated[str, typer.Option(help="Reason, shown with the extraction.")] = "cancelled by a person",
) -> None:
    """Cancel an extraction: nothing more is requested, and what was read stays."""
    call = call_of(ctx)
    with call.store() as store:
        found = extractions.cancel(store, extraction, reason)
    say(call, found, f"Extraction {found.id} is cancelled; {number(found.items, 'item')} stay.")


@app.command()
def resume(ctx: typer.Context, extraction: Number) -> None:
    """Go on with an extraction that stopped: read what waits, and what failed if it stopped for that."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        started = extractions.resume(runtime.store, runtime.registry, extraction)
    _started(call, started, f"Extraction {extraction} goes on with task {started.task.id}.")


@app.command()
def retry(ctx: typer.Context, extraction: Number) -> None:
    """Fetch and read the pages that failed again."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        failed = extractions.show_extraction(runtime.store, extraction).failed
        started = extractions.retry(runtime.store, runtime.registry, extraction)
    _started(
        call,
        started,
        f"{number(failed, 'failed page')} of extraction {extraction}: again, in task {started.task.id}.",
    )


@app.command()
def reread(ctx: typer.Context, extraction: Number) -> None:
    """Read the stored pages of an extraction again, without a request, into a new version of its data set."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        started = extractions.reextract(runtime.store, runtime.registry, extraction)
    _started(
        call, started, f"The pages of extraction {extraction} are read again, in task {started.task.id}."
    )
