"""A page that only scripts can build comes back as any other page."""

import asyncio
from collections.abc import Iterator

import pytest
from aiohttp import web

from tests.fetch.browsing import World, a_world, png_size
from thresher.core.errors import ConnectionFailed, Malformed, Refused, TimedOut, TooLarge, UsageError
from thresher.core.page import Via
from thresher.core.rendering import Rendering
from thresher.fetch.request import Bounds

BUILT = "<!doctype html><title>shell</title><div id=app></div><script>app.innerHTML = '<h1>bu' + 'ilt</h1>'</script>"


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with a_world(agent="Thresher/1 (+mailto:a@b.example)", traffic=3_000_000) as world:
        yield world


@pytest.fixture
def world(shared: World) -> World:
    shared.pages.clear()
    shared.log.clear()
    shared.agents.clear()
    return shared


def redirect(to: str):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"location": to})

    return answer


def answer(**options):
    async def respond(request: web.Request) -> web.Response:
        return web.Response(**options)

    return respond


def test_a_page_built_by_a_script_is_taken_down_as_it_was_built(world: World):
    world.pages["/a"] = BUILT
    page = world.render("/a", idle=True)
    assert b"<h1>built</h1>" in page.body
    assert page.body.startswith(b"<!DOCTYPE html>")
    assert (page.url, page.final_url, page.status, page.via) == (
        "http://site.example/a",
        "http://site.example/a",
        200,
        Via.BROWSER,
    )
    assert page.hops == ()
    assert page.screenshot is None
    assert page.fetched_at > 0
    assert {"navigate", "settle", "total"} <= set(page.timings)


def test_what_was_sent_in_another_encoding_comes_as_utf_8_and_says_so(world: World):
    body = "<meta charset=latin-1><p>Grüße</p>".encode("latin-1")
    world.pages["/l1"] = answer(body=body, headers={"content-type": "text/html; charset=latin-1"})
    page = world.render("/l1")
    assert "<p>Grüße</p>" in page.body.decode()
    assert page.headers["content-type"] == "text/html; charset=utf-8"


def test_headers_of_the_document_come_along_without_cookies_and_lengths(world: World):
    world.pages["/h"] = answer(
        text="<p>x", content_type="text/html", headers={"X-Robots-Tag": "noindex", "Set-Cookie": "a=b"}
    )
    headers = world.render("/h").headers
    assert headers["x-robots-tag"] == "noindex"
    assert not {"set-cookie", "content-length", "content-encoding"} & set(headers)


def test_the_browser_says_whose_it_is(world: World):
    world.pages["/a"] = BUILT
    world.render("/a")
    assert world.agents[0].startswith("Mozilla/5.0")
    assert world.agents[0].endswith("Thresher/1 (+mailto:a@b.example)")


def test_waiting_for_a_selector_waits_for_it(world: World):
    late = "<script>setTimeout(() => document.body.innerHTML = '<p class=offer>la' + 'te</p>', {})</script>"
    world.pages["/w"], world.pages["/never"] = late.format(700), late.format(600_000)
    assert b"late" in world.render("/w", wait_for="p.offer").body
    assert b"late" not in world.render("/never", idle=False).body


def test_a_selector_that_never_comes_is_named_when_time_is_up(world: World):
    world.pages["/w"] = "<p>nothing"
    with pytest.raises(TimedOut, match=r"not ready within 3 s; it was still waiting for '#offers'") as caught:
        world.render("/w", Bounds(connect=1, read=2, total=3), wait_for="#offers")
    assert caught.value.gate == "host:site.example"


def test_what_is_no_selector_is_the_callers_mistake(world: World):
    world.pages["/w"] = "<p>x"
    with pytest.raises(UsageError, match="is not a selector"):
        world.render("/w", wait_for="li[")


def test_idle_waits_for_what_scripts_load(world: World):
    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.Response(text="from afar")

    world.pages["/i"] = (
        "<p id=p></p><script>fetch('/slow').then(r => r.text()).then(t => p.textContent = t)</script>"
    )
    world.pages["/slow"] = slow
    assert b"from afar" in world.render("/i", idle=True).body


def test_a_page_that_never_falls_silent_is_taken_as_it_is(world: World):
    world.pages["/busy"] = (
        "<p>here</p><script>setInterval(() => fetch('/tick?' + Math.random()), 100)</script>"
    )
    assert b"<p>here</p>" in world.render("/busy", Bounds(total=8), idle=True).body


def test_a_screenshot_is_a_picture_of_the_first_screen(world: World):
    world.pages["/a"] = BUILT + "<div style='height: 90000px'></div>"
    assert png_size(world.render("/a", screenshot=True).screenshot or b"") == (1280, 800)


def test_blocked_kinds_are_never_asked_for(world: World):
    world.pages[
        "/r"
    ] = """<img src=/a.png><video src=/a.mp4 autoplay></video><script src=/a.js></script><link rel=stylesheet href=/a.css>
        <style>@font-face {font-family: f; src: url(/a.woff)} p {font-family: f}</style><p>x</p>"""
    world.render("/r", idle=True)
    assert {"/r", "/a.js", "/a.css"} <= set(world.log)
    assert not {"/a.png", "/a.mp4", "/a.woff"} & set(world.log)
    world.log.clear()
    world.render("/r", idle=True, block=("script", "stylesheet"))
    assert "/a.png" in world.log
    assert not {"/a.js", "/a.css"} & set(world.log)


