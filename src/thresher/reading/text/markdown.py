"""Clean Markdown of a page: whole, or its main content only. Links are written whole, so it can be read
anywhere.

It is made on a tree of its own: what the page does not show and what is not asked for is cut out of the copy,
and the parser's writer turns the rest into Markdown. The blocks of the copy are those of the document, one
for one.
"""

import re

from thresher.reading.html.blocks import UNSEEN, BlockFlow, hidden, read
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, to_markdown
from thresher.reading.text.content import main_content

# Characters of links that may be written out. A long <base> and many short links would multiply a page a
# thousandfold.
LINK_BUDGET = 4_000_000

_EMPTY_LINK = re.compile(
    r"(?<!!)\[\]\([^()\s]{0,8200}\)"
)  # a picture that is not shown, a mark for a style sheet
_UNSEEN = ", ".join(sorted(UNSEEN))


def full_markdown(document: Document, *, images: bool = False) -> str:
    """Everything that the page shows."""
    return _written(document, document.fresh(), images=images)


def main_markdown(document: Document, *, images: bool = False) -> str:
    """Return the article of a page as Markdown; the whole page if it is not an article."""
    content = main_content(document)
    root = document.fresh()
    if content.is_article:
        number = {block: at for at, block in enumerate(document.flow.blocks)}
        _cut(read(root), {number[block] for block in content.blocks}, images=images)
    return _written(document, root, images=images)


def _cut(flow: BlockFlow, kept: set[int], *, images: bool) -> None:
    """Leave the kept blocks, and with them the pictures that stand between the first and the last."""
    holds = [0] * len(flow.sections)
    for at, block in enumerate(flow.blocks):
        if at in kept:
            holds[block.section.index] += 1
        else:
            for node in block.nodes:
                node.extract()
    if images and kept:
        first, last = flow.blocks[min(kept)].section.index, flow.blocks[max(kept)].section.index
        for section in flow.sections[first : last + 1]:
            holds[section.index] += section.images
    for section in reversed(flow.sections):
        if section.parent is not None:
            holds[section.parent.index] += holds[section.index]
    for section in flow.sections:
        if not holds[section.index] and (section.parent is None or holds[section.parent.index]):
            section.element.decompose()


def _written(document: Document, root: Node, *, images: bool) -> str:
    for element in (*hidden(root.raw), *root.raw.select(_UNSEEN)):
        element.extract()
    for control in root.raw.select("button, select, option, optgroup"):
        control.tag = "div"  # else the words of two of them run together
    _write_links(document, root)
    if images:
        _write_images(document, root)
    return _EMPTY_LINK.sub("", to_markdown(root, images=images)).strip()


def _write_links(document: Document, root: Node) -> None:
    """Every link whole; one that leads nowhere, or only up and down the page, is its text."""
    budget = LINK_BUDGET
    known: dict[str, str | None] = {}
    for link in root.raw.select("a[href]"):
        href = link.attr("href") or ""
        if href not in known:
            known[href] = None if href.startswith("#") else document.absolute(href)
        url = known[href]
        if url is None or budget < 0:
            link.unwrap()
        else:
            budget -= len(url)
            link.attrs["href"] = url


def _write_images(document: Document, root: Node) -> None:
    budget = LINK_BUDGET
    for image in root.raw.select("img"):
        url = document.absolute(_source(image)) if budget > 0 else None
        if url is None:
            image.extract()
        else:
            budget -= len(url)
            image.attrs["src"] = url


def _source(image: Element) -> str:
    """Where the picture is. Pages that load it late keep the address aside and show a placeholder of data."""
    source = image.attr("src") or ""
    if not source or source.startswith("data:"):
        return image.attr("data-src") or image.attr("data-original") or ""
    return source
