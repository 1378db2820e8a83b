"""The roles app's part of the demo: a recruiter's candidates, the roles that they want, and a scraper that
looks for each role once.

The API is served by a process of its own, as in real life, and the scraper is the one of the examples. Only
its `look` is replaced: it asks the practice web's search.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.admin.keys import create_key
from thresher.apps.roles.app import app
from thresher.apps.roles.service.candidates import list_candidates
from thresher.apps.roles.service.matches import list_fits
from thresher.runtime import opened_store
from thresher.store.store import Store

SEARCH, COUNTRY, ROWS = "search.practice.example", "us", 50
PARTS = {"skills": "skills", "experience": "years", "location": "place", "salary": "pay", "semantic": "text"}
SETTINGS = {"roles.reset_after": 0}  # hours: roles are due again at the next run


def ask(run: DemoRun) -> None:
    """On the first day, add the candidates. On every other, put their roles back into the queue."""
    if run.day:
        run.command("add", "reset_roles", "--key", "reset_roles")
    else:
        run.command("add", "candidates", str(run.examples / "candidates.csv"))


def recruit(run: DemoRun) -> int:
    """Have a scraper look for every role that waits, and match what it finds. Return the exit code of the
    matching.
    """
    words = [sys.executable, "-m", "thresher", "--project", str(run.folder), "--database", run.database]
    with served(words) as url:
        scrape(run, url)
    matching = [*words, "run", "--json"]
    return subprocess.run(matching, stdout=subprocess.DEVNULL, check=False).returncode  # noqa: S603  our own command


@contextlib.contextmanager
def served(words: Sequence[str]) -> Iterator[str]:
    """The API of the project, in a process of its own; it says where it is."""
    with subprocess.Popen(  # noqa: S603  our own command
        [*words, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            told = re.search(r"http://[\d.:]+", process.stdout.readline())
            if told is None:
                raise SystemExit("the API does not start; thresher --project examples/harvest serve says why")
            yield told[0]
        finally:
            process.terminate()


def key_in(run: DemoRun) -> str:
    """Return the scraper's key. It is shown once, so the demo keeps it in a file that only we can read."""
    file = run.folder / "scraper.key"
    if not file.exists():
        with opened_store(run.database) as store:
            made = create_key(store, "demo-scraper", ["scrape"], apps=[app], rate=6_000)
        file.touch(0o600)
        file.write_text(made.token, "utf-8")
    return file.read_text("utf-8")


def scrape(run: DemoRun, url: str) -> None:
    """Run the reference scraper until no role waits."""
    os.environ |= {"THRESHER_URL": url, "THRESHER_KEY": key_in(run)}  # read when the scraper is loaded
    scraper = module_at(run.examples / "scraper.py")
    scraper.look = look
    scraper.main(run.web)


def module_at(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def look(web: str, role: dict[str, Any]) -> dict[str, Any]:
    """What the practice web's search has for a role. An empty answer is believed if the same search finds
    something else.
    """
    rows = search(web, role["name"])
    empty = {
        "verdict": "empty",
        "proof": {"url": f"https://{SEARCH}/", "control": {"query": "", "results": len(search(web, ""))}},
    }
    return {"jobs": [posting(row) for row in rows]} | ({} if rows else empty)


def search(web: str, what: str) -> list[dict[str, Any]]:
    asked = urlencode({"app_key": "demo", "what": what, "results_per_page": ROWS})
    request = Request(f"{web}/v1/search/{COUNTRY}/1?{asked}", headers={"Host": SEARCH})  # noqa: S310  the practice web
    with urlopen(request, timeout=60) as got:  # noqa: S310
        found: list[dict[str, Any]] = json.loads(got.read())["results"]
    return found


def posting(row: dict[str, Any]) -> dict[str, Any]:
    """One row of the search in the words of the scraper protocol."""
    return {
        "platform": "search",
        "external_job_id": row["id"],
        "title": row["title"],
        "company": row["company"]["display_name"],
        "location": row["location"]["display_name"],
        "description": row["description"],
        "job_url": row["redirect_url"],
        "posted_date": row["created"][:10],
        "salary_min": row.get("salary_min"),
        "salary_max": row.get("salary_max"),
    }


def report(run: DemoRun, store: Store) -> Iterator[Table]:  # noqa: ARG001  every app's part is asked alike
    """For each candidate the posting that suits best, with what each part of the score says."""
    table = Table(
        title="\nWhom to call about what", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in ("score", "candidate", "opening", "where", *PARTS.values()):
        table.add_column(name, justify="left" if name in ("candidate", "opening", "where") else "right")
    best = [
        each
        for candidate in list_candidates(store)
        for each in list_fits(store, candidate=candidate.key, limit=1)
    ]
    for each in sorted(best, key=lambda each: -each.score):
        said = (each.candidate_name, each.title, each.location)
        table.add_row(
            f"{each.score:.0f}",
            *(escape(text or "–") for text in said),
            *(f"{each.parts[part]:.0f}" for part in PARTS),
        )
    yield table


DEMO = Demo(ask, report, finish=recruit, settings=SETTINGS)
