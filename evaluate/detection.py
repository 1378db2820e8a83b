"""Detection of a configuration by rules: what a page is for, and how its list goes on, against the labels.

Nothing here is learned, but points and thresholds were chosen by looking. The sites are split in two by a
hash of their names, and rules were written for misses of the `learn` half. Every site counts once, however
many of its pages there are.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import ada_url

from evaluate.manifest import Entry, entries, share
from evaluate.recipes import Site, sites
from evaluate.score import Score
from thresher.apps.extractions.detection.look import PageLook, look_at
from thresher.apps.extractions.detection.page_type import Reading, Siblings, judge, judge_level
from thresher.apps.extractions.detection.paging import page_address
from thresher.apps.extractions.model import Entity
from thresher.core.page import Page, Via
from thresher.core.schema import Field, Kind, Schema
from thresher.reading.lists.pager import comparable

HALVES = ("learn", "check")
LISTS = ("job-listing-html", "product-listing-html", "list-page")
THING = Entity(
    "thing",
    Schema("thing", (Field("title"), Field("price", Kind.MONEY), Field("company"), Field("location"))),
)


@dataclass(frozen=True, slots=True)
class Case:
    site: str
    what: str
    right: bool

    @property
    def half(self) -> str:
        return HALVES[sha256(self.site.encode()).digest()[0] % 2]


def scores(corpus: Path) -> list[Score]:
    return [
        *_halves("detail page, alone", _details(corpus, certain=False)),
        *_halves("detail page, alone, for certain", _details(corpus, certain=True)),
        *_halves("detail pages of a site, together", _together(corpus)),
        *_halves("list page, alone", _lists(corpus)),
        *_halves("pages of a list by a pattern of their addresses", _patterns(corpus)),
    ]


def _halves(name: str, cases: Iterable[Case]) -> Iterator[Score]:
    found = list(cases)
    for half in HALVES:
        own = [case for case in found if case.half == half]
        by_site: dict[str, list[bool]] = defaultdict(list)
        for case in own:
            by_site[case.site].append(case.right)
        value = share(sum(share(sum(each), len(each)) for each in by_site.values()), len(by_site))
        misses = tuple(case.what for case in own if not case.right)
        yield Score("detection", f"{name} ({half})", value, len(by_site), misses=misses)


def _detail_sites(corpus: Path) -> list[Site]:
    return [site for site in sites(corpus) if site.pages[0].kind.startswith("detail-page")]


def _look(entry: Entry, entity: Entity) -> PageLook:
    url = entry.truth.get("url") or entry.truth.get("base")
    url = url if isinstance(url, str) else "https://site.example/"
    encoding = entry.truth.get("encoding")
    headers = {"content-type": f"text/html; charset={encoding}"} if encoding else {}
    return look_at(Page(url, url, 200, headers, entry.body(), via=Via.FILE), entity)


def _details(corpus: Path, *, certain: bool) -> Iterator[Case]:
    for site in _detail_sites(corpus):
        for entry in site.pages:
            found = judge(_look(entry, Entity(site.name, site.schema)), Siblings())
            right = found.reading is Reading.DETAIL and (found.is_certain or not certain)
            yield Case(site.name, f"{entry.file}: {found.reading}, {'; '.join(found.reasons)}", right)


def _together(corpus: Path) -> Iterator[Case]:
    """As a detection does it: a few pages of one level at once."""
    for site in _detail_sites(corpus):
        looks = [_look(entry, Entity(site.name, site.schema)) for entry in site.pages[:4]]
        found = judge_level(looks, None)
        right = found.reading is Reading.DETAIL and found.certain
        yield Case(site.name, f"{site.name}: {found.reading}, certain: {found.certain}", right)


def _lists(corpus: Path) -> Iterator[Case]:
    for entry in _list_pages(corpus):
        found = judge(_look(entry, THING), Siblings())
        what = f"{entry.file}: {found.reading}, {'; '.join(found.reasons)}"
        yield Case(entry.path.parent.name, what, found.reading is Reading.LIST)


def _list_pages(corpus: Path) -> Iterator[Entry]:
    for entry in entries(corpus, "recipes/", "pages/listings/", "prices/"):
        if entry.kind in LISTS or entry.truth.get("has_pagination"):
            yield entry


def _patterns(corpus: Path) -> Iterator[Case]:
    """Whether every labelled page of a list is one that its pattern makes; a list that names only its next
    page, and one without numbers, has no pattern to check.
    """
    for entry in entries(corpus, "recipes/pagination/"):
        hrefs = entry.truth["hrefs"].get("page", []) if entry.truth["has_pagination"] else []
        wanted = {
            comparable(ada_url.join_url(str(entry.truth["url"]), each)) for each in hrefs if each != "#"
        }
        if not wanted:
            continue
        look = _look(entry, THING)
        paging = look.paging
        made = {page_address(paging, at, look.url) for at in range(5_000)} if paging is not None else set()
        missed = {url for url in wanted if url not in made and comparable(url) != comparable(look.url)}
        # The first page is often written without its number.
        right = paging is not None and paging.is_counted and len(missed) <= 1
        yield Case(entry.path.parent.name, f"{entry.file}: not made: {sorted(missed)[:3]}", right)
