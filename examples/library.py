"""A library: a catalogue asks for its books, each is fetched from the shelves and then read at a desk.

Fetching goes through a source with a limit. One book is out of reach at first and is tried again; one is lost
for good.
"""

from thresher import (
    App,
    Context,
    Done,
    Filtered,
    Link,
    NewTask,
    Next,
    Outcome,
    Permanent,
    Pipeline,
    Record,
    Source,
    Stage,
    Transient,
)

# Title: shelf and pages.
SHELVES = {"Emma": ("A", 474), "Kim": ("A", 368), "Moby-Dick": ("B", 635), "The Raven": ("B", 18)}


def catalogue(ctx: Context) -> Outcome:
    """Ask for one task a title. The key makes asking twice harmless."""
    return Done(
        children=tuple(NewTask("book", {"title": title}, key=title) for title in ctx.task.payload["titles"])
    )


async def fetch(ctx: Context) -> Outcome:
    """First stage: what it found goes on in the checkpoint, so that a failure at the desk does not fetch
    again."""
    title = ctx.task.payload["title"]
    if title not in SHELVES:
        raise Permanent(f"{title} is not on its shelf")
    if title == "Moby-Dick" and ctx.task.failures == 0:
        raise Transient("it stands too high; somebody brings a ladder")
    shelf, pages = SHELVES[title]
    return Next({"shelf": shelf, "pages": pages})


def read(ctx: Context) -> Outcome:
    """Last stage: a plain function, run on a thread."""
    found = ctx.task.checkpoint
    if found["pages"] < 50:
        return Filtered(f"{found['pages']} pages is a leaflet")
    title = ctx.task.payload["title"]
    return Done(
        records=(Record("book", title, {"pages": found["pages"]}, links=(Link("shelf", found["shelf"]),)),)
    )


app = App(
    "library",
    pipelines=(
        Pipeline("catalogue", Stage(catalogue)),
        Pipeline("book", Stage(fetch, through=("source:shelves",)), Stage(read)),
    ),
    sources=(Source("shelves", rate=2, in_flight=1),),
    start=(NewTask("catalogue", {"titles": [*SHELVES, "Hamlet"]}, key="all"),),
)
