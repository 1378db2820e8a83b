"""When a browser last looked: what its cookie says, and what somebody makes it say."""

from collections.abc import Callable

import pytest
from starlette.requests import Request
from starlette.responses import Response

from thresher.core.clock import HOUR, MINUTE
from thresher.web.pages.visit import BrowserVisit

NOW = 1_800_000_000_000_000


def request(cookie: str = "") -> Request:
    headers = [(b"host", b"127.0.0.1:8000"), *([(b"cookie", cookie.encode())] if cookie else [])]
    return Request({"type": "http", "method": "GET", "path": "/a/b", "scheme": "http", "headers": headers})


def browser() -> Callable[[int], int | None]:
    """A browser that looks at the page at these times; when its visit before ended."""
    held = [""]

    def look(at: int) -> int | None:
        visit = BrowserVisit.of(request(held[0]), "/a/b", at)
        told = visit.keep(request(), Response()).headers["set-cookie"]
        held[0] = told.partition(";")[0]
        assert {"HttpOnly", "Path=/a/b", "SameSite=strict"} <= set(told.split("; "))
        return visit.since

    return look


def test_looks_with_short_pauses_are_one_visit_and_a_long_pause_ends_it():
    look = browser()
    assert [look(NOW), look(NOW + MINUTE), look(NOW + 20 * MINUTE)] == [None, None, None]
    assert look(NOW + 2 * HOUR) == NOW + 20 * MINUTE
    assert look(NOW + 2 * HOUR + 10 * MINUTE) == NOW + 20 * MINUTE, "it is the same visit"
    assert look(NOW + 5 * HOUR) == NOW + 2 * HOUR + 10 * MINUTE


@pytest.mark.parametrize(
    "said",
    ["", "x", "1", "1.2.3", "-1.5", f"0.{NOW * 2}", f"{'9' * 19}.1", "1.²", "1.1; visit=2"],
)
def test_a_cookie_that_somebody_made_up_says_at_most_another_time(said: str):
    found = BrowserVisit.of(request(f"visit-a-b={said}"), "/a/b", NOW)
    assert found.since is None or 0 < found.since <= NOW
