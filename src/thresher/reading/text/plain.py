"""The text of a page as a person would read it out: one paragraph after the other, nothing of the machinery.

The same blocks always give the same characters, so that an offset into this text can serve as evidence later.
"""

import re
from collections.abc import Iterable
from html import unescape

from thresher.reading.html.blocks import Block
from thresher.reading.html.document import Document

_CELLS = ("td", "th")
# Blocks that stand apart from their neighbours by an empty line.
_APART = frozenset(
    {
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "pre",
        "blockquote",
        "figcaption",
        "caption",
        "article",
        "section",
    }
)


def full_text(document: Document) -> str:
    """Everything that the page shows, menus and footers included."""
    return render(document.flow.blocks)


def render(blocks: Iterable[Block]) -> str:
    """Blocks in their order: cells of one row divided by tabs, list items marked, paragraphs set apart."""
    pieces: list[str] = []
    before: Block | None = None
    for block in blocks:
        if before is not None:
            pieces.append(_between(before, block))
        pieces.append(f"- {block.text}" if block.item else block.text)
        before = block
    return "".join(pieces)


def _between(before: Block, block: Block) -> str:
    if block.tag in _CELLS and before.tag in _CELLS and block.section.parent is before.section.parent:
        return "\n" if block.section is before.section else "\t"
    return "\n\n" if block.tag in _APART or before.tag in _APART else "\n"


# Descriptions: HTML out of a feed or an API, as plain text. Some sources escape it once more than their
# format needs.

MAX_LENGTH = 100_000  # characters of markup
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")
_ESCAPED = re.compile(r"&lt;/?[a-zA-Z]")


def described(markup: str | None, *, escaped: bool = False) -> str | None:
    """Return the text of a description; None if there is none. Unescape escaped HTML once, never twice."""
    if not markup or not markup.strip():
        return None
    markup = markup[:MAX_LENGTH]
    if escaped or (_ESCAPED.search(markup) and not _TAG.search(markup)):
        markup = unescape(markup)
    if not _TAG.search(markup):
        return unescape(markup).strip() or None
    return full_text(Document.from_html(markup)).strip() or None
