"""Descriptions: HTML out of a feed or an API, as plain text. Some sources escape it once more than their
format needs.
"""

import re
from html import unescape

from thresher.reading.html.document import Document
from thresher.reading.text.plain import full_text

MAX_LENGTH = 100_000  # characters of markup
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>")
_ESCAPED = re.compile(r"&lt;/?[a-zA-Z]")


def described(markup: str | None, *, escaped: bool = False) -> str | None:
    """The text of a description; None where there is none. Escaped HTML is unescaped once, never twice."""
    if not markup or not markup.strip():
        return None
    markup = markup[:MAX_LENGTH]
    if escaped or (_ESCAPED.search(markup) and not _TAG.search(markup)):
        markup = unescape(markup)
    if not _TAG.search(markup):
        return unescape(markup).strip() or None
    return full_text(Document.from_html(markup)).strip() or None
