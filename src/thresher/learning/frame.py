"""A frame: the element that a value stands in, and whether its neighbours look like it.

Where a value is one of several alike, told from the others by its order alone, nothing would show if they
changed places.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from thresher.learning.locator import Hit
from thresher.learning.outline import Outline
from thresher.learning.wording import squeezed
from thresher.reading.html.parser import Element

LEVELS = 4
MAX_NEIGHBOURS = 8
FAR_APART = 6  # levels


@dataclass(frozen=True, slots=True)
class Frame:
    """The tag right around the text, and how many runs of text there are."""

    tag: str
    leaves: int


def span_of(outline: Outline, hit: Hit) -> tuple[int, int] | None:
    """The first and the last leaf of a hit."""
    if hit.node is not None:
        return outline.span(hit.node.raw)
    return (hit.leaf, hit.leaf) if hit.leaf is not None else None


def frame(outline: Outline, hit: Hit) -> Frame:
    """What a hit stands in. A run of text stands for itself; an element for all that is in it."""
    span = span_of(outline, hit)
    if span is None:
        return Frame("", 0)
    parent = outline.leaves[span[0]].node.parent
    return Frame(_called(parent) if isinstance(parent, Element) else "", span[1] - span[0] + 1)


def is_item(outline: Outline, hit: Hit) -> bool:
    """Whether a hit is an item of a list, or in one."""
    span = span_of(outline, hit)
    above = islice(outline.leaves[span[0]].node.ancestors, LEVELS) if span is not None else ()
    return any(isinstance(each, Element) and each.tag == "li" for each in above)


def is_run(outline: Outline, hit: Hit, text: str) -> bool:
    """Whether a text from a hit is all that one run of text in it says."""
    span = span_of(outline, hit)
    key = squeezed(text)
    return span is not None and any(leaf.key == key for leaf in outline.leaves[span[0] : span[1] + 1])


def _called(element: Element) -> str:
    """A link and the mere text of one are two things."""
    return f"{element.tag}[href]" if element.attr("href") is not None else element.tag


def apart(outline: Outline, hits: Sequence[Hit]) -> int:
    """How many levels up all hits stand in one element: 1 where one element is around all of them, 2 where
    each has a box of its own in it.
    """
    spans = [span_of(outline, hit) for hit in hits]
    starts = {span[0] for span in spans if span is not None}
    above = [list(islice(outline.leaves[leaf].node.ancestors, FAR_APART)) for leaf in starts]
    levels = (at for at, level in enumerate(zip(*above, strict=False), 1) if len(set(level)) == 1)
    return next(levels, FAR_APART) if len(starts) > 1 else 0


def follows_alike(
    outline: Outline, hit: Hit, constant: Collection[str], truths: Collection[str] = ()
) -> bool:
    """Whether the next text looks the same from outside, and is neither a right value too nor a text of every
    page.
    """
    span = span_of(outline, hit)
    if span is None or span[1] + 1 >= len(outline.leaves):
        return False
    own, following = outline.leaves[span[1]], outline.leaves[span[1] + 1]
    if following.key in truths or following.key in constant:
        return False
    return _alike(own.node.parent, following.node.parent)


def alike_neighbours(
    outline: Outline, hit: Hit, constant: Collection[str], truths: Collection[str]
) -> list[str]:
    """The texts around a hit that look the same from outside: those that it could change places with."""
    span = span_of(outline, hit)
    if span is None:
        return []
    own = outline.leaves[span[0]]
    last = min(span[1] + 1 + MAX_NEIGHBOURS, len(outline.leaves))
    around = (*range(max(0, span[0] - MAX_NEIGHBOURS), span[0]), *range(span[1] + 1, last))
    found = (outline.leaves[at] for at in around)
    return [
        leaf.text
        for leaf in found
        if leaf.key not in truths and leaf.key not in constant and _alike(own.node.parent, leaf.node.parent)
    ]


def _alike(one: object, other: object) -> bool:
    """Whether two elements look the same, and so do those around them, up to where they are neighbours."""
    for _ in range(LEVELS):
        if not isinstance(one, Element) or not isinstance(other, Element) or _face(one) != _face(other):
            return False
        if one == other or one.parent == other.parent:
            return True
        one, other = one.parent, other.parent
    return False


def _face(element: Element) -> tuple[str, str]:
    return element.tag, element.attr("class") or ""
