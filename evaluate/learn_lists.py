"""`python -m evaluate.learn_lists CORPUS [--labels FILE]`: learn the weights that rank the lists of a page.

Every group of a labelled page is an answer; the right ones are those whose number of rows and whose titles
are the labelled ones. The weights make the right groups of each page likelier than its others (a softmax
over the groups of one page, drawn towards `PRIOR`, which a person set). Each site is then judged by weights
that were learned without it, and how right its best groups are is printed beside that of the weights in use.
More labels than a corpus has may stand in a file: `{"path": {"count": 10, "titles": [...]}}`.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluate.lists import agrees, cases, labelled_titles, wanted
from evaluate.manifest import Entry, entries
from thresher.core.page import Page, Via
from thresher.reading.html.document import Document
from thresher.reading.lists.find_lists import ranked_candidates
from thresher.reading.lists.ranking import WEIGHTS, Features
from thresher.reading.lists.strangers import own_rows
from thresher.reading.lists.table import RowTable
from thresher.reading.lists.tree import flat

NAMES = tuple(field.name for field in fields(Features))
STEPS, RATE, PULL = 600, 0.05, 0.02
GOOD = 0.95  # of the best group's quality: as good as the best
# What a person expects of a list, before any page was seen.
PRIOR = {
    "rows": 0.6,
    "linked": 2.0,
    "crowded": -1.5,
    "titled": 1.5,
    "text": 0.4,
    "share": 3.0,
    "chrome": -2.0,
    "pieces": 0.5,
    "heading": 0.8,
    "dated": 0.8,
    "priced": 1.0,
    "placed": 0.8,
    "link_density": -1.0,
    "row_names": 0.8,
    "menu_names": -1.5,
    "form": -2.0,
    "aligned": 0.8,
    "main": 0.5,
    "pictures": 0.3,
    "same_page": -2.0,
    "paged": -1.0,
    "same_shape": 1.0,
    "uneven": -1.5,
}
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """`seen` has a row of numbers for each group of the page, `quality` how right each group is."""

    file: str
    site: str
    seen: Vector
    quality: Vector


def main() -> None:
    parser = argparse.ArgumentParser(prog="evaluate.learn_lists", description="Learn what ranks lists.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--labels", type=Path, help="more labels than the corpus has")
    asked = parser.parse_args()
    pages = [page for page in _pages(asked.corpus, asked.labels) if page.quality.max(initial=0.0) > 0]
    used = np.array([WEIGHTS[name] for name in NAMES])
    prior = np.array([PRIOR.get(name, 0.0) for name in NAMES])
    print(f"{len(pages)} pages of {len({page.site for page in pages})} sites")
    print(f"weights in use: {_right(pages, used):.3f} of the rows' quality")
    print(f"each site by the others: {_left_out(pages, prior):.3f}")
    learned = _learn(pages, prior)
    print(f"learned from all: {_right(pages, learned):.3f}")
    for name, weight in zip(NAMES, learned, strict=True):
        print(f'    "{name}": {weight:.2f},')


def _left_out(pages: list[LabelledPage], prior: Vector) -> float:
    total = 0.0
    for site in sorted({page.site for page in pages}):
        weights = _learn([page for page in pages if page.site != site], prior)
        own = [page for page in pages if page.site == site]
        total += sum(_quality(page, weights) for page in own)
        for page in own:
            if _quality(page, weights) < GOOD * page.quality.max():
                print(f"  missed {page.file}: {_quality(page, weights):.2f} of {page.quality.max():.2f}")
    return total / len(pages)


def _right(pages: list[LabelledPage], weights: Vector) -> float:
    return sum(_quality(page, weights) for page in pages) / len(pages)


def _quality(page: LabelledPage, weights: Vector) -> float:
    return float(page.quality[int(np.argmax(page.seen @ weights))])


def _learn(pages: list[LabelledPage], prior: Vector) -> Vector:
    weights = prior.copy()
    for _ in range(STEPS):
        slope = PULL * (weights - prior)
        for page in pages:
            slope -= _slope(page, weights) / len(pages)
        weights -= RATE * slope
    return weights


def _slope(page: LabelledPage, weights: Vector) -> Vector:
    """Which way the weights must move for the right groups of a page to become likelier."""
    odds = np.exp((scores := page.seen @ weights) - scores.max())
    odds /= odds.sum()
    right = page.quality >= GOOD * page.quality.max()
    wanted_odds = np.where(right, odds, 0.0)
    slope: Vector = (wanted_odds / max(wanted_odds.sum(), 1e-12) - odds) @ page.seen
    return slope


def _pages(corpus: Path, labels: Path | None) -> Iterator[LabelledPage]:
    more = json.loads(labels.read_text("utf-8")) if labels else {}
    known = {entry.file for entry in cases(corpus)}
    for entry in entries(corpus, ""):
        if entry.file in known:
            yield _page(entry, wanted(entry.truth), labelled_titles(entry.truth))
        elif entry.file in more:
            yield _page(entry, more[entry.file]["count"], more[entry.file]["titles"])


def _page(entry: Entry, count: int, titles: list[str]) -> LabelledPage:
    document = Document.of(Page(entry.file, entry.truth.get("url", ""), 200, {}, entry.body(), via=Via.FILE))
    tree = flat(document)
    ranked = ranked_candidates(tree, document)
    quality = [_matches(RowTable(tree, candidate, document), count, titles) for candidate, _, _ in ranked]
    seen = [[getattr(features, name) for name in NAMES] for _, _, features in ranked]
    return LabelledPage(
        entry.file, entry.path.parent.name, np.array(seen or [[0.0] * len(NAMES)]), np.array(quality or [0.0])
    )


def _matches(table: RowTable, count: int, titles: list[str]) -> float:
    """How right a group is: the labelled titles it has, and how near its number of rows is."""
    kept = own_rows(table)
    if not kept:
        return 0.0
    read = [table.titles[number] for number in kept]
    shown = sum(any(agrees(title, got) for got in read) for title in titles) / len(titles) if titles else 1.0
    linked = sum(table.links[number] is not None for number in kept) / len(kept)
    return shown * min(len(kept), count) / max(len(kept), count) * (0.9 + 0.1 * linked)


if __name__ == "__main__":
    main()
