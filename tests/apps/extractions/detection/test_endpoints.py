"""APIs behind a page: which addresses are tried, and what of an answer counts."""

import orjson
import pytest

from tests.apps.extractions.detection.walks import COURSE, HOST
from thresher.apps.extractions.api.definition import open_api
from thresher.apps.extractions.detection.endpoints import (
    endpoints,
    endpoints_of_script,
    read_rows,
    scripts,
    second_page,
    source_of,
)
from thresher.apps.extractions.detection.vendors import vendor_of, vendors
from thresher.reading.html.document import Document

ROWS = [
    {"id": at, "courseName": f"Course {at}", "name": f"Course {at}", "Code": f"C-{at}"} for at in range(10)
]


def page(body: str) -> Document:
    return Document.from_html(f"<html><body>{body}</body></html>", f"{HOST}/courses")


def test_addresses_that_a_script_calls_are_tried_the_likeliest_first():
    found = endpoints(
        page(
            """<div data-api="/api/v1/courses?limit=20"></div><script>
            const logo = "/static/logo.png"; fetch(`/api/courses?page=${page}&size=20`);
            axios.get("/rest/search?page=" + n); $.getJSON('https://evil.example/api/x');</script>"""
        )
    )
    assert f"{HOST}/api/courses?page=1&size=20" in found
    assert f"{HOST}/rest/search?page=1" in found
    assert not any("evil" in url or "logo" in url for url in found)


def test_scripts_of_other_sites_are_not_read():
    found = scripts(page('<script src="https://cdn.example/lib.js"></script><script src="/app.js"></script>'))
    assert found == (f"{HOST}/app.js",)
    assert endpoints_of_script('get("/api/items")', f"{HOST}/") == (f"{HOST}/api/items",)


def test_fields_are_found_by_their_names_however_they_are_written():
    rows = read_rows({"meta": {"total": 40}, "result": {"items": ROWS}}, COURSE.schema)
    assert rows is not None
    assert (rows.path, rows.number, rows.total, rows.claimed) == ("result.items", 10, "meta.total", 40)
    assert rows.fields == {"name": "name", "code": "Code"}


@pytest.mark.parametrize(
    ("url", "around", "paging"),
    [
        ("/api?page=1&limit=10", {}, {"kind": "page", "first": 1, "size": 10}),
        ("/api?page=0&limit=10", {}, {"kind": "page", "first": 0, "size": 10}),
        ("/api?offset=0&limit=10", {}, {"kind": "offset", "first": 0, "size": 10}),
        ("/api", {"next": "https://a.example/api?x=2"}, {"kind": "link"}),
        ("/api", {"next_cursor": "abc"}, {"kind": "cursor", "size": 10}),
        ("/api", {"page": 1, "total": 40}, {"kind": "page", "first": 1, "size": 10}),
        ("/api", {}, {"kind": "none"}),
    ],
)
def test_paging_is_read_from_the_request_and_the_answer(url: str, around: dict, paging: dict):
    rows = read_rows({"items": ROWS, **around}, COURSE.schema)
    assert rows is not None
    source = source_of(f"{HOST}{url}", rows)
    assert source.definition["paging"] == paging
    open_api(source, COURSE)  # as an extraction will, and it would say what is wrong


def test_the_second_page_is_asked_for_as_the_first_one_was():
    rows = read_rows({"items": ROWS}, COURSE.schema)
    assert second_page(source_of(f"{HOST}/api?limit=10&offset=0", rows)) == f"{HOST}/api?limit=10&offset=10"


@pytest.mark.parametrize("answer", [[], {}, "text", 7, None, {"a": [1, 2]}, [{"x": 1}], {"a": [{"b": 1}, 2]}])
def test_an_answer_without_rows_is_none(answer: object):
    assert read_rows(orjson.loads(orjson.dumps(answer)), COURSE.schema) is None


def test_a_vendor_counts_only_with_all_that_its_api_needs():
    url = "https://catalog.college.example/"
    found = vendor_of("<script>x('https://app.coursedog.com/api/v1/cm/college_x/')</script>", url, "course")
    assert found is not None
    assert (found.name, dict(found.parameters)) == ("coursedog", {"school": "college_x"})
    assert found.probe == "https://app.coursedog.com/api/v1/ca/college_x/catalogs"
    assert vendor_of("<a href='https://app.coursedog.com/api/'>x</a>", url, "course") is None
    assert (
        vendor_of("<script>x('https://app.coursedog.com/api/v1/cm/college_x/')</script>", url, "product")
        is None
    )
    assert all(each.marks and each.probe.startswith("https://") for each in vendors())
