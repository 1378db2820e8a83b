"""`thresher queries`: recurring searches, what they have seen, and when they run next."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from thresher.admin.times import read_now
from thresher.apps.queries.cli.watch import watch
from thresher.apps.queries.clients.catalogue import catalogue
from thresher.apps.queries.known_clients import project_clients
from thresher.apps.queries.model import IngestionRun
from thresher.apps.queries.service import queries
from thresher.apps.queries.service.alarms import AlarmView, list_alarms
from thresher.apps.queries.service.queries import (
    ClientView,
    DayOfQuery,
    QueryDetail,
    QueryView,
    Rewound,
    add_query,
    client_views,
    closed_until,
    list_clients,
    list_views,
    recent_runs,
    show_query,
)
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, number, short, span, when
from thresher.cli.show import answer, cell, known, say, table
from thresher.core.clock import SECOND
from thresher.core.errors import UsageError

app = typer.Typer()
app.command()(watch)

Name = Annotated[str, typer.Argument(metavar="QUERY", help="Name or key of the query.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")]
_COLOURS = {"SUCCESS": "green", "ERROR": "red", "RUNNING": "cyan"}
_MARKS = {
    "seen": ("█", "green"),
    "recent": ("▓", "cyan"),
    "partial": ("▒", "yellow"),
    "missing": ("·", "red"),
}


def status(word: str) -> Text:
    """The state of a query or a run, in its colour."""
    return cell(word, _COLOURS.get(word))


@app.command("list")
def list_(
    ctx: typer.Context,
    retired: Annotated[bool, typer.Option("--retired", help="Show retired queries too.")] = False,
) -> None:
    """List queries: when each ran last, how that ended, how far it has come, and when it runs next."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_views(store, retired=retired), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: Console, found: list[QueryView], now: int) -> None:
    if not found:
        out.print(
            "No queries. Add one: thresher queries add NAME --client remotive --text python. Or declare "
            "them in thresher.yaml under queries.searches: a worker, a server and thresher queries run read it."
        )
        return
    rows = [
        [
            short(each.name, 40),
            each.client,
            status(each.status),
            ago(each.last_run_at, now),
            each.last_processed_date,
            each.next_updated_since,
            each.offers,
            _next(each, now),
        ]
        for each in found
    ]
    columns = ["!query", "client", "status", "#last run", "processed", "asks since", "#offers", "next"]
    out.print(table(columns, rows))


def _next(query: QueryView, now: int) -> str:
    """When it runs next, or why it does not."""
    if query.retired_at:
        return "retired"
    if query.paused_at:
        return f"paused: {query.paused_reason or 'by a person'}"
    if query.client_closed_until:
        return f"{query.client} rests {closed_until(query)}: {short(query.client_closed_reason, 60)}"
    if query.running:
        return "is running"
    if not query.due_at or query.due_at <= now:
        return "due"
    return f"in {span((query.due_at - now) / SECOND)}"


