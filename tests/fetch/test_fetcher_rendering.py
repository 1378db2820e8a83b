"""A page that a browser did something on: which copy serves it, and which rules still hold."""

import pytest

from tests.fetch.desk import FRESH, SHOP, at
from tests.fetch.site import page
from tests.harness.databases import only_sqlite
from thresher.core.errors import Refused, UsageError
from thresher.core.page import Via
from thresher.core.rendering import Click, Collect, Rendering, Wait

__all__ = ["at"]

pytestmark = only_sqlite

BUTTON = """<p id=p>before</p><button>x</button><a href=/b>b</a>
<script>document.querySelector("button").onclick = () => p.textContent = "af" + "ter"</script>"""
CLICKED = Rendering(idle=False, steps=(Click("button"),))


def rendered(at, says, story, **settings):
    async def with_browser(desk):
        worker = desk.another_worker(browser=True)
        try:
            return await story(desk, lambda **how: desk.fetch(by=worker, **{"render": True, **how}))
        finally:
            await worker.close()

    return at(says, with_browser, **settings)


@pytest.mark.promise(2)
def test_a_copy_serves_only_the_rendering_it_was_made_by(at):
    async def story(desk, fetch):
        plain = await fetch(rendering=Rendering(idle=False))
        clicked = await fetch(rendering=CLICKED)
        assert (b"before" in plain.body, b"after" in clicked.body) == (True, True)
        again = await fetch(rendering=CLICKED)
        assert (again.body, again.via) == (clicked.body, Via.CACHE)
        assert (await fetch(rendering=Rendering(idle=False))).body == plain.body
        assert desk.pages() == ["/a", "/a"]

    rendered(at, {"shop.example/a": page(BUTTON, **FRESH)}, story)


@pytest.mark.promise(2)
def test_a_copy_without_a_picture_serves_nobody_who_asks_for_one_and_the_other_way_round(at):
    async def story(desk, fetch):
        await fetch(rendering=Rendering())
        pictured = [await fetch(rendering=Rendering(screenshot=True)) for _ in range(2)]
        assert [(each.via, bool(each.screenshot)) for each in pictured] == [(Via.BROWSER, True)] * 2
        collected = [await fetch(rendering=Rendering(collect=Collect("a", wait=2))) for _ in range(2)]
        assert [(each.via, each.collected) for each in collected] == [(Via.BROWSER, (f"{SHOP}/b",))] * 2
        assert (await fetch()).via is Via.CACHE, "the default is the plain rendering"

    rendered(at, {"shop.example/a": page(BUTTON, **FRESH)}, story)


def test_replay_finds_the_same_rendering_and_no_other(at):
    async def story(desk, fetch):
        await fetch(rendering=CLICKED)
        assert b"after" in (await fetch(rendering=CLICKED, replay=True)).body
        with pytest.raises(Refused, match="is not stored"):
            await fetch(rendering=Rendering(wait_for="p"), replay=True)
        with pytest.raises(UsageError, match="is never stored"):
            await fetch(rendering=Rendering(screenshot=True), replay=True)

    rendered(at, {"shop.example/a": page(BUTTON, **FRESH)}, story)


@pytest.mark.parametrize("render", [False, None])
def test_what_a_browser_is_to_do_needs_a_browser(at, render):
    async def story(desk):
        with pytest.raises(UsageError, match="add render=True"):
            await desk.fetch(render=render, rendering=CLICKED)
        assert desk.pages() == []

    at({"shop.example/a": page(BUTTON)}, story)


@pytest.mark.promise(16)
def test_a_click_to_where_robots_forbids_brings_no_page(at):
    async def story(desk, fetch):
        with pytest.raises(Refused, match=r"robots\.txt"):
            await fetch(rendering=Rendering(idle=False, steps=(Click("a"), Wait("h1"))))
        found = await fetch(rendering=Rendering(idle=False, collect=Collect("a", wait=2)))
        assert found.collected == (f"{SHOP}/b",)
        assert desk.pages() == ["/a", "/b", "/a"], "collecting loads nothing"

    says = {
        "shop.example/a": page(BUTTON),
        "shop.example/b": "<h1>private</h1>",
        "shop.example/robots.txt": "User-agent: *\nDisallow: /b",
    }
    rendered(at, says, story)
