"""A small web on loopback that answers for every host name, and remembers what it was asked, in its own words
and times."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(slots=True)
class Asked:
    """One request as the server saw it. `at` and `until` are on its monotonic clock; `beside` counts those
    under way at that host."""

    host: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    beside: int
    until: float = 0.0


Say = Callable[[Asked], web.Response]


def page(text: str = "<title>a page</title><p>with words", status: int = 200, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, body=text.encode(), headers={"content-type": "text/html"} | named)


def moved(to: str, status: int = 302) -> web.Response:
    return web.Response(status=status, headers={"location": to})


@dataclass
class Site:
    """`says` maps "host/path" to an answer, or to a function of what was asked. Without a robots.txt of its
    own a host has none."""

    says: dict[str, Any] = field(default_factory=dict)
    log: list[Asked] = field(default_factory=list)
    under_way: dict[str, int] = field(default_factory=dict)
    takes: dict[str, float] = field(default_factory=dict)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def paths(self, host: str | None = None) -> list[str]:
        return [asked.path for asked in self.log if host in (None, asked.host)]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        at = time.monotonic()
        host = request.host.partition(":")[0]
        beside = self.under_way[host] = self.under_way.get(host, 0) + 1
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(host, request.method, request.path_qs, headers, await request.read(), at, beside)
        self.log.append(asked)
        try:
            if request.path in self.takes:
                await asyncio.sleep(self.takes[request.path])  # a server that takes its time
            return self._response(asked, request.path)
        finally:
            self.under_way[host] -= 1
            asked.until = time.monotonic()

    def _response(self, asked: Asked, path: str) -> web.StreamResponse:
        said = self.says.get(
            f"{asked.host}{path}",
            self.says.get(asked.host, self.says.get("*") if path != "/robots.txt" else None),
        )
        if path == "/robots.txt" and f"{asked.host}{path}" not in self.says:
            said = None
        if said is None:
            return (
                web.Response(status=404, text="nothing here")
                if path == "/robots.txt" or "*" not in self.says
                else page()
            )
        if callable(said):
            return said(asked)
        if isinstance(said, str):
            return page(said)
        return web.Response(status=said.status, body=said.body, headers=said.headers)


@contextlib.asynccontextmanager
async def open_site(says: dict[str, Any] | None = None) -> AsyncIterator[Site]:
    site = Site(says or {})
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    site.port = runner.addresses[0][1]
    try:
        yield site
    finally:
        await runner.cleanup()
