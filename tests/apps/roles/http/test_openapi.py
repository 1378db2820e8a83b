"""What the API says about the routes for scrapers is true of every answer; and whatever is sent to them is
answered, never a bug."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.roles.http.scraping import QUEUE, World, job, worlds
from tests.web.conformance import differs
from tests.web.conftest import APPS, Api
from tests.web.test_fuzz import TEXTS, VALUES, operations
from thresher.admin.keys import create_key
from thresher.apps.roles.service import platforms

MONITORING = "/api/scraper-monitoring"
FINE = {200, 204, 400, 403, 404, 409, 413, 422}


@pytest.fixture(params=["sqlite", "postgres"])
def world(request, tmp_path):
    with worlds(request, tmp_path) as found:
        yield found


def described(world: World) -> dict[str, Any]:
    reader = Api(world.url, create_key(world.store, "reader", ["read"]).token)
    said: dict[str, Any] = reader.get("/api/openapi.json")
    return said


def schema_of(said: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = said["paths"][path][method.lower()]["responses"]["200"]["content"][
        "application/json"
    ]
    return found


def test_every_route_for_scrapers_is_described_with_an_example_that_fits(world):
    said = described(world)
    ours = {path: methods for path, methods in said["paths"].items() if path.startswith((QUEUE, MONITORING))}
    assert len(ours) == 10
    for path, methods in ours.items():
        for method, operation in methods.items():
            told = schema_of(said, method, path)
            assert differs(told["example"], told["schema"]) == [], path
            assert operation["summary"]
            if method == "post":
                assert operation["requestBody"]["content"]["application/json"]["schema"]
    assert "204" in said["paths"][f"{QUEUE}/next-role"]["get"]["responses"]


def test_a_scrapers_key_opens_the_description_of_what_it_opens_and_no_more(world):
    scraper = Api(world.url, create_key(world.store, "curious", ["scrape"], apps=APPS).token)
    said, whole = scraper.get("/api/scraper/openapi.json"), described(world)
    assert said["paths"] == {
        path: each for path, each in whole["paths"].items() if path.startswith("/api/scraper/")
    }
    assert f"{QUEUE}/jobs" in said["paths"]
    assert scraper.ask("GET", "/api/openapi.json").problem(403)["type"] == "urn:thresher:ScopeMissing"


def test_every_answer_of_a_conversation_is_as_it_was_described(world):
    platforms.save(world.store, "monster", {"per_minute": "30"})
    platforms.save(world.store, "dice", {})
    for name in ("Python Developer", "Gardener", "Nurse"):
        world.role(name, wanted=1, aliases=(f"{name} too",))
    said, scraper, keeper = described(world), world.scraper(), world.keeper()

    def fits(method: str, path: str, found: Any) -> Any:
        assert differs(found, schema_of(said, method, path)["schema"]) == [], found
        return found

    def tell(path: str, offer: Any, **more: Any) -> Any:
        return fits("POST", f"{QUEUE}{path}", scraper.say(path, offer, **more))

    def take() -> Any:
        return fits("GET", f"{QUEUE}/next-role", scraper.claim())

    first, second, third = take(), take(), take()
    fits("GET", f"{QUEUE}/current-session", scraper.call("GET", "/current-session").json)
    tell("/heartbeat", first)
    tell(
        "/jobs", first, jobs=[job(1), {"title": "nobody's"}, job(2, posted_date="yesterday")], complete=False
    )
    tell("/jobs", first, jobs=[job(1)])
    tell("/jobs", second, jobs=[])
    tell("/fail", third, reason="a wall", platform="dice")
    tell("/complete", third)
    fits("GET", f"{QUEUE}/stats", scraper.call("GET", "/stats").json)
    for path in ("sessions", "stats", "queue"):
        fits("GET", f"{MONITORING}/{path}", keeper.get(f"{MONITORING}/{path}"))


def bodies(names: list[str], sessions: list[str]) -> st.SearchStrategy[Any]:
    """Objects with the members that the contract names, some of them right."""
    verdict = st.sampled_from(["found", "empty", "blocked", "failed", "unknown"])
    right = {
        "session_id": st.sampled_from(sessions),
        "verdict": verdict,
        "complete": st.just(value=False),
        "platform": TEXTS,
        "verdicts": st.dictionaries(TEXTS, verdict, max_size=2),
    }
    member = st.sampled_from(names).flatmap(
        lambda name: st.tuples(st.just(name), st.one_of(right.get(name, TEXTS), VALUES))
    )
    return st.one_of(st.lists(member, max_size=5).map(dict), VALUES)


@pytest.mark.promise(17)
@pytest.mark.promise(18)
@pytest.mark.promise(19)
def test_whatever_is_sent_to_the_queue_is_answered_and_never_a_bug(world):
    for at in range(200):
        world.role(f"role {at}")
    key = create_key(world.store, "fuzz", ["scrape", "admin"], apps=APPS)
    fuzzer, scraper = Api(world.url, key.token), world.scraper()
    sessions = [
        scraper.claim()["session_id"],
        *(Api(world.url, key.token).get(f"{QUEUE}/next-role")["session_id"] for _ in range(5)),
        "x",
    ]
    routes = [each for each in operations(described(world)) if each[1].startswith((QUEUE, MONITORING))]
    members = [
        "session_id",
        "jobs",
        "platform",
        "complete",
        "verdict",
        "verdicts",
        "proof",
        "reason",
        "nonsense",
    ]

    @settings(max_examples=max(150, settings().max_examples), suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def attack(data: st.DataObject) -> None:
        method, path, names, schema = data.draw(st.sampled_from(routes))
        asked = data.draw(st.dictionaries(st.sampled_from([*names, "nonsense"]), TEXTS, max_size=2))
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items())
        how = {} if schema is None else {"data": json.dumps(data.draw(bodies(members, sessions))).encode()}
        headers = {"X-Scraper-API-Key": fuzzer.token or "", "Content-Type": "application/json"}
        found = asyncio.run(fuzzer.send(method, f"{path}?{query}" if query else path, headers=headers, **how))
        assert found.status in FINE, (method, path, query, how, found)
        if found.status >= 400:
            found.problem(found.status)
        elif found.status == 204:
            assert found.body == b""

    attack()
    assert world.rows(
        "select count(*) from roles where (status = 'processing') <> (session_id is not null)"
    ) == [(0,)]
