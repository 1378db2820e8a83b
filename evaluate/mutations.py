"""Layout changes: what happens to real sites between two visits, done to a recorded page. Values stay what
they are.

Each takes a tree of its own and changes it in place. Nothing here knows a site: changes are made to classes,
tags, labels, rows and blocks, wherever they are. Seeded, so that every run changes the same pages in the same
way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Any

from thresher.learning.outline import Outline
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Text

# What a box may not be put around, or a parser would take it out again.
_TABLE = frozenset(
    {
        "html",
        "head",
        "body",
        "table",
        "tbody",
        "thead",
        "tfoot",
        "tr",
        "td",
        "th",
        "option",
        "select",
        "dl",
        "dt",
        "dd",
        "ul",
        "ol",
        "li",
        "script",
        "style",
        "title",
        "meta",
        "link",
        "noscript",
        "form",
        "caption",
        "col",
        "colgroup",
    }
)
_COATS = {
    "h1": "p",
    "h2": "div",
    "h3": "div",
    "h4": "span",
    "p": "div",
    "b": "span",
    "strong": "span",
    "font": "span",
    "span": "b",
}
# What pages say where they have nothing to say.
_NOTHING = (
    "N/A",
    "Not available",
    "Not specified",
    "Unknown",
    "None",
    "TBD",
    "-",
    "Loading...",
    "Sign in to see this",
    "Please call",
    "Coming soon",
)
_ADS = ("Sponsored", "Advertisement", "New: try our app", "Save 20% today", "Subscribe to our newsletter")


@dataclass(frozen=True, slots=True)
class Case:
    """A page to be changed: its tree, the texts that say its values by field, another page of the site, and
    chance."""

    document: Document
    places: Mapping[str, Sequence[Text]]
    other: Document
    other_places: Mapping[str, Sequence[Text]]
    chance: Random

    @property
    def elements(self) -> list[Element]:
        body = self.document.root.css_first("body")
        return [node.raw for node in body.walk()] if body else []


def _hashed(name: str) -> str:
    return "c" + blake2b(name.encode(), digest_size=4).hexdigest()


def _rename(case: Case, share: float) -> None:
    chosen = case.chance.randrange(1_000)
    for element in case.elements:
        for attribute in ("class", "id", "itemprop", "data-testid", "name", "property"):
            names = (element.attr(attribute) or "").split()
            if names:
                kept = [
                    _hashed(name) if Random(f"{name}{chosen}").random() < share else name for name in names
                ]
                element.attrs[attribute] = " ".join(kept)


def rename_all(case: Case) -> None:
    """A new build: every class and id is another."""
    _rename(case, 1.0)


def rename_half(case: Case) -> None:
    """A new style sheet: half of the names are others."""
    _rename(case, 0.5)


def wrap(case: Case) -> None:
    """Boxes around boxes."""
    for element in case.elements:
        if element.tag not in _TABLE and case.chance.random() < 0.2:
            element.wrap(Element(case.chance.choice(("div", "span", "section"))))


def unwrap(case: Case) -> None:
    """Boxes taken away."""
    for element in case.elements:
        if element.tag in ("div", "span", "font", "section", "center") and case.chance.random() < 0.15:
            element.unwrap()


def retag(case: Case) -> None:
    """The same boxes under other tags."""
    for element in case.elements:
        if element.tag in _COATS and case.chance.random() < 0.7:
            new = Element(_COATS[element.tag], {name: element.attr(name) or "" for name in element.attrs})
            element.wrap(new)
            element.unwrap()


def insert(case: Case) -> None:
    """Banners before a tenth of all elements, of the same tag and class as what they stand before."""
    for element in case.elements:
        if (
            element.parent is not None
            and element.tag not in ("script", "style", "option", "br", "img")
            and case.chance.random() < 0.1
        ):
            banner = Element(element.tag, {"class": element.attr("class") or ""})
            banner.append(Text(case.chance.choice(_ADS)))
            element.insert_before(banner)


def insert_before_values(case: Case) -> None:
    """A banner right before each value."""
    for nodes in case.places.values():
        for node in nodes[:3]:
            if isinstance(node.parent, Element) and node.parent.tag not in ("title", "option"):
                banner = Element(node.parent.tag, {"class": node.parent.attr("class") or ""})
                banner.append(Text(case.chance.choice(_ADS)))
                node.parent.insert_before(banner)


def _main(places: Mapping[str, Sequence[Text]]) -> Element | None:
    """The smallest element that holds the first place of most fields."""
    firsts = [nodes[0] for nodes in places.values() if nodes]
    if len(firsts) < 2:
        return None
    common = [each for each in firsts[0].ancestors if isinstance(each, Element)]
    for node in firsts[1:]:
        above = set(node.ancestors)
        common = [each for each in common if each in above]
    return next(
        (each for each in common if each.tag not in ("tr", "tbody", "table", "html", "body", "dl", "ul")),
        None,
    )


def move(case: Case) -> None:
    """The main block moves to the end of the page, or to its beginning."""
    block, body = _main(case.places), case.document.root.css_first("body")
    if block is not None and body is not None:
        block.extract()
        if case.chance.random() < 0.5:
            body.raw.append(block)
        else:
            body.raw.insert(0, block)


def relabel(case: Case) -> None:
    """Other words before the values."""
    values = {node for nodes in case.places.values() for node in nodes}
    for leaf in Outline(case.document).leaves:
        parent = leaf.node.parent
        labels = leaf.text.endswith(":") or (
            isinstance(parent, Element) and parent.tag in ("th", "dt", "label", "b", "strong")
        )
        if labels and leaf.node not in values and len(leaf.text) < 60:
            leaf.node.data = f"Our {leaf.text.rstrip(':').lower()} here:"


def drop(case: Case) -> None:
    """One field goes: every text that says its value."""
    named = [name for name, nodes in case.places.items() if nodes]
    if named:
        for node in case.places[case.chance.choice(named)]:
            if isinstance(node.parent, Element) and node.parent.tag not in ("td", "body", "tr"):
                node.parent.decompose()
            else:
                node.decompose()


def empty(case: Case) -> None:
    """One field goes, and the box it stood in stays."""
    named = [name for name, nodes in case.places.items() if nodes]
    if named:
        for node in case.places[case.chance.choice(named)]:
            node.decompose()


def related_before(case: Case) -> None:
    """Another thing of the site, in the same markup, before the one that the page is about."""
    _related(case, "beforebegin")


def related_after(case: Case) -> None:
    """The same, behind it."""
    _related(case, "afterend")


def _related(case: Case, where: str) -> None:
    block, other = _main(case.places), _main(case.other_places)
    if block is not None and other is not None:
        block.insert_adjacent_html(where, other.html)


def replaced_by_related(case: Case) -> None:
    """The thing is gone, and another in the same markup is recommended instead, under its own heading."""
    block, other = _main(case.places), _main(case.other_places)
    if block is not None and other is not None:
        block.insert_adjacent_html(
            "beforebegin", f"<h2>No longer available. You may also like</h2>{other.html}"
        )
        block.decompose()


def swap_rows(case: Case) -> None:
    """Rows change places, each with its label."""
    for nodes in case.places.values():
        for node in nodes[:2]:
            row = next(
                (
                    each
                    for each in node.ancestors
                    if isinstance(each, Element) and each.tag in ("tr", "li", "p", "div", "dd")
                ),
                None,
            )
            beside = (
                [each for each in row.next_siblings if isinstance(each, Element)] if row is not None else []
            )
            if row is not None and beside and beside[0].tag == row.tag:
                beside[0].insert_after(row.extract())


def shuffle(case: Case) -> None:
    """The blocks of the main part in another order."""
    block = _main(case.places)
    if block is not None:
        inner = [each for each in block if isinstance(each, Element)]
        case.chance.shuffle(inner)
        for each in inner:
            block.append(each.extract())


def _row(node: Text) -> Element | None:
    """The row that a value stands in: the nearest element that people repeat for each pair of label and
    value."""
    rows = ("tr", "li", "p", "dd", "div")
    return next((each for each in node.ancestors if isinstance(each, Element) and each.tag in rows), None)


def _firsts(case: Case) -> list[tuple[str, Text]]:
    """The first text of each field, by the name of the field."""
    return [(name, nodes[0]) for name, nodes in case.places.items() if nodes]


def _others(case: Case) -> dict[str, str]:
    """What another page says of each field."""
    return {name: nodes[0].data for name, nodes in case.other_places.items() if nodes}


def _alike(element: Element, text: str) -> Element:
    """An element of the same tag and class that says something else."""
    made = Element(element.tag, {"class": element.attr("class") or ""})
    made.append(Text(text))
    return made


def swap_pairs(case: Case) -> None:
    """Terms change places with their descriptions, and label cells with their value cells, two by two."""
    for _, node in _firsts(case):
        value = next(
            (each for each in node.ancestors if isinstance(each, Element) and each.tag in ("dd", "td")), None
        )
        label = value.previous_sibling if value is not None else None
        while isinstance(label, Text):
            label = label.previous_sibling
        after = (
            [each for each in value.next_siblings if isinstance(each, Element)] if value is not None else []
        )
        if value is not None and isinstance(label, Element) and len(after) > 1:
            after[1].insert_after(value.extract())
            after[1].insert_after(label.extract())


def shuffle_rows(case: Case) -> None:
    """The rows around the values in another order, each with its label."""
    parents = dict.fromkeys(row.parent for _, node in _firsts(case) if (row := _row(node)) is not None)
    for parent in parents:
        if isinstance(parent, Element) and parent.tag not in ("dl", "body"):
            rows = [each for each in parent if isinstance(each, Element)]
            case.chance.shuffle(rows)
            for row in rows:
                parent.append(row.extract())


def drop_row(case: Case) -> None:
    """One field goes with its whole row, label included."""
    found = _firsts(case)
    if found:
        name, _ = case.chance.choice(found)
        for node in case.places[name]:
            row = _row(node)
            if row is not None and row.tag != "div":
                row.decompose()
            else:
                node.decompose()


def drop_other_rows(case: Case) -> None:
    """Half of the rows that hold no value go: what was on every known page is optional after all."""
    own = {row for nodes in case.places.values() for node in nodes if (row := _row(node)) is not None}
    kept = {above for row in own for above in (row, *row.ancestors)}
    for element in case.elements:
        if element.tag in ("tr", "li", "p") and element not in kept and case.chance.random() < 0.5:
            element.decompose()


def relabel_one(case: Case) -> None:
    """Another wording of one label."""
    found = _firsts(case)
    if found:
        _, chosen = case.chance.choice(found)
        leaves = Outline(case.document).leaves
        at = next((at for at, leaf in enumerate(leaves) if leaf.node == chosen), 0)
        values = {node for nodes in case.places.values() for node in nodes}
        if at and len(leaves[at - 1].text) < 60 and leaves[at - 1].node not in values:
            leaves[at - 1].node.data = "Details of this entry:"


def translate(case: Case) -> None:
    """The site in another language: every text that another page has too is written in other words."""
    values = {node for nodes in case.places.values() for node in nodes}
    shared = Outline(case.other).keys
    for leaf in Outline(case.document).leaves:
        worded = leaf.key in shared and not any(map(str.isdigit, leaf.text))
        if worded and leaf.node not in values:
            leaf.node.data = " ".join(word[::-1].capitalize() for word in leaf.text.split())


def new_column(case: Case) -> None:
    """A cell between each label and its value, and a term between each term and its description."""
    for _, node in _firsts(case):
        cell = next(
            (each for each in node.ancestors if isinstance(each, Element) and each.tag in ("td", "dd")), None
        )
        if cell is not None:
            cell.insert_before(_alike(cell, case.chance.choice(("Details", "Compare", "Help"))))


def compared_before(case: Case) -> None:
    """Another thing in a column of its own, before the one that the page is about."""
    others = _others(case)
    for name, node in _firsts(case):
        if name in others and isinstance(node.parent, Element):
            node.parent.insert_before(_alike(node.parent, others[name]))


def compared_after(case: Case) -> None:
    """The same, behind it."""
    others = _others(case)
    for name, node in _firsts(case):
        if name in others and isinstance(node.parent, Element):
            node.parent.insert_after(_alike(node.parent, others[name]))


def promoted(case: Case) -> None:
    """A copy of one row, label and all, that says another thing's value under a promising word."""
    others = _others(case)
    found = [(name, node) for name, node in _firsts(case) if name in others]
    if found:
        name, node = case.chance.choice(found)
        row = _row(node)
        if row is not None and row.tag != "dd":
            said, node.data = node.data, others[name]
            copy = row.html
            node.data = said
            row.insert_adjacent_html("beforebegin", copy.replace(">", ">Our tip: ", 1))


