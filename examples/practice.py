"""A first crawl: two companies of the practice web, from their home pages to their postings.

One has its postings on a board, the other on pages of its own. The app need not know: it reads what a page
shows.
"""

from datetime import UTC, datetime

from thresher import App, Context, Done, Failed, NewTask, Outcome, Pipeline, Record, Stage, host_gate
from thresher.reading.inspect.inspection import Inspection, inspect


async def look(ctx: Context) -> Outcome:
    page = await ctx.fetch(ctx.task.url or "")
    seen = inspect(page, datetime.fromtimestamp(ctx.now() / 1_000_000, UTC).date())
    records = tuple(
        Record(
            "posting",
            each.url,
            {"title": each.title, "location": each.location, "page": page.final_url, "where": each.where},
        )
        for each in seen.postings
        if each.url
    )
    follow = onward(seen)
    if not records and not follow:
        return Failed(f"{seen.look.verdict}: {seen.look.reason}")
    return Done(seen.look.reason, records=records, children=tuple(NewTask("look", url=url) for url in follow))


def onward(seen: Inspection) -> list[str]:
    """Where it goes on: the next page of a list; from a page without postings its board, else the careers
    page."""
    board = seen.board.endpoint if seen.board else None
    further = seen.next or (None if seen.postings else board or seen.company.careers_url)
    return [further] if further and further != seen.source else []


app = App(
    "practice",
    pipelines=(Pipeline("look", Stage(look, through=lambda trip: (host_gate(trip.url or ""),))),),
    start=tuple(
        NewTask("look", url=f"https://www.{name}.example/", key=name) for name in ("acme", "kestrel")
    ),
)
