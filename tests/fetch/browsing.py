"""A world for the browser's tests: a real Chromium, a real server that answers for every `.example` host, one
loop for both."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import psutil
import pytest
from aiohttp import web

from thresher.core.page import Page
from thresher.core.rendering import Rendering
from thresher.fetch.browser import Browser
from thresher.fetch.chromium import find
from thresher.fetch.guard import Guard
from thresher.fetch.request import Bounds
from thresher.fetch.resolver import MappedResolver, SystemResolver

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
BOUNDS = Bounds(connect=3, read=5, total=10)


@dataclass
class World:
    """`pages` says what the server answers, by path; `log` has what it was asked."""

    runner: asyncio.Runner
    port: int = 0
    pages: dict[str, str | Handler] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    browsers: list[Browser] = field(default_factory=list)

    def run(self, act: Awaitable[T]) -> T:
        async def act_now() -> T:
            return await act

        return self.runner.run(act_now())

    def browser(self, size: int = 2, **options: Any) -> Browser:
        rules = {"*.example": f"http://127.0.0.1:{self.port}"}
        made = Browser(size, MappedResolver(rules, SystemResolver()), Guard(), **options)
        self.browsers.append(made)
        return made

    def render(self, path: str = "/", bounds: Bounds = BOUNDS, **options: Any) -> Page:
        """By the world's first browser; waiting for silence only where the test is about it, for it takes its
        time."""
        options.setdefault("idle", False)
        before_send = options.pop("before_send", None)
        url = path if "://" in path else f"http://site.example{path}"
        rendering = Rendering(**options)
        return self.run(self.browsers[0].render(url, bounds, rendering=rendering, before_send=before_send))

    async def start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        serving = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await serving.setup()
        await web.TCPSite(serving, "127.0.0.1", 0).start()
        self.port = serving.addresses[0][1]
        return serving

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.log.append(request.path)
        self.agents.append(request.headers.get("user-agent", ""))
        page = self.pages.get(request.path)
        if page is None:
            return web.Response(status=404, text="not here")
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            return (
                web.Response(text=page, content_type="text/html")
                if isinstance(page, str)
                else await page(request)
            )
        finally:
            self.open_now -= 1


@contextmanager
def a_world(**options: Any) -> Iterator[World]:
    """Without a Chromium the tests fail: what was not tried is not kept."""
    if find() is None:
        pytest.fail("there is no Chromium: run python -m thresher.fetch.chromium")
    with asyncio.Runner() as runner:
        world = World(runner)
        serving = runner.run(world.start())
        world.browser(**options)
        try:
            yield world
        finally:
            for browser in world.browsers:
                runner.run(browser.close())
            runner.run(serving.cleanup())


def family(of: int | None = None) -> set[int]:
    """Processes below one (this one), without the dead."""
    found = psutil.Process(of).children(recursive=True)
    return {each.pid for each in found if alive(each.pid)}


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def png_size(picture: bytes) -> tuple[int, int]:
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])
