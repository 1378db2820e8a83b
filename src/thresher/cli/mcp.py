"""`thresher mcp`: the tools of a project for an assistant, which starts this command and talks over pipes."""

import asyncio
import sys
from typing import Annotated

import typer

from thresher.cli.call import call_of, user_name
from thresher.cli.serve import log_as_server
from thresher.store.settings import refresh_settings
from thresher.web.mcp import MAX_LINE, answer_line
from thresher.web.tools import Tools


def command(
    ctx: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Offer tools that change something, too.")] = False,
) -> None:
    """Serve tools to an assistant (Model Context Protocol) over stdin and stdout, until stdin ends. Without
    --write they only read.
    """
    call = call_of(ctx)
    log_as_server(call, None)
    lines, out = sys.stdin.buffer, sys.stdout.buffer
    with call.runtime() as runtime, asyncio.Runner() as runner:
        tools = Tools(runtime, user_name(), writes=write)
        # One at a time: an assistant waits for its answer, and nothing here takes long.
        while line := lines.readline(MAX_LINE + 2):
            if not line.strip():
                continue
            refresh_settings(runtime.store)
            if (answer := runner.run(answer_line(tools, line))) is not None:
                out.write(answer)
                out.flush()
