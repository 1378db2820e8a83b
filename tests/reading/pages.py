"""Hand-written pages for the tests of reading."""

from datetime import date

from thresher.core.page import Page, Via
from thresher.reading.html.document import Document
from thresher.reading.inspect.inspection import Inspection, inspect

TODAY = date(2026, 3, 10)
PROSE = (
    "<p>"
    + "Ladders of ash and steel have been made here since the flood took the first workshop away. " * 20
    + "</p>"
)


def document(body: str, url: str = "https://acme.example/", head: str = "") -> Document:
    return Document.from_html(f"<html><head>{head}</head><body>{body}</body></html>", url)


def page(
    body: str | bytes, url: str = "https://acme.example/", status: int = 200, kind: str = "text/html"
) -> Page:
    raw = body.encode() if isinstance(body, str) else body
    return Page(url, url, status, {"content-type": kind}, raw, via=Via.FILE)


def look(
    body: str | bytes, url: str = "https://acme.example/", status: int = 200, kind: str = "text/html"
) -> Inspection:
    return inspect(page(body, url, status, kind), TODAY)


def rows(number: int, *, path: str = "job", start: int = 1) -> str:
    """Openings as a page of results shows them."""
    return "".join(
        f'<li class="result"><a href="/{path}/{each}000{each}"><h3>Ladder maker {each}</h3></a>'
        f'<span class="company">Acme {each}</span><span class="location">Leeds</span><a href="/{path}/{each}000{each}">More</a></li>'
        for each in range(start, start + number)
    )
