"""Parse XML into a small tree, tolerant of small errors and safe against entity bombs; and XML as JSON.

Feeds are written by templates: a bare `&`, an `&nbsp;`, a byte that XML forbids. Those are repaired first. A
document that breaks in the middle still gives what came before. Its own entities are refused: they are how a
kilobyte becomes a gigabyte.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

from thresher.core.errors import Malformed


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
        `#text`. Names have no prefix; where two differ by their prefix alone, the one that has another
        than its parent keeps it, as in `media:title`.
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
        own = _own_prefixes(children, self.prefix)
        for each in children:
            name = each.spelled if each.prefix == own[each.spelled] else f"{each.prefix}:{each.spelled}"
            inside[name] = _with(inside.get(name), each.data)
        if inside and text:
            inside["#text"] = text
        return inside or text

    @property
    def is_markup(self) -> bool:
        """Whether all that stands in it is XHTML: then it is a text, and no data."""
        return bool(self.children) and all(each.name in _HTML for each in self.children)

    @property
    def markup(self) -> str:
        """What stands in it as HTML, without attributes."""
        return "".join(
            html.escape(piece, quote=False)
            if isinstance(piece, str)
            else f"<{piece.name}>{piece.markup}</{piece.name}>"
            for piece in self.pieces
        ).strip()


class XmlData(dict[str, Any]):
    """The mapping of an element. It remembers the element, for whoever must know the order and the prefixes
    after all.
    """

    __slots__ = ("element",)

    def __init__(self, element: XmlElement) -> None:
        super().__init__()
        self.element = element

    @property
    def said(self) -> str:
        """The text of the element: what stands beside its attributes, or its XHTML. Data says nothing."""
        return self.element.markup if self.element.is_markup else str(self.get("#text", ""))


class XmlList(list[Any]):
    """The elements of one name. One alone is no list: how many there are is no part of a document's shape."""


def _with(known: Any, value: Any) -> Any:
    """What is known of a name with one more value of it."""
    if known is None:
        return value
    if isinstance(known, XmlList):
        known.append(value)
        return known
    return XmlList((known, value))


def _own_prefixes(children: list[XmlElement], prefix: str) -> dict[str, str]:
    """By name, the prefix that goes without saying: the parent's, else that of the first."""
    own: dict[str, str] = {}
    for each in children:
        if each.prefix == prefix or each.spelled not in own:
            own[each.spelled] = each.prefix
    return own


def _local(name: str) -> str:
    return name.rpartition(":")[2]


MAX_ELEMENTS: Final = 300_000
DEEPEST: Final = 200
# CDATA sections, comments and processing instructions are left as they are; of entities, only the five of
# XML.
_MEND = re.compile(
    r"<!\[CDATA\[|<!--|&(?:(amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{1,31});)?"
)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENDS: Final = {"<![CDATA[": "]]>", "<!--": "-->"}
# What descriptions are written with. `title`, `link` and the like are left out: feeds use them for data.
_HTML_NAMES: Final = (
    "a abbr article b blockquote br code dd div dl dt em font h1 h2 h3 h4 h5 h6 hr i img li ol p pre section "
    "small span strong sub sup table tbody td th thead tr u ul"
)
_HTML: Final = frozenset(_HTML_NAMES.split())


@dataclass(frozen=True, slots=True)
class XmlTree:
    """The root, and what broke the reading, if anything did."""

    root: XmlElement
    trouble: str | None = None


class _Stop(Exception):
    pass


class _Builder:
    def __init__(self) -> None:
        self.top = XmlElement("", "", "", {})
        self._open = [self.top]
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS or len(self._open) > DEEPEST:
            raise _Stop(f"more than {MAX_ELEMENTS:,} elements, or nested deeper than {DEEPEST}")
        prefix, _, local = name.rpartition(":")
        element = XmlElement(local.lower(), prefix.lower(), local, attributes)
        self._open[-1].pieces.append(element)
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop().whole = True

    def data(self, text: str) -> None:
        self._open[-1].pieces.append(text)

    def entity(self, *_: object) -> None:
        raise _Stop("it declares its own entities, which are refused")


def read_xml_tree(text: str) -> XmlTree | None:
    """The tree of an XML document; None where not even a root element can be read."""
    root, trouble = _read(text)
    return XmlTree(root, trouble) if root is not None else None


def read_xml(text: str) -> tuple[str, Any]:
    """The name of the root element and what is in it, as JSON would say it. Raises Malformed, with the place,
    for half a document.

    Half an answer is not taken for the answer: what it no longer lists would count as gone.
    """
    root, trouble = _read(text)
    if root is None or trouble is not None:
        raise Malformed(trouble or "XML without a root element")
    return root.spelled, root.data


def _read(text: str) -> tuple[XmlElement | None, str | None]:
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever its declaration says
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = builder.data, builder.entity
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    trouble: str | None = None
    try:
        parser.Parse(mended(text).encode("utf-8", "replace"), True)
    except expat.ExpatError as problem:
        trouble = f"broken XML: {expat.ErrorString(problem.code)} at line {problem.lineno}, column {problem.offset + 1}"
    except _Stop as stop:
        trouble = f"XML that is not read further: {stop}"
    return next(iter(builder.top.children), None), trouble


def mended(text: str) -> str:
    """The text with what no XML allows taken out: control characters, entities of HTML, bare ampersands."""
    clean = _FORBIDDEN.sub("", text.lstrip("\ufeff \t\r\n"))
    out: list[str] = []
    at = 0
    while (match := _MEND.search(clean, at)) is not None:
        out.append(clean[at : match.start()])
        if match[0] in _ENDS:
            end = clean.find(_ENDS[match[0]], match.end())
            at = len(clean) if end < 0 else end + 3
            out.append(clean[match.start() : at])
        else:
            out.append(_entity(match))
            at = match.end()
    return "".join((*out, clean[at:]))


def _entity(match: re.Match[str]) -> str:
    if match[1]:
        return match[0]
    if match[2] and (meant := html.unescape(match[0])) != match[0]:
        return meant.replace("&", "&amp;").replace("<", "&lt;")
    return f"&amp;{match[0][1:]}"
