"""Pages that keep up: a stream of server-sent events tells open pages that the database has changed, and the
script of the pages fetches and swaps their live parts.

Nobody asks a table for that. One look at the database's own mark serves all open pages, and while no page is
open there is none. However much happens, a page is told once in `web.live_interval`, and a server asks its
pages back at `MAX_UPDATES` a second, one after the other: their readers never keep it busy.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress

from starlette.responses import Response, StreamingResponse

from thresher.admin.keys import Admitted
from thresher.admin.logins import admit_login, is_person
from thresher.core.clock import monotonic
from thresher.core.errors import ThresherError
from thresher.store.store import Store
from thresher.web.pages.page import DashboardPage, PageRequest

EVENTS = "text/event-stream"
STILL_HERE = 15.0  # seconds: a proxy closes what says nothing for longer
MAX_UPDATES = 10  # pages of one server that are told to look again, a second
RETRY = 3_000  # milliseconds before a browser connects again
RETRY_FULL = 30_000


class Changes:
    """Watches the database of one server while somebody listens."""

    def __init__(self, store: Store, interval: Callable[[], float]) -> None:
        self._store, self._interval = store, interval
        self._mark = 0
        self._changed = asyncio.Condition()
        self._watch: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._next_turn = 0.0
        self.listeners = 0

    @property
    def interval(self) -> float:
        """The shortest time between two events of one page, in seconds."""
        return self._interval()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    @contextmanager
    def listening(self) -> Iterator[int]:
        """Watch for the length of a block. Yield the mark after which news comes. The first comes soon: what
        changed between a page and its stream is news, too.
        """
        self.listeners += 1
        known = -1
        if self._watch is None or self._watch.done():
            known = self._mark
            self._watch = asyncio.create_task(self._look())
        try:
            yield known
        finally:
            self.listeners -= 1
            if not self.listeners and self._watch is not None:
                self._watch.cancel()
                self._watch = None

    async def after(self, mark: int, patience: float) -> int:
        """Wait for a change after this mark, or for so many seconds. Return the mark: it counts changes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), self._changed:
                await self._changed.wait_for(lambda: self._mark != mark or self.is_closed)
        return self._mark

    async def turn(self) -> int:
        """Wait for this page's turn to be told, and return the mark as it is then."""
        now = monotonic()
        self._next_turn = max(now, self._next_turn) + 1 / MAX_UPDATES
        await self.rest(self._next_turn - 1 / MAX_UPDATES - now)
        return self._mark

    async def rest(self, seconds: float) -> None:
        """Wait for so long, or until the server stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()

    async def close(self) -> None:
        """Let every stream end: the server stops."""
        self._closed.set()
        async with self._changed:
            self._changed.notify_all()

    async def _look(self) -> None:
        seen: int | None = None
        is_first = True
        while True:
            # A database that is away has changed once when it goes, and once when it is back.
            found = await self._find_mark()
            if found != seen or is_first:
                seen, is_first = found, False
                async with self._changed:
                    self._mark += 1
                    self._changed.notify_all()
            await asyncio.sleep(self.interval)

    async def _find_mark(self) -> int | None:
        try:
            return await self._store.run(self._store.backend.change_mark)
        except ThresherError:
            return None


async def live(page_request: PageRequest) -> Response:
    """Send an event whenever the database has changed, for the script of the pages."""
    store, changes = page_request.runtime.store, page_request.request.app.state.changes
    if page_request.request.method == "HEAD":  # whoever wants no body would wait for the end of one
        return Response(media_type=EVENTS)
    return StreamingResponse(
        _stream(store, changes, page_request.token, page_request.who),
        media_type=EVENTS,
        headers={"X-Accel-Buffering": "no"},
    )


async def _stream(store: Store, changes: Changes, token: str, who: Admitted | None) -> AsyncIterator[str]:
    # No problem of a status: after any but 200 a browser gives up for good, and could not say why.
    if changes.is_closed or changes.listeners >= store.settings.count("web.live_pages"):
        yield f"retry: {RETRY_FULL}\nevent: full\ndata: -\n\n"
        return
    with changes.listening() as known:
        yield f"retry: {RETRY}\n\n"
        mark, told = known, -changes.interval
        while not changes.is_closed:
            now = await changes.after(mark, STILL_HERE)
            if now != mark:
                await changes.rest(told + changes.interval - monotonic())
                now, told = await changes.turn(), monotonic()
            if changes.is_closed:
                return
            if await _is_logged_out(store, token, who):
                yield "event: logged-out\ndata: -\n\n"
                return
            yield f"event: change\ndata: {now}\n\n" if now != mark else ": nothing new\n\n"
            mark = now


async def _is_logged_out(store: Store, token: str, who: Admitted | None) -> bool:
    """Whether this login has ended, or the person is gone whom a proxy has signed in. A database that is away
    cannot say so, and shows no page either.
    """
    try:
        if who is not None and who.is_proxied:
            return not await store.run(is_person, store, who.name)
        return not isinstance(await store.run(admit_login, store, token), Admitted)
    except ThresherError:
        return False


PAGES = (DashboardPage("GET", "/live", live),)