@app.command()
def show(ctx: typer.Context, query: Name) -> None:
    """Show one query: its state, its days and its latest runs."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = show_query(store, query), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: QueryDetail, now: int) -> None:
    query = found.query
    out.print(
        known(
            [
                ("query", query.name),
                ("key", query.query_key),
                ("client", query.client),
                ("searches for", query.text or "everything"),
                ("with", ", ".join(f"{name}={value}" for name, value in query.parameters.items())),
                ("status", status(query.status)),
                ("last run", when(query.last_run_at, now) if query.last_run_at else "never"),
                ("last success", when(query.last_success_at, now) if query.last_success_at else "never"),
                ("last error", when(query.last_error_at, now) if query.last_error_at else None),
                ("error", query.error),
                ("failures in a row", query.consecutive_failures or None),
                ("history from", query.start_date),
                ("processed date", query.last_processed_date),
                ("asks next since", query.next_updated_since),
                ("offers", query.offers),
                ("next run", _next(query, now)),
            ]
        )
    )
    if found.days:
        out.print()
        out.print(_strip(found.days))
    out.print()
    _draw_runs(
        out, found.runs, now, nothing="It has not run yet. A worker runs it: thresher run, or thresher worker"
    )


def _strip(days: list[DayOfQuery]) -> Text:
    """The days as one line, the oldest first."""
    legend = "█ seen  ▓ looked at again  ▒ partial  · missing"
    return Text.assemble(f"{days[0].day} ", day_strip(days), f" {days[-1].day}   {legend}")


def day_strip(days: Sequence[DayOfQuery]) -> Text:
    """One sign for each day."""
    return Text.assemble(*(_MARKS[each.state] for each in days))


def _draw_runs(
    out: Console, runs: list[IngestionRun], now: int, nothing: str, names: Mapping[str, str] | None = None
) -> None:
    """Runs as a table; `names` of queries, where they are not all of one."""
    if not runs:
        out.print(nothing)
        return
    rows = [
        [
            ago(each.started_at, now),
            *([short(names.get(each.query_key, each.query_key), 40)] if names is not None else []),
            status(each.status.value),
            _window(each),
            each.pages_fetched,
            each.offers_fetched,
            each.offers_new,
            each.offers_updated,
            each.offers_gone,
            each.requests_count,
            each.errors_count,
            (each.stop_reason or "running").replace("_", " "),
            short(each.note, 60) or None,
        ]
        for each in runs
    ]
    columns = [
        "#ago",
        *(["query"] if names is not None else []),
        "status",
        "days",
        "#pages",
        "#offers",
        "#new",
        "#updated",
        "#gone",
        "#requests",
        "#errors",
        "stopped",
        "note",
    ]
    out.print(table(columns, rows))


def _window(run: IngestionRun) -> str | None:
    return f"{run.window_from} to {run.window_to}" if run.window_from else None


@app.command()
def runs(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]", help="Only runs of this query.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 20,
) -> None:
    """List the latest runs of all queries, or of one."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = recent_runs(store, query, limit), read_now(store)
        names = {each.query_key: each.name for each in list_views(store, retired=True)}
    nothing = "No query has run yet. A worker runs them: thresher run, or thresher worker"
    answer(call, found, lambda out, value: _draw_runs(out, value, now, nothing, names))


@app.command()
def clients(ctx: typer.Context) -> None:
    """List the clients that queries search with, their parameters, and what they need."""
    call = call_of(ctx)
    folder = call.project().folder
    answer(call, client_views(catalogue(folder), project_clients(folder)), _draw_clients)


def _draw_clients(out: Console, found: list[ClientView]) -> None:
    rows = [
        [
            each.name,
            each.title,
            each.window,
            ", ".join(each.parameters) or None,
            _needs(each),
        ]
        for each in found
    ]
    out.print(table(["!client", "what it searches", "window", "parameters", "environment"], rows))


def _needs(client: ClientView) -> str | None:
    return ", ".join(f"{name} (not set)" if name in client.missing else name for name in client.needs) or None


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the query, as you like.")],
    client: Annotated[str, typer.Option(help="Client to search with; thresher queries clients lists them.")],
    text: Annotated[str, typer.Option(help="Text to search for.")] = "",
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Parameter of the client; may be repeated."),
    ] = None,
    start: Annotated[
        str | None, typer.Option(metavar="DAY", help="First day of its history: 2026-10-01.")
    ] = None,
    max_pages: Annotated[int | None, typer.Option(help="Maximum number of pages in one run.")] = None,
    max_offers: Annotated[int | None, typer.Option(help="Maximum number of offers in one run.")] = None,
) -> None:
    """Add a query. One that searches for the same keeps its history and takes the new name and limits."""
    said = {
        "client": client,
        "text": text,
        "parameters": dict(map(_pair, parameter or ())),
        "start": start,
        "max_pages": max_pages,
        "max_offers": max_offers,
    }
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = add_query(runtime.store, name, said)
        missing = [
            each for view in list_clients(runtime.store) if view.name == found.client for each in view.missing
        ]
    needs = f" They need {', '.join(missing)}, which is not set here." if missing else ""
    told = f"{found.name} searches {found.client} ({found.query_key}). Workers run it from now on.{needs}"
    say(call, found, told)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"--parameter {text!r} has no value; write --parameter NAME=VALUE")
    return name.strip(), value


