"""Cursors, over real HTTP: every list whole, no row twice, and no cursor where it does not belong."""

import re
from urllib.parse import quote

import pytest

from tests.harness.tasks import entry, put
from tests.web.conformance import whole
from tests.web.conftest import ALL_ROUTES, Api, served, workshop
from tests.web.test_routes import fill
from thresher.admin.keys import create_key
from thresher.web.answer_types import answer_of, rows_of

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
    assert "no parameter 'cursor'" in api.ask("GET", "/api/settings?cursor=a").problem(400)["detail"]


# Lists that are answered whole, and why they can be.
WHOLE = {
    "list_people": "the people who may log in to one installation",
    "list_settings": "the settings that the code has",
    "list_schedules": "the schedules that apps have",
    "list_failures": "one row for an error, a kind and a source, among the newest 5,000 failures of each error",
    "list_platforms": "the platforms that scrapers look at, each added by a person",
    "list_recipe_entities": "the entity types that the code has",
    "list_item_kinds": "the kinds of items that the code has",
    "list_query_clients": "the clients that the code and the project file have",
    "list_rates": "one row for a currency",
    "list_webhooks": "at most 100, each added by a person",
    "list_needs": "the lines that the front page begins with: what is many is summed up",
    "list_stuck_collections": "what workers hold at the moment, at most 1,000 rows",
    "count_collections": "one row for a state and a worker",
    "list_duplicate_points": "no row, or a defect",
}
# Lists within an answer that `limit` cuts, and what leads further.
CUT = {
    "get_costs": "the most expensive groups; `by` and `since` choose others",
    "compare_datasets": "`more` says that there are more, and `only` and `after` lead there",
    "get_item_history": "the newest changes of a value and of its points, which are kept for a while only",
}


def test_every_list_is_gone_through_with_a_cursor_or_is_bounded_and_says_why():
    lists = {route.name for _, route in ALL_ROUTES if (found := answer_of(route.endpoint)) and rows_of(found)}
    paged = {route.name for _, route in ALL_ROUTES if route.page_by}
    assert lists - paged == set(WHOLE), "give the route page_by, or say here why it needs none"
    limited = {
        operation["operationId"]
        for methods in whole()["paths"].values()
        for operation in methods.values()
        if any(each["name"] == "limit" for each in operation.get("parameters", ()))
    }
    assert limited - paged == set(CUT)


def test_every_paged_list_takes_a_cursor_and_says_so_in_its_answer():
    for _, route in ALL_ROUTES:
        said = whole()["paths"][route.path.replace(":path", "")][route.method.lower()]
        names = {each["name"] for each in said.get("parameters", ())}
        assert ("cursor" in names) == bool(route.page_by), route.path
        if route.page_by:
            assert "limit" in names
            assert len(names & {"before", "after"}) == 1
            assert {"Next-Cursor", "Link"} <= said["responses"]["200"]["headers"].keys()
