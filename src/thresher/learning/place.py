"""The place of a value: offsets into the text of the page where it stands there, else the path that leads to
it.
"""

from thresher.core.evidence import Place
from thresher.learning.locator import Hit
from thresher.learning.outline import Outline
from thresher.learning.rule import Rule, is_attribute, leaf_of
from thresher.reading.html.parser import Node


def place(outline: Outline, text: str, hit: Hit, rule: Rule) -> Place:
    """Where a value that a rule took from a hit stands."""
    leaf = None if is_attribute(rule) else leaf_of(outline, hit)
    if (
        leaf is not None
        and (at := outline.stands(outline.leaves[leaf].block, text, from_leaf=leaf)) is not None
    ):
        return Place(outline.text[at[0] : at[1]], *at)
    if hit.node is not None:
        return Place(text, path=hit.node.path + (f" @{hit.path}" if hit.path else ""))
    return Place(text, path=hit.path)


def in_page(outline: Outline, row: Node, found: Place | None) -> Place | None:
    """A place within a row as one in the page."""
    if found is None:
        return None
    if found.start is None:
        return Place(found.quote, path=f"{row.path} {found.path or ''}".strip())
    span = outline.span(row.raw)
    for at in range(span[0], span[1] + 1) if span else ():
        if found.quote in outline.leaves[at].text and (
            offsets := outline.stands(outline.leaves[at].block, found.quote, from_leaf=at)
        ):
            return Place(found.quote, *offsets)
    return Place(found.quote, path=row.path)
