"""What is done on a page before it is taken: clicks, waits, pictures, and the addresses behind clicks."""

import json
import zlib
from collections.abc import Iterator

import pytest
from aiohttp import web

from tests.fetch.browsing import World, a_world
from thresher.core.errors import Malformed, NotClickable, Refused, TimedOut, TooLarge, UsageError
from thresher.core.rendering import Click, Collect, Wait
from thresher.fetch.request import Bounds

# Three rows at a time; `left` more portions come from the server, and then the end.
MORE = """<ul id=list></ul><button class=more>Load more</button><script>
let page = 0;
const list = document.getElementById("list"), more = document.querySelector(".more");
const add = rows => rows.forEach(row => list.insertAdjacentHTML("beforeend", `<li>${row}</li>`));
async function load() {
    more.disabled = true;
    const answer = await (await fetch("/rows?page=" + page++)).json();
    more.disabled = false;
    add(answer.rows);
    if (answer.last) { END }
}
more.onclick = load; load();
</script>"""
PORTIONS = 4


async def rows(request: web.Request) -> web.Response:
    page = int(request.query["page"])
    some = [f"row {page}.{number}" for number in range(3)] if page < PORTIONS else []
    return web.Response(
        text=json.dumps({"rows": some, "last": page >= PORTIONS - 1}), content_type="application/json"
    )


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with a_world() as world:
        yield world


@pytest.fixture
def world(shared: World) -> World:
    shared.pages.clear()
    shared.pages["/rows"] = rows
    shared.log.clear()
    return shared


def listed(body: bytes) -> list[str]:
    return [part.partition("<")[0] for part in body.decode().split("<li>")[1:] if part.startswith("row")]


ALL = [f"row {page}.{number}" for page in range(PORTIONS) for number in range(3)]


@pytest.mark.parametrize(
    "end",
    ["more.remove()", "more.disabled = true", "more.hidden = true", "more.onclick = null"],
    ids=["gone", "disabled", "hidden", "without effect"],
)
def test_load_more_is_clicked_until_there_is_no_more(world: World, end: str):
    world.pages["/m"] = MORE.replace("END", end)
    page = world.render("/m", Bounds(total=20), wait_for="li", steps=(Click(".more", repeat=50, wait=2),))
    assert (listed(page.body), page.unfinished) == (ALL, ())
    assert world.log.count("/rows") == PORTIONS


def test_load_more_is_clicked_so_many_times_and_no_more_often(world: World):
    world.pages["/m"] = MORE.replace("END", "")
    page = world.render("/m", wait_for="li", steps=(Click("button:has-text('load more')", repeat=2, wait=2),))
    assert listed(page.body) == ALL[:9]
    assert page.unfinished == ("button:has-text('load more')",), "there was more"


def test_a_button_that_is_disabled_from_the_start_has_nothing_to_load(world: World):
    world.pages["/m"] = "<li>row 1</li><button class=more disabled>more</button>"
    assert listed(world.render("/m", steps=(Click(".more", repeat=9, wait=0.5),)).body) == ["row 1"]


def test_steps_are_taken_in_their_order(world: World):
    world.pages["/s"] = """<button id=a>a</button><p id=p></p><script>
        a.onclick = () => { p.textContent += "a"; setTimeout(() => p.innerHTML += "<button id=b>b</button>", 300) };
        document.onclick = e => { if (e.target.id == "b") p.innerHTML += "<i>done</i>" };</script>"""
    page = world.render("/s", steps=(Click("#a"), Wait("#b"), Click("#b"), Wait(0.1)))
    assert b"<i>done</i>" in page.body


def test_a_click_that_leads_to_another_page_is_followed(world: World):
    world.pages |= {"/1": "<a href=/2>next</a>", "/2": "<h1>second</h1>"}
    page = world.render("/1", steps=(Click("a"), Wait("h1")))
    assert b"<h1>second</h1>" in page.body
    assert page.final_url == "http://site.example/2"


@pytest.mark.parametrize(
    "what", [{"steps": (Click("#none", wait=0.3),)}, {"collect": Collect("#none", wait=0.3)}]
)
def test_a_selector_that_matches_nothing_is_named(world: World, what):
    world.pages["/n"] = "<p>x"
    with pytest.raises(NotClickable, match="nothing on the page matches '#none'") as caught:
        world.render("/n", **what)
    assert (caught.value.selector, caught.value.gate) == ("#none", "host:site.example")


