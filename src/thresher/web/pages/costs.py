"""The pages about the cost of models: by day, model, app, prompt, run or task, what is left, single calls."""

from starlette.responses import Response

from thresher.admin.costs import GROUPS, list_calls, read_costs
from thresher.admin.times import seconds
from thresher.core.clock import DAY, to_us
from thresher.core.errors import UsageError
from thresher.web.pages.page import DashboardPage, PageRequest

PATH = "/costs"
SINCE = "30d"
MAX_LINES = 200
MAX_CALLS = 100
MAX_ID = 1 << 62


def costs(page_request: PageRequest) -> Response:
    """Show what models have cost, grouped as asked for, and what is left of today's caps."""
    asked = page_request.request.query_params
    by, since = asked.get("by", "day"), asked.get("since") or SINCE
    found = read_costs(page_request.runtime.store, by=by, since_us=to_us(seconds(since)), limit=MAX_LINES)
    days = {str(line["day"]): line["spent"] for line in found.lines} if by == "day" else {}
    return page_request.show(
        "costs.html", costs=found, groups=GROUPS, since=since, days=dict(sorted(days.items())), most=MAX_LINES
    )


def calls(page_request: PageRequest) -> Response:
    """Show single calls of models, the newest first: all, or those of a task or of a run."""
    task, run = _id(page_request, "task"), _id(page_request, "run")
    found = list_calls(page_request.runtime.store, task=task, run=run, since_us=365 * DAY, limit=MAX_CALLS)
    return page_request.show("calls.html", calls=found, task=task, run=run, most=MAX_CALLS)


def _id(page_request: PageRequest, name: str) -> int | None:
    text = page_request.request.query_params.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:20]) < MAX_ID and len(text) < 20):
        raise UsageError(f"{name} must be the id of a task, got {text[:40]!r}")
    return int(text)


PAGES = (
    DashboardPage("GET", PATH, costs, "Costs", "Overview", frozenset({"by", "since"})),
    DashboardPage("GET", f"{PATH}/calls", calls, section="Overview", asks=frozenset({"task", "run"})),
)
