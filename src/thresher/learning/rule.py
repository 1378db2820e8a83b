"""A rule: a way to a value, the part of it to take, and the window in which it must stand. It answers, with
the place where the value stands, or it keeps silent.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from thresher.core.evidence import Place
from thresher.core.schema import Field
from thresher.learning.affix import WHOLE, Affix
from thresher.learning.distinction import NO_DISTINCTION, Distinction
from thresher.learning.landmark import NO_WINDOW, Stand, Window
from thresher.learning.locator import Css, Family, Hit, Label, Line, Locator, distinct
from thresher.learning.outline import Outline
from thresher.reading.html.parser import Node


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """What a rule says: the texts, where they stand, and how well the place fits its window. `torn`: it finds
    several texts, and one was asked for.
    """

    texts: tuple[str, ...]
    hits: tuple[Hit, ...]
    leaf: int | None
    stand: Stand
    torn: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """`weight` orders the rules of a field: how much it tells about a place that it is found this way.

    `tags` are those right around the value on the known pages; `single`: it was one run of text on each of
    them. `ordered`: it is one of several alike, told from them by its order alone, or by what `told` says.
    `whole`: it was all that one run of text said, where the rule takes a part of what it finds. `apart`:
    how many levels above several values the element was that held all of them.
    """

    locator: Locator
    part: Affix = WHOLE
    window: Window = NO_WINDOW
    weight: float = 0.0
    tags: frozenset[str] = frozenset()
    single: bool = False
    ordered: bool = False
    told: Distinction = NO_DISTINCTION
    whole: bool = False
    apart: int = 0

    @property
    def family(self) -> Family:
        return self.locator.family

    @property
    def kin(self) -> tuple[str, str]:
        """What the rule leans on. Rules that lean on the same thing are one witness."""
        return (self.family, self.locator.key if isinstance(self.locator, Label) else "")

    @property
    def steady(self) -> bool:
        """Whether something would show if the value changed places with its neighbours: a name, a word in the
        same text, or the value itself.
        """
        return not self.needs_telling or bool(self.told)

    @property
    def needs_telling(self) -> bool:
        """Whether only the order says which of several texts is the value."""
        by_order = isinstance(self.locator, Line) or (self.family is Family.LABEL and self.ordered)
        return by_order and not self.spells

    @property
    def spells(self) -> bool:
        """Whether the text itself says what it is, by the words before the value or by how it is written."""
        return self.family is Family.PATTERN or any(char.isalpha() for char in self.part.before)

    def find(self, field: Field, outline: Outline) -> RuleMatch | None:
        """The one answer of the rule; None where it finds nothing, or more than one thing."""
        found = self.hear(field, outline)
        return None if found is None or found.torn else found

    def hear(self, field: Field, outline: Outline) -> RuleMatch | None:
        """All that the rule says, be it one answer or several."""
        taken = list(self._taken(outline))
        if not taken:
            return None
        torn = not field.many and len({text.casefold() for text, _ in taken}) > 1
        chosen = taken if field.many else taken[:1]
        leaf = leaf_of(outline, chosen[0][1])
        return RuleMatch(
            tuple(text for text, _ in chosen),
            tuple(hit for _, hit in chosen),
            leaf,
            self.window.stand(outline, leaf),
            torn,
        )

    def _taken(self, outline: Outline) -> Iterator[tuple[str, Hit]]:
        for hit in distinct(self.locator.find(outline)):
            for text in self.part.take(hit.text):
                if not self._coined(text):
                    yield text, hit

    def _coined(self, text: str) -> bool:
        """Whether a class name is a machine's and says nothing: builds make up names with figures in them."""
        return (
            isinstance(self.locator, Css)
            and self.locator.attribute == "class"
            and any(char.isdigit() for char in text)
        )


def leaf_of(outline: Outline, hit: Hit) -> int | None:
    """The leaf at which a hit begins; of an attribute, the leaf that follows is not asked for."""
    if hit.leaf is not None or hit.node is None:
        return hit.leaf
    span = outline.span(hit.node.raw)
    return span[0] if span else None


def is_attribute(rule: Rule) -> bool:
    return isinstance(rule.locator, Css) and bool(rule.locator.attribute)


# The place of a value: offsets into the text of the page where it stands there, else the path that leads to
# it.


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
