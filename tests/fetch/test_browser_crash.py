"""Whatever happens to the browser, the next page gets a working one, and nothing is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from tests.fetch.browsing import World, a_world, alive, family
from thresher.core.errors import ConnectionFailed, TooLarge, UsageError
from thresher.core.page import Page
from thresher.core.rendering import Rendering
from thresher.fetch import browser as browser_module
from thresher.fetch.rendering import POOL
from thresher.fetch.request import Bounds

MEMORY = 500 << 20
WAITING = "http://site.example/waiting"
NEVER, AT_ONCE = Rendering(wait_for="#never"), Rendering(idle=False)
BUFFERS = "<script>const a = []; setInterval(() => { const b = new Uint8Array(2e7); b.fill(7); a.push(b) }, 40)</script>"
NUMBERS = "<script>const a = []; setInterval(() => a.push(new Array(1e6).fill(Math.random())), 20)</script>"


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with a_world(memory=MEMORY) as world:
        yield world


@pytest.fixture
def world(shared: World) -> World:
    shared.arrived = asyncio.Event()  # type: ignore[attr-defined]

    async def arrive(request: web.Request) -> web.Response:
        shared.arrived.set()  # type: ignore[attr-defined]
        return web.Response()

    shared.pages = {
        "/good": "<h1>good</h1>",
        "/waiting": "<script>fetch('/arrived')</script>",
        "/arrived": arrive,
    }
    return shared


def in_the_middle(world: World, strike: Callable[[], None]) -> object:
    """Strike when a page is loaded and waits for something that never comes; how that page ended."""

    async def walk() -> object:
        visit = asyncio.ensure_future(world.browsers[0].render(WAITING, Bounds(total=20), rendering=NEVER))
        await world.arrived.wait()  # type: ignore[attr-defined]
        strike()
        return (await asyncio.gather(visit, return_exceptions=True))[0]

    return world.run(walk())


def struck(what: str) -> None:
    """Kill the processes below us whose command line says `what`."""
    victims = [each for each in psutil.Process().children(recursive=True) if what in " ".join(_command(each))]
    assert victims
    for each in victims:
        os.kill(each.pid, signal.SIGKILL)


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "what", ["--thresher=", "run-driver", "--type=renderer"], ids=["browser", "driver", "page"]
)
def test_a_kill_in_the_middle_is_a_failure_worth_another_try_and_the_next_page_works(world: World, what: str):
    problem = in_the_middle(world, lambda: struck(what))
    assert isinstance(problem, ConnectionFailed)
    assert problem.gate == POOL, "the site is not to blame"
    assert b"good" in world.render("/good").body


@pytest.mark.promise(18)
@pytest.mark.parametrize("hog", [BUFFERS, NUMBERS], ids=["beside the heap", "on the heap"])
def test_a_page_that_eats_memory_is_killed_and_the_others_go_on(world: World, hog: str):
    world.pages["/hog"] = hog

    async def both() -> tuple[object, Page]:
        render = world.browsers[0].render
        bad = asyncio.ensure_future(render("http://site.example/hog", Bounds(total=20), rendering=NEVER))
        good = await render("http://site.example/good", rendering=Rendering(wait_for="h1"))
        return (await asyncio.gather(bad, return_exceptions=True))[0], good

    before = world.run(_process(world))
    problem, good = world.run(both())
    assert isinstance(problem, TooLarge), problem
    assert "memory" in str(problem)
    assert b"good" in good.body
    assert world.run(_process(world)) is before, "one page fell, not the browser"


async def _process(world: World) -> object:
    await world.browsers[0].render("http://site.example/good", rendering=AT_ONCE)
    return world.browsers[0]._process


def test_a_page_nobody_waits_for_any_more_makes_room(world: World):
    async def walk() -> Page:
        visits = [asyncio.ensure_future(world.browsers[0].render(WAITING, rendering=NEVER)) for _ in range(2)]
        await world.arrived.wait()  # type: ignore[attr-defined]
        for visit in visits:
            visit.cancel()
        ended = await asyncio.gather(*visits, return_exceptions=True)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 2
        return await world.browsers[0].render("http://site.example/good", rendering=AT_ONCE)

    assert b"good" in world.run(walk()).body


def test_a_browser_that_has_served_long_enough_is_replaced(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(browser_module, "SERVED", 2)
    browser = world.browser()

    async def first_and_third() -> tuple[object, object]:
        seen = []
        for _ in range(3):
            await browser.render("http://site.example/good", rendering=AT_ONCE)
            seen.append(browser._process)
        return seen[0], seen[2]

    first, third = world.run(first_and_third())
    assert first is not third
    world.run(browser.close())


def test_closing_leaves_no_process_and_no_folder(world: World):
    before = family()
    browser = world.browser()

    async def walk() -> tuple[set[int], list[Path], object]:
        visit = asyncio.ensure_future(browser.render(WAITING, rendering=NEVER))
        await world.arrived.wait()  # type: ignore[attr-defined]
        ours, folders = family() - before, browser._process._folders
        assert ours
        assert all(folder.is_dir() for folder in folders)
        await browser.close()
        return ours, folders, (await asyncio.gather(visit, return_exceptions=True))[0]

    ours, folders, problem = world.run(walk())
    assert [pid for pid in ours if alive(pid)] == []
    assert [folder for folder in folders if folder.exists()] == []
    assert isinstance(problem, ConnectionFailed)


CHILD = """
import asyncio, sys
from thresher.core.rendering import Rendering
from thresher.fetch.browser import Browser
from thresher.fetch.guard import Guard
from thresher.fetch.resolver import MappedResolver, SystemResolver
async def main():
    browser = Browser(1, MappedResolver({"*": sys.argv[1]}, SystemResolver()), Guard())
    await browser.render("http://site.example/good")
    print("rendered", flush=True)
    await browser.render("http://site.example/good", rendering=Rendering(wait_for="#never"))
asyncio.run(main())
"""


def test_when_we_are_killed_the_browser_goes_too(world: World):
    async def walk() -> set[int]:
        place = f"http://127.0.0.1:{world.port}"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, place, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert await asyncio.wait_for(child.stdout.readline(), 30) == b"rendered\n"
        ours = family(child.pid)
        child.kill()
        await child.wait()
        return ours

    ours = world.run(walk())
    assert len(ours) > 3
    _, left = psutil.wait_procs([psutil.Process(pid) for pid in ours if alive(pid)], timeout=10)
    assert [each.pid for each in left if alive(each.pid)] == []


def test_without_the_extra_there_is_a_sentence(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(browser_module, "extra_is_installed", lambda: False)
    with pytest.raises(UsageError, match=r"pip install 'thresher\[browser\]'"):
        world.run(world.browser().render("http://site.example/"))
