"""What a CSS selector of a platform's file points at: `a.title@href` is an attribute, everything else a
text.
"""

from collections.abc import Sequence

from thresher.core.errors import UsageError
from thresher.reading.html.parser import Node, Selector, parse


def first_selected(node: Node, choices: Sequence[str]) -> str | None:
    """The first of several selectors that finds something."""
    return next((text for choice in choices if (text := _selected(node, choice))), None)


def written_selector(text: str) -> Selector:
    """A selector that a person wrote into a file."""
    return Selector(text)


def is_selector(text: str) -> bool:
    """Whether a selector can be understood."""
    try:
        _selected(parse("<p>"), text)
    except UsageError:
        return False
    return True


def _selected(node: Node, selector: str) -> str | None:
    css, _, attribute = selector.partition("@")
    found = node.select_first_by(written_selector(css))
    if found is None:
        return None
    return (found.attribute(attribute) if attribute else found.line) or None
