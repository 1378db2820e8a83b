"""Tables of things: learning and reading pages that show several, row by row.

A row is read as a page of its own. So everything that is known about reading one thing holds here too, and a
rule can never reach from one row into the next.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thresher.core.schema import Schema
from thresher.learning.extractor import Example, Extractor, LearningRefusal
from thresher.learning.locator import is_plain, learned_selector, tokens
from thresher.learning.outline import Outline
from thresher.learning.wording import squeezed
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, Selector

MAX_ROWS = 1_000
MAX_LESSONS = 24
MIN_ROWS = 3
MAX_CLIMB = 15
Items = Sequence[Mapping[str, Any]]


def row_examples(
    schema: Schema, examples: Sequence[Example]
) -> tuple[Selector, list[Example]] | LearningRefusal:
    """The selector of a row, and each labelled row as an example of one thing."""
    placed = [
        (example.document, _rows_of(schema, Outline(example.document), example.labels.get("items") or ()))
        for example in examples
    ]
    found = [(document, node, thing) for document, rows in placed for node, thing in rows]
    if len(found) < MIN_ROWS:
        return LearningRefusal(
            f"only {len(found)} of the labelled things were found in a row of their own, and "
            f"{MIN_ROWS} are needed: label things whose first field is different for each"
        )
    selector = _selector([document for document, _ in placed], [node for _, node, _ in found])
    if selector is None:
        return LearningRefusal(
            "only their position distinguishes the labelled things from others, so no rule would hold"
        )
    step = -(-len(found) // MAX_LESSONS)
    return selector, [Example(row_document(document, node), thing) for document, node, thing in found[::step]]


def _rows_of(schema: Schema, outline: Outline, items: Items) -> list[tuple[Node, Mapping[str, Any]]]:
    """The element of each thing: the largest around the text that tells it apart, and that holds no other
    thing's.
    """
    anchors = [
        (anchor, thing)
        for thing in items[:MAX_ROWS]
        if (anchor := _anchor(schema, outline, thing)) is not None
    ]
    above: Counter[Element] = Counter()
    for anchor, _ in anchors:
        above.update(_climb(outline, anchor))
    found: list[tuple[Node, Mapping[str, Any]]] = []
    for anchor, thing in anchors:
        own = [element for element in _climb(outline, anchor) if above[element] == 1]
        if own and len(anchors) > 1:
            found.append((Node(own[-1]), thing))
    return found


def _anchor(schema: Schema, outline: Outline, thing: Mapping[str, Any]) -> int | None:
    """The leaf that says a value of the thing, and is the only one to say it."""
    said = (thing.get(field.name) for field in schema.fields)
    places = (outline.keys.get(squeezed(str(value)), ()) for value in said if isinstance(value, str))
    return next((each[0] for each in places if len(each) == 1), None)


def _climb(outline: Outline, leaf: int) -> list[Element]:
    found: list[Element] = []
    for element in outline.leaves[leaf].node.ancestors:
        if not isinstance(element, Element) or element.tag in ("body", "html") or len(found) >= MAX_CLIMB:
            break
        found.append(element)
    return found


def _selector(documents: Sequence[Document], nodes: Sequence[Node]) -> Selector | None:
    """The selector of all rows with the fewest other elements."""
    shared = Counter(learned_selector(token) for node in nodes for token in dict.fromkeys(_named(node)))
    able = [token for token, times in shared.items() if times == len(nodes)]
    sizes = {
        token: sum(len(document.root.select_by(token)[: 2 * MAX_ROWS]) for document in documents)
        for token in able
    }
    return min(able, key=lambda token: (sizes[token], len(token)), default=None)


def _named(node: Node) -> Iterator[str]:
    yield from tokens(node)
    parent = node.parent
    if parent is not None and is_plain(node):
        yield from (f"{name} > {node.tag}" for name in tokens(parent))


def row_document(document: Document, node: Node) -> Document:
    html = node.html
    wrapped = f"<table>{html}</table>" if node.tag in ("tr", "tbody") else html
    return Document.from_html(wrapped, document.url)


def as_table(extractor: Extractor, schema: Schema, selector: Selector, pages: int) -> Extractor:
    """An extractor of rows as one of tables."""
    return replace(extractor, schema=schema, row=selector, pages=pages)
