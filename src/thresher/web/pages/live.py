"""Pages that keep up: a stream of server-sent events tells open pages that the database has changed, and the
script of the pages fetches and swaps their live parts.

Nobody asks a table for that. One look at the database's own mark serves all open pages, and while no page is
open there is none.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from starlette.responses import Response, StreamingResponse

from thresher.admin.keys import Admitted
from thresher.admin.logins import admit_login
from thresher.core.clock import monotonic
from thresher.core.errors import ThresherError
from thresher.store.store import Store
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import Problem

STILL_HERE = 15.0  # seconds: a proxy closes what says nothing for longer
LOGIN_CHECK = 60.0  # seconds: whoever is logged out elsewhere is told nothing any more
RETRY = 3_000  # milliseconds before a browser connects again


class Changes:
    """Watches the database of one server while somebody listens."""

    def __init__(self, store: Store, interval: Callable[[], float]) -> None:
        self._store, self._interval = store, interval
        self._mark = 0
        self._turned = asyncio.Condition()
        self._watch: asyncio.Task[None] | None = None
        self.listeners = 0
        self.is_closed = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Watch for the length of a block."""
        self.listeners += 1
        if self._watch is None:
            self._watch = asyncio.create_task(self._look())
        try:
            yield
        finally:
            self.listeners -= 1
            if not self.listeners and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    async def after(self, mark: int, patience: float) -> int:
        """Wait for a change after this mark, or for so many seconds. Return the mark: it counts changes."""
        try:
            async with asyncio.timeout(patience), self._turned:
                await self._turned.wait_for(lambda: self._mark != mark or self.is_closed)
        except TimeoutError:
            pass
        return self._mark

    async def close(self) -> None:
        """Let every stream end: the server stops."""
        self.is_closed = True
        async with self._turned:
            self._turned.notify_all()

    async def _look(self) -> None:
        seen: int | None = None
        while True:
            try:
                found: int | None = await self._store.run(self._store.backend.change_mark)
            except ThresherError:
                found = None  # a database that is away has changed once it is back
            if found is None or found != seen:
                seen = found
                async with self._turned:
                    self._mark += 1
                    self._turned.notify_all()
            await asyncio.sleep(self._interval())


async def live(page_request: PageRequest) -> Response:
    """Send an event whenever the database has changed, for the script of the pages."""
    store, changes = page_request.runtime.store, page_request.request.app.state.changes
    if changes.is_closed or changes.listeners >= store.settings.count("web.live_pages"):
        return Problem(
            503, "TooManyLivePages", "this server keeps no further page up to date (web.live_pages)"
        ).response()
    return StreamingResponse(
        _stream(store, changes, page_request.token),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def _stream(store: Store, changes: Changes, token: str) -> AsyncIterator[str]:
    yield f"retry: {RETRY}\n\n"
    with changes.listening():
        # Whatever changed between the page and its stream is news, too: the first look always ends with one.
        mark, checked = -1, monotonic()
        while not changes.is_closed:
            now = await changes.after(mark, STILL_HERE)
            if monotonic() - checked > LOGIN_CHECK:
                checked = monotonic()
                if not isinstance(await store.run(admit_login, store, token), Admitted):
                    yield "event: logged-out\ndata: -\n\n"
                    return
            yield f"event: change\ndata: {now}\n\n" if now != mark else ": nothing new\n\n"
            mark = now


PAGES = (DashboardPage("GET", "/live", live),)
