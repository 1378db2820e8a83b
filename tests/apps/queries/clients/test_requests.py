"""Requests of a client: what a query says goes where it belongs and nowhere else, and no secret is shown."""

import json
from datetime import date
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.queries.clients.answers import ORIGIN, TODAY, client
from thresher.apps.queries.clients.api import api_client
from thresher.apps.queries.clients.search import Offer, Search
from thresher.core.credentials import origin_of
from thresher.core.errors import ConfigError, InvalidPayload
from thresher.reading.apis.paging import ListPlace
from thresher.reading.postings.posting import Posting

PATHED = api_client(
    """
name: acme
request:
  url: https://api.acme.example/{land}/list/{page}
  query: {q: "{text}", town: "{town}", fixed: "1", of: "{size}"}
parameters:
  land: {help: Country., default: gb, pattern: "[a-z.]{2}"}
  town: {help: Towns., repeat: true}
paging: {kind: page, size: 20}
answer: {rows: offers, fields: {id: id, title: name}}
detail: {request: {url: "https://api.acme.example/one/{id}"}, answer: {}}
""",
    "acme.yaml",
)


def call(made, text="", cursor=None, env={}, today=TODAY, since=None, until=None, **parameters):
    return made.call(Search(text, parameters, since, until, today), cursor, env)


def sent(made, **how):
    return dict(parse_qsl(urlsplit(call(made, **how).url).query))


def windowed(query, window, **how):
    made = client(request=f"{{url: {ORIGIN}/o, query: {{{query}}}}}", window=window)
    return sent(made, **how)


def test_what_a_query_says_is_escaped_and_what_it_does_not_say_is_left_out():
    found = call(PATHED, "c++ & r/d#1?", town="York, Leeds;; Hull")
    assert found.url == (
        f"{ORIGIN}/gb/list/1?q=c%2B%2B%20%26%20r%2Fd%231%3F&town=York&town=Leeds&town=Hull&fixed=1&of=20"
    )
    assert call(PATHED).url == f"{ORIGIN}/gb/list/1?fixed=1&of=20"


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_and_no_parameter_changes_the_origin_the_path_or_another_parameter(text, town):
    try:
        found = call(PATHED, text, town=town)
    except ConfigError:
        return
    parts = urlsplit(found.url)
    assert (origin_of(found.url), parts.path) == (ORIGIN, "/gb/list/1")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    assert [name for name, _ in pairs if name not in ("q", "town")] == ["fixed", "of"]
    assert dict(pairs).get("q", "") == text.strip()


@pytest.mark.parametrize("land", ["../x", "a/", "..", "GB", "gbx", "g%", "é!"])
def test_a_value_that_does_not_fit_its_place_in_the_path_is_refused(land):
    with pytest.raises(ConfigError, match="the parameter land of acme"):
        call(PATHED, land=land)


def test_unknown_parameters_line_breaks_and_long_values_are_refused_with_what_is_known():
    with pytest.raises(ConfigError, match=r"acme has no parameter 'wher'; its parameters are land, town"):
        call(PATHED, wher="x")
    for value in ("a\r\nx-evil: 1", "a" * 501):
        with pytest.raises(ConfigError, match="parameter town"):
            call(PATHED, town=value)
        with pytest.raises(ConfigError, match="the text of a query"):
            call(PATHED, value)


def test_a_client_that_cannot_search_for_a_text_says_so_instead_of_ignoring_it():
    made = client(request="{url: https://api.acme.example/o}")
    with pytest.raises(ConfigError, match="acme cannot search for a text"):
        call(made, "welder")


def test_choices_and_needed_parameters_are_checked():
    made = client(
        request='{url: https://api.acme.example/o, query: {a: "{kind}", b: "{who}"}}',
        parameters="{kind: {help: Kind., choices: [x, y]}, who: {help: Whose., required: true}}",
    )
    with pytest.raises(ConfigError, match="acme needs the parameter who: Whose"):
        call(made, kind="x")
    with pytest.raises(ConfigError, match="write one of x, y"):
        call(made, kind="z", who="me")
    assert sent(made, kind="x", who="me") == {"a": "x", "b": "me"}


def test_a_body_is_json_with_counts_as_numbers_and_nothing_where_nothing_is_said():
    made = client(
        request='{url: https://api.acme.example/o, body: {what: "{text}", where: "{town}", page: {n: "{offset}", of: "{size}"}, sure: true, like: "x {text} y"}}',
        parameters="{town: {help: Town.}}",
        paging="{kind: offset, size: 30, first: 0}",
    )
    found = call(made, 'we"ld', cursor=str(ListPlace(60, 2, 60)))
    assert (found.method, found.headers["content-type"]) == ("POST", "application/json")
    assert json.loads(found.body) == {
        "what": 'we"ld',
        "page": {"n": 60, "of": 30},
        "sure": True,
        "like": 'x we"ld y',
    }


@pytest.mark.parametrize(
    ("since", "bucket"),
    [(9, "day"), (8, "week"), (3, "week"), (2, "all"), (None, "all")],
)
def test_the_smallest_bucket_is_taken_that_holds_the_whole_of_the_first_day(since, bucket):
    since = date(2026, 3, since) if since else None
    window = "{kind: buckets, values: {1: day, 7: week, any: all}}"
    assert windowed('back: "{bucket}"', window, since=since) == {"back": bucket}


