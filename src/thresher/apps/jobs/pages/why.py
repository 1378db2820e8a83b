"""Why there are not more matches: the reasons by count with their postings, the nearest misses, and the one
change that brings most, ready to be made.
"""

from urllib.parse import quote, urlencode

from starlette.responses import Response

from thresher.admin.settings import show_setting
from thresher.admin.times import read_now
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.service.postings import judge_again
from thresher.apps.jobs.service.why_no_matches import (
    CHANGEABLE,
    MAX_POSTINGS,
    RECENT,
    WAITING,
    make_change,
    missed_by,
    why_no_matches,
    words_of,
)
from thresher.core.errors import ThresherError, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/jobs/why"
ROWS = 50


def why(page_request: PageRequest) -> Response:
    """Show why the newest open postings are no matches, and the one change that would bring most. `all=1`
    looks at as many as the command does, which takes seconds.
    """
    return _why(page_request)


def _why(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, query = page_request.runtime.store, page_request.request.query_params
    is_all = query.get("all") == "1"
    found = why_no_matches(store, read_now(store), MAX_POSTINGS if is_all else RECENT)
    problem = of_error(error) if error else None
    name = found.change.name if found.change else None
    return page_request.show(
        "jobs/why.html",
        problem.status if problem else 200,
        why=found,
        setting=show_setting(store, name) if name in CHANGEABLE else None,
        value=page_request.form.one("value"),
        is_all=is_all,
        most=MAX_POSTINGS,
        empty=none_yet(what_was_checked(store), "matches") if not found.matches else None,
        judging=_number(query.get("judging", "")),
        problem=problem,
    )


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def missed(page_request: PageRequest) -> Response:
    """Show the open postings that one rule ended, or with `waiting` those that have no decision yet."""
    store, rule = page_request.runtime.store, page_request.request.path_params["rule"]
    found = missed_by(store, rule, ROWS + 1, page_request.request.query_params.get("before"))
    shown = found[:ROWS]
    more = urlencode({"before": shown[-1].key}) if len(found) > ROWS else None
    return page_request.show(
        "jobs/missed.html",
        rule=rule,
        reason=words_of(rule),
        is_waiting=rule == WAITING,
        missed=shown,
        next=f"{PATH}/{quote(rule, safe='')}?{more}" if more else None,
        most=MAX_POSTINGS,
    )


def change(page_request: PageRequest) -> Response:
    """Set what the change is of, and have all open postings judged by it again."""
    runtime, form, who = page_request.runtime, page_request.form, page_request.who
    by = who.who if who else "the dashboard"
    try:
        number = make_change(runtime.store, runtime.registry, form.one("name"), form.one("value"), by)
    except UsageError as error:
        return _why(page_request, error)
    return page_request.go(f"{PATH}?judging={number}")


def judge(page_request: PageRequest) -> Response:
    """Have open postings judged: those not judged yet and unknown ones, or all of them."""
    runtime = page_request.runtime
    number = judge_again(runtime.store, runtime.registry, every=page_request.form.one("all") == "1")
    return page_request.go(f"{PATH}?judging={number}")


PAGES = (
    DashboardPage("GET", PATH, why, "Why nothing", asks=frozenset(("all", "judging"))),
    DashboardPage("POST", f"{PATH}/change", change),
    DashboardPage("POST", f"{PATH}/judge", judge),
    DashboardPage("GET", f"{PATH}/{{rule}}", missed, asks=frozenset(("before",))),
)
