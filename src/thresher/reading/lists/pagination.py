"""How a list goes on: the next page, the others, how many there are, and whether that is certain.

A next-link may stand in the head, in a header of the answer, behind a word, behind an arrow, or be the number
after the current one. All are gathered; two that disagree are reported, for following the wrong one loses
rows without a sign.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from thresher.reading.html.document import Document
from thresher.reading.lists import pager as page_urls
from thresher.reading.lists.pager import MORE, Anchor, Pager

_TEXT_FOR_TOTALS: Final = 200_000
_SPAN = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[.,]?\d{3}){0,3})\s?(?:[-–—]|to|bis|à|a|al|tot|до)\s?(\d{1,3}(?:[.,]?\d{3}){0,3})\s?"
    r"(?:of|von|de|sur|di|van|av|af|z|ze|из|out of|/)\s?(?:about |over |ca\. )?(\d{1,3}(?:[., \u00a0]?\d{3}){0,3})(?![\d.,]?\d)",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(
    r"\b(?:page|seite|página|pagina|side|sida|strona|strana|страница)\s(\d{1,5})\s?(?:of|von|de|sur|di|van|av|af|z|ze|из|/)\s?(\d{1,5})\b",
    re.IGNORECASE,
)
_INFINITE: Final = "[class*='infinite-scroll' i], [data-infinite-scroll], [class*='infinitescroll' i], [id*='infinite-scroll' i]"


@dataclass(frozen=True, slots=True)
class Pagination:
    """Addresses are absolute. `pages` are the numbered ones in order; `number` is the current page,
    `last_number` the highest known.

    `total` counts entries where the page says so. `more` is the text of a button that loads more in place,
    `infinite` says that scrolling does. `disagreements` are next-links that contradict `next`.
    """

    next: str | None = None
    prev: str | None = None
    pages: tuple[str, ...] = ()
    first: str | None = None
    last: str | None = None
    number: int | None = None
    last_number: int | None = None
    total: int | None = None
    more: str | None = None
    infinite: bool = False
    disagreements: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.next or self.prev or self.pages or self.more)


def pagination(document: Document) -> Pagination:
    """How the list on this page goes on; false where it is no list, or the whole of one."""
    pager = Pager(document)
    numbered = pager.numbered
    current = pager.number
    following, disagreements = _following(pager, current)
    preceding = [*pager.ways("prev"), *pager.declared("prev"), *_neighbour(numbered, current, -1)]
    total, of_pages = _totals(document) if numbered or following or preceding else (None, None)
    highest = max((each.number for each in numbered if each.number), default=None)
    return Pagination(
        next=following,
        prev=preceding[0] if preceding else None,
        pages=tuple(dict.fromkeys(each.url for each in numbered)),
        first=next(iter(pager.ways("first")), None),
        last=next(iter(pager.ways("last")), None),
        number=current,
        last_number=max(
            (each for each in (highest, of_pages, current if numbered else None) if each), default=None
        ),
        total=total,
        more=_more(document),
        infinite=document.root.css_first(_INFINITE) is not None,
        disagreements=disagreements,
    )


def _following(pager: Pager, current: int | None) -> tuple[str | None, tuple[str, ...]]:
    said, declared, counted = (
        pager.ways("next"),
        pager.declared("next"),
        _neighbour(pager.numbered, current, 1),
    )
    # In pagers of blocks (1 2 ... 10), the arrow leads to the next block, not to the next page.
    pairs = [(each.number, each.url) for each in pager.numbered if each.number]
    jumps = bool(said and counted) and page_urls.jumps(said[0], (current or 0) + 1, pairs)
    candidates = list(dict.fromkeys([*counted, *said, *declared] if jumps else [*said, *counted, *declared]))
    if not candidates:
        return None, ()
    chosen = candidates[0]
    known = {page_urls.comparable(chosen)}
    return chosen, tuple(url for url in candidates[1:] if page_urls.comparable(url) not in known)


def _neighbour(numbered: Sequence[Anchor], current: int | None, step: int) -> list[str]:
    return [] if current is None else [each.url for each in numbered if each.number == current + step]


def _totals(document: Document) -> tuple[int | None, int | None]:
    body = document.root.css_first("body")
    text = body.line[:_TEXT_FOR_TOTALS] if body else ""
    total = None
    for match in _SPAN.finditer(text):
        low, high, all_of = (int(re.sub(r"\D", "", part)) for part in match.groups())
        if low <= high <= all_of and (high - low < 1_000):
            total = all_of
            break
    pages = _PAGE_OF.search(text)
    return total, int(pages[2]) if pages and int(pages[1]) <= int(pages[2]) else None


def _more(document: Document) -> str | None:
    for node in document.root.css("button, a[role=button], a[class*='more' i], input[type=button]")[:500]:
        said = node.line or node.attribute("value") or ""
        if len(said) <= 40 and MORE.fullmatch(said.strip(" .…+↓")):
            return said
    return None