def replaced_one(case: Case) -> None:
    """One field is gone, and a recommendation in its markup says another thing's value below."""
    others = _others(case)
    found = [(name, node) for name, node in _firsts(case) if name in others]
    if found:
        name, node = case.chance.choice(found)
        body = case.document.root.css_first("body")
        parent = node.parent
        if isinstance(parent, Element) and body is not None:
            body.raw.append(_alike(parent, others[name]))
            for each in case.places[name]:
                each.decompose()


def doubled(case: Case) -> None:
    """The main block twice, as for a wide and for a narrow screen."""
    block = _main(case.places)
    if block is not None:
        block.insert_adjacent_html("afterend", block.html)


def flatten(case: Case) -> None:
    """No markup within lines: a label and its value become one text."""
    for element in case.elements:
        if element.tag in ("b", "strong", "font", "span", "em", "i", "label"):
            element.unwrap()


def split_values(case: Case) -> None:
    """Each value in two boxes, the first word and the rest."""
    for nodes in case.places.values():
        for node in nodes:
            first, _, rest = node.data.strip().partition(" ")
            if rest and isinstance(node.parent, Element) and node.parent.tag not in ("title", "option"):
                start, end = Element("span", {"class": "first"}), Element("span", {"class": "rest"})
                start.append(Text(first))
                end.append(Text(f" {rest}"))
                node.insert_before(start)
                node.insert_before(end)
                node.decompose()


