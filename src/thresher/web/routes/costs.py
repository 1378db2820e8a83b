"""Costs over HTTP: what models have cost, and what is left. Amounts are whole millionths of a dollar."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from thresher.admin.costs import GROUPS, read_costs
from thresher.admin.keys import READ
from thresher.admin.times import seconds
from thresher.core.clock import to_us
from thresher.web.answer import answer
from thresher.web.route import CurrentRuntime, Limit, Route

MAX_SECONDS = 100 * 365 * 86_400.0


async def costs(
    runtime: CurrentRuntime,
    by: Annotated[str, Query(description=f"One of {', '.join(GROUPS)}.")] = "day",
    since: Annotated[str | None, Query(description="Only calls of the last 12h, 7d, 2w.")] = None,
    limit: Limit = 50,
) -> Response:
    """Show what models have cost, most expensive first, with what is left of today's budgets."""
    span = None if since is None else to_us(min(seconds(since), MAX_SECONDS))
    return await answer(runtime.store, read_costs, runtime.store, by=by, since_us=span, limit=limit)


ROUTES = (Route("GET", "/api/costs", costs, READ),)
