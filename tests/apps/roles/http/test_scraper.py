"""The queue for scrapers over HTTP: the two calls of the contract, what was added to them, and everybody who
tries to cheat."""

import json
from typing import Any

import pytest

from tests.apps.roles.http.scraping import QUEUE, Scraper, World, job, worlds
from tests.web.conftest import APPS, Api
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.apps.roles.service import platforms
from thresher.core.record import Record
from thresher.store.settings import change_setting, refresh_settings
from thresher.web.refresh import refresh

HOUR = 3_600.0


@pytest.fixture(params=["sqlite", "postgres"])
def world(request, tmp_path):
    with worlds(request, tmp_path) as found:
        yield found


def status_of(world: World, role: int) -> str:
    return str(world.rows("select status from roles where id = :id", id=role)[0][0])


def test_two_calls_are_enough(world):
    role = world.role("Python Developer", wanted=3, aliases=("Python Dev", "Python Engineer"))
    scraper = world.scraper()
    offer = scraper.claim()
    assert offer["role"] == {
        "id": role,
        "name": "Python Developer",
        "aliases": ["Python Dev", "Python Engineer"],
        "candidate_count": 3,
        "keywords": ["Python Developer"],
    }
    assert (offer["platforms"], offer["heartbeat"], offer["expires_at"]) == (
        [],
        f"{QUEUE}/heartbeat",
        "2023-11-14T23:13:20.000Z",
    )
    assert status_of(world, role) == "processing"
    world.pass_time(45)
    told = scraper.say("/jobs", offer, jobs=[job(1), job(2), {"title": "nobody's"}])
    wanted = {
        "session_id": offer["session_id"],
        "jobs_found": 3,
        "jobs_imported": 2,
        "jobs_skipped": 1,
        "duration_seconds": 45,
        "matching_triggered": True,
        "jobs_updated": 0,
        "jobs_linked": 0,
        "role_status": "completed",
        "session_status": "completed",
        "verdict": "found",
    }
    assert wanted.items() <= told.items()
    assert status_of(world, role) == "completed"
    linked = "select r.key from records r join links l on l.record_id = r.id where l.name = 'role' and l.target = :role"
    assert sorted(row[0] for row in world.rows(linked, role=str(role))) == [
        "monster/monster-1",
        "monster/monster-2",
    ]
    ((payload,),) = world.rows("select payload from tasks where kind = 'match_postings'")
    assert json.loads(payload)["session"] == offer["session_id"]


@pytest.mark.promise(17)
def test_a_role_brings_the_search_keywords_that_its_candidates_share(world):
    role = world.role("Python Developer", wanted=3)
    said = [
        ["Python Developer", "Django", "sous-vide"],
        ["Python Dev", "Django", "birdwatching"],
        ["AWS"],
    ]
    people = [
        Record("candidate", f"person-{at}", {"keywords": words, "email": "a@b.example"}, merge=True)
        for at, words in enumerate(said)
    ]
    write_records(world.store, people)
    scraper = world.scraper()
    offer = scraper.claim()
    assert offer["role"]["keywords"] == ["Python Developer", "Django", "AWS"]
    held = scraper.call("GET", "/current-session").json["sessions"]
    assert [each["role"] for each in held] == [offer["role"]]
    assert offer["role"]["id"] == role
    world.pass_time(HOUR)
    change_setting(world.store, "roles.keyword_candidates", 1, "anna")
    refresh_settings(world.store)
    assert {"birdwatching", "sous-vide"} <= {*scraper.claim()["role"]["keywords"]}


@pytest.mark.promise(13)
def test_a_session_that_ran_out_says_how_long_it_was_silent(world):
    world.role("Python Developer")
    scraper, keeper = world.scraper(), world.keeper()
    scraper.claim()
    world.pass_time(HOUR)
    beating = scraper.claim()
    world.pass_time(1_800)
    scraper.say("/heartbeat", beating)
    world.pass_time(HOUR)
    partly = scraper.claim()
    scraper.say("/jobs", partly, jobs=[job(1), job(2)], complete=False)
    world.pass_time(HOUR)
    scraper.claim()
    told = keeper.get("/api/scraper-monitoring/sessions?status=timeout")["sessions"]
    assert [each["error_message"] for each in told] == [
        "No sign of life for 60 minutes after 2 postings",
        "No jobs posted within 90 minutes, and no sign of life for 60 minutes",
        "No jobs posted within 60 minutes",
    ]
    reasons = world.rows("select detail from events where kind = 'session_expired' order by id")
    assert json.loads(reasons[0][0])["reason"] == "No jobs posted within 60 minutes"


