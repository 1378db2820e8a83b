"""ETags, If-None-Match and HEAD, over real HTTP."""

import pytest

from tests.harness.tasks import entry, put
from tests.web.conftest import Api, raw
from tests.web.test_routes import fill
from thresher.web.conditional import is_known

pytestmark = pytest.mark.promise(17)


def ask(api: Api, path: str, known: str | None = None, method: str = "GET"):
    headers = {"Authorization": f"Bearer {api.token}"} | ({} if known is None else {"If-None-Match": known})
    return api.ask(method, path, headers=headers)


def test_what_has_not_changed_is_not_sent_again(api, shop):
    first = ask(api, "/api/tasks")
    tag = first.headers["Etag"]
    assert tag.startswith('"')
    again = ask(api, "/api/tasks", tag)
    assert (again.status, again.body, again.headers["Etag"]) == (304, b"", tag)
    assert "Content-Type" not in again.headers
    assert again.headers["Cache-Control"] == "no-store"
    put(shop.store, entry())
    changed = ask(api, "/api/tasks", tag)
    assert (changed.status, len(changed.json)) == (200, 1)
    assert changed.headers["Etag"] != tag
    assert ask(api, "/api/tasks").headers["Etag"] == changed.headers["Etag"]


def test_the_same_path_with_other_parameters_or_another_caller_has_its_own_answer(api, shop):
    put(shop.store, entry(key="a"), entry(key="b"))
    tag = ask(api, "/api/tasks").headers["Etag"]
    assert ask(api, "/api/tasks?limit=1", tag).status == 200
    assert Api(api.url).ask("GET", "/api/tasks", headers={"If-None-Match": tag}).status == 401


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (['"a"'], True),
        (['W/"a"'], True),
        (['"b", "a"'], True),
        (['"b"', '"a"'], True),
        (["*"], True),
        (["a"], False),
        (['"A"'], False),
        ([""], False),
        ([], False),
    ],
)
def test_a_tag_is_known_where_the_header_names_it(said, known):
    assert is_known('"a"', said) is known


def test_an_error_and_a_secret_have_no_tag(api):
    for path in ("/api/nothing", "/api/tasks/99", "/api/tasks?limit=0"):
        assert "Etag" not in ask(api, path, "*").headers
        assert ask(api, path, "*").status in (404, 422)
    assert "Etag" not in ask(api, "/api/me").headers


@pytest.mark.parametrize(
    "path", ["/api/tasks", "/api/companies", "/api/openapi.json", "/metrics", "/healthz"]
)
def test_head_is_get_without_its_body(api, shop, path):
    fill(shop)
    got, head = ask(api, path), ask(api, path, method="HEAD")
    assert (head.status, head.body) == (200, b"")
    for name in ("Content-Type", "Cache-Control", "X-Content-Type-Options"):
        assert head.headers.get(name) == got.headers.get(name)
    if path != "/metrics":  # it counts its own requests
        assert (head.headers["Content-Length"], head.headers["Etag"]) == (
            got.headers["Content-Length"],
            got.headers["Etag"],
        )
        assert ask(api, path, got.headers["Etag"], "HEAD").status == 304


def test_no_byte_follows_the_head_so_the_connection_goes_on(api, shop):
    fill(shop)
    first = f"HEAD /api/companies HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.token}\r\n\r\n"
    last = "HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    told = raw(api.url, (first + last).encode())
    assert told.count(b"HTTP/1.1 200") == 2
    assert b"acme" not in told
    assert told.endswith(b"\r\n\r\n")


def test_head_of_an_export_begins_none(api, shop, monkeypatch):
    fill(shop)
    monkeypatch.setattr("thresher.web.routes.export.export", lambda *_, **__: pytest.fail("it was begun"))
    told = ask(api, "/api/export/companies", method="HEAD")
    assert (told.status, told.body) == (200, b"")
    assert "attachment" in told.headers["Content-Disposition"]


def test_head_opens_nothing_that_get_does_not(api, stranger):
    assert stranger.ask("HEAD", "/api/tasks").status == 401
    assert stranger.ask("HEAD", "/metrics").status == 401
    assert ask(api, "/api/tasks/1/retry", method="HEAD").status == 405
    assert ask(api, "/api/keys", method="HEAD").status == 403
