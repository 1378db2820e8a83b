"""One paged list, page by page to its end: what to request next, and in the end whether it was complete.

A list may stop early, start over, repeat a page, show rows twice, or count rows that it never shows. So
reaching the end proves nothing by itself. A list is complete when its end was reached with exactly as many
different rows as the source says; where the source never says, when the end was reached and nothing was odd.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.platforms.platform import Paging
from thresher.reading.postings.posting import Listing, Posting


@dataclass(frozen=True, slots=True)
class Ask:
    """The part of a list to ask for: after `at` rows, the page with this number (0 is the first), or where
    `cursor` leads.
    """

    at: int = 0
    page: int | None = None
    cursor: str | None = None
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_first(self) -> bool:
        return not (self.at or self.page or self.cursor)


@dataclass(frozen=True, slots=True)
class End:
    """How a list ended, in a sentence, and whether the sentence means that nothing is missing."""

    says: str
    complete: bool = False


class PagedList:
    """A list on its way. Give it each page that its `ask` brought, until `end` is there."""

    def __init__(self, paging: Paging, facets: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._paging = paging
        self.facets = facets or {}
        self.cap = paging.cap
        self.ask: Ask | None = Ask(facets=self.facets)
        self.end: End | None = None
        self.postings: dict[str, list[Posting]] = {}
        self.pages = 0
        self.rows = 0
        self.total: int | None = None
        self._of_pages: int | None = None
        self._doubts: list[str] = []
        self._first: list[str] = []
        self._last: list[str] = []
        self._cursors: set[str] = set()

    @property
    def found(self) -> int:
        return len(self.postings)

    @property
    def is_capped(self) -> bool:
        """Whether the source counts as many rows as it ever shows, or more."""
        return self.cap is not None and self.total is not None and self.total >= self.cap

    def take(self, listing: Listing, doubt: str | None = None, of_pages: int | None = None) -> None:
        """One page. `doubt` is why it may not lead to all the others; `of_pages` how many there are, where it
        says so.
        """
        names = [name_of(each) for each in listing.postings]
        fresh = [name for name in names if name not in self.postings]
        self.pages += 1
        self.rows += listing.rows
        self._note_total(listing)
        self._of_pages = of_pages or self._of_pages
        if doubt:
            self._doubts.append(doubt)
        if 0 < len(fresh) < len(names) and self.total is None:
            self._doubts.append(
                f"page {self.pages} shows {len(names) - len(fresh)} rows of earlier pages again"
            )
        for name, posting in zip(names, listing.postings, strict=True):
            self.postings.setdefault(name, []).append(posting)
        self._go_on(listing, names, fresh)
        self._first = self._first or names
        self._last = names

    def stop(self, why: str) -> None:
        """Give up on the rest of it."""
        self.ask, self.end = None, End(f"{why}: {self._count()}")

    def _note_total(self, listing: Listing) -> None:
        said = listing.total
        if said is None or (said == 0 and (listing.rows or self.pages > 1)):
            return  # some say the total on their first page only, and 0 on the others
        if self.total is None:
            self.total = said
        elif said != self.total:
            self._doubts.append(f"the total went from {self.total:,} to {said:,} on the way")

    def _go_on(self, listing: Listing, names: list[str], fresh: list[str]) -> None:
        if self._paging.kind == "none":
            self._finish_whole(listing)
        elif not listing.rows:
            self._finish_empty(listing)
        elif names and not fresh:
            self._finish_repeated(names)
        elif self._paging.kind == "next":
            self._follow(listing.next)
        else:
            self._count_on(listing)

    def _finish_whole(self, listing: Listing) -> None:
        """One answer holds everything, and counts itself. Rows that are shown twice in it are counted
        twice.
        """
        if self.total is not None and listing.rows == self.total and not self._doubts:
            self._finish(End(self._count(), self._may_be_empty(listing)))
        else:
            self._arrive(proven=self._may_be_empty(listing))

    def _finish_empty(self, listing: Listing) -> None:
        if listing.next:
            self._doubts.append(f"page {self.pages} shows nothing and still leads on")
        self._arrive(proven=self._may_be_empty(listing))

    def _may_be_empty(self, listing: Listing) -> bool:
        """An answer without rows is a list without rows only where the platform's word counts."""
        return bool(self.postings) or listing.proof

    def _finish_repeated(self, names: list[str]) -> None:
        if self.found == self.total:
            self._arrive()
            return
        if names == self._first:
            what = f"offsets wrapped: page {self.pages} is page 1 again"
        elif names == self._last:
            what = f"page {self.pages} repeated page {self.pages - 1}"
        else:
            what = f"page {self.pages} shows nothing new"
        self.stop(what)

    def _follow(self, cursor: str | None) -> None:
        if not cursor:
            if (self._of_pages or 0) > self.pages:
                self._doubts.append(f"page {self.pages} of {self._of_pages} does not lead on")
            self._arrive()
        elif cursor in self._cursors:
            self.stop(f"page {self.pages} leads back to an earlier one")
        else:
            self._cursors.add(cursor)
            self.ask = Ask(cursor=cursor, facets=self.facets)

    def _count_on(self, listing: Listing) -> None:
        """Ask for the next rows. A full page may be followed by more, whatever the total says; a short one
        may be a short one only.
        """
        size, cap = self._paging.size, self.cap
        is_short = size is not None and listing.rows < size
        is_counted = is_short and self.total is not None and self.found >= self.total
        if is_counted or (self._of_pages is not None and self.pages >= self._of_pages):
            self._arrive()
            return
        # Offsets count what was shown: a page that came short of its size would otherwise leave a gap behind
        # it.
        at = self.rows if self._paging.kind == "offset" else self.pages * (size or 1)
        if cap is not None and at >= cap:
            self.stop(f"capped at {cap:,}")
            return
        self.ask = Ask(at=at, page=self.pages if self._paging.kind == "page" else None, facets=self.facets)

    def _arrive(self, *, proven: bool = True) -> None:
        """The end of the list. Whether it is also the whole of it is another question."""
        if self._doubts:
            self._finish(End(f"{self._count()}; {self._doubts[0]}"))
        elif self.total is None:
            self._finish(End(f"{self.found:,}, to the end of the list", proven))
        elif self.found == self.total:
            self._finish(End(self._count(), proven and not self.is_capped))
        elif self.found > self.total:
            self._finish(End(f"more shown than counted: {self._count()}"))
        else:
            self._finish(End(f"total fell short: {self.total:,} said, {self.found:,} shown"))

    def _finish(self, end: End) -> None:
        self.ask, self.end = None, end

    def _count(self) -> str:
        return f"{self.found:,}" if self.total is None else f"{self.found:,} of {self.total:,}"


def name_of(posting: Posting) -> str:
    """What tells a posting from the others of its list: the source's own number, else its address, else its
    words.
    """
    if posting.key:
        return f"key {posting.key}"
    if posting.url:
        try:
            return f"url {canonical_url(posting.url)}"
        except InvalidUrl:
            return f"url {posting.url}"
    return f"words {posting.title}\n{posting.company or ''}\n{posting.location or ''}"
