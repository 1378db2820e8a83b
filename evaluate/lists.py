"""Pages that list things: how many of their rows are read, how much of what is read is a row, and whether the
labelled rows have the right title, link, company and place. Sites are split in two halves by their name.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import ada_url

from evaluate.manifest import Entry, entries, plain, share
from evaluate.score import Score
from thresher.reading.inspect.inspection import Inspection
from thresher.reading.lists.shapes import same_thing

KINDS = (
    "job-listing-html",
    "product-listing-html",
    "list-page",
    "ebay-search-html",
    "hrmdirect-html",
    "icims-search-html",
    "jobvite-search-html",
)
COUNTS = (
    "distinct_jobs",
    "distinct_listing_ids",
    "offers_in_json",
    "item_links",
    "subject_links",
    "jobs",
    "items",
    "rows",
)
FIELDS = ("title", "link", "company", "place")
AIMS = {"rows found": 0.9, "rows right": 0.9, "title": 0.9, "link": 0.9, "company": 0.8, "place": 0.8}
HALVES = ("learn", "check")
HERE = "https://here.invalid/"


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    url: str | None = None
    company: str | None = None
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """One page: which half it is in, the shares of rows, and for each labelled field whether it was right."""

    entry: Entry
    half: str
    found: float
    right: float
    fields: dict[str, bool]
    note: str


def scores(corpus: Path) -> list[Score]:
    seen = [_judge(entry) for entry in cases(corpus)]
    return [score for half in HALVES for score in _table([each for each in seen if each.half == half], half)]


def cases(corpus: Path) -> Iterator[Entry]:
    """The pages with a list of known length."""
    for entry in entries(corpus, "pages/listings/", "prices/", "recipes/courses", "ats/"):
        if entry.kind in KINDS and wanted(entry.truth):
            yield entry


def wanted(truth: dict[str, Any]) -> int:
    return next((truth[name] for name in COUNTS if isinstance(truth.get(name), int)), 0)


def site(entry: Entry) -> str:
    """The folder of a site, which all its pages share."""
    return entry.path.parent.name if not entry.file.startswith("ats/") else entry.path.stem


def half_of(name: str) -> str:
    return HALVES[sha256(name.encode()).digest()[0] % 2]


def rows_of(found: Inspection) -> list[Row]:
    """The rows that a reader of the inspection would take: openings, else products, else the main list."""
    if found.postings:
        return [Row(each.title, each.url, each.company, each.location) for each in found.postings]
    if found.products:
        return [Row(each.name, each.url) for each in found.products]
    return [Row(row.title, row.url) for group in found.lists[:1] for row in group.rows]


def _judge(entry: Entry) -> Seen:
    rows, count = rows_of(entry.inspected()), wanted(entry.truth)
    titles = labelled_titles(entry.truth)
    shown = any(_row_called(rows, title) for title in titles) if titles else bool(rows)
    hits = min(len(rows), count) if shown else 0
    fields = _fields(entry.truth, rows)
    wrong = ", ".join(name for name, right in fields.items() if not right)
    note = f"{entry.file}: {count} rows, read {len(rows)}, wrong: {wrong or '-'}; first {rows[:1]}"
    return Seen(
        entry, half_of(site(entry)), hits / count, share(hits, len(rows)) if rows else 0.0, fields, note
    )


def labelled_titles(truth: dict[str, Any]) -> list[str]:
    first = truth.get("first_title") or truth.get("first_real_title")
    return truth.get("titles") or ([first] if first else [])


def _row_called(rows: Iterable[Row], title: str) -> Row | None:
    return next((row for row in rows if agrees(title, row.title)), None)


def agrees(wanted: object, got: object) -> bool:
    """Whether two texts are the same but for what one of them was cut off by."""
    one, other = plain(wanted).rstrip(". "), plain(got).rstrip(". ")
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _fields(truth: dict[str, Any], rows: list[Row]) -> dict[str, bool]:
    """What is right of the labelled rows: all titles; of the first row also the rest."""
    titles = labelled_titles(truth)
    if not titles:
        return {}
    first = _row_called(rows, titles[0])
    labels = {
        "link": truth.get("first_url"),
        "company": truth.get("first_company"),
        "place": truth.get("first_location"),
    }
    return {"title": all(_row_called(rows, title) for title in titles)} | {
        name: first is not None and _is_right(name, label, first) for name, label in labels.items() if label
    }


def _is_right(name: str, label: str, row: Row) -> bool:
    match name:
        case "link":
            return row.url is not None and _address(row.url) == _address(label)
        case "company":
            return agrees(label, row.company)
        case _:
            return agrees(label, row.place) or plain(label) in plain(row.place)


def _address(url: str) -> str:
    """The path and query that lead to one thing, whatever host the page was saved from."""
    try:
        whole = same_thing(ada_url.join_url(HERE, url))
    except ValueError:
        return url
    return whole.partition("://")[2].partition("/")[2]


def _table(seen: list[Seen], half: str) -> list[Score]:
    misses = tuple(
        each.note for each in seen if each.found < 1 or each.right < 1 or not all(each.fields.values())
    )
    made = [
        Score(
            "lists",
            f"rows found ({half})",
            share(sum(each.found for each in seen), len(seen)),
            len(seen),
            AIMS["rows found"],
            misses=misses,
        ),
        Score(
            "lists",
            f"rows right ({half})",
            share(sum(each.right for each in seen), len(seen)),
            len(seen),
            AIMS["rows right"],
        ),
    ]
    for name in FIELDS:
        right = [each.fields[name] for each in seen if name in each.fields]
        made.append(Score("lists", f"{name} ({half})", share(sum(right), len(right)), len(right), AIMS[name]))
    return made
