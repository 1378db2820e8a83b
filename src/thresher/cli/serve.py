"""`thresher serve`: the dashboard and the HTTP API over the project's database. And what `up` shares with it:
how a server says where it is.
"""

import logging
import sys
from signal import SIGINT
from typing import Annotated
from urllib.parse import urlencode

import typer

from thresher.admin.admins import new_setup
from thresher.admin.keys import has_keys
from thresher.admin.status import worker_notice
from thresher.cli.call import CommandCall, call_of
from thresher.cli.logs import Format, LogFormat, log_to_stderr
from thresher.cli.otel import Otel, with_spans
from thresher.cli.show import say
from thresher.engine import worker
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web import server
from thresher.web.pages.login_required import SETUP
from thresher.web.proxied import read_header
from thresher.web.server import read_proxies

INTERRUPTED = 130
HOST, PORT = "127.0.0.1", 8000


def command(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = HOST,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 for any free port.")
    ] = PORT,
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
    log_format: Format = None,
    otel: Otel = None,
) -> None:
    """Serve the dashboard and the HTTP API until stopped. SIGTERM or Ctrl-C: answers under way finish; a
    second one drops them.
    """
    call, trusted = call_of(ctx), read_proxies(proxies)
    if user_header is not None:
        user_header = read_header(user_header, trusted)
    log_as_server(call, log_format)
    with call.runtime() as opened, with_spans(opened, call.url(call.project()), otel) as runtime:
        server.check_address(runtime, host)
        with server.bind(host, port) as bound:
            url, link = server.address_of(bound), setup_link(runtime.store, server.address_of(bound))
            notice = worker_notice(runtime.store)
            came = worker.run_loop(
                server.serve(
                    runtime, bound, lambda: announce(call, runtime, url, link, notice), trusted, user_header
                )
            )
    raise typer.Exit(INTERRUPTED if came and came[0] == SIGINT else 0)


def log_as_server(call: CommandCall, form: LogFormat | None) -> None:
    """We say ourselves that we begin and end."""
    log_to_stderr(verbose=call.verbose, form=form)
    logging.getLogger("uvicorn").setLevel(logging.INFO if call.verbose else logging.WARNING)


def setup_link(store: Store, url: str) -> str | None:
    """Where the first administrator is created; None if there is one.

    The token stands behind the #, which a browser never sends: no server, log, proxy or other page sees it.
    """
    token = new_setup(store)
    return f"{url}{SETUP}#{urlencode({'token': token})}" if token else None


def announce(
    call: CommandCall, runtime: Runtime, url: str, link: str | None, notice: str | None = None
) -> None:
    """Say where the server is, to people and to whoever started it and waits for this line."""
    first = (
        f"\nThere is no administrator yet. Create the first one with this link, valid once within an hour: {link}"
        if link
        else ""
    )
    more = {"setup": link, "notice": notice}
    said = {
        "url": f"{url}/api",
        "dashboard": f"{url}/",
        **{name: each for name, each in more.items() if each},
    }
    last = f"\n{notice}" if notice else ""
    say(call, said, f"The dashboard is at {url}/ and the API at {url}/api. {_advice(runtime)}{first}{last}")
    sys.stdout.flush()


def _advice(runtime: Runtime) -> str:
    if has_keys(runtime.store):
        return "Programs send a key with every request: Authorization: Bearer KEY. Ctrl-C stops."
    return "Programs need a key; create one with: thresher keys create me --scope read --scope write"
