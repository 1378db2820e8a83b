"""Whatever bytes come back, reading them raises nothing, ends soon, and claims nothing that is not there."""

import json
import time
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.queries.clients.answers import TODAY, answered, client, offers
from thresher.apps.queries.clients.catalogue import catalogue
from thresher.apps.queries.clients.client import read_page
from thresher.apps.queries.clients.search import Search
from thresher.reading.apis.paging import ListPlace

FIELDS = "{id: id, title: name, url: link, company: firm.name, posted: day, low: pay, description: text}"
JSON = client(
    request='{url: https://api.acme.example/v1/offers, query: {page: "{page}"}}',
    paging="{kind: page, size: 2}",
    answer=f"{{rows: offers, total: count, pages: pages, more: more, fields: {FIELDS}}}",
)
LINKED = client(
    paging="{kind: link}", answer=f"{{rows: 'data[].offers[]', next: next, total: count, fields: {FIELDS}}}"
)
XML = client(answer=f"{{format: xml, root: answer, rows: offers, total: '@count', fields: {FIELDS}}}")
WORDS = st.sampled_from(
    [
        "offers",
        "count",
        "pages",
        "more",
        "next",
        "data",
        "id",
        "name",
        "link",
        "firm",
        "day",
        "pay",
        "text",
        "error",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=40,
)
ROWS = st.fixed_dictionaries(
    {"offers": st.lists(st.dictionaries(WORDS, DATA, max_size=6), max_size=4)},
    optional={"count": DATA, "pages": DATA, "more": DATA, "next": DATA},
)
CLIENTS = [*(each for each in catalogue(None).values() if not each.local), JSON, LINKED, XML]


def honest(found):
    assert len(found.offers) + len(found.bad) <= found.rows
    assert not (found.next and (found.trouble or found.capped))
    for each in found.offers:
        posting = each.posting
        assert posting.title
        assert posting.key or posting.url
        assert len(posting.title) <= 300
        assert posting.url is None or posting.url.startswith(("https://", "http://"))
        assert posting.posted_date is None or posting.posted_date <= TODAY + timedelta(days=1)


@given(DATA | ROWS, st.sampled_from([JSON, LINKED]))
def test_any_json_at_all_is_read_or_refused(data, made):
    body = json.dumps(data).encode()
    places = (
        None,
        str(ListPlace(2, 1, 2, "x", "y"))
        if made is JSON
        else str(ListPlace("https://api.acme.example/2", 1, 2)),
    )
    for cursor in places:
        honest(read_page(made, Search(today=TODAY), cursor, answered(body)))


@given(
    st.binary(max_size=200),
    st.sampled_from(["", "application/json", "text/xml", "text/html", "text/csv; charset=utf-16"]),
)
@pytest.mark.parametrize("made", CLIENTS, ids=lambda made: made.name)
def test_any_bytes_at_all_are_read_or_refused(made, body, kind):
    parameters = {"board": "greenhouse:acme"} if made.name == "board" else {}
    url = made.api.request.url.partition("{")[0] if hasattr(made, "api") else "https://acme.example/"
    found = read_page(
        made, Search(parameters=parameters, today=TODAY), None, answered(body, url=url, kind=kind)
    )
    assert found.offers == ()
    assert found.trouble or not found.rows


@given(
    st.recursive(
        st.text("abc<>&; ", max_size=10),
        lambda inner: st.builds(
            lambda name, body: f"<{name}>{''.join(body)}</{name}>", WORDS, st.lists(inner, max_size=4)
        ),
        max_leaves=30,
    )
)
def test_any_xml_at_all_is_read_or_refused(inside):
    body = f"<?xml version='1.0'?><answer count='3'>{inside}</answer>"
    honest(read_page(XML, Search(today=TODAY), None, answered(body, kind="text/xml")))


# Written when the test runs, and not by every process that only counts the tests.
BODIES = {
    "brackets": (JSON, lambda: '{"offers": ' + "[" * 2_000_000),
    "tags": (JSON, lambda: '{"offers": [' + '{"id": 1, "name": "' + "<b>" * 3_000_000 + '"}]}'),
    "offers": (
        JSON,
        lambda: json.dumps(
            {"offers": [{"id": n, "name": "W" * 2_000, "text": "<p>x" * 500} for n in range(3_000)]}
        ),
    ),
    "names": (
        JSON,
        lambda: json.dumps({"offers": [{"id": 1, "name": "W", "firm": {"name": ["x"] * 1_000_000}}]}),
    ),
    "lists": (LINKED, lambda: json.dumps({"data": [{"offers": [{"id": 1}] * 1_000}] * 1_000})),
    "elements": (
        XML,
        lambda: "<?xml version='1.0'?><answer>" + "<offers><name>W</name></offers>" * 140_000 + "</answer>",
    ),
    "nested": (
        XML,
        lambda: "<?xml version='1.0'?><answer>" + "<offers><text>" + "<p>" * 190 + "x" * 9_000_000,
    ),
}


@pytest.mark.parametrize(("made", "write"), BODIES.values(), ids=BODIES)
def test_ten_megabytes_of_it_are_read_or_refused_in_seconds(made, write):
    body = write()
    started = time.process_time()
    found = read_page(
        made,
        Search(today=TODAY),
        None,
        answered(body, kind="text/xml" if made is XML else "application/json"),
    )
    assert time.process_time() - started < 30
    assert len(found.offers) <= 5_000
    assert len(str(found.trouble)) < 400


def test_reading_depends_on_nothing_but_what_it_is_given():
    body = {"offers": offers(1, 3), "count": 3}
    found = [read_page(JSON, Search(today=date(2026, 3, 9)), None, answered(body)) for _ in range(3)]
    assert found[0] == found[1] == found[2]
