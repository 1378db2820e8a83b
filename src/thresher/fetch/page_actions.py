"""What is done on an open page: wait, click, and collect the addresses behind clicks.

A page says nowhere that it has answered a click. So its content is measured before and after, from a world of
our own that its scripts cannot touch, until it stands still and nothing is being loaded. All of it happens
within the one time limit of the visit.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession, Error, Frame, Locator, Request
from playwright.async_api import Page as Sheet
from playwright.async_api import TimeoutError as Late

from thresher.core.clock import monotonic
from thresher.core.errors import Malformed, NotClickable, UsageError
from thresher.core.rendering import Click, Collect, Rendering, Wait

POLL_SECONDS = 0.1
STILL = 3  # measurements that must be alike
# A page may be on its way elsewhere just when we look.
LOOKS = 3
MAX_ADDRESS = 2_000
LOADS = frozenset({"document", "fetch", "script", "xhr"})
# Address, elements, and a hash of the text: a list that is replaced by one as long has changed, too.
MEASURE = """(() => {
    const text = (document.body ? document.body.textContent : "").slice(0, 2000000);
    let hash = 0;
    for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    return [location.href.slice(0, 2000), document.getElementsByTagName("*").length, text.length, hash];
})()"""


def css(selector: str) -> str:
    """A selector for the browser's driver, which knows other languages besides."""
    return f"css={selector}"


async def evaluate(session: CDPSession, expression: str) -> Any:
    """Evaluate in a world of our own, where the page's scripts have changed nothing."""
    tree = await session.send("Page.getFrameTree")
    world = await session.send(
        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "thresher"}
    )
    wish = {"expression": expression, "contextId": world["executionContextId"], "returnByValue": True}
    answer = await session.send("Runtime.evaluate", wish)
    if "exceptionDetails" in answer:
        raise Malformed(f"the document cannot be read: {str(answer['exceptionDetails'].get('text'))[:200]}")
    return answer["result"]["value"]


@dataclass(slots=True)
class Collected:
    """Addresses in the order of the clicks, and how many elements gave none."""

    addresses: dict[str, None] = field(default_factory=dict)
    missed: int = 0

    def add(self, address: str | None) -> None:
        if address and len(address) <= MAX_ADDRESS and address.startswith(("http:", "https:")):
            self.addresses[address] = None
        else:
            self.missed += 1


