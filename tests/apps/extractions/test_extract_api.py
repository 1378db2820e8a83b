"""extractDataWithApi from end to end: every item once, an exact end, and APIs that misbehave."""

import json
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.apps.extractions import course_api
from tests.apps.extractions.course_api import (
    HOST,
    LIST,
    SIZE,
    CourseApi,
    add_recipe,
    definition,
    extract,
    said_as_json,
    with_detail,
    world,
)
from tests.apps.extractions.shop import items
from tests.harness.databases import Database, file_and_server
from tests.reading.test_apis import stands_at
from thresher.apps.extractions.app import app
from thresher.apps.extractions.detecting import detect_within
from thresher.apps.extractions.entities import entity_types
from thresher.apps.extractions.model import ApiSource, Entity, Limits, Origin
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import extractions
from thresher.apps.extractions.store.recipes import save_recipe
from thresher.core.schema import Field, Schema
from thresher.practice.web import CATALOGUES, DAY_ZERO, planted
from thresher.practice.web.answer import WebRequest
from thresher.practice.web.hosts import site_for
from thresher.store import blobs
from thresher.testing.web import Reply
from thresher.testing.world import World

pytest_generate_tests = file_and_server
SEED = 7


def url_of(database: Database) -> str:
    return database.address(app)


def codes(made: World, view: Any) -> list[str]:
    return sorted((each.values["code"] for each in items(made, view)), key=lambda code: int(code[2:]))


def all_codes(number: int) -> list[str]:
    return [f"C-{each}" for each in range(number)]


@pytest.mark.parametrize("paging", list(course_api.PAGINGS))
def test_every_item_of_every_answer_is_stored_once(paging):
    api = CourseApi(25, paging)
    with world(api) as made:
        add_recipe(made, definition(paging))
        view = extract(made)
        assert view.status == "COMPLETE", view.reason
        assert codes(made, view) == all_codes(25)
        answers = 1 if paging == "none" else 3
        assert len(api.asked) == len(set(api.asked)) == answers
        assert [(step.kind, step.page_type, step.total, step.succeeded) for step in view.steps] == [
            ("api", "API", 1, 1),
            *([("pagination", "API", 2, 2)] if answers > 1 else []),
        ]
        assert sum(step.items for step in view.steps) == view.items == 25
        assert view.reason == f"25 items from {answers} page{'s' if answers > 1 else ''}"
        assert view.started_at


@pytest.mark.promise(14)
def test_every_value_names_its_place_in_the_stored_answer():
    with world(CourseApi(25)) as made:
        add_recipe(made, definition())
        view = extract(made)
        for item in items(made, view):
            assert (item.verified, item.read_by) == (True, "api")
            page = extractions.show_page(made.store, view.id, item.page)
            assert page.page.content == item.evidence["source"]
            body = json.loads(blobs.get(made.store, item.evidence["source"]))
            places = item.evidence["places"]
            assert set(places) == {"code", "name", "credits", "topics.0", "topics.1", "open"}
            for place in places.values():
                said = stands_at(place["path"], body)
                assert place["quote"] == (str(said).lower() if isinstance(said, bool) else str(said))
        one = next(each for each in items(made, view) if each.values["code"] == "C-12")
        assert one.evidence["places"]["topics.1"]["path"] == "$.items[2].topics[1].name"
        assert one.values["name"] == "Course & 12"
        assert one.url == f"{HOST}/courses/12"
        assert one.values["open"] is True
        assert one.values["credits"] == 5.5


def test_the_answers_are_kept_and_belong_to_the_extraction():
    with world(CourseApi(25)) as made:
        add_recipe(made, definition())
        view = extract(made)
        pages = extractions.list_pages(made.store, view.id)
        assert sorted(page.page.number or 0 for page in pages) == [0, 1, 2]
        assert {page.page.extractor for page in pages} == {"api"}
        assert all(page.page.extraction_started_at for page in pages)
        with made.store.read() as session:
            owned = session.rows("select hash from blob_owners where kind = 'app:extractions'", {})
        assert {page.page.content for page in pages} <= {row[0] for row in owned}


