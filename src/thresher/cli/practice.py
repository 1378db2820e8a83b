"""`thresher practice`: the practice web, for projects that practise offline."""

from typing import Annotated

import typer

from thresher.practice.web.__main__ import main

PORT = 8123


def command(
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port on 127.0.0.1 to listen on; 0 for any free port.")
    ] = PORT,
    day: Annotated[float, typer.Option(min=0, help="The day it is there.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed, the same web.")] = 7,
) -> None:
    """Serve the practice web until stopped: companies, boards, shops and catalogues that exist nowhere else.
    A project leads every name to it (fetch.resolve); no request leaves this machine.
    """
    raise typer.Exit(main(["--seed", str(seed), "--port", str(port), "--day", str(day)]))
