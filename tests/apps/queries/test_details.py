"""Offers whose list says too little: their own pages are asked for, within the budget of a run."""

import json
from collections.abc import Callable

import pytest

from tests.apps.queries.harbour import HOST, Follower, Harbour, days_ago, offer, world
from tests.harness.databases import file_and_server as pytest_generate_tests
from thresher.apps.queries.app import app
from thresher.apps.queries.model import Status
from thresher.apps.queries.store.details import MAX_TRIES, RETRY, miss_detail, next_detail, want_details
from thresher.apps.queries.store.runs import COUNTERS
from thresher.testing.web import Reply, Requested

__all__ = ["pytest_generate_tests"]

BARE = """
name: harbour
title: Harbour jobs
request:
  url: https://api.harbour.example/jobs
  query: {q: "{text}", from: "{since}", to: "{until}", page: "{page}", size: "{size}"}
paging: {kind: page, first: 1, size: 10}
window: {kind: range}
answer:
  rows: jobs
  total: total
  fields: {id: id, title: title, url: url, company: company, posted: posted}
detail:
  request: {url: "https://api.harbour.example/one/{id}"}
  answer: {fields: {id: id, title: title, description: text}}
"""


class Detailed(Harbour):
    """An API whose list has no descriptions. `shy` are the numbers whose own page it does not give away."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.shy: dict[str, Reply | int] = {}
        self.watch: Callable[[Requested], Reply | int | None] = lambda _: None

    def answer(self, request):
        if not request.url.startswith(f"{HOST}/one/"):
            return super().answer(request)
        number = request.url.rpartition("/")[2]
        self.opened.append(number)
        if (watched := self.watch(request)) is not None:
            return watched
        if number in self.shy:
            return self.shy[number]
        return Reply(json.dumps(self.rows[number]), headers={"content-type": "application/json"})


@pytest.fixture
def harbour() -> Detailed:
    return Detailed()


def described(made) -> set[str]:
    return {each.key for each in made.records("posting") if each.data.get("description")}


def test_an_offer_is_described_from_its_own_page_and_then_known(harbour):
    harbour.put(offer(1, days_ago(1)), offer(2, days_ago(2)))
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        (run,) = docks.runs
        assert (run.offers_new, run.offers_updated, run.details_fetched) == (2, 0, 2)
        assert described(made) == {"harbour/1", "harbour/2"}
        made.advance(hours=2)
        docks.cycle()
        run = docks.runs[0]
        assert (run.offers_new, run.offers_updated, run.offers_known) == (0, 0, 2), "the list says the same"
        assert harbour.opened == ["1", "2"]
        assert described(made) == {"harbour/1", "harbour/2"}, "a list without descriptions takes none away"


def test_what_the_budget_of_one_run_leaves_is_described_by_the_next_ones(harbour):
    harbour.put(*(offer(at, days_ago(at % 9)) for at in range(12)))
    with world(harbour, max_details=5) as made:
        docks = Follower(made, harbour, definition=BARE)
        found = []
        for _ in range(4):
            docks.cycle()
            found.append(len(described(made)))
            made.advance(hours=2)
        assert found == [5, 10, 12, 12]
        assert len(harbour.opened) == 12, "each was opened once"


def test_new_companies_come_first_in_the_budget(harbour):
    harbour.put(offer(1, days_ago(0)))
    with world(harbour, max_details=1) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        harbour.put(offer(8, days_ago(0)), offer(2, days_ago(1)))  # 8 is of the company of 1
        made.advance(hours=2)
        docks.cycle()
        assert harbour.opened == ["1", "2"]


def test_an_own_page_that_fails_is_counted_tried_again_and_given_up(harbour):
    harbour.put(offer(1, days_ago(0)), offer(2, days_ago(0)))
    harbour.shy = {"1": 500}
    with world(harbour, recheck_days=0) as made:
        docks = Follower(made, harbour, definition=BARE)
        assert docks.cycle().status == Status.SUCCESS, "one offer is no reason to fail"
        assert docks.runs[0].errors_count == 1
        assert described(made) == {"harbour/2"}
        for _ in range(12):
            made.advance(days=1)
            docks.cycle()
        assert harbour.opened.count("1") == 3
        assert harbour.opened.count("2") == 1


def test_a_rate_limit_of_own_pages_lets_the_client_rest_and_loses_none(harbour):
    harbour.put(offer(1, days_ago(0)), offer(2, days_ago(0)))
    harbour.shy = {"1": 429, "2": 429}
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=BARE)
        found = docks.cycle()
        assert (found.status, found.consecutive_failures) == (Status.IDLE, 0)
        assert found.client_closed_until is not None
        assert len(harbour.opened) == docks.runs[0].http_429_count == 1
        harbour.shy.clear()
        made.advance(hours=7)
        assert docks.cycle().status == Status.SUCCESS
        assert described(made) == {"harbour/1", "harbour/2"}


def text_of(made, key: str) -> str:
    (found,) = [each for each in made.records("posting") if each.key == key]
    return found.data["description"]


def test_an_edit_that_only_the_own_page_shows_is_an_update(harbour):
    harbour.put(*(offer(at, days_ago(0)) for at in (1, 2, 3)))
    with world(harbour, max_details=3) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        made.advance(days=6)
        docks.cycle()
        assert len(harbour.opened) == 3, "not yet"
        harbour.rows["2"]["text"] = edited = (
            "We need a pilot now, who knows every bank of this river by heart."
        )
        harbour.put(offer(4, days_ago(-6)), offer(5, days_ago(-6)))
        made.advance(days=1, hours=1)
        docks.cycle()
        assert sorted(harbour.opened[3:5]) == ["4", "5"], "those that were never read come first"
        assert len(harbour.opened) == 6, "the rest of the budget"
        made.advance(hours=2)
        docks.cycle()
        assert sorted(harbour.opened[5:]) == ["1", "2", "3"], "then each once, within the budget"
        assert text_of(made, "harbour/2") == edited
        assert sum(run.offers_updated for run in docks.runs) == 1
        assert sum(run.errors_count for run in docks.runs) == 0
        with made.store.read() as session:
            sql = "select posting from query_offers where fingerprint is not null order by posting"
            assert len(session.rows(sql)) == 5


def test_an_own_page_is_asked_for_again_only_if_it_has_changed(harbour):
    harbour.put(offer(1, days_ago(0)))
    asked = []

    def tagged(request):
        if "/one/" not in request.url:
            return None
        asked.append(request.headers.get("if-none-match"))
        if asked[-1] == '"1"':
            return 304
        headers = {"content-type": "application/json", "etag": '"1"'}
        return Reply(json.dumps(harbour.rows["1"]), headers=headers)

    harbour.watch = tagged
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        made.advance(days=8)
        docks.cycle()
        assert asked == [None, '"1"']
        run = docks.runs[0]
        assert (run.details_fetched, run.offers_updated, run.errors_count) == (1, 0, 0)


def test_a_list_that_has_changed_meanwhile_is_not_taken_back_by_the_own_page(harbour):
    harbour.put(offer(1, days_ago(0)))
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        harbour.rows["1"]["title"] = "Harbour pilot"
        made.advance(days=1)
        docks.cycle()
        page = {"id": "1", "title": "Dock worker 1", "text": "Come aboard: the tide waits for nobody here."}
        harbour.shy = {"1": Reply(json.dumps(page), headers={"content-type": "application/json"})}
        made.advance(days=8)
        docks.cycle()
        (found,) = made.records("posting")
        assert found.data["description"].startswith("Come aboard")
        assert (harbour.opened, found.data["title"]) == (["1", "1"], "Harbour pilot")


def test_an_own_page_is_looked_at_again_for_a_while_and_its_failures_change_nothing(harbour):
    harbour.put(offer(1, days_ago(0)))
    with world(harbour) as made:
        docks = Follower(made, harbour, definition=BARE)
        docks.cycle()
        harbour.shy = {"1": 404}
        for _ in range(40):
            made.advance(days=1)
            docks.cycle()
        assert len(harbour.opened) == 3, "on the day, and seven and fourteen days later"
        assert described(made) == {"harbour/1"}
        with made.store.read() as session:
            assert session.rows("select count(*) from query_details") == [(0,)]


def wanted(number: int, later: int = 0) -> dict[str, object]:
    return {
        "posting": f"a/{number}",
        "number": str(number),
        "url": "",
        "title": "Baker",
        "company": "Acme",
        "later": later,
    }


def test_what_is_wanted_waits_in_its_order_and_is_given_up_after_a_few_tries(database):
    database.make(app)
    store = database.open()
    failed = {"run": {"task": 1, "serial": 1}, "posting": "a/2", "progress": dict.fromkeys(COUNTERS, 0)}
    failed |= {"period": 0}
    with store.write() as session:
        want_details(session, "one", "q", [wanted(1, later=1), wanted(2)], 10)
        want_details(session, "one", "r", [wanted(2)], 11)
        want_details(session, "other", "q", [wanted(3)], 9)
        found = next_detail(session, {"source": "one"}, 20)
        assert found == {**wanted(2), "query": "q", "again": False}, "whoever found it first"
        now = 20
        for _ in range(MAX_TRIES):
            miss_detail(session, failed, now)
            assert next_detail(session, {"source": "one"}, now)["posting"] == "a/1", "the others go on"
            now += 2 * RETRY
        looked = {**failed, "posting": "a/1", "again": True, "period": 10 * RETRY}
        miss_detail(session, looked, now)
        assert next_detail(session, {"source": "one", "before": now - 1}, now) is None
        assert next_detail(session, {"source": "one", "before": now}, now)["again"] is True
        miss_detail(session, looked, now + 10 * RETRY)
        want_details(session, "one", "q", [wanted(1, later=1)], now)
        assert [row[0] for row in session.rows("select posting from query_details order by posting")] == [
            "a/1",
            "a/3",
        ]
