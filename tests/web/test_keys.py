"""Keys over HTTP: made, shown once, listed, taken back, by whoever is allowed to."""

from typing import Any

import pytest

from tests.cli.conftest import folder, thresher  # noqa: F401  fixtures
from tests.harness.tasks import rows
from tests.web.conftest import PROJECT, Api
from thresher.admin.keys import create_key

pytestmark = pytest.mark.promise(17)


@pytest.fixture
def admin(shop, stranger) -> Api:
    return Api(stranger.url, create_key(shop.store, "anna", ["admin"]).token)


def test_a_key_is_made_shown_once_and_works(admin):
    body = {"name": "scraper 1", "sources": ["dice"], "expires": "90d", "rate": 30}
    told = admin.ask("POST", "/api/keys", json=body)
    assert (told.status, told.headers["Cache-Control"]) == (201, "no-store")
    made = told.json
    assert (made["name"], made["scopes"], made["sources"], made["rate"]) == (
        "scraper 1",
        ["scrape"],
        ["dice"],
        30,
    )
    assert made["made_by"] == "key anna"
    assert made["expires_at"]
    assert Api(admin.url, made["key"]).ask("GET", "/api/status").status == 403, "good, and for scraping only"
    listed = admin.ask("GET", "/api/keys")
    assert made["key"] not in listed.body.decode()
    assert {each["id"]: each["used"] for each in listed.json}[made["id"]] == 1


def test_a_key_is_taken_back_by_its_id(admin, shop):
    made = admin.post("/api/keys", {"name": "bert", "scopes": ["read"]}, 201)
    reader = Api(admin.url, made["key"])
    assert reader.ask("GET", "/api/status").status == 200
    revoked = admin.ask("DELETE", f"/api/keys/{made['id']}")
    assert (revoked.status, revoked.json["state"]) == (200, "revoked")
    reader.ask("GET", "/api/status").problem(401)
    admin.ask("DELETE", f"/api/keys/{made['id']}").problem(404)
    admin.ask("DELETE", "/api/keys/bert").problem(422)
    assert [each["name"] for each in admin.get("/api/keys")] == ["anna"]
    assert [each["name"] for each in admin.get("/api/keys?all=true")] == ["bert", "anna"]


def test_a_key_is_switched_off_and_on_by_its_id(admin, shop):
    made = admin.post("/api/keys", {"name": "bert", "scopes": ["read"]}, 201)
    reader = Api(admin.url, made["key"])
    off = admin.post(f"/api/keys/{made['id']}/disable")
    assert (off["state"], off["is_active"]) == ("disabled", False)
    assert "bert is disabled" in reader.ask("GET", "/api/status").problem(401)["detail"]
    assert [(each["name"], each["is_active"]) for each in admin.get("/api/keys")] == [
        ("bert", False),
        ("anna", True),
    ]
    on = admin.post(f"/api/keys/{made['id']}/enable")
    assert (on["state"], on["is_active"]) == ("live", True)
    assert reader.ask("GET", "/api/status").status == 200
    for change in ("disable", "enable"):
        admin.ask("POST", f"/api/keys/{made['id'] + 100}/{change}").problem(404)
        reader.ask("POST", f"/api/keys/{made['id']}/{change}").problem(403)
    told = admin.get("/api/events?kind=key_disabled")
    assert [each["detail"]["by"] for each in told] == ["key anna"]


SENSELESS: tuple[tuple[dict[str, Any], int], ...] = (
    ({}, 422),
    ({"name": ""}, 400),
    ({"name": "a\n"}, 400),
    ({"name": "a", "scopes": []}, 400),
    ({"name": "a", "scopes": ["root"]}, 400),
    ({"name": "a", "scopes": "read"}, 422),
    ({"name": "a", "rate": 0}, 400),
    ({"name": "a", "rate": "60"}, 422),
    ({"name": "a", "rate": 10**30}, 400),
    ({"name": "a", "expires": "soon"}, 400),
    ({"name": "a", "sources": ["x y"]}, 400),
    ({"name": "a", "sources": ["x"] * 101}, 422),
    ({"name": "anna"}, 409),
    ({"name": "a", "key": "mine"}, 422),
    ({"name": "a", "scopes": ["read"] * 101}, 422),
)


def test_a_key_that_makes_no_sense_is_not_made(admin, shop):
    for body, status in SENSELESS:
        told = admin.ask("POST", "/api/keys", json=body).problem(status)
        assert told["error"] == told["detail"]
    assert rows(shop.store, "select name from api_keys") == [("anna",)]


def test_the_command_line_prints_a_key_for_a_scraper_once(folder, thresher):  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT.replace("100000", "60"))
    made = thresher(
        "keys", "create", "Production Scraper 1", "--source", "dice", "--source", "indeed", "--json"
    ).json
    assert [made[each] for each in ("name", "scopes", "sources", "rate", "used", "state")] == [
        "Production Scraper 1",
        ["scrape"],
        ["dice", "indeed"],
        60,
        0,
        "live",
    ]
    assert made["key"].startswith(f"{made['prefix']}_")
    listed = thresher("keys", "list").out
    assert "dice, indeed" in listed
    assert made["key"] not in listed
    told = thresher("keys", "create", "anna", "--scope", "admin").out
    assert "for: admin" in told
    assert thresher("keys", "revoke", made["id"]).code == 0
    assert [each["name"] for each in thresher("keys", "list", "--json").json] == ["anna"]


def test_the_command_line_switches_a_key_off_and_on(folder, thresher):  # noqa: F811
    (folder / "thresher.yaml").write_text(PROJECT)
    thresher("keys", "create", "dice 1")
    assert (
        "is disabled; enable it with: thresher keys enable 'dice 1'"
        in thresher("keys", "disable", "dice 1").out
    )
    assert "disabled" in thresher("keys", "list").out
    (listed,) = thresher("keys", "list", "--json").json
    assert (listed["state"], listed["is_active"]) == ("disabled", False)
    assert "is live." in thresher("keys", "enable", str(listed["id"])).out
    refused = thresher("keys", "disable", "bert")
    assert (refused.code, "no key named 'bert' is in use" in refused.err) == (4, True)
    assert "key_disabled" in thresher("events").out
