"""A cycle from end to end, in memory: a search API that pages, rests, fails and comes back."""

import json

import pytest

from tests.apps.queries.harbour import DEFINITION, Follower, Harbour, days_ago, offer, world
from thresher.apps.hiring.postings import list_postings
from thresher.apps.queries.service.queries import (
    add_query,
    backfill,
    pause,
    reset,
    resume,
    retire,
    show_query,
)
from thresher.apps.queries.store.alarms import list_alarms
from thresher.apps.queries.store.options import save_clients
from thresher.core.clock import FOREVER, HOUR, SECOND
from thresher.core.errors import UsageError
from thresher.core.task import NewTask
from thresher.testing.web import Reply


@pytest.fixture
def harbour() -> Harbour:
    return Harbour()


def test_the_first_run_looks_at_the_last_days_and_seeds_the_history(harbour):
    harbour.put(*(offer(at, days_ago(at % 9)) for at in range(25)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        found = docks.cycle()
        assert (found.status, found.last_run_succeeded, found.running) == ("SUCCESS", True, False)
        assert len(docks.postings) == 25
        assert found.offers == 25
        assert found.last_processed_date == days_ago(4), "offers dated later may still come"
        assert found.next_updated_since == days_ago(3)
        (run,) = docks.runs
        assert (run.stop_reason, run.offers_new, run.offers_fetched) == ("window_exhausted", 25, 25)
        assert run.requests_count == run.pages_fetched == len(harbour.asked)
        assert run.companies_aggregated == 7


def test_the_next_run_asks_only_for_what_may_have_changed(harbour):
    harbour.put(*(offer(at, days_ago(at % 9)) for at in range(25)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        harbour.asked.clear()
        made.advance(days=1)
        harbour.put(offer(100, days_ago(-1)), offer(101, days_ago(2)))
        found = docks.cycle()
        assert {each["from"] for each in harbour.asked} == {days_ago(3).isoformat()}
        assert docks.runs[0].offers_new == 2
        assert docks.runs[0].offers_updated == 0
        assert found.last_processed_date == days_ago(3)


@pytest.mark.promise(9)
def test_an_offer_that_two_queries_find_is_one_posting_and_belongs_to_both(harbour):
    harbour.put(offer(1, days_ago(1)))
    with world(harbour) as made:
        one, other = Follower(made, harbour), Follower(made, harbour, text="crane")
        one.cycle()
        (posting,) = made.records("posting")
        assert {link.target for link in posting.links if link.name == "query"} == {one.key, other.key}
        assert one.view.offers == other.view.offers == 1
        assert [each.key for each in list_postings(made.store, query=one.key)] == [posting.key]


def test_edited_and_redated_offers_are_updates(harbour):
    harbour.put(offer(1, days_ago(2)), offer(2, days_ago(2)), offer(3, days_ago(2)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        made.advance(hours=2)
        harbour.put(offer(1, days_ago(2), title="Crane driver"), offer(2, days_ago(0)))
        docks.cycle()
        run = docks.runs[0]
        assert (run.offers_new, run.offers_updated, run.offers_known) == (0, 2, 1)
        titles = {each.data["title"] for each in made.records("posting")}
        assert titles == {"Crane driver", "Dock worker 2", "Dock worker 3"}


@pytest.mark.promise(10)
def test_a_client_that_has_had_enough_rests_for_six_hours_and_the_others_go_on(harbour):
    harbour.put(offer(1, days_ago(1)))
    harbour.mood = lambda request: 429 if "q=dock" in request.url else None
    other = DEFINITION.replace("name: harbour", "name: canal")
    with world(harbour) as made:
        docks = Follower(made, harbour)
        with made.store.write() as session:
            save_clients(session, {"harbour": DEFINITION, "canal": other}, made.clock.now())
        add_query(made.store, "locks", {"client": "canal", "text": "lock", "start": "2026-03-05"})
        found = docks.cycle()
        assert (found.status, found.last_run_succeeded, found.consecutive_failures) == ("IDLE", None, 0)
        assert found.client_closed_until == made.clock.now() + 6 * HOUR - _since(made, docks)
        assert docks.runs[0].stop_reason == "rate_limit"
        assert docks.runs[0].http_429_count == 1
        assert show_query(made.store, "locks").query.status == "SUCCESS", "host and client are two things"
        asked = len(harbour.asked)
        made.advance(hours=5)
        docks.cycle()
        assert not any("q=dock" in str(each) for each in harbour.asked[asked:])
        harbour.mood = lambda _: None
        made.advance(hours=1)
        assert docks.cycle().status == "SUCCESS"
        assert docks.view.client_closed_until is None


def _since(made, docks):
    return made.clock.now() - docks.runs[0].finished_at


def test_a_client_that_says_how_long_rests_as_long(harbour):
    harbour.mood = lambda _: Reply(status=429, headers={"retry-after": "7200"})
    with world(harbour) as made:
        docks = Follower(made, harbour)
        found = docks.cycle()
        assert found.client_closed_until - docks.runs[0].finished_at == pytest.approx(
            7_200 * SECOND, abs=60 * SECOND
        )


@pytest.mark.promise(8)
def test_transient_errors_have_one_budget_of_three_retries_and_then_the_run_is_an_error(harbour):
    harbour.mood = lambda _: 500
    with world(harbour) as made:
        docks = Follower(made, harbour)
        found = docks.cycle()
        assert (found.status, found.consecutive_failures) == ("ERROR", 1)
        assert "500" in found.error
        run = docks.runs[0]
        assert (run.retries, run.requests_count, run.errors_count) == (3, 4, 4)
        assert len(harbour.asked) == 4, "retries do not multiply"
        assert (run.stop_reason, run.verdict) == ("error", "unknown")
        assert docks.view.last_processed_date is None
        harbour.mood = lambda _: None
        made.advance(hours=2)
        found = docks.cycle()
        assert (found.status, found.consecutive_failures, found.error) == ("SUCCESS", 0, None)


def test_an_error_in_the_middle_costs_only_its_own_page(harbour):
    harbour.put(*(offer(at, days_ago(0)) for at in range(25)))
    failures = iter([500, 502])
    harbour.mood = lambda request: next(failures, None) if "page=2" in request.url else None
    with world(harbour) as made:
        docks = Follower(made, harbour)
        assert docks.cycle().status == "SUCCESS"
        assert docks.runs[0].retries == 2
        assert len(docks.postings) == 25


@pytest.mark.promise(10)
def test_bad_credentials_stop_the_client_until_it_is_set_up_otherwise(harbour, monkeypatch):
    monkeypatch.setenv("HARBOUR_KEY", "rusty-key-1")
    locked = DEFINITION + "auth: {as: header, name: X-Key, env: HARBOUR_KEY}\n"
    harbour.mood = lambda request: 401 if request.headers.get("x-key") != "shiny-key-2" else None
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=locked)
        found = docks.cycle()
        assert found.status == "ERROR"
        assert found.client_closed_until == FOREVER
        assert [(each.name, each.subject) for each in _alarms(made)] == [
            ("client_stopped", "queries.harbour")
        ]
        asked = len(harbour.asked)
        made.advance(days=1)
        docks.cycle()
        assert len(harbour.asked) == asked, "nobody tries a refused key again"
        monkeypatch.setenv("HARBOUR_KEY", "shiny-key-2")
        made.advance(hours=1)
        assert docks.cycle().status == "SUCCESS"
        assert _alarms(made) == []
        with made.store.read() as session:
            everything = str(session.rows("select * from stopped_clients")) + str(
                session.rows("select * from events")
            )
        assert "rusty" not in everything


def _alarms(made):
    with made.store.read() as session:
        return list_alarms(session, only_open=True)


def test_a_missing_key_is_no_transient_error(harbour, monkeypatch):
    monkeypatch.delenv("HARBOUR_KEY", raising=False)
    locked = DEFINITION + "auth: {as: header, name: X-Key, env: HARBOUR_KEY}\n"
    with world(harbour) as made:
        found = Follower(made, harbour, definition=locked).cycle()
        assert found.status == "ERROR"
        assert "HARBOUR_KEY" in found.error
        assert harbour.asked == []


def test_one_bad_row_is_counted_and_skipped_and_the_run_succeeds(harbour):
    harbour.put(offer(1, days_ago(1)), offer(2, days_ago(1), title=None), offer(3, days_ago(1)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        assert docks.cycle().status == "SUCCESS"
        run = docks.runs[0]
        assert run.errors_count > 0
        assert len(docks.postings) == 2
        assert any(each["kind"] == "query_rows_skipped" for each in made.events())


@pytest.mark.promise(11)
def test_a_capped_run_leaves_its_days_partial_and_the_next_ones_finish_them(harbour):
    harbour.put(*(offer(at, days_ago(at % 10)) for at in range(90)))
    with world(harbour) as made:
        docks = Follower(made, harbour, max_pages=3)
        found = docks.cycle()
        assert found.status == "SUCCESS"
        assert docks.runs[0].stop_reason == "max_pages"
        assert found.last_processed_date is None or found.last_processed_date < days_ago(3)
        assert any(each.state == "partial" for each in show_query(made.store, docks.key).days)
        for _ in range(20):
            made.advance(days=1)
            docks.cycle()
        assert len(docks.postings) == 90
        assert docks.view.last_processed_date == days_ago(-16)
        began = [run.updated_since for run in docks.runs if run.stop_reason == "max_pages"]
        assert len(began) < 4, "every second run begins with the oldest days, so that days are soon finished"


@pytest.mark.promise(7)
def test_a_page_that_is_not_an_answer_is_no_empty_list(harbour):
    harbour.put(offer(1, days_ago(1)))
    harbour.mood = lambda _: Reply(
        "<html><h1>Down for maintenance</h1></html>", headers={"content-type": "text/html"}
    )
    with world(harbour) as made:
        docks = Follower(made, harbour)
        found = docks.cycle()
        assert found.status == "ERROR"
        assert docks.runs[0].verdict == "unknown"
        assert found.last_processed_date is None


@pytest.mark.promise(7)
def test_a_total_that_is_larger_than_what_is_shown_leaves_the_window_partial(harbour):
    def lies(request):
        return Reply('{"total": 40, "jobs": []}', headers={"content-type": "application/json"})

    harbour.mood = lies
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        assert docks.view.last_processed_date is None


def test_a_paused_query_does_not_run_and_a_resumed_one_does(harbour):
    with world(harbour) as made:
        docks = Follower(made, harbour)
        pause(made.store, "docks", "stocktaking")
        docks.cycle()
        assert harbour.asked == []
        assert docks.view.paused_reason == "stocktaking"
        resume(made.store, "docks")
        assert docks.cycle().status == "SUCCESS"


def test_a_reset_looks_at_everything_again_and_stores_nothing_twice(harbour):
    harbour.put(*(offer(at, days_ago(at % 9)) for at in range(25)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        dry = reset(made.store, "docks", dry_run=True)
        assert (dry.days, dry.dry_run) == (6, True)
        assert docks.view.last_processed_date is not None
        reset(made.store, "docks")
        assert (docks.view.status, docks.view.last_processed_date) == ("IDLE", None)
        docks.cycle()
        assert docks.runs[0].offers_known == 25
        assert docks.runs[0].offers_new == 0
        assert len(docks.postings) == 25


def test_a_backfill_looks_at_days_before_the_start(harbour):
    harbour.put(offer(1, days_ago(30)), offer(2, days_ago(1)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        assert len(docks.postings) == 1
        backfill(made.store, "docks", days_ago(32), days_ago(28))
        for _ in range(3):  # ten pages a run, one day a page
            docks.cycle()
            made.advance(hours=2)
        assert len(docks.postings) == 2
        assert docks.view.start_date == days_ago(32)
        with pytest.raises(UsageError, match="no span"):
            backfill(made.store, "docks", days_ago(1), days_ago(3))


def test_another_limit_keeps_the_history_and_another_text_begins_a_new_one(harbour):
    harbour.put(offer(1, days_ago(1)))
    with world(harbour) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        said = {"client": "harbour", "text": " DOCK ", "start": "2026-03-01", "max_pages": 99}
        renamed = add_query(made.store, "all docks", said)
        assert (renamed.query_key, renamed.name, renamed.status) == (docks.key, "all docks", "SUCCESS")
        other = add_query(made.store, "cranes", {**said, "text": "crane"})
        assert (other.status, other.last_run_at) == ("IDLE", None)


WHOLE = """
name: harbour
title: Harbour jobs
request: {url: "https://api.harbour.example/jobs", query: {q: "{text}", size: 100}}
whole: true
answer:
  rows: jobs
  fields: {id: id, title: title, url: url, company: company, posted: posted, description: text}
"""


def test_what_a_whole_list_no_longer_has_is_gone_and_closed_after_another_look(harbour):
    harbour.put(*(offer(at, days_ago(at)) for at in range(5)))
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=WHOLE)
        docks.cycle()
        del harbour.rows["3"]
        made.advance(hours=2)
        docks.cycle()
        assert docks.runs[0].offers_gone == 1
        assert {each.data["state"] for each in made.records("posting")} == {"open"}, "one look is no proof"
        made.advance(hours=2)
        docks.cycle()
        assert docks.runs[0].offers_gone == 0
        assert [each.key for each in made.records("posting") if each.data["state"] == "closed"] == [
            "harbour/3"
        ]
        harbour.put(offer(3, days_ago(3)))
        made.advance(hours=2)
        docks.cycle()
        assert {each.data["state"] for each in made.records("posting")} == {"open"}


def test_a_query_that_is_retired_does_not_keep_an_offer_open(harbour):
    harbour.put(*(offer(at, days_ago(at)) for at in range(3)))
    with world(harbour) as made:
        docks, other = (
            Follower(made, harbour, definition=WHOLE),
            Follower(made, harbour, definition=WHOLE, text="crane"),
        )
        docks.cycle()
        pause(made.store, other.key, None)
        del harbour.rows["1"]
        for _ in range(3):
            made.advance(hours=2)
            docks.cycle()
        assert {each.data["state"] for each in made.records("posting")} == {"open"}, "the other may have it"
        retire(made.store, other.key)
        made.advance(hours=2)
        docks.cycle()
        closed = [each.key for each in made.records("posting") if each.data["state"] == "closed"]
        assert closed == ["harbour/1"]


def test_a_backfill_outlives_another_word_of_the_project_file(harbour):
    with world(harbour) as made:
        docks = Follower(made, harbour)
        backfill(made.store, docks.key, days_ago(60), days_ago(50))
        Follower(made, harbour, max_pages=7)
        assert docks.view.max_pages == 7
        assert docks.view.start_date == days_ago(60)


@pytest.mark.promise(1)
def test_a_cycle_that_a_person_cancels_leaves_no_query_running(harbour):
    harbour.mood = lambda _: 500
    with world(harbour, retry_base=3_000.0) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        assert (docks.view.status, docks.view.running) == ("RUNNING", True)
        (task,) = [each for each in made.tasks() if each["kind"] == "query_cycle"]
        made.cancel(task["id"])
        assert (docks.view.status, docks.view.running) == ("ERROR", False)
        harbour.mood = lambda _: None
        made.advance(hours=2)
        assert docks.cycle().status == "SUCCESS"
        assert [each.status for each in docks.runs] == ["SUCCESS", "ERROR"]
        assert "stopped before the end" in docks.runs[1].note


@pytest.mark.promise(1)
def test_two_cycles_never_work_side_by_side(harbour):
    harbour.mood = lambda _: 500
    with world(harbour, retry_base=3_000.0) as made:
        docks = Follower(made, harbour)
        docks.cycle()
        (second,) = made.enqueue(NewTask("query_cycle"))
        made.run_until_idle(within=30)
        (refused,) = [each for each in made.tasks() if each["id"] == second]
        assert refused["state"] == "skipped"
        assert "at work on the queries already" in refused["reason"]


def test_queries_run_strictly_one_after_the_other(harbour):
    harbour.put(*(offer(at, days_ago(0)) for at in range(35)))
    with world(harbour) as made:
        one, other = Follower(made, harbour), Follower(made, harbour, text="crane")
        one.cycle()
        order = [each["q"] for each in harbour.asked]
        assert order == sorted(order) or order == sorted(order, reverse=True)
        assert (
            other.runs[0].started_at >= one.runs[0].finished_at
            or one.runs[0].started_at >= other.runs[0].finished_at
        )


def test_an_unproductive_query_runs_less_often_if_that_is_wanted(harbour):
    with world(harbour, adaptive=1, cadence_min=6.0, cadence_max=24.0) as made:
        docks = Follower(made, harbour)
        waits = []
        for _ in range(8):
            found = docks.cycle()
            waits.append((found.due_at - docks.runs[0].finished_at) / HOUR)
            made.advance(hours=waits[-1])
        assert [round(each) for each in waits] == [6, 6, 12, 12, 12, 24, 24, 24]
        harbour.put(offer(1, days_ago(-4)))
        found, waits = docks.cycle(), []
        assert round((found.due_at - docks.runs[0].finished_at) / HOUR) == 6
        for _ in range(3):
            made.advance(hours=6)
            found = docks.cycle()
            waits.append(round((found.due_at - docks.runs[0].finished_at) / HOUR))
        assert docks.runs[0].offers_fetched == 1
        assert waits == [6, 6, 12], "an offer that is known is nothing new"


def test_limits_that_are_too_low_for_the_last_days_delay_offers_and_lose_none(harbour):
    for at in range(150):
        harbour.put(offer(at, days_ago(at % 10)))
    with world(harbour) as made:
        docks = Follower(made, harbour, max_offers=20)
        for day in range(1, 21):
            for _ in range(6):
                docks.cycle()
                made.advance(hours=4)
            harbour.put(*(offer(1_000 * day + at, days_ago(-day)) for at in range(15)))
        mark = docks.view.last_processed_date
        assert mark is not None
        assert mark >= days_ago(-10), "it gets on"
        seen = {f"harbour/{key}" for key, row in harbour.rows.items() if row["posted"] <= mark.isoformat()}
        assert seen <= docks.postings


def alarms_of(docks: Follower) -> list[str]:
    with docks.world.store.read() as session:
        return [each.name for each in list_alarms(session, only_open=True) if each.subject == docks.key]


SINCE = DEFINITION.replace("window: {kind: range}", "window: {kind: since}").replace('to: "{until}", ', "")


def test_a_query_whose_limits_are_too_low_to_get_on_raises_an_alarm(harbour):
    harbour.put(*(offer(at, days_ago(at % 10)) for at in range(150)))
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=SINCE, max_offers=20)
        docks.cycle()
        assert alarms_of(docks) == [], "the first run may be the start of a long history"
        made.advance(hours=2)
        assert docks.cycle().last_processed_date is None
        assert alarms_of(docks) == ["query_capped"]
        made.advance(hours=2)
        docks.cycle()
        assert alarms_of(docks) == ["query_capped"], "it is as before"
        Follower(made, harbour, definition=SINCE, max_offers=400, max_pages=40)
        made.advance(days=5)
        assert docks.cycle().last_processed_date >= days_ago(4)
        assert alarms_of(docks) == []


def test_a_query_that_used_to_find_offers_raises_an_alarm_when_it_finds_none(harbour):
    harbour.put(offer(1, days_ago(0)))
    with world(harbour, zero_runs=3) as made:
        docks, never = Follower(made, harbour), Follower(made, harbour, text="crane")
        harbour.mood = lambda request: Reply('{"total": 0, "jobs": []}') if "crane" in request.url else None
        docks.cycle()
        harbour.rows.clear()
        for told in ([], [], ["zero_rows"], ["zero_rows"]):
            made.advance(hours=2)
            docks.cycle()
            assert alarms_of(docks) == told
        assert alarms_of(never) == [], "it never found anything"
        harbour.put(offer(2, days_ago(0)))
        made.advance(hours=2)
        docks.cycle()
        assert alarms_of(docks) == []


@pytest.mark.promise(11)
def test_a_look_that_was_interrupted_for_days_settles_nothing_that_came_meanwhile(harbour):
    harbour.put(*(offer(at, days_ago(0)) for at in range(12)))
    harbour.mood = lambda request: 500 if "page=2" in request.url else None
    with world(harbour, retry_base=3_600.0, retries=5) as made:
        docks = Follower(made, harbour, start="2026-03-09")
        docks.cycle()
        assert docks.view.running, "the second page is tried again in an hour"
        made.advance(days=10)
        harbour.mood = lambda _: None
        harbour.put(offer(100, days_ago(-1)), offer(101, days_ago(0)))
        docks.cycle()
        made.advance(hours=2)
        docks.cycle()
        assert {"harbour/100", "harbour/101"} <= docks.postings


DETAILED = (
    DEFINITION.replace(", description: text", "")
    + """
detail:
  request: {url: "https://api.harbour.example/jobs/{id}"}
  answer:
    fields: {id: id, title: title, description: text}
"""
)


def test_offers_without_a_text_are_completed_within_a_budget_new_companies_first(harbour):
    rows = [offer(at, days_ago(0), company="Old Pier" if at < 4 else f"New Pier {at}") for at in range(8)]
    harbour.put(rows[0])

    def details(request):
        number = request.url.rpartition("/jobs/")[2]
        if number.isdecimal():
            return Reply(json.dumps(harbour.rows[number]), headers={"content-type": "application/json"})
        return None

    harbour.mood = details
    with world(harbour, max_details=5) as made:
        docks = Follower(made, harbour, definition=DETAILED)
        docks.cycle()
        harbour.put(*rows)
        made.advance(hours=2)
        docks.cycle()
        told = {each.key for each in made.records("posting") if each.data.get("description")}
        assert {f"harbour/{at}" for at in (0, 4, 5, 6, 7)} <= told
        assert len(told) == 6, "the budget is five a run, those of new companies first"
        assert docks.runs[0].details_fetched == 5
        made.advance(hours=2)
        docks.cycle()
        assert docks.runs[0].offers_updated == 0, "what the list leaves out is no change"


@pytest.mark.promise(16)
def test_a_provider_that_asks_for_a_longer_pause_gets_it(harbour):
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=DEFINITION + "pause: 360\n")
        found = docks.cycle()
        assert found.due_at - docks.runs[0].finished_at == 6 * HOUR


@pytest.mark.promise(7)
def test_a_whole_list_that_shows_nothing_closes_nothing_unless_it_says_that_there_is_none(harbour):
    harbour.put(*(offer(at, days_ago(at)) for at in range(5)))
    with world(harbour) as made:
        docks = Follower(
            made, harbour, definition=WHOLE.replace("  rows: jobs\n", "  rows: jobs\n  total: total\n")
        )
        docks.cycle()
        for body, state in (('{"jobs": []}', "open"), ('{"jobs": [], "total": 0}', "closed")):
            harbour.mood = lambda _, body=body: Reply(body, headers={"content-type": "application/json"})
            for _ in range(3):
                made.advance(hours=2)
                docks.cycle()
            assert {each.data["state"] for each in made.records("posting")} == {state}