def test_an_optional_click_is_left_out_where_nothing_matches_or_shows(world: World):
    world.pages["/n"] = "<p>x</p><button style='display: none'>accept</button>"
    steps = (Click("#none", wait=0.2, optional=True), Click("button", wait=0.2, optional=True))
    page = world.render("/n", steps=steps, collect=Collect("#none", wait=0.2, optional=True))
    assert b"<p>x</p>" in page.body
    assert (page.collected, page.not_collected) == ((), 0)


def test_what_something_lies_over_cannot_be_clicked_and_is_named(world: World):
    world.pages["/o"] = "<button>go</button><div style='position: fixed; inset: 0; background: red'></div>"
    with pytest.raises(NotClickable, match=r"'button' could not be clicked within 0.5 s"):
        world.render("/o", steps=(Click("button", wait=0.5),))


def test_what_only_the_browser_knows_to_be_no_selector_is_refused_before_anything_is_requested(world: World):
    world.pages["/w"] = "<p>x"
    with pytest.raises(UsageError, match="'p::::x' is not a selector"):
        world.render("/w", steps=(Click("p::::x"),))
    with pytest.raises(UsageError, match="is not a selector"):
        world.render("/w", collect=Collect("//p"))
    assert world.log == []


def test_waiting_for_what_never_comes_is_named_when_time_is_up(world: World):
    world.pages["/w"] = "<p>x"
    with pytest.raises(TimedOut, match=r"within 2 s; it was still waiting for '#never'"):
        world.render("/w", steps=(Wait("#never"),), seconds=2)


# --- pictures


def picture_color(picture: bytes) -> tuple[int, ...]:
    """The first pixel of a PNG of eight bits a channel."""
    at, data, channels = 8, b"", 3
    while at < len(picture):
        size, kind = int.from_bytes(picture[at : at + 4]), picture[at + 4 : at + 8]
        chunk = picture[at + 8 : at + 8 + size]
        channels = {2: 3, 6: 4}[chunk[9]] if kind == b"IHDR" else channels
        data += chunk if kind == b"IDAT" else b""
        at += size + 12
    return tuple(zlib.decompressobj().decompress(data, channels + 1)[1:4])


async def red(request: web.Request) -> web.Response:
    square = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90" fill="red"/></svg>'
    return web.Response(text=square, content_type="image/svg+xml")


def test_a_screenshot_shows_the_images_of_the_page_after_its_steps(world: World):
    world.pages |= {
        "/i": "<body style='margin: 0'><button>show</button><script>document.querySelector('button').onclick = () => "
        "document.body.innerHTML = '<img src=/red.svg>'</script>",
        "/red.svg": red,
    }
    page = world.render("/i", idle=True, screenshot=True, steps=(Click("button"), Wait(0.3)))
    assert picture_color(page.screenshot or b"") == (255, 0, 0)
    world.log.clear()
    assert world.render("/i", steps=(Click("button"), Wait(0.3))).screenshot is None
    assert "/red.svg" not in world.log


# --- addresses behind clicks

HIDDEN = """<div id=app></div><script>
const draw = () => app.innerHTML = [1, 2, 3].map(n => `<p class=c data-n=${n}>course ${n}</p>`).join("");
draw();
document.onclick = e => { if (e.target.dataset.n) go(e.target.dataset.n) };
GO
</script>"""
LOCATION = "const go = n => fetch('/id?n=' + n).then(() => location = '/course/' + n);"
WINDOW = "const go = n => open('/course/' + n);"
PUSH = """const go = n => { history.pushState(0, '', '/course/' + n); app.innerHTML = 'details of ' + n };
onpopstate = () => setTimeout(draw, 150);"""
REPLACE = "const go = n => history.replaceState(0, '', '/course/' + n);"
COURSES = tuple(f"http://site.example/course/{number}" for number in (1, 2, 3))


