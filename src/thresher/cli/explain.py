"""`thresher explain`: why something is as it is."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.explain import Explanation, explain
from thresher.admin.times import read_now
from thresher.cli.call import CommandCall, call_of
from thresher.cli.show import answer, cell
from thresher.cli.tasks import task_table


def command(
    ctx: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a task, or key or URL of something that an app knows."),
    ],
) -> None:
    """Explain a decision or a state.

    A task by its id; anything else by its key, as the apps of the project know it: every decision with its
    rule, its points and the words that caused it.
    """
    explain_one(call_of(ctx), what)


def explain_one(call: CommandCall, what: str) -> None:
    """Answer a command with the explanation of one thing."""
    with call.store() as store:
        found, now = explain(store, call.load_apps(broken=[]), what), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "Explanation", now: int) -> None:

    out.print(cell(f"{found.kind} {found.key}", "bold"))
    out.print(cell(found.title), cell(found.outcome))
    for sentence in found.sentences:
        out.print(cell(f"  {sentence}"))
    if found.tasks:
        out.print(task_table(found.tasks, now))