def test_an_api_is_in_progress_while_its_task_runs():
    seen: list[tuple[str, str]] = []
    api = CourseApi(5)

    def look(*_: Any) -> None:
        view = extractions.show_extraction(made.store, 1)
        (page,) = extractions.list_pages(made.store, 1)
        seen.append((view.status, page.status))

    api.twist = look
    with world(api) as made:
        add_recipe(made, definition())
        assert extract(made).status == "COMPLETE"
    assert seen == [("IN_PROGRESS", "IN_PROGRESS")]


# Trouble


def failing(times: int, reply: Any) -> course_api.Twist:
    """Answer like this for the first requests of the second page."""

    def twist(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        tries = api.asked.count(request.url)
        return reply(said) if "page=2" in request.url and tries <= times else None

    return twist


REPLIES = {
    "500": lambda said: 500,
    "an error in JSON": lambda said: said_as_json({"error": {"message": "busy"}, "items": None}),
    "half of the JSON": lambda said: Reply(
        json.dumps(said)[:-40], headers={"content-type": "application/json"}
    ),
    "a page for people": lambda said: Reply("<html><h1>Please wait</h1><p>We are busy.</p></html>"),
    "no rows although there are more": lambda said: said_as_json({**said, "items": []}),
    "rows of another shape": lambda said: said_as_json({**said, "items": [{"course": 1}] * 10}),
    "rows that are no objects": lambda said: said_as_json({**said, "items": ["C-10", "C-11"]}),
    "an object in place of the rows": lambda said: said_as_json({**said, "items": {"n": 10}}),
    "too many rows": lambda said: said_as_json({**said, "items": said["items"] * 501}),
}


@pytest.mark.promise(7)
@pytest.mark.parametrize("name", list(REPLIES))
def test_an_answer_that_is_not_as_described_is_tried_again_and_nothing_is_lost(name):
    api = CourseApi(25, twist=failing(2, REPLIES[name]))
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert view.status == "COMPLETE", view.reason
        assert codes(made, view) == all_codes(25)
        assert [url.partition("page=")[2][0] for url in api.asked] == ["1", "2", "2", "2", "3"]


@pytest.mark.promise(7)
@pytest.mark.parametrize("name", list(REPLIES))
def test_after_the_last_try_the_page_is_an_error_and_the_extraction_is_cancelled(name):
    api = CourseApi(25, twist=failing(99, REPLIES[name]))
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert view.status == "CANCELLED"
        assert "its API could not be read: " in (view.reason or "")
        assert "(tried 3 times)" in (view.reason or "")
        pages = {page.page.number or 0: page for page in extractions.list_pages(made.store, view.id)}
        assert pages[0].status == "ERROR"
        assert pages[0].page.failure["message"] in (view.reason or "")
        assert codes(made, view) == all_codes(SIZE), "what was read stays"
        title, body = made.messages[-1]
        assert "CANCELLED" in title
        assert "could not be read" in body
        (event,) = made.events("extraction_cancelled")
        assert "could not be read" in str(event)
        assert made.tasks("extractDataWithApi")[0]["state"] == "failed"


def test_many_answers_may_stutter_as_long_as_each_comes_in_the_end():
    api = CourseApi(200, twist=lambda api, request, said: 500 if api.asked.count(request.url) < 3 else None)
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, len(codes(made, view))) == ("COMPLETE", 200)
        assert len(api.asked) == 60


def test_the_tries_are_a_second_and_two_seconds_apart():
    api = CourseApi(25, twist=failing(99, REPLIES["500"]))
    with world(api) as made:
        add_recipe(made, definition())
        extract(made)
        at = [request.at / 1e6 for request in made.web.requests if "page=2" in request.url]
    assert [round(b - a, 1) for a, b in pairwise(at)] == [1.0, 2.0]


def test_a_rate_limit_is_waited_for_and_costs_no_try():
    def limited(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        return Reply("", 429, {"Retry-After": "20"}) if api.asked.count(request.url) <= 4 else None

    api = CourseApi(12, twist=limited)
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(12))


@pytest.mark.parametrize(("status", "said"), [(404, "404"), (403, "403")], ids=["gone", "forbidden"])
def test_what_no_second_try_can_help_ends_at_once(status, said):
    api = CourseApi(25, twist=lambda api, request, answer: status)
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert view.status == "CANCELLED"
        assert said in (view.reason or "")
        assert len(api.asked) == 1
        assert view.items == 0


