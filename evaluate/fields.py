"""Fields: everything the manifest says of a posting, on pages about one opening and of the first row of
lists, answers and feeds."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from evaluate.manifest import TODAY, Entry, entries, plain, share
from evaluate.score import Score
from thresher.reading.inspect.inspection import Inspection
from thresher.reading.postings.posting import Posting
from thresher.reading.values.dates import posted_on

LISTS = ("pages/listings/", "ats/", "feeds/", "api/", "postings/")
SUFFIXES = (".html", ".htm", ".json", ".xml")
NEARLY = 0.8  # of the characters of a description
# The names under which the manifest has each field.
LABELS = {
    "title": ("title", "jsonld_title", "first_title", "first"),
    "company": ("org", "company", "first_company", "first_org"),
    "location": ("locality", "location", "first_location", "first_city"),
    "posted": (
        "datePosted",
        "date_posted",
        "first_date",
        "first_created",
        "first_createdAt",
        "first_publishedAt",
        "first_published",
        "first_released",
        "first_pubDate",
        "first_postedOn",
    ),
    "employment_type": ("employmentType", "worktype"),
    "salary": ("salary", "first_salary"),
    "url": ("url", "first_url", "first_href"),
    "key": ("identifier", "first_id", "first_req", "first_code", "first_JobId"),
    "remote": ("first_isRemote",),
    "description": ("description_chars", "description_starts"),
    "token": ("token",),
}


def scores(corpus: Path) -> list[Score]:
    declared = [entry for entry in entries(corpus, "pages/job_postings/") if entry.file.endswith(SUFFIXES)]
    old = [entry for entry in entries(corpus, "recipes/swde/") if entry.kind == "detail-page-job"]
    rows = [entry for entry in entries(corpus, *LISTS) if entry.file.endswith(SUFFIXES)]
    checked = [
        ("page about one opening", list(_checked(declared))),
        ("page that declares nothing", list(_checked(old))),
        ("first row", list(_checked(rows))),
    ]
    everything = [each for _, some in checked for each in some]
    return [
        _score("all labelled fields", everything, 0.95),
        *(_score(f"fields of a {name}", some) for name, some in checked),
    ]


def _score(name: str, checked: list[tuple[str, bool]], aim: float | None = None) -> Score:
    misses = tuple(what for what, right in checked if not right)
    return Score(
        "fields", name, share(len(checked) - len(misses), len(checked)), len(checked), aim, misses=misses
    )


def _checked(chosen: list[Entry]) -> list[tuple[str, bool]]:
    return [case for entry in chosen for case in _of(entry)]


def _of(entry: Entry) -> list[tuple[str, bool]]:
    base = entry.truth.get("url", "")
    found = entry.inspected(base if isinstance(base, str) and entry.kind == "detail-page-job" else "")
    return [
        (what, right)
        for field, what, right in field_cases(entry, found)
        if not (field == "url" and entry.kind == "detail-page-job")
    ]


def field_cases(entry: Entry, found: Inspection) -> Iterator[tuple[str, str, bool]]:
    """Each labelled field: its name, what was wanted and read, and whether that is right."""
    for field, names in LABELS.items():
        wanted = next(
            (entry.truth[name] for name in names if entry.truth.get(name) not in (None, "", [])), None
        )
        if wanted is not None:
            what = f"{entry.file}: {field} {str(wanted)[:80]!r}, read {shown(field, found)!r}"
            yield field, what, _is_right(field, wanted, found)


def _is_right(field: str, wanted: Any, found: Inspection) -> bool:
    if field == "token":
        return found.board is not None and found.board.token == wanted
    posting = found.postings[0] if found.postings else None
    return posting is not None and any(
        CHECKS[field](each, posting) for each in (wanted if _is_choice(wanted) else [wanted])
    )


def _is_choice(wanted: Any) -> bool:
    return isinstance(wanted, list) and all(isinstance(each, str) for each in wanted)


def _holds(name: str) -> Callable[[Any, Posting], bool]:
    def check(wanted: Any, posting: Posting) -> bool:
        got = plain(getattr(posting, name))
        return bool(got) and (plain(wanted) in got or got in plain(wanted))

    return check


def _employs(wanted: Any, posting: Posting) -> bool:
    """FULL_TIME of schema.org is what a page shows as "Full-time"."""
    said, got = (re.sub(r"[\s_-]+", "", plain(each)) for each in (wanted, posting.employment_type))
    return bool(got) and (said in got or got in said)


def _posted(wanted: Any, posting: Posting) -> bool:
    return posting.posted_date is not None and posting.posted_date == (
        _day(wanted) or posted_on(str(wanted), TODAY)
    )


def _day(wanted: Any) -> date | None:
    try:
        return date.fromisoformat(str(wanted)[:10])
    except ValueError:
        return None


def _pays(wanted: Any, posting: Posting) -> bool:
    if posting.salary is None:
        return False
    said = (
        [wanted.get("min"), wanted.get("max"), wanted.get("currency")]
        if isinstance(wanted, Mapping)
        else list(wanted)
    )
    got = posting.salary
    return [str(each) for each in said[:3]] == [
        f"{got.low:f}" if got.low else "",
        f"{got.high:f}" if got.high else "",
        str(got.currency),
    ]


def _described(wanted: Any, posting: Posting) -> bool:
    if isinstance(wanted, str):
        return plain(wanted) in plain(posting.description)
    return NEARLY * wanted <= len(posting.description or "") <= wanted / NEARLY


CHECKS: dict[str, Callable[[Any, Posting], bool]] = {
    "title": _holds("title"),
    "company": _holds("company"),
    "location": _holds("location"),
    "posted": _posted,
    "employment_type": _employs,
    "salary": _pays,
    "url": _holds("url"),
    "key": _holds("key"),
    "remote": lambda wanted, posting: (posting.remote == "remote") == bool(wanted),
    "description": _described,
}


def shown(field: str, found: Inspection) -> Any:
    """What was read of a field; of a description, its length."""
    if field == "token":
        return found.board.token if found.board else None
    name = {"posted": "posted_date"}.get(field, field)
    got = getattr(found.postings[0], name) if found.postings else None
    return len(got) if field == "description" and got else got
