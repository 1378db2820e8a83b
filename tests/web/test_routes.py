"""The routes do what the commands do, and say what they say."""

from functools import partial
from urllib.parse import quote

import pytest

from tests.apps.jobs.cli.project import board, company, decision, match, posting
from tests.harness.groups import opened
from tests.harness.tasks import entry, rows
from tests.web.conftest import Api
from thresher.admin import sources as control
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.admin.times import read_now
from thresher.apps.jobs.service.companies import ask_companies, wish
from thresher.apps.jobs.service.matches import save_view
from thresher.core.clock import DAY, SECOND, as_text
from thresher.core.task import NewTask
from thresher.web.answer import written

SITE = "site:https://acme.com/careers?team=a b"


@pytest.fixture
def filled(shop):
    return fill(shop)


def fill(shop):
    """A few of each."""
    now = read_now(shop.store)
    write_records(
        shop.store,
        [
            company("acme.com", "Acme", now),
            company("beta.io", "Beta", now, tier="B"),
            company("gamma.dev", "Gamma", now - 60 * DAY),
            board("greenhouse:acme", "acme.com", now),
            board(SITE, "acme.com", now, status="pending", platform="site"),
            posting("greenhouse:acme/1", "Engineer", now),
            posting("greenhouse:acme/2", "Designer", now, state="closed"),
            decision("greenhouse:acme/1", "saved", now),
            match("greenhouse:acme/1", "Engineer", 91, now),
            match("greenhouse:acme/2", "Designer", 82, now),
            match("greenhouse:acme/3", "Writer", 82, now),
        ],
    )
    return shop


def keys(found: list) -> list[str]:
    return [each["key"] for each in found]


def test_companies_are_listed_filtered_and_paged(api, filled):
    assert keys(api.get("/api/companies")) == ["gamma.dev", "beta.io", "acme.com"]
    assert keys(api.get("/api/companies?tier=A")) == ["gamma.dev", "acme.com"]
    assert keys(api.get("/api/companies?limit=2")) == ["gamma.dev", "beta.io"]
    assert keys(api.get("/api/companies?limit=2&before=beta.io")) == ["acme.com"]
    assert "first page" in api.ask("GET", "/api/companies?before=nobody").problem(404)["detail"]


def test_a_company_is_opened_with_its_evidence(api, filled):
    found = api.get("/api/companies/acme.com")
    assert found["company"]["name"] == "Acme"
    assert found["evidence"]["places"]["size"]["quote"] == "our 240 people"
    assert {each["key"] for each in found["boards"]} == {"greenhouse:acme", SITE}
    assert found["company"]["analyzed_at"].endswith("Z")
    told = api.ask("GET", "/api/companies/nobody.com").problem(404)
    assert told["type"] == "urn:thresher:UnknownName"
    assert "nobody.com" in told["detail"]


def test_asking_for_a_company_twice_is_harmless(api, filled):
    said = api.post("/api/companies", {"website": "delta.io", "name": "Delta"}, 201)["asked"]
    assert (said[0]["answer"], said[0]["key"]) == ("added", "delta.io")
    again = api.post("/api/companies", {"website": "https://delta.io"}, 200)["asked"]
    assert (again[0]["answer"], again[0]["task"]) == ("waiting", said[0]["task"])
    known = api.post("/api/companies", {"website": "acme.com"}, 200)["asked"]
    assert known[0]["answer"] == "known"
    forced = api.post("/api/companies", {"website": "acme.com", "force": True}, 201)["asked"]
    assert forced[0]["answer"] == "added"


def test_many_companies_are_asked_for_at_once_each_with_its_answer(api, filled):
    body = {"companies": ["epsilon.dev", "Zeta Inc.", {"name": "Acme", "website": "acme.com"}, "epsilon.dev"]}
    said = api.post("/api/companies", body, 201)["asked"]
    assert [each["answer"] for each in said] == ["added", "added", "known", "added"]
    assert said[0]["task"] == said[3]["task"]


