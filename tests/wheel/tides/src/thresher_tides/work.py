"""What the app does: one task for each measurement."""

from thresher import (
    Context,
    Done,
    Effect,
    Filtered,
    NewEvent,
    NewTask,
    Outcome,
    Pipeline,
    Schedule,
    Stage,
    tunable,
)

SETTINGS = (
    tunable("tides.lowest", 0.0, "metres", -20, 20, "Ignore measurements below this level."),
    tunable("tides.flood", 4.0, "metres", 0, 20, "Warn about a harbour at this level or above."),
)


async def measure(ctx: Context) -> Outcome:
    harbour, metres = ctx.task.payload["harbour"], float(ctx.task.payload["metres"])
    if harbour in await ctx.read("tides.closed", {}):
        return Filtered(f"{harbour} is closed")
    if metres < float(ctx.setting("tides.lowest")):
        return Filtered(f"{metres:g} m is lower than the sea gets")
    floods = metres >= float(ctx.setting("tides.flood"))
    return Done(
        effects=(Effect("tides.measured", {"harbour": harbour, "metres": metres}),),
        events=(NewEvent("tide_flooded", {"harbour": harbour}),) if floods else (),
    )


PIPELINES = (Pipeline("tide", Stage(measure)),)
SCHEDULES = (Schedule("tides.noon", NewTask("tide", {"harbour": "Dover", "metres": 2}), cron="0 12 * * *"),)
