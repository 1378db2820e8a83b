"""The one way out to the web. Everything that speaks against a request is asked before it is sent, in one
order.

    address   may we go there at all                        final, and costs nothing
    shelf     a fresh copy needs no request                 no gate, no robots
    robots    may we ask for this path
    passage   the host's gate: one slot, one token          waits, or says when to come back
    send      the last look when the connection stands, then the request
    judge     what the answer means
    keep      for next time; never an error, never a wall

A redirect starts all of it again, for its own address: each hop is checked, governed and kept by itself.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from thresher.config.settings import Settings
from thresher.core.clock import Clock, SystemClock, monotonic
from thresher.core.compute import Compute, compute_in_thread
from thresher.core.errors import (
    Gone,
    Malformed,
    NoBrowser,
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
from thresher.fetch import cache
from thresher.fetch.agent import Agent
from thresher.fetch.answers import judge, signs
from thresher.fetch.cache import Copy, Shelf, Use, key_of
from thresher.fetch.governor import Errand
from thresher.fetch.guard import Guard, Target
from thresher.fetch.redirect import follow, is_redirect
from thresher.fetch.request import Answer, Bounds, Request, Starting, Transport
from thresher.fetch.robots_cache import Rulebook
from thresher.reading.shell import is_shell
from thresher.reading.wall import needs_tree, wall_of_html, wall_without_tree

# As much of a page as is looked at for the signs of a wall. Not less: the beginning of a large page is all
# script, and looks like one.
SAMPLE = 1024 * 1024
_OF_ITSELF = re.compile(r"too many requests|rate limit", re.IGNORECASE)
READABLE = ("text/html", "application/xhtml+xml", "")


log = logging.getLogger("thresher.fetch")


class Renderer(Protocol):
    """Whatever can render a page: a browser."""

    async def render(
        self, url: str, bounds: Bounds | None = None, *, starting: Starting | None = None
    ) -> Page: ...

    async def close(self) -> None: ...


@dataclass(slots=True)
class Leg:
    """One hop, as it fills. `sent` are all headers as they go out."""

    request: Request
    errand: Errand
    gate: str = ""
    origin: str = ""
    sent: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    copy: Copy | None = None
    answer: Answer | None = None
    page: Page | None = None
    via: Via = Via.HTTP
    requested_at: int = 0


class Fetcher:
    """Asks the web for pages. One for a process; `errand` says for whom. `shelf` is what its errands may use.

    `compute` is where pages are parsed; never on the loop.
    """

    def __init__(
        self,
        transport: Transport,
        guard: Guard,
        agent: Agent,
        *,
        settings: Callable[[], Settings],
        shelf: Shelf | None = None,
        browser: Renderer | None = None,
        clock: Clock | None = None,
        compute: Compute = compute_in_thread,
    ) -> None:
        self.shelf, self.compute = shelf, compute
        self._said: set[str] = set()
        self._transport, self._guard, self._browser = transport, guard, browser
        self._agent, self._settings, self._clock = agent, settings, clock or SystemClock()
        self.rulebook = Rulebook(
            agent.token,
            self._send_plainly,
            self._clock,
            age=lambda: settings().us("fetch.robots_age"),
            delay_cap=lambda: float(settings()["fetch.crawl_delay_cap"]),
        )

    async def fetch(self, request: Request, errand: Errand) -> Page:
        """The page behind a request, or a typed error."""
        page = await self._follow(request, errand)
        if (
            errand.render is None
            and self._browser is not None
            and _can_render(request)
            and await self._is_shell(page)
        ):
            try:
                return await self._follow(request, replace(errand, render=True))
            except NoBrowser as problem:  # then a shell is all there is, and whoever reads it will say so
                self._say_once(f"pages that only a script fills are not rendered: {problem}")
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

    async def _follow(self, request: Request, errand: Errand) -> Page:
        began, trail = monotonic(), [request]
        for _ in range(self._settings().count("fetch.redirects") + 1):
            leg = Leg(trail[-1], errand)
            answer = await self._walk(leg)
            if not is_redirect(answer):
                return self._page(leg, answer, trail, monotonic() - began)
            trail.append(_next(trail, answer))
        raise Refused(
            f"{request.url[:300]} leads from redirect to redirect, {len(trail) - 1} so far, the last to {trail[-1].url[:300]}"
        )

    async def close(self) -> None:
        await self._transport.close()
        if self._browser is not None:
            await self._browser.close()

    # --- one hop, in the order of the list above

    async def _walk(self, leg: Leg) -> Answer:
        for policy in (self._check_address, self._look_on_shelf, self._mind_robots):
            await policy(leg)
            if leg.answer is not None:
                return leg.answer
        while leg.answer is None:
            async with leg.errand.governor.passage(leg.gate) as starting:
                answer = await self._send(leg, starting)
                await self._weigh(leg, answer)
        await self._keep(leg, leg.answer)
        return leg.answer

    async def _check_address(self, leg: Leg) -> None:
        target = self._guard.check_url(leg.request.url)
        leg.request = replace(leg.request, url=target.href)
        leg.gate, leg.origin = PREFIX + target.host, _origin(target)
        leg.sent = {**leg.request.headers, "user-agent": self._agent.header}

    async def _look_on_shelf(self, leg: Leg) -> None:
        errand, settings = leg.errand, self._settings()
        offline = errand.replay or bool(settings["fetch.replay"])
        leg.key = key_of(leg.request, source=errand.source, rendered=bool(errand.render))
        if errand.shelf and (offline or settings["fetch.keep_pages"]):
            leg.copy = await errand.shelf.find(leg.key)
        use = (
            cache.use_of(leg.copy, leg.request, leg.sent, self._clock.now(), errand.max_age)
            if leg.copy
            else Use.NOTHING
        )
        if leg.copy and (use is Use.FRESH or offline):
            await self._take_copy(leg, leg.copy)
        elif offline:
            raise Refused(
                f"{leg.request.url[:300]} is not kept, and only kept pages may be read (replay); fetch it once without replay"
            )
        elif use is Use.NOTHING or errand.render:
            leg.copy = None

    async def _take_copy(self, leg: Leg, copy: Copy) -> None:
        assert leg.errand.shelf is not None
        leg.answer = Answer(copy.status, copy.headers, await leg.errand.shelf.body(copy))
        leg.via, leg.requested_at = Via.CACHE, copy.requested_at

    async def _mind_robots(self, leg: Leg) -> None:
        await self.rulebook.check(leg.request.url, leg.origin, leg.gate, leg.errand)

    async def _send(self, leg: Leg, starting: Starting) -> Answer:
        leg.requested_at = self._clock.now()
        request = replace(leg.request, headers=leg.sent)
        if leg.errand.render:
            return await self._render(leg, starting)
        if leg.copy is not None:
            request = cache.confirming(request, leg.copy)
        return await self._carry(request, leg.gate, starting)

    async def _carry(self, request: Request, gate: str, starting: Starting) -> Answer:
        try:
            return _without_secrets(
                await self._transport.send(_signed(request), self._bounds(), starting), request
            )
        except TaskError as problem:
            problem.gate = problem.gate or gate
            if request.credentials is None:
                raise
            problem.args = tuple(request.credentials.hidden_in(str(each)) for each in problem.args)
            raise problem from None  # what caused it may name the URL as it was sent

    async def _render(self, leg: Leg, starting: Starting) -> Answer:
        if self._browser is None:
            raise NoBrowser(
                "render=True needs a browser: pip install 'thresher[browser]', then see thresher doctor"
            )
        if leg.request.method != "GET":
            raise UsageError(f"a browser renders what a GET brings, not a {leg.request.method}")
        if leg.request.credentials is not None:
            raise UsageError(
                "a browser is given no credentials: a page's scripts could read them; fetch it with render=False"
            )
        page = leg.page = await self._browser.render(leg.request.url, self._bounds(), starting=starting)
        leg.via = Via.BROWSER
        await self._mind_robots_of(page.final_url, leg)
        return Answer(page.status, page.headers, page.body, page.timings)

    async def _mind_robots_of(self, final_url: str, leg: Leg) -> None:
        """A browser follows redirects by itself; where it ended up may be a place we may not read."""
        if final_url != leg.request.url:
            target = self._guard.check_url(final_url)
            await self.rulebook.check(target.href, _origin(target), PREFIX + target.host, leg.errand)

    async def _weigh(self, leg: Leg, answer: Answer) -> None:
        """Judge the answer: a page, the word that our copy is still good, or trouble."""
        if answer.status == 304 and leg.copy is not None:
            await self._confirmed(leg, leg.copy, answer)
            return
        try:
            problem = await self._problem(answer, leg.request, leg.gate)
        except (TooLarge, TooSlow):
            await self._keep(leg, answer)  # nobody can read it: kept for a person to look at
            raise
        if problem is not None:
            await self._trouble(leg, problem)
        if answer.status == 304 and cache.is_ours(leg.request):
            raise Malformed(
                f"{leg.request.url[:300]} answers 304 (not modified) although we have nothing of it",
                gate=leg.gate,
            )
        leg.copy, leg.answer = None, answer

    async def _confirmed(self, leg: Leg, copy: Copy, answer: Answer) -> None:
        assert leg.errand.shelf is not None
        if not cache.confirms(copy, answer):
            await leg.errand.shelf.forget(leg.key)
            leg.copy = None  # asked again, without a condition
            return
        leg.copy = cache.refreshed(copy, answer, leg.requested_at, self._clock.now())
        await self._take_copy(leg, leg.copy)

    async def _trouble(self, leg: Leg, problem: TaskError) -> None:
        problem.gate = problem.gate or leg.gate
        if isinstance(problem, RateLimited):
            problem.away = await leg.errand.governor.hold_back(
                problem.gate, problem.retry_after, str(problem)
            )
        if isinstance(problem, Gone) and leg.errand.shelf is not None:
            await leg.errand.shelf.forget(leg.key)
        raise problem

    async def _keep(self, leg: Leg, answer: Answer) -> None:
        errand, settings = leg.errand, self._settings()
        if errand.shelf is None or not settings["fetch.keep_pages"]:
            return
        if leg.page is not None and leg.page.final_url != leg.request.url:
            return  # a copy stands under the address that was asked for; this page belongs to another
        if leg.copy is not None:
            await errand.shelf.refresh(leg.key, leg.copy)
        elif cache.may_keep(leg.request, answer, errand.max_age) and (
            settings["fetch.keep_all"] or cache.is_worth_keeping(answer, errand.max_age)
        ):
            copy = cache.copy_of(leg.request, answer, leg.sent, leg.requested_at, self._clock.now())
            await errand.shelf.keep(leg.key, copy, answer.body)

    # --- what surrounds a hop

    async def _send_plainly(self, request: Request, starting: Starting, errand: Errand) -> Answer:
        """For robots.txt: guarded and governed like everything else, judged only where the host asks for
        mercy.
        """
        target = self._guard.check_url(request.url)
        gate = PREFIX + target.host
        sent = replace(
            request, url=target.href, headers={**request.headers, "user-agent": self._agent.header}
        )
        answer = await self._carry(sent, gate, starting)
        if answer.status in (429, 503) or answer.status >= 500:
            problem = await self._problem(answer, request, gate)
            if isinstance(problem, RateLimited):
                await self._trouble(Leg(sent, errand, gate), problem)
            if answer.status >= 500:
                raise ServerError(f"{sent.url} answered {answer.status}", gate=gate)
        return answer

    async def _problem(self, answer: Answer, request: Request, gate: str) -> TaskError | None:
        sample = _sample(answer)
        asked_to_wait = (
            answer.status in (429, 503) and "retry-after" in answer.headers
        )  # whoever says when to come back is no wall
        is_redirected = 300 <= answer.status < 400
        why = None if sample is None or asked_to_wait or is_redirected else await self._wall(answer, sample)
        return judge(
            answer.status,
            answer.headers,
            sample or "",
            host=gate.removeprefix(PREFIX),
            now=self._clock.now(),
            wall=lambda *_: why,
            signed=request.allowed_credentials is not None or any(map(signs, request.headers)),
        )

    async def _wall(self, answer: Answer, sample: str) -> str | None:
        """Why a wall stands here. Whatever has to be parsed for that is parsed elsewhere: it may be
        hostile.
        """
        if needs_tree(answer.headers, sample):
            return await self.compute(wall_of_html, answer.status, sample)
        return wall_without_tree(answer.headers, sample)

    def _bounds(self) -> Bounds:
        settings = self._settings()
        connect, read, total = (float(settings[f"fetch.{name}"]) for name in ("connect", "read", "total"))
        return Bounds(connect, read, total, settings.count("fetch.size_limit"))

    def _page(self, leg: Leg, answer: Answer, trail: list[Request], seconds: float) -> Page:
        if leg.page is not None:
            return replace(leg.page, url=trail[0].url, fetched_at=leg.requested_at)
        return Page(
            trail[0].url,
            leg.request.url,
            answer.status,
            answer.headers,
            answer.body,
            leg.requested_at,
            leg.via,
            tuple(each.url for each in trail[1:-1]),
            {**answer.timings, "fetch": seconds},
        )


def _sample(answer: Answer) -> str | None:
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


def _without_secrets(answer: Answer, request: Request) -> Answer:
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


def _can_render(request: Request) -> bool:
    return request.method == "GET" and request.credentials is None


def _next(trail: list[Request], answer: Answer) -> Request:
    request = follow(trail[-1], answer)
    if any((each.url, each.method) == (request.url, request.method) for each in trail):
        raise Malformed(
            f"{trail[0].url[:300]} redirects in a circle ({' → '.join(each.url[:100] for each in trail[-3:])} → {request.url[:100]}); "
            "perhaps it wants a cookie, and we keep none"
        )
    return request
