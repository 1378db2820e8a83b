"""`thresher worker`: work for ever, and say so in log lines."""

import logging
from typing import Annotated

import typer

from thresher.cli.call import CommandCall, call_of
from thresher.cli.exits import exit_code
from thresher.cli.run_worker import labour, log_to_stderr
from thresher.cli.show import say
from thresher.config.project import hide_password
from thresher.engine.supervisor import RESTART, Pulse, supervise
from thresher.engine.worker import run_loop
from thresher.runtime import opened_worker

ONLY = "Apps and kinds to serve, separated by commas; else all."
NOT = "Apps and kinds to leave to other workers, separated by commas."


def names_in(text: str | None) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def command(
    ctx: typer.Context,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Maximum number of concurrent tasks. Default: worker.concurrency."
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the worker. Default: host:pid.")] = None,
    only: Annotated[str | None, typer.Option("--only", help=ONLY)] = None,
    without: Annotated[str | None, typer.Option("--not", help=NOT)] = None,
) -> None:
    """Work until stopped, in a child process that is started again if it dies or hangs.

    SIGTERM or Ctrl-C: finish or hand back running tasks; a second one hands back at once.
    """
    call = call_of(ctx)
    log_to_stderr(verbose=call.verbose)

    def work(pulse: "Pulse") -> int:
        return exit_code(lambda: _work(call, pulse, concurrency, name, only, without), call.words)

    raise typer.Exit(supervise(work))


def _work(
    call: CommandCall,
    pulse: "Pulse",
    concurrency: int | None,
    name: str | None,
    only: str | None,
    without: str | None,
) -> None:

    url = call.url(call.project())
    with call.workshop() as runtime:
        serves = runtime.registry.scopes(only=names_in(only), without=names_in(without))
        kinds = (
            ", ".join(dict.fromkeys(kind for kind, _ in serves))
            or "none: name an app in thresher.yaml or with --app"
        )
        logging.getLogger("thresher").info("working on %s; kinds: %s", hide_password(url), kinds)
        with opened_worker(
            runtime, url, name=name, concurrency=concurrency, recycle=True, serves=serves
        ) as worker:
            ended = run_loop(labour(worker, beat=lambda: pulse.beat(runtime.store.settings)))
    say(call, ended.summary(), ended.sentence())
    ended.leave(RESTART if ended.worn_out and not ended.interrupted else 0)
