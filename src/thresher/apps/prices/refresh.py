"""refresh_prices: ask for the collections that are due, a bounded number at a time.

Whatever is due stands in an index, so a round costs what it asks for, however many items there are. A source
with many waiting tasks gets no more, so a thousand new items come in portions, and no source takes the place
of another.
"""

from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.store.answers import cache_us
from thresher.apps.prices.store.collections import pairs_of
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

REFRESH = "refresh_prices"
EVERY = 120.0  # seconds
BATCH = 2_000  # collections of one round, of all sources together


async def refresh(ctx: Context) -> Outcome:
    """Ask for what is due, and forget answers that are too old to be used."""
    asked = {"limit": int(ctx.setting("prices.max_waiting")), "batch": BATCH}
    due = await ctx.read("prices.due", asked)
    live, dropped = pairs_of(due, live=True), pairs_of(due, live=False)
    effects = [Effect("prices.forget_answers", {"keep": await _kept(ctx)})]
    if due:
        effects.append(Effect("prices.asked", {"pairs": live, "dropped": dropped}))
    if not live:
        return Skipped("nothing is due", effects=tuple(effects))
    children = tuple(collect_task(item, source) for item, source in live)
    return Done(f"{len(live):,} collections", effects=tuple(effects), children=children)


async def _kept(ctx: Context) -> dict[int, int]:
    """How long the answers of each source are used, in microseconds."""
    enabled, seconds = bool(ctx.setting("prices.cache_enabled")), float(ctx.setting("prices.cache_ttl"))
    sources = await ctx.read("prices.sources")
    return {each.id: cache_us(each, enabled=enabled, seconds=seconds) for each in sources}


PIPELINES = (Pipeline(REFRESH, Stage(refresh)),)
SCHEDULES = (Schedule("prices.refresh", NewTask(REFRESH, key="refresh"), every=EVERY),)
