"""`thresher sessions`: what scrapers outside are doing, and what they brought."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.times import read_now
from thresher.apps.roles.service.scrapes import SessionView, end_session, list_sessions
from thresher.cli.call import call_of
from thresher.cli.format import ago, short
from thresher.cli.numbers import Numbered, numbered
from thresher.cli.show import answer, say, table

app = typer.Typer()

SESSIONS = Numbered("sessions", "thresher sessions list")


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Status: in_progress, completed, failed or timeout.")
    ] = None,
    key: Annotated[int | None, typer.Option(metavar="ID", min=1, help="Only sessions of this key.")] = None,
    hours: Annotated[int, typer.Option(min=1, max=87_600, help="Only sessions of the last hours.")] = 24,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 100,
) -> None:
    """List the sessions of scrapers, the newest first: who looked for what, and how it ended."""
    call = call_of(ctx)
    with call.store() as store:
        found = list_sessions(store, hours=hours, key_id=key, status=status, limit=limit)
        now = read_now(store)
    answer(call, found, lambda out, value: _draw(out, value["sessions"], now))


def _draw(out: "Console", found: "list[SessionView]", now: int) -> None:

    if not found:
        out.print("No sessions in that time. Scrapers start one with GET /api/scraper/queue/next-role.")
        return
    rows = [
        [
            each.scraper_name,
            short(each.role_name, 40),
            ", ".join(each.platforms),
            each.status,
            each.verdict,
            ago(each.started_at, now),
            each.duration_seconds,
            each.jobs_imported,
            each.jobs_linked,
            each.jobs_updated,
            each.jobs_skipped,
            short(each.error_message, 200),
            each.session_id,
        ]
        for each in found
    ]
    names = [
        "scraper",
        "role",
        "-platforms",
        "status",
        "-verdict",
        "#ago",
        "-#seconds",
        "#new",
        "-#linked",
        "-#updated",
        "-#skipped",
        "+error",
        "-session",
    ]
    out.print(table(names, rows, numbered=SESSIONS.rows([each.session_id for each in found])))


@app.command()
def end(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            metavar="SESSION",
            help="Session: its key, or its number in the last list (see `sessions list`).",
            callback=numbered(SESSIONS),
        ),
    ],
    reason: Annotated[str, typer.Option(help="Reason, stored with the session.")] = "ended manually",
) -> None:
    """End a session that runs. Its role waits for a scraper again; what this one still sends is late."""
    call = call_of(ctx)
    with call.store() as store:
        done = end_session(store, session, reason)
    say(call, done, f"Session {done.session_id} is {done.session_status}; its role is {done.role_status}.")
