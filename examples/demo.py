"""What `make run` runs: a small web on this machine, a search for openings among its companies, and a
catalogue, learned.

Everything is real but the web and the model: the queue, the gates, robots.txt, the walls, the caps. Run it
again and it is the next day there: some postings are new, some are gone. The project lies in the folder
`harvest` beside this file, made when it is first needed.
"""

import contextlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agency import callings, recruit
from findings import report
from rich.console import Console

from thresher.admin.tasks import list_tasks
from thresher.cli import main as thresher
from thresher.config.apps import load_apps
from thresher.config.project import read_project
from thresher.practice.web import Knob, RemoteWeb, Trouble, practice_process, robots
from thresher.runtime import opened_store

FOLDER = Path(__file__).parent / "harvest"
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
# Polite, and still short enough to watch. On the real web leave the interval alone.
PROJECT = """# Written by demo.py at every run: the practice web may listen elsewhere the next time.
apps: [jobs, roles, ../courses.py]
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
  host.interval: 0.5
  retry.base: 0.5
  jobs.company.ask: 0           # the rules read these sites, and the practice model can read but not judge
  jobs.judge: 0
  jobs.interval: 0              # hours: boards are due again at the next run
  jobs.interval_a: 0
  jobs.interval_s: 0
  jobs.notify.delay: 0
  jobs.filter.age_limit: 36500  # it is March there, and always will be: no posting is too old
  jobs.filter.age_points: 0
  jobs.score.fresh: 0
  jobs.score.stale: 0
  jobs.score.old: 0
  roles.reset_after: 0          # hours: roles are due again at the next run
"""
PROFILE = """# Who the demo looks for openings for. Write your own in five minutes: thresher jobs profile example
city: Denver
region: CO
country: US
timezone: America/Denver
titles: [analyst, engineer, product manager, designer, accountant, controller]
skills:
  sql: {rank: required, years: 6}
  python: {rank: required, years: 6}
  excel: {rank: ok, years: 8}
  tableau: {rank: ok, years: 4}
workplace: {remote: yes, hybrid_in: [Denver, Austin, Portland], onsite: yes}
salary: {floor: 60k, target: 110k, currency: USD}
size: large
experience: 2
levels: {wanted: [senior, staff, lead], unwanted: {principal: 1, director: 1}, excluded: [intern, junior]}
excluded: {types: [sales, recruiter, support], keywords: [clearance required, security clearance]}
"""
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
    """What a person types, and a report if it came to its end. The exit code of the run."""
    goes_on = now.has_begun()
    with opened_web(now.day) as web:
        (FOLDER / "thresher.yaml").write_text(PROJECT.format(url=web.url), "utf-8")
        (FOLDER / "profile.yaml").write_text(PROFILE, "utf-8")
        out.print(
            f"The practice web listens at {web.url}: {len(COMPANIES)} companies and their boards, on day {now.day}.",
            style="bold",
        )
        if goes_on:
            out.print("Going on where the last run stopped.\n")
        else:
            ask(now.day, out)
        code = command("run", *([] if goes_on else ["--again"]))
        log = web.log()
        if code in DONE:
            code = recruit(FOLDER, DATABASE, web.url)
    if code in DONE:
        project = read_project(FOLDER)
        with opened_store(DATABASE, apps=load_apps(project.apps, FOLDER)) as store:
            report(out, store, COMPANIES, (now.last, now.began), log, web.port, callings(store))
    return code


def ask(day: int, out: Console) -> None:
    """On the first day: who looks, and at whom. On every other: for news of all boards."""
    out.print(
        "Following these companies. Ctrl-C is safe.\n" if day == 0 else "Looking for news. Ctrl-C is safe.\n"
    )
    if day == 0:
        command("jobs", "profile", "set", str(FOLDER / "profile.yaml"))
        command("add", "company", *(f"https://www.{name}.example/" for name in COMPANIES))
        command("add", "candidates", str(FOLDER.parent / "candidates.csv"))
        command("schedules", "pause", "jobs.scrape")  # a day passes there with every run, not with the clock
    else:
        command("add", "scrape", "--key", "scrape")
        command("add", "reset_roles", "--key", "reset_roles")


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
