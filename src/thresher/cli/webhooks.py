"""`thresher webhooks`: which other programs are told of events, and how their deliveries stand."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from thresher.admin import webhooks as control
from thresher.admin.times import read_now, seconds
from thresher.admin.webhooks import DeliveryView, Pinged, SignedWebhook, WebhookView, signed_view
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, opens, short, when
from thresher.cli.show import answer, cell, pairs, say, table
from thresher.fetch.guard import Guard
from thresher.runtime import opened_fetcher

app = typer.Typer()

BY = "the command line"
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the webhook.")]


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name of your choice: letters, digits, dashes.")
    ],
    url: Annotated[str, typer.Argument(metavar="URL", help="The https address that messages are posted to.")],
    event: Annotated[
        list[str],
        typer.Option(metavar="KIND", help="Kind of event to deliver, or '*' for all. Repeatable."),
    ],
) -> None:
    """Tell another program of events from now on. The secret that signs them is shown once."""
    call = call_of(ctx)
    guard = Guard(call.project().fetch.allow)
    with call.store(migrate=True) as store:
        made = control.add_webhook(store, guard, name, url, event, made_by=BY)
    _say_secret(call, made, f"Try it with: thresher webhooks test {name}")


def _say_secret(call: CommandCall, made: SignedWebhook, more: str) -> None:
    told = (
        f"{made.secret}\nThis is the secret of the webhook {made.webhook.name}. Give it to the receiver, which verifies "
        f"signatures with it; it cannot be shown again. {more}"
    )
    say(call, signed_view(made), told)


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List webhooks: what they are told of, and how their deliveries stand."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = control.list_webhooks(store), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: Console, found: list[WebhookView], now: int) -> None:
    if not found:
        out.print("No webhooks. Add one with: thresher webhooks add NAME URL --event KIND")
        return
    rows = [
        [
            each.name,
            each.state,
            ", ".join(each.events),
            each.url,
            each.held_back or None,
            ago(each.last_success_at, now),
            short(each.why or "", 80) or None,
            opens(each.state, each.opens_at, now),
        ]
        for each in found
    ]
    out.print(table(["!name", "state", "events", "-url", "#held back", "#delivered", "why", "-opens"], rows))


@app.command()
def show(ctx: typer.Context, name: Name) -> None:
    """Show one webhook: its address, its events, and why it is paused."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = control.show_webhook(store, name), read_now(store)
    answer(call, found, lambda out, value: out.print(pairs(_rows(value, now))))


def _rows(found: WebhookView, now: int) -> list[tuple[str, str]]:
    old = found.old_secret_until_at
    return [
        ("url", found.url),
        ("events", ", ".join(found.events)),
        ("state", found.state),
        *([("why", found.why)] if found.why else []),
        ("held back", f"{found.held_back:,} deliveries"),
        ("delivered", ago(found.last_success_at, now) if found.last_success_at else "never"),
        ("source", found.source),
        ("added", when(found.created_at, now) + (f" by {found.made_by}" if found.made_by else "")),
        *([("old secret", f"signs too, until {when(old, now)}")] if old and old > now else []),
    ]


@app.command()
def test(ctx: typer.Context, name: Name) -> None:
    """Send a message of the kind ping now, past the queue. Exits 1 if it was not accepted."""
    call = call_of(ctx)
    project = call.project()
    with call.store() as store:

        async def sent() -> Pinged:
            async with opened_fetcher(project, store.settings) as fetcher:
                return await control.ping(store, fetcher, name)

        found = asyncio.run(sent())
    answer(call, found, lambda out, value: _draw_ping(out, name, value))
    raise typer.Exit(0 if found.ok else 1)


def _draw_ping(out: Console, name: str, found: Pinged) -> None:
    if found.ok:
        says = f": {found.answer}" if found.answer else ""
        out.print(cell(f"✓ {name} answered {found.status} in {found.seconds:.2f} s{says}", "green"))
    else:
        out.print(cell(f"✗ {name} did not take it: {found.why}", "red"))


@app.command()
def pause(
    ctx: typer.Context,
    name: Name,
    for_: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Duration: 10m, 2h, 1d. Default: until it is resumed."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Reason, shown with the webhook.")] = "paused manually",
) -> None:
    """Hold deliveries back. They wait, and none is lost."""
    call = call_of(ctx)
    lasts = None if for_ is None else seconds(for_)
    with call.store() as store:
        found = control.pause_webhook(store, name, reason, lasts=lasts)
    until = f"for {for_}" if for_ else f"until you resume it: thresher webhooks resume {name}"
    say(call, found, f"Deliveries to {name} wait {until}.")


@app.command()
def resume(ctx: typer.Context, name: Name) -> None:
    """Deliver again, whatever stopped it. What has waited is delivered first."""
    call = call_of(ctx)
    with call.store() as store:
        found = control.resume_webhook(store, name)
    say(call, found, f"Deliveries to {name} go out again.")


@app.command()
def rotate(
    ctx: typer.Context,
    name: Name,
    keep: Annotated[
        str, typer.Option(metavar="TIME", help="Time for which the old secret signs, too.")
    ] = "24h",
) -> None:
    """Make a new secret. Messages are signed with both until the old one ends."""
    call = call_of(ctx)
    lasts = seconds(keep)
    with call.store() as store:
        made = control.rotate_secret(store, name, keep=lasts)
    _say_secret(call, made, f"The one before signs, too, for {keep}.")


@app.command()
def remove(ctx: typer.Context, name: Name) -> None:
    """Forget a webhook and its secret, and cancel its deliveries that wait."""
    call = call_of(ctx)
    with call.store() as store:
        cancelled = control.remove_webhook(store, name)
    say(
        call,
        {"name": name, "cancelled": cancelled},
        f"The webhook {name} is removed; {cancelled:,} deliveries were cancelled.",
    )


@app.command()
def deliveries(
    ctx: typer.Context,
    name: Name,
    state: Annotated[
        str | None, typer.Option(metavar="STATE", help="Only these: retryable, failed, succeeded, ...")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List deliveries, newest first: the attempts, what came of the last, and when it is tried again."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = control.list_deliveries(store, name, state=state, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw_deliveries(out, value, now))


def _draw_deliveries(out: Console, found: list[DeliveryView], now: int) -> None:
    if not found:
        out.print("No deliveries yet: events are delivered as they happen, while a worker is running.")
        return
    rows = [
        [
            each.task,
            each.kind,
            each.state,
            each.attempts,
            short(each.says, 80),
            when(each.next_at, now) if each.next_at else None,
            ago(each.created_at, now),
            each.message,
        ]
        for each in found
    ]
    columns = ["!#id", "event", "state", "#attempts", "last", "next", "#enqueued", "-message"]
    out.print(table(columns, rows))


@app.command()
def replay(
    ctx: typer.Context,
    name: Name,
    delivery: Annotated[int, typer.Argument(metavar="ID", help="Id of the delivery, from: deliveries.")],
) -> None:
    """Deliver a message again, under the same message id."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        task = control.replay(runtime.store, runtime.registry, name, delivery)
    say(call, {"task": task}, f"Task {task} delivers it again; see it with: thresher tasks show {task}")
