"""`thresher costs`: what models have cost, what is left of today's caps, and what waiting work may cost."""

from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin import costs
from thresher.admin.costs import Costs, Estimate, dollars
from thresher.admin.times import read_now, seconds
from thresher.cli.call import call_of
from thresher.cli.format import ago
from thresher.cli.show import answer, table
from thresher.core.clock import to_us
from thresher.core.errors import UsageError


def command(
    ctx: typer.Context,
    by: Annotated[
        str, typer.Option(help="Group by day, app, model, prompt, kind, subject, run or task.")
    ] = "day",
    since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Only calls of the last 12h, 7d, 4w. Default: all.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate the cost of the waiting tasks instead.")
    ] = False,
    calls: Annotated[bool, typer.Option("--calls", help="List single calls instead, newest first.")] = False,
    task: Annotated[int | None, typer.Option(min=1, metavar="ID", help="Only calls of this task.")] = None,
    run: Annotated[
        int | None,
        typer.Option(min=1, metavar="ID", help="Only calls of this task and its descendants."),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="GROUP=VALUE",
            help="Only calls of this group: model=openai/mini, kind=item, subject=extractions/shop, day=2026-11-20. May be repeated.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """Show the cost of models, and what is left of the budgets.

    Amounts in JSON are whole millionths of a dollar.
    """
    call = call_of(ctx)
    span = None if since is None else to_us(seconds(since))
    with call.store() as store:
        if calls or task or run or of:
            found = costs.list_calls(store, task=task, run=run, of=_groups(of), since_us=span, limit=limit)
            answer(call, found, partial(_draw_calls, now=read_now(store)))
        elif estimate:
            answer(call, costs.estimate(store), _draw_estimate)
        else:
            answer(call, costs.read_costs(store, by=by, since_us=span, limit=limit), _draw)


def _groups(of: list[str] | None) -> dict[str, str]:
    """Read GROUP=VALUE. A task and a run have options of their own."""
    pairs = [each.partition("=") for each in of or []]
    wrong = next((name for name, equals, value in pairs if not (name and equals and value)), None)
    if wrong is not None:
        raise UsageError(f"--of takes GROUP=VALUE, such as model=openai/mini; got {wrong!r}")
    return {name: value for name, _, value in pairs}


def _draw(out: "Console", found: "Costs") -> None:

    if found.lines:
        rows = [[line[found.by] or "none", *_cells(line)] for line in found.lines]
        shown = [*rows, ["all", *_cells(found.total)]] if len(rows) > 1 else rows
        columns = [
            "#calls",
            "#tokens in",
            "#tokens out",
            "#spent",
            "#in flight",
            "#assumed",
            "#used again",
            "#saved",
        ]
        out.print(table([found.by, *columns], shown))
    else:
        out.print("No model was called.")
    caps = [
        [each.scope, *(dollars(part) for part in (each.cap, each.spent, each.reserved, each.left))]
        for each in found.today
    ]
    out.print(table(["cap", "#dollars", "#spent", "#in flight", "#left"], caps, title="today (UTC)"))


def _cells(line: dict[str, Any]) -> list[str | None]:

    counts = [f"{line[name]:,}" for name in ("calls", "input_tokens", "output_tokens")]
    money = [
        dollars(line["spent"]),
        *(dollars(line[name]) if line[name] else None for name in ("reserved", "assumed")),
    ]
    return [
        *counts,
        *money,
        f"{line['reused']:,}" if line["reused"] else None,
        dollars(line["saved"]) if line["saved"] else None,
    ]


def _draw_calls(out: "Console", found: list[dict[str, Any]], now: int) -> None:

    if not found:
        out.print("No model was called.")
        return
    rows = [
        [
            each["id"],
            ago(each["at"], now),
            each["task_id"],
            each["app"],
            each["kind"],
            each["subject"],
            f"{each['provider']}/{each['model']}",
            each["prompt"],
            each["state"],
            f"{each['input_tokens']:,}",
            f"{each['output_tokens']:,}",
            dollars(each["reserved"]),
            None if each["spent"] is None else dollars(each["spent"]),
        ]
        for each in found
    ]
    out.print(
        table(
            [
                "#id",
                "#ago",
                "#task",
                "app",
                "-kind",
                "-for",
                "model",
                "prompt",
                "state",
                "#tokens in",
                "#tokens out",
                "#at worst",
                "#spent",
            ],
            rows,
        )
    )


def _draw_estimate(out: "Console", found: "list[Estimate]") -> None:

    if not found:
        out.print("Nothing waits.")
        return
    rows = [
        [
            each.kind,
            each.waiting,
            each.ended,
            *("unknown" if amount is None else dollars(amount) for amount in (each.each, each.total)),
        ]
        for each in found
    ]
    out.print(table(["kind", "#waiting", "#ended", "#cost each", "#may cost"], rows))
    out.print(
        "Based on finished tasks of the same kind, without the tasks they spawn. Unknown: no task "
        "of that kind has ended yet."
    )
