"""`thresher bench`: measure the queue on this machine."""

from typing import Annotated

import typer

from thresher.cli.call import call_of
from thresher.cli.show import answer, pairs
from thresher.core.errors import UsageError

app = typer.Typer()


@app.callback()
def group() -> None:
    """Measure."""


@app.command()
def queue(
    ctx: typer.Context,
    store: Annotated[str, typer.Option(help="Database to measure: sqlite or postgres.")] = "sqlite",
    tasks: Annotated[int, typer.Option(min=1, help="Number of tasks to drain.")] = 20_000,
    gates: Annotated[int, typer.Option(min=0, max=3, help="Gates per lane: 0 or 3.")] = 3,
    lanes: Annotated[int, typer.Option(min=1, help="Number of lanes to spread the tasks over.")] = 1_000,
    backlog: Annotated[int, typer.Option(min=0, help="Number of other waiting tasks.")] = 0,
    blocked: Annotated[int, typer.Option(min=0, help="Number of lanes behind a closed gate.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Tasks per claim.")] = 20,
) -> None:
    """Enqueue no-op tasks and drain them with one worker; print what that took."""
    from thresher.bench.queue import run

    if store not in ("sqlite", "postgres"):
        raise UsageError(f"--store must be sqlite or postgres, got {store!r}")
    call = call_of(ctx)
    found = run(
        store=store,
        tasks=tasks,
        gates=gates,
        lanes=lanes,
        backlog=backlog,
        blocked=blocked,
        batch=batch,
        database=call.database,
    )
    shown = [
        (name, f"{value:,}" if isinstance(value, int | float) else value) for name, value in found.items()
    ]
    answer(call, found, lambda out, _: out.print(pairs(shown)))
