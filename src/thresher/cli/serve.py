"""`thresher serve`: the dashboard and the HTTP API over the project's database."""

import logging
import sys
from signal import SIGINT
from typing import Annotated

import typer

from thresher.admin.admins import new_setup
from thresher.admin.keys import has_keys
from thresher.admin.status import worker_notice
from thresher.cli.call import CommandCall, call_of
from thresher.cli.show import say
from thresher.cli.worker import log_to_stderr
from thresher.core.errors import ConfigError
from thresher.engine import worker
from thresher.runtime import Runtime

INTERRUPTED = 130
PACKAGES = ("fastapi", "jinja2", "markupsafe", "pydantic", "starlette", "uvicorn")


def command(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 for any free port.")
    ] = 8000,
    proxies: Annotated[
        str,
        typer.Option(
            "--forwarded-allow-ips",
            metavar="ADDRESSES",
            help="Comma-separated addresses of proxies whose X-Forwarded-For is trusted.",
        ),
    ] = "",
    user_header: Annotated[
        str | None,
        typer.Option(
            "--trusted-user-header",
            metavar="NAME",
            help="Header in which those proxies say who somebody is, such as X-Remote-User.",
        ),
    ] = None,
) -> None:
    """Serve the dashboard and the HTTP API until stopped. SIGTERM or Ctrl-C: answers under way finish; a
    second one drops them.
    """
    try:
        from thresher.web import server
        from thresher.web.proxied import read_header
        from thresher.web.server import read_proxies
    except ModuleNotFoundError as missing:
        if missing.name not in PACKAGES:
            raise
        raise ConfigError(f"the server needs {missing.name}: pip install 'thresher[web]'") from None

    call, trusted = call_of(ctx), read_proxies(proxies)
    if user_header is not None:
        user_header = read_header(user_header, trusted)
    log_to_stderr(verbose=call.verbose)
    logging.getLogger("uvicorn").setLevel(
        logging.INFO if call.verbose else logging.WARNING
    )  # we say ourselves that we begin and end
    with call.runtime() as runtime:
        server.check_address(runtime, host)
        with server.bind(host, port) as bound:
            url, advice, setup = server.address_of(bound), _advice(runtime), new_setup(runtime.store)
            notice = worker_notice(runtime.store)
            came = worker.run_loop(
                server.serve(
                    runtime, bound, lambda: _announce(call, url, advice, setup, notice), trusted, user_header
                )
            )
    raise typer.Exit(INTERRUPTED if came and came[0] == SIGINT else 0)


def _announce(call: CommandCall, url: str, advice: str, setup: str | None, notice: str | None) -> None:
    first = (
        f"\nThere is no administrator yet. Create the first one at {url}/setup with this token, "
        f"valid once within an hour: {setup}"
        if setup
        else ""
    )
    more = {"setup": setup, "notice": notice}
    said = {
        "url": f"{url}/api",
        "dashboard": f"{url}/",
        **{name: each for name, each in more.items() if each},
    }
    last = f"\n{notice}" if notice else ""
    say(call, said, f"The dashboard is at {url}/ and the API at {url}/api. {advice}{first}{last}")
    sys.stdout.flush()  # whoever started us may wait for this line


def _advice(runtime: "Runtime") -> str:

    if has_keys(runtime.store):
        return "Programs send a key with every request: Authorization: Bearer KEY. Ctrl-C stops."
    return "Programs need a key; create one with: thresher keys create me --scope read --scope write"
