"""Old runs and offers go; what a run, an alarm or the figures of a company still need stays."""

import pytest

from tests.apps.queries.harbour import Follower, Harbour, days_ago, offer, world
from tests.apps.queries.signals.market import STRONG, WEAK, row, see, words
from tests.harness.databases import Database
from tests.harness.databases import file_and_server as pytest_generate_tests
from tests.harness.tasks import rows
from thresher.apps.queries import retention
from thresher.apps.queries.app import app
from thresher.apps.queries.retention import EVERY, PRUNE
from thresher.apps.queries.store.aggregates import aggregate_companies, dirty_companies, find_signals
from thresher.apps.queries.store.retention import RUNS_KEPT, old_offers, old_runs, prune_offers, prune_runs
from thresher.apps.queries.store.runs import begin_run, file_finds, finish_run, rowless_runs
from thresher.core.clock import DAY
from thresher.core.task import NewTask
from thresher.store.store import Store

__all__ = ["pytest_generate_tests"]


@pytest.fixture
def store(database: Database) -> Store:
    database.make(app)
    return database.open()


def run(session, key: str, serial: int, at: int, *, ends: bool = True) -> None:
    named = {"task": 7, "serial": serial}
    asked = {"key": key, "client": "harbour", "since": None, "first": None, "last": None}
    begin_run(session, {**named, **asked}, at)
    if ends:
        ended = {"status": "SUCCESS", "first": None, "stop": "all_known", "verdict": "found", "note": None}
        state = {"key": key, "processed": None, "metadata": "{}", "due": at, "empty_runs": 0, "error": None}
        finish_run(session, {"run": {**named, **ended}, "state": state}, at)


def serials(store, key: str) -> list[int]:
    sql = "select serial from ingestion_runs where query_key = :key order by serial"
    with store.read() as session:
        return [each[0] for each in session.rows(sql, {"key": key})]


def find(store, key: str, postings: list[str]) -> None:
    with store.write() as session:
        file_finds(session, key, postings, store.backend.now(session))


def prune(store, before: int, limit: int = 2) -> int:
    """Prune the offers part by part, as the stage does; how many went."""
    after, gone = "", 0
    while after is not None:
        with store.write() as session:
            now = store.backend.now(session)
            part = old_offers(session, {"after": after, "before": before, "limit": limit}, now)
            told = prune_offers(session, {"offers": part.offers, "before": before}, now)
        gone, after = gone + told.get("offers_pruned", 0), part.last
    return gone


@pytest.mark.promise(18)
def test_old_runs_go_but_not_the_latest_of_a_query_nor_one_under_way(store):
    with store.write() as session:
        run(session, "busy", 1, 1, ends=False)
        for serial in range(2, RUNS_KEPT + 6):
            run(session, "busy", serial, serial)
        run(session, "rare", 1_000, 1)
        file_finds(session, "busy", ["a"], 1)
        before = old_runs(session, {"before": 5, "limit": 100}, 9)
        assert prune_runs(session, {"runs": before}, 9) == {"runs_pruned": 3}
        silent = rowless_runs(session, {"key": "busy"}, 9)
    assert serials(store, "busy") == [1, *range(5, RUNS_KEPT + 6)]
    with store.write() as session:
        prune_runs(session, {"runs": old_runs(session, {"before": 10**6, "limit": 1}, 9)}, 9)
    assert serials(store, "busy") == [1, *range(6, RUNS_KEPT + 6)]
    assert (serials(store, "rare"), silent) == ([1_000], RUNS_KEPT + 1)
    with store.read() as session:
        assert old_runs(session, {"before": 10**6, "limit": 100}, 9) == []
        assert rowless_runs(session, {"key": "busy"}, 9) == RUNS_KEPT


@pytest.mark.promise(18)
def test_old_offers_go_and_what_made_a_company_a_signal_stays(store, clock):
    text = words("tide")
    see(
        store,
        row("a/weak", text=WEAK),
        row("a/strong", text=STRONG),
        row("b/first", "b", text=text, name="B"),
    )
    see(store, row("b/again", "b", text=text, name="B"), row("c/last", "c", text=words("last"), name="C"))
    find(store, "docks", ["a/weak", "a/strong", "b/first", "b/again"])
    find(store, "quays", ["c/last"])
    clock.advance(DAY)
    before = clock.now()
    see(store, row("d/new", "d", text=words("new"), name="D"))
    find(store, "docks", ["d/new"])
    with store.write() as session:
        companies = dirty_companies(session, {"limit": 100}, before)
        aggregate_companies(session, {"companies": companies}, before)
        first = find_signals(session, "acme.example").figures
    assert prune(store, before) == 2, "the weak one and the repost"
    assert rows(store, "select posting, reposts from query_offers order by posting") == [
        ("a/strong", 0),
        ("b/first", 0),
        ("c/last", 0),
        ("d/new", 0),
    ]
    assert rows(store, "select posting from query_finds order by posting") == [
        ("a/strong",),
        ("b/first",),
        ("c/last",),
        ("d/new",),
    ]
    with store.write() as session:
        companies = dirty_companies(session, {"limit": 100}, before)
        assert sorted(companies) == ["acme.example", "b"]
        aggregate_companies(session, {"companies": companies}, before)
        figures = find_signals(session, "acme.example").figures
    assert (figures.max_score, figures.strong_offer_count, figures.offer_count) == (first.max_score, 1, 1)
    assert (figures.first_seen, first.offer_count) == (first.first_seen, 2)
    assert prune(store, before) == 1, "b/first, which nothing reposts any more"
    assert prune(store, before) == 0, "c/last is the last that its query has found"


def test_an_offer_that_was_seen_again_meanwhile_stays(store, clock):
    see(store, row("a/1", text=WEAK), row("a/2", text=words("tide")))
    clock.advance(DAY)
    before = clock.now()
    see(store, row("a/2", text=words("tide")))
    with store.write() as session:
        asked = {"offers": ("a/1", "a/2"), "before": before}
        assert prune_offers(session, asked, before) == {"offers_pruned": 1}
    assert rows(store, "select posting from query_offers") == [("a/2",)]


def test_the_app_prunes_once_a_day_and_goes_on_finding(monkeypatch):
    monkeypatch.setattr(retention, "PART", 2)
    harbour = Harbour()
    harbour.put(*(offer(number, days_ago(2)) for number in range(1, 6)))
    with world(harbour, keep_offers=30) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        assert docks.view.offers == 5
        harbour.rows.clear()
        harbour.put(offer(9, days_ago(0)))
        docks.cycle()
        for _ in range(32):
            made.advance(seconds=EVERY)
            docks.cycle()
        made.enqueue(NewTask(PRUNE, key="by hand"))
        made.run_until_idle(within=30)
        assert {each["reason"] for each in made.tasks(PRUNE, "succeeded")} == {
            "all runs and offers were looked at"
        }
        with made.store.read() as session:
            left = [each[0] for each in session.rows("select posting from query_offers")]
        assert left == ["harbour/9"]
        assert len(docks.postings) == 6, "the postings stay"