@app.command()
def run(
    ctx: typer.Context,
    query: Annotated[list[str] | None, typer.Argument(metavar="[QUERY]...", help="Only these.")] = None,
) -> None:
    """Make queries due now. A worker runs them one after the other: thresher run, or thresher worker."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        added = queries.run_now(runtime.store, runtime.registry, query or None)
    which = ", ".join(query) if query else "All queries"
    say(call, added, f"{which}: due now, in task {added.id}.")


@app.command()
def sync(ctx: typer.Context) -> None:
    """Sync the sheet and the files of companies now, whatever the hour. A worker does it in its turn."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        added = queries.sync_now(runtime.store, runtime.registry)
    told = f"The outputs are synced next, in task {added.id}."
    say(call, added, told if added.new else f"The outputs are to be synced already, in task {added.id}.")


@app.command()
def alarms(
    ctx: typer.Context,
    cleared: Annotated[bool, typer.Option("--all", help="Show alarms that are over too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 100,
) -> None:
    """List open alarms: what a person has to know, since when, and how often it happened."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_alarms(store, cleared=cleared, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw_alarms(out, value, now))


def _draw_alarms(out: Console, found: list[AlarmView], now: int) -> None:
    if not found:
        out.print("No alarm is open.")
        return
    rows = [
        [
            cell("open", "red") if each.is_open else cell("over", "green"),
            each.name,
            each.subject,
            ago(each.raised_at, now),
            each.times,
            ago(each.told_at, now) if each.told_at else "nobody yet",
            short(each.message, 120),
        ]
        for each in found
    ]
    out.print(table(["state", "alarm", "about", "-#raised", "-#times", "-#told", "message"], rows))


@app.command()
def pause(
    ctx: typer.Context,
    query: Name,
    reason: Annotated[str, typer.Option(help="Reason, shown with the pause.")] = "paused manually",
) -> None:
    """Pause a query until it is resumed. A run that is under way ends as usual."""
    call = call_of(ctx)
    with call.store() as store:
        found = queries.pause(store, query, reason)
    say(call, found, f"{found.name} is paused: {reason}.")


@app.command()
def resume(ctx: typer.Context, query: Name) -> None:
    """Run a paused query again."""
    call = call_of(ctx)
    with call.store() as store:
        found = queries.resume(store, query)
    say(call, found, f"{found.name} runs again.")


@app.command()
def remove(ctx: typer.Context, query: Name) -> None:
    """Retire a query: it runs no more, and what it has found is kept."""
    call = call_of(ctx)
    with call.store() as store:
        found = queries.retire(store, query)
    say(call, found, f"{found.name} is retired; its {number(found.offers, 'offer')} stay.")


@app.command()
def reset(ctx: typer.Context, query: Name, dry_run: DryRun = False) -> None:
    """Forget how far a query has come: its history is looked at again. Nothing is stored twice."""
    call = call_of(ctx)
    with call.store() as store:
        found = queries.reset(store, query, dry_run=dry_run)
    _say_rewound(call, found, f"looks again at {number(found.days, 'day')} that it has seen")


@app.command()
def backfill(
    ctx: typer.Context,
    query: Name,
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="First day: 2026-01-01.")],
    last: Annotated[str | None, typer.Option("--to", metavar="DAY", help="Last day; default: today.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Look at days of the past, again or for the first time, newest first."""
    call = call_of(ctx)
    with call.store() as store:
        until = _day(last, "--to") if last else date.fromtimestamp(read_now(store) / SECOND)  # noqa: DTZ012
        found = queries.backfill(store, query, _day(first, "--from"), until, dry_run=dry_run)
    _say_rewound(call, found, f"looks at {number(found.days, 'day')} from {found.first} to {found.last}")


def _day(text: str, option: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r} is not a day; write it as 2026-01-31") from None


def _say_rewound(call: CommandCall, found: Rewound, what: str) -> None:
    would = "would " if found.dry_run else ""
    verb = what if not found.dry_run else what.replace("looks", "look", 1)
    told = f"{found.name} {would}{verb}."
    say(call, found, told + (" Nothing was changed." if found.dry_run else " It is due now."))
