"""`thresher demo`: a small web on this machine, and every app at work on it.

Everything is real but the web: the queue, the gates, robots.txt, the walls, the caps. Run it again and it is
the next day there: some postings are new, some are gone. The project lies in a folder of its own, made when
it is first needed. When the results are told, it goes on as `thresher up` does.
"""

import contextlib
import io
import json
import os
import shutil
import signal
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.events import list_events
from thresher.admin.tasks import list_tasks
from thresher.cli.call import CommandCall, call_of
from thresher.cli.main import main as thresher
from thresher.cli.serve import HOST
from thresher.cli.show import PIPE_WIDTH, SafeConsole, print_json
from thresher.cli.up import Browser, Port, has_desktop, up
from thresher.config.apps import FILE_NAME, load_apps, own_apps
from thresher.core.app import App
from thresher.core.clock import SystemClock
from thresher.core.errors import UsageError
from thresher.core.extension import Demo, DemoRun
from thresher.practice.web import (
    Knob,
    LogEntry,
    RemoteWeb,
    Trouble,
    gaps,
    peak,
    practice_process,
    robots,
)
from thresher.runtime import opened_store, pending_migrations
from thresher.store.store import Store

FOLDER, ROUND, DATABASE = "thresher-demo", "round.json", "demo.db"
SEED, PORT = 7, 8123
DONE = (0, 1)  # 1: a task failed, and some of them are meant to
INTERRUPTED = 128 + signal.SIGINT
COMPANIES = (
    "acme",
    "borealis",
    "cobalt",
    "fathom",
    "garnet",
    "heron",
    "isthmus",
    "juniper",
    "kestrel",
    "larkspur",
    "marlin",
    "nettle",
    "verbena",
)
PROJECT = """# Written by `thresher demo` at every run: the practice web may listen elsewhere the next time.
apps: [{apps}]
database: sqlite:///demo.db
fetch:
  contact: https://example.com/about-this-bot
  resolve: {{"*": "{url}"}}
settings:
{settings}
"""
# Polite, and still short enough to watch. On the real web leave the interval alone.
SETTINGS = {"host.interval": 0.5, "retry.base": 0.5}
BY_ITSELF = ("/static/", "/api/openings")  # what a page loads that a browser has to build
MAX_ROWS = 10_000
LOOK = ("sources list --all", "status", "doctor")
NEXT = """
[bold]Look around[/bold]
{look}
[bold]Look for news[/bold] (it will be tomorrow there): {again}"""
TROUBLE = (
    Knob(Trouble.RATE_LIMITED, "api.lever.co", times=1, seconds=3),
    Knob(Trouble.CAPTCHA, "www.marlin.example", text="cloudflare"),
    robots("www.nettle.example", "User-agent: *\nDisallow: /\n"),
    Knob(Trouble.NO_RESULTS, "www.verbena.example"),
)


def command(
    ctx: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="End after the results.")] = False,
    folder: Annotated[
        Path | None,
        typer.Option(help=f"Folder of the demo's project. Default: {FOLDER} in the current folder."),
    ] = None,
    port: Port = None,
    browser: Browser = None,
) -> None:
    """Show every app at work on a small web on this machine, then serve the dashboard until stopped. No
    request leaves the machine.

    Ctrl-C is safe: the next run goes on. After a run that has ended, the next is the next day there.
    """
    call = call_of(ctx)
    if call.json and not once:
        raise UsageError("--json prints the results when all is done: thresher demo --once --json")
    place = folder or call.folder / FOLDER
    _make(place)
    now = Round.current(place)
    try:
        with opened_web(now.day) as web:
            show = make_show(call, place, now, web)
            code = show.play()
            if code in DONE and not once:
                up(show.call, HOST, port, opens=has_desktop() if browser is None else browser)
    except KeyboardInterrupt:  # before there was a worker that could hear it
        code = INTERRUPTED
    if code == INTERRUPTED and not call.json:
        _console().print(f"\nNothing is lost: [bold]{_again(place)}[/bold] goes on where this stopped.")
    # Ctrl-C is how the demo ends; whoever asked for the results did not get them.
    raise typer.Exit(0 if code in DONE or (code == INTERRUPTED and not once) else code)


