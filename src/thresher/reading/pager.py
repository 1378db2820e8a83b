"""The links of a pager: those that name a direction or a page number, and which of them can be believed.

A number is believed in a row of numbers whose addresses count the same way. A direction is believed where its
address is that of a page, or where it stands beside such numbers. Calendars, years, ratings and "show 12 24
48" are rows of numbers too.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from thresher.reading import pageurls
from thresher.reading.document import Document
from thresher.reading.html import Node
from thresher.reading.links import link_text
from thresher.reading.pageurls import is_paged, same_list
from thresher.reading.pagewords import direction, direction_of_class

MAX_ANCHORS: Final = 5_000
_NUMBER = re.compile(r"(?:page|seite|página|pagina|strona|страница|p\.)?\s*\[?(\d{1,5})\]?", re.IGNORECASE)
_PAGER = re.compile(
    r"pagin|pager|page-?nav|page-?numbers|wp-page|(?:^|[\s_-])pages?(?:$|[\s_-])|(?:next|prev)_posts|nav-links",
    re.IGNORECASE,
)
_ONE_POST = re.compile(r"(?:post|entry|article|single)-?nav", re.IGNORECASE)  # from one article to the next
_DOOR = re.compile(
    r"log-?in|sign-?in|sign-?up|register|account", re.IGNORECASE
)  # where a list goes on for members only
_CURRENT: Final = frozenset({"active", "current", "selected"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link that names a page number or a direction. `sure`: it says so itself, not only its class or its
    relation.
    """

    node: Node
    url: str
    text: str
    number: int | None
    way: str | None
    sure: bool = False


