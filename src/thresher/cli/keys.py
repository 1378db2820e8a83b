"""`thresher keys`: who may use the HTTP API."""

import shlex
from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.keys import (
    KeyView,
    create_key,
    default_scopes,
    key_view,
    list_keys,
    made_view,
    revoke_key,
    switch_key,
)
from thresher.admin.times import read_now, seconds
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, when
from thresher.cli.show import answer, say, table

app = typer.Typer()

Scopes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SCOPE",
        help="Scope: read, write, admin, or a scope of an app. Repeatable. Default: the first that an app brings, else read.",
    ),
]
BY = "the command line"
Which = Annotated[str, typer.Argument(metavar="NAME|ID", help="Name of the key's owner, or id of the key.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the key's owner.")]


@app.command()
def create(
    ctx: typer.Context,
    name: Name,
    scope: Scopes = None,
    source: Annotated[
        list[str] | None,
        typer.Option(metavar="PLATFORM", help="Only this platform. Repeatable. Default: all."),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Lifetime: 12h, 90d. Default: until it is revoked."),
    ] = None,
    rate: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Requests per minute. Default: web.rate.")
    ] = None,
) -> None:
    """Make a key for the HTTP API. It is shown once, and only its hash is kept."""
    call = call_of(ctx)
    lasts = None if expires is None else seconds(expires)
    apps = call.load_apps()
    with call.store(migrate=True) as store:
        made = create_key(
            store,
            name,
            scope or default_scopes(apps),
            apps=apps,
            sources=source,
            lasts=lasts,
            rate=rate,
            made_by=BY,
        )
    opens = ", ".join(made.key.scopes)
    told = (
        f"{made.token}\nThis is the key of {name}, for: {opens}. Keep it, because it cannot be shown "
        f"again. Send it as: Authorization: Bearer KEY"
    )
    say(call, made_view(made.key, made.token), told)


@app.command("list")
def list_(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Include expired and revoked keys.")] = False,
) -> None:
    """List keys: what they open, until when, and when they were last used."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_keys(store, every=every), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[KeyView]", now: int) -> None:

    if not found:
        out.print("No keys. Create one with: thresher keys create NAME")
        return
    rows = [
        [
            each.id,
            each.name,
            f"{each.prefix}…",
            ", ".join(each.scopes),
            "all" if each.sources is None else ", ".join(each.sources),
            each.state,
            f"{each.rate:,}/m",
            each.used,
            ago(each.used_at, now),
            when(each.expires_at, now) if each.expires_at else "never",
        ]
        for each in found
    ]
    out.print(
        table(
            [
                "!#id",
                "name",
                "-begins",
                "opens",
                "sources",
                "state",
                "#rate",
                "#used",
                "#last used",
                "expires",
            ],
            rows,
        )
    )


@app.command()
def revoke(
    ctx: typer.Context,
    which: Which,
) -> None:
    """Revoke a key for good."""
    call = call_of(ctx)
    with call.store() as store:
        view = key_view(revoke_key(store, which, BY), read_now(store))
    say(call, view, f"The key {view.name} ({view.prefix}…) is revoked.")


@app.command()
def disable(ctx: typer.Context, which: Which) -> None:
    """Switch a key off: every server refuses it from now on, until it is enabled."""
    _switch(call_of(ctx), which, active=False)


@app.command()
def enable(ctx: typer.Context, which: Which) -> None:
    """Switch a key on again that was disabled."""
    _switch(call_of(ctx), which, active=True)


def _switch(call: CommandCall, which: str, *, active: bool) -> None:
    with call.store() as store:
        view = key_view(switch_key(store, which, active=active, by=BY), read_now(store))
    again = f"; enable it with: thresher keys enable {shlex.quote(view.name)}" if not active else ""
    say(call, view, f"The key {view.name} ({view.prefix}…) is {view.state}{again}.")
