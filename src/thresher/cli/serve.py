"""`thresher serve`: the HTTP API over the project's database."""

from typing import TYPE_CHECKING, Annotated

import typer

from thresher.cli.call import call_of

if TYPE_CHECKING:
    from thresher.build import Workshop

INTERRUPTED = 130


def command(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 takes any that is free.")] = 8000,
) -> None:
    """Serve the HTTP API until stopped. SIGTERM or Ctrl-C: answers under way finish; a second one drops them."""
    import asyncio
    from signal import SIGINT

    from thresher.cli.labour import log_to_stderr
    from thresher.cli.show import say
    from thresher.core.errors import ConfigError

    try:
        from thresher.web import server
    except ModuleNotFoundError as missing:
        raise ConfigError(f"the API needs {missing.name}: pip install 'thresher[web]'") from None

    call = call_of(ctx)
    log_to_stderr(verbose=call.verbose)
    with call.workshop() as shop:
        server.check_address(shop, host)
        with server.bind(host, port) as bound:
            url = f"{server.address_of(bound)}/api"
            said = f"The API is at {url}. {_advice(shop)}"
            came = asyncio.run(server.serve(shop, bound, lambda: say(call, {"url": url}, said)))
    raise typer.Exit(INTERRUPTED if came and came[0] == SIGINT else 0)


def _advice(shop: "Workshop") -> str:
    from thresher.insight.keys import has_keys

    if has_keys(shop.store):
        return "Send a key with every request: Authorization: Bearer KEY. Ctrl-C stops."
    return "It wants a key; make one with: thresher keys create me --scope read --scope write"
