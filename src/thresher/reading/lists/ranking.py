"""Which of the groups of a page is its list: numbers that describe a group, and what each of them weighs.

The weights were learned from pages of many sites, each judged by weights that had not seen its site
(`python -m evaluate.learn_lists`).
"""

import math
import re
from dataclasses import dataclass

from thresher.reading.lists.pager import is_paged
from thresher.reading.lists.repeated import Candidate
from thresher.reading.lists.shapes import same_thing, shape
from thresher.reading.lists.table import RowTable

_ROW_NAMES = re.compile(
    r"result|item|card|listing|product|job|post|entry|offer|vacanc|article|course|teaser|tile|hit|record|row",
    re.IGNORECASE,
)
_MENU_NAMES = re.compile(
    r"menu|nav|filter|facet|crumb|social|foot|header|(?:^|[\s_-])tab|lang|option|carousel|slide|widget|sidebar|suggest|recommend|related|similar|"
    r"popular|trending|cookie|modal|popup|dropdown|pagin|pager|cloud|refine|share|recent|also|categor|banner",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Features:
    rows: float
    linked: float
    crowded: float
    titled: float
    text: float
    share: float
    chrome: float
    pieces: float
    heading: float
    dated: float
    priced: float
    placed: float
    link_density: float
    spread: float
    row_names: float
    menu_names: float
    form: float
    aligned: float
    main: float
    pictures: float
    same_page: float
    paged: float
    same_shape: float
    by_links: float
    uneven: float


WEIGHTS = {
    "rows": 0.82,
    "linked": 2.16,
    "crowded": -1.69,
    "titled": 1.45,
    "text": 0.17,
    "share": 3.01,
    "chrome": -1.79,
    "pieces": 0.06,
    "heading": 0.96,
    "dated": 1.28,
    "priced": 1.23,
    "placed": 1.22,
    "link_density": -0.91,
    "spread": 0.04,
    "row_names": 1.07,
    "menu_names": -1.42,
    "form": -1.72,
    "aligned": 1.27,
    "main": 0.8,
    "pictures": 0.74,
    "same_page": -2.01,
    "paged": -0.68,
    "same_shape": 1.17,
    "by_links": -0.93,
    "uneven": -1.78,
}


def score(seen: Features) -> float:
    return math.fsum(weight * getattr(seen, name) for name, weight in WEIGHTS.items())


def features(table: RowTable, whole: Candidate) -> Features:
    """The numbers of a group. `table` has a sample of its rows, `whole` all of them."""
    tree, rows = table.tree, table.candidate.rows
    heads = table.candidate.heads
    texts = [sum(tree.text[part] for part in row) for row in rows]
    total = sum(tree.text[part] for row in whole.rows for part in row)
    pieces, links, titles = table.pieces, table.links, table.titles
    count = len(rows)
    here = table.document.url.partition("?")[0].partition("#")[0]
    kinds = [shape(url) for url in links if url]
    return Features(
        rows=min(math.log2(len(whole.rows)), 6.0),
        linked=len({same_thing(url) for url in links if url}) / count,
        crowded=math.log2(max(1.0, _own_links(table) / count)),
        titled=len({title for title in titles if title}) / count,
        text=math.log2(1 + min(sum(texts) / count, 1_000.0)),
        share=math.sqrt(min(1.0, total / (tree.text[0] or 1))),
        chrome=sum(tree.chrome[number] for number in heads) / count,
        pieces=math.log2(1 + sum(map(len, pieces)) / count),
        heading=sum(any(piece.heading for piece in row) for row in pieces) / count,
        dated=_with(table, "date"),
        priced=_with(table, "price"),
        placed=_with(table, "place"),
        link_density=_density(table),
        spread=len({tree.parent[number] for number in whole.heads}) / len(whole.rows),
        row_names=sum(bool(_ROW_NAMES.search(_own_names(table, number))) for number in heads[:10])
        / len(heads[:10]),
        menu_names=_around(table),
        form=sum(_has_form(table, number) for number in heads) / count,
        aligned=_aligned(table),
        main=sum(_in_main(table, number) for number in heads[:5]) / len(heads[:5]),
        pictures=sum(_has_tag(table, number, "img") for number in heads) / count,
        same_page=sum(url.partition("?")[0] == here for url in links if url and here) / count,
        paged=sum(is_paged(url) for url in links if url) / count,
        same_shape=max((kinds.count(kind) for kind in set(kinds)), default=0) / count,
        by_links=float(whole.by == "links"),
        uneven=_uneven(texts),
    )


def _own_links(table: RowTable) -> float:
    """How many addresses of the commonest shape there are."""
    best = max(table.shapes, key=lambda kind: table.shapes[kind], default=None)
    urls = {same_thing(url) for row in table.anchors for _, url in row if shape(url) == best}
    return max(len(urls), 1)


def _uneven(texts: list[int]) -> float:
    """How much the lengths of rows differ: a menu beside the page's content is two rows of unequal length."""
    mean = sum(texts) / len(texts)
    spread = math.sqrt(sum((text - mean) ** 2 for text in texts) / len(texts))
    return min(spread / (mean or 1.0), 3.0)


def _with(table: RowTable, kind: str) -> float:
    found = [getattr(column, kind) * column.coverage for column in table.columns]
    return min(1.0, math.fsum(found))


def _density(table: RowTable) -> float:
    texts = [(len(piece.text), piece.link is not None) for row in table.pieces for piece in row]
    total = sum(length for length, _ in texts)
    return sum(length for length, linked in texts if linked) / total if total else 1.0


def _aligned(table: RowTable) -> float:
    """The part of the texts that stand in a slot which most rows have."""
    common = {column.slot for column in table.columns if column.coverage > 0.5}
    sizes = [(sum(piece.slot in common for piece in row), len(row)) for row in table.pieces if row]
    return sum(common / size for common, size in sizes) / len(sizes) if sizes else 0.0


def _own_names(table: RowTable, number: int) -> str:
    element = table.tree.elements[number]
    return f"{element.attr('class') or ''} {element.attr('id') or ''} {element.attr('data-testid') or ''}"[
        :300
    ]


def _around(table: RowTable) -> float:
    """Whether the boxes around the group are called menus, filters or recommendations: the nearer, the
    more.
    """
    found = 0.0
    for number in table.candidate.heads[:5]:
        chain = [number, *(each for each, _ in zip(table.tree.above(number), range(6), strict=False))]
        named = [at for at, each in enumerate(chain) if _MENU_NAMES.search(_own_names(table, each))]
        found += 1.0 / (1 + named[0] / 2) if named else 0.0
    return found / len(table.candidate.heads[:5])


def _has_tag(table: RowTable, number: int, *tags: str) -> bool:
    end = min(table.tree.end[number], number + 80)
    return any(table.tree.elements[each].tag in tags for each in range(number, end))


def _has_form(table: RowTable, number: int) -> bool:
    end = min(table.tree.end[number], number + 80)
    return any(
        table.tree.elements[each].tag == "input"
        and table.tree.elements[each].attr("type") in ("checkbox", "radio")
        for each in range(number, end)
    )


def _in_main(table: RowTable, number: int) -> bool:
    return any(
        table.tree.elements[each].tag == "main" or table.tree.elements[each].attr("role") == "main"
        for each in table.tree.above(number)
    )
