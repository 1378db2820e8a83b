"""`thresher roles`: what candidates want, under one name each: see, add, merge, split, name and rank roles,
and try a title.
"""

import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.file_rows import IGNORE, decoded
from thresher.admin.times import read_now
from thresher.apps.roles.cli.candidates import read_body
from thresher.apps.roles.service import roles
from thresher.apps.roles.service.resolve import Resolution
from thresher.apps.roles.service.resolve import resolve as understand
from thresher.apps.roles.service.roles import (
    AddedRole,
    Change,
    RoleView,
    RoleWish,
    add_roles,
    find,
    list_roles,
    read_roles,
    role_view,
    wish,
)
from thresher.apps.roles.store.rows import Role
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short, when
from thresher.cli.show import answer, cell, known, say, table
from thresher.core.errors import UsageError

app = typer.Typer()
alias_app = typer.Typer()
app.add_typer(alias_app, name="alias", help="Add and remove aliases of a role.", no_args_is_help=True)

RoleName = Annotated[str, typer.Argument(metavar="ROLE", help="Name, alias or id of the role.")]
MAX_TITLES = 100_000
MAX_LINE = 10_000  # bytes


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Status: proposed, pending, processing, completed or rejected.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="Only roles with this text in a name.")
    ] = None,
    after: Annotated[int | None, typer.Option(metavar="ID", help="Start after this role.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 100,
) -> None:
    """List roles: how many candidates want each, how many postings it has, when a scraper last looked."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_roles(store, status=status, text=text, after=after, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now, asked=bool(status or text or after)))


def _draw(out: "Console", found: "list[RoleView]", now: int, *, asked: bool) -> None:

    if not found:
        none = "No roles yet; thresher add candidates FILE.csv creates them."
        out.print("No roles match; thresher roles list shows all." if asked else none)
        return
    rows = [
        [
            each.id,
            short(each.name, 50),
            each.status,
            each.priority,
            each.candidates,
            each.postings,
            ago(each.scraped_at, now),
            short(", ".join(each.aliases), 60) or None,
        ]
        for each in found
    ]
    out.print(
        table(["!#id", "role", "status", "priority", "#candidates", "#postings", "#scraped", "aliases"], rows)
    )


@app.command()
def show(ctx: typer.Context, role: RoleName) -> None:
    """Show one role."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = role_view(store, find(store, role)), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: "Console", role: "RoleView", now: int) -> None:

    out.print(
        known(
            [
                ("role", role.name),
                ("id", role.id),
                ("status", role.status),
                ("priority", role.priority),
                ("category", role.category),
                ("aliases", ", ".join(role.aliases)),
                ("candidates", role.candidates),
                ("postings", role.postings),
                ("imported", role.imported),
                ("came by", role.method),
                ("waits since", when(role.waiting_since_at, now)),
                ("scraped", when(role.scraped_at, now) if role.scraped_at else "never"),
                ("made", when(role.created_at, now)),
            ]
        )
    )


@app.command()
def add(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Names of roles.")] = None,
    aliases: Annotated[
        list[str] | None, typer.Option("--alias", metavar="NAME", help="Alias. Repeatable.")
    ] = None,
    priority: Annotated[str | None, typer.Option(help="Priority: urgent, high, normal or low.")] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.csv", help="CSV with name, aliases (separated by ;), priority; - for stdin."
        ),
    ] = None,
    ignore_unknown: Annotated[
        bool, typer.Option(IGNORE, help="Leave out columns of the file that a role does not have.")
    ] = False,
) -> None:
    """Add roles by name, or a file of them. One that is known gains the other names. All are added, or
    none.
    """
    call = call_of(ctx)
    ignored: list[str] | None = [] if ignore_unknown else None
    wishes = _wishes(names or [], aliases or [], priority, file, ignored)
    with call.store(migrate=True) as store:
        found = add_roles(store, wishes)
    left_out = [f"Left out: {', '.join(dict.fromkeys(ignored))}."] if ignored else []
    answer(call, found, lambda out, value: out.print(cell("\n".join([*left_out, *map(_added, value)]))))


def _wishes(
    names: list[str], aliases: list[str], priority: str | None, file: str | None, ignored: list[str] | None
) -> "list[RoleWish]":

    if bool(names) == bool(file):
        raise UsageError(
            "name roles, or a file of them: thresher roles add NAME... or thresher roles add --file roles.csv"
        )
    if file:
        if aliases or priority:
            raise UsageError(
                "a file has columns for aliases and priority; --alias and --priority are for a single role"
            )
        return read_roles(decoded(read_body(file), file), file, ignored)
    if aliases and len(names) > 1:
        raise UsageError("--alias is for a single role: thresher roles add NAME --alias OTHER")
    return [wish(name, aliases, priority) for name in names]


def _added(role: "AddedRole") -> str:
    taken = f"; not taken from other roles: {', '.join(role.taken)}" if role.taken else ""
    word = "added" if role.answer == "new" else f"known ({role.status})"
    first = f", priority {role.priority}" if role.priority != "normal" else ""
    also = f", also called {', '.join(role.aliases)}" if role.aliases else ""
    return f"{role.name} ({role.id}): {word}{first}{also}{taken}."