def test_an_empty_queue_is_204_without_a_body_and_says_when_to_come_back(world):
    scraper = world.scraper()
    found = scraper.call("GET", "/next-role")
    assert (found.status, found.body) == (204, b"")
    assert not {"Content-Type", "Retry-After"} & found.headers.keys()
    world.role("Gardener")
    for _ in range(2):  # the first failure costs nothing, the second a minute
        scraper.say("/fail", scraper.claim(), reason="no luck")
    found = scraper.call("GET", "/next-role")
    assert (found.status, found.headers.get("Retry-After"), found.body) == (204, "60", b"")
    world.pass_time(60)
    assert scraper.claim()["role"]["name"] == "Gardener"


@pytest.mark.promise(5)
def test_roles_are_served_by_priority_then_demand_and_the_smallest_in_the_end(world):
    world.role("few", 1)
    world.role("many", 9)
    world.role("later", 9, "low")
    world.role("now", 0, "urgent")
    world.role("soon", 2, "high")
    scraper = world.scraper()
    assert [scraper.claim()["role"]["name"] for _ in range(5)] == ["now", "soon", "many", "few", "later"]
    world.pass_time(400 * HOUR)
    world.role("newcomer", 9, "normal")
    assert scraper.claim()["role"]["name"] == "now"  # whose sessions ran out long ago
    assert [scraper.claim()["role"]["name"] for _ in range(5)][-1] == "newcomer"


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_late_post_is_refused_and_kept_while_the_role_is_in_other_hands(world):
    role = world.role("Python Developer")
    slow, fast = world.scraper("slow"), world.scraper("fast")
    lost = slow.claim()
    assert fast.call("GET", "/next-role").status == 204
    world.pass_time(HOUR + 1)
    held = fast.claim()
    assert held["role"]["id"] == role
    told = slow.say("/jobs", lost, 409, jobs=[job("late")])
    assert "thresher late list" in told["error"]
    assert world.rows("select count(*) from records where kind = 'posting'") == [(0,)]
    assert [(row[0], row[1]) for row in world.rows("select postings, decision from late_posts")] == [
        (1, None)
    ]
    for path in ("/heartbeat", "/fail", "/complete"):
        assert "run out of time" in slow.say(path, lost, 409)["detail"]
    assert status_of(world, role) == "processing"
    assert fast.say("/jobs", held, jobs=[job(1)])["role_status"] == "completed"


@pytest.mark.promise(2)
def test_the_same_thing_said_twice_is_answered_twice_and_done_once(world):
    world.role("Python Developer")
    world.role("Gardener")
    scraper = world.scraper()
    first, second = scraper.claim(), scraper.claim()
    told = scraper.say("/jobs", first, jobs=[job(1)])
    world.pass_time(2 * HOUR)
    assert scraper.say("/jobs", first, jobs=[job(1)]) == told
    assert world.rows("select count(*) from tasks where kind = 'match_postings'") == [(1,)]
    assert world.rows("select count(*) from late_posts") == [(0,)]
    scraper.say("/jobs", first, 409, jobs=[job(2)])
    again = scraper.claim()
    assert again["role"] == second["role"]
    failed = scraper.say("/fail", again, reason="it broke")
    assert failed == {
        "session_id": again["session_id"],
        "session_status": "failed",
        "verdict": "failed",
        "role_status": "pending",
    }
    assert scraper.say("/fail", again, reason="it broke") == failed
    scraper.say("/fail", again, 409, reason="it broke otherwise")


@pytest.mark.promise(17)
def test_a_session_of_another_key_is_answered_like_one_that_does_not_exist(world):
    role = world.role("Python Developer")
    owner, thief = world.scraper("owner"), world.scraper("thief")
    offer = owner.claim()
    for path in ("/jobs", "/heartbeat", "/fail", "/complete"):
        more = {"jobs": [job(1)]} if path == "/jobs" else {}
        stolen = thief.say(path, offer, 404, **more)
        assert stolen == thief.say(path, {"session_id": "5b7e9c1e-6d0f-4a53-9d38-2f8a1c0b7e11"}, 404, **more)
    assert thief.call("GET", "/current-session").json == {"sessions": []}
    assert status_of(world, role) == "processing"
    assert world.rows("select count(*) from late_posts") == [(0,)]
    assert owner.say("/jobs", offer, jobs=[job(1)])["session_status"] == "completed"


