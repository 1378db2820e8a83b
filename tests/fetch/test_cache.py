"""RFC 9111 without a clock: what may be kept, what may be used, how it is asked for again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.clock import SECOND
from thresher.core.rendering import Rendering
from thresher.fetch import cache
from thresher.fetch.cache import CachedResponse, Use, key_of, keyed
from thresher.fetch.request import Request, Response

URL = "https://shop.example/a"
T0 = 1_700_000_000 * SECOND
T0_DATE = "Tue, 14 Nov 2023 22:13:20 GMT"
T0_PLUS_60 = "Tue, 14 Nov 2023 22:14:20 GMT"


def get(**headers):
    return Request(URL, headers={name.replace("_", "-"): value for name, value in headers.items()})


def ok(status=200, **headers):
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"body")


def kept(request=None, took=0, **headers):
    request = request or get()
    return cache.copy_of(request, ok(**headers), request.headers, T0, T0 + took * SECOND)


def use(copy, after=0.0, request=None, max_age=None):
    request = request or get()
    return cache.use_of(copy, request, request.headers, T0 + round(after * SECOND), max_age)


@pytest.mark.parametrize(
    ("headers", "after", "expected"),
    [
        ({"cache_control": "max-age=60"}, 59, Use.FRESH),
        ({"cache_control": "max-age=60"}, 60, Use.NOTHING),
        ({"cache_control": "max-age=60", "etag": '"1"'}, 60, Use.CONFIRM),
        ({"cache_control": "Max-Age = 60 , public"}, 59, Use.FRESH),
        ({"cache_control": 'max-age="60"'}, 59, Use.FRESH),
        ({"cache_control": "max-age=60, max-age=1"}, 30, Use.FRESH),
        ({"cache_control": "max-age=many"}, 0, Use.NOTHING),
        ({"cache_control": "max-age=-5"}, 0, Use.NOTHING),
        ({"cache_control": "private, max-age=60"}, 59, Use.FRESH),
        ({"cache_control": "s-maxage=60"}, 1, Use.NOTHING),
        ({"cache_control": "no-cache, max-age=60", "etag": '"1"'}, 0, Use.CONFIRM),
        ({"cache_control": 'no-cache="set-cookie", max-age=60', "etag": '"1"'}, 0, Use.CONFIRM),
        ({"expires": T0_PLUS_60, "date": T0_DATE}, 59, Use.FRESH),
        ({"expires": T0_PLUS_60}, 59, Use.FRESH),
        ({"expires": T0_PLUS_60, "date": T0_DATE}, 60, Use.NOTHING),
        ({"expires": "0"}, 0, Use.NOTHING),
        ({"expires": T0_PLUS_60, "cache_control": "max-age=0"}, 0, Use.NOTHING),
        ({"cache_control": "max-age=60", "age": "50"}, 11, Use.NOTHING),
        ({"cache_control": "max-age=60", "age": "50"}, 9, Use.FRESH),
        ({"cache_control": "max-age=60", "date": "Tue, 14 Nov 2023 22:12:30 GMT"}, 11, Use.NOTHING),
        ({"last_modified": "Mon, 01 Jan 2001 00:00:00 GMT"}, 0, Use.CONFIRM),
        ({}, 0, Use.NOTHING),
    ],
)
def test_freshness_is_what_the_server_said_and_never_a_guess(headers, after, expected):
    assert use(kept(**headers), after) is expected


def test_the_time_an_answer_was_on_its_way_counts_as_age():
    assert use(kept(took=10, cache_control="max-age=60", age="45"), 14) is Use.FRESH
    assert use(kept(took=10, cache_control="max-age=60", age="45"), 16) is Use.NOTHING


@pytest.mark.parametrize(
    ("wish", "after", "expected"),
    [
        ("no-cache", 0, Use.CONFIRM),
        ("max-age=10", 9, Use.FRESH),
        ("max-age=10", 11, Use.CONFIRM),
        ("min-fresh=30", 29, Use.FRESH),
        ("min-fresh=30", 31, Use.CONFIRM),
        ("max-stale", 1_000, Use.FRESH),
        ("max-stale=10", 69, Use.FRESH),
        ("max-stale=10", 71, Use.CONFIRM),
    ],
)
def test_a_request_may_ask_for_more_or_less_than_the_server_offers(wish, after, expected):
    assert use(kept(cache_control="max-age=60", etag='"1"'), after, get(cache_control=wish)) is expected


def test_must_revalidate_is_stronger_than_a_request_that_would_take_stale_copies():
    assert (
        use(kept(cache_control="max-age=60, must-revalidate", etag='"1"'), 61, get(cache_control="max-stale"))
        is Use.CONFIRM
    )


@pytest.mark.parametrize(
    ("max_age", "after", "expected"), [(100, 99, Use.FRESH), (100, 100, Use.CONFIRM), (0, 0, Use.CONFIRM)]
)
def test_the_callers_own_age_overrules_the_servers_in_both_directions(max_age, after, expected):
    for said in ("max-age=60", "max-age=1000", "no-cache"):
        assert use(kept(cache_control=said, etag='"1"'), after, max_age=max_age) is expected


def test_vary_lets_a_copy_answer_only_those_who_ask_alike():
    copy = kept(get(accept_language="de"), cache_control="max-age=60", vary="Accept-Language, Cookie")
    assert use(copy, 1, get(accept_language="de")) is Use.FRESH
    assert use(copy, 1, get(accept_language="fr")) is Use.NOTHING
    assert use(copy, 1, get()) is Use.NOTHING
    assert use(copy, 1, get(accept_language="de", cookie="a=b")) is Use.NOTHING
    assert not cache.may_keep(get(), ok(cache_control="max-age=60", vary="*"))


@pytest.mark.promise(7)
@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 410, 429, 500, 502, 503])
def test_errors_and_parts_are_never_kept_whatever_they_say_of_themselves(status):
    assert not cache.may_keep(get(), ok(status, cache_control="public, max-age=31536000"), max_age=1_000)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (get(), ok(cache_control="no-store, max-age=60")),
        (get(cache_control="no-store"), ok(cache_control="max-age=60")),
        (get(range="bytes=0-1"), ok(cache_control="max-age=60")),
        (get(if_none_match='"mine"'), ok(cache_control="max-age=60")),
        (Request(URL, "PUT"), ok(cache_control="max-age=60")),
        (Request(URL, "HEAD"), ok(cache_control="max-age=60")),
    ],
)
def test_what_was_not_to_be_kept_is_not_kept_even_for_a_caller_with_an_age_of_its_own(request_, answer):
    assert not cache.may_keep(request_, answer, max_age=1_000)


def test_a_post_is_kept_only_for_a_caller_who_says_that_it_is_a_question():
    post = Request(URL, "POST", body=b"{}")
    assert not cache.may_keep(post, ok(cache_control="max-age=60"))
    assert cache.may_keep(post, ok(), max_age=60)


@pytest.mark.parametrize(
    ("headers", "max_age", "worth"),
    [
        ({}, None, False),
        ({"etag": '"1"'}, None, True),
        ({"cache_control": "max-age=0"}, None, False),
        ({"expires": T0_DATE}, None, True),
        ({}, 5, True),
    ],
)
def test_worth_keeping_is_what_the_rules_could_use_again(headers, max_age, worth):
    assert cache.is_worth_keeping(ok(**headers), max_age) is worth


def test_a_stale_copy_is_asked_for_by_what_it_carried():
    asked = cache.confirming(get(accept="text/html"), kept(etag='W/"1"', last_modified=T0_DATE))
    assert asked.headers == {"accept": "text/html", "if-none-match": 'W/"1"', "if-modified-since": T0_DATE}


def test_not_modified_brings_new_headers_and_leaves_what_describes_the_body():
    old = kept(cache_control="max-age=60", etag='"1"', content_type="text/html", age="30", x_old="1")
    answer = Response(
        304,
        {"cache-control": "max-age=90", "content-type": "text/plain", "content-length": "0", "etag": '"1"'},
        b"",
    )
    new = cache.refreshed(old, answer, T0 + 60 * SECOND, T0 + 61 * SECOND)
    assert new.headers == {
        "cache-control": "max-age=90",
        "etag": '"1"',
        "content-type": "text/html",
        "x-old": "1",
    }
    assert use(new, 61 + 88) is Use.FRESH
    assert use(new, 61 + 90) is Use.CONFIRM


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [('"1"', '"1"', True), ('W/"1"', '"1"', True), ('"1"', '"2"', False), ('"1"', "", True)],
)
def test_not_modified_speaks_of_our_copy_only_if_the_etags_agree(ours, theirs, same):
    assert cache.confirms(kept(etag=ours), Response(304, {"etag": theirs} if theirs else {}, b"")) is same


# --- keys

ASKED = Request(URL, "GET", {"accept": "text/html", "authorization": "Bearer one"}, b"")


@pytest.mark.promise(2)
@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, url=URL + "?"),
        replace(ASKED, url=URL + "?utm_source=x"),
        replace(ASKED, url=URL.upper()),
        replace(ASKED, method="POST"),
        replace(ASKED, body=b"x"),
        replace(ASKED, headers={"accept": "text/html", "authorization": "Bearer two"}),
        replace(ASKED, headers={"accept": "text/html"}),
        replace(ASKED, headers={"accept": "text/html", "authorization": "Bearer one", "x": ""}),
        replace(ASKED, headers={"accept": "text/htm", "lauthorization": "Bearer one"}),
    ],
)
def test_whatever_may_change_the_answer_changes_the_key(other):
    assert key_of(other) != key_of(ASKED)


def test_the_source_and_the_browser_change_the_key_and_caching_headers_do_not():
    keys = {
        key_of(ASKED),
        key_of(ASKED, source="source:a"),
        key_of(ASKED, source="source:b"),
        key_of(ASKED, rendered=True),
        key_of(ASKED, rendered=True, variant=Rendering(wait_for="p").variant),
    }
    assert len(keys) == 5
    assert key_of(ASKED, rendered=True, variant=Rendering().variant) == key_of(ASKED, rendered=True)
    assert key_of(
        replace(ASKED, headers={**ASKED.headers, "if-none-match": '"1"', "cache-control": "no-cache"})
    ) == key_of(ASKED)


@pytest.mark.parametrize("order", [("b=1&a=2", "a=2&b=1"), ("q=a+b", "q=a%20b")])
def test_addresses_that_a_cleaner_would_call_equal_are_kept_apart(order):
    one, two = (key_of(Request(f"{URL}?{query}")) for query in order)
    assert one != two


@given(st.lists(st.text(max_size=6), max_size=5), st.lists(st.text(max_size=6), max_size=5))
def test_different_parts_never_have_the_same_key(one, two):
    assert (keyed(*one) == keyed(*two)) is (one == two)


@given(
    st.dictionaries(
        st.sampled_from(["cache-control", "expires", "date", "age", "vary", "etag", "last-modified"]),
        st.text(max_size=40),
    ),
    st.text(max_size=40),
    st.integers(-(2**60), 2**60),
)
def test_no_header_however_odd_breaks_the_rules(headers, wish, now):
    answer = Response(200, headers, b"")
    request = get(cache_control=wish)
    copy = CachedResponse(URL, "GET", 200, headers, T0, T0, {})
    assert cache.use_of(copy, request, request.headers, now) in Use
    cache.may_keep(request, answer)
    cache.is_worth_keeping(answer)
