"""`thresher postings`: the openings as boards describe them, and which of them are the same opening."""

from typing import Annotated

import typer
from rich.console import Console, RenderableType

from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.hiring.groups import group as put_together
from thresher.apps.hiring.groups import ungroup as take_out
from thresher.apps.hiring.postings import PostingDetail, PostingView, list_postings, show_posting
from thresher.apps.hiring.postings import since as moment
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, plain, short, when
from thresher.cli.numbers import Numbered, numbered
from thresher.cli.show import answer, cell, known, linked, say, table
from thresher.hiring.records import PostingRecord

app = typer.Typer()

POSTINGS = Numbered("postings", "thresher postings list")
BOARDS = Numbered("boards", "thresher boards list")
COMPANIES = Numbered("companies", "thresher companies list")
OfBoard = Annotated[
    str | None,
    typer.Option("--board", metavar="KEY", help="Only rows of this board.", callback=numbered(BOARDS)),
]
OfCompany = Annotated[
    str | None,
    typer.Option("--company", metavar="KEY", help="Only rows of this company.", callback=numbered(COMPANIES)),
]
Key = Annotated[
    str,
    typer.Argument(
        metavar="KEY",
        help="Posting: its key, or its number in the last list (see `postings list`).",
        callback=numbered(POSTINGS),
    ),
]
KeyOrUrl = Annotated[
    str,
    typer.Argument(
        metavar="KEY|URL",
        help="Posting: its key, its URL, or its number in the last list (see `postings list`).",
        callback=numbered(POSTINGS),
    ),
]
MAX_TEXT = 1_500


@app.command("list")
def list_(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="State: open or closed.")] = None,
    board: OfBoard = None,
    company: OfCompany = None,
    query: Annotated[str | None, typer.Option(metavar="KEY", help="Only what this query has found.")] = None,
    outcome: Annotated[
        str | None, typer.Option(help="What was decided: saved, skipped, filtered or unknown.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only postings seen since: 12h, 7d, 2w, 2026-01-31.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """List postings, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        now = read_now(store)
        after = moment(since, now) if since else None
        found = list_postings(
            store,
            state=state,
            board=board,
            company=company,
            query=query,
            outcome=outcome,
            seen_since=after,
            limit=limit,
        )
        asked = state or board or company or query or outcome or since
        empty = (
            "No postings match; thresher postings list shows all."
            if asked
            else none_yet(what_was_checked(store), "postings")
        )
    answer(call, found, lambda out, value: out.print(posting_table(value, now) if value else empty))


def posting_table(found: "list[PostingView]", now: int) -> "RenderableType":
    """Postings, one a line."""
    rows = [
        [
            linked(short(each.title, 50), each.url),
            short(each.company_name, 25),
            short(each.location, 30),
            short(each.pay, 25),
            each.posted,
            each.state,
            each.outcome,
            ago(each.first_seen_at, now),
            each.key,
        ]
        for each in found
    ]
    return table(
        ["title", "company", "-location", "-pay", "-posted", "state", "-decided", "-#first seen", "!posting"],
        rows,
        numbered=POSTINGS.rows([each.key for each in found]),
    )


@app.command()
def show(ctx: typer.Context, key: KeyOrUrl) -> None:
    """Show one posting: what it says, what was read in it and where, how long it has been there."""
    call = call_of(ctx)
    with call.store() as store:
        detail, now = show_posting(store, key), read_now(store)
    answer(call, detail, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: "Console", detail: "PostingDetail", now: int) -> None:

    posting, record = detail.posting, detail.record
    out.print(
        known(
            [
                ("posting", posting.key),
                ("title", posting.title),
                ("company", posting.company_name),
                ("location", posting.location),
                ("pay", posting.pay),
                ("url", posting.url),
                ("posted", posting.posted),
                ("state", cell(posting.state)),
                ("first seen", when(posting.first_seen_at, now)),
                ("last seen", when(posting.seen_at, now)),
                ("closed", when(posting.closed_at, now) if posting.closed_at else None),
                ("complete", _completeness(record)),
                ("read from", _METHODS.get(record.method or "", record.method)),
                ("listed again", number(record.relisted, "time") if record.relisted else None),
                ("decided", f"{detail.outcome or 'not yet'}; thresher explain {posting.key}"),
                ("your status", detail.status),
            ]
        )
    )
    for name, place in ((detail.evidence or {}).get("places") or {}).items():
        out.print(
            cell(f"  {name}: “{short(place['quote'], 120)}”" if place else f"  {name}: unverified", "dim")
        )
    if detail.same:
        out.print(f"\nThe same opening ({(detail.group or {}).get('reason') or 'grouped'}):")
        out.print(posting_table(detail.same, now))
    if text := record.description:
        out.print(cell("\n" + plain(text[:MAX_TEXT]) + ("\n…" if len(text) > MAX_TEXT else "")))


_METHODS = {
    "list": "its board's list",
    "api": "its board's answer for this posting",
    "page": "the fields of its page",
    "text": "the headline and the text of its page",
}


def _completeness(posting: PostingRecord) -> str | None:
    lacks = f"; it does not say: {', '.join(posting.lacks)}" if posting.lacks else ""
    return posting.completeness and f"{posting.completeness}{lacks}"


@app.command()
def ungroup(ctx: typer.Context, key: Key) -> None:
    """Say that a posting is not the same opening as the others of its group. It stays apart from them, and is
    judged for itself.
    """
    call = call_of(ctx)
    with call.runtime() as runtime:
        done = take_out(runtime.store, runtime.registry, key)
    say(call, done, f"{key} is an opening of its own now, and stays apart from {done.group}.")


@app.command()
def group(ctx: typer.Context, first: Key, second: Key) -> None:
    """Group two postings as the same opening."""
    call = call_of(ctx)
    with call.store() as store:
        done = put_together(store, first, second)
    say(
        call,
        done,
        f"{len(done.members)} postings are one opening now ({done.group}), represented by {done.lead}.",
    )
