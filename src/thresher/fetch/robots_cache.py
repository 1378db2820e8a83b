"""The robots.txt of every origin: fetched once, cached for all workers, refreshed when it is old.

RFC 9309 §2.3.1 says what a response means. A file: its rules. Too many redirects, or 4xx: no rules,
everything is allowed. 5xx: nothing is allowed until it can be read; tasks wait, and after thirty days without
a file it counts as absent. A cached file stays valid while a newer one cannot be fetched. Where the host
itself cannot be reached, that is the error: nothing is sent to it either way, and the retry budget and the
breaker apply.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from thresher.core.backoff import doubled
from thresher.core.clock import DAY, MINUTE, SECOND, Clock
from thresher.core.errors import NotYet, Refused, ServerError
from thresher.core.keys import host_gate
from thresher.fetch.cache import CachedResponse, directives, keyed, seconds
from thresher.fetch.governor import FetchOptions, passing
from thresher.fetch.redirect import follow, is_redirect
from thresher.fetch.request import BeforeSend, Request, Response
from thresher.fetch.robots import MAX_BYTES, RobotsRules, read_rules

# How many origins are remembered in this process, and how many bytes of files: read, a file takes a multiple
# of that.
REMEMBERED, MAX_BYTES_REMEMBERED = 2_000, 4 << 20
MAX_REDIRECTS = 5
# However short the server wants its file to be kept: asking before every page would be the greater burden.
MIN_AGE = 5 * MINUTE
FIRST_WAIT, MAX_WAIT = MINUTE, 60 * MINUTE
GIVEN_UP_AFTER = 30 * DAY

Send = Callable[[Request, BeforeSend, FetchOptions], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What we know of one origin. `down_since` is when its file was first not to be had, `tries` how often
    since.

    Without a body and down there is nothing to go by, and it is not that there is nothing: then nothing is
    allowed.
    """

    body: bytes | None
    until: int
    down_since: int | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True)
class _Known:
    """An entry, read. The bytes themselves stay in the page cache."""

    rules: RobotsRules
    until: int
    closed_until: int
    size: int

    @classmethod
    def of(cls, entry: RobotsFile, agent: str) -> "_Known":
        closed = entry.body is None and entry.down_since is not None
        rules = read_rules(entry.body or b"", agent)
        return cls(
            rules,
            entry.until,
            (entry.down_since or 0) + GIVEN_UP_AFTER if closed else 0,
            len(entry.body or b""),
        )


