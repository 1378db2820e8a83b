"""`thresher companies`: the companies that are followed, and what is known of each."""

from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.hiring.cli import COMPANIES
from thresher.apps.jobs.cli.boards import board_table
from thresher.apps.jobs.service.companies import CompanyDetail, CompanyView, list_companies, show_company
from thresher.cli.call import call_of
from thresher.cli.format import ago, short, when
from thresher.cli.numbers import numbered
from thresher.cli.show import answer, cell, known, linked, table

app = typer.Typer()

# What is shown of a company besides the line of the list, in this order.
FACTS = (
    "industry",
    "founded",
    "size_category",
    "tech",
    "remote_first",
    "ai_focus",
    "about",
    "mission",
    "culture",
    "careers_url",
    "board_url",
)


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[
        str | None, typer.Option(help="Status: analyzing, complete, partial, unknown_site, failed, excluded.")
    ] = None,
    tier: Annotated[str | None, typer.Option(help="Tier: S, A, B, C or D.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List companies, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_companies(store, status=status, tier=tier, limit=limit), read_now(store)
        empty = "" if found else _empty(none_yet(what_was_checked(store), "companies"), status or tier)
    answer(call, found, lambda out, value: _draw(out, value, now, empty))


def _empty(sentence: str, asked: str | None) -> str:
    return "No companies match; thresher companies list shows all." if asked else sentence


def _draw(out: "Console", found: "list[CompanyView]", now: int, empty: str) -> None:

    if not found:
        out.print(empty)
        return
    rows = [
        [
            each.key,
            linked(short(each.name, 40), each.website),
            each.tier,
            each.score,
            each.status,
            short(each.size, 30),
            short(each.headquarters, 30),
            each.boards or None,
            each.postings or None,
            ago(each.analyzed_at, now),
        ]
        for each in found
    ]
    out.print(
        table(
            [
                "!key",
                "name",
                "tier",
                "#score",
                "status",
                "size",
                "headquarters",
                "#boards",
                "#postings",
                "#looked at",
            ],
            rows,
            numbered=COMPANIES.rows([each.key for each in found]),
        )
    )


@app.command()
def show(
    ctx: typer.Context,
    key: Annotated[
        str,
        typer.Argument(
            metavar="KEY",
            help="Company: its key, or its number in the last list (see `companies list`).",
            callback=numbered(COMPANIES),
        ),
    ],
) -> None:
    """Show everything that is known of a company, where it stands, and why it has its tier."""
    call = call_of(ctx)
    with call.store() as store:
        detail, now = show_company(store, key), read_now(store)
    answer(call, detail, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: "Console", detail: "CompanyDetail", now: int) -> None:

    company, record = detail.company, detail.record
    places = (detail.evidence or {}).get("places") or {}
    out.print(
        known(
            [
                ("company", company.key),
                ("name", company.name),
                ("website", company.website),
                ("status", company.status),
                ("excluded", company.excluded),
                ("tier", f"{company.tier} ({company.score} points)" if company.tier else None),
                ("completeness", company.completeness),
                ("size", company.size),
                ("headquarters", company.headquarters),
                *(
                    (name, _fact(value, places.get(name)))
                    for name in FACTS
                    if (value := getattr(record, name)) not in (None, "", ())
                ),
                ("looked at", when(company.analyzed_at, now)),
                ("postings", company.postings),
            ]
        )
    )
    for sentence in detail.points:
        out.print(cell(f"  {short(sentence, 160)}"))
    if detail.boards:
        out.print(board_table(detail.boards, now))
    elif record.board_url:
        out.print(
            cell(
                f"Its board waits for your decision: thresher add board {record.board_url} --company "
                f"{company.key}"
            )
        )


def _fact(value: Any, place: Any) -> str:
    """A value, and the words of the page that it was read from where they say more."""
    text = (
        ", ".join(map(str, value))
        if isinstance(value, tuple)
        else {True: "yes", False: "no"}.get(value, str(value))
    )
    quote = place.get("quote") if isinstance(place, dict) else None
    return short(text, 300) + (f"  “{short(quote, 100)}”" if quote and quote not in text else "")
