"""Script shells: pages that hold nothing yet, because a script in the browser is to fetch and draw
everything.

They look like an empty list to whoever does not run the script. So they are recognised and rendered, never
taken for "nothing there".
"""

from thresher.core.page import Page
from thresher.reading.document import Document
from thresher.reading.html import Node
from thresher.reading.words import words

LITTLE = 600  # characters of visible text above which there is something to read
_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main-app, #react-root, #app-root, #application, "
    "app-root, [ng-app], [ng-version], [data-reactroot], [data-server-rendered], [id$='-root'], [id$='-app']"
)


def shell(document: Document) -> str | None:
    """Why the page must be rendered before it can be read; None where it can be read as it is."""
    body = document.root.css_first("body") or document.root
    unscripted = [node.line for node in body.css("noscript")[:20]]
    shown = _without(body.line, unscripted)
    if len(shown) > LITTLE or document.root.css_first("script") is None:
        return None
    if any(words("shell").names(line) for line in unscripted):
        return "the page asks for JavaScript and shows nothing without it"
    if any(_is_bare(node) for node in body.css(_ROOTS)[:50]):
        return "the page is an empty frame that a script is to fill"
    if words("shell", "waiting").names(shown):
        return "the page only says that it is loading"
    return None


def is_shell(page: Page) -> bool:
    """Whether a page must be rendered before it can be read."""
    return shell(Document.of(page)) is not None


def _without(text: str, pieces: list[str]) -> str:
    for piece in pieces:
        text = text.replace(piece, "", 1) if piece else text
    return text


def _is_bare(node: Node) -> bool:
    return len(node.line) < LITTLE // 2
