"""Postings: how many and which first, of listing pages, answers of platforms, feeds and pages about one
opening."""

from pathlib import Path
from typing import Any

from evaluate.manifest import Entry, entries, plain, share
from evaluate.score import Score
from thresher.reading.inspect.inspection import Inspection

FOLDERS = ("pages/listings/", "ats/", "feeds/", "api/", "postings/", "incremental/")
SUFFIXES = (".html", ".json", ".xml")
COUNTS = (
    "distinct_jobs",
    "distinct_uuid",
    "distinct_shortcodes",
    "distinct_ids",
    "jobs",
    "records",
    "offers_in_json",
    "items",
    "offers",
    "positions",
    "requisitions",
    "rows",
    "totalFound",
)
RECORDS = ("records", "offers_in_json")
FIRSTS = ("first_title", "first", "jsonld_title", "title")
SWDE = {"title": "title", "company": "company", "location": "location"}


def scores(corpus: Path) -> list[Score]:
    listed = [
        entry
        for entry in entries(corpus, *FOLDERS)
        if entry.file.endswith(SUFFIXES) and _count(entry.truth) and entry.kind != "labels"
    ]
    seen = [(entry, entry.inspected()) for entry in listed]
    counted = tuple(
        f"{entry.file}: {_count(entry.truth)}, read {len(found.postings)}"
        for entry, found in seen
        if not _counts(entry, found)
    )
    named = [(entry, found) for entry, found in seen if _first(entry.truth)]
    first = tuple(
        f"{entry.file}: {_first(entry.truth)!r}, read {_title(found)!r}"
        for entry, found in named
        if not _agrees(entry, found)
    )
    return [
        Score(
            "postings",
            "number of postings",
            share(len(seen) - len(counted), len(seen)),
            len(seen),
            1.0,
            misses=counted,
        ),
        Score(
            "postings",
            "title of the first posting",
            share(len(named) - len(first), len(named)),
            len(named),
            1.0,
            misses=first,
        ),
        _details(corpus),
        *_swde(corpus),
    ]


def _count(truth: dict[str, Any]) -> int | None:
    return next((truth[name] for name in COUNTS if isinstance(truth.get(name), int)), None)


def _counts(entry: Entry, found: Inspection) -> bool:
    """Exactly; but a label that counts records counts one that stands there twice, or a notice among them,
    too."""
    wanted = _count(entry.truth) or 0
    by_record = any(entry.truth.get(name) == wanted for name in RECORDS) and wanted > 4
    return wanted - (1 if by_record else 0) <= len(found.postings) <= wanted


def _first(truth: dict[str, Any]) -> str | None:
    return next((truth[name] for name in FIRSTS if isinstance(truth.get(name), str)), None)


def _title(found: Inspection) -> str:
    return found.postings[0].title if found.postings else ""


def _agrees(entry: Entry, found: Inspection) -> bool:
    wanted, got = plain(_first(entry.truth)), plain(_title(found))
    return bool(got) and (got.startswith(wanted) or wanted.startswith(got))


def _details(corpus: Path) -> Score:
    cases = [entry for entry in entries(corpus, "pages/job_postings/") if _first(entry.truth)]
    misses = []
    for entry in cases:
        found = entry.inspected()
        company = entry.truth.get("org") or entry.truth.get("company")
        right = len(found.postings) == 1 and _agrees(entry, found)
        if not right or (company and plain(found.postings[0].company) != plain(company)):
            misses.append(
                f"{entry.file}: {_title(found)!r} {found.postings[0].company if found.postings else None!r}"
            )
    return Score(
        "postings",
        "a page about one opening",
        share(len(cases) - len(misses), len(cases)),
        len(cases),
        1.0,
        misses=tuple(misses),
    )


def _swde(corpus: Path) -> list[Score]:
    """Old pages that declare nothing: what a general reading of headline and labels makes of them."""
    cases = [entry for entry in entries(corpus, "recipes/swde/") if entry.kind == "detail-page-job"]
    seen = [(entry, entry.inspected(entry.truth.get("url", ""))) for entry in cases]
    made = []
    for name in SWDE:
        wanted = [(entry, found) for entry, found in seen if entry.truth.get(name)]
        misses = tuple(
            f"{e.file}: {e.truth[name]}, read {_field(f, name)!r}"
            for e, f in wanted
            if not _holds(e.truth[name], _field(f, name))
        )
        made.append(
            Score(
                "postings",
                f"undeclared opening: {name}",
                share(len(wanted) - len(misses), len(wanted)),
                len(wanted),
                misses=misses,
            )
        )
    return made


def _field(found: Inspection, name: str) -> str:
    return str(getattr(found.postings[0], name) or "") if len(found.postings) == 1 else ""


def _holds(truths: list[str], got: str) -> bool:
    return bool(got) and any(plain(truth) in plain(got) or plain(got) in plain(truth) for truth in truths)
