"""The pipelines of the roles app, their schedules and schemas, and the stages that only ask for an effect."""

from dataclasses import asdict
from typing import Any

from thresher.apps.roles import demand, turns
from thresher.apps.roles.keep import IS_OPEN, offers_of
from thresher.apps.roles.match_candidates import match_candidates
from thresher.apps.roles.match_postings import match_postings
from thresher.apps.roles.matching.matched import FITTING
from thresher.apps.roles.model import ROLE
from thresher.apps.roles.normalize import SCHEMA, normalize
from thresher.core.clock import DAY, HOUR
from thresher.core.context import Context
from thresher.core.keys import point_key
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.record import Between
from thresher.core.task import NewTask
from thresher.hiring.kinds import POSTING

# Close postings that no scraper has seen for long, and withdraw their suggestions.

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


# End sessions whose lease is over, and return rested roles to the queue.

END, RESET = "end_sessions", "reset_roles"
EVERY = 900.0  # seconds; whoever asks for a role ends what stands in the way at once


async def end(ctx: Context) -> Outcome:
    """End the sessions whose time is over: their roles go back to the queue."""
    return Done(effects=(Effect("scrapes.expire", _numbers(ctx)),))


async def reset(ctx: Context) -> Outcome:
    """Put roles back into the queue that were completed long enough ago and that candidates still want."""
    before = ctx.now() - round(ctx.setting("roles.reset_after") * HOUR)
    return Done(effects=(Effect("roles.reset", {**_numbers(ctx), "before": before}),))


def _numbers(ctx: Context) -> dict[str, Any]:
    """The order and the pace of the queue, as the settings have them now."""
    said = {name: ctx.setting(name) for name in (*demand.SETTINGS, *turns.SETTINGS)}
    return {"demand": asdict(demand.Demand.of(said)), "pace": asdict(turns.Pace.of(said))}


end_sessions = Pipeline(END, Stage(end))
reset_roles = Pipeline(RESET, Stage(reset))
END_SESSIONS = Schedule("roles.end_sessions", NewTask(END, key=END), every=EVERY)
RESET_ROLES = Schedule("roles.reset", NewTask(RESET, key=RESET), cron="0 0 * * *")


# Remove sessions that ended long ago, with what they were answered.

PRUNE, PRUNED_AT_ONCE = "prune_sessions", 500


async def prune(ctx: Context) -> Outcome:
    """Remove the next portion of the sessions that ended long ago."""
    before = ctx.now() - round(float(ctx.setting("roles.keep_sessions")) * DAY)
    asked = {"before": before, "limit": PRUNED_AT_ONCE}
    found: list[int] = await ctx.read("roles.old_sessions", asked)
    if not found:
        return Done("no old session is left")
    data = {"sessions": found, "before": before}
    return Next({}, again=True, effects=(Effect("roles.prune_sessions", data),))


prune_sessions = Pipeline(PRUNE, Stage(prune))
PRUNE_SESSIONS = Schedule("roles.prune", NewTask(PRUNE, key=PRUNE), cron="30 3 * * *")


PIPELINES = (
    normalize,
    match_postings,
    match_candidates,
    expire_postings,
    end_sessions,
    reset_roles,
    prune_sessions,
)
SCHEDULES = (END_SESSIONS, RESET_ROLES, EXPIRE, PRUNE_SESSIONS)
SCHEMAS = (SCHEMA,)
