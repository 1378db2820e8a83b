"""Verdicts: every blocked page is called blocked, no other is; "0 results" is never found; a refusal inside a
recording is none either."""

from pathlib import Path

from evaluate.manifest import Entry, entries, share
from evaluate.score import Score
from thresher.core.page import Verdict

PAGES = ("pages/", "ats/", "companies/", "prices/", "recipes/", "articles/", "api/", "feeds/")
SUFFIXES = (".html", ".htm", ".json", ".xml", ".html.gz")


def scores(corpus: Path) -> list[Score]:
    seen = [(entry, entry.inspected()) for entry in _pages(corpus)]
    blocked = [(entry, found) for entry, found in seen if entry.kind == "blocked-page"]
    others = [(entry, found) for entry, found in seen if entry.kind != "blocked-page"]
    empty = [(entry, found) for entry, found in seen if _is_empty(entry)]
    missed = tuple(
        f"{entry.file}: {found.look}" for entry, found in blocked if found.look.verdict is not Verdict.BLOCKED
    )
    alarms = tuple(
        f"{entry.file}: {found.look}" for entry, found in others if found.look.verdict is Verdict.BLOCKED
    )
    invented = tuple(
        f"{entry.file}: {found.look}"
        for entry, found in empty
        if found.look.verdict is Verdict.FOUND or found.postings
    )
    shells = [
        (entry, found)
        for entry, found in seen
        if entry.truth.get("jobs") == 0 and entry.kind == "job-listing-html"
    ]
    unseen = tuple(
        f"{entry.file}: {found.look}" for entry, found in shells if found.look.verdict is not Verdict.UNKNOWN
    )
    return [
        Score(
            "looks",
            "blocked pages called blocked",
            share(len(blocked) - len(missed), len(blocked)),
            len(blocked),
            1.0,
            misses=missed,
        ),
        Score("looks", "false alarms", float(len(alarms)), len(others), 0.0, lower=True, misses=alarms),
        Score(
            "looks",
            "empty or refused, called found",
            float(len(invented)),
            len(empty),
            0.0,
            lower=True,
            misses=invented,
        ),
        Score(
            "looks",
            "shells left unknown",
            share(len(shells) - len(unseen), len(shells)),
            len(shells),
            1.0,
            misses=unseen,
        ),
    ]


def _pages(corpus: Path) -> list[Entry]:
    listed = [entry for entry in entries(corpus, *PAGES) if entry.file.endswith(SUFFIXES)]
    articles = [
        Entry(str(path.relative_to(corpus)), "article", {}, path)
        for path in sorted((corpus / "articles").rglob("*.html.gz"))
    ]
    return [entry for entry in listed if not entry.file.startswith("articles/")] + articles


def _is_empty(entry: Entry) -> bool:
    truth = entry.truth
    return truth.get("real_results") == 0 or truth.get("jobs") == 0 or truth.get("status", 200) >= 400
