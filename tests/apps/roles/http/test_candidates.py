"""Candidates and roles over HTTP do what the commands do, on both databases where it matters."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.apps.roles.service.candidates import there
from tests.web.conftest import Api, served
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.config.project import read_project
from thresher.core.record import Link, Record
from thresher.runtime import Runtime, opened_runtime

ANNA = {
    "id": "a/1",
    "name": "Anna",
    "title": "Welder",
    "skills": ["MIG", "TIG"],
    "experience_years": 7,
    "remote": True,
}
BO = {
    "name": "Bo",
    "email": "bo@example.com",
    "title": "Nurse",
    "roles": ["Welder"],
    "locations": "Berlin, Germany; Remote",
}
KEY = quote("a/1", safe="")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Runtime]:
    (tmp_path / "thresher.yaml").write_text("apps: [roles]\nsettings:\n  web.rate: 100000\n")
    with opened_runtime(
        f"sqlite:///{tmp_path / 'thresher.db'}?durability=process", read_project(tmp_path)
    ) as shop:
        yield shop


@pytest.fixture
def api(shop: Runtime) -> Iterator[Api]:
    with served(shop) as url:
        yield Api(url, create_key(shop.store, "anna", ["read", "write"]).token)


def test_candidates_are_added_shown_changed_and_forgotten(api: Api):
    made = api.post("/api/candidates", {"candidates": [ANNA, BO]}, 201)["candidates"]
    assert [(each["key"], each["answer"]) for each in made] == [("a/1", "new"), ("bo@example.com", "new")]
    assert set(made[0]["roles"][0]) >= {"title", "role", "role_id", "similarity", "method", "reason"}
    assert api.post("/api/candidates", ANNA)["candidates"][0]["answer"] == "unchanged"
    assert [each["key"] for each in api.get("/api/candidates")] == ["bo@example.com", "a/1"]
    assert [each["key"] for each in api.get("/api/candidates?role=nurse")] == ["bo@example.com"]
    shown = api.get(f"/api/candidates/{KEY}")
    assert (shown["candidate"]["name"], shown["keywords"][0], shown["wants"][0]["role"]) == (
        "Anna",
        "Welder",
        "Welder",
    )
    changed = api.ask("PUT", f"/api/candidates/{KEY}", json={**ANNA, "title": "Nurse"})
    assert (changed.status, changed.json["candidates"][0]["answer"]) == (200, "changed")
    assert {each["name"]: each["candidates"] for each in api.get("/api/roles")} == {"Nurse": 2, "Welder": 1}
    assert api.ask("DELETE", f"/api/candidates/{KEY}").json["name"] == "Anna"
    api.ask("GET", f"/api/candidates/{KEY}").problem(404)
    api.ask("DELETE", f"/api/candidates/{KEY}").problem(404)


def test_putting_a_candidate_makes_it_under_the_key_of_the_address(api: Api):
    assert api.ask("PUT", "/api/candidates/eve", json={"name": "Eve", "title": "Cook"}).status == 201
    assert api.get("/api/candidates/eve")["candidate"]["name"] == "Eve"
    told = api.ask("PUT", "/api/candidates/eve", json={"id": "adam", "name": "Eve"}).problem(400)
    assert "they must be the same" in told["detail"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({}, 422, "a candidate needs a name"),
        ({"name": "Bo", "shoe_size": 44}, 422, "shoe_size"),
        ({"name": "Bo", "experience_years": "many"}, 422, "experience_years"),
        ({"name": "Bo", "experience_years": 200}, 422, "between 0 and 80"),
        ({"name": "Bo\0"}, 422, "NUL"),
        ({"candidates": []}, 422, "candidates"),
        ({"candidates": [{"name": "Bo"}] * 1_001}, 422, "candidates"),
        ({"name": "Bo", "candidates": [{"name": "Bo"}]}, 400, "not both"),
        ({"candidates": [{"name": "Bo"}, {"name": "bo"}]}, 400, "appears twice"),
        (
            {"candidates": [{"name": "Bo"}, {"name": "Cy", "currency": "euros"}]},
            422,
            "candidates.1: currency must be three letters",
        ),
        ([], 422, "body"),
    ],
)
@pytest.mark.promise(1)
def test_a_body_that_cannot_be_used_is_refused_whole(api: Api, body: object, status: int, says: str):
    told = api.ask("POST", "/api/candidates", json=body).problem(status)
    assert says in told["detail"]
    assert api.get("/api/candidates") == []


def test_roles_are_curated(api: Api):
    made = api.post("/api/roles", {"name": "Welder", "aliases": ["Fabricator"], "priority": "high"}, 201)[
        "roles"
    ]
    assert (made[0]["answer"], made[0]["aliases"]) == ("new", ["Fabricator"])
    welder = made[0]["id"]
    assert api.post("/api/roles", {"roles": [{"name": "welder"}]})["roles"][0]["answer"] == "known"
    fitter = api.post("/api/roles", {"roles": [{"name": "Pipe Fitter"}]}, 201)["roles"][0]["id"]
    api.post("/api/candidates", ANNA, 201)
    assert api.get(f"/api/roles/{welder}")["candidates"] == 1
    assert [each["id"] for each in api.get("/api/roles?status=pending&name=pipe")] == [fitter]
    changed = api.ask(
        "PATCH",
        f"/api/roles/{welder}",
        json={"name": "Metal Welder", "priority": "urgent", "category": "Trades"},
    ).json
    assert (changed["name"], changed["priority"], changed["category"]) == ("Metal Welder", "urgent", "Trades")
    assert api.ask("PATCH", f"/api/roles/{welder}", json={"category": None}).json["category"] is None
    assert "Smith" in api.post(f"/api/roles/{welder}/aliases", {"alias": "Smith"})["aliases"]
    assert "Smith" not in api.ask("DELETE", f"/api/roles/{welder}/aliases/smith").json["aliases"]
    split = api.post(
        f"/api/roles/{welder}/split", {"name": "Diver", "candidates": ["a/1"], "aliases": ["Fabricator"]}, 201
    )
    assert (split["candidates"], split["aliases"]) == (1, ["Fabricator"])
    merged = api.post(f"/api/roles/{split['id']}/merge", {"into": fitter})
    assert (merged["gone"], merged["candidates"]) == ("Diver", 1)
    assert api.get(f"/api/roles/{fitter}")["candidates"] == 1
    assert api.post(f"/api/roles/{welder}/reject")["status"] == "rejected"
    assert api.post(f"/api/roles/{welder}/approve")["status"] == "pending"
    api.ask("POST", f"/api/roles/{welder}/approve").problem(409)
    api.ask("GET", "/api/roles/999").problem(404)
    api.ask("POST", f"/api/roles/{welder}/merge", json={"into": "Nobody Knows"}).problem(404)


def test_a_field_that_nobody_knows_is_named_with_what_to_do(api: Api):
    told = api.ask("POST", "/api/candidates", json={"name": "Cy", "shoe": 44}).problem(422)
    assert told["detail"].startswith("shoe: there is no such field; is it misspelt?")


@pytest.mark.promise(2)
def test_put_under_a_key_and_posted_by_email_is_one_candidate(api: Api):
    assert (
        api.ask(
            "PUT", "/api/candidates/42", json={"name": "Cy", "email": "cy@example.com", "title": "Welder"}
        ).status
        == 201
    )
    posted = api.post("/api/candidates", {"name": "Cy", "email": "cy@example.com", "title": "Nurse"}, 200)[
        "candidates"
    ]
    assert [(each["key"], each["answer"]) for each in posted] == [("42", "changed")]
    for other in ("43", "cy%40example.com"):
        told = api.ask(
            "PUT", f"/api/candidates/{other}", json={"name": "Cy", "email": "cy@example.com"}
        ).problem(409)
        assert "'42'" in told["error"]
    assert [each["key"] for each in api.get("/api/candidates")] == ["42"]


@pytest.mark.promise(13)
def test_titles_are_resolved_and_nothing_is_changed(api: Api):
    api.post("/api/roles", {"name": "Welder"}, 201)
    found = api.post("/api/roles/resolve", {"titles": ["Senior Welder", "Beekeeper", "!"]})["titles"]
    assert [each["title"] for each in found] == ["Senior Welder", "Beekeeper", "!"]
    assert (found[0]["role"], bool(found[1]["reason"])) == ("Welder", True)
    assert len(api.get("/api/roles")) == 1
    api.ask("POST", "/api/roles/resolve", json={"titles": []}).problem(422)


@pytest.mark.promise(13)
def test_a_match_is_listed_explained_and_taken_in_hand(api: Api, shop: Runtime):
    role = api.post("/api/candidates", ANNA, 201)["candidates"][0]["roles"][0]["role_id"]
    data = {
        "title": "Welder",
        "company_name": "Acme",
        "state": "open",
        "description": "MIG welding for 5 years.",
        "skills": ["MIG"],
    }
    write_records(
        shop.store,
        [Record("posting", "dice/1", data, (Link("role", str(role)),), merge=True, marks=("state",))],
    )
    anna = there(shop.store, "a/1").id
    with shop.store.write() as session:
        ((posting,),) = session.rows("select id from records where kind = 'posting'")
        session.run(
            "insert into matches (candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, created_at,"
            " matched_at) values (:candidate, :posting, :role, 8000, 10000, 10000, 5000, 5000, 5000, 1, 1)",
            {"candidate": anna, "posting": posting, "role": role},
        )
    (found,) = api.get(f"/api/candidates/{KEY}/matches?min_score=50&recommended=true")
    assert (found["posting"], found["score"], found["grade"], found["status"]) == (
        "dice/1",
        80.0,
        "A",
        "suggested",
    )
    assert api.get(f"/api/candidates/{KEY}/matches/{posting}")["kept"]["score"] == 80.0
    changed = api.ask(
        "PATCH", f"/api/candidates/{KEY}/matches/{posting}", json={"status": "applied", "note": "sent"}
    ).json
    assert (changed["was"], changed["status"], changed["note"]) == ("suggested", "applied", "sent")
    assert api.get(f"/api/candidates/{KEY}/matches?status=suggested") == []
    api.ask("PATCH", f"/api/candidates/{KEY}/matches/{posting}", json={"status": "hired"}).problem(400)
    api.ask("PATCH", f"/api/candidates/{KEY}/matches/999", json={"status": "viewed"}).problem(404)
    api.ask("GET", "/api/candidates/nobody/matches").problem(404)


@pytest.mark.promise(17)
def test_a_key_that_may_only_read_changes_nothing(api: Api, shop: Runtime):
    reader = Api(api.url, create_key(shop.store, "reader", ["read"]).token)
    for method, path in (
        ("POST", "/api/candidates"),
        ("PUT", "/api/candidates/x"),
        ("DELETE", "/api/candidates/x"),
        ("PATCH", "/api/candidates/x/matches/1"),
        ("POST", "/api/roles"),
        ("PATCH", "/api/roles/1"),
        ("POST", "/api/roles/1/merge"),
        ("POST", "/api/roles/1/split"),
        ("POST", "/api/roles/1/approve"),
        ("POST", "/api/roles/1/reject"),
        ("POST", "/api/roles/1/aliases"),
        ("DELETE", "/api/roles/1/aliases/x"),
    ):
        reader.ask(method, path, json=ANNA).problem(403)
    assert reader.get("/api/roles") == reader.get("/api/candidates") == []
