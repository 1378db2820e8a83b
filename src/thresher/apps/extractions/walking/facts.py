"""What one page holds for the walk: its text, the links that lead on, how its list goes on.

Everything here reads bytes that strangers wrote, with a pattern that a recipe gives. It is called in a
process that is killed when it takes too long, and what it returns is bounded.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from thresher.apps.extractions.model import Level, page_name
from thresher.apps.extractions.recipe_file import selector_of
from thresher.core.errors import InvalidUrl, Malformed
from thresher.core.keys import canonical_url
from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.html.links import links
from thresher.reading.html.parser import Node
from thresher.reading.lists.find_lists import find_lists
from thresher.reading.lists.pagination import Pagination, pagination
from thresher.reading.text.markdown import full_markdown
from thresher.reading.text.plain import full_text
from thresher.reading.verdict.emptiness import counts_rows, is_main, shell, statement

MAX_LINKS = 20_000
MAX_PAGE_URLS = 500
MIN_SHARE = 0.6  # of a list, and of the links that a pattern finds
MAX_CLICKED = 300  # elements of a page whose level sets no limit
MAX_EXPLORED = 200  # links of one page that exploration follows
_SCRIPT = re.compile(r"\.(?:php|aspx?|jsp|cgi|do|cfm)$", re.IGNORECASE)
_FILE = re.compile(
    r"\.(?:pdf|docx?|xlsx?|pptx?|zip|gz|rar|7z|exe|dmg|png|jpe?g|gif|svg|webp|mp[34]|avi|mov|ics|css|js|xml|json)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """`links` lead to the next level, and `left` is how many more there are; `page_urls` lead to other pages
    of the list. `identity` is the same for every address of one page. `shell` says that scripts were to fill
    the page, `empty` are the words with which a list says that it has nothing, `note` is what a browser left
    undone.
    """

    markdown: str
    identity: str
    links: tuple[str, ...] = ()
    next_url: str | None = None
    page_urls: tuple[str, ...] = ()
    total: int | None = None
    shell: str | None = None
    left: int = 0
    empty: str | None = None
    note: str | None = None


def read_page(page: Page, level: Level) -> PageFacts:
    """Read a page of this level."""
    document = content_of(page, level)
    paging = pagination(Document.of(page)) if level.pagination else None  # a pager stands beside the content
    found = tuple(_next_level(document, level, page))
    beyond, note = _not_clicked(page, level)
    return PageFacts(
        full_markdown(document),
        identity_of(document),
        found[:MAX_LINKS],
        paging.next if paging else None,
        _page_urls(paging) if paging else (),
        paging.total if paging else None,
        shell(document),
        len(found[MAX_LINKS:]) + beyond,
        None if found or level.page_type.holds_data else _says_empty(document),
        note,
    )


def _not_clicked(page: Page, level: Level) -> tuple[int, str | None]:
    """How many elements a limit of clicks left out, and what is to be said of those and of others that led to
    no address.
    """
    if page.unfinished:
        return 1, f"{page.unfinished[0]!r} could be clicked once more: raise pagination.clicks"
    limit = level.click_limit or MAX_CLICKED
    beyond = max(0, len(page.collected) + page.not_collected - limit) if page.not_collected else 0
    silent = page.not_collected - beyond
    said = [f"{beyond:,} elements were not clicked: raise click_limit"] if beyond else []
    said += [f"{silent:,} elements led to no address when they were clicked"] if silent else []
    return beyond, "; ".join(said) or None


def _says_empty(document: Document) -> str | None:
    """The words with which a list says that there is nothing, if nothing that it counts contradicts them."""
    said = statement(document)
    if said is None:
        return None
    text = full_text(document)
    return said.quote if is_main(said, document, len(text)) and not counts_rows(document, text) else None


def _page_urls(paging: Pagination) -> tuple[str, ...]:
    """The other pages of the list that this page links to."""
    found = (*paging.pages, paging.next, paging.last)
    return tuple(dict.fromkeys(url for url in found if url))[-MAX_PAGE_URLS:]


def content_of(page: Page, level: Level) -> Document:
    """The part of a page that counts."""
    document = Document.of(page)
    if level.content_selector is None:
        return document
    found = document.root.select_by(selector_of(level.content_selector))
    if not found:
        raise Malformed(
            f"content_selector {level.content_selector!r} matches nothing on {page.final_url}; correct the "
            "recipe, or remove it"
        )
    return _cut(document, found)


def _cut(document: Document, found: Iterable[Node]) -> Document:
    """The selected parts as a document of their own. Its head stays: it says what the page is called."""
    head = document.root.css_first("head")
    body = "".join(node.html for node in found)
    html = f"<html>{head.html if head else ''}<body>{body}</body></html>"
    return Document(html, document.url, None, document.charset)


def _next_level(document: Document, level: Level, page: Page) -> Iterator[str]:
    if level.page_type.holds_data:
        return
    matching = tuple(_matching(_web_links(document), level) if level.link_pattern else _main_list(document))
    beside = _rows_beside(document, matching) if level.follow_rows else ()
    yield from _distinct((*page.collected, *matching, *beside), document.url)


def _matching(urls: Iterable[str], level: Level) -> Iterator[str]:
    """Links that the pattern finds, in their one spelling: what mail tools and the like add to an address
    does not count.
    """
    wanted = re.compile(level.link_pattern or "")
    for url in urls:
        match = wanted.search(url)
        if match is not None:
            yield match.group(0) if level.exact_link_match else url


def _web_links(document: Document) -> Iterator[str]:
    return _canonical(link.url for link in links(document) if link.kind == "web")


def _canonical(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield canonical_url(url)
        except InvalidUrl:
            continue


def _rows_beside(document: Document, links: tuple[str, ...]) -> Iterator[str]:
    """The rows of the same site that stand in one list with most of these links: an entry that moved has an
    address of another shape.
    """
    known, host = {page_name(url) for url in links}, _host(urlsplit(document.url).netloc)
    for group in find_lists(document):
        urls = list(_canonical(row.url for row in group.rows if row.url and not row.aside))
        inside = sum(page_name(url) in known for url in urls)
        if inside > MIN_SHARE * len(urls) and inside > MIN_SHARE * len(known):
            yield from (url for url in urls if _host(urlsplit(url).netloc) == host)


def _main_list(document: Document) -> Iterator[str]:
    best = next(iter(find_lists(document)), None)
    if best is not None:
        yield from (row.url for row in best.rows if row.url and not row.aside)


def _distinct(urls: Iterable[str], own: str) -> Iterator[str]:
    """Each address once, in its one spelling, and never that of the page itself."""
    seen = {page_name(own)} if own else set()
    for whole in _canonical(urls):
        name = page_name(whole)
        if name not in seen:
            seen.add(name)
            yield whole


def explore_links(page: Page, level: Level) -> tuple[tuple[str, ...], int]:
    """The pages of the same origin that a page leads to, with a pattern those that match it; and how many
    more there are.
    """
    document = content_of(page, level)
    origin = urlsplit(document.url)[:2]
    urls = _canonical(
        link.url for link in links(document) if link.kind == "web" and "nofollow" not in link.rel
    )
    inside = (
        url
        for url in (_matching(urls, level) if level.link_pattern else urls)
        if urlsplit(url)[:2] == origin and not _FILE.search(urlsplit(url).path)
    )
    found = tuple(_distinct(inside, document.url))
    return found[:MAX_EXPLORED], len(found[MAX_EXPLORED:])


def identity_of(document: Document) -> str:
    """One spelling for all addresses of a page: without scheme and last slash, and as the page itself says
    where that is believable. A page that calls itself the home page is not believed.
    """
    own = _bare(document.url)
    said = document.root.css_first("link[rel~=canonical][href]")
    url = document.absolute(said.attribute("href") or "") if said else None
    return _bare(url) if url and _is_believable(document.url, url) else own


def _is_believable(url: str, canonical: str) -> bool:
    ours, theirs = urlsplit(url), urlsplit(canonical)
    last, other = ours.path.rstrip("/").rpartition("/")[2], theirs.path.rstrip("/").rpartition("/")[2]
    if not last or last != other or _host(ours.netloc) != _host(theirs.netloc):
        return False
    return bool(theirs.query) or not ours.query or not _SCRIPT.search(last)


def _host(netloc: str) -> str:
    return netloc.lower().removeprefix("www.")


def _bare(url: str) -> str:
    try:
        whole = canonical_url(url)
    except InvalidUrl:
        whole = url
    return whole.partition("://")[2].rstrip("/")