@app.command()
def resolve(
    ctx: typer.Context,
    titles: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TITLE]...", help="Titles. Default, or with -: lines of stdin."),
    ] = None,
) -> None:
    """Resolve titles to roles, with similarity and method. Nothing is changed."""
    call = call_of(ctx)
    given = titles if titles and titles != ["-"] else _lines()
    models = "cheap" in call.project().models.tiers
    with call.store() as store:
        found = understand(store, given, create=False, models=models)
    answer(call, found, _draw_resolved)


def _draw_resolved(out: "Console", found: "list[Resolution]") -> None:

    rows = [
        [
            short(each.title, 60),
            short(each.role, 50),
            each.role_id,
            _share(each.similarity),
            each.method,
            short(each.reason, 90),
        ]
        for each in found
    ]
    out.print(table(["title", "role", "#id", "#similarity", "method", "why"], rows))


def _share(similarity: float | None) -> str | None:
    return None if similarity is None else f"{similarity:.2f}"


def _lines() -> list[str]:

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("give titles as arguments, or lines on standard input")
    found: list[str] = []
    while piece := sys.stdin.buffer.readline(MAX_LINE + 1):
        if len(piece) > MAX_LINE and not piece.endswith(b"\n"):
            raise UsageError(f"line {len(found) + 1} has more than {MAX_LINE:,} bytes, too long for a title")
        if line := piece.decode("utf-8", "replace").strip():
            found.append(line)
        if len(found) > MAX_TITLES:
            raise UsageError(f"at most {MAX_TITLES:,} titles are allowed at once")
    return found


@app.command()
def merge(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="FROM", help="Role to merge (name or id). It is removed.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Role to merge into.")],
) -> None:
    """Merge one role into another, with all its candidates, postings, names and matches."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        done = roles.merge(runtime.store, runtime.registry, source, into)
    moved = ", ".join(
        [
            number(done.candidates, "candidate"),
            number(done.postings, "posting"),
            number(done.names, "name"),
            number(done.matches, "match", "matches"),
        ]
    )
    say(call, done, f"{done.gone} is now part of {done.name} ({done.id}); moved: {moved}.")


@app.command()
def split(
    ctx: typer.Context,
    role: RoleName,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the new role.")],
    aliases: Annotated[
        list[str] | None,
        typer.Option("--alias", metavar="NAME", help="Name to move to the new role. Repeatable."),
    ] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option("--candidate", metavar="KEY", help="Candidate to move to the new role. Repeatable."),
    ] = None,
) -> None:
    """Make a role of its own out of some names and candidates of another. Postings belong to both from then
    on.
    """
    call = call_of(ctx)
    with call.runtime() as runtime:
        done = roles.split(runtime.store, runtime.registry, role, name, aliases or [], candidates or [])
    say(
        call,
        done,
        f"{done.name} ({done.id}) is a role of its own, split from {done.out_of}, with "
        f"{number(done.candidates, 'candidate')}.",
    )


@app.command()
def rename(
    ctx: typer.Context,
    role: RoleName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a role. The old name stays as an alias."""
    _change(ctx, role, Change(name=name))


@app.command()
def priority(
    ctx: typer.Context,
    role: RoleName,
    level: Annotated[str, typer.Argument(metavar="LEVEL", help="Priority: urgent, high, normal or low.")],
) -> None:
    """Set the priority of a role. A role that waits long enough is served all the same."""
    _change(ctx, role, Change(priority=level))


def _change(ctx: typer.Context, role: str, wanted: Any) -> None:

    call = call_of(ctx)
    with call.store(migrate=True) as store:
        _said(ctx, roles.change(store, role, wanted))


@app.command()
def approve(
    ctx: typer.Context, names: Annotated[list[str], typer.Argument(metavar="ROLE...", help="Names or ids.")]
) -> None:
    """Approve proposed roles, so that scrapers can claim them."""
    with call_of(ctx).store(migrate=True) as store:
        _said(ctx, *roles.approve(store, names))


@app.command()
def reject(
    ctx: typer.Context, names: Annotated[list[str], typer.Argument(metavar="ROLE...", help="Names or ids.")]
) -> None:
    """Reject roles. Their names stay known, so that they are not proposed again."""
    with call_of(ctx).store(migrate=True) as store:
        _said(ctx, *roles.reject(store, names))


@alias_app.command("add")
def alias_add(
    ctx: typer.Context, role: RoleName, alias: Annotated[str, typer.Argument(metavar="NAME")]
) -> None:
    """Add an alias to a role."""
    with call_of(ctx).store(migrate=True) as store:
        _said(ctx, roles.add_alias(store, role, alias))


@alias_app.command("remove")
def alias_remove(
    ctx: typer.Context, role: RoleName, alias: Annotated[str, typer.Argument(metavar="NAME")]
) -> None:
    """Remove an alias from a role. Candidates who came by it stay."""
    with call_of(ctx).store(migrate=True) as store:
        _said(ctx, roles.remove_alias(store, role, alias))


def _said(ctx: typer.Context, *found: "Role") -> None:
    """Roles as they are after a change; one alone as an object."""
    lines = []
    for role in found:
        also = f", also called {', '.join(role.aliases)}" if role.aliases else ""
        lines.append(f"{role.name} ({role.id}) is {role.status}, priority {role.priority}{also}.")
    say(call_of(ctx), found[0] if len(found) == 1 else list(found), "\n".join(lines))
