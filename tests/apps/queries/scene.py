"""A project with a query that has run, two companies with offers, and an alarm: what people look at."""

from datetime import date

from tests.apps.queries.harbour import DEFINITION
from tests.apps.queries.signals.market import STRONG, WEAK, row
from thresher.apps.queries.service.queries import QueryView, add_query
from thresher.apps.queries.store.aggregates import aggregate_companies
from thresher.apps.queries.store.alarms import raise_alarm
from thresher.apps.queries.store.offers import upsert_offers
from thresher.apps.queries.store.options import save_clients
from thresher.apps.queries.store.runs import (
    COUNTERS,
    begin_run,
    count_offers,
    file_finds,
    finish_run,
    save_progress,
)
from thresher.store.store import Store

PROJECT = "apps: [queries]\nsettings:\n  web.rate: 1000000\n"
DAYS = {"first": "2026-02-01", "last": "2026-03-01"}
COUNTED = {**dict.fromkeys(COUNTERS, 12), "offers_fetched": 12_345}
EVIL = "<img src=x onerror=alert(1)>"


def fill(store: Store, note: str | None = None) -> QueryView:
    """The query `docks` with one run, Acme with a strong offer, Brick with a weak one, and an alarm."""
    add_client(store)
    query = add_query(store, "docks", {"client": "harbour", "text": "dock"})
    with store.write() as session:
        now = store.backend.now(session)
        run = {"task": 7, "serial": 1}
        begin_run(
            session,
            {**run, "key": query.query_key, "client": "harbour", "since": None, **DAYS},
            now,
        )
        save_progress(session, {**run, **COUNTED}, now)
        count_offers(session, run, {"offers_new": 1_234, "offers_updated": 56})
        file_finds(session, query.query_key, ["a/1", "a/2"], now)
        ended = {"status": "SUCCESS", "first": DAYS["first"], "stop": "window_exhausted", "verdict": "found"}
        state = {
            "key": query.query_key,
            "processed": "2026-03-01",
            "metadata": "{}",
            "due": now,
            "empty_runs": 0,
            "error": None,
        }
        finish_run(session, {"run": {**run, **ended, "note": note}, "state": state}, now)
        offers = [
            row("a/1", title="Treasurer", text=STRONG, posted=date(2026, 3, 1)),
            row("a/2", "brick.example", title="Baker", text=WEAK, name="Brick"),
        ]
        upsert_offers(session, {"offers": offers}, now)
        aggregate_companies(session, {"companies": ["acme.example", "brick.example"]}, now)
        raise_alarm(session, {"name": "zero_rows", "subject": query.query_key, "message": "nothing"}, now)
    return query


def add_client(store: Store) -> None:
    """The project's own client."""
    with store.write() as session:
        save_clients(session, {"harbour": DEFINITION}, store.backend.now(session))
