"""What can be exported of the queries app: queries, their runs, and companies with their signals."""

from collections.abc import Iterator
from typing import Any

from thresher.admin.plain import jsonable
from thresher.apps.queries.model import Status
from thresher.apps.queries.service.queries import list_views
from thresher.apps.queries.service.signals import every_company
from thresher.apps.queries.store.runs import runs_before
from thresher.core.extension import Export
from thresher.store.store import Store

PORTION = 500


def _queries(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    for each in _whole_queries(store, status):
        said = "; ".join(f"{name}={value}" for name, value in each["parameters"].items())
        yield {**each, "parameters": said}


def _whole_queries(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    for each in list_views(store, retired=True):
        if status in (None, each.status):
            yield jsonable(each)


def _runs(store: Store, status: str | None) -> Iterator[dict[str, Any]]:
    """All runs, newest first."""
    before: int | None = None
    while True:
        with store.read() as session:
            found = runs_before(session, before, PORTION)
        for each in found:
            if status in (None, each.status.value):
                yield jsonable(each)
        if len(found) < PORTION:
            return
        before = found[-1].id


def _signals(store: Store, _: str | None) -> Iterator[dict[str, Any]]:
    for each in every_company(store):
        yield jsonable(each)


STATUSES = tuple(each.value for each in Status)
QUERIES = Export(
    _queries,
    (
        "name",
        "client",
        "text",
        "parameters",
        "status",
        "last_run_at",
        "last_success_at",
        "last_error_at",
        "last_processed_date",
        "consecutive_failures",
        "offers",
        "due_at",
        "error",
        "paused_reason",
        "retired_at",
        "declared_in",
        "query_key",
    ),
    STATUSES,
    lines=_whole_queries,
)
RUNS = Export(
    _runs,
    (
        "id",
        "query_key",
        "client",
        "status",
        "started_at",
        "finished_at",
        "window_from",
        "window_to",
        "updated_since",
        "pages_fetched",
        "offers_fetched",
        "offers_new",
        "offers_updated",
        "offers_known",
        "offers_gone",
        "reposts",
        "details_fetched",
        "requests_count",
        "http_429_count",
        "errors_count",
        "retries",
        "companies_aggregated",
        "companies_failed",
        "stop_reason",
        "verdict",
        "note",
    ),
    STATUSES,
)
SIGNALS = Export(
    _signals,
    (
        "name",
        "max_score",
        "strong_offer_count",
        "unique_offer_count",
        "offer_count",
        "open_offers",
        "posting_activity",
        "avg_strong_score",
        "top_category",
        "top_offer_url",
        "last_strong_at",
        "first_seen_at",
        "resolution",
        "feedback",
        "notes",
        "problem",
        "company",
    ),
)
EXPORTS = {"queries": QUERIES, "ingestion-runs": RUNS, "signals": SIGNALS}
