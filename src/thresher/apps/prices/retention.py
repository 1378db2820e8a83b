"""prune_price_points: once a day, remove points that no valuation looks at and nobody has seen for long.

What counts is kept for ever, with every price that it has had; what does not count is noise, and a list of it
would grow with every search. The table is walked in the order of its ids, a part at a time: it needs no index
for this, and no settlement takes long.
"""

from thresher.apps.prices.model import PrunablePoints
from thresher.core.clock import DAY
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

PRUNE = "prune_price_points"
EVERY = 86_400.0  # seconds
PART = 10_000  # points that are looked at in one go


async def prune(ctx: Context) -> Outcome:
    """Look at the next part of the points, and remove what is too old."""
    said = ctx.task.checkpoint
    before = said.get("before") or ctx.now() - round(float(ctx.setting("prices.keep_uncounted")) * DAY)
    asked = {"after": said.get("after", 0), "before": before, "limit": PART}
    found: PrunablePoints = await ctx.read("prices.prunable", asked)
    effects = (
        (Effect("prices.prune_points", {"points": found.points, "before": before}),) if found.points else ()
    )
    if found.last is None:
        return Done("all points were looked at", effects=effects)
    return Next({"after": found.last, "before": before}, again=True, effects=effects)


PIPELINES = (Pipeline(PRUNE, Stage(prune)),)
SCHEDULES = (Schedule("prices.prune", NewTask(PRUNE, key="prune"), every=EVERY),)
