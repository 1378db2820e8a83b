"""`thresher probe`: the health check of a container that runs a worker."""

import os
import socket
from contextlib import closing
from typing import Annotated

import typer

from thresher.admin.status import is_working
from thresher.cli.call import call_of
from thresher.cli.show import say
from thresher.cli.worker import worker_name
from thresher.runtime import open_bare


def command(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the worker. Default: THRESHER_WORKER, then any worker on this host."),
    ] = None,
) -> None:
    """Check that a worker is at work: exit 0 while its heartbeat keeps its lease, else 1.

    Loads no app, so it costs little to repeat.
    """
    call, known_as, host = call_of(ctx), worker_name(name, os.environ), socket.gethostname()
    with closing(open_bare(call.url(call.project()))) as store:
        works = is_working(store, name=known_as, host=host)
    whom = f"the worker {known_as}" if known_as else f"a worker on {host}"
    says = (
        f"{whom} is at work."
        if works
        else f"{whom} has no lease: it has not started, or its heartbeat is late."
    )
    say(call, {"working": works, "worker": known_as, "host": host}, says[0].upper() + says[1:])
    raise typer.Exit(0 if works else 1)
