"""One running Chromium: start it, watch its memory, and end it with all its processes.

It can reach nothing but the proxy it is given for each page, stores nothing, and cannot read our environment.
It is watched because nothing else limits what a page may use: a process over the limit is killed, and the
other pages go on. It leaves nothing behind: Chromium ends with the driver, the driver with us, and what
remains after a close is killed.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from playwright.async_api import Browser, Error, Playwright, async_playwright

from thresher.core.clock import monotonic
from thresher.core.errors import ConnectionFailed
from thresher.fetch.chromium import ADVICE, SANDBOX_ADVICE, Chromium, sandboxed
from thresher.fetch.rendering import POOL

# The process tree below a process, with the memory of each.
#
# A browser is a tree of processes, and only the system knows what they weigh. It is read from /proc, so on
# Linux alone; elsewhere there is nothing to see, and the script engine's own limit is all that holds a
# page.

PROC = Path("/proc")
ZOMBIE = "Z"
KILLED = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows any signal ends a process at once
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """One process. `started` tells it from another that was given the same number later. `weight` is in
    bytes.
    """

    pid: int
    parent: int
    started: int
    weight: int


def processes() -> dict[int, ProcessInfo]:
    """Return all running processes, without zombies."""
    if not PROC.is_dir():
        return {}
    found = (_entry(int(name)) for name in os.listdir(PROC) if name.isdecimal())  # noqa: PTH208 - four times as fast
    return {entry.pid: entry for entry in found if entry}


def below(root: int, table: dict[int, ProcessInfo]) -> list[ProcessInfo]:
    """The process and everything it has started, parents first."""
    children: dict[int, list[ProcessInfo]] = {}
    for entry in table.values():
        children.setdefault(entry.parent, []).append(entry)
    found = [table[root]] if root in table else []
    for entry in found:  # grows while we walk
        found += children.get(entry.pid, [])
    return found


def command(pid: int) -> list[str]:
    """What it was started with; nothing if it is gone."""
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def running(entries: Iterable[ProcessInfo]) -> list[ProcessInfo]:
    """Those of them that still run."""
    now = ((entry, _entry(entry.pid)) for entry in entries)
    return [entry for entry, found in now if found and found.started == entry.started]


def kill(entries: Iterable[ProcessInfo]) -> None:
    """End what still runs of them, at once. A number that was given to another process since is left
    alone.
    """
    for entry in running(entries):
        with contextlib.suppress(OSError):
            os.kill(entry.pid, KILLED)


def _entry(pid: int) -> ProcessInfo | None:
    try:
        text = (PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name in front of it may hold anything, brackets too
    if fields[0] == ZOMBIE:
        return None
    return ProcessInfo(pid, int(fields[1]), int(fields[19]), int(fields[21]) * PAGE_BYTES)


START_SECONDS = 30.0
CLOSE_SECONDS = 5.0
LOOK_SECONDS = 0.2
CLOSE_LOOK_SECONDS = 0.02  # while one grows: a script can fill its heap between two ordinary looks
GROWTH = 16 << 20  # bytes from one look to the next
BURIALS = 200  # a killed process may take a moment to let go of its memory
RECENT_SECONDS = 2.0
HEAP_SHARE = 0.5  # of the memory limit: scripts run out of heap before the process is too large
HEAVY_SHARE = 0.4  # of the memory limit: a process of that size that ends did not end for another reason
# Nothing listens there: what is not for a page goes nowhere.
NOWHERE = {"server": "http://127.0.0.1:9", "bypass": "<-loopback>"}
# What Chromium may see of our environment. Passwords and keys are not among it.
SHOWN = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH")
FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-blink-features=WebTransport",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-domain-reliability",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
    "--disable-breakpad",
)


class Process:
    """`pages` are those open now, `served` all there were. `agent` is what it calls itself."""

    def __init__(self, playwright: Playwright, browser: Browser, memory: int, folders: list[Path]) -> None:
        self._playwright, self.browser, self._memory, self._folders = playwright, browser, memory, folders
        self._roots: list[ProcessInfo] = []
        self._family: dict[int, ProcessInfo] = {}
        self._lost: list[tuple[float, int]] = []
        self._watch: asyncio.Task[None] | None = None
        self._ended = False
        self.agent = ""
        self.pages = 0
        self.served = 0

    @classmethod
    async def start(cls, chromium: Chromium, memory: int) -> Self:
        """Raises ConnectionFailed if it does not come up, that is nobody's fault but ours; ConfigError if it
        may not have a sandbox.
        """
        sandboxed()
        home = Path(tempfile.mkdtemp(prefix="thresher-browser-"))
        playwright: Playwright | None = None
        try:
            async with asyncio.timeout(START_SECONDS):
                playwright = await async_playwright().start()
                process = await cls._launched(playwright, chromium, memory, home)
        except BaseException as problem:
            if playwright is not None:
                await _bid_farewell(playwright.stop)
            shutil.rmtree(home, ignore_errors=True)
            if isinstance(problem, Error | TimeoutError):
                why = str(problem).partition("\n")[0] or f"nothing within {START_SECONDS:g} s"
                advice = SANDBOX_ADVICE if "sandbox" in str(problem).lower() and sandboxed() else ADVICE
                raise ConnectionFailed(
                    f"{chromium.path} does not start: {why}; {advice}", gate=POOL
                ) from problem
            raise
        return process

    @classmethod
    async def _launched(cls, playwright: Playwright, chromium: Chromium, memory: int, home: Path) -> Self:
        mark = f"--thresher={secrets.token_hex(8)}"
        browser = await playwright.chromium.launch(**_how(chromium, memory, home, mark, sandbox=sandboxed()))
        process = cls(playwright, browser, memory, [home])
        process._recognise(mark)
        session = await browser.new_browser_cdp_session()
        process.agent = (await session.send("Browser.getVersion"))["userAgent"]
        process._watch = asyncio.ensure_future(process._keep_watch())
        return process

    @property
    def alive(self) -> bool:
        """Asked of the system: the library goes on believing in a browser whose driver was killed."""
        return (
            not self._ended and self.browser.is_connected() and len(running(self._roots)) == len(self._roots)
        )

    @property
    def overweight(self) -> bool:
        """Whether a large process of it has ended just now: what a page that was too much for it leaves
        behind.
        """
        self._look()
        since = monotonic() - RECENT_SECONDS
        return any(at > since and weight > self._memory * HEAVY_SHARE for at, weight in self._lost)

    def condemn(self) -> None:
        """It does not do as it is told any more: no page is given to it again."""
        self._ended = True

    async def close(self) -> None:
        """Ask it to go, then make sure. Doing it twice does no harm."""
        self._ended = True
        if self._watch is not None:
            self._watch.cancel()
        self._look()
        await _bid_farewell(self.browser.close)
        await _bid_farewell(self._playwright.stop)
        kill(self._family.values())
        for _ in range(BURIALS):
            if not running(self._family.values()):
                break
            await asyncio.sleep(0.01)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _recognise(self, mark: str) -> None:
        """Find our Chromium among all we started, by a word only it was given; the driver is its parent."""
        table = processes()
        main = next((entry for entry in below(os.getpid(), table) if mark in command(entry.pid)), None)
        if main is not None and main.parent in table:
            self._roots = [table[main.parent], main]
            profiles = (
                word.partition("=")[2] for word in command(main.pid) if word.startswith("--user-data-dir=")
            )
            self._folders += [Path(profile) for profile in profiles]

    async def _keep_watch(self) -> None:
        while True:
            growing = self._look() if self.pages else False
            await asyncio.sleep(CLOSE_LOOK_SECONDS if growing else LOOK_SECONDS)

    def _look(self) -> bool:
        """Weigh the family, note whom it lost, and kill whoever is too large. Whether somebody is growing."""
        if not self._roots:
            return False
        driver = running(self._roots[:1])  # if it is gone, its number may be another's by now
        now = {entry.pid: entry for entry in below(driver[0].pid, processes())} if driver else {}
        gone = [entry for entry in self._family.values() if entry.pid not in now]
        # One that has ended and is not buried yet weighs nothing: what it weighed before is what counts.
        ended = [
            entry
            for entry in self._family.values()
            if entry.weight and entry.pid in now and not now[entry.pid].weight
        ]
        self._lost = [*self._lost, *((monotonic(), entry.weight) for entry in (*gone, *ended))][-20:]
        growing = any(
            now[each.pid].weight > each.weight + GROWTH for each in self._family.values() if each.pid in now
        )
        # Orphans of a killed driver are not below it any more, and still ours to bury.
        self._family = now | {entry.pid: entry for entry in running(gone)}
        kill(entry for entry in now.values() if entry.weight > self._memory)
        return growing


async def _bid_farewell(way: Callable[[], Coroutine[None, None, None]]) -> None:
    """Ask the processes to end, and wait a while. The caller kills those that do not."""
    with contextlib.suppress(Error, TimeoutError, ConnectionError):
        await asyncio.wait_for(way(), CLOSE_SECONDS)


def _how(chromium: Chromium, memory: int, home: Path, mark: str, *, sandbox: bool) -> dict[str, Any]:
    heap = f"--js-flags=--max-old-space-size={int(memory * HEAP_SHARE) >> 20}"
    return {
        "executable_path": chromium.path,
        "headless": True,
        "chromium_sandbox": sandbox,
        "args": [*FLAGS, heap, mark],
        "ignore_default_args": ["--disable-popup-blocking"],
        "proxy": NOWHERE,
        "env": {"HOME": str(home)} | {name: os.environ[name] for name in SHOWN if name in os.environ},
        # A signal for us is ours to answer: pages in flight are finished or given back first.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "timeout": START_SECONDS * 1000,
    }
