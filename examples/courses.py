"""A catalogue of courses, read by a model until the site is learned, and for nothing from then on."""

from thresher import (
    App,
    Context,
    Done,
    Field,
    Kind,
    NewTask,
    Outcome,
    Pipeline,
    Record,
    Schema,
    Stage,
    host_gate,
)
from thresher.reading.html.document import Document

CATALOGUE = "https://courses.practice.example/catalogue/craft"
COURSE = Schema(
    "course",
    (
        Field("title", required=True, says="The name of the course."),
        Field("level", says="For whom it is: beginner, intermediate or advanced."),
        Field("hours", Kind.INTEGER, says="How many hours it takes."),
        Field("price", Kind.MONEY, says="What it costs, as the page writes it."),
        Field("starts", Kind.DATE, says="When it starts."),
    ),
    key=("title",),
)


async def list_courses(ctx: Context) -> Outcome:
    """The courses on one page of the catalogue, each a task of its own."""
    document = Document.of(await ctx.fetch(CATALOGUE, max_age=0))
    links = [
        document.absolute(link.attribute("href") or "") for link in document.root.css("article.course h2 a")
    ]
    return Done(children=tuple(NewTask("course", url=link) for link in links if link))


async def read_course(ctx: Context) -> Outcome:
    """One course, by whoever reads it most cheaply. What was in doubt is part of the record."""
    page = await ctx.fetch(ctx.task.url or "")
    found = await ctx.extract(page, COURSE)
    data = {**found.value, "read_by": found.by, "doubts": list(found.doubts)}
    return Done(
        records=(Record("course", ctx.task.url or "", data, evidence=found.evidence),),
        note=f"read by: {found.by}",
    )


app = App(
    "courses",
    pipelines=(
        Pipeline("catalogue", Stage(list_courses, through=(host_gate(CATALOGUE),))),
        # Not through `model:cheap`: most courses need no model, and must not wait for one.
        Pipeline("course", Stage(read_course, through=lambda trip: (host_gate(trip.url or CATALOGUE),))),
    ),
    start=(NewTask("catalogue", key="craft"),),
    schemas=(COURSE,),
)
