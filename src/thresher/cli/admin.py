"""`thresher admin`: who may log in to the HTTP API and its pages."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.admins import (
    ROLES,
    AdminView,
    admin_view,
    change_password,
    change_role,
    check_role,
    create_admin,
    generated,
    list_admins,
    remove_admin,
)
from thresher.admin.times import read_now
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago
from thresher.cli.show import answer, say, table
from thresher.core.errors import UsageError

app = typer.Typer()

MAX_LINE = 4_096  # of what is read as a password; longer than any that is allowed
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name that they log in with.")]
Generate = Annotated[bool, typer.Option("--generate", help="Generate a password and print it once.")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]


@app.command()
def create(
    ctx: typer.Context,
    name: Name,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help=f"What they may do: {', '.join(ROLES)}.")
    ] = "admin",
    generate: Generate = False,
    password_stdin: FromStdin = False,
) -> None:
    """Let somebody log in. Asks for a password, of which only a slow hash is kept."""
    call = call_of(ctx)
    check_role(role)
    password = _password(generate=generate, stdin=password_stdin)
    with call.store(migrate=True) as store:
        view = admin_view(create_admin(store, name, password, role))
    _told(
        call,
        view,
        password if generate else None,
        f"{name} {_is(role)} and can log in at the dashboard: thresher serve",
    )


@app.command("role")
def role_(
    ctx: typer.Context,
    name: Name,
    role: Annotated[str, typer.Argument(metavar="ROLE", help=f"One of {', '.join(ROLES)}.")],
) -> None:
    """Change what somebody may do. It counts from their next request on; the last administrator stays one."""
    call = call_of(ctx)
    with call.store() as store:
        view = admin_view(change_role(store, name, role))
    say(call, view, f"{name} {_is(role)}, who {ROLES[role].sentence}.")


def _is(role: str) -> str:
    return "is an administrator" if role == "admin" else f"is {'an' if role[0] in 'aeiou' else 'a'} {role}"


@app.command()
def password(
    ctx: typer.Context, name: Name, generate: Generate = False, password_stdin: FromStdin = False
) -> None:
    """Give somebody another password, and end their logins."""
    call = call_of(ctx)
    chosen = _password(generate=generate, stdin=password_stdin)
    with call.store() as store:
        view = admin_view(change_password(store, name, chosen))
    _told(
        call, view, chosen if generate else None, f"{name} has a new password and is logged out everywhere."
    )


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List people, their roles, and when they last logged in."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_admins(store), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


@app.command()
def remove(ctx: typer.Context, name: Name) -> None:
    """Remove somebody, and end their logins. Keys that they made stay; the last administrator stays, too."""
    call = call_of(ctx)
    with call.store() as store:
        view = admin_view(remove_admin(store, name))
    say(call, view, f"{name} can no longer log in.")


def _password(*, generate: bool, stdin: bool) -> str:
    """A password from wherever it was said to come from."""
    if generate and stdin:
        raise UsageError("use either --generate or --password-stdin, not both")
    if generate:
        return generated()
    if stdin:
        return sys.stdin.readline(MAX_LINE).rstrip("\r\n")
    if not sys.stdin.isatty():
        raise UsageError(
            "cannot ask for a password without a terminal; use --generate, or --password-stdin to "
            "read it from standard input"
        )
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _told(call: CommandCall, view: "AdminView", chosen: str | None, sentence: str) -> None:

    first = f"{chosen}\nThis is the password; keep it, because it cannot be shown again.\n" if chosen else ""
    say(call, {**asdict(view), **({"password": chosen} if chosen else {})}, f"{first}{sentence}")


def _draw(out: "Console", found: "list[AdminView]", now: int) -> None:

    if not found:
        out.print("Nobody may log in. Create an administrator with: thresher admin create NAME")
        return
    rows = [
        [
            each.id,
            each.name,
            each.role,
            ago(each.created_at, now),
            ago(each.changed_at, now),
            ago(each.login_at, now),
        ]
        for each in found
    ]
    out.print(table(["!#id", "!name", "role", "#made", "#password", "#last login"], rows))
