"""One page through all policies, against a web that is real but local."""

import pytest

from tests.fetch.desk import FRESH, SHOP, at
from tests.fetch.site import moved, page
from tests.harness.databases import only_sqlite
from thresher.core import errors
from thresher.core.page import Via
from thresher.fetch.governor import FetchOptions
from thresher.fetch.request import order

__all__ = ["at"]

pytestmark = only_sqlite


def test_a_page_comes_with_its_headers_and_our_honest_name(at):
    async def story(desk):
        found = await desk.fetch()
        assert (found.url, found.final_url, found.status, found.via) == (
            f"{SHOP}/a",
            f"{SHOP}/a",
            200,
            Via.HTTP,
        )
        assert (found.content_type, found.body, found.hops) == ("text/html", b"<p>here", ())
        names = {asked.headers["user-agent"] for asked in desk.site.log}
        assert [
            name for name in names if name.startswith("Thresher/") and name.endswith("(+me@example.com)")
        ] == [*names]
        assert desk.book.passed == ["host:shop.example"] * 2

    at({"shop.example/a": "<p>here"}, story)


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (404, {}, errors.Gone),
        (410, {}, errors.Gone),
        (401, {}, errors.Unauthorized),
        (403, {}, errors.Forbidden),
        (400, {}, errors.Permanent),
        (500, {}, errors.ServerError),
        (503, {}, errors.ServerError),
        (429, {}, errors.RateLimited),
    ],
)
@pytest.mark.promise(10)
def test_an_error_is_raised_with_the_gate_it_is_about_and_never_kept(at, status, headers, error):
    async def story(desk):
        for _ in range(2):
            with pytest.raises(error) as caught:
                await desk.fetch(max_age=1_000)
            assert (caught.value.gate, caught.value.status) == ("host:shop.example", status)
        assert desk.pages() == ["/a", "/a"]
        with pytest.raises(errors.Refused, match="is not stored"):
            await desk.fetch(replay=True)

    at({"shop.example/a": page(status=status, cache_control="max-age=1000", **headers)}, story)


@pytest.mark.promise(10)
def test_a_wall_that_calls_itself_a_page_is_blocked_and_never_kept(at):
    wall = "<title>Just a moment...</title><h1>Verify you are human</h1><p>Checking your browser. Please complete the CAPTCHA."

    async def story(desk):
        for _ in range(2):
            with pytest.raises(errors.Blocked):
                await desk.fetch(max_age=1_000)
        assert desk.pages() == ["/a", "/a"]

    at({"shop.example/a": page(wall, 403, **FRESH)}, story)


@pytest.mark.promise(10)
@pytest.mark.parametrize("headers", [{}, {"retry_after": "30"}])
def test_a_429_that_says_so_in_words_is_no_wall_and_one_with_a_captcha_is(at, headers):
    async def story(desk):
        with pytest.raises(errors.RateLimited):
            await desk.fetch()
        with pytest.raises(errors.Blocked):
            await desk.fetch(f"{SHOP}/b")

    captcha = "<title>Are you a robot?</title><h1>Verify you are human</h1><div class=g-recaptcha></div>"
    plain = "<title>429 Too Many Requests</title><h1>Too Many Requests</h1><p>Rate limit exceeded."
    at({"shop.example/a": page(plain, 429, **headers), "shop.example/b": page(captcha, 429)}, story)


@pytest.mark.promise(16)
def test_a_host_that_asks_for_a_pause_closes_its_gate_before_the_error_is_told(at):
    async def story(desk):
        with pytest.raises(errors.RateLimited) as caught:
            await desk.fetch()
        assert (caught.value.retry_after, caught.value.away) == (120, 120)
        assert desk.book.held == [("host:shop.example", 120)]

    at({"shop.example/a": page(status=503, retry_after="120")}, story)


# --- redirects