def test_what_cannot_be_blocked_is_named(world: World):
    with pytest.raises(UsageError, match="documents cannot be blocked; choose from"):
        world.render("/", block=("documents",))


@pytest.mark.parametrize("status", [404, 503])
def test_an_answer_of_400_and_above_is_a_page(world: World, status: int):
    world.pages["/full"] = answer(
        status=status, text="<p>sorry", content_type="text/html", headers={"retry-after": "7"}
    )
    world.pages["/empty"] = answer(status=status)
    page = world.render("/full")
    assert (page.status, page.headers["retry-after"]) == (status, "7")
    assert b"sorry" in page.body
    empty = world.render("/empty")
    assert (empty.status, empty.body) == (status, b"")


def test_a_page_that_asks_for_a_password_is_an_answer_too(world: World):
    world.pages["/secret"] = answer(
        status=401, text="members only", headers={"www-authenticate": "Basic realm=x"}
    )
    page = world.render("/secret")
    assert (page.status, page.headers["www-authenticate"]) == (401, "Basic realm=x")


def test_what_is_no_html_comes_as_the_document_a_browser_makes_of_it(world: World):
    world.pages["/j"] = answer(text='{"a": 1}', content_type="application/json")
    page = world.render("/j")
    assert b'{"a": 1}' in page.body
    assert page.content_type == "text/html"


def test_no_content_is_a_page_without_a_body(world: World):
    world.pages["/none"] = answer(status=204)
    page = world.render("/none")
    assert (page.status, page.body, page.final_url) == (204, b"", "http://site.example/none")


def test_redirects_by_server_and_by_script_are_hops(world: World):
    world.pages |= {
        "/1": redirect("/2"),
        "/2": "<script>location = 'http://other.example/3'</script>",
        "/3": "<h1>end</h1>",
    }
    page = world.render("/1", wait_for="h1")
    assert b"<h1>end</h1>" in page.body
    assert page.hops == ("http://site.example/2",)
    assert page.final_url == "http://other.example/3"


def test_redirects_in_a_circle_are_an_unreadable_answer(world: World):
    world.pages |= {"/1": redirect("/2"), "/2": redirect("/1")}
    with pytest.raises(Malformed):
        world.render("/1")


def test_a_page_that_reloads_for_ever_is_given_up(world: World):
    world.pages["/again"] = "<script>location.reload()</script>"
    with pytest.raises(Malformed, match="did not settle"):
        world.render("/again", wait_for="#never")


def test_an_address_that_scripts_wrote_is_the_final_one(world: World):
    world.pages["/app"] = "<script>history.pushState(0, '', '/app/offers')</script>"
    assert world.render("/app").final_url == "http://site.example/app/offers"


def test_nothing_of_one_page_is_seen_by_the_next(world: World):
    world.pages["/me"] = """<p id=p></p>
        <script>p.textContent = document.cookie + localStorage.x; document.cookie = 'a=1'; localStorage.x = 2</script>"""
    world.render("/me")
    assert b">undefined</p>" in world.render("/me").body


def test_dialogs_are_dismissed(world: World):
    world.pages["/d"] = (
        "<p id=p></p><script>alert(1); p.textContent = 'answer ' + prompt('?') + confirm('!')</script>"
    )
    assert b"answer nullfalse" in world.render("/d").body


def test_popups_come_to_nothing(world: World):
    world.pages["/p"] = """<p>x</p><a id=a target=_blank href=/popup>y</a>
        <script>for (let i = 0; i < 50; i++) open('/popup' + i); a.click()</script>"""
    assert b"<p>x</p>" in world.render("/p").body
    assert [path for path in world.log if path.startswith("/popup")] == []


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "application/zip"}, {"content-type": "text/html", "content-disposition": "attachment"}],
    ids=str,
)
def test_a_download_is_refused(world: World, headers: dict[str, str]):
    world.pages["/file"] = answer(body=b"x" * 1000, headers=headers)
    with pytest.raises(Refused, match="is a download, not a page"):
        world.render("/file")


def test_a_page_that_starts_a_download_stays_a_page(world: World):
    world.pages |= {
        "/dl": "<p>x</p><a id=a href=/file download>d</a><script>a.click()</script>",
        "/file": answer(body=b"x"),
    }
    assert b"<p>x</p>" in world.render("/dl").body


ZIP = {"content-type": "application/zip"}


@pytest.mark.parametrize(
    "instead", [answer(body=b"x", headers=ZIP), answer(status=204)], ids=["download", "204"]
)
def test_a_page_that_goes_nowhere_else_keeps_its_own_status_and_headers(world: World, instead):
    moves = "<p>x</p><script>onload = () => location = '/instead'</script>"
    page = answer(status=203, text=moves, content_type="text/html", headers={"x-mine": "yes"})
    world.pages |= {"/stay": page, "/instead": instead}
    found = world.render("/stay", idle=True)
    assert b"<p>x</p>" in found.body
    assert (found.status, found.headers.get("x-mine"), found.final_url, found.hops) == (
        203,
        "yes",
        "http://site.example/stay",
        (),
    )


