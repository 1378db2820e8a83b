"""The pages about the cost of models: by day, model, app, kind, subject and more, what is left, and the
single calls behind every number.
"""

import re

from starlette.responses import Response

from thresher.admin.costs import GROUPS, NO_GROUP, WITH_REUSE, list_calls, read_costs
from thresher.admin.times import seconds
from thresher.core.clock import to_us
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, number_asked, text_asked

PATH = "/costs"
CALLS = f"{PATH}/calls"
SINCE, CALLS_SINCE = "30d", "365d"
MAX_LINES = 200
MAX_CALLS = 100
MAX_SECONDS = 100 * 365 * 86_400.0
_SPAN = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}
# What a group is called above its lines, where that is not its name.
TITLES = {"subject": "what it was for"}


def costs(page_request: PageRequest) -> Response:
    """Show what models have cost, grouped as asked for, and what is left of today's caps."""
    by, since = text_asked(page_request, "by") or "day", text_asked(page_request, "since") or SINCE
    found = read_costs(page_request.runtime.store, by=by, since_us=_span(since), limit=MAX_LINES)
    days = {str(line["day"]): line["spent"] for line in found.lines} if by == "day" else {}
    return page_request.show(
        "costs.html",
        costs=found,
        groups=GROUPS,
        titles=TITLES,
        with_reuse=by in WITH_REUSE,
        since=since,
        since_words=_in_words(since),
        days=dict(sorted(days.items())),
        most=MAX_LINES,
        calls_of=lambda name: address(CALLS, {by: name or NO_GROUP, "since": since}),
        calls_under=_calls_under,
    )


def _calls_under(scope: str) -> str:
    """The calls that count against a cap, which is named day:DAY or app:APP:DAY."""
    kind, _, name = scope.partition(":")
    app, _, day = name.rpartition(":")
    return address(CALLS, {"app": app, "day": day} if kind == "app" else {"day": day})


def calls(page_request: PageRequest) -> Response:
    """Show single calls of models, the newest first: all, or those of a task, a run, a day, a model, an app,
    a kind, or of what they were for.
    """
    asked = {name: value for name in GROUPS if (value := text_asked(page_request, name))}
    since = text_asked(page_request, "since") or CALLS_SINCE
    found = list_calls(
        page_request.runtime.store,
        of=asked,
        since_us=_span(since),
        before=number_asked(page_request, "before"),
        limit=MAX_CALLS,
    )
    older = {**asked, "since": since, "before": found[-1]["id"]} if len(found) == MAX_CALLS else None
    return page_request.show(
        "calls.html",
        calls=found,
        asked=asked,
        titles=TITLES,
        none=NO_GROUP,
        since=since,
        since_words=_in_words(since),
        older=address(CALLS, older) if older else None,
    )


def _in_words(since: str) -> str:
    """Write out a span as people type it: 30d is 30 days."""
    found = _SPAN.fullmatch(since)
    if found is None:
        return since
    number, unit = int(found[1]), _UNITS[found[2]]
    return unit if number == 1 else f"{number:,} {unit}s"


def _span(since: str) -> int:
    return to_us(min(seconds(since), MAX_SECONDS))


PAGES = (
    DashboardPage("GET", PATH, costs, "Costs", "Overview", frozenset({"by", "since"})),
    DashboardPage("GET", CALLS, calls, section="Overview", asks=frozenset({*GROUPS, "since", "before"})),
)
