"""prune_queries: once a day, remove runs and offers whose history nobody needs any more.

It passes the gate of the cycle, so that nothing is removed between the moment when a step of a query looks at
an offer and the moment when it writes what it found.
"""

from thresher.apps.queries.cycle import LOCK
from thresher.apps.queries.model import PrunableOffers
from thresher.core.clock import DAY
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

PRUNE = "prune_queries"
EVERY = 86_400.0  # seconds
RUNS_AT_ONCE = 1_000
PART = 10_000  # offers that are looked at in one go


async def prune_runs(ctx: Context) -> Outcome:
    """Remove the next of the old runs."""
    before = ctx.now() - round(float(ctx.setting("queries.keep_runs")) * DAY)
    runs = await ctx.read("queries.old_runs", {"before": before, "limit": RUNS_AT_ONCE})
    if not runs:
        return Next({})
    return Next({}, again=True, effects=(Effect("queries.prune_runs", {"runs": runs}),))


async def prune_offers(ctx: Context) -> Outcome:
    """Look at the next part of the offers, and remove what is too old. The table is walked in the order of
    its keys: that needs no index of its own, and no settlement takes long.
    """
    said = ctx.task.checkpoint
    before = said.get("before") or ctx.now() - round(float(ctx.setting("queries.keep_offers")) * DAY)
    asked = {"after": said.get("after", ""), "before": before, "limit": PART}
    found: PrunableOffers = await ctx.read("queries.old_offers", asked)
    data = {"offers": found.offers, "before": before}
    effects = (Effect("queries.prune_offers", data),) if found.offers else ()
    if found.last is None:
        return Done("all runs and offers were looked at", effects=effects)
    return Next({"after": found.last, "before": before}, again=True, effects=effects)


_GATES = (LOCK.gate,)
PIPELINES = (Pipeline(PRUNE, Stage(prune_runs, through=_GATES), Stage(prune_offers, through=_GATES)),)
SCHEDULES = (Schedule("queries.prune", NewTask(PRUNE, key="prune"), every=EVERY),)
