"""Costs over HTTP: what models have cost, and what is left. Amounts are whole millionths of a dollar."""

from typing import Annotated

from fastapi import Query

from thresher.admin.costs import GROUPS, Costs, read_costs
from thresher.admin.keys import READ
from thresher.admin.times import seconds
from thresher.core.clock import to_us
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime, Limit, Route
from thresher.web.routes.examples import AT

MAX_SECONDS = 100 * 365 * 86_400.0


async def costs(
    runtime: CurrentRuntime,
    by: Annotated[str, Query(description=f"One of {', '.join(GROUPS)}.")] = "day",
    since: Annotated[str | None, Query(description="Only calls of the last 12h, 7d, 2w.")] = None,
    limit: Limit = 50,
) -> Answer[Costs]:
    """Show what models have cost, most expensive first, with what is left of today's budgets."""
    span = None if since is None else to_us(min(seconds(since), MAX_SECONDS))
    return await answer(runtime.store, read_costs, runtime.store, by=by, since_us=span, limit=limit)


_TOTAL = {
    "calls": 120,
    "input_tokens": 480_000,
    "output_tokens": 24_000,
    "spent": 312_000,
    "reserved": 0,
    "assumed": 0,
    "reused": 40,
    "saved": 104_000,
}
_LEFT = {"scope": "day:2026-03-02", "cap": 10_000_000, "spent": 312_000, "reserved": 0, "left": 9_688_000}
_COSTS = {
    "at": AT,
    "by": "day",
    "lines": [{"day": "2026-03-02", **_TOTAL}],
    "total": _TOTAL,
    "today": [_LEFT],
}

ROUTES = (Route("GET", "/api/costs", costs, READ, example=_COSTS, name="get_costs"),)
