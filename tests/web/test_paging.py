"""Cursors, over real HTTP: every list whole, no row twice, and no cursor where it does not belong."""

import re
from urllib.parse import quote

import pytest

from tests.harness.tasks import entry, put
from tests.web.conftest import ALL_ROUTES, Api, served, workshop
from tests.web.test_routes import fill
from thresher.admin.keys import create_key

pytestmark = pytest.mark.promise(17)

LINK = re.compile(r'<([^>]+)>; rel="next"')


def walk(api: Api, path: str) -> list[list]:
    """All pages, from link to link."""
    pages, after = [], path
    while after:
        told = api.ask("GET", after)
        assert told.status == 200, told.body
        pages.append(told.json)
        link = LINK.fullmatch(told.headers.get("Link", ""))
        assert (link is None) == ("next-cursor" not in told.headers)
        if link:
            assert link[1].endswith(f"cursor={told.headers['next-cursor']}")
        after = link[1] if link else None
        assert len(pages) < 100
    return pages


@pytest.mark.parametrize("path", ["/api/companies", "/api/boards", "/api/postings", "/api/matches"])
def test_pages_by_key_are_the_list(api, shop, path):
    fill(shop)
    whole = api.get(path)
    pages = walk(api, f"{path}?limit=1")
    assert [row for page in pages for row in page] == whole
    assert len(whole) > 1


def test_pages_by_id_are_the_list_and_keep_filter_and_limit(database, tmp_path):
    database.open()
    with (
        workshop(tmp_path, database.url if database.name == "postgres" else None) as shop,
        served(shop) as url,
    ):
        api = Api(url, create_key(shop.store, "anna", ["read"]).token)
        put(shop.store, *(entry(key=str(n)) for n in range(7)))
        kind = quote(api.get("/api/tasks?limit=1")[0]["kind"])
        pages = walk(api, f"/api/tasks?kind={kind}&limit=3")
        assert [len(page) for page in pages] == [3, 3, 1]
        assert [row["id"] for page in pages for row in page] == [row["id"] for row in api.get("/api/tasks")]


def test_a_task_that_comes_in_between_shifts_no_page(api, shop):
    put(shop.store, *(entry(key=str(n)) for n in range(4)))
    first = api.ask("GET", "/api/tasks?limit=2")
    put(shop.store, entry(key="new"))
    second = api.get(f"/api/tasks?limit=2&cursor={first.headers['next-cursor']}")
    ids = [row["id"] for row in (*first.json, *second)]
    assert ids == sorted(set(ids), reverse=True)
    assert len(ids) == 4


@pytest.mark.parametrize(
    "cursor", ["", "x", "%00", "WzFd", "bnVsbA", "W1tdLCAiYSJd", "é", "A" * 3_000, "eyJhIjogMX0"]
)
def test_a_cursor_that_was_not_made_here_is_refused(api, shop, cursor):
    told = api.ask("GET", f"/api/tasks?cursor={quote(cursor, safe='%')}")
    assert told.problem(400 if cursor == "%00" else 422)["detail"]


def test_a_cursor_leads_through_no_other_list(api, shop):
    put(shop.store, *(entry(key=str(n)) for n in range(4)))
    cursor = api.ask("GET", "/api/tasks?limit=2").headers["next-cursor"]
    for other in ("/api/tasks?state=failed&", "/api/events?", "/api/runs?"):
        assert "another list" in api.ask("GET", f"{other}cursor={cursor}").problem(422)["detail"]
    assert "not both" in api.ask("GET", f"/api/tasks?before=3&cursor={cursor}").problem(422)["detail"]
    assert len(api.get(f"/api/tasks?limit=1&cursor={cursor}")) == 1, "the limit may change"


def test_a_list_without_a_place_to_go_on_from_takes_no_cursor(api):
    assert "no parameter 'cursor'" in api.ask("GET", "/api/sources?cursor=a").problem(400)["detail"]


def test_every_list_that_can_be_gone_through_takes_a_cursor(api):
    paths = api.get("/api/openapi.json")["paths"]
    for _, route in ALL_ROUTES:
        said = paths[route.path.replace(":path", "")][route.method.lower()].get("parameters", [])
        names = {each["name"] for each in said}
        goes_on = "limit" in names and bool(names & {"before", "after"}) and "only" not in names
        assert ("cursor" in names) == goes_on, route.path