def lines_to_boxes(case: Case) -> None:
    """Line breaks become boxes: each run of text beside a break gets an element of its own."""
    for leaf in Outline(case.document).leaves:
        parent = leaf.node.parent
        beside = [leaf.node.previous_sibling, leaf.node.next_sibling]
        if isinstance(parent, Element) and any(
            isinstance(each, Element) and each.tag == "br" for each in beside
        ):
            leaf.node.wrap(Element("div"))


def placeholder(case: Case) -> None:
    """One field is gone, and a word stands in its place that says so."""
    found = [(name, node) for name, node in _firsts(case) if name != "availability"]  # there it is a value
    if found:
        name, _ = case.chance.choice(found)
        word = case.chance.choice(_NOTHING)
        for node in case.places[name]:
            node.data = word


def exchange(case: Case) -> None:
    """The values of two fields change places, and their labels and names stay. What the page says is then
    another thing."""
    named = [name for name, nodes in case.places.items() if nodes]
    if len(named) > 1:
        one, other = (case.places[name] for name in case.chance.sample(named, 2))
        first, second = one[0].data, other[0].data
        for node in one:
            node.data = second
        for node in other:
            node.data = first


Mutation = Callable[[Case], Any]
MUTATIONS: tuple[Mutation, ...] = (
    rename_all,
    rename_half,
    wrap,
    unwrap,
    retag,
    insert,
    insert_before_values,
    move,
    relabel,
    drop,
    empty,
    related_before,
    related_after,
    replaced_by_related,
    swap_rows,
    shuffle,
    swap_pairs,
    shuffle_rows,
    drop_row,
    drop_other_rows,
    relabel_one,
    translate,
    new_column,
    compared_before,
    compared_after,
    promoted,
    replaced_one,
    doubled,
    flatten,
    split_values,
    lines_to_boxes,
    placeholder,
)
# Beyond layout: the page itself says something false. Counted apart, because no reader of one page can know.
FALSEHOODS: tuple[Mutation, ...] = (exchange,)