@pytest.mark.parametrize(
    "go", [LOCATION, WINDOW, PUSH, REPLACE], ids=["location", "window", "push", "replace"]
)
def test_addresses_that_exist_only_after_a_click_are_collected_without_loading_them(world: World, go: str):
    async def number(request: web.Request) -> web.Response:
        return web.Response(text="ok")

    world.pages |= {"/c": HIDDEN.replace("GO", go), "/id": number}
    page = world.render("/c", Bounds(total=20), collect=Collect("p.c", wait=3))
    assert (page.collected, page.not_collected) == (COURSES, 0)
    assert [path for path in world.log if path.startswith("/course")] == []
    assert b"course 3" in page.body
    assert page.final_url == "http://site.example/c"
    assert page.hops == ()


def test_a_click_without_another_address_gives_none_and_is_counted(world: World):
    world.pages["/c"] = """<a class=c href=/a>a</a><span class=c>nothing</span><a class=c href=/a>again</a>
        <form action=/buy method=post><button class=c>buy</button></form><a class=c href='mailto:a@b.example'>m</a>
        <a class=c href=/b target=_blank>b</a>"""
    page = world.render("/c", Bounds(total=20), collect=Collect(".c", wait=0.5))
    assert page.collected == ("http://site.example/a", "http://site.example/b")
    assert page.not_collected == 3
    assert world.log == ["/c"]


def test_no_more_elements_are_clicked_than_the_limit_says(world: World):
    world.pages["/c"] = "".join(f"<a class=c href=/{number}>{number}</a> " for number in range(50))
    page = world.render("/c", Bounds(total=30), collect=Collect(".c", limit=30, wait=1))
    assert page.collected == tuple(f"http://site.example/{number}" for number in range(30))
    assert page.not_collected == 20


def test_elements_that_do_not_come_back_are_counted_as_not_collected(world: World):
    once = "const go = n => { history.pushState(0, '', '/course/' + n); app.innerHTML = 'details' };"
    world.pages["/c"] = HIDDEN.replace("GO", once)
    page = world.render("/c", Bounds(total=20), collect=Collect("p.c", wait=0.5))
    assert (page.collected, page.not_collected) == (COURSES[:1], 2)


def test_collecting_ends_with_the_time_limit_and_says_how_far_it_came(world: World):
    world.pages["/c"] = "<p class=c>nothing</p>" * 100
    with pytest.raises(TimedOut, match=r"still clicking element \d+ of the 100 that match 'p.c'"):
        world.render("/c", collect=Collect("p.c", wait=0.4), seconds=3)


@pytest.mark.promise(17)
@pytest.mark.parametrize("place", ["http://127.0.0.1:{}/x", "http://169.254.169.254/"])
def test_a_click_reaches_nothing_that_the_fetcher_may_not(world: World, place: str):
    world.pages["/a"] = f"<a href='{place.format(world.port)}'>x</a>"
    with pytest.raises(Refused, match=r"fetch\.allow"):
        world.render("/a", steps=(Click("a"), Wait(0.5)), seconds=5)
    assert world.log == ["/a"]


@pytest.mark.promise(17)
def test_a_click_opens_no_file(world: World):
    world.pages["/a"] = "<p>stays</p><a href='file:///etc/passwd'>x</a>"
    page = world.render("/a", steps=(Click("a", wait=0.5),), collect=Collect("a", wait=0.5))
    assert b"<p>stays</p>" in page.body
    assert (page.collected, page.not_collected) == ((), 1)


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("trap", "error"),
    [
        ("document.onclick = () => { while (true) {} }", TimedOut),
        ("document.onclick = () => setInterval(() => document.body.append('x '.repeat(1e6)), 1)", TooLarge),
        (
            "document.onclick = () => location.reload(); onload = () => document.body.append(Math.random())",
            Malformed,
        ),
    ],
    ids=["a loop", "growth", "reloads"],
)
def test_a_page_that_answers_clicks_with_malice_ends_with_the_limits(
    world: World, trap: str, error: type[Exception]
):
    world.pages["/t"] = f"<button>x</button><script>{trap}</script>"
    world.pages["/good"] = "<h1>good</h1>"
    total = 3 if error is TimedOut else 120
    # A click after which nothing has changed for so long is the last: to load the page again may take a busy
    # machine longer than half a second.
    clicks = Click("button", repeat=30, wait=20 if error is Malformed else 0.5)
    with pytest.raises(error):
        world.render("/t", Bounds(total=total, size=1_000_000), steps=(clicks,))
    assert b"good" in world.render("/good").body
