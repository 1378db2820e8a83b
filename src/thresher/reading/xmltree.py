"""XML as the same lists and mappings that JSON gives, so that one way of pointing at values serves both.

Names lose their prefixes. Entity declarations are refused: they are how a kilobyte becomes a gigabyte, and no feed of
ours needs one. Depth and size are bounded.
"""

from typing import Any
from xml.parsers import expat

from thresher.core.errors import Malformed

DEEPEST = 100
MOST_ELEMENTS = 500_000


class _Builder:
    def __init__(self) -> None:
        self.root: tuple[str, Any] | None = None
        self._open: list[tuple[str, dict[str, Any], list[str]]] = []
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= DEEPEST or self._count > MOST_ELEMENTS:
            raise Malformed("the XML is nested too deeply or has too many elements; fetch a smaller part of it")
        own = {f"@{_local(key)}": value for key, value in attributes.items() if not key.startswith("xmlns")}
        self._open.append((_local(name), own, []))

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1][2].append(text)

    def end(self, _name: str) -> None:
        name, inside, texts = self._open.pop()
        text = "".join(texts).strip()
        value: Any = inside or text
        if inside and text:
            inside["#text"] = text
        if not self._open:
            self.root = (name, value)
            return
        parent = self._open[-1][1]
        if name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value]


def read_xml(text: str) -> tuple[str, Any]:
    """The name of the root element and what is in it. Raises Malformed, with the line, where it is no XML."""
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")  # the text is decoded already, whatever its declaration says
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = builder.start, builder.end, builder.text
    parser.EntityDeclHandler = _refuse
    parser.buffer_text = True
    try:
        parser.Parse(text.lstrip("\ufeff \t\r\n").encode("utf-8", "replace"), True)
    except expat.ExpatError as problem:
        raise Malformed(f"not XML: {problem}") from None
    assert builder.root is not None
    return builder.root


def _refuse(*_declaration: object) -> None:
    raise Malformed("the XML declares entities of its own; such documents are not read")


def _local(name: str) -> str:
    return name.rpartition(":")[2]
