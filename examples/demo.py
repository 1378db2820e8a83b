"""What `make run` runs: a small web on this machine, a search for openings among its companies, a
catalogue, learned, a register, read whole, and two things, valued.

Everything is real but the web and the model: the queue, the gates, robots.txt, the walls, the caps. Run it
again and it is the next day there: some postings are new, some are gone. The project lies in the folder
`harvest` beside this file, made when it is first needed.
"""

import contextlib
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from thresher import App, Demo, DemoRun
from thresher.admin.events import list_events
from thresher.admin.tasks import list_tasks
from thresher.cli import main as thresher
from thresher.config.apps import load_apps
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
from thresher.runtime import opened_store
from thresher.store.store import Store

EXAMPLES = Path(__file__).parent
FOLDER = EXAMPLES / "harvest"
APPS = ("jobs", "roles", "queries", "extractions", "prices", "../courses.py")
DATABASE = f"sqlite:///{FOLDER / 'harvest.db'}"
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
SITES = tuple(f"{name}.example" for name in COMPANIES)
PROJECT = """# Written by demo.py at every run: the practice web may listen elsewhere the next time.
apps: [{apps}]
database: sqlite:///harvest.db
fetch:
  contact: https://example.com/about-this-bot
  resolve: {{"*": "{url}"}}
models:
  providers:
    practice: {{kind: openai, base_url: "{url}/v1", key: none-is-needed-here}}
  cheap: practice/practice-small
  prices: {{"practice/practice-small": {{input: 0.25, output: 2}}}}
settings:
{settings}
"""
# Polite, and still short enough to watch. On the real web leave the interval alone.
SETTINGS = {"host.interval": 0.5, "retry.base": 0.5}
MODEL = "127.0.0.1"  # the practice web's model has no name, only an address
BY_ITSELF = ("/static/", "/api/openings")  # what a page loads that a browser has to build
MAX_ROWS = 10_000
LOOK = ("sources list --all", "status", "doctor")
NEXT = """
[bold]Look around[/bold]
{look}
[bold]In a browser[/bold]: the line that this prints leads to the dashboard
  .venv/bin/thresher --project examples/harvest serve
[bold]Look for news[/bold] (it will be tomorrow there): make run
[bold]Ask what Thresher makes of a page[/bold], with the practice web running in another terminal:
  .venv/bin/python -m thresher.practice.web --port {port}
  .venv/bin/thresher --project examples/harvest inspect https://www.kestrel.example/career"""
TROUBLE = (
    Knob(Trouble.RATE_LIMITED, "api.lever.co", times=1, seconds=3),
    Knob(Trouble.CAPTCHA, "www.marlin.example", text="cloudflare"),
    robots("www.nettle.example", "User-agent: *\nDisallow: /\n"),
    Knob(Trouble.NO_RESULTS, "www.verbena.example"),
)


@dataclass
class Round:
    """One day of the search: which day it is in the practice web, when the last one and this one began,
    whether it ended."""

    day: int
    last: int = 0
    began: int = 0
    ended: bool = False

    @classmethod
    def current(cls) -> "Round":
        """The one that was interrupted, else the next."""
        file = FOLDER / "round.json"
        found = cls(**json.loads(file.read_text("utf-8"))) if file.exists() else cls(day=-1, ended=True)
        return cls(found.day + 1, found.began, time.time_ns() // 1_000) if found.ended else found

    def keep(self) -> None:
        """Whole or not at all: whoever is stopped in the middle must be able to go on."""
        draft = FOLDER / "round.draft"
        draft.write_text(json.dumps(asdict(self)), "utf-8")
        draft.replace(FOLDER / "round.json")

    def has_begun(self) -> bool:
        """Whether its first tasks are in the queue: then it only has to go on."""
        with opened_store(DATABASE) as store:
            return any(task["created_at"] >= self.began for task in list_tasks(store, limit=1))


def main() -> int:
    out = Console(highlight=False)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n", "utf-8")
    now = Round.current()
    now.keep()
    try:
        code = work(now, out)
    except KeyboardInterrupt:  # before there was a worker that could hear it
        code = INTERRUPTED
    now.ended = code in DONE
    now.keep()
    if code == INTERRUPTED:
        out.print("\nNothing is lost: [bold]make run[/bold] goes on where this stopped.")
    return 0 if code in (*DONE, INTERRUPTED) else code


def work(now: Round, out: Console) -> int:
    """Have every app do its part, and report if all came to its end. Return the exit code of the run."""
    goes_on = now.has_begun()
    apps = load_apps(APPS, FOLDER)
    demos = [app.demo for app in apps if app.demo]
    with opened_web(now.day) as web:
        run = DemoRun(now.day, now.last, now.began, SITES, web.url, EXAMPLES, FOLDER, DATABASE, command)
        write_project(web.url, demos)
        out.print(
            f"The practice web listens at {web.url}: {len(COMPANIES)} companies and their boards, on day {now.day}.",
            style="bold",
        )
        if goes_on:
            out.print("Going on where the last run stopped.\n")
        else:
            ask(run, demos, out)
        code = command("run", *([] if goes_on else ["--again"]))
        log = web.log()
        for demo in demos:
            if code in DONE and demo.finish:
                code = demo.finish(run)
    if code in DONE:
        report(run, apps, demos, log, web.port, out)
    return code


def write_project(url: str, demos: Sequence[Demo]) -> None:
    numbers = SETTINGS | {name: value for demo in demos for name, value in demo.settings.items()}
    settings = "\n".join(f"  {name}: {value}" for name, value in numbers.items())
    text = PROJECT.format(apps=", ".join(APPS), url=url, settings=settings)
    (FOLDER / "thresher.yaml").write_text(text, "utf-8")


def ask(run: DemoRun, demos: Sequence[Demo], out: Console) -> None:
    """Have every app ask for the work of the day."""
    what = "Looking for news." if run.day else "Following these companies."
    out.print(f"{what} Ctrl-C is safe.\n")
    for demo in demos:
        demo.ask(run)


def report(
    run: DemoRun, apps: Sequence[App], demos: Sequence[Demo], log: Sequence[LogEntry], port: int, out: Console
) -> None:
    """What every app has to tell, and how the web was treated meanwhile."""
    with opened_store(DATABASE, apps=apps) as store:
        for demo in demos:
            for part in demo.report(run, store):
                out.print(part)
        out.print(manners(store, run.began, [each for each in log if each.host != MODEL]))
    commands = [*(each for demo in demos for each in demo.look), *LOOK]
    look = "\n".join(f"  .venv/bin/thresher --project examples/harvest {each}" for each in commands)
    out.print(NEXT.format(port=port, look=look), soft_wrap=True)


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


def command(*words: str) -> int:
    return thresher(["--project", str(FOLDER), "--database", DATABASE, *words])


@contextlib.contextmanager
def opened_web(day: int) -> Iterator[RemoteWeb]:
    """The practice web in a process of its own. Ctrl-C is not for it: whoever stops still wants to end the
    request in hand."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with contextlib.ExitStack() as stack:
        try:
            web = stack.enter_context(practice_process(SEED, day=day, port=PORT))
        except RuntimeError:  # somebody else has that port
            web = stack.enter_context(practice_process(SEED, day=day))
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        web.turn(*TROUBLE)
        yield web


if __name__ == "__main__":
    sys.exit(main())
