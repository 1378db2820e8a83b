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
)
# Beyond layout: the page itself says something false. Counted apart, because no reader of one page can know.
FALSEHOODS: tuple[Mutation, ...] = (exchange,)
