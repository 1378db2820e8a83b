"""`thresher extractors`: see what was learned of which site, teach it, and put it aside."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.extractors import ExtractorView, FieldView, list_extractors, show_extractor
from thresher.admin.extractors import label as take
from thresher.admin.extractors import retire as put_aside
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago, short
from thresher.cli.inspect import opened_page
from thresher.cli.show import answer, say, table
from thresher.core.errors import UsageError
from thresher.core.keys import parse

app = typer.Typer()

Site = Annotated[str, typer.Argument(metavar="SITE", help="Site (see `extractors list`).")]
SchemaName = Annotated[str, typer.Argument(metavar="SCHEMA", help="Name of the schema.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    site: Annotated[str, typer.Option(help="Only this site.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Include replaced versions.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 100,
) -> None:
    """List what was learned: score, pages read, pages on which something had changed."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_extractors(store, site=site, everything=everything, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[ExtractorView]", now: int) -> None:

    if not found:
        out.print(
            "Nothing has been learned yet: a site is learned from three pages with values from a "
            "model, from their own data or from you."
        )
        return
    rows = [
        [
            each.site,
            each.schema,
            each.version,
            each.state,
            f"{each.score:.2f}",
            f"{each.good:,}",
            f"{each.drifted:,}",
            short(each.last_drift or "", 60),
            ago(each.made_at, now),
        ]
        for each in found
    ]
    out.print(
        table(
            ["!site", "!schema", "#version", "state", "#score", "#read", "#in doubt", "last doubt", "#ago"],
            rows,
        )
    )


@app.command()
def show(ctx: typer.Context, site: Site, schema: SchemaName) -> None:
    """Show by which rules each field is read."""
    call = call_of(ctx)
    with call.store() as store:
        view, fields = show_extractor(store, site, schema)
    answer(call, {"extractor": view, "fields": fields}, lambda out, _: _draw_fields(out, view, fields))


def _draw_fields(out: "Console", view: "ExtractorView", fields: "list[FieldView]") -> None:

    out.print(f"{view.schema} on {view.site}, version {view.version}: {view.state}, score {view.score:.2f}")
    rows = [
        [
            each.field,
            None if each.score is None else f"{each.score:.2f}",
            "\n".join(each.rules) or f"not learned: {each.why_not}",
        ]
        for each in fields
    ]
    out.print(table(["field", "#score", "rules, the best first"], rows))


@app.command()
def label(
    ctx: typer.Context,
    schema: SchemaName,
    page: Annotated[str, typer.Argument(metavar="URL|FILE", help="URL of the page, or a saved copy.")],
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="FIELD=VALUE...", help="Values as the page shows them; separate several with |."
        ),
    ],
    site: Annotated[str | None, typer.Option(help="Site, if it is not the host.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="URL of a saved page.")] = None,
) -> None:
    """Label a page by hand. Three labelled pages teach a site."""
    call = call_of(ctx)
    said = dict(each.split("=", 1) for each in values if "=" in each)
    if len(said) < len(values):
        raise UsageError(
            "write values as FIELD=VALUE, each field once; an empty value means that the page does "
            "not have it"
        )
    found = opened_page(call, page, base_url)
    with call.runtime() as runtime:
        place = site or parse(found.final_url).hostname
        learned = take(runtime.store, runtime.registry.schema(schema), found, said, place)
    learnt = (
        f"version {learned.version} is in use"
        if learned
        else "nothing is learned yet; three pages are needed"
    )
    say(
        call,
        {"site": place, "schema": schema, "version": learned and learned.version},
        f"Noted for {place}: {learnt}.",
    )


@app.command()
def retire(ctx: typer.Context, site: Site, schema: SchemaName) -> None:
    """Stop using an extractor: the site is learned again from the next pages."""
    call = call_of(ctx)
    with call.store() as store:
        put_aside(store, site, schema)
    say(
        call,
        {"site": site, "schema": schema, "state": "retired"},
        f"The extractor of {site} for {schema} is no longer used.",
    )
