"""Careers: from the home page of a company to its postings, each with the place where it was read.

A home page names the careers page. That page lists the openings itself, or shows the board that does. Whatever is read, a
look at it ends in one of four ways, and only two of them complete a task: postings were found, or the site says that it has
none. Everything else fails with its reason, for nothing found is not nothing there.
"""

from datetime import UTC, date, datetime

from thresher import App, Context, Done, Failed, Link, NewTask, Outcome, Page, Pipeline, Record, Stage, host_gate
from thresher.core.pipeline import Trip
from thresher.reading.boards import recognise
from thresher.reading.inspection import Inspection, inspect
from thresher.reading.posting import Posting

COMPANIES = (
    "acme", "borealis", "cobalt", "fathom", "garnet", "heron", "isthmus", "juniper", "kestrel", "larkspur", "marlin", "nettle", "verbena",
)  # fmt: skip


async def visit(ctx: Context) -> Outcome:
    """The home page: where are the openings?"""
    _, seen = await look(ctx)
    if not seen.company.careers_url:
        return Failed(f"no link on {seen.source} leads to openings")
    return Done(children=(ask(ctx, "careers", seen.company.careers_url),))


async def read(ctx: Context) -> Outcome:
    """A careers page, a page of its list, or the answer of a board: all are read in the same way."""
    page, seen = await look(ctx)
    if not seen.postings and seen.board and seen.board.endpoint and not recognise(seen.source):
        return Done(f"the openings are on {seen.board.platform}", children=(ask(ctx, "board", seen.board.endpoint),))
    if not seen.look.verdict.is_proof:
        return Failed(f"{seen.look.verdict}: {seen.look.reason}")
    more = (ask(ctx, ctx.task.kind, seen.next),) if seen.next else ()
    if ctx.task.kind == "board":
        return Done(seen.look.reason, records=(noted(ctx, page, seen), *postings(ctx, page, seen)), children=more)
    # Rows of a page say little: each opening has a page of its own, which says the rest.
    each = tuple(ask(ctx, "opening", posting.url) for posting in seen.postings if posting.url)
    return Done(seen.look.reason, records=(noted(ctx, page, seen),), children=each + more)


async def open_up(ctx: Context) -> Outcome:
    """The page of one opening."""
    page, seen = await look(ctx)
    if not seen.postings:
        return Failed(f"{seen.look.verdict}: {seen.look.reason}")
    return Done(seen.look.reason, records=postings(ctx, page, seen))


async def look(ctx: Context) -> tuple[Page, Inspection]:
    page = await ctx.fetch(ctx.task.url or "")
    return page, inspect(page, today(ctx))


def today(ctx: Context) -> date:
    return datetime.fromtimestamp(ctx.now() / 1_000_000, UTC).date()


def ask(ctx: Context, kind: str, url: str) -> NewTask:
    """A task for a page that another one named. The URL lets the loop guard see it."""
    return NewTask(kind, ctx.task.payload, url=url)


def noted(ctx: Context, page: Page, seen: Inspection) -> Record:
    """How this look ended: what a later one is compared with."""
    data = {"verdict": seen.look.verdict, "reason": seen.look.reason, "postings": len(seen.postings)}
    return Record("look", page.final_url, data, (of(ctx),))


def postings(ctx: Context, page: Page, seen: Inspection) -> tuple[Record, ...]:
    return tuple(Record("posting", each.url or f"{page.final_url}#{each.key}", said(each, page), (of(ctx),)) for each in seen.postings)


def said(posting: Posting, page: Page) -> dict[str, object]:
    """What a posting says, and the evidence: on which page it stood, where on it, and when that was."""
    fetched = datetime.fromtimestamp(page.fetched_at / 1_000_000, UTC).isoformat(timespec="seconds")
    return {
        "title": posting.title,
        "location": posting.location,
        "posted": posting.posted_date and posting.posted_date.isoformat(),
        "type": posting.employment_type,
        "salary": posting.salary and posting.salary.text,
        "evidence": {"page": page.final_url, "where": posting.where, "fetched": fetched},
    }


def of(ctx: Context) -> Link:
    return Link("company", ctx.task.payload["company"])


def through_its_host(trip: Trip) -> tuple[str, ...]:
    """Tasks wait in line for the host of their page, and waiting there costs nothing."""
    return (host_gate(trip.url or ""),)


app = App(
    "careers",
    pipelines=(
        Pipeline("company", Stage(visit, through=through_its_host)),
        Pipeline("careers", Stage(read, through=through_its_host)),
        Pipeline("board", Stage(read, through=through_its_host)),
        Pipeline("opening", Stage(open_up, through=through_its_host)),
    ),
    start=tuple(NewTask("company", {"company": name}, url=f"https://www.{name}.example/", key=name) for name in COMPANIES),
)
