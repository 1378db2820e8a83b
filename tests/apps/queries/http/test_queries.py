"""Queries, signals and alarms over HTTP: members in camelCase, each answer as the document describes it."""

import pytest

from tests.apps.queries.scene import EVIL, add_client, fill
from tests.apps.roles.http.test_openapi import described, schema_of
from tests.web.conformance import differs
from thresher.admin.keys import create_key

OURS = ("/api/queries", "/api/query-", "/api/ingestion-runs", "/api/signals")


def test_every_route_is_described_with_an_example_that_fits(world):
    said = described(world)
    ours = {path: methods for path, methods in said["paths"].items() if path.startswith(OURS)}
    assert len(ours) >= 12
    for path, methods in ours.items():
        for method in methods:
            told = schema_of(said, method, path)
            assert differs(told["example"], told["schema"]) == [], path


def test_every_answer_is_as_it_was_described(world, api):
    query = fill(world.store)
    said = described(world)

    def fits(method, path, found):
        assert differs(found, _open(schema_of(said, method, path)["schema"])) == [], found
        return found

    (listed,) = fits("GET", "/api/queries", api.get("/api/queries"))
    assert (listed["queryKey"], listed["status"], listed["lastRunSucceeded"]) == (
        query.query_key,
        "SUCCESS",
        True,
    )
    one = fits("GET", "/api/queries/{key}", api.get(f"/api/queries/{query.query_key}"))
    assert one["runs"][0]["stopReason"] == "window_exhausted"
    assert one["days"]
    fits("GET", "/api/ingestion-runs", api.get("/api/ingestion-runs"))
    clients = fits("GET", "/api/query-clients", api.get("/api/query-clients"))
    assert "harbour" in [each["name"] for each in clients]
    (alarm,) = fits("GET", "/api/query-alarms", api.get("/api/query-alarms"))
    assert (alarm["name"], alarm["isOpen"], alarm["toldAt"]) == ("zero_rows", True, None)
    fits("POST", "/api/query-sync", api.post("/api/query-sync"))
    fits("POST", "/api/queries/{key}/run", api.post("/api/queries/docks/run"))
    fits("POST", "/api/queries/{key}/pause", api.post("/api/queries/docks/pause", {"reason": "tide"}))
    fits("POST", "/api/queries/{key}/resume", api.post("/api/queries/docks/resume"))
    fits("POST", "/api/queries/{key}/reset", api.post("/api/queries/docks/reset", {"dryRun": True}))
    companies = fits("GET", "/api/signals", api.get("/api/signals"))
    assert [each["company"] for each in companies] == ["acme.example", "brick.example"]
    fits("GET", "/api/signals/{key}", api.get("/api/signals/acme.example"))


def _open(schema):
    """Members whose names are a client's or a rule's may be others than those of the example."""
    if schema.get("type") == "object":
        inner = {
            name: {"type": "object"} if name in ("parameters", "categoryMaxScores") else _open(each)
            for name, each in schema["properties"].items()
        }
        return {**schema, "properties": inner}
    return {**schema, "items": _open(schema["items"])} if "items" in schema else schema


def test_a_decision_is_kept_with_who_made_it_and_what_was_before(world, api):
    fill(world.store)
    told = api.post("/api/signals/acme.example/decide", {"resolution": "REJECTED", "notes": f"no {EVIL}"})
    assert (told["company"]["resolution"], told["company"]["resolved"]) == ("REJECTED", True)
    assert [(each["field"], each["old"], each["by"]) for each in told["decisions"]] == [
        ("resolution", "PENDING", "key anna"),
        ("notes", None, "key anna"),
    ]
    assert told["company"]["feedback"] is None, "what is not said stays as it is"
    cleared = api.post("/api/signals/Acme/decide", {"notes": ""})
    assert cleared["company"]["notes"] is None
    assert [each["company"] for each in api.get("/api/signals?resolution=REJECTED")] == ["acme.example"]


@pytest.mark.promise(17)
def test_bad_input_is_refused_by_name_and_changes_nothing(world, api):
    fill(world.store)
    for path, body, says in (
        ("/api/signals/acme.example/decide", {"resolution": "MAYBE"}, "PENDING"),
        ("/api/signals/acme.example/decide", {"feedback": "YES"}, "FP"),
        ("/api/signals/acme.example/decide", {}, "nothing to decide"),
        ("/api/queries/docks/backfill", {"first": "soon", "last": "2026-01-31"}, "2026-01-31"),
        ("/api/queries", {"name": "x", "client": "nope"}, "adzuna"),
        ("/api/queries", {"name": "x", "client": "harbour", "parameters": {"colour": "red"}}, "colour"),
    ):
        found = api.ask("POST", path, json=body)
        assert 400 <= found.status < 500, (path, found.body)
        assert says in found.problem(found.status)["detail"], (path, body)
    assert api.ask("GET", "/api/signals?resolution=MAYBE").problem(400)
    assert api.ask("GET", "/api/signals/nobody.example").problem(404)
    assert api.ask("GET", "/api/queries/nobody").problem(404)
    assert api.get("/api/signals/acme.example")["decisions"] == []
    assert len(api.get("/api/queries")) == 1


def test_looking_needs_one_scope_and_changing_the_other(world, api):
    fill(world.store)
    reader = type(api)(world.url, create_key(world.store, "reader", ["read"]).token)
    assert reader.get("/api/signals")
    refused = reader.ask("POST", "/api/signals/acme.example/decide", json={"notes": "x"})
    assert refused.problem(403)["type"] == "urn:thresher:ScopeMissing"
    assert reader.ask("POST", "/api/query-sync").problem(403)


def test_a_query_that_is_added_keeps_the_names_of_its_parameters(world, api):
    add_client(world.store)
    asked = {"name": "locks", "client": "adzuna", "parameters": {"country": "es"}, "maxPages": 3}
    made = api.post("/api/queries", asked)
    assert (made["parameters"], made["maxPages"], made["declaredIn"]) == ({"country": "es"}, 3, "person")
    assert api.ask("DELETE", "/api/queries/locks").json["retiredAt"]
    assert api.get("/api/queries") == []
    assert len(api.get("/api/queries?retired=true")) == 1


def test_a_second_wish_to_sync_is_the_first_one(world, api):
    first, second = api.post("/api/query-sync"), api.post("/api/query-sync")
    assert (first["new"], second["new"], first["id"] == second["id"]) == (True, False, True)
