"""`thresher notify`: send a message to the targets of the project, to see whether they get it."""

import asyncio
import logging
from typing import Annotated

import typer
from rich.console import Console

from thresher.cli.call import call_of
from thresher.cli.show import answer, cell
from thresher.core.errors import ConfigError
from thresher.notify.notifier import Notifier, Sent


def command(
    ctx: typer.Context,
    title: Annotated[str, typer.Option(help="Title of the message.")] = "Thresher can reach you",
    body: Annotated[
        str, typer.Option(help="Body of the message.")
    ] = "This is a test message. Notifications will arrive here.",
) -> None:
    """Send a test message to every target of `notify:` in thresher.yaml, and say who got it. Exits 1 if one
    did not.
    """
    call = call_of(ctx)
    wanted = call.project().notify
    if not wanted:
        raise ConfigError(
            "there is no one to notify: thresher.yaml has no notify: list (see docs/how-to/get-notified.md)"
        )
    logging.getLogger("thresher.notify").setLevel(
        logging.ERROR
    )  # who was not told is the answer, and is said once
    sent = asyncio.run(Notifier(wanted.urls, wanted.unset).send(title, body))
    answer(call, sent, _draw)
    raise typer.Exit(1 if sent.missed else 0)


def _draw(out: "Console", sent: "Sent") -> None:

    for name in sent.delivered:
        out.print(cell(f"✓ {name} got it", "green"))
    for each in sent.missed:
        out.print(cell(f"✗ {each.target} did not: {each.why}", "red"))
