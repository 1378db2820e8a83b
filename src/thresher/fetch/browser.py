"""The browser transport: renders a page that only scripts can build, and returns it like any other.

Rendering is expensive, so few pages are open at once; each in a fresh context, so that nothing of one page
(cookies, storage, cache) is seen by the next. Whatever a page does to the browser, the next page gets a
working one.
"""

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from thresher.core.clock import Clock, SystemClock
from thresher.core.errors import NoBrowser, TaskError, TimedOut, UsageError
from thresher.core.page import Page
from thresher.core.rendering import Rendering
from thresher.fetch.chromium import ADVICE, EXTRA, Chromium, extra_is_installed, find
from thresher.fetch.guard import Guard
from thresher.fetch.proxy import Proxy
from thresher.fetch.rendering import Visit, VisitAlarm
from thresher.fetch.request import BeforeSend, Bounds
from thresher.fetch.resolver import Resolver

if TYPE_CHECKING:
    from thresher.fetch.process import Process
    from thresher.fetch.tab import Tab

MEMORY = 1 << 30
TRAFFIC = 64 << 20
SERVED = 500  # pages, after which a browser is replaced: it and its driver only ever grow


class Browser:
    """A pool of `size` pages in one Chromium, which is started at the first page. Use it in one event loop,
    and close it.

    `memory` is what one process of it may hold and `traffic` what one page may load, in bytes. `agent` is
    added to the browser's own name. `chromium` is found if it is not given.
    """

    def __init__(
        self,
        size: int,
        resolver: Resolver,
        guard: Guard,
        *,
        agent: str | None = None,
        memory: int = MEMORY,
        traffic: int = TRAFFIC,
        chromium: Chromium | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._resolver, self._guard, self._agent = resolver, guard, agent
        self._memory, self._traffic, self._chromium = memory, traffic, chromium
        self._clock = clock or SystemClock()
        self._slots = asyncio.Semaphore(size)
        self._starting = asyncio.Lock()
        self._process: Process | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        self._closed = False

    async def render(
        self,
        url: str,
        bounds: Bounds | None = None,
        *,
        rendering: Rendering | None = None,
        before_send: BeforeSend | None = None,
    ) -> Page:
        """The page as a visitor would see it. An answer of 400 and above is a page too.

        `rendering` says what is done on it. `before_send` is awaited once, when the first connection stands.
        The time limit begins when a place in the pool is free.
        """
        wish = Visit(url, bounds or Bounds(), rendering or Rendering())
        target = self._guard.check_url(url)
        async with self._slots:
            process = await self._running()
            process.pages += 1
            process.served += 1
            try:
                return await self._visit(process, wish, before_send)
            except TaskError as problem:
                problem.gate = problem.gate or f"host:{target.host}"
                raise
            finally:
                process.pages -= 1
                self._retire(process)

    async def close(self) -> None:
        """Pages in flight fail; when this returns no process is left."""
        self._closed = True
        if self._process is not None:
            self._part(self._process)
        while self._farewells:
            await asyncio.gather(*self._farewells)

    async def _running(self) -> "Process":
        async with self._starting:
            if self._closed:
                raise UsageError("this browser is closed; open another")
            if self._process is not None:
                self._retire(self._process)
            if self._process is None:
                self._process = await _process_class().start(self._chromium or _found(), self._memory)
            return self._process

    async def _visit(self, process: "Process", wish: Visit, before_send: BeforeSend | None) -> Page:
        alarm = VisitAlarm()
        proxy = Proxy(
            self._resolver,
            self._guard,
            connect=wish.bounds.connect,
            most=self._traffic,
            alarm=alarm.ring,
            before_send=before_send,
        )
        await proxy.open()
        tab = _tab_class()(process, proxy, wish, alarm)
        visit = asyncio.ensure_future(tab.visit(self._agent, self._clock.now()))
        try:
            done, _ = await asyncio.wait(
                {visit, alarm.bell}, timeout=wish.total, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                raise TimedOut(f"{wish.url} was not ready within {wish.total:g} s; it was still {tab.doing}")
            return (alarm.bell if alarm.bell in done else visit).result()
        finally:
            # Whoever cancels us is answered at once at the second time of asking; the tidying goes on.
            await asyncio.shield(self._later(_tidy(visit, alarm, proxy)))

    def _retire(self, process: "Process") -> None:
        """Let go of a browser that is dead, stuck or old: no new pages, and away with it when its last page
        has left.
        """
        if self._process is process and (not process.alive or process.served >= SERVED):
            self._process = None
        if self._process is not process and process.pages == 0:
            self._part(process)

    def _part(self, process: "Process") -> None:
        if self._process is process:
            self._process = None
        self._later(process.close())

    def _later(self, act: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(act)
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)
        return task


async def _tidy(visit: "asyncio.Task[Page]", alarm: VisitAlarm, proxy: Proxy) -> None:
    visit.cancel()
    await asyncio.gather(visit, return_exceptions=True)
    if alarm.problem is None:
        alarm.bell.cancel()
    await proxy.close()


def _found() -> Chromium:
    found = find()
    if found is None:
        raise NoBrowser(f"no Chromium was found to render pages: {ADVICE}")
    return found


def _process_class() -> "type[Process]":
    if not extra_is_installed():
        raise NoBrowser(f"rendering pages needs an extra that is not installed: {EXTRA}, then {ADVICE}")
    from thresher.fetch.process import Process  # noqa: PLC0415  an extra, and slow to import

    return Process


def _tab_class() -> "type[Tab]":
    from thresher.fetch.tab import Tab  # noqa: PLC0415  an extra, and slow to import

    return Tab