def _make(place: Path) -> None:
    if (place / FILE_NAME).exists() and not (place / ROUND).exists():
        raise UsageError(
            f"{place} holds a project of yours; choose another folder: thresher demo --folder NAME"
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / ".gitignore").write_text("*\n", "utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write in {place}: {problem.strerror}") from None


@dataclass
class Round:
    """One day of the demo: which day it is in the practice web, when the last one and this one began, and
    whether it ended.
    """

    day: int
    last: int = 0
    began: int = 0
    ended: bool = False

    @classmethod
    def current(cls, place: Path) -> "Round":
        """The one that was interrupted, else the next."""
        file = place / ROUND
        found = cls(**json.loads(file.read_text("utf-8"))) if file.exists() else cls(day=-1, ended=True)
        now = cls(found.day + 1, found.began, SystemClock().now()) if found.ended else found
        now.keep(place)
        return now

    def keep(self, place: Path) -> None:
        """Whole or not at all: whoever is stopped in the middle must be able to go on."""
        draft = place / f"{ROUND}.draft"
        draft.write_text(json.dumps(asdict(self)), "utf-8")
        draft.replace(place / ROUND)


def make_show(call: CommandCall, place: Path, now: Round, web: RemoteWeb) -> "Show":
    """The demo of this day, with its project written."""
    more = [os.path.abspath(name) if name.endswith(".py") else name for name in call.apps]  # noqa: PTH100  a name may have a colon
    apps = load_apps([*own_apps(), *more], place)
    demos = {app.name: app.demo for app in apps if app.demo}
    url = call.database or f"sqlite:///{place.resolve() / DATABASE}"
    numbers = SETTINGS | {name: value for demo in demos.values() for name, value in demo.settings.items()}
    text = PROJECT.format(
        apps=", ".join([*own_apps(), *more]),
        url=web.url,
        settings="\n".join(f"  {name}: {value}" for name, value in numbers.items()),
    )
    (place / FILE_NAME).write_text(text, "utf-8")
    for demo in demos.values():
        os.environ.update({name: os.environ.get(name, value) for name, value in demo.environ.items()})
    shared = CommandCall(url, place, [], json=call.json, verbose=call.verbose, asked=call.asked)
    return Show(shared, now, web, tuple(apps), demos)


@dataclass(frozen=True)
class Show:
    """One run of the demo."""

    call: CommandCall
    now: Round
    web: RemoteWeb
    apps: tuple[App, ...]
    demos: dict[str, Demo]

    @property
    def is_quiet(self) -> bool:
        """Whether nobody watches: then only the results are told."""
        return self.call.json or not sys.stdout.isatty()

    @property
    def run(self) -> DemoRun:
        now, url = self.now, self.call.database or ""
        sites = tuple(f"{name}.example" for name in COMPANIES)
        return DemoRun(now.day, now.last, now.began, sites, self.web.url, self.call.folder, url, self.command)

    def command(self, *words: str) -> int:
        """Run a command as a person would type it. Its progress is for who watches; what goes wrong is always
        told.
        """
        line = ["--project", str(self.call.folder), "--database", self.run.database, *words]
        said, wrong = io.StringIO(), io.StringIO()
        with contextlib.ExitStack() as stack:
            if self.is_quiet:
                stack.enter_context(contextlib.redirect_stdout(said))
            if words[0] != "run":  # nobody needs to be told that no worker is running: one will
                stack.enter_context(contextlib.redirect_stderr(wrong))
            code = thresher(line)
        if code not in DONE:
            sys.stderr.write(wrong.getvalue())
        return code

    def play(self) -> int:
        """Have every app do its part, and report if all came to its end. Return the exit code of the run."""
        goes_on, run = self._has_begun(), self.run
        if not self.is_quiet:
            self._greet(goes_on=goes_on)
        if not goes_on:
            for demo in self.demos.values():
                demo.ask(run)
        code = self.command("run", *([] if goes_on else ["--again"]))
        log = self.web.log()
        for demo in self.demos.values():
            if code in DONE and demo.finish:
                code = demo.finish(run)
        self.now.ended = code in DONE
        self.now.keep(self.call.folder)
        if code in DONE:
            self._report(run, log)
        return code

    def _has_begun(self) -> bool:
        """Whether its first tasks are in the queue: then it only has to go on."""
        if self.now.day == 0 and pending_migrations(self.run.database, self.apps):
            return False
        with opened_store(self.run.database) as store:
            return any(task["created_at"] >= self.now.began for task in list_tasks(store, limit=1))

    def _greet(self, *, goes_on: bool) -> None:
        said = f"The practice web listens at {self.web.url}: {len(COMPANIES)} companies and their boards, on day {self.now.day}."
        _console().print(said, style="bold")
        what = "Looking for news." if self.now.day else "Following these companies."
        _console().print("Going on where the last run stopped.\n" if goes_on else f"{what} Ctrl-C is safe.\n")

    def _report(self, run: DemoRun, log: Sequence[LogEntry]) -> None:
        """What every app has to tell, and how the web was treated meanwhile."""
        with opened_store(run.database, apps=self.apps) as store:
            if self.call.json:
                counted = {
                    name: dict(demo.counts(run, store)) if demo.counts else {}
                    for name, demo in self.demos.items()
                }
                print_json(counted)
                return
            out = _console()
            for demo in self.demos.values():
                for part in demo.report(run, store):
                    out.print(part)
            out.print(manners(store, run.began, log))
        commands = [*(each for demo in self.demos.values() for each in demo.look), *LOOK]
        words = f"{_program()} --project {os.path.relpath(run.folder)}"
        look = "\n".join(f"  {words} {each}" for each in commands)
        out.print(NEXT.format(look=look, again=_again(run.folder)), soft_wrap=True)


