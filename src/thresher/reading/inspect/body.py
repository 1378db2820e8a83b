"""Classify the body of a page: an HTML document, JSON, or XML; with a reason where it cannot be read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import orjson

from thresher.core.errors import Malformed
from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.structured.loose_json import BrokenJson, read_json
from thresher.reading.structured.xml import read_xml

# Recorded exchanges: a request and its response in one JSON file, as test suites and proxies write them.

_ADDRESSES = ("uri", "url")


def replayed(page: Page, data: Any) -> Page | None:
    """The page that a recording holds; None where `data` is no recording of one exchange."""
    if not isinstance(data, Mapping):
        return None
    request, answer = data.get("request"), data.get("response", data)
    if not isinstance(request, Mapping) or not isinstance(answer, Mapping) or "body" not in answer:
        return None
    url = next((str(request[name]) for name in _ADDRESSES if isinstance(request.get(name), str)), "")
    status = _status(answer.get("status", answer.get("status_code")))
    if not url or status is None:
        return None
    body, kind = _body(answer["body"])
    headers = {**_headers(answer.get("headers")), **({"content-type": kind} if kind else {})}
    return replace(page, url=url, final_url=url, status=status, headers=headers, body=body)


def _status(value: Any) -> int | None:
    if isinstance(value, Mapping):
        value = value.get("code")
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {
        str(name).lower(): str(said[0] if isinstance(said, list) and said else said)
        for name, said in value.items()
    }


def _body(value: Any) -> tuple[bytes, str | None]:
    """The bytes, and their type where the recording has parsed them already."""
    if isinstance(value, Mapping) and isinstance(value.get("string"), str):
        value = value["string"]
    if isinstance(value, str):
        return value.encode(), None
    return orjson.dumps(value), "application/json"


_FEED_ROOTS = frozenset({"rss", "feed", "RDF"})
_XML_START = re.compile(r"\s*(?:<\?xml\b|<(?:rss|feed|[\w.-]{1,40}:(?:rss|feed|rdf))\b)", re.IGNORECASE)
# Names of custom elements of HTML have a dash, so those with one are left out.
_ELEMENT = re.compile(r"[\s\ufeff]*<([A-Za-z_][\w.:]{0,80})[\s>]")
_UNTOLD = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
_HTML_NAMES = (
    "a abbr address article aside audio b base blockquote body br button canvas center code dd details div dl dt "
    "em embed fieldset figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img "
    "input label li link main map meta nav noscript object ol option p picture pre script section select small "
    "span strong style sub sup svg table tbody td template textarea tfoot th thead time title tr u ul video"
)
_HTML_ROOTS = frozenset(_HTML_NAMES.split())
_HTML_START = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)


class Format(StrEnum):
    """How a body is read."""

    HTML = "html"
    JSON = "json"
    XML = "xml"


@dataclass(frozen=True, slots=True)
class Body:
    """`data` is what JSON or XML holds, `root` the name of the XML's root; `error` why neither could be
    read.
    """

    page: Page
    format: Format
    document: Document
    data: Any = None
    root: str = ""
    error: str | None = None

    @property
    def text(self) -> str:
        return self.document.html

    @property
    def is_feed(self) -> bool:
        if self.format is Format.XML:
            return self.root in _FEED_ROOTS
        return isinstance(self.data, dict) and "jsonfeed.org" in str(self.data.get("version", ""))


def read_body(page: Page, *, replay: bool = True) -> Body:
    """Tell what a body is by its first characters, and by its type where those do not say. Recordings are
    replayed, unless the page is an answer to a request of ours: then it may not say that it is another's.
    """
    document = Document.of(page)
    start = document.html[:2_000].lstrip("\ufeff \t\r\n")
    if start[:1] in ("{", "[") or ("json" in page.content_type and start[:1] != "<"):
        return _json(page, document, replay=replay)
    if (_XML_START.match(start) or page.content_type.endswith("xml")) and not _HTML_START.search(start):
        return _xml(page, document)
    if page.content_type in _UNTOLD and _is_bare_xml(document.html):
        return _xml(page, document)
    return Body(page, Format.HTML, _located(document))


def _is_bare_xml(text: str) -> bool:
    """Whether a text without a declaration is XML: one element around everything, of a name that no HTML
    has.
    """
    start = _ELEMENT.match(text)
    if start is None or start[1].lower() in _HTML_ROOTS:
        return False
    return text.rstrip().endswith(f"</{start[1]}>")


def _json(page: Page, document: Document, *, replay: bool) -> Body:
    text = document.html.lstrip("\ufeff")
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            data = read_json(text).value
        except BrokenJson as problem:
            return Body(page, Format.JSON, document, error=f"the JSON cannot be read: {problem}")
    inner = replayed(page, data) if replay else None
    return read_body(inner) if inner is not None else Body(page, Format.JSON, document, data)


def _xml(page: Page, document: Document) -> Body:
    try:
        root, data = read_xml(document.html)
    except Malformed as problem:
        return Body(page, Format.XML, document, error=f"the XML cannot be read: {problem}")
    return Body(page, Format.XML, document, data, root)


def _located(document: Document) -> Document:
    """A saved page knows its address from what it says about itself, where nobody else knows it."""
    if document.url.startswith(("http://", "https://")):
        return document
    root = document.root
    said = (
        root.css_first("link[rel=canonical][href]"),
        root.css_first("meta[property='og:url'][content]"),
        root.css_first("base[href]"),
    )
    for node in said:
        url = (node.attribute("href") or node.attribute("content") or "") if node else ""
        if url.startswith(("http://", "https://")):
            document.url = url
            return document
    document.url = ""
    return document