def test_without_a_bucket_for_everything_the_largest_is_taken():
    window = "{kind: buckets, values: {1: day, 7: week}}"
    assert windowed('back: "{bucket}"', window, since=date(2026, 1, 1)) == {"back": "week"}
    assert windowed('back: "{bucket}"', window) == {}


def test_days_since_count_both_ends_and_stay_within_what_the_provider_takes():
    window = "{kind: since, max_days: 60}"
    days = [
        windowed('d: "{days}"', window, since=day).get("d")
        for day in (TODAY, date(2026, 3, 8), date(2025, 1, 1), None)
    ]
    assert days == ["1", "2", "60", None]


@pytest.mark.parametrize(
    ("window", "pairs"),
    [
        ("{kind: range}", {"a": "2026-03-01", "b": "2026-03-05"}),
        ("{kind: range, exclusive: true}", {"a": "2026-03-01", "b": "2026-03-06"}),
        ("{kind: range, format: '%d/%m/%Y'}", {"a": "01/03/2026", "b": "05/03/2026"}),
        ("{kind: range, format: epoch}", {"a": "1772323200", "b": "1772668800"}),
        ("{kind: range, format: epoch_ms}", {"a": "1772323200000", "b": "1772668800000"}),
        (
            "{kind: range, format: '%Y-%m-%dT00:00:00Z'}",
            {"a": "2026-03-01T00:00:00Z", "b": "2026-03-05T00:00:00Z"},
        ),
    ],
)
def test_a_range_is_written_as_the_provider_wants_it(window, pairs):
    said = windowed('a: "{since}", b: "{until}"', window, since=date(2026, 3, 1), until=date(2026, 3, 5))
    assert said == pairs


SECRET = "s3cret-k&y"
AUTHS = [
    "{env: ACME_KEY}",
    "{as: header, name: X-Key, env: ACME_KEY}",
    "{as: query, name: key, env: ACME_KEY}",
    "{as: basic, env: ACME_USER, password_env: ACME_KEY}",
    "[{as: query, name: id, env: ACME_USER}, {as: query, name: key, env: ACME_KEY}]",
    "[{as: header, name: User-Agent, env: ACME_USER}, {as: header, name: Authorization-Key, env: ACME_KEY}]",
]
ENV = {"ACME_KEY": SECRET, "ACME_USER": "me@acme.example"}


@pytest.mark.parametrize("auth", AUTHS)
def test_secrets_travel_beside_the_request_for_its_origin_alone(auth):
    found = call(client(auth=auth), "welder", env=ENV)
    assert SECRET not in repr(found) + found.url + str(found.headers) + str(found.body)
    assert found.credentials.origin == ORIGIN
    assert found.credentials.headers or found.credentials.query


def test_each_way_to_sign_in_sends_what_it_says():
    made = [call(client(auth=auth), env=ENV).credentials for auth in AUTHS]
    assert [dict(each.headers) for each in made[:2]] == [
        {"authorization": f"Bearer {SECRET}"},
        {"x-key": SECRET},
    ]
    assert made[2].query == {"key": SECRET}
    assert made[3].headers == {"authorization": "Basic bWVAYWNtZS5leGFtcGxlOnMzY3JldC1rJnk="}
    assert made[4].query == {"id": "me@acme.example", "key": SECRET}
    assert made[5].headers == {"user-agent": "me@acme.example", "authorization-key": SECRET}


@pytest.mark.parametrize("auth", AUTHS)
def test_a_secret_that_is_not_set_or_no_secret_is_named_by_its_variable_and_not_shown(auth):
    made = client(auth=auth)
    with pytest.raises(ConfigError, match=r"acme needs a key: set the environment variable ACME_"):
        call(made)
    with pytest.raises(ConfigError, match="does not hold a valid key") as problem:
        call(made, env={"ACME_USER": "me", "ACME_KEY": f"{SECRET}\nx-evil: 1"})
    assert SECRET not in str(problem.value)


@pytest.mark.parametrize(
    "cursor", ["", "x", "[]", '["a"]', '[true,0,0,"",""]', '[1,-1,0,"",""]', '["1",0,0,"",""]']
)
def test_a_cursor_that_is_none_of_ours_is_refused(cursor):
    with pytest.raises(InvalidPayload, match="start the query again"):
        call(PATHED, cursor=cursor)


def test_a_link_in_a_cursor_that_leads_elsewhere_is_not_followed():
    made = client(paging="{kind: link}", answer="{rows: offers, next: next, fields: {id: id, title: name}}")
    assert call(made, cursor=str(ListPlace(f"{ORIGIN}/v1/offers?p=2", 1, 2))).url == f"{ORIGIN}/v1/offers?p=2"
    for link in (
        "https://evil.example/",
        "http://api.acme.example/v1",
        "//evil.example",
        "file:///etc/passwd",
    ):
        with pytest.raises(InvalidPayload, match="leads away from acme"):
            call(made, cursor=str(ListPlace(link, 1, 2)))


def test_a_detail_is_asked_for_by_the_id_and_an_id_stays_in_its_place():
    def asked(key):
        return PATHED.detail_call(Offer(Posting("Welder", key=key)), {})

    assert asked("a 7/x?y#z").url == f"{ORIGIN}/one/a%207%2Fx%3Fy%23z"
    assert [asked(key) for key in (None, "", ".", "..")] == [None] * 4
    assert client().detail_call(Offer(Posting("Welder", key="7")), {}) is None
