"""One look at one page: everything that detection wants to know of it, small enough to store.

A page is parsed once, in another process. What comes back is plain data, so that the plan can be made from
looks alone, again and again, without the pages.
"""

from dataclasses import dataclass
from typing import ClassVar

from thresher.apps.extractions.detection.endpoints import (
    Rows,
    endpoints,
    endpoints_of_script,
    read_rows,
    scripts,
)
from thresher.apps.extractions.detection.link_pattern import distinct
from thresher.apps.extractions.detection.links import MAX_LINKS, LinkList, all_links, link_lists
from thresher.apps.extractions.detection.paging import Paging, read_paging
from thresher.apps.extractions.detection.record import Told, read_told
from thresher.apps.extractions.detection.vendors import VendorSeen, vendor_of
from thresher.apps.extractions.model import Entity
from thresher.core.page import Page, Via
from thresher.reading.html.document import Document
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.text.markdown import main_markdown
from thresher.reading.verdict.emptiness import shell, statement

NOTHING_TOLD = Told()
MAX_EXCERPT = 4_000
MAX_TITLE = 200
MAX_SHOWN_LINKS = 200  # with their texts, for a model


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A link as a reader sees it."""

    url: str = ""
    text: str = ""
    region: str = "body"


@dataclass(frozen=True, slots=True)
class PageLook:
    """`url` answered for `asked`. `links` are all addresses of the page, `shown` the first of them with their
    texts. `prose` counts the characters that are no links. `shell` says why a script has to fill the page
    first, `empty` is the sentence with which it says that it has nothing. `rows` are those of a JSON answer,
    `body` the hash of the stored page. `trouble` is set where there was no page to look at.
    """

    NOT_STORED: ClassVar = (None, (), False, "")

    asked: str = ""
    url: str = ""
    title: str = ""
    told: Told = NOTHING_TOLD
    lists: tuple[LinkList, ...] = ()
    paging: Paging | None = None
    links: tuple[str, ...] = ()
    shown: tuple[ShownLink, ...] = ()
    prose: int = 0
    excerpt: str = ""
    shell: str | None = None
    empty: str | None = None
    rendered: bool = False
    rows: Rows | None = None
    is_data: bool = False
    endpoints: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    vendor: VendorSeen | None = None
    body: str | None = None
    content_type: str = ""
    trouble: str | None = None
    is_gone: bool = False

    @property
    def main_rows(self) -> int:
        return len(self.lists[0].urls) if self.lists else 0


def look_at(page: Page, entity: Entity) -> PageLook:
    """What a page says: a document, or data."""
    body = read_body(page, replay=False)
    if body.format is Format.JSON:
        rows = None if body.data is None else read_rows(body.data, entity.schema)
        return PageLook(
            page.url, page.final_url, rows=rows, is_data=body.data is not None, trouble=body.error
        )
    return _look_at_document(page, body.document, entity)


def _look_at_document(page: Page, document: Document, entity: Entity) -> PageLook:
    lists = link_lists(document)
    found = all_links(document)
    said = statement(document)
    blocks = document.flow.blocks
    return PageLook(
        page.url,
        page.final_url,
        document.title[:MAX_TITLE],
        read_told(document, entity.schema),
        lists,
        read_paging(document, len(lists[0].urls) if lists else 0),
        tuple(distinct((link.url for link in found), MAX_LINKS)),
        tuple(ShownLink(link.url, link.text[:120], link.region) for link in found[:MAX_SHOWN_LINKS]),
        int(sum(block.size * (1 - block.linked) for block in blocks)),
        main_markdown(document)[:MAX_EXCERPT],
        shell(document),
        said.quote if said is not None else None,
        page.via is Via.BROWSER,
        endpoints=endpoints(document),
        scripts=scripts(document),
        vendor=vendor_of(document.html, document.url, entity.name),
    )


def look_at_script(page: Page, document_url: str) -> PageLook:
    """The addresses of data that a script names."""
    text = Document.of(page).html
    return PageLook(page.url, page.final_url, endpoints=endpoints_of_script(text, document_url))
