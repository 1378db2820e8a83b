"""Failures: what failed or is tried again, grouped; what failed is sent back after a dry run."""

from typing import Any

from starlette.responses import Response

from thresher.admin.browse import tasks_with_ids
from thresher.admin.failures import (
    MAX_RETRIED,
    FailureGroup,
    counted_of_each,
    failure_filters,
    group_failures,
    plan_retry,
    retry_newest_failures,
)
from thresher.admin.keys import WRITE
from thresher.admin.times import seconds
from thresher.core.trace import split_trace
from thresher.store.sources import NO_GATE
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, number_asked, text_asked

PATH = "/failures"
FILTERS = ("error", "kind", "source", "older", "newer")
MAX_COUNTED = 5_000  # failures of one error that are read for the page
MAX_GROUPS = 50
MAX_SHOWN = 20  # tasks that a dry run names


def failures(page_request: PageRequest) -> Response:
    """Show what failed and what is tried again, by error, kind and source, with an example of each."""
    asked, state = _asked(page_request), text_asked(page_request, "state")
    store = page_request.runtime.store
    most = MAX_COUNTED if asked["error"] else counted_of_each(store, MAX_COUNTED)
    groups = group_failures(store, state, most, **_filters(page_request, asked))
    return page_request.show(
        "failures.html",
        groups=[_row(group, asked) for group in groups[:MAX_GROUPS]],
        count=len(groups),
        asked={**asked, "state": state},
        most=most,
        retried=number_asked(page_request, "retried"),
        skipped=number_asked(page_request, "skipped"),
        kinds=sorted(page_request.runtime.registry.kinds),
    )


def _row(group: FailureGroup, asked: dict[str, Any]) -> dict[str, Any]:
    """A group as the page shows it."""
    said, frames = split_trace(group.message)
    same = {"error": group.error, "kind": group.kind, "source": group.source or NO_GATE}
    ages = {"older": asked["older"], "newer": asked["newer"]}
    return {
        "group": group,
        "said": said,
        "frames": frames,
        "tasks": address("/tasks", same, **ages, state="failed" if group.state == "failed" else "retryable"),
        "retry": address(f"{PATH}/retry", same, **ages) if group.state == "failed" else None,
    }


def ask_retry(page_request: PageRequest) -> Response:
    """Show how many failed tasks would be sent back, and which. Nothing is changed yet."""
    asked, store = _asked(page_request), page_request.runtime.store
    plan = plan_retry(store, **_filters(page_request, asked))
    return page_request.show(
        "failures_retry.html",
        plan=plan,
        asked=asked,
        found=tasks_with_ids(store, plan.ids[:MAX_SHOWN]),
        tasks=address("/tasks", asked, state="failed"),
        back=address(PATH, asked),
        most=MAX_RETRIED,
    )


def retry(page_request: PageRequest) -> Response:
    """Send the failed tasks that match back to waiting."""
    asked = {name: page_request.form.one(name).strip() or None for name in FILTERS}
    done = retry_newest_failures(page_request.runtime.store, **_filters(page_request, asked))
    skipped = len(done.result.key_taken) or None
    return page_request.go(address(PATH, retried=len(done.result.retried), skipped=skipped))


def _asked(page_request: PageRequest) -> dict[str, str | None]:
    return {name: text_asked(page_request, name) for name in FILTERS}


def _filters(page_request: PageRequest, asked: dict[str, str | None]) -> dict[str, Any]:
    older, newer = (seconds(age) if (age := asked[name]) else None for name in ("older", "newer"))
    same = {name: asked[name] for name in ("error", "kind", "source")}
    return failure_filters(page_request.runtime.store, **same, older=older, newer=newer)


PAGES = (
    DashboardPage(
        "GET", PATH, failures, "Failures", "Overview", frozenset({*FILTERS, "state", "retried", "skipped"})
    ),
    DashboardPage(
        "GET", f"{PATH}/retry", ask_retry, section="Overview", asks=frozenset(FILTERS), scope=WRITE
    ),
    DashboardPage("POST", f"{PATH}/retry", retry, section="Overview"),
)
