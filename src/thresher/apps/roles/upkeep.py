"""What the queue of roles needs from time to time: sessions that ran out of time end, and roles that rested
are looked at again.
"""

from dataclasses import asdict
from typing import Any

from thresher.apps.roles import demand, turns
from thresher.core.clock import HOUR
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Outcome
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

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
