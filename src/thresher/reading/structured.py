"""Everything a page says in a form made for machines, in one list."""

from thresher.reading.document import Document
from thresher.reading.jsonld import json_ld
from thresher.reading.microdata import microdata, open_graph, rdfa
from thresher.reading.thing import Structured


def structured(document: Document) -> Structured:
    """The things of a page: JSON-LD first, then microdata, RDFa and Open Graph, each in document order."""
    things, troubles = json_ld(document.root)
    return Structured(
        (*things, *microdata(document), *rdfa(document), *open_graph(document)), tuple(troubles)
    )
