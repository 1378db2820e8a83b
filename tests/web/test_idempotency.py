"""`Idempotency-Key` over real HTTP: the same request twice, at once, changed, by others, and with secrets."""

import asyncio

import pytest

from tests.harness.tasks import rows
from tests.web.conftest import ALL_ROUTES, Api, served, workshop
from thresher.admin.keys import create_key
from thresher.admin.settings import set_setting
from thresher.core.clock import SystemClock
from thresher.store import idempotency
from thresher.web.refresh import refresh

pytestmark = pytest.mark.promise(17)

COMPANY = {"website": "delta.io", "name": "Delta"}


def send(api: Api, key: str, body=COMPANY, path="/api/companies", **headers):
    sent = {"Authorization": f"Bearer {api.token}", "Idempotency-Key": key, **headers}
    return api.ask("POST", path, headers=sent, **({} if body is None else {"json": body}))


def test_the_same_request_is_answered_the_same_and_done_once(api, shop):
    first, second = send(api, "a"), send(api, "a")
    assert (first.status, first.json["asked"][0]["answer"]) == (201, "added")
    assert (second.status, second.body) == (201, first.body)
    assert second.headers["Content-Type"] == first.headers["Content-Type"]
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert send(api, "b").json["asked"][0]["answer"] == "waiting", "another key is another request"
    assert len(rows(shop.store, "select id from tasks")) == 1


def test_a_key_of_another_request_is_refused(api):
    send(api, "a")
    for body, path in (
        ({"website": "other.io"}, "/api/companies"),
        (COMPANY, "/api/boards"),
        (COMPANY, "/api/companies?x=1"),
    ):
        told = send(api, "a", body, path)
        assert told.status in (400, 422)
    assert send(api, "a", {"website": "other.io"}).problem(422)["type"] == "urn:thresher:IdempotencyKeyReused"


def test_what_was_refused_may_be_sent_again(api):
    send(api, "a", {"website": 1}).problem(422)
    assert send(api, "a").status == 201
    send(api, "b", None, "/api/tasks/99/retry").problem(404)
    send(api, "b", None, "/api/tasks/99/retry").problem(404)


def test_callers_do_not_share_keys_and_no_answer_leaks(api, shop):
    other = Api(api.url, create_key(shop.store, "bert", ["write"]).token)
    assert send(api, "a").json["asked"][0]["answer"] == "added"
    assert send(other, "a").json["asked"][0]["answer"] == "waiting"
    reader = Api(api.url, create_key(shop.store, "carl", ["read"]).token)
    send(reader, "a").problem(403)


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "ä", "a\tb"])
def test_a_key_that_is_no_key_is_refused(api, key):
    told = api.ask(
        "POST",
        "/api/companies",
        headers={"Authorization": f"Bearer {api.token}", "Idempotency-Key": key},
        json=COMPANY,
    )
    assert "visible ASCII" in told.problem(400)["detail"]


def test_where_nobody_is_logged_in_a_key_has_no_effect_and_that_is_said(stranger):
    told = stranger.ask(
        "POST", "/api/login", headers={"Idempotency-Key": "a"}, json={"name": "a", "password": "b"}
    )
    assert "nobody is logged in" in told.problem(400)["detail"]


def test_a_secret_that_is_shown_once_is_not_kept_and_the_change_is_not_doubled(shop, stranger):
    admin = Api(stranger.url, create_key(shop.store, "root", ["admin"]).token)
    body = {"name": "bert", "scopes": ["read"]}
    made = send(admin, "a", body, "/api/keys")
    assert made.status == 201
    told = send(admin, "a", body, "/api/keys").problem(409)
    assert told["type"] == "urn:thresher:IdempotencyAnswerNotKept"
    assert rows(shop.store, "select body from idempotency_keys") == [(None,)]
    assert len(rows(shop.store, "select id from api_keys where name = 'bert'")) == 1


def test_too_many_keys_are_refused_and_known_ones_still_answered(api, shop):
    set_setting(shop.store, "web.idempotency_keys", "1", "test")
    refresh(shop)
    assert send(api, "a").status == 201
    assert "Retry-After" in send(api, "b").headers
    send(api, "b").problem(429)
    assert send(api, "a").status == 201


def test_a_body_in_many_pieces_arrives_whole(api):
    many = [{"name": f"Company {n}", "website": f"c{n}.example"} for n in range(1_000)]
    first = send(api, "a", {"companies": many})
    assert first.status == 201
    assert len(first.json["asked"]) == 1_000
    assert len(first.body) > idempotency.MAX_ANSWER
    assert send(api, "a", {"companies": many}).problem(409)["type"].endswith("IdempotencyAnswerNotKept")


def test_every_route_that_starts_something_says_that_it_takes_a_key(api):
    paths = api.get("/api/openapi.json")["paths"]
    for _, route in ALL_ROUTES:
        if route.method == "POST":
            said = paths[route.path.replace(":path", "")]["post"].get("parameters", [])
            takes = any(each["name"] == "Idempotency-Key" for each in said)
            assert takes == (route.scope is not None), route.path


def test_of_many_at_once_one_is_done_and_the_rest_wait_or_get_its_answer(database, tmp_path):
    database.open()
    with (
        workshop(tmp_path, database.url if database.name == "postgres" else None) as shop,
        served(shop) as url,
    ):
        api = Api(url, create_key(shop.store, "anna", ["read", "write"]).token)
        headers = {"Authorization": f"Bearer {api.token}", "Idempotency-Key": "a"}

        async def flood():
            return await asyncio.gather(
                *(api.send("POST", "/api/companies", headers=headers, json=COMPANY) for _ in range(8))
            )

        told = asyncio.run(flood())
        assert {each.status for each in told} <= {201, 409}
        assert all(each.headers["Retry-After"] == "1" for each in told if each.status == 409)
        assert len({each.body for each in told if each.status == 201}) == 1
        assert send(api, "a").status == 201
        assert len(rows(shop.store, "select id from tasks")) == 1
        idle = rows(shop.store, "select changed, ended_at from idempotency_keys")
        assert idle[0][0] == 1
        assert idle[0][1] <= SystemClock().now()
