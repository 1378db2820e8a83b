"""`thresher worker`: work for ever, and say so in log lines."""

from typing import Annotated

import typer

from thresher.cli.call import call_of


def command(
    ctx: typer.Context,
    concurrency: Annotated[int | None, typer.Option(min=1, max=10_000, help="Tasks in hand at once; else worker.concurrency.")] = None,
    name: Annotated[str | None, typer.Option(help="How this worker is called; else host:pid.")] = None,
) -> None:
    """Work until stopped. SIGTERM or Ctrl-C: finish or hand back what is in hand; a second one hands back at once."""
    import logging

    from thresher.build import opened_worker
    from thresher.cli.labour import labour, log_to_stderr
    from thresher.cli.show import say
    from thresher.config.project import hide_password
    from thresher.engine import loop

    call = call_of(ctx)
    log_to_stderr(verbose=call.verbose)
    url = call.url(call.project())
    with call.workshop() as shop, opened_worker(shop, url, name=name, concurrency=concurrency) as worker:
        kinds = ", ".join(shop.registry.kinds) or "none: name an app in thresher.yaml or with --app"
        logging.getLogger("thresher").info("working on %s; kinds: %s", hide_password(url), kinds)
        ended = loop.run(labour(worker))
    say(call, ended.summary(), ended.sentence())
    ended.leave()
