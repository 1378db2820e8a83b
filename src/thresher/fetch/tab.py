"""One page in a context of its own: go there, wait until it is ready, take down what is there.

The page's scripts are hostile until proven otherwise. What we run in it runs in a world of its own that they
cannot touch, and measures before it hands over: a document too large for us is never carried out of the
browser.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from playwright.async_api import BrowserContext, CDPSession, Error, Frame, Request, Response, Route
from playwright.async_api import Page as Sheet
from playwright.async_api import TimeoutError as Late

from thresher.core.clock import monotonic
from thresher.core.errors import (
    ConnectionFailed,
    Malformed,
    Refused,
    TaskError,
    TimedOut,
    TooLarge,
)
from thresher.core.page import Page, Via
from thresher.fetch.page_actions import LOOKS, Collected, PageActions, evaluate
from thresher.fetch.process import Process
from thresher.fetch.proxy import Proxy, plain
from thresher.fetch.rendering import POOL, Visit, VisitAlarm, code_of, meaning

WIDTH, HEIGHT = 1280, 800
IDLE_SECONDS = 10.0
CLOSE_SECONDS = 5.0
MAX_MOVES = 20
EMPTY = (204, 205)
ERRORS = 400
# Left for another page; an error without a body, which browsers decorate; a question for a password, which
# nobody answers.
ABORTED = "ERR_ABORTED"
HARMLESS = ("", ABORTED, "ERR_HTTP_RESPONSE_CODE_FAILURE", "ERR_INVALID_AUTH_CREDENTIALS")
REDIRECTS = (301, 302, 303, 307, 308)
# True of the bytes that were sent, not of the document that became of them; and cookies are nobody's
# business.
NOT_OURS = frozenset(
    {
        "content-encoding",
        "content-length",
        "content-type",
        "set-cookie",
        "transfer-encoding",
        "connection",
        "keep-alive",
    }
)
HTML = {"content-type": "text/html; charset=utf-8"}
TAKE_DOWN = """(() => {
    const type = document.doctype, root = document.documentElement;
    const text = (type ? new XMLSerializer().serializeToString(type) + "\\n" : "") + (root ? root.outerHTML : "");
    return [location.href, text.length, text.length > %d ? "" : text];
})()"""


class Tab:
    """The walk of one rendering. `doing` is what it is busy with, for whoever runs out of patience."""

    def __init__(self, process: Process, proxy: Proxy, wish: Visit, alarm: VisitAlarm) -> None:
        self._process, self._proxy, self._wish, self._alarm = process, proxy, wish, alarm
        self._moves: list[Request] = []
        self._answers: list[Response] = []
        self._downloads = False
        self._detour = ""
        self._timings: dict[str, float] = {}
        self._main: Frame | None = None
        self._actions: PageActions | None = None
        self.doing = "starting"

    async def visit(self, agent: str | None, fetched_at: int) -> Page:
        """The whole walk. Raises typed errors only."""
        began = monotonic()
        context: BrowserContext | None = None
        try:
            context = await self._process.browser.new_context(**self._manners(agent))
            sheet = await self._sheet(context)
            session = await context.new_cdp_session(sheet)
            self._actions = actions = PageActions(sheet, session, self._wish.url, self._say)
            body, final_url = await self._walk(sheet, session, actions)
            shot = await self._picture(sheet) if self._wish.rendering.screenshot else None
            headers = await self._headers()
            collected = await self._collect(actions)
        except Error as problem:
            raise self._typed(problem) from problem
        finally:
            await self._leave(context)
        self._timings["total"] = monotonic() - began
        hops = tuple(move.url for move in self._moves[1:-1])
        return Page(
            self._wish.url,
            final_url,
            self._answers[-1].status,
            headers,
            body,
            fetched_at,
            Via.BROWSER,
            hops,
            self._timings,
            shot,
            tuple(collected.addresses),
            collected.missed,
            tuple(actions.unfinished),
        )

    def _say(self, doing: str) -> None:
        self.doing = doing

    def _manners(self, agent: str | None) -> dict[str, Any]:
        return {
            "proxy": {
                "server": self._proxy.address,
                "bypass": "<-loopback>",
            },  # without the bypass rule loopback would go past it
            "user_agent": f"{self._process.agent} {agent}" if agent else None,
            "accept_downloads": False,
            "service_workers": "block",
            "viewport": {"width": WIDTH, "height": HEIGHT},
        }

    async def _sheet(self, context: BrowserContext) -> Sheet:
        context.set_default_timeout(0)  # we have one limit of our own, around everything
        sheet = await context.new_page()
        self._main = sheet.main_frame
        sheet.on("request", lambda request: self._moved(sheet, request))
        sheet.on("response", lambda response: self._answered(sheet, response))
        sheet.on("requestfailed", lambda request: self._failed(sheet, request))
        sheet.on("download", lambda _: setattr(self, "_downloads", True))
        sheet.on("crash", lambda _: self._alarm.ring(self._crashed()))
        context.on("page", _dismiss)
        await context.route("**/*", self._admit)
        return sheet

    async def _walk(self, sheet: Sheet, session: CDPSession, actions: PageActions) -> tuple[bytes, str]:
        await actions.check(self._wish.rendering)
        began = monotonic()
        self.doing = "loading the document"
        if not await self._go(sheet):
            return b"", self._moves[-1].url
        self._timings["navigate"] = monotonic() - began
        began = monotonic()
        await self._settle(sheet, actions)
        await actions.perform(self._wish.rendering.steps)
        self._timings["settle"] = monotonic() - began
        self.doing = "reading the document"
        return await self._take_down(sheet, session)

    async def _go(self, sheet: Sheet) -> bool:
        """Whether there is a document to look at: an error or a success without a body is an answer too, and
        has none.
        """
        bounds, url = self._wish.bounds, self._wish.url
        while url:
            try:
                await sheet.goto(
                    url, wait_until="domcontentloaded", timeout=(bounds.connect + bounds.read) * 1000
                )
                url = ""
            except Late:
                raise TimedOut(
                    f"{url} did not respond within {bounds.connect + bounds.read:g} s of {self.doing}"
                ) from None
            except Error:
                if self._is_bare_answer():
                    return False
                url, self._detour = self._detour, ""
                if not url:
                    raise
                self._proxy.judge(url)  # what we type into the address line, a browser opens: files too
        if not self._answers:
            raise Malformed(f"{self._wish.url} is not a fetched page")
        return True

    def _is_bare_answer(self) -> bool:
        status = self._answers[-1].status if self._answers else 0
        return (status >= ERRORS or status in EMPTY) and not self._downloads

    async def _settle(self, sheet: Sheet, actions: PageActions) -> None:
        """A selector to wait for says more than silence on the line, so it wins over `idle`."""
        rendering = self._wish.rendering
        if rendering.wait_for is not None:
            await actions.wait_for(rendering.wait_for)
        elif rendering.idle:
            self.doing = "waiting for the page to finish loading"
            # Some pages never fall silent (tickers, chats). What is there by then is the page.
            with contextlib.suppress(Late):
                await sheet.wait_for_load_state(
                    "networkidle", timeout=min(IDLE_SECONDS, self._wish.total / 2) * 1000
                )

    async def _take_down(self, sheet: Sheet, session: CDPSession) -> tuple[bytes, str]:
        limit = self._wish.bounds.size
        for look in range(LOOKS):
            try:
                href, length, text = await evaluate(session, TAKE_DOWN % limit)
                break
            except Error:
                if look == LOOKS - 1:
                    raise
                await sheet.wait_for_load_state("domcontentloaded")
        if not href.startswith(("http:", "https:")):
            raise self._nowhere(href)
        body = text.encode("utf-8", "replace")
        if length > limit or len(body) > limit:
            raise TooLarge(f"{self._wish.url} grew into a document of more than {limit:,} bytes")
        return body, href

    async def _picture(self, sheet: Sheet) -> bytes:
        """Of what a visitor would see first. A whole page can be higher than any memory."""
        self.doing = "taking the screenshot"
        return await sheet.screenshot(type="png", timeout=0)

    async def _collect(self, actions: PageActions) -> Collected:
        """Last, for what it clicks may leave nothing as it was."""
        wish, began = self._wish.rendering.collect, monotonic()
        if wish is None:
            return Collected()
        found = await actions.collect(wish)
        self._timings["collect"] = monotonic() - began
        return found

    async def _headers(self) -> Mapping[str, str]:
        sent = await self._answers[-1].all_headers()
        return {
            name: value.replace("\n", ", ") for name, value in sent.items() if name not in NOT_OURS
        } | HTML

    def _mine(self, sheet: Sheet, request: Request) -> bool:
        """Whether it is the document itself that is asked for, not a frame in it or a file."""
        return request.is_navigation_request() and request.frame == sheet.main_frame

    def _moved(self, sheet: Sheet, request: Request) -> None:
        if self._mine(sheet, request) and not self._is_collecting:
            self._moves.append(request)
            if len(self._moves) > MAX_MOVES:
                self._alarm.ring(
                    Malformed(f"{self._wish.url} navigated {MAX_MOVES} times and did not settle")
                )

    def _answered(self, sheet: Sheet, response: Response) -> None:
        if self._mine(sheet, response.request):
            self._answers.append(response)

    def _failed(self, sheet: Sheet, request: Request) -> None:
        """A document that broke off after its head: a browser shows what came, and never says that it is
        ready.

        One that was given up (a download, nothing new) leaves the one before it standing, as if it had not
        been asked for.
        """
        code = code_of(request.failure or "")
        if not self._mine(sheet, request) or not self._answers or self._answers[-1].request != request:
            return
        if code not in HARMLESS:
            self._alarm.ring(meaning(code, request.url))
        elif code == ABORTED and len(self._answers) > 1:
            self._answers.pop()
            self._moves = [move for move in self._moves if move != request]

    async def _admit(self, route: Route) -> None:
        """Let a request go, or not. Those to an https host that is mapped to a plain one are carried by
        hand.
        """
        request = route.request
        with contextlib.suppress(Error):  # the page may be gone by now
            if request.resource_type in self._wish.rendering.blocked:
                await route.abort("blockedbyclient")
            elif self._is_left_out(request):
                await route.abort("aborted")
            elif request.url.startswith("https:") and await self._proxy.is_plain(request.url):
                await self._carry(route)
            else:
                await route.continue_()

    @property
    def _is_collecting(self) -> bool:
        return self._actions is not None and self._actions.collecting

    def _is_left_out(self, request: Request) -> bool:
        """Windows come to nothing. While addresses are collected no document is loaded: where it is, is
        enough.
        """
        if not request.is_navigation_request():
            return False
        frame = _frame_of(request)
        if frame is not None and frame.parent_frame is not None:
            return False
        if self._actions is not None and self._actions.collecting:
            self._actions.catch(request)
            return True
        return frame != self._main

    async def _carry(self, route: Route) -> None:
        """Bring the answer ourselves. A redirect would slip past us here, so the document's is followed by a
        new start.
        """
        request = route.request
        try:
            answer = await route.fetch(url=plain(request.url), max_redirects=0)
        except Error:
            await route.abort("connectionfailed")
            return
        if (
            answer.status in REDIRECTS
            and request.is_navigation_request()
            and request.frame.parent_frame is None
        ):
            self._detour = urljoin(request.url, answer.headers.get("location", ""))
            await route.abort("aborted")
            return
        await route.fulfill(response=answer)

    def _crashed(self) -> TaskError:
        if self._process.overweight:
            return TooLarge(f"{self._wish.url} used more memory than a page is allowed")
        return ConnectionFailed(f"the browser crashed while {self.doing}: {self._wish.url}", gate=POOL)

    def _typed(self, problem: Error) -> BaseException:
        """What the browser's complaint means, after all who know better were asked."""
        if self._alarm.problem:
            return self._alarm.problem
        if not self._process.alive:
            return ConnectionFailed(f"the browser was lost while {self.doing}: {self._wish.url}", gate=POOL)
        if "crashed" in problem.message:
            return self._crashed()
        if self._downloads or "Download is starting" in problem.message:
            return Refused(f"{self._wish.url} is a download, not a page; fetch it without rendering")
        if "has been closed" in problem.message:
            return Malformed(f"{self._wish.url} closed itself while {self.doing}")
        return self._unreached(code_of(problem.message))

    def _nowhere(self, href: str) -> BaseException:
        """The page went somewhere of its own accord, and there is nothing."""
        if href.startswith("chrome-error:"):
            return self._unreached("")
        return Malformed(f"{self._wish.url} ended at {href[:80]}, which is not on the web")

    def _unreached(self, code: str) -> BaseException:
        where = self._moves[-1].url if self._moves else self._wish.url
        known = self._proxy.problem(where)
        return type(known)(f"{self._wish.url}: {known}") if known else meaning(code, where)

    async def _leave(self, context: BrowserContext | None) -> None:
        if context is not None and not await _close(context):
            self._process.condemn()


def _frame_of(request: Request) -> Frame | None:
    """None for a window that is only about to open."""
    try:
        return request.frame
    except Error:
        return None


async def _dismiss(popup: Sheet) -> None:
    await _close(popup)


async def _close(what: BrowserContext | Sheet) -> bool:
    """Whether it went, or was gone before."""
    try:
        await asyncio.wait_for(what.close(), CLOSE_SECONDS)
    except Error:
        return True
    except TimeoutError:
        return False
    return True