def test_a_heartbeat_holds_a_session_for_another_lease(world):
    world.role("Python Developer")
    scraper, other = world.scraper(), world.scraper("other")
    offer = scraper.claim()
    for _ in range(3):
        world.pass_time(HOUR - 1)
        told = scraper.say("/heartbeat", offer)
        assert told.keys() == {"session_id", "expires_at"}
        assert other.call("GET", "/next-role").status == 204
    assert told["expires_at"] == "2023-11-15T02:13:17.000Z"
    assert scraper.say("/jobs", offer, jobs=[job(1)])["verdict"] == "found"


@pytest.mark.promise(7)
def test_an_empty_list_completes_nothing_and_an_empty_look_wants_a_proof(world):
    role = world.role("Python Developer")
    scraper = world.scraper()
    told = scraper.say("/jobs", scraper.claim(), jobs=[])
    assert (told["verdict"], told["role_status"], status_of(world, role)) == ("unknown", "pending", "pending")
    offer = scraper.claim()
    url = "https://monster.example/?q=python"
    for proof in (
        None,
        {"url": url},
        {"url": url, "says": "Welcome"},
        {"url": url, "control": {"query": "developer", "results": 0}},
    ):
        assert "proof" in scraper.say("/jobs", offer, 422, jobs=[], verdict="empty", proof=proof)["detail"]
        assert "proof" in scraper.say("/complete", offer, 422, verdict="empty", proof=proof)["detail"]
    good = {"url": url, "control": {"query": "developer", "results": 1_240}}
    assert scraper.say("/complete", offer, verdict="empty", proof=good)["role_status"] == "completed"


@pytest.mark.promise(7)
def test_postings_in_parts_end_with_an_explicit_completion(world):
    role = world.role("Python Developer")
    scraper = world.scraper()
    offer = scraper.claim()
    world.pass_time(HOUR - 1)
    for at in range(2):
        told = scraper.say("/jobs", offer, jobs=[job(at)], complete=False)
        assert (told["session_status"], told["role_status"], told["jobs_imported"]) == (
            "in_progress",
            "processing",
            1,
        )
        world.pass_time(HOUR - 1)  # each part is a sign of life
    told = scraper.say("/complete", offer)
    assert told == {
        "session_id": offer["session_id"],
        "session_status": "completed",
        "verdict": "found",
        "role_status": "completed",
    }
    assert scraper.say("/complete", offer) == told
    assert status_of(world, role) == "completed"
    world.role("Gardener")
    nothing = scraper.claim()
    assert scraper.say("/complete", nothing)["role_status"] == "pending"


def test_a_scraper_that_starts_again_finds_what_it_holds(world):
    world.role("Python Developer", aliases=("Python Dev",))
    world.role("Gardener")
    scraper, other = world.scraper(), world.scraper("other")
    offer = scraper.claim()
    other.claim()
    assert scraper.call("GET", "/current-session").json == {"sessions": [offer]}
    world.pass_time(HOUR + 1)
    assert scraper.call("GET", "/current-session").json == {"sessions": []}


def test_platforms_have_turns_of_their_own(world):
    platforms.save(world.store, "dice", {"per_minute": "30", "every": "1d"})
    platforms.save(world.store, "indeed", {"in_flight": "1"})
    role = world.role("Python Developer")
    scraper = world.scraper()
    offer = scraper.claim()
    assert offer["platforms"] == [
        {"name": "dice", "requests_per_minute": 30},
        {"name": "indeed", "requests_per_minute": None},
    ]
    scraper.say("/fail", offer, 422, platform="monster")
    told = scraper.say("/fail", offer, reason="a wall", platform="indeed", verdict="blocked")
    assert (told["session_status"], told["role_status"]) == ("in_progress", "processing")
    told = scraper.say("/jobs", offer, jobs=[job(1, platform="dice")])
    assert (told["session_status"], told["role_status"]) == ("completed", "pending")
    again = scraper.claim()
    assert (again["role"]["id"], [each["name"] for each in again["platforms"]]) == (role, ["indeed"])
    ended = scraper.say("/fail", again, reason="a wall", platform="indeed")
    assert (ended["session_status"], ended["role_status"]) == ("failed", "pending")


@pytest.mark.promise(17)
def test_a_key_looks_only_where_it_may(world):
    for name in ("dice", "indeed"):
        platforms.save(world.store, name, {})
    world.role("Python Developer")
    scraper = world.scraper(sources=["dice"])
    refused = scraper.call("GET", "/next-role?platforms=indeed,dice").problem(403)
    assert "indeed" in refused["error"]
    offer = scraper.claim("?platforms=dice")
    assert [each["name"] for each in offer["platforms"]] == ["dice"]
    told = scraper.say("/jobs", offer, jobs=[job(1, platform="dice"), job(2, platform="indeed")])
    assert (told["jobs_imported"], told["jobs_skipped"], told["reasons"]) == (
        1,
        1,
        {"platform_not_allowed": 1},
    )
    assert scraper.call("GET", "/next-role").status == 204
    other = world.scraper("other")
    assert other.call("GET", "/next-role?platforms=dice").status == 204
    assert [each["name"] for each in other.claim("?platforms=indeed,dice")["platforms"]] == ["indeed"]


