"""The second half of the demo: a recruiter's candidates, the roles that they want, and a scraper that looks
for each role once.

The API is served by a process of its own, as in real life, and the scraper is the one that stands beside this
file. Only its `look` is another: it asks the practice web's search.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from rich.markup import escape
from rich.table import Table

from thresher.admin.keys import create_key
from thresher.apps.roles.app import app as roles
from thresher.apps.roles.service.candidates import list_candidates
from thresher.apps.roles.service.matches import list_fits
from thresher.runtime import opened_store
from thresher.store.store import Store

HERE = Path(__file__).parent
SEARCH, COUNTRY, ROWS = "search.practice.example", "us", 50
PARTS = {"skills": "skills", "experience": "years", "location": "place", "salary": "pay", "semantic": "text"}


def recruit(folder: Path, database: str, web: str) -> int:
    """Have every role that waits looked for by a scraper, and what it finds matched. The exit code of the
    matching."""
    words = [sys.executable, "-m", "thresher", "--project", str(folder), "--database", database]
    with served(words) as url:
        scrape(url, key_in(folder, database), web)
    return subprocess.run([*words, "run", "--json"], stdout=subprocess.DEVNULL, check=False).returncode


@contextlib.contextmanager
def served(words: Sequence[str]) -> Iterator[str]:
    """The API of the project, in a process of its own; it says where it is."""
    with subprocess.Popen(
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


def key_in(folder: Path, database: str) -> str:
    """The scraper's key. It is shown once, so whoever needs it again keeps it, where nobody else can read
    it."""
    file = folder / "scraper.key"
    if not file.exists():
        with opened_store(database) as store:
            made = create_key(store, "demo-scraper", ["scrape"], apps=[roles], rate=6_000)
        file.touch(0o600)
        file.write_text(made.token, "utf-8")
    return file.read_text("utf-8")


def scrape(url: str, key: str, web: str) -> None:
    """Run the reference scraper until no role waits."""
    os.environ |= {"THRESHER_URL": url, "THRESHER_KEY": key}
    import scraper  # noqa: PLC0415  it reads where to go when it is loaded

    scraper.look = look
    scraper.main(web)


def look(web: str, role: dict[str, Any]) -> dict[str, Any]:
    """What the practice web's search has for a role. An empty answer is believed if the same search finds
    something else."""
    rows = search(web, role["name"])
    empty = {
        "verdict": "empty",
        "proof": {"url": f"https://{SEARCH}/", "control": {"query": "", "results": len(search(web, ""))}},
    }
    return {"jobs": [posting(row) for row in rows]} | ({} if rows else empty)


def search(web: str, what: str) -> list[dict[str, Any]]:
    asked = urlencode({"app_key": "demo", "what": what, "results_per_page": ROWS})
    with urlopen(
        Request(f"{web}/v1/search/{COUNTRY}/1?{asked}", headers={"Host": SEARCH}), timeout=60
    ) as got:
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


def callings(store: Store) -> Table:
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
    return table
