"""Postings that no scraper has seen for long are closed, and their suggestions taken back."""

from thresher.apps.roles.candidate import ROLE
from thresher.apps.roles.keep import IS_OPEN, offers_of
from thresher.apps.roles.matched import FITTING
from thresher.core.clock import DAY
from thresher.core.context import Context
from thresher.core.keys import point_key
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.record import Between
from thresher.core.task import NewTask
from thresher.hiring.kinds import POSTING

KIND = "expire_postings"
PORTION = 200


async def expire(ctx: Context) -> Outcome:
    """Close the next portion. Only postings that came by a role: others are looked at by those who found
    them.
    """
    limit = ctx.now() - round(ctx.setting("roles.posting_days") * DAY)
    where = (Between("seen_at", high=limit - 1), IS_OPEN)  # in this order: few are old, and most are open
    found = await ctx.records(
        POSTING, where=where, linked=ROLE, before=ctx.task.checkpoint.get("before"), limit=PORTION
    )
    closed = int(ctx.task.checkpoint.get("closed", 0)) + len(found)
    if not found:
        return Done(f"{closed} postings were closed")
    points = [point_key(offer.text) for offer in offers_of(found)]
    effect = Effect(
        "postings.expire",
        {"postings": [each.id for each in found], "before": limit, "kind": FITTING, "points": points},
    )
    return Next({"before": found[-1].id, "closed": closed}, again=True, effects=(effect,))


expire_postings = Pipeline(KIND, Stage(expire))
EXPIRE = Schedule("roles.expire", NewTask(KIND, key=KIND), cron="0 3 * * *")