def test_what_makes_no_sense_is_told_and_changes_nothing(world):
    role = world.role("Python Developer")
    scraper = world.scraper()
    offer = scraper.claim()
    for path in ("/jobs", "/heartbeat", "/fail", "/complete"):
        nonsense(scraper, offer, path)
    assert status_of(world, role) == "processing"


def nonsense(scraper: Scraper, offer: dict[str, Any], path: str) -> None:
    for body in ({}, {"session_id": None}, {"session_id": ""}):
        assert "session_id" in scraper.call("POST", path, body).problem(400)["error"]
    for body in (b"", b"{", b"\xff", b'{"session_id": '):
        assert scraper.call("POST", path, body).status in (400, 422)
    for body in ([], "text", 7):
        assert scraper.call("POST", path, body).status in (400, 422)
    scraper.say(path, {"session_id": "nobody's"}, 404)
    if path != "/heartbeat":
        scraper.say(path, offer, 422, verdict="perhaps")
    assert scraper.call("POST", path, b'{"session_id": "\\u0000"}').status in (400, 404, 422)
    assert scraper.call("POST", path, b'{"session_id": "\\ud800"}').status in (400, 404, 422)


def test_parameters_that_nobody_knows_are_refused(world):
    world.role("Python Developer")
    scraper = world.scraper()
    for asked in (
        "?platform=dice",
        "?platforms=",
        "?platforms=,",
        "?platforms=a&platforms=b",
        f"?platforms={'a' * 81}",
        "?platforms=" + ",".join(map(str, range(101))),
    ):
        assert scraper.call("GET", f"/next-role{asked}").problem(400)
    assert world.rows("select count(*) from scrape_sessions") == [(0,)]


@pytest.mark.promise(17)
def test_only_a_key_for_scraping_opens_the_queue(world):
    world.role("Python Developer")
    for scopes in (["read", "write"], ["admin"]):
        other = Api(world.url, create_key(world.store, scopes[0], scopes, apps=APPS).token)
        told = other.ask("GET", f"{QUEUE}/next-role").problem(403)
        assert told["error"] == told["detail"]
    assert Api(world.url).ask("GET", f"{QUEUE}/next-role").problem(401)["error"]
    limited = World(world.shop, world.clock, world.url).scraper("limited")
    with world.store.write() as session:
        session.run("update api_keys set rate = 1 where name = 'limited'")
    assert limited.call("GET", "/stats").status == 200
    refused = limited.call("GET", "/next-role")
    assert refused.problem(429)
    assert int(refused.headers["Retry-After"]) == 60
    assert world.rows("select count(*) from scrape_sessions") == [(0,)]


@pytest.mark.promise(18)
def test_a_body_that_is_too_large_is_refused_and_one_that_is_large_is_not(world):
    world.role("Python Developer")
    scraper = world.scraper()
    offer = scraper.claim()
    jobs = [job(at, description="x" * 20_000) for at in range(100)]  # twice what other routes take
    assert scraper.say("/jobs", offer, jobs=jobs, complete=False)["jobs_imported"] == 100
    change_setting(world.store, "roles.body_limit", 10_000, "test")
    refresh(world.shop)
    assert "roles.body_limit" in scraper.say("/jobs", offer, 413, jobs=jobs)["error"]


def test_the_figures_have_the_shape_of_the_contract(world):
    assert world.scraper("nobody").call("GET", "/stats").json == {
        "queue": {status: {"roles": 0, "candidates": 0} for status in ("pending", "processing", "completed")},
        "last_24h": {"sessions_completed": 0, "jobs_imported": 0, "avg_duration_seconds": 0.0},
    }
    for name in ("one", "two", "three"):
        world.role(name, wanted=2)
    scraper = world.scraper()
    offer = scraper.claim()
    world.pass_time(30)
    scraper.say("/jobs", offer, jobs=[job(1), job(2)])
    scraper.claim()
    assert scraper.call("GET", "/stats").json == {
        "queue": {status: {"roles": 1, "candidates": 2} for status in ("pending", "processing", "completed")},
        "last_24h": {"sessions_completed": 1, "jobs_imported": 2, "avg_duration_seconds": 30.0},
    }
