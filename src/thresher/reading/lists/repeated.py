"""Repeated structure: every group of elements of a page that may be the rows of a list.

Elements stand in one group if the same tags lead to them from the root and they share the class name that is
commonest among them. So rows need not be neighbours: two columns, a list for each department and cards in
separate boxes are one group each. A group whose members are all alone in the members of another one is that
other one, seen from inside.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from thresher.reading.lists.shapes import CHORES, same_thing, shape
from thresher.reading.lists.tree import Tree

MIN_ROWS = 2
MAX_ROWS = 5_000
MAX_PARTS = 5  # siblings that together are one row
MAX_BOXES = 12  # that the rows of a list may stand in
MAX_LINKED = 3_000  # links that are grouped by the shape of their address
MAX_LEVELS = 40
MAX_LONE = 1_000  # characters of a row that stands alone: above it a box is the page
MAX_CARD = 6_000  # characters: above it a row is the page
# Elements that are never a row: words in a text, parts of a form, parts of the page.
_NO_ROWS = frozenset(
    (
        *(
            "b",
            "i",
            "em",
            "strong",
            "u",
            "font",
            "small",
            "sub",
            "sup",
            "mark",
            "code",
            "span",
            "time",
            "label",
        ),
        *("br", "hr", "wbr", "img", "picture", "source", "video", "audio", "figure", "figcaption", "path"),
        *("input", "option", "select", "button", "textarea", "fieldset", "legend"),
        *("thead", "tbody", "tfoot", "col", "colgroup", "caption"),
        *("html", "body", "main", "nav", "header", "footer", "aside"),
    )
)
_BOXES = ("li", "article", "tr", "section")
_ALIKE = 0.6  # share of inner tags that two kinds of rows have in common
_STEADY = 0.8  # share of rows that have the same number of siblings behind them


@dataclass(frozen=True, slots=True)
class Candidate:
    """Numbers of elements; one row may be several of them that follow each other."""

    rows: tuple[tuple[int, ...], ...]
    by: str  # how it was found: structure or links

    @property
    def heads(self) -> tuple[int, ...]:
        return tuple(row[0] for row in self.rows)


def candidates(tree: Tree) -> list[Candidate]:
    """Every group of a page, each once."""
    groups = [part for group in _outermost(tree) for part in (group, *_by_container(tree, group))]
    children: dict[int, list[int]] = {}
    structural = [Candidate(_with_siblings(tree, group, children), "structure") for group in groups]
    linked = [Candidate(rows, "links") for rows in _by_links(tree)]
    found = {candidate.heads: candidate for candidate in (*linked, *structural)}
    return list(found.values())


def _groups(tree: Tree) -> Iterator[list[int]]:
    """Elements that the same tags lead to, by the class name they share."""
    peers: dict[int, list[int]] = defaultdict(list)
    for number, path in enumerate(tree.path):
        if tree.text[number] > 1 and tree.elements[number].tag not in _NO_ROWS:
            peers[path].append(number)
    for numbers in peers.values():
        if len(numbers) >= MIN_ROWS:
            yield from _by_class(tree, numbers)


def _by_class(tree: Tree, numbers: list[int]) -> Iterator[list[int]]:
    common = Counter(token for number in numbers for token in tree.tokens[number])
    by_key: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        key = max(tree.tokens[number], key=lambda token: (common[token], token), default="")
        by_key[key].append(number)
    yield from _merged(tree, list(by_key.values()))


def _merged(tree: Tree, groups: list[list[int]]) -> Iterator[list[int]]:
    """Groups under one parent whose rows are built alike are one: a paid row has a class of its own."""
    groups = sorted((group for group in groups), key=len, reverse=True)
    taken: set[int] = set()
    for at, first in enumerate(groups[:20]):
        if at in taken:
            continue
        group = first
        inside, parents = _inside(tree, group), {tree.parent[number] for number in group}
        for other in range(at + 1, min(len(groups), 20)):
            near = any(tree.parent[number] in parents for number in groups[other])
            if near and other not in taken and _alike(inside, _inside(tree, groups[other])):
                taken.add(other)
                group = sorted((*group, *groups[other]))
        if len(group) >= MIN_ROWS:
            yield group
    yield from (group for group in groups[20:] if len(group) >= MIN_ROWS)


def _inside(tree: Tree, group: Sequence[int]) -> frozenset[str]:
    """What most rows of a sample are built of: tags with their class names."""
    sample = group[:: max(1, len(group) // 8)][:8]
    built = Counter(
        part
        for number in sample
        for part in {
            ".".join((tree.elements[each].tag, *tree.tokens[each]))
            for each in range(number + 1, min(tree.end[number], number + 60))
        }
    )
    return frozenset(part for part, count in built.items() if count * 2 > len(sample))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and len(one & other) >= _ALIKE * len(one | other) and len(one | other) > 1


def _outermost(tree: Tree) -> Iterator[list[int]]:
    """The groups without those that are another one seen from inside."""
    groups = list(_groups(tree))
    size = {number: len(group) for group in groups for number in group}
    for group in groups:
        above = [tree.parent[number] for number in group]
        alone = len(set(above)) == len(group) and all(size.get(each) == len(group) for each in above)
        if not alone:
            yield group[:MAX_ROWS]


def _by_container(tree: Tree, group: list[int]) -> Iterator[list[int]]:
    """The parts of a group that stand in boxes of their own and lead to things of another kind: news beside
    openings, in the same markup.
    """
    boxes: dict[int, list[int]] = defaultdict(list)
    for number in group:
        boxes[tree.parent[number]].append(number)
    if not 2 <= len(boxes) <= MAX_BOXES or min(map(len, boxes.values())) < MIN_ROWS:
        return
    kinds: dict[str | None, list[int]] = defaultdict(list)
    for rows in boxes.values():
        kinds[_usual_shape(tree, rows)] += rows
    if len(kinds) > 1:
        yield from (sorted(rows) for rows in kinds.values())


def _usual_shape(tree: Tree, rows: Sequence[int]) -> str | None:
    firsts = (next(tree.links(number), None) for number in rows[:20])
    kinds = Counter(shape(link[1]) for link in firsts if link)
    return kinds.most_common(1)[0][0] if kinds else None


def _with_siblings(tree: Tree, group: list[int], known: dict[int, list[int]]) -> tuple[tuple[int, ...], ...]:
    """Rows that are written as several siblings each: a line with the title, a line with the rest. `known`
    keeps the children of each parent, so that they are listed once.
    """
    alone = tuple((number,) for number in group)
    parents = {tree.parent[number] for number in group}
    if len(parents) != 1 or len(group) < 3:
        return alone
    parent = parents.pop()
    children = known[parent] if parent in known else known.setdefault(parent, _children(tree, parent))
    if len(children) > MAX_PARTS * (len(group) + 1):
        return alone
    members = set(group)
    places = [at for at, number in enumerate(children) if number in members]
    if back := _to_term(tree, children, places[0]):
        places = [place - back for place in places]
    gaps = [after - before for before, after in pairwise(places)]
    usual, count = Counter(gaps).most_common(1)[0]
    if not 2 <= usual <= MAX_PARTS or count < _STEADY * len(gaps) or places[0] >= usual:
        return alone
    ends = [min(place + usual, *places[at + 1 : at + 2], len(children)) for at, place in enumerate(places)]
    return tuple(tuple(children[start:end]) for start, end in zip(places, ends, strict=True))


def _to_term(tree: Tree, children: Sequence[int], place: int) -> int:
    """How far before a definition its term stands: a row begins with the term, or each would tell the facts
    of the one before it.
    """
    if tree.elements[children[place]].tag != "dd":
        return 0
    return next(
        (
            back
            for back in range(1, min(place, MAX_PARTS) + 1)
            if tree.elements[children[place - back]].tag == "dt"
        ),
        0,
    )


def _children(tree: Tree, parent: int) -> list[int]:
    found, at = [], parent + 1
    while at < tree.end[parent]:
        found.append(at)
        at = tree.end[at]
    return found


def lone_candidates(tree: Tree) -> list[Candidate]:
    """Rows without a fellow: the box around a link whose address has a shape of its own."""
    lone = (numbers[0] for links in _shapes(tree).values() if len(links) == 1 for numbers in links.values())
    return [Candidate(((_box(tree, number),),), "alone") for number in lone]


def _box(tree: Tree, link: int) -> int:
    around = [each for each, _ in zip(tree.above(link), range(12), strict=False)]
    small = (each for each in around if tree.text[each] <= MAX_LONE and tree.elements[each].tag in _BOXES)
    boxes = {tree.elements[each].tag: each for each in small}
    return next((boxes[tag] for tag in _BOXES if tag in boxes), max(tree.parent[link], 0))


def _shapes(tree: Tree) -> dict[str, dict[str, list[int]]]:
    """Links by the shape of their address, then by what they lead to."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, url in islice(zip(tree.anchors, tree.urls, strict=True), MAX_LINKED):
        if not tree.chrome[number] and not CHORES.search(url):
            found[shape(url)][same_thing(url)].append(number)
    return found


def _by_links(tree: Tree) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Rows by what they lead to: the largest element that belongs to one address of a shape alone."""
    for links in _shapes(tree).values():
        owners: dict[int, set[str]] = defaultdict(set)
        for url, numbers in links.items():
            for number in numbers:
                for each, _ in zip((number, *tree.above(number)), range(MAX_LEVELS), strict=False):
                    owners[each].add(url)
        rows = dict.fromkeys(_owned(tree, numbers[0], owners) for numbers in links.values())
        if len(links) > 1:
            yield tuple((row,) for row in sorted(rows))


def _owned(tree: Tree, link: int, owners: dict[int, set[str]]) -> int:
    best = link
    for each, _ in zip(tree.above(link), range(MAX_LEVELS), strict=False):
        if tree.elements[each].tag in ("body", "html", "main", "ul", "ol") or len(owners[each]) != 1:
            break
        best = each
    return best if tree.text[best] <= MAX_CARD else link
