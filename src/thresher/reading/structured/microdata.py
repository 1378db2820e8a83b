"""Microdata, RDFa and Open Graph: things said in the attributes of a page.

Microdata (`itemscope`, `itemprop`) and RDFa Lite (`typeof`, `property`) differ in names only, so one reader
does both. A property belongs to the nearest scope around it; each element's scope is looked up once, whatever
the nesting.
"""

from dataclasses import dataclass, field
from typing import Any

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node, Selector
from thresher.reading.structured.thing import MAX_TEXT, MAX_THINGS, Thing, type_names


@dataclass(frozen=True, slots=True)
class _Dialect:
    syntax: str
    scope: str
    type: str
    name: str
    scoped: Selector
    named: Selector


MICRODATA = _Dialect(
    "microdata", "itemscope", "itemtype", "itemprop", Selector("[itemscope]"), Selector("[itemprop]")
)
RDFA = _Dialect("rdfa", "typeof", "typeof", "property", Selector("[typeof]"), Selector("[property]"))
_LINKS = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
    "embed": "src",
    "iframe": "src",
    "track": "src",
    "object": "data",
}
_VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}
_CARDS = ("og:", "product:", "article:", "twitter:", "profile:", "book:", "music:", "video:")


@dataclass(slots=True)
class _Scope:
    node: Node
    types: tuple[str, ...]
    properties: dict[str, Any] = field(default_factory=dict)


def microdata(document: Document) -> list[Thing]:
    """The things of a page's microdata, in order."""
    return _things(document, MICRODATA)


def rdfa(document: Document) -> list[Thing]:
    """The things of a page's RDFa Lite, in order."""
    return _things(document, RDFA)


def open_graph(document: Document) -> list[Thing]:
    """What the page's cards for social media say, as one thing; none where there is no card."""
    properties: dict[str, Any] = {}
    metas = document.root.css("meta[property][content], meta[name][content]")[:MAX_THINGS]
    for meta in metas:
        name = (meta.attribute("property") or meta.attribute("name") or "").strip().lower()
        if name.startswith(_CARDS):
            _add(properties, name, (meta.attribute("content") or "")[:MAX_TEXT].strip())
    if not properties:
        return []
    said = properties.get("og:type")
    kind = said if isinstance(said, str) and said else "website"
    return [Thing(kind, properties, "head > meta", "opengraph", (kind,))]


def _things(document: Document, dialect: _Dialect) -> list[Thing]:
    marked = document.root.select_by(dialect.scoped)[:MAX_THINGS]
    if not marked:
        return []
    scopes = {node: _Scope(node, type_names((node.attribute(dialect.type) or "").split())) for node in marked}
    owners: dict[Node, _Scope | None] = {}
    for node in document.root.select_by(dialect.named)[: 10 * MAX_THINGS]:
        owner = _owner(node, scopes, owners)
        if owner is not None:
            value = _nested(scopes[node]) if node in scopes else _value(document, node)
            for name in (node.attribute(dialect.name) or "").split()[:10]:
                _add(owner.properties, name.rpartition("/")[2].rpartition(":")[2], value)
    typed = (scope for scope in scopes.values() if scope.types)
    return [
        Thing(scope.types[0], scope.properties, scope.node.path, dialect.syntax, scope.types)
        for scope in typed
    ]


def _owner(node: Node, scopes: dict[Node, _Scope], owners: dict[Node, _Scope | None]) -> _Scope | None:
    """The scope around an element. Every element passed on the way up is remembered, so none is passed
    twice.
    """
    passed: list[Node] = []
    found: _Scope | None = None
    above = node.parent
    while above is not None:
        if above in scopes:
            found = scopes[above]
            break
        if above in owners:
            found = owners[above]
            break
        passed.append(above)
        above = above.parent
    owners.update(dict.fromkeys(passed, found))
    return found


def _nested(scope: _Scope) -> dict[str, Any]:
    """A thing as the value of a property: the same mapping that the thing itself fills, with its type."""
    if scope.types:
        scope.properties["@type"] = scope.types[0]
    return scope.properties


def _value(document: Document, node: Node) -> str:
    if (content := node.attribute("content")) is not None:
        return content[:MAX_TEXT].strip()
    if node.tag in _LINKS and (href := node.attribute(_LINKS[node.tag])) is not None:
        return document.absolute(href) or href[:MAX_TEXT].strip()
    if node.tag in _VALUES and (said := node.attribute(_VALUES[node.tag])) is not None:
        return said[:MAX_TEXT].strip()
    return node.line[:MAX_TEXT]


def _add(properties: dict[str, Any], name: str, value: Any) -> None:
    """A property said twice is a list."""
    if name not in properties:
        properties[name] = value
    elif isinstance(properties[name], list):
        properties[name].append(value)
    else:
        properties[name] = [properties[name], value]
