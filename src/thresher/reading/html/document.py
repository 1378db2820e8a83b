"""A document: a page decoded and parsed, each once and on demand, shared by all who read it."""

from functools import cached_property
from html import escape
from typing import Self

import ada_url

from thresher.core.keys import MAX_URL
from thresher.core.page import Page
from thresher.reading.html.blocks import BlockFlow, read
from thresher.reading.html.charset import decode
from thresher.reading.html.parser import Node, parse


class Document:
    """`url` is the address that answered, `html` the markup in characters, `page` what it was made of, if of
    a page.
    """

    def __init__(self, html: str, url: str = "", page: Page | None = None, charset: str = "utf-8") -> None:
        self.html = html
        self.url = url
        self.page = page
        self.charset = charset

    @classmethod
    def of(cls, page: Page) -> Self:
        """What a page says, in characters. Never raises: any bytes are some document."""
        decoded = decode(page.body, page.headers.get("content-type", ""))
        return cls(decoded.text, page.final_url, page, decoded.charset)

    @classmethod
    def from_html(cls, html: str, url: str = "") -> Self:
        """A document that no page stands behind: a snippet, a description out of JSON."""
        return cls(html, url)

    @cached_property
    def root(self) -> Node:
        """The root of the tree. Plain text is one preformatted block, so that `<` in it is a character."""
        return self.fresh()

    def fresh(self) -> Node:
        """The root of a tree of one's own, for those who cut into it."""
        plain = self.page is not None and self.page.content_type == "text/plain"
        return parse(f"<pre>{escape(self.html, quote=False)}</pre>" if plain else self.html)

    @cached_property
    def flow(self) -> BlockFlow:
        """The text of the page, cut into blocks."""
        return read(self.root)

    @cached_property
    def title(self) -> str:
        """The text of `<title>`, on one line; empty where there is none."""
        found = self.root.css_first("head > title") or self.root.css_first("body title:not(svg title)")
        return " ".join(found.text.split()) if found else ""

    @cached_property
    def language_hint(self) -> str:
        """What `<html lang>` says, as written."""
        return (self.root.attribute("lang") or self.root.attribute("xml:lang") or "").strip()

    @cached_property
    def base_url(self) -> str:
        """What links are relative to: the first `<base href>` that is a web address, else the address of the
        page.
        """
        found = self.root.css_first("base[href]")
        return (found and _joined(self.url, found.attribute("href") or "")) or self.url

    def absolute(self, href: str) -> str | None:
        """A link's address written whole; None where it leads to no web page (mail, script, nonsense,
        nothing).
        """
        return _joined(self.base_url, href)


def _joined(base: str, href: str) -> str | None:
    href = href.strip()
    if not href or len(href) > MAX_URL:
        return None
    try:
        url = ada_url.join_url(base, href) if base else ada_url.URL(href).href
    except ValueError:
        return None
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_URL else None
