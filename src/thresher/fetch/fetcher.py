"""The one way out to the web. Every check runs before a request is sent, in this order.

    address   may we go there at all                        final, and costs nothing
    cache     a fresh copy needs no request                 no gate, no robots
    robots    may we request this path
    permit    the host's gate: one slot, one token          waits, or says when to come back
    send      the last check when the connection stands, then the request
    judge     what the response means
    keep      for next time; never an error, never a wall

A redirect starts again with its own URL: each exchange is checked, governed and cached by itself.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from thresher.config.settings import Settings
from thresher.core.clock import Clock, SystemClock, monotonic
from thresher.core.compute import Compute, compute_in_thread
from thresher.core.errors import (
    ClaimLost,
    Gone,
    Malformed,
    NoBrowser,
    NotYet,
    RateLimited,
    Refused,
    ServerError,
    TaskError,
    TooLarge,
    TooSlow,
    UsageError,
)
from thresher.core.keys import PREFIX
from thresher.core.page import Page, Via
from thresher.core.rendering import Rendering
from thresher.fetch import cache
from thresher.fetch.agent import Agent
from thresher.fetch.answers import judge, signs
from thresher.fetch.cache import CachedResponse, PageCache, Use, key_of
from thresher.fetch.governor import FetchOptions, Governor, passing
from thresher.fetch.guard import Guard, Target
from thresher.fetch.redirect import follow, is_redirect
from thresher.fetch.request import BeforeSend, Bounds, Request, Response, Transport
from thresher.fetch.robots_cache import RobotsCache
from thresher.fetch.traffic import FetchTraffic
from thresher.reading.verdict.emptiness import is_shell
from thresher.reading.verdict.wall import needs_tree, wall_of_html, wall_without_tree

# As much of a page as is looked at for the signs of a wall. Not less: the beginning of a large page is all
# script, and looks like one.
SAMPLE = 1024 * 1024
MAX_ANSWER = 4_096  # characters of an answer that an error takes along
_OF_ITSELF = re.compile(r"too many requests|rate limit", re.IGNORECASE)
READABLE = ("text/html", "application/xhtml+xml", "")


log = logging.getLogger("thresher.fetch")


class Renderer(Protocol):
    """Whatever can render a page: a browser."""

    async def render(
        self,
        url: str,
        bounds: Bounds | None = None,
        *,
        rendering: Rendering | None = None,
        before_send: BeforeSend | None = None,
    ) -> Page: ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Exchange:
    """One exchange, as it fills. `sent` are all headers as they go out."""

    request: Request
    options: FetchOptions
    gate: str = ""
    origin: str = ""
    sent: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    copy: CachedResponse | None = None
    answer: Response | None = None
    page: Page | None = None
    via: Via = Via.HTTP
    requested_at: int = 0


class Fetcher:
    """Asks the web for pages. One for a process; its options say for whom. `page_cache` is what they may use.

    `compute` is where pages are parsed; never on the loop.
    """

    def __init__(
        self,
        transport: Transport,
        guard: Guard,
        agent: Agent,
        *,
        settings: Callable[[], Settings],
        page_cache: PageCache | None = None,
        browser: Renderer | None = None,
        clock: Clock | None = None,
        compute: Compute = compute_in_thread,
        traffic: FetchTraffic | None = None,
    ) -> None:
        self.page_cache, self.compute = page_cache, compute
        self._said: set[str] = set()
        self._traffic = traffic or FetchTraffic()
        self._transport, self._guard, self._browser = transport, guard, browser
        self._agent, self._settings, self._clock = agent, settings, clock or SystemClock()
        self.robots_cache = RobotsCache(
            agent.token,
            self._send_plainly,
            self._clock,
            age=lambda: settings().us("fetch.robots_age"),
            delay_cap=lambda: float(settings()["fetch.crawl_delay_cap"]),
        )

    async def fetch(self, request: Request, options: FetchOptions) -> Page:
        """The page behind a request, or a typed error."""
        _check_rendering(options)
        page = await self._follow(request, options)
        if (
            options.render is None
            and self._browser is not None
            and _can_render(request)
            and await self._is_shell(page)
        ):
            try:
                return await self._follow(request, replace(options, render=True))
            except NoBrowser as problem:  # then a shell is all there is, and whoever reads it will say so
                self._say_once(f"pages that need JavaScript are not rendered: {problem}")
        return page

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            log.warning("%s", words)

    async def _is_shell(self, page: Page) -> bool:
        return (
            page.via is not Via.BROWSER
            and page.content_type in READABLE
            and await self.compute(is_shell, page)
        )

    async def _follow(self, request: Request, options: FetchOptions) -> Page:
        began, trail = monotonic(), [request]
        for _ in range(self._settings().count("fetch.redirects") + 1):
            exchange = Exchange(trail[-1], options)
            answer = await self._walk(exchange)
            if not is_redirect(answer):
                return self._page(exchange, answer, trail, monotonic() - began)
            trail.append(_next(trail, answer))
        raise Refused(
            f"{request.url[:300]} redirects too often: {len(trail) - 1} times so far, the last to "
            f"{trail[-1].url[:300]}"
        )

    async def post(self, request: Request, governor: Governor, bounds: Bounds) -> Response:
        """Send a message to an endpoint that a person has named, and return its answer, whatever it is.

        Guarded and governed like every request. robots.txt is not for it, since it reads nothing; no redirect
        is followed, and nothing is kept.
        """
        target = self._guard.check_url(request.url)
        gate = PREFIX + target.host
        headers = {**request.headers, "user-agent": self._agent.header}
        async with passing(governor, gate) as before_send:
            return await self._carry(
                replace(request, url=target.href, headers=headers), gate, before_send, bounds
            )

    async def close(self) -> None:
        await self._transport.close()
        if self._browser is not None:
            await self._browser.close()

    # --- one exchange, in the order of the list above

    async def _walk(self, exchange: Exchange) -> Response:
        for policy in (self._check_address, self._look_in_cache, self._mind_robots):
            await policy(exchange)
            if exchange.answer is not None:
                return exchange.answer
        while exchange.answer is None:
            async with passing(exchange.options.governor, exchange.gate) as before_send:
                answer = await self._send(exchange, before_send)
                await self._weigh(exchange, answer)
        await self._keep(exchange, exchange.answer)
        return exchange.answer

    async def _check_address(self, exchange: Exchange) -> None:
        target = self._guard.check_url(exchange.request.url)
        exchange.request = replace(exchange.request, url=target.href)
        exchange.gate, exchange.origin = PREFIX + target.host, _origin(target)
        exchange.sent = {**exchange.request.headers, "user-agent": self._agent.header}

    async def _look_in_cache(self, exchange: Exchange) -> None:
        options, settings = exchange.options, self._settings()
        offline = options.replay or bool(settings["fetch.replay"])
        exchange.key = key_of(
            exchange.request,
            source=options.source,
            rendered=bool(options.render),
            variant=options.rendering.variant if options.rendering else "",
        )
        if options.page_cache and _is_keepable(options) and (offline or settings["fetch.keep_pages"]):
            exchange.copy = await options.page_cache.find(exchange.key)
        use = (
            cache.use_of(exchange.copy, exchange.request, exchange.sent, self._clock.now(), options.max_age)
            if exchange.copy
            else Use.NOTHING
        )
        if exchange.copy and (use is Use.FRESH or offline):
            await self._take_copy(exchange, exchange.copy)
        elif offline:
            raise Refused(
                f"{exchange.request.url[:300]} is not stored, and only stored pages may be read "
                "(replay); fetch it once without replay"
            )
        elif use is Use.NOTHING or options.render:
            exchange.copy = None

    async def _take_copy(self, exchange: Exchange, copy: CachedResponse) -> None:
        assert exchange.options.page_cache is not None
        exchange.answer = Response(copy.status, copy.headers, await exchange.options.page_cache.body(copy))
        if exchange.via is Via.HTTP and exchange.requested_at == 0:  # else a site has confirmed it
            self._traffic.note_cached()
        exchange.via, exchange.requested_at = Via.CACHE, copy.requested_at

    async def _mind_robots(self, exchange: Exchange) -> None:
        await self.robots_cache.check(exchange.request.url, exchange.origin, exchange.gate, exchange.options)

    async def _send(self, exchange: Exchange, before_send: BeforeSend) -> Response:
        exchange.requested_at = self._clock.now()
        request = replace(exchange.request, headers=exchange.sent)
        if exchange.options.render:
            return await self._counted(self._render(exchange, before_send))
        if exchange.copy is not None:
            request = cache.confirming(request, exchange.copy)
        return await self._carry(request, exchange.gate, before_send)

    async def _carry(
        self, request: Request, gate: str, before_send: BeforeSend, bounds: Bounds | None = None
    ) -> Response:
        try:
            sending = self._transport.send(_signed(request), bounds or self._bounds(), before_send)
            return _without_secrets(await self._counted(sending), request)
        except TaskError as problem:
            problem.gate = problem.gate or gate
            if request.credentials is None:
                raise
            problem.args = tuple(request.credentials.hidden_in(str(each)) for each in problem.args)
            raise problem from None  # what caused it may name the URL as it was sent

    async def _counted(self, sending: Awaitable[Response]) -> Response:
        """Send, and count how it ended. What was refused at the last check was not sent."""
        began = monotonic()
        try:
            answer = await sending
        except (ClaimLost, NotYet, Refused):
            raise
        except BaseException:
            self._traffic.note(None, monotonic() - began)
            raise
        self._traffic.note(answer.status, monotonic() - began)
        return answer

    async def _render(self, exchange: Exchange, before_send: BeforeSend) -> Response:
        if self._browser is None:
            raise NoBrowser(
                "render=True needs a browser: pip install 'thresher[browser]', then see thresher doctor"
            )
        if exchange.request.method != "GET":
            raise UsageError(
                f"a browser only renders pages fetched with GET, not with {exchange.request.method}"
            )
        if exchange.request.credentials is not None:
            raise UsageError(
                "a browser never gets credentials, because a page's scripts could read them; fetch "
                "it with render=False"
            )
        page = exchange.page = await self._browser.render(
            exchange.request.url,
            self._bounds(),
            rendering=exchange.options.rendering,
            before_send=before_send,
        )
        exchange.via = Via.BROWSER
        await self._mind_robots_of(page.final_url, exchange)
        return Response(page.status, page.headers, page.body, page.timings)

    async def _mind_robots_of(self, final_url: str, exchange: Exchange) -> None:
        """A browser follows redirects by itself; where it ended up may be a place we may not read."""
        if final_url != exchange.request.url:
            target = self._guard.check_url(final_url)
            await self.robots_cache.check(
                target.href, _origin(target), PREFIX + target.host, exchange.options
            )

    async def _weigh(self, exchange: Exchange, answer: Response) -> None:
        """Judge the response: a page, a confirmation of our copy, or an error."""
        if answer.status == 304 and exchange.copy is not None:
            await self._confirmed(exchange, exchange.copy, answer)
            return
        try:
            problem = await self._problem(answer, exchange.request, exchange.gate)
        except (TooLarge, TooSlow):
            await self._keep(exchange, answer)  # nobody can read it: kept for a person to look at
            raise
        if problem is not None:
            await self._trouble(exchange, problem)
        if answer.status == 304 and cache.is_ours(exchange.request):
            raise Malformed(
                f"{exchange.request.url[:300]} answered 304 (Not Modified), but no copy of it is stored",
                gate=exchange.gate,
            )
        exchange.copy, exchange.answer = None, answer

    async def _confirmed(self, exchange: Exchange, copy: CachedResponse, answer: Response) -> None:
        assert exchange.options.page_cache is not None
        if not cache.confirms(copy, answer):
            await exchange.options.page_cache.forget(exchange.key)
            exchange.copy = None  # asked again, without a condition
            return
        exchange.copy = cache.refreshed(copy, answer, exchange.requested_at, self._clock.now())
        await self._take_copy(exchange, exchange.copy)

    async def _trouble(self, exchange: Exchange, problem: TaskError) -> None:
        problem.gate = problem.gate or exchange.gate
        if isinstance(problem, RateLimited):
            problem.away = await exchange.options.governor.hold_back(
                problem.gate, problem.retry_after, str(problem)
            )
        if isinstance(problem, Gone) and exchange.options.page_cache is not None:
            await exchange.options.page_cache.forget(exchange.key)
        raise problem

    async def _keep(self, exchange: Exchange, answer: Response) -> None:
        options, settings = exchange.options, self._settings()
        if options.page_cache is None or not settings["fetch.keep_pages"] or not _is_keepable(options):
            return
        if exchange.page is not None and exchange.page.final_url != exchange.request.url:
            return  # a copy stands under the address that was asked for; this page belongs to another
        if exchange.copy is not None:
            await options.page_cache.refresh(exchange.key, exchange.copy)
        elif cache.may_keep(exchange.request, answer, options.max_age) and (
            settings["fetch.keep_all"] or cache.is_worth_keeping(answer, options.max_age)
        ):
            copy = cache.copy_of(
                exchange.request, answer, exchange.sent, exchange.requested_at, self._clock.now()
            )
            await options.page_cache.keep(exchange.key, copy, answer.body)

    # --- what surrounds a hop

    async def _send_plainly(
        self, request: Request, before_send: BeforeSend, options: FetchOptions
    ) -> Response:
        """For robots.txt: guarded and governed like everything else, judged only where the host asks for
        mercy.
        """
        target = self._guard.check_url(request.url)
        gate = PREFIX + target.host
        sent = replace(
            request, url=target.href, headers={**request.headers, "user-agent": self._agent.header}
        )
        answer = await self._carry(sent, gate, before_send)
        if answer.status in (429, 503) or answer.status >= 500:
            problem = await self._problem(answer, request, gate)
            if isinstance(problem, RateLimited):
                await self._trouble(Exchange(sent, options, gate), problem)
            if answer.status >= 500:
                raise ServerError(f"{sent.url} answered {answer.status}", gate=gate)
        return answer

    async def _problem(self, answer: Response, request: Request, gate: str) -> TaskError | None:
        sample = _sample(answer)
        # Whoever says when to come back is no wall.
        asked_to_wait = answer.status in (429, 503) and "retry-after" in answer.headers
        is_redirected = 300 <= answer.status < 400
        why = None if sample is None or asked_to_wait or is_redirected else await self._wall(answer, sample)
        problem = judge(
            answer.status,
            answer.headers,
            sample or "",
            host=gate.removeprefix(PREFIX),
            now=self._clock.now(),
            wall=lambda *_: why,
            signed=request.allowed_credentials is not None or any(map(signs, request.headers)),
        )
        if problem is not None:
            held = request.credentials
            problem.status = answer.status
            problem.answer = (held.hidden_in(sample or "") if held else sample or "")[:MAX_ANSWER]
        return problem

    async def _wall(self, answer: Response, sample: str) -> str | None:
        """Say which wall this is. Parse the page in another process: it may be hostile."""
        if needs_tree(answer.headers, sample):
            return await self.compute(wall_of_html, answer.status, sample)
        return wall_without_tree(answer.headers, sample)

    def _bounds(self) -> Bounds:
        settings = self._settings()
        connect, read, total = (float(settings[f"fetch.{name}"]) for name in ("connect", "read", "total"))
        return Bounds(connect, read, total, settings.count("fetch.size_limit"))

    def _page(self, exchange: Exchange, answer: Response, trail: list[Request], seconds: float) -> Page:
        if exchange.page is not None:
            return replace(exchange.page, url=trail[0].url, fetched_at=exchange.requested_at)
        return Page(
            trail[0].url,
            exchange.request.url,
            answer.status,
            answer.headers,
            answer.body,
            exchange.requested_at,
            exchange.via,
            tuple(each.url for each in trail[1:-1]),
            {**answer.timings, "fetch": seconds},
        )


def _sample(answer: Response) -> str | None:
    """What may show a wall; None where none can be: no wall comes as a good answer in JSON."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if answer.status < 400 and kind not in READABLE:
        return None
    text = answer.body[:SAMPLE].decode("utf-8", "replace")
    # A 429 says of itself what a wall would say instead of a page; there it is no sign of one.
    return _OF_ITSELF.sub("", text) if answer.status == 429 else text


