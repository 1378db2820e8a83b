"""Greetings, an app in one file: a guest list asks for one greeting each, two a second, and a stranger is
turned away."""

from thresher import App, Context, Done, Filtered, NewTask, Outcome, Pipeline, Record, Source, Stage


async def invite(ctx: Context) -> Outcome:
    names = ctx.task.payload["names"]
    return Done(children=tuple(NewTask("greet", {"name": name}, key=name) for name in names))


async def greet(ctx: Context) -> Outcome:
    name = ctx.task.payload["name"]
    if name == "Mallory":
        return Filtered("not on the list")
    return Done(records=(Record("greeting", name, {"text": f"Hello, {name}"}),))


app = App(
    "greetings",
    pipelines=(Pipeline("invite", Stage(invite)), Pipeline("greet", Stage(greet, through=("source:post",)))),
    sources=(Source("post", rate=2, in_flight=1),),
    start=(NewTask("invite", {"names": ["Ada", "Grace", "Mallory"]}),),
)
