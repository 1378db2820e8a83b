"""The roles app's part of the demo: a recruiter's candidates, the roles that they want, and a scraper that
looks for each role once.

The API is served by a process of its own, as in real life, and the scraper is the reference scraper. Only its
`look` is replaced: it asks the practice web's search.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.admin.keys import create_key
from thresher.admin.records import every
from thresher.apps.roles import scraper
from thresher.apps.roles.app import app
from thresher.apps.roles.service.candidates import list_candidates
from thresher.apps.roles.service.matches import list_fits
from thresher.apps.roles.service.roles import list_roles
from thresher.runtime import opened_store
from thresher.store.store import Store

PLATFORM, MAX_ROWS = "search", 10_000
LOOK = ("candidates list", 'candidates matches "ada okafor"', "roles list")
SEARCH, COUNTRY, ROWS = "search.practice.example", "us", 50
PARTS = {"skills": "skills", "experience": "years", "location": "place", "salary": "pay", "semantic": "text"}
CANDIDATES = """name,title,skills,tech_stack,specializations,experience_years,locations,salary_min,remote
Ada Okafor,Senior Python Developer,Python;SQL;Docker,Django;PostgreSQL,payments,8,Denver CO,110000,yes
Bruno Keller,Python Dev,Python;Flask,AWS,,3,Austin TX,80000,no
Chidi Anders,Sr. UX Researcher,interviews;usability testing;Figma,,accessibility,6,Portland OR,,yes
Dana Whitfield,UX Researcher,surveys;statistics,,,2,Denver CO,70000,
Elif Demir,Lead Product Designer,Figma;prototyping,,design systems,9,New York NY,120000,no
Femi Larsen,Financial Analyst II,Excel;SQL;forecasting,,budgets,5,Denver CO,85000,no
Grace Moreau,Staff Accountant,Excel;audits,NetSuite,,7,Chicago IL,90000,no
Hiro Lindqvist,Technical Writer,clear writing;Markdown;Git,,API documentation,4,,,yes
"""
SETTINGS = {"roles.reset_after": 0}  # hours: roles are due again at the next run


def ask(run: DemoRun) -> None:
    """On the first day, add the candidates. On every other, put their roles back into the queue."""
    if run.day:
        run.command("add", "reset_roles", "--key", "reset_roles")
    else:
        file = run.folder / "candidates.csv"
        file.write_text(CANDIDATES, "utf-8")
        run.command("add", "candidates", str(file))


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
                raise SystemExit(f"the API does not start; thresher --project {words[4]} serve says why")
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
    os.environ |= {"THRESHER_URL": url, "THRESHER_KEY": key_in(run)}
    with contextlib.nullcontext() if sys.stdout.isatty() else contextlib.redirect_stdout(None):
        scraper.main(run.web, look)


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
        "platform": PLATFORM,
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


def counts(run: DemoRun, store: Store) -> dict[str, int]:  # noqa: ARG001  every app is asked alike
    """How many people want how many roles, and how many of them suit which postings."""
    return {
        "candidates": len(list_candidates(store, limit=MAX_ROWS)),
        "roles": len(list_roles(store, limit=MAX_ROWS)),
        "postings": sum(each.key.startswith(f"{PLATFORM}/") for each in every(store, "posting")),
        "matches": sum(
            len(list_fits(store, candidate=each.key, limit=MAX_ROWS)) for each in list_candidates(store)
        ),
    }


DEMO = Demo(ask, report, counts, finish=recruit, settings=SETTINGS, look=LOOK)
