"""Recipes over HTTP: members in camelCase, each answer as the document describes it, each change detected."""

from typing import Any

import pytest

from tests.apps.extractions.scene import FOUND, REPORT
from tests.apps.extractions.test_entities import LAMP
from tests.apps.roles.http.test_openapi import described, schema_of
from tests.web.conformance import differs
from thresher.admin.keys import create_key
from thresher.apps.extractions.detection.report import Choice, Question, Report
from thresher.apps.extractions.store.recipes import detected, undetected
from thresher.core.stored import written

OURS = ("/api/recipes", "/api/recipe-")
NEW = {"name": "acme", "url": "https://a.example/courses", "entity": "course"}
GIVEN = {
    "pageType": "DETAIL_LINKS",
    "linkRegexp": r"/courses/\d+",
    "pagination": {"urlPatternType": "page_num", "urlPattern": "{url}?p={page_num}", "totalPages": 4},
    "links": {"pageType": "DETAIL", "setup": [{"waitFor": "main"}]},
}


def put(api: Any, name: str, body: Any, status: int = 200) -> Any:
    found = api.ask("PUT", f"/api/recipes/{name}", json=body)
    assert found.status == status, found.body
    return found.json


def without_name(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "name"}


def test_every_route_is_described_with_an_example_that_fits(world):
    said = described(world)
    ours = {path: methods for path, methods in said["paths"].items() if path.startswith(OURS)}
    assert len(ours) == 6
    for path, methods in ours.items():
        for method in methods:
            told = schema_of(said, method, path)
            assert differs(told["example"], told["schema"]) == [], path


def test_every_answer_is_as_it_was_described(world, api):
    said = described(world)

    def fits(method, path, found):
        assert differs(found, schema_of(said, method, path)["schema"]) == [], found
        return found

    fits("GET", "/api/recipe-entities", api.get("/api/recipe-entities"))
    assert api.get("/api/recipes") == []
    made = fits("POST", "/api/recipes", api.post("/api/recipes", NEW))
    assert (made["recipe"]["status"], made["task"]["kind"]) == ("WAITING", "detectConfiguration")
    fits("GET", "/api/recipes/{name}", api.get("/api/recipes/acme"))
    with world.store.write() as session:
        found = {"configuration": written(FOUND), "report": REPORT, "made_by": "rules", "reason": "proved"}
        detected(session, {"recipe": made["recipe"]["id"], "detection": 1, **found}, world.clock.now())
    shown = fits("GET", "/api/recipes/{name}", api.get("/api/recipes/acme"))
    assert shown["said"]["configuration"]["pageType"] == "DETAIL_LINKS"
    assert shown["report"]["preview"][0]["data"] == {"id": "MATH 101"}
    assert shown["schema"]["required"] == ["id", "name", "description"]
    fits("GET", "/api/recipes", api.get("/api/recipes"))
    fits(
        "PUT",
        "/api/recipes/{name}",
        put(api, "acme", {**without_name(NEW), "configuration": GIVEN, "limits": {"depth": 1, "hours": 2}}),
    )
    fits("GET", "/api/recipes/{name}", api.get("/api/recipes/acme"))
    fits("POST", "/api/recipes/{name}/reconfigure", api.post("/api/recipes/acme/reconfigure"))
    fits("POST", "/api/recipes/{name}/revert", api.post("/api/recipes/acme/revert", {"version": 1}))
    gone = api.ask("DELETE", "/api/recipes/acme")
    fits("DELETE", "/api/recipes/{name}", gone.json)
    assert api.get("/api/recipes") == []


def test_creating_updating_and_reconfiguring_each_enqueue_a_detection(world, api):
    keys = [
        api.post("/api/recipes", NEW)["task"]["key"],
        put(api, "acme", {**without_name(NEW), "limits": {"pages": 3}})["task"]["key"],
        api.post("/api/recipes/acme/reconfigure")["task"]["key"],
    ]
    assert keys == [f"detectConfiguration.1.{number}" for number in (1, 2, 3)]
    assert len(world.rows("select 1 from tasks where kind = 'detectConfiguration'")) == 3


@pytest.mark.promise(20)
def test_a_question_is_answered_once_by_the_number_of_a_choice(world, api):
    made = api.post("/api/recipes", NEW)
    api.ask("POST", "/api/recipes/acme/answer", json={"choice": 1}).problem(409)
    question = Question("Which are courses?", (Choice("those below /courses", written(FOUND)),))
    with world.store.write() as session:
        asked = {"reason": "a question", "report": written(Report(question=question))}
        undetected(session, {"recipe": made["recipe"]["id"], "detection": 1, **asked}, world.clock.now())
    for choice, status in ((0, 422), (2, 400), ("x", 422)):
        api.ask("POST", "/api/recipes/acme/answer", json={"choice": choice}).problem(status)
    told = api.post("/api/recipes/acme/answer", {"choice": 1})
    assert differs(told, schema_of(described(world), "POST", "/api/recipes/{name}/answer")["schema"]) == []
    assert (told["recipe"]["status"], told["task"]["kind"]) == ("WAITING", "detectConfiguration")
    shown = api.get("/api/recipes/acme")
    assert shown["said"]["configuration"]["pageType"] == "DETAIL_LINKS"
    assert shown["recipe"]["madeBy"] == "key anna, who answered a question"
    api.ask("POST", "/api/recipes/acme/answer", json={"choice": 1}).problem(409)


