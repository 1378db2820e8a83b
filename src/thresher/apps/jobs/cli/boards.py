"""`thresher boards`: where the postings come from: see, try, confirm, disable them."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console, RenderableType

from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.hiring.cli import BOARDS, OfCompany
from thresher.apps.jobs.service.boards import (
    BoardDetail,
    BoardView,
    TriedBoard,
    board_view,
    disable_board,
    enable_board,
    find_board,
    list_boards,
    show_board,
    try_board,
)
from thresher.cli.call import call_of
from thresher.cli.format import ago, short, when
from thresher.cli.numbers import numbered
from thresher.cli.show import answer, cell, known, linked, say, table
from thresher.hiring.records import LastLook
from thresher.runtime import DirectFetch, opened_fetcher

app = typer.Typer()

Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY",
        help="Board: its key, its URL, or its number in the last list (see `boards list`).",
        callback=numbered(BOARDS),
    ),
]


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Status: pending (waits for you), active, disabled.")
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(help="Platform: greenhouse, lever, …; site for a company's own pages, rss for a feed."),
    ] = None,
    company: OfCompany = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List boards with their last result and their problems."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = (
            list_boards(store, status=status, platform=platform, company=company, limit=limit),
            read_now(store),
        )
        asked = status or platform or company
        empty = (
            "No boards match; thresher boards list shows all."
            if asked
            else none_yet(what_was_checked(store), "boards")
        )
    answer(call, found, lambda out, value: out.print(board_table(value, now) if value else empty))


def board_table(found: "list[BoardView]", now: int) -> "RenderableType":
    """Boards, one a line."""
    rows = [
        [
            linked(short(each.company_name or each.company, 30), each.url),
            each.status,
            each.confidence,
            each.verdict,
            each.open,
            each.failures or None,
            ago(each.scraped_at, now),
            ago(each.last_success_at, now),
            short("; ".join([each.reason or "", *each.alarms]).strip("; "), 200),
            linked(each.key, each.url),
        ]
        for each in found
    ]
    return table(
        [
            "company",
            "status",
            "-confidence",
            "-last look",
            "#open",
            "-#failures",
            "#ago",
            "-#success",
            "+why, and alarms",
            "!board",
        ],
        rows,
        numbered=BOARDS.rows([each.key for each in found]),
    )


@app.command()
def show(ctx: typer.Context, key: Key) -> None:
    """Show one board: whose it is and by what proof, its last look, its coverage, its alarms."""
    call = call_of(ctx)
    with call.store() as store:
        detail, now = show_board(store, find_board(store, key).key), read_now(store)
    answer(call, detail, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: "Console", detail: "BoardDetail", now: int) -> None:

    board, record = detail.board, detail.record
    look, sample = record.last_look, record.sample if board.status == "pending" else None
    out.print(
        known(
            [
                ("board", board.key),
                ("url", board.url),
                ("company", f"{board.company_name or '–'} ({board.company or 'unknown'})"),
                ("status", cell(board.status)),
                ("excluded", board.excluded),
                ("why disabled", record.disabled_reason if board.status == "disabled" else None),
                ("disabled", when(record.disabled_at, now) if record.disabled_at else None),
                ("confidence", f"{board.confidence or '–'}, found by {record.method or '–'}"),
                ("proof", record.proof),
                ("last look", f"{look.verdict}: {look.reason or '–'}" if look else "none yet"),
                ("found", _found(look) if look else None),
                ("tried", f"{sample.count:,} postings; the first are below" if sample else None),
                ("postings", f"{detail.postings['open']:,} open, {detail.postings['closed']:,} closed"),
                ("failures in a row", board.failures or None),
                (
                    "coverage",
                    ", ".join(f"{name} {share:.0%}" for name, share in record.coverage.items()) or None,
                ),
                ("looked at", when(board.scraped_at, now)),
                ("last success", when(board.last_success_at, now) if board.last_success_at else "never"),
                ("next look", when(board.due_at, now) if board.status == "active" else "–"),
            ]
        )
    )
    for title in sample.titles if sample else ():
        out.print(cell(f"  {title}", "dim"))
    for alarm in board.alarms:
        out.print(cell(f"  ! {alarm}", "yellow"))


def _found(look: "LastLook") -> str:
    total = "" if look.total is None else f" of {look.total:,}"
    return f"{look.found:,}{total}, {'complete' if look.complete else 'not complete'}"


@app.command()
def test(ctx: typer.Context, key: Key) -> None:
    """Read a board as the next look would, and write nothing. Exits 1 if that finds no postings and no proof
    that there are none.
    """
    call = call_of(ctx)
    project = call.project()
    with call.store() as store:
        board = find_board(store, key)
        settings = store.settings

    async def visit() -> "TriedBoard":
        async with opened_fetcher(project, settings) as fetcher:
            return await try_board(board, DirectFetch(fetcher))

    found = asyncio.run(visit())
    answer(call, found, _draw_trial)
    raise typer.Exit(0 if found.readable else 1)


def _draw_trial(out: "Console", found: "TriedBoard") -> None:

    total = "" if found.total is None else f" of {found.total:,}"
    out.print(
        cell(f"{found.verdict}: {found.reason} ({found.count:,}{total} on the first page, {found.url})")
    )
    for title in found.sample:
        out.print(cell(f"  {title}"))


@app.command()
def enable(ctx: typer.Context, key: Key) -> None:
    """Have a board read from now on: one that waits for your word, or one that was disabled. Its failures are
    forgotten.
    """
    call = call_of(ctx)
    with call.runtime() as runtime:
        asked = enable_board(runtime.store, runtime.registry, key)
        view = board_view(find_board(runtime.store, asked.key))
    say(call, view, f"Board {asked.key} is active; task {asked.task} reads it.")


@app.command()
def disable(
    ctx: typer.Context,
    key: Key,
    reason: Annotated[str, typer.Option(help="Reason, shown with the board.")] = "disabled manually",
) -> None:
    """Disable a board until you enable it again. Its postings stay as they are."""
    call = call_of(ctx)
    with call.store() as store:
        view = board_view(disable_board(store, key, reason))
    say(
        call, view, f"Board {view.key} is no longer read; to read it again: thresher boards enable {view.key}"
    )