def test_service_workers_do_not_start(world: World):
    world.pages["/sw"] = (
        "<p id=p></p><script>p.textContent = String(navigator.serviceWorker?.controller)</script>"
    )
    world.render("/sw")
    assert "/sw.js" not in world.log


@pytest.mark.promise(18)
def test_a_document_that_broke_off_is_not_taken_for_a_whole_one(world: World):
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-length": "1000", "content-type": "text/html"})
        await response.prepare(request)
        await response.write(b"<p>half")
        request.transport.close()
        return response

    world.pages["/cut"] = cut
    with pytest.raises(ConnectionFailed, match="cut off"):
        world.render("/cut")


@pytest.mark.promise(18)
def test_a_script_without_end_ends_with_the_time_limit_and_harms_nobody(world: World):
    world.pages |= {"/loop": "<p>x</p><script>while (true) {}</script>", "/a": BUILT}

    async def both():
        slow = asyncio.ensure_future(
            world.browsers[0].render("http://site.example/loop", Bounds(connect=1, read=1, total=2))
        )
        good = await world.browsers[0].render("http://site.example/a")
        return good, (await asyncio.gather(slow, return_exceptions=True))[0]

    good, problem = world.run(both())
    assert b"built" in good.body
    assert isinstance(problem, TimedOut)
    late = "<script>setTimeout(() => { while (true) {} }, 200)</script>"
    world.pages["/late"] = late
    with pytest.raises(TimedOut, match="still"):
        world.render("/late", Bounds(total=1), idle=True)
    assert b"built" in world.render("/a").body


@pytest.mark.promise(18)
def test_a_server_that_never_answers_ends_with_the_time_limit(world: World):
    async def hang(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    world.pages["/hang"] = hang
    with pytest.raises(TimedOut, match="within 2 s of loading the document"):
        world.render("/hang", Bounds(connect=1, read=1, total=10))


@pytest.mark.promise(18)
def test_a_document_over_the_limit_is_never_carried_out(world: World):
    world.pages["/big"] = "<p>x</p><script>document.body.append('y '.repeat(1e6))</script>"
    with pytest.raises(TooLarge, match="more than 1,000,000 bytes"):
        world.render("/big", Bounds(size=1_000_000, total=20))


@pytest.mark.promise(18)
def test_a_page_that_loads_without_end_is_stopped_by_the_byte(world: World):
    async def flood(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while not request.transport.is_closing():
            await response.write(b"x" * 65_536)
        return response

    world.pages |= {"/flood": "<script>fetch('/stream').then(r => r.text())</script>", "/stream": flood}
    with pytest.raises(TooLarge, match="more than 3,000,000 bytes"):
        world.render("/flood", wait_for="#never")


def test_five_at_once_share_a_pool_of_two(world: World):
    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.05)
        return web.Response(text=BUILT, content_type="text/html")

    world.pages["/slow"] = slow
    world.most_open = 0

    async def five():
        return await asyncio.gather(
            *(
                world.browsers[0].render(
                    f"http://site.example/slow?{number}", rendering=Rendering(idle=False)
                )
                for number in range(5)
            )
        )

    pages = world.run(five())
    assert [page.final_url for page in pages] == [f"http://site.example/slow?{number}" for number in range(5)]
    assert 1 <= world.most_open <= 2


def test_starting_is_told_once_before_the_server_hears_of_it(world: World):
    world.pages |= {
        "/s": "<script src=/1.js></script><script src=http://other.example/2.js></script>",
        "/1.js": "",
        "/2.js": "",
    }
    seen: list[int] = []

    async def before_send() -> None:
        seen.append(len(world.log))

    world.render("/s", idle=True, before_send=before_send)
    assert seen == [0]
    assert {"/s", "/1.js", "/2.js"} <= set(world.log)


@pytest.mark.parametrize(
    "problem", [Refused("the permit was lost"), RuntimeError("the permit was lost")], ids=["ours", "any"]
)
def test_a_start_that_is_refused_lets_nothing_out(world: World, problem: Exception):
    async def before_send() -> None:
        raise problem

    world.pages["/s"] = BUILT
    with pytest.raises(type(problem), match="the permit was lost"):
        world.render("/s", before_send=before_send)
    assert world.log == []


def test_https_is_rendered_where_the_operator_mapped_it_to_a_plain_place(world: World):
    world.pages |= {
        "/t": "<p id=p></p><script>fetch('/data').then(r => r.text()).then(t => p.textContent = t + location.protocol)</script>",
        "/data": answer(text="data over "),
        "/from": redirect("/t"),
    }
    page = world.render("https://secure.example/from", idle=True)
    assert b"data over https:" in page.body
    assert page.final_url == "https://secure.example/t"


def test_a_closed_browser_says_so(world: World):
    browser = world.browser()
    world.run(browser.close())
    with pytest.raises(UsageError, match="is closed"):
        world.run(browser.render("http://site.example/"))
