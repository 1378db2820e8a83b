"""Pagination: links by what they are (next, previous, a page, first, last) against labels, and no pagination
where there is none."""

from pathlib import Path

import ada_url

from evaluate.manifest import Entry, entries
from evaluate.score import Score
from thresher.core.page import Page, Via
from thresher.reading.html.document import Document
from thresher.reading.lists.pager import comparable
from thresher.reading.lists.pagination import Pagination, pagination

Found = set[tuple[str, str]]


def scores(corpus: Path) -> list[Score]:
    hits = wrong = missed = 0
    misses: list[str] = []
    quiet: list[bool] = []
    for entry in entries(corpus, "recipes/pagination/"):
        truth = entry.truth
        found = _read(entry)
        expected, got = _labelled(truth), _links(found)
        if not truth["has_pagination"]:
            quiet.append(not found)
        hits, wrong, missed = (
            hits + len(expected & got),
            wrong + len(got - expected),
            missed + len(expected - got),
        )
        misses += [f"{entry.file}: not found: {way} {url}" for way, url in sorted(expected - got)]
        misses += [f"{entry.file}: invented: {way} {url}" for way, url in sorted(got - expected)]
    f1 = 2 * hits / (2 * hits + wrong + missed) if hits else 0.0
    none = sum(quiet) / len(quiet) if quiet else 1.0
    return [
        Score("pagination", "link F1", f1, hits + missed, aim=0.9, misses=tuple(misses)),
        Score("pagination", "none where there is none", none, len(quiet), aim=1.0),
    ]


def _read(entry: Entry) -> Pagination:
    url, kind = entry.truth["url"], f"text/html; charset={entry.truth['encoding']}"
    page = Page(url, url, 200, {"content-type": kind}, entry.body(), via=Via.FILE)
    return pagination(Document.of(page))


def _labelled(truth: dict[str, object]) -> Found:
    hrefs = truth["hrefs"]
    assert isinstance(hrefs, dict)
    # "#" is the label of the current page; there is nothing to follow.
    return {
        (way, comparable(ada_url.join_url(str(truth["url"]), href)))
        for way, each in hrefs.items()
        for href in each
        if href != "#"
    }


def _links(found: Pagination) -> Found:
    named = {"next": found.next, "prev": found.prev, "first": found.first, "last": found.last}
    return {(way, comparable(url)) for way, url in named.items() if url} | {
        ("page", comparable(url)) for url in found.pages
    }