@pytest.mark.parametrize(
    ("body", "status", "match"),
    [
        ({}, 400, "name or a website"),
        ({"companies": []}, 422, "companies"),
        ({"companies": ["acme.com", ""]}, 400, "companies.1"),
        ({"companies": ["fine.dev", "https://boards.greenhouse.io/acme"]}, 400, "add board"),
        ({"name": 1}, 422, "name"),
        ({"companies": ["a.dev"], "name": "B"}, 400, "not both"),
        ({"nmae": "Acme"}, 422, "nmae"),
        ([], 422, "body"),
        ("x", 422, "body"),
        ({"companies": ["a.dev"] * 1_001}, 422, "companies"),
        ({"website": "a.dev", "force": "yes"}, 422, "force"),
        ({"name": "a\0b"}, 422, "NUL"),
        ({"website": "http://user:pw@a.dev/"}, 400, "website"),
        ({"name": "x" * 5_000}, 422, "name"),
        ({"website": "javascript:alert(1)"}, 400, ""),
        ({"website": "http://[::1"}, 400, ""),
        (None, 422, "body"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_that_makes_no_sense_is_refused_whole(api, filled, body, status, match):
    told = api.ask("POST", "/api/companies", json=body).problem(status)
    assert match in told["detail"]
    assert api.get("/api/tasks") == []


def test_what_the_api_answers_is_what_the_command_line_would(api, filled):
    said = api.post("/api/companies", {"companies": ["acme.com", "new.dev"]}, 201)["asked"]
    again = ask_companies(filled.store, filled.registry, [wish(None, "acme.com"), wish(None, "new.dev")])
    assert said[0] == {
        "what": again[0].what,
        "key": again[0].key,
        "answer": "known",
        "task": None,
        "says": again[0].says,
    }
    assert said[1]["task"] == again[1].task


def test_boards_are_listed_opened_confirmed_and_refused(api, filled):
    assert keys(api.get("/api/boards")) == [SITE, "greenhouse:acme"]
    assert keys(api.get("/api/boards?status=pending")) == [SITE]
    assert keys(api.get(f"/api/boards?before={quote(SITE, safe='')}")) == ["greenhouse:acme"]
    assert api.get("/api/boards/greenhouse:acme")["postings"] == {"open": 1, "closed": 1}
    place = quote(SITE, safe="")
    assert api.get(f"/api/boards/{place}")["board"]["status"] == "pending"
    assert api.get(f"/api/boards/{quote(SITE, safe='/:')}")["board"]["key"] == SITE
    assert api.post(f"/api/boards/{place}/enable")["status"] == "active"
    assert [each["kind"] for each in api.get("/api/tasks")] == ["scrape_source"]
    told = api.post(f"/api/boards/{place}/disable", {"reason": "not theirs"})
    assert (told["status"], told["reason"]) == ("disabled", "not theirs")
    assert "not theirs" in api.ask("POST", f"/api/boards/{place}/disable").problem(409)["detail"]
    api.ask("POST", "/api/boards/nothing/enable").problem(404)


@pytest.mark.promise(17)
def test_a_board_that_an_administrator_disabled_is_enabled_by_an_administrator_only(
    api, stranger, shop, filled
):
    admin = Api(stranger.url, create_key(shop.store, "root", ["admin"]).token)
    admin.post("/api/boards/greenhouse:acme/disable", {"reason": "a lawyer wrote"})
    detail = api.ask("POST", "/api/boards/greenhouse:acme/enable").problem(409)["detail"]
    assert "an administrator has disabled greenhouse:acme" in detail
    assert admin.post("/api/boards/greenhouse:acme/enable")["status"] == "active"


def test_a_board_is_asked_for_by_its_address(api, filled):
    said = api.post(
        "/api/boards", {"url": "https://boards.greenhouse.io/newco", "company": "newco.com"}, 201
    )["asked"]
    assert said[0]["answer"] == "added"
    assert api.get(f"/api/tasks/{said[0]['task']}")["task"]["payload"]["company"] == "newco.com"
    known = api.post("/api/boards", {"url": "https://boards.greenhouse.io/acme"}, 200)["asked"]
    assert known[0]["answer"] == "known"
    assert (
        api.ask("POST", "/api/boards", json={"url": "not a url"}).problem(400)["type"]
        == "urn:thresher:InvalidUrl"
    )


def test_postings_are_listed_opened_and_asked_for(api, filled):
    assert keys(api.get("/api/postings")) == ["greenhouse:acme/2", "greenhouse:acme/1"]
    assert keys(api.get("/api/postings?state=open&board=greenhouse:acme&since=1d")) == ["greenhouse:acme/1"]
    assert keys(api.get("/api/postings?query=nobody")) == []
    assert keys(api.get("/api/postings?before=greenhouse:acme/2")) == ["greenhouse:acme/1"]
    assert api.get("/api/postings/greenhouse:acme/1")["outcome"] == "saved"
    assert api.get("/api/postings/greenhouse:acme%2F1")["posting"]["title"] == "Engineer"
    assert "7d" in api.ask("GET", "/api/postings?since=later").problem(400)["detail"]
    assert api.post("/api/postings", {"url": "https://acme.com/jobs/9"}, 201)["asked"][0]["answer"] == "added"
    assert (
        api.post("/api/postings", {"url": "https://acme.com/jobs/9"}, 200)["asked"][0]["answer"] == "waiting"
    )


def test_matches_are_found_the_best_first_and_keep_what_a_person_did(api, filled):
    assert keys(api.get("/api/matches")) == ["greenhouse:acme/1", "greenhouse:acme/2", "greenhouse:acme/3"]
    assert keys(api.get("/api/matches?limit=1&before=greenhouse:acme/1")) == ["greenhouse:acme/2"]
    assert keys(
        api.get("/api/matches?min_score=85&status=new&company=acm&words=engineer&since=7d&priority=high")
    ) == ["greenhouse:acme/1"]
    told = api.ask("PATCH", "/api/matches/greenhouse:acme/1", json={"status": "applied", "note": "sent it"})
    assert (told.status, told.json["was"], told.json["status"]) == (200, "new", "applied")
    (found,) = api.get("/api/matches?status=applied")
    assert found["note"] == "sent it"
    assert (
        "dismissed"
        in api.ask("PATCH", "/api/matches/greenhouse:acme/1", json={"status": "hired"}).problem(400)["detail"]
    )
    why = api.get("/api/matches/why")
    assert (why["profile"], why["reasons"], why["change"]) == (False, [], None)
    api.ask("PATCH", "/api/matches/nothing", json={"status": "new"}).problem(404)
    api.ask("GET", "/api/matches?company=.").problem(400)


def test_a_saved_search_is_used_by_its_name(api, filled):
    save_view(filled.store, "good", {"min_score": 85})
    assert keys(api.get("/api/matches?view=good")) == ["greenhouse:acme/1"]
    assert (
        "use either view or filters"
        in api.ask("GET", "/api/matches?view=good&status=new").problem(400)["detail"]
    )
    api.ask("GET", "/api/matches?view=bad").problem(404)


def test_every_decision_is_explained(api, filled):
    said = api.get("/api/explain/greenhouse:acme/1")
    assert said["outcome"] == "saved"
    assert any("$150,000" in sentence for sentence in said["sentences"])
    assert api.get("/api/explain/acme.com")["kind"] == "company"
    task = api.post("/api/companies", {"website": "delta.io"}, 201)["asked"][0]["task"]
    assert api.get(f"/api/explain/{task}")["kind"] == "task"
    for nothing in ("9" * 30, "9" * 3_000, "9007199254740992", "nothing", "٣"):
        api.ask("GET", f"/api/explain/{quote(nothing)}").problem(404)


def test_a_profile_is_put_as_yaml_or_json_and_read_back(api, filled):
    assert "PUT" in api.ask("GET", "/api/profile").problem(404)["detail"]
    yaml = {"Authorization": f"Bearer {api.token}", "Content-Type": "application/yaml"}
    text = "city: Portland\ncountry: US\nskills:\n  python: {rank: required}\n"
    first = api.ask("PUT", "/api/profile", data=text.encode(), headers=yaml)
    assert (first.status, first.json["city"]) == (200, "Portland"), first.body
    second = api.ask(
        "PUT",
        "/api/profile",
        json={"city": "Zürich \U0001f600", "country": "NO", "workplace": {"remote": True}},
    )
    assert (second.status, second.json["city"], second.json["country"]) == (200, "Zürich \U0001f600", "NO"), (
        second.body
    )
    assert api.get("/api/profile") == second.json
    told = api.ask("PUT", "/api/profile", data=b"city: Portland\ncuontry: US\n", headers=yaml).problem(400)
    assert "profile:2" in told["detail"]
    assert "cuontry" in told["detail"]
    for wrong in (
        b"",
        b"  ",
        b"{",
        b"\xff",
        b"[1]",
        b"null",
        b"[" * 100_000,
        b'{"city": "\\ud800"}',
        b'{"city": NaN}',
    ):
        told = api.ask("PUT", "/api/profile", data=wrong, headers=yaml | {"Content-Type": "application/json"})
        assert told.status in (400, 422), wrong[:40]
    for wrong in (
        b"",
        b"\xff",
        b"a: &a [*a]",
        b"- 1",
        b"!!python/object:os.system x",
        b"a: " + b"[" * 100_000,
    ):
        assert api.ask("PUT", "/api/profile", data=wrong, headers=yaml).status in (400, 422), wrong[:40]
    assert api.get("/api/profile") == second.json


def test_tasks_are_listed_opened_cancelled_and_sent_back(api, filled):
    ids = [
        filled.store.enqueue([filled.registry.admit(NewTask("scrape", key=f"k{at}"))])[0] for at in range(3)
    ]
    assert [each["id"] for each in api.get("/api/tasks?kind=scrape&state=pending&limit=2")] == [
        ids[2],
        ids[1],
    ]
    assert [each["id"] for each in api.get(f"/api/tasks?before={ids[1]}")] == [ids[0]]
    detail = api.get(f"/api/tasks/{ids[0]}")
    assert any("no worker is running" in sentence for sentence in detail["waits"])
    assert api.post(f"/api/tasks/{ids[0]}/cancel", {"reason": "no longer needed"})["cancelled"] == [ids[0]]
    assert api.get(f"/api/tasks/{ids[0]}")["task"]["reason"] == "no longer needed"
    api.ask("POST", f"/api/tasks/{ids[0]}/cancel").problem(409)
    assert api.post(f"/api/tasks/{ids[0]}/retry")["retried"] == [ids[0]]
    assert api.ask("POST", f"/api/tasks/{ids[0]}/retry").problem(409)["type"] == "urn:thresher:NotAllowed"
    api.ask("POST", "/api/tasks/99999/retry").problem(404)
    assert "pending" in api.ask("GET", "/api/tasks?state=sleeping").problem(400)["detail"]


@pytest.mark.promise(1)
def test_a_task_of_any_known_kind_is_added_once_per_key(api):
    first = api.ask(
        "POST", "/api/tasks", json={"kind": "scrape", "payload": {}, "key": "mine", "delay": 3600}
    )
    again = api.ask("POST", "/api/tasks", json={"kind": "scrape", "key": "mine"})
    assert (first.status, again.status, first.json["id"]) == (201, 200, again.json["id"])
    assert api.get(f"/api/tasks/{first.json['id']}")["task"]["dedupe_key"] == "mine"
    assert "known are" in api.ask("POST", "/api/tasks", json={"kind": "scarpe"}).problem(404)["detail"]
    for wrong in (
        {},
        {"payload": []},
        {"delay": "soon"},
        {"delay": -1},
        {"colour": "red"},
        {"priority": 10**9},
        {"url": "no url"},
    ):
        assert api.ask("POST", "/api/tasks", json={"kind": "scrape", **wrong} if wrong else {}).status in (
            400,
            422,
        ), wrong
    assert len(api.get("/api/tasks?kind=scrape")) == 1


def test_sources_are_paused_resumed_disabled_and_enabled(api, filled):
    source, *_ = api.get("/api/sources")
    place = f"/api/sources/{source['source']}"
    assert len(api.get("/api/sources?all=true")) >= 1
    told = api.post(f"{place}/pause", {"for": "2h", "reason": "they asked"})
    assert (told["state"], told["why"]) == ("paused", "they asked")
    assert api.post(f"{place}/resume")["state"] == "open"
    tomorrow = (read_now(filled.store) + DAY) // SECOND * SECOND
    told = api.post(f"{place}/pause", {"until": f"{as_text(tomorrow)[:19]}+00:00"})
    assert (told["opens_at"], told["why"]) == (as_text(tomorrow), "paused manually")
    assert api.post(f"{place}/resume")["state"] == "open"
    assert api.post(f"{place}/disable")["why"] == "disabled manually"
    assert "enable" in api.ask("POST", f"{place}/resume").problem(409)["detail"]
    assert api.post(f"{place}/enable")["state"] == "open"
    for wrong in ("soon", "-1", "0s", "9999999999d", "9" * 400 + "d"):
        api.ask("POST", f"{place}/pause", json={"for": wrong}).problem(400)
    for unclear in (
        {},
        {"until": "2020-01-01 08:00 UTC"},
        {"until": "2999-01-01 08:00"},
        {"for": "1h", "until": "x"},
    ):
        api.ask("POST", f"{place}/pause", json=unclear).problem(400)
    api.ask("POST", "/api/sources/host:nowhere.example/pause", json={"for": "1m"}).problem(404)
    assert [each["kind"] for each in api.get("/api/events?limit=2")] == ["gate_resumed", "gate_disabled"]


@pytest.mark.promise(17)
def test_a_source_that_an_administrator_disabled_opens_for_an_administrator_only(api, stranger, shop, filled):
    source, *_ = api.get("/api/sources")
    place = f"/api/sources/{source['source']}"
    admin = Api(stranger.url, create_key(shop.store, "root", ["admin"]).token)
    by_hand = partial(control.disable, shop.store, source["source"], "we may not")
    for close in (partial(admin.post, f"{place}/disable", {"reason": "a lawyer wrote"}), by_hand):
        close()
        api.ask("POST", f"{place}/resume").problem(409)
        for way in ("enable", "disable"):
            assert "administrator" in api.ask("POST", f"{place}/{way}").problem(409)["detail"]
        assert admin.post(f"{place}/enable")["state"] == "open"
    api.post(f"{place}/disable")
    assert api.post(f"{place}/enable")["state"] == "open"


@pytest.mark.promise(17)
def test_the_pause_of_an_administrator_is_ended_by_an_administrator_only(api, stranger, shop, filled):
    source, *_ = api.get("/api/sources")
    place = f"/api/sources/{source['source']}"
    admin = Api(stranger.url, create_key(shop.store, "root", ["admin"]).token)
    by_hand = partial(control.pause, shop.store, source["source"], 3_600, "moving")
    for close in (partial(admin.post, f"{place}/pause", {"for": "1h"}), by_hand):
        close()
        for way, body in (("resume", None), ("pause", {"for": "1s"}), ("disable", None), ("enable", None)):
            detail = api.ask("POST", f"{place}/{way}", json=body).problem(409)["detail"]
            assert "an administrator has paused" in detail
        assert admin.post(f"{place}/resume")["state"] == "open"
    api.post(f"{place}/pause", {"for": "1h"})
    assert api.post(f"{place}/resume")["state"] == "open"


def test_events_are_paged(api, filled):
    source, *_ = api.get("/api/sources")
    for _ in range(3):
        api.post(f"/api/sources/{source['source']}/disable")
    first = api.get("/api/events?limit=2&kind=gate_disabled")
    rest = api.get(f"/api/events?limit=2&kind=gate_disabled&before={first[-1]['id']}")
    assert [each["id"] for each in first + rest] == sorted(
        {each["id"] for each in first + rest}, reverse=True
    )
    assert (len(first), len(rest)) == (2, 1)
    assert first[0]["sentence"]
    api.ask("GET", "/api/events?kind=nonsense").problem(400)


def test_costs_and_status_are_shown(api, filled):
    assert api.get("/api/costs?by=model&since=7d")["by"] == "model"
    api.ask("GET", "/api/costs?by=moon").problem(400)
    status = api.get("/api/status")
    assert status["schema"] >= 5
    assert status["at"].endswith("Z")


@pytest.mark.promise(12)
def test_a_setting_is_changed_with_the_name_of_the_key_and_is_in_force_here_at_once(api, filled):
    told = api.ask("PUT", "/api/settings/retry.base", json={"value": 5})
    assert (told.json["value"], told.json["origin"]) == (5, "database")
    assert filled.store.settings["retry.base"] == 5
    with filled.store.read() as session:
        assert session.rows("select changed_by from setting_changes") == [("key anna",)]
    assert api.ask("PUT", "/api/settings/retry.base", json={"value": None}).json["origin"] == "default"
    assert {each["name"]: each["value"] for each in api.get("/api/settings")}["retry.base"] == 60
    for wrong, status in (
        ({"value": -1}, 400),
        ({"value": "5"}, 422),
        ({"value": True}, 422),
        ({}, 422),
        ({"value": 1e300}, 400),
    ):
        api.ask("PUT", "/api/settings/retry.base", json=wrong).problem(status)
    told = api.ask("PUT", "/api/settings/retry.bsae", json={"value": 1}).problem(404)
    assert "retry.base" in told["detail"]


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "name",
    [
        "web.login_rate",
        "web.login_address_rate",
        "web.password_cost",
        "web.login_hours",
        "web.rate",
        "web.connections",
        "budget.day",
        "budget.call",
        "ai.output_limit",
        "host.interval",
        "fetch.crawl_delay_cap",
        "fetch.keep_pages",
        "history.ledger",
    ],
)
def test_a_key_that_writes_changes_no_setting_of_security_or_money(standing, name):
    store = standing.shop.store
    known = store.settings.catalogue[name]
    writer = Api(standing.stranger.url, create_key(store, f"writer {name}", ["read", "write"]).token)
    keeper = Api(standing.stranger.url, create_key(store, f"keeper {name}", ["admin"]).token)
    for value in (known.high, known.low, None):
        told = writer.ask("PUT", f"/api/settings/{name}", json={"value": value}).problem(403)
        assert told["type"] == "urn:thresher:ScopeMissing"
        assert "the scope admin" in told["detail"]
    assert rows(store, f"select count(*) from setting_changes where name = '{name}'") == [(0,)]
    told = keeper.ask("PUT", f"/api/settings/{name}", json={"value": known.default})
    assert (told.status, told.json["scope"]) == (200, "admin")
    assert keeper.ask("PUT", f"/api/settings/{name}", json={"value": None}).status == 200


def test_whoever_misspells_a_filter_is_told_and_not_answered_with_everything(api, filled):
    told = api.ask("GET", "/api/companies?teir=A").problem(400)
    assert "teir" in told["detail"]
    assert "tier" in told["detail"]
    assert "2 times" in api.ask("GET", "/api/companies?tier=A&tier=B").problem(400)["detail"]


def test_the_api_describes_itself_without_pages_from_elsewhere(api):
    said = api.get("/api/openapi.json")
    assert len([name for name, each in said["components"]["schemas"].items() if each.get("examples")]) >= 10
    assert said["openapi"].startswith("3.")
    assert set(said["paths"]["/api/companies"]) == {"get", "post"}
    assert said["paths"]["/api/boards/{key}/enable"]["post"]["x-scope"] == "write"
    assert set(said["components"]["securitySchemes"]) == {"bearer", "x-api-key", "x-scraper-api-key", "login"}
    for path in ("/api/docs", "/api/redoc"):
        api.ask("GET", path).problem(404)
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert api.ask("GET", path).headers["Location"] == "/setup", "what is not under /api is for people"


def test_times_become_text_and_what_is_no_text_does_no_harm():
    assert written({"at": SECOND, "run_at": None, "payload": {"at": 5}, "half": "\ud800"}) == (
        b'{"at": "1970-01-01T00:00:01.000Z", "run_at": null, "payload": {"at": 5}, "half": "?"}'
    )


def test_runs_are_listed_and_opened_with_what_they_counted(api, filled):
    run = opened(filled.store, entry(key="page"), subject="acme")
    (listed,) = api.get("/api/runs?running=true&name=pages")
    assert (listed["id"], listed["subject"], listed["live"], listed["state"]) == (run, "acme", 1, "running")
    assert api.get(f"/api/runs/{run}") == {"run": listed, "below": []}
    assert [each["kind"] for each in api.get(f"/api/tasks?run={run}")] == ["page"]
    assert api.get("/api/runs?app=nobody&groups=true") == []
    api.ask("GET", "/api/runs/99").problem(404)


@pytest.mark.promise(20)
def test_a_run_is_cancelled_whole_by_a_key_that_may_write(api, filled):
    run = opened(filled.store, *(entry(key=f"page {at}") for at in range(3)), subject="acme")
    found = api.post(f"/api/runs/{run}/cancel", {"reason": "the shop has closed"})
    assert found == {"run": run, "cancelled": 3, "asked": 0, "live": 0}
    assert {each["reason"] for each in api.get(f"/api/tasks?run={run}")} == {"the shop has closed"}
    assert api.post(f"/api/runs/{run}/cancel")["cancelled"] == 0
    api.ask("POST", "/api/runs/99/cancel").problem(404)
    reader = Api(api.url, create_key(filled.store, "looker", ["read"]).token)
    reader.ask("POST", f"/api/runs/{run}/cancel").problem(403)