def _console() -> Console:
    wide = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or PIPE_WIDTH)
    return SafeConsole(highlight=False, emoji=False, width=wide)


def _program() -> str:
    """How whoever started this calls us."""
    here = sys.argv[0]
    if Path(here).stem != "thresher":
        return "thresher"
    found = shutil.which("thresher")
    return "thresher" if found and Path(found).resolve() == Path(here).resolve() else here


def _again(place: Path) -> str:
    folder = os.path.relpath(place)
    return f"{_program()} demo{'' if folder == FOLDER else f' --folder {folder}'}"


def manners(store: Store, began: int, log: Sequence[LogEntry]) -> str:
    """How it looked from the other side."""
    hosts = Counter(each.host for each in log)
    busiest, most = (hosts.most_common(1) or [("nobody", 0)])[0]
    asked_for = [each for each in log if not each.path.startswith(BY_ITSELF)]
    closest = min(
        (gap for host in hosts for gap in gaps(each for each in asked_for if each.host == host)), default=0.0
    )
    waits = [each for each in list_events(store, kind="gate_paused", limit=MAX_ROWS) if each["at"] >= began]
    asked = f" {waits[0]['gate']} asked us to wait, and we did." if waits else ""
    rules, same = sum(each.path == "/robots.txt" for each in log), sum(each.status == 304 for each in log)
    first = f"{rules} of them for robots.txt and " if rules else ""
    unchanged = f" {same} pages had not changed and were not sent again." if same else ""
    return (
        f"\n[bold]How the web saw it[/bold]\n{len(log)} requests to {len(hosts)} hosts, {first}{most} to "
        f"{busiest}; at every host {peak(asked_for)} at a time, never closer than {closest:.2f} s.{asked}{unchanged}"
    )


@contextlib.contextmanager
def opened_web(day: int) -> Iterator[RemoteWeb]:
    """The practice web in a process of its own. Ctrl-C is not for it: whoever stops still wants to end the
    request in hand.
    """
    with contextlib.ExitStack() as stack:
        with _interrupts_held():
            try:
                web = stack.enter_context(practice_process(SEED, day=day, port=PORT if _is_free(PORT) else 0))
            except RuntimeError:  # somebody was faster
                web = stack.enter_context(practice_process(SEED, day=day))
        web.turn(*TROUBLE)
        yield web


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
    return True


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process that is started meanwhile never hears Ctrl-C."""
    if sys.platform == "win32":  # it cannot hold a signal back
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
