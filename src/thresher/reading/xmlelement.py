"""An element of an XML document: what stands in it, in order, and the same as JSON would say it.

Feeds need the order and the prefixes, because a title may be that of a picture. Platforms' answers need
neither, and are pointed at in one way whether they are XML or JSON. Both are views of the same element.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class XmlElement:
    """An element. `name` and `prefix` are in lower case; `spelled` is the name as written.

    One that the document breaks off in is not `whole`.
    """

    name: str
    prefix: str
    spelled: str
    attributes: dict[str, str]
    pieces: "list[XmlElement | str]" = field(default_factory=list)
    whole: bool = False

    @property
    def children(self) -> "list[XmlElement]":
        return [piece for piece in self.pieces if not isinstance(piece, str)]

    @property
    def text(self) -> str:
        """What stands in it directly."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str))

    def child(self, *names: str, prefix: str | None = None) -> "XmlElement | None":
        """The first child of one of these names."""
        return next(self.named(*names, prefix=prefix), None)

    def named(self, *names: str, prefix: str | None = None) -> "Iterator[XmlElement]":
        """All children of one of these names."""
        return (each for each in self.children if each.name in names and prefix in (None, each.prefix))

    def said(self, *names: str) -> str:
        """The text of the first child of these names that has some, names in order of preference."""
        found = (each.whole_text for name in names for each in self.named(name))
        return next((text for text in found if text), "")

    @property
    def whole_text(self) -> str:
        """Its text with that of the elements in it, in order: XHTML in a feed. Never deeper than was read."""
        return "".join(
            piece if isinstance(piece, str) else f" {piece.whole_text} " for piece in self.pieces
        ).strip()

    @property
    def data(self) -> Any:
        """What is in it: a text, or a mapping of `@attributes`, children (repeated ones as a list) and
        `#text`. No prefixes.
        """
        children, text = self.children, self.text.strip()
        if not children and not self.attributes:
            return text  # most elements
        inside = XmlData(self)
        inside |= {
            f"@{_local(name)}": value
            for name, value in self.attributes.items()
            if not name.startswith("xmlns")
        }
        for each in children:
            inside[each.spelled] = _with(inside.get(each.spelled), each.data)
        if inside and text:
            inside["#text"] = text
        return inside or text


class XmlData(dict[str, Any]):
    """The mapping of an element. It remembers the element, for whoever must know the order and the prefixes
    after all.
    """

    __slots__ = ("element",)

    def __init__(self, element: XmlElement) -> None:
        super().__init__()
        self.element = element


def _with(known: Any, value: Any) -> Any:
    """What is known of a name with one more value of it. No value is itself a list, so a list is always one
    of ours.
    """
    if known is None:
        return value
    if isinstance(known, list):
        known.append(value)
        return known
    return [known, value]


def _local(name: str) -> str:
    return name.rpartition(":")[2]
