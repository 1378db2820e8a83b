"""The structured data of a page, read once for all who use it: postings, products, the company."""

from collections.abc import Mapping
from functools import cached_property

from thresher.reading.html.document import Document
from thresher.reading.lists.find_lists import ListGroup, find_lists, lone_rows
from thresher.reading.structured.embedded import Embedded, embedded
from thresher.reading.structured.jsonld import json_ld
from thresher.reading.structured.microdata import microdata, open_graph, rdfa
from thresher.reading.structured.thing import Structured


def structured(document: Document) -> Structured:
    """The things of a page: JSON-LD first, then microdata, RDFa and Open Graph, each in document order."""
    things, troubles = json_ld(document.root)
    return Structured(
        (*things, *microdata(document), *rdfa(document), *open_graph(document)), tuple(troubles)
    )


class Facts:
    """Each part is read when it is first asked for."""

    def __init__(self, document: Document) -> None:
        self.document = document

    @cached_property
    def structured(self) -> Structured:
        return structured(self.document)

    @cached_property
    def embedded(self) -> list[Embedded]:
        return embedded(self.document.root)[0]

    @cached_property
    def lists(self) -> tuple[ListGroup, ...]:
        """The lists that the page shows, the likeliest to be its main matter first."""
        return find_lists(self.document)

    @cached_property
    def lone_rows(self) -> tuple[ListGroup, ...]:
        """Links to one thing of a kind: what a list with a single row looks like."""
        return lone_rows(self.document)

    @cached_property
    def meta(self) -> Mapping[str, str]:
        """The page's meta tags by name or property, in lower case; the first of a name counts."""
        found: dict[str, str] = {}
        for node in self.document.root.css("meta[content]"):
            name = (node.attribute("property") or node.attribute("name") or "").strip().lower()
            if name and (content := (node.attribute("content") or "").strip()):
                found.setdefault(name, content)
        return found