class PageActions:
    """The actions of one visit. `say` is told what it is busy with, for whoever runs out of patience."""

    def __init__(self, sheet: Sheet, session: CDPSession, url: str, say: Callable[[str], None]) -> None:
        self._sheet, self._session, self._url, self._say = sheet, session, url, say
        self._loading: set[Request] = set()
        self._address: asyncio.Future[str] | None = None
        self._before = ""
        self.collecting = False
        self.unfinished: list[str] = []
        sheet.on("request", self._began)
        sheet.on("requestfinished", self._ended)
        sheet.on("requestfailed", self._ended)
        sheet.on("framenavigated", self._navigated)

    async def check(self, rendering: Rendering) -> None:
        """Refuse what the browser does not take for a selector, before anything is requested."""
        for selector in _selectors(rendering):
            try:
                await self._sheet.locator(css(selector)).count()
            except Error as problem:
                said = problem.message.partition("Call log")[0].partition(":")[2].strip()
                if "selector" not in said:
                    raise
                raise UsageError(f"{selector!r} is not a selector: {said.partition(chr(10))[0]}") from None

    async def wait_for(self, selector: str) -> None:
        self._say(f"waiting for {selector!r}")
        await self._sheet.locator(css(selector)).first.wait_for(state="attached", timeout=0)

    async def perform(self, steps: tuple[Click | Wait, ...]) -> None:
        """Take the steps in their order."""
        for step in steps:
            match step:
                case Click():
                    await self._click(step)
                case Wait(str() as selector):
                    await self.wait_for(selector)
                case Wait(seconds):
                    self._say(f"waiting for {seconds:g} s")
                    await asyncio.sleep(float(seconds))

    # --- clicks

    async def _click(self, step: Click) -> None:
        target = self._sheet.locator(css(step.selector)).first
        if not await self._appears(target, step):
            return
        for turn in range(step.repeat):
            self._say(f"clicking {step.selector!r} (click {turn + 1:,})")
            if turn and not await _is_usable(target):
                return
            before = await self._measure()
            if not await self._press(target, step, first=turn == 0):
                return
            if not await self._has_changed(before, step.wait):
                return
        if step.repeat > 1 and await _is_usable(target):
            self.unfinished.append(step.selector)

    async def _appears(self, target: Locator, step: Click | Collect) -> bool:
        self._say(f"waiting for {step.selector!r}")
        try:
            await target.wait_for(state="attached", timeout=_milliseconds(step.wait))
        except Late:
            if step.optional:
                return False
            raise NotClickable(
                f"{self._url}: nothing on the page matches {step.selector!r}, which is to be clicked; did "
                f"the layout change? It was waited for {step.wait:g} s",
                selector=step.selector,
            ) from None
        return True

    async def _press(self, target: Locator, step: Click, *, first: bool) -> bool:
        """Whether it was clicked. A control that cannot be used any more has done its work; before the first
        click it has only where the step says so.
        """
        try:
            await target.click(timeout=_milliseconds(step.wait))
        except Late:
            if not await _is_usable(target) and (not first or step.optional or step.repeat > 1):
                return False
            if first and step.optional:
                return False
            raise NotClickable(
                f"{self._url}: {step.selector!r} could not be clicked within {step.wait:g} s: it is hidden, "
                "disabled, moving, or something lies over it",
                selector=step.selector,
            ) from None
        return True

    async def _has_changed(self, before: object, seconds: float) -> bool:
        """Wait until the page stands still after a change, at most so many seconds. Tell whether it
        changed.
        """
        until, seen, still = monotonic() + seconds, before, 0
        while monotonic() < until:
            await asyncio.sleep(POLL_SECONDS)
            now = await self._measure()
            still = still + 1 if now == seen and now != before and not self._loading else 0
            seen = now
            if still >= STILL:
                return True
        return seen != before

    async def _measure(self) -> object:
        for _ in range(LOOKS - 1):
            try:
                return await evaluate(self._session, MEASURE)
            except Error:  # on its way to another document
                await self._sheet.wait_for_load_state("domcontentloaded")
        return await evaluate(self._session, MEASURE)

    def _began(self, request: Request) -> None:
        if request.resource_type in LOADS:
            self._loading.add(request)

    def _ended(self, request: Request) -> None:
        self._loading.discard(request)

    # --- addresses behind clicks

    async def collect(self, wish: Collect) -> Collected:
        """Click element after element. No document is requested meanwhile: `catch` has its address."""
        found, elements = Collected(), self._sheet.locator(css(wish.selector))
        if not await self._appears(elements.first, wish):
            return found
        count = await elements.count()
        self.collecting = True
        clicked = min(count, wish.limit)
        for at in range(clicked):
            self._say(f"clicking element {at + 1:,} of the {clicked:,} that match {wish.selector!r}")
            address = await self._address_behind(elements.nth(at), wish.wait)
            if address is None and await elements.count() <= at:
                found.missed += clicked - at  # what it listed did not come back
                break
            found.add(address)
        found.missed += count - clicked
        return found

    def catch(self, request: Request) -> None:
        """Take the address of a document that a click wants to load. A form that sends something has none."""
        if request.method == "GET":
            self._arrive(request.url)

    async def _address_behind(self, element: Locator, seconds: float) -> str | None:
        self._before, entry = self._sheet.url, await self._history_entry()
        self._address = asyncio.get_running_loop().create_future()
        try:
            await element.click(timeout=_milliseconds(seconds))
            address = await asyncio.wait_for(self._address, seconds)
        except (Late, TimeoutError):
            return None
        finally:
            self._address = None
        await self._go_back(entry, seconds)
        return address

    def _navigated(self, frame: Frame) -> None:
        if frame == self._sheet.main_frame:
            self._arrive(frame.url)

    def _arrive(self, address: str) -> None:
        if self._address is not None and not self._address.done() and address != self._before:
            self._address.set_result(address)

    async def _history_entry(self) -> tuple[int, int]:
        """The place in the history and its number."""
        history = await self._session.send("Page.getNavigationHistory")
        at = int(history["currentIndex"])
        return at, int(history["entries"][at]["id"])

    async def _go_back(self, entry: tuple[int, int], seconds: float) -> None:
        """Go back to where the elements are. An address that was replaced, not added, leaves no way back, and
        needs none.
        """
        if self._sheet.url == self._before or (await self._history_entry())[0] <= entry[0]:
            return
        after = await self._measure()
        with contextlib.suppress(Error):
            await self._session.send("Page.navigateToHistoryEntry", {"entryId": entry[1]})
        await self._has_changed(after, seconds)


def _selectors(rendering: Rendering) -> list[str]:
    found = [rendering.wait_for] if rendering.wait_for is not None else []
    for step in rendering.steps:
        match step:
            case Click(selector) | Wait(str(selector)):
                found.append(selector)
    return [*found, rendering.collect.selector] if rendering.collect else found


async def _is_usable(target: Locator) -> bool:
    """Whether it is there, can be seen, and is enabled: asked once, without waiting."""
    if not await target.count() or not await target.is_visible():
        return False
    try:
        return await target.is_enabled(timeout=_milliseconds(POLL_SECONDS))
    except Late:  # gone in between
        return False


def _milliseconds(seconds: float) -> float:
    return max(1.0, seconds * 1000)  # 0 would mean without end