def _origin(target: Target) -> str:
    """Whom a robots.txt speaks for; the guard has left out the port that goes without saying."""
    return f"{'https' if target.tls else 'http'}://{target.authority}"


def _signed(request: Request) -> Request:
    """The request as it goes out: with its credentials, where they are for this origin."""
    allowed = request.allowed_credentials
    if allowed is None:
        return replace(request, credentials=None)
    return replace(
        request,
        url=allowed.added_to(request.url),
        headers={**request.headers, **allowed.headers},
        credentials=None,
    )


def _without_secrets(answer: Response, request: Request) -> Response:
    """The answer, with nothing in its headers that repeats a secret: they are kept, and a redirect becomes an
    address of ours.
    """
    held = request.credentials
    if held is None:
        return answer
    said = {
        name: held.left_out_of(value) if name == "location" else value
        for name, value in answer.headers.items()
    }
    return replace(answer, headers={name: held.hidden_in(value) for name, value in said.items()})


def _check_rendering(options: FetchOptions) -> None:
    if options.rendering is None:
        return
    if options.render is not True:
        raise UsageError("rendering= says what a browser does on the page; add render=True")
    if options.replay and not _is_keepable(options):
        raise UsageError(
            "a page with a screenshot or collected addresses is never stored, so replay=True cannot find one"
        )


def _is_keepable(options: FetchOptions) -> bool:
    return options.rendering is None or options.rendering.is_keepable


def _can_render(request: Request) -> bool:
    return request.method == "GET" and request.credentials is None


def _next(trail: list[Request], answer: Response) -> Request:
    request = follow(trail[-1], answer)
    if any((each.url, each.method) == (request.url, request.method) for each in trail):
        raise Malformed(
            f"{trail[0].url[:300]} redirects in a circle "
            f"({' → '.join(each.url[:100] for each in trail[-3:])} → {request.url[:100]}); perhaps "
            "it needs a cookie, and Thresher keeps no cookies"
        )
    return request