def test_a_configuration_of_the_callers_own_is_a_version_at_once(world, api):
    made = api.post("/api/recipes", {**NEW, "configuration": GIVEN})
    assert (made["task"], made["recipe"]["version"]) == (None, 1)
    assert (made["recipe"]["madeBy"], made["recipe"]["reason"]) == ("key anna", "given by key anna")
    shown = api.get("/api/recipes/acme")
    assert shown["said"]["configuration"]["linkPattern"] == r"/courses/\d+"
    again = put(api, "acme", shown["said"])
    assert again["recipe"]["version"] == 1, "what is answered may be sent back"
    checked = put(api, "acme", {**shown["said"], "detect": True})
    assert checked["task"]["new"] is True


def test_a_schema_of_the_callers_own_keeps_its_names(world, api):
    entity = {"name": "lamp", "schema": LAMP, "key": ["name"]}
    api.post("/api/recipes", {**NEW, "entity": entity})
    shown = api.get("/api/recipes/acme")
    assert shown["recipe"]["entity"] == "lamp"
    assert "energy_class" in shown["said"]["entity"]["schema"]["properties"]
    assert "energy_class" in shown["schema"]["properties"]
    put(api, "acme", shown["said"])


@pytest.mark.promise(17)
def test_bad_input_is_refused_by_name_and_changes_nothing(world, api):
    for body, status, says in (
        ({**NEW, "entity": "lamp"}, 400, "entity: 'lamp' is not an entity type"),
        ({**NEW, "entity": {"schema": {"properties": {"a": {"type": "object"}}}}}, 400, "Flatten it"),
        ({**NEW, "entity": {"schema": "schemas/lamp.json"}}, 400, "write the JSON Schema itself"),
        ({**NEW, "entity": 3}, 422, "entity"),
        ({**NEW, "url": "file:///etc/passwd"}, 400, "only http and https"),
        ({**NEW, "url": "http://169.254.169.254/latest"}, 400, "can never be fetched"),
        ({**NEW, "url": "https://u:p@a.example/"}, 400, "holds no secrets"),
        ({**NEW, "name": "../x"}, 400, "is not a name for a recipe"),
        ({**NEW, "configuration": {"pageType": "LIST"}}, 400, "configuration.page_type"),
        ({**NEW, "configuration": {"pageType": "DETAIL", "linkPattern": "("}}, 400, "link_pattern"),
        ({**NEW, "configuration": {"pageType": "DETAIL", "colour": 1}}, 400, "colour is not a known key"),
        ({**NEW, "limits": {"pages": -1}}, 400, "limits.pages"),
        ({**NEW, "extra": 1}, 422, "extra"),
    ):
        problem = api.ask("POST", "/api/recipes", json=body).problem(status)
        assert says in problem["detail"], problem
    nested: Any = {}
    for _ in range(300):
        nested = {"links": nested, "pageType": "CATEGORY_LINKS"}
    api.ask("POST", "/api/recipes", json={**NEW, "configuration": nested}).problem(400)
    assert api.get("/api/recipes?retired=true") == []
    api.post("/api/recipes", NEW)
    api.ask("POST", "/api/recipes", json=NEW).problem(409)
    for method, path in (("GET", "nobody"), ("DELETE", "nobody"), ("POST", "nobody/reconfigure")):
        api.ask(method, f"/api/recipes/{path}").problem(404)
    api.ask("POST", "/api/recipes/acme/revert", json={"version": 7}).problem(404)
    api.ask("POST", "/api/recipes/acme/revert", json={"version": 0}).problem(422)


@pytest.mark.promise(17)
def test_who_may_only_read_changes_nothing(world, api):
    reader = type(api)(world.url, create_key(world.store, "eve", ["read"]).token)
    for method, path in (
        ("POST", ""),
        ("PUT", "/acme"),
        ("DELETE", "/acme"),
        ("POST", "/acme/reconfigure"),
        ("POST", "/acme/revert"),
    ):
        assert reader.ask(method, f"/api/recipes{path}", json=NEW).status == 403
    assert reader.get("/api/recipes") == []
    assert type(api)(world.url).ask("GET", "/api/recipes").status == 401