def test_a_redirect_is_followed_and_every_hop_passes_its_own_gate(at):
    async def story(desk):
        found = await desk.fetch()
        assert (found.url, found.hops, found.final_url) == (
            f"{SHOP}/a",
            (f"{SHOP}/b",),
            "http://other.example/c",
        )
        assert desk.book.passed == ["host:shop.example"] * 3 + ["host:other.example"] * 2
        assert desk.site.paths("other.example") == ["/robots.txt", "/c"]

    at(
        {
            "shop.example/a": moved("/b", 301),
            "shop.example/b": moved("http://other.example/c"),
            "other.example/c": "<p>there",
        },
        story,
    )


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (303, "PUT", "GET"),
        (302, "PUT", "PUT"),
    ],
)
def test_a_redirect_keeps_or_drops_the_body_as_browsers_do(at, status, method, becomes):
    async def story(desk):
        await desk.fetch(method=method, body=b"{}", headers={"Content-Type": "application/json"})
        last = desk.site.log[-1]
        assert (last.method, last.body, last.headers.get("content-type")) == (
            (becomes, b"{}", "application/json") if becomes == method else ("GET", b"", None)
        )

    at({"shop.example/a": moved("/b", status), "shop.example/b": "<p>"}, story)


@pytest.mark.promise(17)
def test_credentials_stay_with_the_origin_they_were_meant_for(at):
    secrets = {
        "Authorization": "Bearer x",
        "Cookie": "a=b",
        "X-Api-Key": "k",
        "X-Auth-Token": "t",
        "Accept-Language": "de",
    }

    async def story(desk):
        await desk.fetch(headers=secrets)
        sent = {asked.path: asked.headers for asked in desk.site.log}
        assert {"authorization", "cookie", "x-api-key", "x-auth-token"} <= sent["/b"].keys()
        assert not {"authorization", "cookie", "x-api-key", "x-auth-token"} & sent["/c"].keys()
        assert sent["/c"]["accept-language"] == "de"

    at(
        {
            "shop.example/a": moved("/b"),
            "shop.example/b": moved("https://other.example/c"),
            "other.example/c": "<p>",
        },
        story,
    )


@pytest.mark.promise(17)
def test_credentials_do_not_go_from_https_to_http(at):
    async def story(desk):
        await desk.fetch(headers={"Authorization": "Bearer x"})
        assert "authorization" not in desk.site.log[-1].headers

    at({"shop.example/a": moved("http://shop.example/b"), "shop.example/b": "<p>"}, story)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/",
        "file:///etc/passwd",
        "ftp://shop.example/",
        "http://shop.example:22/",
        "https://me:pass@shop.example/",
    ],
)
def test_a_redirect_to_where_we_must_not_go_is_refused(at, to):
    async def story(desk):
        with pytest.raises((errors.Refused, errors.Malformed)):
            await desk.fetch()
        assert desk.pages() == ["/a"]

    at({"shop.example/a": moved(to)}, story)


def test_a_circle_of_redirects_is_named(at):
    async def story(desk):
        with pytest.raises(errors.Malformed, match=r"in a circle .*/b → https://shop.example/a"):
            await desk.fetch()
        assert desk.pages() == ["/a", "/b"]

    at({"shop.example/a": moved("/b"), "shop.example/b": moved("/a")}, story)


def test_an_endless_row_of_redirects_ends_at_the_limit(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match="redirects too often: 4 times so far"):
            await desk.fetch(f"{SHOP}/0")
        assert desk.pages() == ["/0", "/1", "/2", "/3"]

    at({"shop.example": lambda asked: moved(f"/{int(asked.path[1:]) + 1}")}, story, fetch__redirects=3)


# --- what is asked


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"method": "BREW"}, "there is no method 'BREW'"),
        ({"headers": {"User-Agent": "Mozilla/5.0"}}, "one honest name for the whole project"),
        ({"headers": {"Host": "other.example"}}, "it follows from the URL"),
        ({"headers": {"X-A": "1\r\nX-B: 2"}}, "one line"),
        ({"headers": {"X A": "1"}}, "not a header name"),
        ({"body": "text"}, "a body must be bytes, got str"),
    ],
)
def test_a_request_that_cannot_be_is_refused_before_anything_happens(at, how, says):
    async def story(desk):
        with pytest.raises(errors.UsageError, match=says):
            await desk.fetch(**how)
        assert desk.site.log == []

    at({}, story)


def test_rendering_without_a_browser_says_what_to_install(at):
    async def story(desk):
        with pytest.raises(errors.UsageError, match=r"thresher\[browser\]"):
            await desk.fetcher.fetch(
                order(f"{SHOP}/a"), FetchOptions(desk.book, desk.page_cache, render=True)
            )

    at({"*": "<p>"}, story)
