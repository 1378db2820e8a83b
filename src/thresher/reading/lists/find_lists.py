"""The lists of a page, best first: whatever repeats and leads somewhere, ranked by how much it looks like
what the page is for.

`find_lists` is the door: it knows nothing of openings or products. Who looks for one kind of thing asks each
list in turn whether its rows are of that kind.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.lists.ranking import Features, features, score
from thresher.reading.lists.repeated import Candidate, candidates, lone_candidates
from thresher.reading.lists.row_fields import fields_of_rows
from thresher.reading.lists.shapes import same_thing
from thresher.reading.lists.strangers import Asides, own_rows
from thresher.reading.lists.table import RowTable
from thresher.reading.lists.tree import Tree, flat

MAX_LISTS = 12
MAX_TRIED = 24  # groups that are read whole
MIN_ROWS = 2
MAIN = 0.75  # of share: more than half of the page's text
EXCERPT = 2.0  # of score
SAME = 0.6  # share of rows that two groups have in common if they are one list
MAX_TABLES = 60  # candidates that are looked at closely
MAX_SAMPLE = 24  # rows of each


@dataclass(frozen=True, slots=True)
class ListRow:
    """One row: where it leads, what it is called, what else it says (company, location, posted, price, ...).

    `nodes` are the elements it is made of, mostly one.
    """

    title: str
    url: str | None
    nodes: tuple[Node, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    aside: bool = False

    @property
    def node(self) -> Node:
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class ListGroup:
    """The rows of one list in the order of the page. `score` compares the lists of one page.

    `share` tells how much of the page's text stands in it: the square root of the part. `alike` is how much
    its rows have in common, in where they lead and in how they are built; `menu` is a list in the navigation,
    the footer or a form.
    """

    rows: tuple[ListRow, ...]
    score: float
    share: float
    alike: float = 1.0
    menu: bool = False

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(row.url for row in self.rows if row.url)


def find_lists(document: Document) -> tuple[ListGroup, ...]:
    """The lists of a page, the likeliest to be its main matter first; empty where nothing repeats."""
    tree = flat(document)
    asides, found = Asides(tree, document), list[ListGroup]()
    known: list[frozenset[str]] = []
    for candidate, rank, seen in islice(ranked_candidates(tree, document), MAX_TRIED):
        group = _group(RowTable(tree, candidate, document), asides, rank, seen)
        names = frozenset(row.url or row.title for row in group.rows)
        if len(group.rows) >= MIN_ROWS and len(found) < MAX_LISTS and not _is_known(names, known):
            found.append(group)
            known.append(names)
    return tuple(_without_excerpts(_without_asides(found)))


def _without_asides(found: list[ListGroup]) -> list[ListGroup]:
    """What most of the page is cannot stand beside its main matter, whatever its boxes are called."""
    if not found or found[0].share < MAIN or not all(row.aside for row in found[0].rows):
        return found
    return [replace(found[0], rows=tuple(replace(row, aside=False) for row in found[0].rows)), *found[1:]]


def _without_excerpts(found: list[ListGroup]) -> list[ListGroup]:
    """The first few of a list, repeated in a box of their own, come behind the list."""
    best = found[0] if found else None
    for at, other in enumerate(found[1:], 1):
        if best is not None and other.score >= best.score - EXCERPT and len(other.rows) >= 2 * len(best.rows):
            paths, all_paths = _paths(best), _paths(other)
            if len(paths & all_paths) > SAME * len(paths):
                return [other, *found[:at], *found[at + 1 :]]
    return found


def _paths(group: ListGroup) -> frozenset[str]:
    return frozenset(url.partition("?")[0] for url in group.urls)


def lone_rows(document: Document) -> tuple[ListGroup, ...]:
    """The links of a page that are the only one of their kind, each as a list of one row."""
    tree = flat(document)
    asides = Asides(tree, document)
    tables = [RowTable(tree, candidate, document) for candidate in lone_candidates(tree)[:MAX_TABLES]]
    found = [_group(table, asides, 0.0, features(table, table.candidate)) for table in tables]
    return tuple(group for group in found if group.rows)


def _is_known(names: frozenset[str], known: list[frozenset[str]]) -> bool:
    """Whether most of a group are rows of a better one, seen from outside or from inside."""
    return any(len(names & each) > SAME * len(names) for each in known)


def ranked_candidates(tree: Tree, document: Document) -> list[tuple[Candidate, float, Features]]:
    """The candidates that were looked at closely, with what was seen of each."""
    found = sorted(candidates(tree), key=lambda each: -_promise(tree, each))[:MAX_TABLES]
    seen = [(each, features(RowTable(tree, _sampled(each), document), each)) for each in found]
    return sorted(((each, score(seen_of), seen_of) for each, seen_of in seen), key=lambda each: -each[1])


def _promise(tree: Tree, candidate: Candidate) -> float:
    """A first look that costs little: rows with text and links, outside of menus."""
    heads = candidate.heads
    text = sum(tree.text[number] for number in heads)
    linked = sum(tree.link_count(number) > 0 for number in heads)
    plain = sum(not tree.chrome[number] for number in heads)
    return math.sqrt(min(text, 50_000)) * (0.2 + linked / len(heads)) * (0.2 + plain / len(heads))


def _sampled(candidate: Candidate) -> Candidate:
    step = max(1, len(candidate.rows) // MAX_SAMPLE)
    return Candidate(candidate.rows[::step][:MAX_SAMPLE], candidate.by)


def _group(table: RowTable, asides: Asides, rank: float, seen: Features) -> ListGroup:
    tree, fields = table.tree, fields_of_rows(table)
    rows: dict[tuple[str, str], ListRow] = {}
    for number in own_rows(table):
        parts, url, title = table.candidate.rows[number], table.links[number], table.titles[number] or ""
        row = ListRow(
            title, url, tuple(tree.node(part) for part in parts), fields[number], parts[0] in asides
        )
        rows.setdefault((same_thing(url) if url else str(number), title if url else ""), row)
    return ListGroup(
        tuple(rows.values()), rank, seen.share, (seen.same_shape + seen.aligned) / 2, seen.chrome > 0.5
    )
