"""From an answer to an error: the whole table, and headers that lie."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core import errors
from thresher.core.errors import Blocked, RateLimited
from thresher.fetch.answers import MAX_WAIT, MIN_WAIT, judge, retry_after

NOW = 1_794_744_000_000_000  # Sunday, 15 November 2026, 12:00:00 GMT


def judged(
    status: int, headers: Mapping[str, str] = {}, sample: str = "", **how: object
) -> errors.TaskError | None:
    return judge(status, headers, sample, host="acme.example", now=NOW, **how)  # type: ignore[arg-type]


def captcha(status: int, headers: Mapping[str, str], sample: str) -> str | None:
    return "asks for a CAPTCHA" if "captcha" in sample else None


@pytest.mark.parametrize("status", [200, 201, 204, 206, 226, 300, 301, 302, 303, 304, 307, 308])
def test_what_can_be_read_or_followed_is_no_error(status: int):
    assert judged(status) is None


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, errors.Permanent),
        (401, errors.Unauthorized),
        (402, errors.Permanent),
        (403, errors.Forbidden),
        (404, errors.Gone),
        (405, errors.Permanent),
        (407, errors.Unauthorized),
        (408, errors.Transient),
        (410, errors.Gone),
        (418, errors.Permanent),
        (425, errors.Transient),
        (429, errors.RateLimited),
        (451, errors.Permanent),
        (500, errors.ServerError),
        (502, errors.ServerError),
        (503, errors.ServerError),
        (504, errors.ServerError),
        (520, errors.ServerError),
        (599, errors.ServerError),
        (999, errors.Malformed),
        (600, errors.Malformed),
        (199, errors.Malformed),
        (0, errors.Malformed),
    ],
)
def test_each_status_has_its_error_and_blames_the_host(status: int, error: type[errors.TaskError]):
    found = judged(status)
    assert type(found) is error
    assert found.gate == "host:acme.example"
    assert "acme.example answered" in str(found)


def test_too_many_requests_without_a_date_waits_a_minute():
    found = judged(429)
    assert isinstance(found, RateLimited)
    assert found.retry_after == 60.0


def test_unavailable_with_a_date_is_a_request_to_wait_and_not_a_failure():
    found = judged(503, {"retry-after": "120"})
    assert isinstance(found, RateLimited)
    assert found.retry_after == 120.0
    assert not found.spends_failure


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 1.0),
        ("-5", 1.0),
        ("+3", 3.0),
        ("1.9", 1.0),
        ("30s", 30.0),
        ("30 seconds", 30.0),
        ("10, 20", 10.0),
        ("99999999999", 86_400.0),
        ("9" * 400, 60.0),
        ("", 60.0),
        ("soon", 60.0),
        ("١٢", 60.0),
        ("1e9", 60.0),
        ("Sun, 15 Nov 2026 12:05:00 GMT", 300.0),
        ("Sunday, 15-Nov-26 12:05:00 GMT", 300.0),
        ("Sun Nov 15 12:05:00 2026", 300.0),
        ("Sun, 15 Nov 2026 13:05:00 +0100", 300.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 1.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("2026-11-15T12:05:00Z", 60.0),
        ("Sun, 99 Nov 2026 12:05:00 GMT", 60.0),
        ("Sun, 15 Nov 2026 12:05:00 +9999999", 60.0),
        (None, 60.0),
    ],
)
def test_the_time_to_wait_is_read_in_every_form_and_bounded(text: str | None, seconds: float):
    assert retry_after(text, NOW) == seconds


@pytest.mark.promise(16)
@given(
    st.text(max_size=200)
    | st.from_regex(
        r"[A-Z][a-z]{2}, \d{1,4} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d [A-Z+0-9]{1,9}", fullmatch=True
    )
)
def test_no_header_makes_us_hammer_or_wait_forever(text: str):
    assert MIN_WAIT <= retry_after(text, NOW) <= MAX_WAIT


@pytest.mark.promise(7)
@pytest.mark.parametrize("status", [200, 403, 429, 503, 404, 999])
def test_a_wall_is_a_wall_whatever_status_it_answers_with(status: int):
    found = judged(status, {"retry-after": "5"}, "please solve this captcha", wall=captcha)
    assert isinstance(found, Blocked)
    assert "CAPTCHA" in str(found)


@pytest.mark.promise(10)
def test_a_403_blames_our_credentials_only_where_there_were_some():
    """One page that is not for us must not close a whole host until a person looks; a refused key must."""
    assert type(judged(403, {}, "")) is errors.Forbidden
    assert type(judged(403, {}, "", signed=True)) is errors.Unauthorized
    assert type(judged(401, {}, "")) is errors.Unauthorized


def test_a_redirect_is_never_a_wall_for_nobody_reads_its_page():
    assert judged(302, {}, "captcha", wall=captcha) is None


def test_a_page_without_a_wall_is_judged_by_its_status():
    assert judged(200, {}, "welcome", wall=captcha) is None
    assert isinstance(judged(429, {}, "slow down", wall=captcha), RateLimited)
