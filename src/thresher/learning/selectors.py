"""Selectors: the CSS ways to an element by the names that people gave it.

An element is called by its id, its classes, its `itemprop` or its data attributes, alone or below an ancestor
that has a name. Positions (`div:nth-of-type(3)`) are no names: they hold until somebody puts a banner before
them, and then lead to something else without a word.
"""

import re
from collections.abc import Iterator
from itertools import islice

from thresher.core.errors import UsageError
from thresher.reading.html.parser import Node, Selector

MAX_ANCESTORS = 12
MAX_TOKENS = 5
MAX_SELECTORS = 150
MAX_NAME = 60
_NAMING = (
    "itemprop",
    "property",
    "id",
    "data-testid",
    "data-test",
    "data-automation",
    "data-qa",
    "data-cy",
    "data-field",
    "name",
    "role",
    "rel",
    "headers",
    "for",
    "aria-label",
)
# Tags that say what they hold; `div` and `span` do not.
_SPEAKING = frozenset({"h1", "address", "time", "title", "main", "article", "figcaption"})
_TAG = r"[a-z][a-z0-9-]{0,40}"
_PLAIN = re.compile(_TAG)  # `fb:like` is a tag to a parser and a pseudo-class to a selector
_ONE = rf'{_TAG}(?:\[(?:class~|(?:{"|".join(_NAMING)}))="[^"\\]{{1,{MAX_NAME}}}"\])?'
_LEARNED = re.compile(rf"{_ONE}(?: (?:> )?{_ONE})?")


def learned_selector(text: str) -> Selector:
    """A selector as this module writes them: one or two elements by tag and at most one quoted name each.
    Anything else is refused.

    What it was put together from stood on a page, and what is stored may be older than the rules of today.
    """
    if not _LEARNED.fullmatch(text) or not text.isprintable():
        raise UsageError(f"{text[:200]!r} is no selector that is learned from pages: learn the site again")
    return Selector(text)


def selectors(node: Node) -> Iterator[Selector]:
    """Selectors that may lead to the element, the most telling first. Whether they lead to it alone is for
    the page to say.
    """
    if not is_plain(node):
        return
    yield from map(learned_selector, islice(_named(node), MAX_SELECTORS))


def _named(node: Node) -> Iterator[str]:
    own = list(tokens(node))
    yield from own
    if node.tag in _SPEAKING:
        yield node.tag
    below = [*own, node.tag]
    above = list(islice(node.ancestors, MAX_ANCESTORS))
    for depth, ancestor in enumerate(above):
        for name in tokens(ancestor):
            for token in below:
                yield f"{name} {token}"
                if depth == 0:
                    yield f"{name} > {token}"


def is_plain(node: Node) -> bool:
    """Whether the tag of an element means the same to a selector: a page may use any text as the name of a
    tag.
    """
    return _PLAIN.fullmatch(node.tag) is not None


def tokens(node: Node) -> Iterator[str]:
    """What the element is called, as simple selectors. Quoted, so that any name will do."""
    if not is_plain(node):
        return
    for attribute in _NAMING:
        value = node.attribute(attribute)
        if value and _quotable(value):
            yield f'{node.tag}[{attribute}="{value}"]'
    for name in islice((each for each in node.classes if _quotable(each)), MAX_TOKENS):
        yield f'{node.tag}[class~="{name}"]'


def _quotable(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME and name.isprintable() and not any(char in name for char in '"\\')
