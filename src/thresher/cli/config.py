"""`thresher config`: see and change settings."""

from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.settings import (
    SettingView,
    list_changes,
    list_kept,
    list_settings,
    set_setting,
    show_setting,
    unset_setting,
)
from thresher.cli.call import call_of, user_name
from thresher.cli.show import answer, cell, say, table
from thresher.core.clock import as_text
from thresher.store.settings import KeptSetting

app = typer.Typer()

SWITCH = "0 or 1"

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the setting, such as retry.base.")]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List every setting: its value, where it comes from, its unit and its sentence."""
    call = call_of(ctx)
    with call.store() as store:
        found, kept = list_settings(store), list_kept(store)
    answer(call, found, _draw_list)
    for each in kept:
        typer.echo(f"stored, but not in effect: {kept_sentence(each)}", err=True)


def kept_sentence(kept: "KeptSetting") -> str:
    """A changed setting of an app that is not enabled here."""
    return f"{kept.name} = {kept.value}, set by {kept.changed_by}: app {kept.app!r} is not enabled here, or has no such setting"


def _draw_list(out: "Console", found: "list[SettingView]") -> None:

    rows = [
        [
            each.name,
            cell(f"{each.value:g}", "bold" if each.origin != "default" else None),
            each.unit,
            each.origin,
            each.sentence,
        ]
        for each in found
    ]
    out.print(table(["!setting", "#value", "-unit", "-from", "meaning"], rows))


@app.command()
def get(ctx: typer.Context, name: Name) -> None:
    """Show one setting."""
    call = call_of(ctx)
    with call.store() as store:
        found = show_setting(store, name)
    answer(call, found, _draw_one)


def _draw_one(out: "Console", found: "SettingView") -> None:

    limits = f"{found.origin}; default {found.default:g}, from {found.low:g} to {found.high:g}"
    out.print(cell(f"{found.name} = {found.value:g} {found.unit} ({limits})"))
    out.print(cell(found.sentence))


@app.command("set", context_settings={"ignore_unknown_options": True})
def set_(ctx: typer.Context, name: Name, value: Annotated[str, typer.Argument(metavar="VALUE")]) -> None:
    """Change a setting at run time. Workers take it up within settings.every."""
    call = call_of(ctx)
    with call.store() as store:
        set_setting(store, name, value, user_name())
        now = show_setting(store, name)
    say(call, now, f"{name} = {_amount(now)}. Running workers apply it within seconds.")


def _amount(now: "SettingView") -> str:
    """A value with its unit; that of a switch says only what it may be."""
    return f"{now.value:g}" if now.unit == SWITCH else f"{now.value:g} {now.unit}"


@app.command()
def unset(ctx: typer.Context, name: Name) -> None:
    """Go back to the project's value, or the default."""
    call = call_of(ctx)
    with call.store() as store:
        unset_setting(store, name, user_name())
        now = show_setting(store, name)
    say(call, now, f"{name} = {_amount(now)} (the {now.origin} value).")


@app.command()
def history(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """Show who changed what, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found = list_changes(store, limit)
    answer(call, found, _draw_history)


def _draw_history(out: "Console", found: list[dict[str, Any]]) -> None:

    if not found:
        out.print("No setting was ever changed here.")
        return
    rows = [
        [
            as_text(each["changed_at"]),
            each["changed_by"],
            each["name"],
            each["old"] or "default",
            each["new"] or "default",
        ]
        for each in found
    ]
    out.print(table(["when", "who", "!setting", "#from", "#to"], rows))