class RobotsCache:
    """Asks and remembers.

    `send` carries one request with the fetcher's own hands and raises what a server's trouble is; `age` is
    how long a file counts at most, in microseconds; `delay_cap` bounds a Crawl-delay, in seconds. Both may
    change at run time.
    """

    def __init__(
        self, agent: str, send: Send, clock: Clock, age: Callable[[], int], delay_cap: Callable[[], float]
    ) -> None:
        self._agent, self._send, self._clock = agent, send, clock
        self._age, self._delay_cap = age, delay_cap
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._bytes = 0
        self._asking: dict[str, asyncio.Lock] = {}

    async def check(self, url: str, origin: str, gate: str, options: FetchOptions) -> None:
        """Pass, or raise: `Refused` where the rules forbid it, `NotYet` where they cannot be had."""
        known = await self._lookup(origin, gate, options)
        now = self._clock.now()
        if known.closed_until > now and await options.governor.waiver(gate) is None:
            wait = max(known.until - now, SECOND) / SECOND
            raise NotYet(
                f"the robots.txt of {origin} cannot be fetched: the server answers with an error. "
                "Until it can, nothing is fetched there; it is tried again automatically",
                retry_after=wait,
                gate=gate,
            )
        if not known.rules.allows(url) and await options.governor.waiver(gate) is None:
            raise Refused(_refusal(url, known.rules, gate), gate=gate)

    async def _lookup(self, origin: str, gate: str, options: FetchOptions) -> _Known:
        known = self._remembered(origin)
        if known is None:
            entry = await self._kept(origin, options)
            known = self._remember(origin, entry) if entry else await self._ask(origin, options)
            await self._slow_down(known.rules, gate, options)
        return known

    def _remembered(self, origin: str) -> _Known | None:
        known = self._known.get(origin)
        if known is None or known.until <= self._clock.now():
            return None
        self._known.move_to_end(origin)
        return known

    def _remember(self, origin: str, entry: RobotsFile) -> _Known:
        self._forget(origin)
        known = self._known[origin] = _Known.of(entry, self._agent)
        self._bytes += known.size
        while len(self._known) > REMEMBERED or (self._bytes > MAX_BYTES_REMEMBERED and len(self._known) > 1):
            self._forget(next(iter(self._known)))
        return known

    def _forget(self, origin: str) -> None:
        known = self._known.pop(origin, None)
        self._bytes -= known.size if known else 0

    async def _slow_down(self, rules: RobotsRules, gate: str, options: FetchOptions) -> None:
        delay = min(rules.crawl_delay or 0.0, self._delay_cap())
        if delay > 0 and await options.governor.waiver(gate) is None:
            await options.governor.slow_down(gate, delay)

    async def _ask(self, origin: str, options: FetchOptions) -> _Known:
        """Follow it to its end. Everybody who may send looks once more first: another may have asked while we
        waited.
        """
        request = Request(f"{origin}/robots.txt")
        for _ in range(MAX_REDIRECTS + 1):
            async with (
                passing(options.governor, host_gate(request.url), preparing=True) as before_send,
                self._alone(origin),
            ):
                if known := self._remembered(origin):
                    return known
                if entry := await self._kept(origin, options):
                    return self._remember(origin, entry)
                answer = await self._try(request, before_send, options)
                if answer is None or not is_redirect(answer):
                    return await self._conclude(origin, answer, options)
            request = follow(request, answer)
        return await self._conclude(origin, answer, options)

    async def _try(self, request: Request, before_send: BeforeSend, options: FetchOptions) -> Response | None:
        try:
            return await self._send(request, before_send, options)
        except ServerError:
            return None

    async def _conclude(self, origin: str, answer: Response | None, options: FetchOptions) -> _Known:
        now = self._clock.now()
        entry = (
            _reached(answer, now, self._age())
            if answer
            else _unreachable(await self._kept(origin, options, old=True), now)
        )
        known = self._remember(origin, entry)
        if options.page_cache is not None:
            copy = CachedResponse(f"{origin}/robots.txt", "GET", 200, _notes(entry), now, now)
            await options.page_cache.keep(_key(origin), copy, entry.body or b"")
        return known

    @asynccontextmanager
    async def _alone(self, origin: str) -> AsyncIterator[None]:
        """One of this process asks, the others wait for what it hears.

        Inside the passage, not around it: who waits for a slot here must not keep out the one who has it.
        """
        lock = self._asking.setdefault(origin, asyncio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._asking.pop(origin, None)

    async def _kept(self, origin: str, options: FetchOptions, *, old: bool = False) -> RobotsFile | None:
        copy = await options.page_cache.find(_key(origin)) if options.page_cache else None
        if copy is None or options.page_cache is None:
            return None
        entry = _entry(copy, await options.page_cache.body(copy))
        return entry if old or entry.until > self._clock.now() else None


def _reached(answer: Response, now: int, age: int) -> RobotsFile:
    if answer.status >= 300:
        return RobotsFile(b"", now + age)  # not there, or moved too often: nobody has forbidden anything
    said = seconds(directives(answer.headers), "max-age", unreadable=-1)
    until = now + (age if said is None or said < 0 else min(age, max(said * SECOND, MIN_AGE)))
    return RobotsFile(answer.body[: MAX_BYTES + 1], until)


def _unreachable(old: RobotsFile | None, now: int) -> RobotsFile:
    """Ask again later, each time a little later. A file that we have stays."""
    old = old or RobotsFile(None, now)
    wait = doubled(FIRST_WAIT, old.tries, MAX_WAIT)
    since = now if old.down_since is None else old.down_since
    return replace(old, until=now + wait, down_since=since, tries=old.tries + 1)


def _refusal(url: str, rules: RobotsRules, gate: str) -> str:
    line = rules.ruling(url).rule
    return (
        f"robots.txt forbids {rules.agent} {url[:300]}{f' ({line})' if line else ''}; to fetch it "
        f'anyway, give a reason: thresher sources robots {gate} off --reason "..."'
    )


def _key(origin: str) -> str:
    return keyed("robots", origin)


def _notes(entry: RobotsFile) -> Mapping[str, str]:
    """A file as the page cache keeps it: beside the body, in place of the headers."""
    notes = {
        "until": entry.until,
        "down-since": entry.down_since,
        "tries": entry.tries,
        "absent": 1 if entry.body is None else None,
    }
    return {name: str(value) for name, value in notes.items() if value is not None}


def _entry(copy: CachedResponse, body: bytes) -> RobotsFile:
    notes = copy.headers
    since = notes.get("down-since")
    return RobotsFile(
        None if "absent" in notes else body,
        int(notes["until"]),
        None if since is None else int(since),
        int(notes["tries"]),
    )
