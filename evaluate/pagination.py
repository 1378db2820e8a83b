"""Pagination: links by what they are (next, previous, a page, first, last) against labels, and no pagination
where there is none."""

from pathlib import Path

import ada_url

from evaluate.lists import HALVES, half_of
from evaluate.manifest import Entry, entries, share
from evaluate.score import Score
from thresher.core.page import Page, Via
from thresher.reading.html.document import Document
from thresher.reading.lists.pager import comparable
from thresher.reading.lists.pagination import Pagination, pagination

Found = set[tuple[str, str]]
LISTS = ("recipes/", "pages/listings/")
SAVED_FROM = "https://here.invalid/"


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
        Score("pagination", "link F1", f1, hits + missed, aim=0.95, misses=tuple(misses)),
        Score("pagination", "none where there is none", none, len(quiet), aim=1.0),
        *_next_links(corpus),
    ]


def _next_links(corpus: Path) -> list[Score]:
    """The next link alone, which is what a crawl follows; sites in two halves by their name."""
    seen = [
        (half_of(entry.path.parent.name), *each)
        for entry in entries(corpus, *LISTS)
        if (each := _next(entry))
    ]
    return [
        Score(
            "pagination",
            f"next link ({half})",
            share(
                sum(not miss for each, miss in seen if each == half), sum(each == half for each, _ in seen)
            ),
            sum(each == half for each, _ in seen),
            aim=0.95,
            misses=tuple(miss for each, miss in seen if each == half and miss),
        )
        for half in HALVES
    ]


def _next(entry: Entry) -> tuple[str] | None:
    """An empty text where the next link is the labelled one, else what was read; None without a label."""
    truth = entry.truth
    wanted = (
        truth["hrefs"].get("next", []) if "hrefs" in truth else [truth.get("next_link") or truth.get("next")]
    )
    if "hrefs" not in truth and not wanted[0]:
        return None
    url = truth.get("url") or (f"{SAVED_FROM}{entry.path.stem}")
    kind = f"text/html; charset={truth['encoding']}" if "encoding" in truth else "text/html"
    found = pagination(
        Document.of(Page(url, url, 200, {"content-type": kind}, entry.body(), via=Via.FILE))
    ).next
    urls = {_path(ada_url.join_url(url, href)) for href in wanted}
    return (
        ("",)
        if (_path(found) if found else None) in (urls or {None})
        else (f"{entry.file}: {wanted}, read {found}",)
    )


def _path(url: str) -> str:
    """An address without its host: a page that was saved without its own has another."""
    return comparable(url).partition("://")[2].partition("/")[2]


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
