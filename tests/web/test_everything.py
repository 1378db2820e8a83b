"""Every route that shows something, on a server where everything has happened, on both stores: its answers
are as the document describes them (the client sees to that), and its lists are whole, page by page."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.apps.roles.http.scraping import job
from tests.web.conftest import ALL_ROUTES
from tests.web.everything import Everything, everything
from tests.web.test_paging import walk
from thresher.apps.queries.store import companies
from thresher.core.clock import SECOND
from thresher.store.session import Session
from thresher.web.route import Route

pytestmark = pytest.mark.promise(17)

SHOWING = [route for _, route in ALL_ROUTES if route.method == "GET"]
PAGED = [route for route in SHOWING if route.page_by]
# Nothing of it is there without a worker; tests/apps/roles/http/test_candidates.py asks these.
EMPTY = {
    "list_candidate_matches",
    "get_candidate_match",
    "list_stuck_collections",
    "list_duplicate_points",
    "list_late_postings",
}
MORE = {"compare_datasets": "?old=1"}  # what a route cannot do without


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def all_of_it(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Everything]:
    with everything(request, tmp_path_factory.mktemp("everything")) as found:
        yield found


def named(route: Route) -> str:
    return route.name or route.path


def test_every_answer_is_as_it_is_described(all_of_it: Everything):
    empty = []
    for route in SHOWING:
        told = all_of_it.api.ask("GET", all_of_it.path(route.path) + MORE.get(named(route), ""))
        if told.status == 404 or (told.status == 200 and told.body == b"[]"):
            empty.append(named(route))
        else:
            assert told.status == 200, (route.path, told.body)
    assert set(empty) == EMPTY


def test_every_list_is_whole_page_by_page(all_of_it: Everything):
    assert len(PAGED) > 25
    for route in PAGED:
        path = all_of_it.path(route.path)
        rows = all_of_it.api.get(f"{path}?limit=1000")
        if route.name not in ("list_events", "list_keys"):  # other tests of this server add to these
            pages = walk(all_of_it.api, f"{path}?limit={max(1, len(rows) // 3)}")
            assert [row for page in pages for row in page] == rows, path


@pytest.mark.parametrize("cursor", ["", "x", "WzFd", "eyJhIjogMX0"])
def test_no_list_takes_a_cursor_that_was_not_made_here(all_of_it: Everything, cursor: str):
    for route in PAGED:
        told = all_of_it.api.ask("GET", f"{all_of_it.path(route.path)}?cursor={cursor}")
        assert "not made here" in told.problem(422)["detail"], route.path


def test_no_list_takes_the_cursor_of_another(all_of_it: Everything):
    cursor = all_of_it.api.ask("GET", "/api/tasks?limit=1").headers["next-cursor"]
    for route in PAGED:
        if route.name != "list_tasks":
            told = all_of_it.api.ask("GET", f"{all_of_it.path(route.path)}?cursor={cursor}")
            assert "another list" in told.problem(422)["detail"], route.path


def add(path: str, **body: Any) -> Callable[[Everything, str], Any]:
    """What makes a row of this name over HTTP."""
    return lambda all_of_it, name: all_of_it.api.ask("POST", path, json={"name": name, **body})


# A list, the member that its rows are told apart by, and what adds one: `aaa` and `zzz`, by name before and
# behind what is there.
GROWING = [
    ("/api/recipes", "name", add("/api/recipes", url="https://new.example/", entity="product")),
    ("/api/queries", "name", add("/api/queries", client="harbour", text="new")),
    ("/api/prices/sources", "name", add("/api/prices/sources", adapter="manual")),
    ("/api/keys", "name", add("/api/keys", scopes=["read"])),
]


@pytest.mark.parametrize(("path", "member", "grow"), GROWING, ids=[each[0] for each in GROWING])
def test_what_comes_in_between_shifts_no_page(all_of_it: Everything, path: str, member: str, grow: Any):
    api = all_of_it.api
    before = [row[member] for row in api.get(path)]
    first = api.ask("GET", f"{path}?limit=1")
    for name in ("aaa", "zzz"):
        assert grow(all_of_it, f"{name} {path[5:]}".replace("/", "-").replace(" ", "-")).status < 300
    rest = walk(api, f"{path}?limit=1&cursor={first.headers['next-cursor']}")
    seen = [row[member] for row in first.json] + [row[member] for page in rest for row in page]
    assert len(seen) == len(set(seen))
    assert [name for name in seen if name in before] == before


def test_companies_whose_strength_is_the_same_are_all_shown(all_of_it: Everything):
    store = all_of_it.world.store
    with store.write() as session:
        columns = "max_score, strong_offer_count, last_strong_at"
        session.run(f"update company_signals set ({columns}) = (5, 1, :at)", {"at": SECOND})
    rows = all_of_it.api.get("/api/signals")
    pages = walk(all_of_it.api, "/api/signals?limit=1")
    assert [row["company"] for page in pages for row in page] == sorted(row["company"] for row in rows)
    told = all_of_it.api.ask("GET", "/api/signals?before=nobody.example").problem(404)
    assert "start again from the first page" in told["detail"]
    assert "first page" in all_of_it.api.ask("GET", "/api/queries?after=nobody").problem(404)["detail"]


# What the dashboard does, over the API.


def changed_by(all_of_it: Everything, action: str) -> list[str]:
    """The newest rows of the audit log about an action."""
    return [row["action"] for row in all_of_it.api.get("/api/audit") if row["action"].startswith(action)]


def test_failures_are_counted_sent_back_and_written_down(all_of_it: Everything):
    api = all_of_it.api
    group = next(each for each in api.get("/api/failures?state=failed") if each["error"] == "Malformed")
    asked = {name: group[name] for name in ("error", "kind", "source")}
    counted = api.post("/api/failures/retry", asked)
    assert group["example"] in counted.pop("examples")
    assert counted == {
        "matched": group["count"],
        "applied": False,
        "result": {"retried": [], "key_taken": []},
    }
    done = api.post("/api/failures/retry", asked | {"apply": True})
    assert (done["matched"], len(done["result"]["retried"])) == (group["count"], group["count"])
    assert group["example"] not in [each["example"] for each in api.get("/api/failures?state=failed")]
    assert "error='Malformed'" in changed_by(all_of_it, "POST /api/failures/retry")[0]
    assert "failed and retrying" in api.ask("GET", "/api/failures?state=lost").problem(400)["detail"]
    api.ask("POST", "/api/failures/retry", json={"older": "soon"}).problem(400)


def test_a_schedule_is_paused_resumed_and_fired(all_of_it: Everything):
    api = all_of_it.api
    path = f"/api/schedules/{api.get('/api/schedules')[0]['name']}"
    assert api.post(f"{path}/pause")["paused"] is True
    assert api.post(f"{path}/resume")["paused"] is False
    task = api.post(f"{path}/fire")["task"]
    assert api.get(f"/api/tasks/{task}")["task"]["state"] == "pending"
    assert api.post(f"{path}/fire") == {"task": None}, "the last one has not ended"
    assert "thresher schedules list" in api.ask("POST", "/api/schedules/no/pause").problem(404)["detail"]


def test_a_source_gets_other_limits_and_is_tested(all_of_it: Everything):
    api = all_of_it.api
    told = api.ask("PATCH", "/api/sources/tea/limits", json={"rate": "30/m", "in_flight": "3"})
    assert (told.json["rate"], told.json["max_in_flight"]) == (0.5, 3)
    assert (
        api.ask("PATCH", "/api/sources/tea/limits", json={"in_flight": "none"}).json["max_in_flight"] is None
    )
    assert "rate, burst" in api.ask("PATCH", "/api/sources/tea/limits", json={}).problem(400)["detail"]
    api.ask("PATCH", "/api/sources/tea/limits", json={"rate": "much"}).problem(400)
    api.ask("PATCH", "/api/sources/nobody/limits", json={"rate": "1/s"}).problem(404)
    assert api.post("/api/sources/tea/test") == {"ran": False, "ok": True, "says": None}
    assert "rate='30/m'" in changed_by(all_of_it, "PATCH /api/sources/tea/limits")[-1]


def test_a_platform_is_paused_and_resumed(all_of_it: Everything):
    api = all_of_it.api
    paused = api.post("/api/scraper-platforms/Dice/pause", {"lasts": "6h", "reason": "a login"})
    assert (paused["name"], paused["state"], paused["reason"]) == ("dice", "paused", "a login")
    assert api.post("/api/scraper-platforms/dice/resume")["state"] == "open"
    assert api.post("/api/scraper-platforms/dice/pause")["reason"] == "paused manually"
    assert api.post("/api/scraper-platforms/dice/resume")["opens_at"] is None
    api.ask("POST", "/api/scraper-platforms/nowhere/pause").problem(404)
    api.ask("POST", "/api/scraper-platforms/dice/pause", json={"lasts": "-1h"}).problem(400)


def test_a_session_is_ended_and_what_comes_late_is_imported_or_dropped(all_of_it: Everything):
    api, world = all_of_it.api, all_of_it.world
    world.role("Tide gardener", 2)
    world.role("Moss gardener", 2)
    scraper = world.scraper("late")
    for number in (71, 72):
        session = scraper.claim()
        ended = api.post(f"/api/scraper-sessions/{session['session_id']}/end", {"reason": "too slow"})
        assert (ended["session_status"], ended["role_status"]) == ("failed", "pending")
        scraper.say("/jobs", session, 409, jobs=[job(number)])
    first, second = api.get("/api/late-postings")
    assert first["postings"] == 1
    assert "too slow" in first["reason"]
    assert api.post(f"/api/late-postings/{first['id']}/import")["imported"] == 1
    assert api.ask("DELETE", f"/api/late-postings/{second['id']}").json["id"] == second["id"]
    assert api.get("/api/late-postings") == []
    assert [each["decision"] for each in api.get("/api/late-postings?decided=true")] == [
        "imported",
        "dropped",
    ]
    api.ask("POST", f"/api/late-postings/{first['id']}/import").problem(409)
    api.ask("POST", "/api/scraper-sessions/nobody/end").problem(404)


def test_postings_are_judged_again_and_a_change_is_made(all_of_it: Everything):
    api = all_of_it.api
    assert api.post("/api/matches/why/change", {"name": "jobs.score.needed", "value": 54})["postings"] > 0
    assert api.post("/api/matches/judge", {"all": True}) == {"postings": 0}, "they wait already"
    setting = next(each for each in api.get("/api/settings") if each["name"] == "jobs.score.needed")
    assert (setting["value"], setting["origin"]) == (54, "database")
    told = api.ask("POST", "/api/matches/why/change", json={"name": "queue.head_start", "value": 1})
    assert "jobs.score.needed" in told.problem(400)["detail"]
    assert "value=54" in changed_by(all_of_it, "POST /api/matches/why/change")[-1]


def test_what_cannot_be_done_to_a_posting_or_a_board_is_said(all_of_it: Everything):
    api = all_of_it.api
    told = api.ask("POST", "/api/postings/greenhouse:acme/1/ungroup").problem(409)
    assert "not in a group" in told["detail"]
    assert "excluded" in api.ask("POST", "/api/boards/greenhouse:rude/test").problem(409)["detail"]
    api.ask("POST", "/api/boards/nobody/test").problem(404)


MANY = 4_000
FILL = """with recursive n(at) as (select 1 union all select at + 1 from n where at < :many)
    insert into company_signals (company, name, max_score, strong_offer_count, unique_offer_count, offer_count, open_offers,
        posting_activity, category_max_scores, first_seen, updated_at, resolution, resolved)
    select 'c' || at, 'c', at % 400, at % 7, 1, 1, 1, 1, '{}', 1, 1, 'PENDING', 0 from n"""


def test_a_later_page_of_the_strongest_reads_the_scores_below_alone(all_of_it: Everything):
    store = all_of_it.world.store
    with store.write() as session:
        session.run(FILL, {"many": MANY})
        if session.dialect.name == "postgres":
            session.run("analyze company_signals", {})
    with store.read() as session:
        reading = Reading(session)
        assert len(companies.list_companies(reading, None, 50, "c390")) == 50  # type: ignore[arg-type]
    assert reading.wrong == []


class Reading:
    """A session that looks at how each of its statements is answered."""

    def __init__(self, session: Session) -> None:
        self.session, self.wrong = session, list[str]()

    def rows(self, sql: str, params: dict[str, Any]) -> Any:
        if self.session.dialect.name == "sqlite":
            plan = [row[3] for row in self.session.rows(f"explain query plan {sql}", params)]
            wrong = ("SCAN", "USE TEMP B-TREE FOR ORDER BY")
        else:
            plan = [row[0].strip() for row in self.session.rows(f"explain {sql}", params)]
            wrong = ("Seq Scan", "->  Seq Scan", "Sort  (", "->  Sort  (")
        self.wrong += [each for each in plan if each.startswith(wrong)]
        return self.session.rows(sql, params)
