"""What `make run` runs: a small web on this machine, the careers of its companies, crawled politely, and a catalogue, learned.

Everything is real but the web and the model: the queue, the gates, robots.txt, the walls, the caps. Run it again and it is the
next day there: some postings are new, some are gone. The project lies in the folder `harvest` beside this file, made when it
is first needed.
"""

import contextlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from careers import COMPANIES
from findings import report
from rich.console import Console

from thresher.build import opened_store
from thresher.cli import main as thresher
from thresher.insight.tasks import list_tasks
from thresher.practice.web import Knob, RemoteWeb, Trouble, practice_process, robots

FOLDER = Path(__file__).parent / "harvest"
DATABASE = f"sqlite:///{FOLDER / 'harvest.db'}"
SEED, PORT = 7, 8123
DONE = (0, 1)  # 1: a task failed, and some of them are meant to
INTERRUPTED = 128 + signal.SIGINT
# Polite, and still short enough to watch. On the real web leave the interval alone.
PROJECT = """# Written by demo.py at every run: the practice web may listen elsewhere the next time.
apps: [../careers.py, ../courses.py]
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
"""
TROUBLE = (
    Knob(Trouble.RATE_LIMITED, "api.lever.co", times=1, seconds=3),
    Knob(Trouble.CAPTCHA, "www.marlin.example", text="cloudflare"),
    robots("www.nettle.example", "User-agent: *\nDisallow: /career\nDisallow: /jobs\nDisallow: /join-us\n"),
    Knob(Trouble.NO_RESULTS, "www.verbena.example"),
)


@dataclass
class Round:
    """One pass over all companies: which day it is in the practice web, when the last one and this one began, whether it ended."""

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
            return any(task["created_at"] >= self.began for task in list_tasks(store, kind="company", limit=1))


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
    """`thresher run`, as anybody would run it, and a report if it came to its end. The exit code of the run."""
    goes_on = now.has_begun()
    with opened_web(now.day) as web:
        (FOLDER / "thresher.yaml").write_text(PROJECT.format(url=web.url), "utf-8")
        out.print(f"The practice web listens at {web.url}: {len(COMPANIES)} companies and their boards, on day {now.day}.", style="bold")
        out.print("Going on where the last run stopped.\n" if goes_on else f"{opening(now.day)} Ctrl-C is safe.\n")
        code = thresher(["--project", str(FOLDER), "--database", DATABASE, "run", *([] if goes_on else ["--again"])])
        log = web.log()
    if code in DONE:
        with opened_store(DATABASE) as store:
            report(out, store, (now.last, now.began), log, web.port)
    return code


def opening(day: int) -> str:
    return "Looking for their openings." if day == 0 else "Everything of the day before was done. Looking for news."


@contextlib.contextmanager
def opened_web(day: int) -> Iterator[RemoteWeb]:
    """The practice web in a process of its own. Ctrl-C is not for it: whoever stops still wants to end the request in hand."""
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