class Pager:
    """One page being read."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.here = document.url

    @cached_property
    def anchors(self) -> list[Anchor]:
        nodes = self.document.root.css("a[href]")[:MAX_ANCHORS]
        return [anchor for anchor in map(self._anchor, nodes) if anchor is not None]

    def _anchor(self, node: Node) -> Anchor | None:
        text = link_text(node)
        if len(text) > 40:
            return None
        number = _NUMBER.fullmatch(text)
        said, rel = direction(text), self._rel(node)
        way = rel or said or self._labelled(node, text)
        if number is None and way is None:
            return None
        href = node.attribute("href") or ""
        url = self.document.absolute(href)
        if url is None or href.strip().startswith("#"):
            return None
        sure = said is not None and not text.lower().startswith("more")  # more of what?
        return Anchor(
            node, url, text, int(number[1]) if number else None, None if number and not rel else way, sure
        )

    @staticmethod
    def _rel(node: Node) -> str | None:
        words = (node.attribute("rel") or "").lower().split()
        return "next" if "next" in words else "prev" if "prev" in words or "previous" in words else None

    @staticmethod
    def _labelled(node: Node, text: str) -> str | None:
        if len(text) > 20:
            return None
        for name in ("aria-label", "title"):
            if (way := direction(node.attribute(name) or "")) is not None:
                return way
        above = node.parent
        names = f"{node.attribute('class') or ''} {above.attribute('class') or '' if above else ''}"
        return direction_of_class(names)

    @cached_property
    def numbered(self) -> list[Anchor]:
        """The largest believable row of page numbers."""
        groups: dict[Node, list[Anchor]] = {}
        for anchor in self.anchors:
            if anchor.number is not None:
                for above, _ in zip(anchor.node.ancestors, range(4), strict=False):
                    groups.setdefault(above, []).append(anchor)
        believable = [group for box, group in groups.items() if self._believed(box, group)]
        chosen = max(
            believable, key=lambda group: len({each.url for each in group}), default=[]
        )  # the first of the largest
        return list({each.number: each for each in chosen}.values())

    def _believed(self, box: Node, group: Sequence[Anchor]) -> bool:
        numbers = sorted({each.number for each in group if each.number is not None})
        if len(group) > 60 or numbers[0] >= 1900 or len(numbers) < len({each.url for each in group}) - 1:
            return False
        if (
            not _neighbours(numbers)
            and not _neighbours([*numbers, self.standing(box) or 0])
            and not self._with_way(box)
        ):
            return False  # 12, 24, 48: how many to show
        if len(numbers) >= 27 and box.closest("table") is not None:
            return False  # a calendar
        return pageurls.numbered_alike(
            [(each.number, each.url) for each in group if each.number is not None], self.here
        )

    @staticmethod
    def standing(box: Node) -> int | None:
        """The current page: a number in the row that is no link."""
        linked = set(box.css("a[href]")[:100])
        for node in box.css("span, strong, b, em, li, a:not([href]), a.active, a.current, [aria-current]")[
            :200
        ]:
            if node not in linked and node.own_text.strip().isdecimal() and len(node.own_text.strip()) < 6:
                return int(node.own_text.strip())
        loose = re.findall(r"(?:^|\s)\[?(\d{1,5})\]?(?=\s|$)", box.own_text)
        return int(loose[0]) if loose else None

    def _with_way(self, box: Node) -> bool:
        inside = {anchor.node for anchor in self.anchors if anchor.way in ("next", "prev") and anchor.sure}
        return any(node in inside for node in box.css("a[href]")[:100])

    @cached_property
    def number(self) -> int | None:
        """The current page."""
        if not self.numbered:
            return None
        for box, _ in zip(self.numbered[0].node.ancestors, range(4), strict=False):
            if (standing := self.standing(box)) is not None:
                return standing
        here = pageurls.comparable(self.here)
        linked = (
            each.number
            for each in self.numbered
            if pageurls.comparable(each.url) == here or _marked(each.node)
        )
        return next(linked, None) or _gap([each.number for each in self.numbered if each.number])

    @cached_property
    def boxes(self) -> set[Node]:
        """The elements around the numbers, in which a bare arrow is believed too."""
        return {
            above
            for anchor in self.numbered
            for above, _ in zip(anchor.node.ancestors, range(4), strict=False)
        }

    def ways(self, way: str) -> list[str]:
        """The addresses that are believed to lead that way, the surest first."""
        found = [anchor for anchor in self.anchors if anchor.way == way and self._trusted(anchor)]
        ranked = sorted(found, key=lambda each: (not self._in_box(each.node), not each.sure))
        return list(dict.fromkeys(each.url for each in ranked))

    def _trusted(self, anchor: Anchor) -> bool:
        if anchor.url.partition("#")[0] == self.here.partition("#")[0] and anchor.way == "next":
            return False
        if is_paged(anchor.url) or (is_paged(self.here) and same_list(anchor.url, self.here)):
            return True
        return (
            anchor.sure
            and not _DOOR.search(anchor.url)
            and (self._in_box(anchor.node) or self._in_pager(anchor.node))
        )

    def _in_box(self, node: Node) -> bool:
        return any(above in self.boxes for above, _ in zip(node.ancestors, range(3), strict=False))

    @staticmethod
    def _in_pager(node: Node) -> bool:
        near = [node, *(above for above, _ in zip(node.ancestors, range(3), strict=False))]
        names = [f"{each.attribute('class') or ''} {each.attribute('id') or ''}" for each in near]
        return any(map(_PAGER.search, names)) and not any(map(_ONE_POST.search, names))

    def declared(self, way: str) -> list[str]:
        """Addresses from the head of the page and from the header of the answer, if they look like pages of a
        list.
        """
        names = ("next",) if way == "next" else ("prev", "previous")
        hrefs = [
            node.attribute("href") or ""
            for node in self.document.root.css("link[rel][href]")[:200]
            if _among(node, names)
        ]
        page = self.document.page
        hrefs += pageurls.from_header(page.headers.get("link", ""), names) if page else []
        urls = [url for url in map(self.document.absolute, hrefs) if url is not None]
        return [
            url
            for url in dict.fromkeys(urls)
            if is_paged(url) or (is_paged(self.here) and same_list(url, self.here))
        ]


def _neighbours(numbers: Iterable[int]) -> bool:
    return any(
        after - before == 1 for before, after in pairwise(sorted(number for number in numbers if number))
    )


def _among(node: Node, names: Iterable[str]) -> bool:
    return not set((node.attribute("rel") or "").lower().split()).isdisjoint(names)


def _marked(node: Node) -> bool:
    """A link that is shown as the current page: it, or the box right around it, is called so."""
    above = node.parent
    names = (
        f"{node.attribute('class') or ''} {above.attribute('class') or '' if above else ''}".lower()
        .replace("-", " ")
        .replace("_", " ")
    )
    return node.attribute("aria-current") is not None or not _CURRENT.isdisjoint(names.split())


def _gap(numbers: Sequence[int]) -> int | None:
    """The one number that is missing between two neighbours: 1 2 _ 4 5."""
    missing = [low + 1 for low, high in pairwise(sorted(numbers)) if high - low == 2]
    return missing[0] if len(missing) == 1 else None
