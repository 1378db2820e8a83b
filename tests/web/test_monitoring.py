"""What monitoring asks, over real HTTP: who is alive, who is ready, and who may see the figures."""

import re

import pytest

from tests.harness.tasks import change, entry
from tests.web.conftest import Api, served, workshop
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.web.readiness import what_is_missing
from thresher.web.refresh import refresh

pytestmark = pytest.mark.promise(17)

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def value(text: bytes, line: str) -> float:
    found = re.search(rf"^{re.escape(line)} (\S+)$", text.decode(), re.MULTILINE)
    assert found, f"{line} is not in {text.decode()}"
    return float(found[1])


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_whether_it_lives_and_is_ready_is_told_to_strangers_and_nothing_else(standing, path):
    told = standing.stranger.ask("GET", path)
    assert (told.status, told.json) == (200, {"status": "ok"})
    assert told.headers["Cache-Control"] == "no-store"
    for other in (f"{path}/", f"{path}/x", f"/api{path}"):
        assert standing.stranger.ask("GET", other).status in (303, 401, 404)
    assert standing.stranger.ask("POST", path).status == 401


def test_a_server_whose_database_lacks_a_migration_lives_and_is_not_ready(shop, stranger, caplog):
    change(shop.store, "delete from migrations where number = (select max(number) from migrations)")
    told = stranger.ask("GET", "/readyz")
    assert told.problem(503)["detail"] == "not ready; the server's log says why"
    assert told.headers["Retry-After"] == "1"
    assert "thresher migrate" in caplog.text
    assert stranger.ask("GET", "/healthz").status == 200


def test_a_server_whose_app_lacks_a_migration_is_not_ready(shop, stranger):
    change(shop.store, "delete from app_migrations where app = 'prices'")
    stranger.ask("GET", "/readyz").problem(503)


def test_a_server_that_a_newer_version_has_overtaken_is_not_ready(shop, stranger):
    change(shop.store, "insert into migrations (number, name, applied_at) values (9999, 'future', 0)")
    stranger.ask("GET", "/readyz").problem(503)


def test_readiness_is_true_on_every_database(store):
    assert what_is_missing(store) is None
    change(store, "delete from migrations where number = (select max(number) from migrations)")
    assert "migrations are missing" in what_is_missing(store)


def test_metrics_need_a_key_that_may_read(shop, stranger):
    stranger.ask("GET", "/metrics").problem(401)
    Api(stranger.url, create_key(shop.store, "writer", ["write"]).token).ask("GET", "/metrics").problem(403)
    reader = Api(stranger.url, create_key(shop.store, "reader", ["read"]).token)
    told = reader.ask("GET", "/metrics")
    assert (told.status, told.headers["Content-Type"]) == (200, PROMETHEUS)


def test_metrics_count_the_requests_of_the_api(api):
    api.get("/api/status")
    api.ask("GET", "/api/nothing").problem(404)
    text = api.ask("GET", "/metrics").body
    assert value(text, 'thresher_http_requests_total{class="2xx"}') == 1
    assert value(text, 'thresher_http_requests_total{class="4xx"}') == 1
    assert value(text, "thresher_http_request_duration_seconds_count") == 2
    assert value(text, 'thresher_http_request_duration_seconds_bucket{le="+Inf"}') == 2
    assert value(text, "thresher_http_request_duration_seconds_sum") > 0


def test_a_setting_opens_the_metrics_to_this_machine_and_to_no_one_behind_a_proxy(shop, stranger):
    set_setting(shop.store, "web.open_metrics", "1", "test")
    refresh(shop)
    assert stranger.ask("GET", "/metrics").status == 200
    for header in (
        "X-Forwarded-For",
        "Forwarded",
        "X-Real-IP",
        "Via",
        "X-Forwarded-Host",
        "X-Forwarded-Proto",
    ):
        stranger.ask("GET", "/metrics", headers={header: "127.0.0.1"}).problem(401)
    # A page whose name leads to this machine may ask its browser for this.
    stranger.ask("GET", "/metrics", headers={"Host": "rebound.example"}).problem(401)
    stranger.ask("GET", "/metrics", headers={"X-API-Key": "wrong"}).problem(401)
    for path in ("/api/status", "/metrics/", "/api/metrics"):
        assert stranger.ask("GET", path).status != 200
    stranger.ask("POST", "/metrics").problem(401)


def test_the_server_tells_the_same_on_both_databases(database, tmp_path):
    database.open()
    with (
        workshop(tmp_path, database.url if database.name == "postgres" else None) as shop,
        served(shop) as url,
    ):
        api = Api(url, create_key(shop.store, "anna", ["read"]).token)
        shop.store.enqueue([entry()])
        assert value(api.ask("GET", "/metrics").body, 'thresher_tasks{state="due"}') == 1
        assert api.ask("GET", "/readyz").status == 200