def test_a_cancelled_api_is_read_again_whole_when_it_is_retried(database: Database):
    api = CourseApi(25, twist=failing(99, REPLIES["500"]))
    with world(api, url_of(database)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert view.status == "CANCELLED"
        api.twist = None
        made.advance(minutes=10)
        extractions.retry(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, codes(made, again)) == ("COMPLETE", all_codes(25))
        assert len(again.datasets) == 1
        assert again.failed == 0
        assert "COMPLETE" in made.messages[-1][0]


def test_what_an_earlier_run_read_behind_the_end_is_forgotten(database: Database):
    api = CourseApi(45, twist=lambda api, request, said: 500 if "page=5" in request.url else None)
    with world(api, url_of(database)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, len(codes(made, view))) == ("CANCELLED", 40)
        api.twist, api.number = None, 15
        made.advance(minutes=10)
        extractions.retry(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, codes(made, again)) == ("COMPLETE", all_codes(15))
        assert sum(step.total for step in again.steps) == 2


def test_a_person_who_cancels_stops_the_requests_and_can_resume():
    api = CourseApi(45)

    def cancel(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        if "page=3" in request.url and len(api.asked) == 3:
            extractions.cancel(made.store, 1, "enough")

    api.twist = cancel
    with world(api) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, view.reason, len(api.asked)) == ("CANCELLED", "enough", 3)
        assert codes(made, view) in (all_codes(20), all_codes(30)), "what was read stays"
        extractions.resume(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, codes(made, again)) == ("COMPLETE", all_codes(45))


# Lists that do not tell the truth


def test_a_total_that_is_larger_than_what_is_shown_is_told():
    def lies(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        said["total"] = 99

    with world(CourseApi(25, "none", lies)) as made:
        add_recipe(made, definition("none"))
        view = extract(made)
        assert view.status == "COMPLETE"
        assert "it says that there are 99, and shows 25" in (view.reason or "")
        assert "shows 25" in made.messages[-1][1]


@pytest.mark.promise(7)
def test_a_list_that_ends_before_its_total_is_no_success():
    def lies(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        said["total"] = 99

    with world(CourseApi(25, "page", lies)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert view.status == "CANCELLED"
        assert "page 4 is empty, although it says that there are 99, and shows 25" in (view.reason or "")
        assert codes(made, view) == all_codes(25)


def test_a_total_that_is_too_small_cuts_nothing_off():
    def lies(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        said["total"] = 3

    with world(CourseApi(25, "page", lies)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(25))


@pytest.mark.promise(7)
def test_an_empty_list_that_says_so_is_complete_and_empty():
    with world(CourseApi(0)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 0)
        assert "nothing was found" in (view.reason or "")


@pytest.mark.parametrize("period", [1, 2, 3, 5])
def test_a_cursor_that_leads_round_in_a_circle_ends_the_extraction_soon(period):
    def circle(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        at = api.first_row(request.url) // SIZE
        said["next"] = str((at + 1) % period * SIZE if at + 1 >= period else (at + 1) * SIZE)
        del said["total"]

    api = CourseApi(100, "cursor", circle)
    with world(api) as made:
        add_recipe(made, definition("cursor"))
        view = extract(made)
        assert view.status == "CANCELLED"
        assert "repeats the rows" in (view.reason or "") or "leads to the page itself" in (view.reason or "")
        assert len(set(api.asked)) <= period + 1
        assert len(api.asked) <= 4 * period + 6
        assert codes(made, view) == all_codes(period * SIZE)


def test_a_cursor_without_an_end_is_stopped_by_the_limit_and_that_is_told():
    def endless(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        del said["total"]

    api = CourseApi(10_000, "cursor", endless)
    with world(api) as made:
        add_recipe(made, definition("cursor"), limits=Limits(pages=7))
        view = extract(made)
        assert view.status == "COMPLETE"
        assert "no further than 7 requests" in (view.reason or "")
        assert (len(api.asked), len(codes(made, view))) == (7, 70)


def test_an_api_that_takes_longer_than_its_recipe_allows_is_stopped():
    def slow(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        made.advance(minutes=20)

    api = CourseApi(100, twist=slow)
    with world(api) as made:
        add_recipe(made, definition(), limits=Limits(hours=0.9))
        view = extract(made)
        assert view.status == "CANCELLED"
        assert "its time is over: the recipe lets it take 0.9 hours" in (view.reason or "")
        assert len(codes(made, view)) == SIZE * len(api.asked) < 100


def test_details_count_towards_the_limit_of_requests():
    api = CourseApi(100, "none")
    with world(api) as made:
        add_recipe(made, with_detail("none"), limits=Limits(pages=30))
        view = extract(made)
        assert view.status == "COMPLETE"
        assert "no further than 30 requests" in (view.reason or "")
        assert (len(api.asked), len(codes(made, view))) == (41, 40), "the portion under way is finished"


@pytest.mark.promise(9)
def test_a_row_that_two_answers_show_is_one_item_and_one_that_none_shows_is_missed():
    def shifts(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        at = api.first_row(request.url)
        shown = range(at, min(at + SIZE, 20)) if at < 20 else range(5)
        said["items"] = [api.row(each) for each in shown]

    with world(CourseApi(25, "offset", shifts)) as made:
        add_recipe(made, definition("offset"))
        view = extract(made)
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(20))
        assert "it says that there are 25, and 20 different ones came" in (view.reason or "")


def test_two_rows_with_one_key_and_other_values_are_both_kept():
    def editions(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        said["items"] += [{**api.row(0), "title": "Course 0, second edition"}]

    with world(CourseApi(5, "none", editions)) as made:
        add_recipe(made, definition("none"))
        found = items(made, extract(made))
        assert sorted(each.values["name"] for each in found if each.values["code"] == "C-0") == [
            "Course & 0",
            "Course 0, second edition",
        ]


def test_rows_that_are_no_items_are_left_out_and_told():
    def adverts(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        said["items"] = [{"advert": "Buy"}, *said["items"], "text"]

    with world(CourseApi(25, "page", adverts)) as made:
        add_recipe(made, definition())
        view = extract(made)
        assert codes(made, view) == all_codes(25)
        assert "6 rows were no items" in (view.reason or "")
        assert "row 1: it has no code or name" in (view.reason or "")
        notes = {page.page.note for page in extractions.list_pages(made.store, view.id) if page.page.number}
        assert all("2 of " in (note or "") for note in notes)


# Details


def test_details_complete_the_items_of_a_list_a_few_at_a_time():
    api = CourseApi(25, "none")
    with world(api) as made:
        add_recipe(made, with_detail("none"))
        view = extract(made)
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(25))
        assert len(api.asked) == len(set(api.asked)) == 26
        for item in items(made, view):
            number = item.values["code"][2:]
            assert item.values["summary"] == f"All about course {number}."
            place = item.evidence["places"]["summary"]
            body = json.loads(blobs.get(made.store, place["source"]))
            assert stands_at(place["path"], body) == place["quote"] == item.values["summary"]
            assert item.verified


@pytest.mark.parametrize(
    ("reply", "doubt"),
    [
        (lambda said: 404, "404"),
        (lambda said: 500, "500"),
        (lambda said: said_as_json({"course": {**said["course"], "id": 4711}}), "detail of another item"),
        (lambda said: said_as_json({"courses": []}), "the answer has no course"),
    ],
)
def test_a_detail_that_cannot_be_had_leaves_the_item_and_a_doubt(reply, doubt):
    def twist(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        return reply(said) if request.url.endswith("/1003") else None

    with world(CourseApi(8, "none", twist)) as made:
        add_recipe(made, with_detail("none"))
        view = extract(made)
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(8))
        doubted = [each for each in items(made, view) if each.doubts]
        assert [each.values["code"] for each in doubted] == ["C-3"]
        assert doubt in doubted[0].doubts[-1]
        assert "summary" not in doubted[0].values


def test_a_row_cannot_lead_its_detail_astray():
    def twist(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        if "items" in said:
            said["items"][0]["id"], said["items"][1]["id"] = "..", "../../admin?x=1#y"
        return said_as_json({}) if "admin" in request.url else None

    api = CourseApi(4, "none", twist)
    with world(api) as made:
        add_recipe(made, with_detail("none"))
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 4)
    odd = {url for url in api.asked if not url.removeprefix(f"{LIST}/").isdigit()}
    assert odd == {LIST, f"{LIST}/..%2F..%2Fadmin%3Fx%3D1%23y"}
    assert {request.url.startswith(LIST) for request in made.web.requests[1:]} == {True}


# Secrets


def test_a_secret_is_sent_to_its_origin_and_stands_nowhere(monkeypatch, database: Database):
    monkeypatch.setenv("EXTRACTIONS_KEY", f"{HOST} s3cret-value-1")

    def refuse(api: CourseApi, request: Any, said: dict[str, Any]) -> Any:
        error = {"message": f"the key s3cret-value-1 of {request.url} is good for one page"}
        return said_as_json({"error": error}) if "page=2" in request.url else None

    api = CourseApi(25, twist=refuse)
    with world(api, url_of(database)) as made:
        add_recipe(made, definition(auth={"as": "query", "name": "key", "env": "EXTRACTIONS_KEY"}))
        view = extract(made)
        assert view.status == "CANCELLED"
        assert "is good for one page" in (view.reason or "")
        assert all("key=s3cret-value-1" in url for url in api.asked)
        assert "s3cret" not in everything(made)


def everything(made: World) -> str:
    """All rows of the app's tables, of tasks, events and pages, the bodies that the app keeps, and what
    people were told. What a server sent stays a while in the cache of pages, as it was sent.
    """
    tables = ("extractions", "extraction_pages", "data_items", "recipes", "tasks", "events", "pages")
    with made.store.read() as session:
        rows = [session.rows(f"select * from {table}", {}) for table in tables]
        hashes = [
            row[0] for row in session.rows("select hash from blob_owners where kind = 'app:extractions'", {})
        ]
    bodies = [blobs.get(made.store, each) for each in hashes]
    return f"{rows} {bodies} {made.messages}"


def test_a_secret_that_is_not_set_ends_the_extraction_with_what_to_do(monkeypatch):
    monkeypatch.delenv("EXTRACTIONS_KEY", raising=False)
    api = CourseApi(5)
    with world(api) as made:
        add_recipe(made, definition(auth={"env": "EXTRACTIONS_KEY"}))
        view = extract(made)
        assert view.status == "CANCELLED"
        assert f"set the environment variable EXTRACTIONS_KEY to '{HOST} KEY'" in (view.reason or "")
        assert api.asked == []


# Killed in between


@pytest.mark.promise(1)
def test_a_worker_that_is_killed_between_two_answers_loses_and_repeats_none(database: Database):
    class Killed(BaseException):
        pass

    api, at = CourseApi(45), 1_700_000_000_000_000
    kills = {2, 4}  # a third time, and the task itself would be held to be the cause

    def kill(api: CourseApi, request: Any, said: dict[str, Any]) -> None:
        if (number := int(request.url.partition("page=")[2].partition("&")[0])) in kills:
            kills.discard(number)
            raise Killed

    api.twist = kill
    with world(api, url_of(database), now=at) as made:
        add_recipe(made, definition())
        started = extractions.start(made.store, made.registry, "school").extraction
    for _ in range(5):
        at += 120_000_000  # the lease of the one that was killed is over
        with world(api, url_of(database), now=at) as made:
            try:
                made.run_until_idle()
            except Killed:
                continue
            view = extractions.show_extraction(made.store, started)
            assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(45))
            break
    assert not kills
    assert len(api.asked) == 5 + 2, "only an answer that was never stored is asked for again"


# Whole sites


def practice(request: Any) -> Reply:
    """The practice catalogues, without a server between."""
    parts = urlsplit(request.url)
    ask = WebRequest(parts.hostname or "", parts.path, SEED, DAY_ZERO, query=dict(parse_qsl(parts.query)))
    answer = site_for(ask.host)(ask)
    return Reply(answer.body, answer.status, dict(answer.headers))


@pytest.mark.promise(9)
@pytest.mark.parametrize("host", ["api", "n400.api"])
def test_the_practice_catalogue_behind_an_api_is_extracted_whole(host, database: Database):
    of = next(each for each in CATALOGUES if each.name == "api")
    fields = {each.name: each.name for each in of.fields}
    said = {
        "request": {"url": f"https://{host}.catalogues.example/api/courses", "query": {"page": "{page}"}},
        "paging": {"kind": "page", "size": of.per_page},
        "answer": {"rows": "items", "total": "total", "id": "id", "url": "url", "fields": fields},
    }
    schema = Schema("course", tuple(Field(each.name, required=each.required) for each in of.fields))
    truth = {
        each.url: {name: said for name, said in each.fields.items() if said}
        for each in planted(host, SEED, DAY_ZERO)
    }
    pages = {f"https://{host}.catalogues.example/*": practice}
    settings = {"host.interval": 0.0}
    with World(app, pages=pages, settings=settings, database=url_of(database)) as made:
        add_recipe(made, said, entity=Entity("course", schema))
        view = extract(made)
        found = items(made, view)
        assert view.status == "COMPLETE", view.reason
        assert all(each.verified for each in found)
        assert len(found) == len(truth)
        assert {each.url: spaced(each.values) for each in found} == {
            url: spaced(fields) for url, fields in truth.items()
        }
        assert len([each for each in made.web.requests if "/api/" in each.url]) == -(
            -len(truth) // of.per_page
        )


def spaced(fields: Any) -> dict[str, str]:
    return {name: " ".join(said.split()) for name, said in fields.items()}


def test_the_vendor_of_catalogues_reads_each_of_them_and_each_course_once():
    """The shape of the answers is the one that its file describes; the live service was never asked."""
    base = "https://app.coursedog.com/api/v1/cm/acme_ps/courses/search/$filters"
    number = {"a": 130, "b": 40}

    def course(at: int) -> dict[str, Any]:
        hours = {"min": 3, "max": 4} if at % 2 else {"value": 2, "operator": ""}
        return {
            "_id": f"{at}-2026",
            "courseGroupId": f"00{at}",
            "code": f"MATH{at}",
            "name": f"Maths {at}",
            "longName": f"Mathematics {at}",
            "description": f"<p>All of number {at}.</p>",
            "credits": {"creditHours": hours, "repeatable": False},
            "departments": ["MATH", "SCI"],
        }

    def answer(request: Any) -> Any:
        query = dict(parse_qsl(urlsplit(request.url).query))
        skip, limit, total = int(query["skip"]), int(query["limit"]), number[query["catalogId"]]
        shown = range(skip, min(skip + limit, total))
        return said_as_json({"listLength": total, "data": [course(at) for at in shown]})

    source = ApiSource("coursedog", {"school": "acme_ps", "catalogs": "a,b"})
    with World(app, pages={f"{base}*": answer}, settings={"host.interval": 0.0}) as made:
        add_recipe(made, source, entity=entity_types()["course"].entity)
        view = extract(made)
        found = items(made, view)
        assert (view.status, view.reason) == ("COMPLETE", "130 items from 3 pages")
        assert len(found) == 130
        one = next(each for each in found if each.values["id"] == "MATH7")
        assert one.values == {
            "id": "MATH7",
            "name": "Mathematics 7",
            "description": "All of number 7.",
            "credits_min": 3,
            "credits_max": 4,
            "department": "MATH; SCI",
        }
        assert one.evidence["places"]["department"]["path"] == "$.data[7].departments"


def test_an_api_that_was_detected_behind_a_shell_is_extracted():
    api = CourseApi(35)
    shell = '<div id="root"></div><script>fetch("/v1/courses?size=10&page=" + page)</script>'
    schema = Schema("course", (Field("code", required=True), Field("title", required=True)))
    with world(api) as made:
        made.web.add({f"{HOST}/": shell})
        with made.store.write() as session:
            now = made.store.backend.now(session)
            spec = RecipeSpec(f"{HOST}/", Entity("course", schema))
            recipe = save_recipe(session, "school", spec, Origin.PERSON, "a person", now)
        with made.store.transaction() as transaction:
            detect_within(transaction, made.registry, recipe, "added", now)
        made.run_until_idle()
        view = extract(made)
        assert view.is_api
        assert (view.status, codes(made, view)) == ("COMPLETE", all_codes(35))
