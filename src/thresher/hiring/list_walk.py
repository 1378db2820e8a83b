"""Walk a board's list to its end, and say what may be concluded from it. Pure: it names requests and takes
pages.

    walk = Walk(paging, Bounds())
    while walk.ask:
        walk.take(the listing that asking brought)
    walk.tally()

A complete walk may close postings, so completeness is never guessed: a limit, a wrap, a repeated page, a
total that moves, a missing row, or a bound of our own makes the list incomplete. `PagedList` walks one list;
facets split a list that is cut off.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.platforms.platform import Paging
from thresher.reading.postings.posting import Listing, Posting, merged

# One paged list, page by page to its end: what to request next, and in the end whether it was complete.


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
class ListEnd:
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
        self.end: ListEnd | None = None
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
            self._doubts.append(f"page {self.pages} repeats {len(names) - len(fresh)} rows of earlier pages")
        for name, posting in zip(names, listing.postings, strict=True):
            self.postings.setdefault(name, []).append(posting)
        self._go_on(listing, names, fresh)
        self._first = self._first or names
        self._last = names

    def stop(self, why: str) -> None:
        """Give up on the rest of it."""
        self.ask, self.end = None, ListEnd(f"{why}: {self._count()}")

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
            self._finish(ListEnd(self._count(), self._may_be_empty(listing)))
        else:
            self._arrive(proven=self._may_be_empty(listing))

    def _finish_empty(self, listing: Listing) -> None:
        if listing.next:
            self._doubts.append(f"page {self.pages} is empty but links to a next page")
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
                self._doubts.append(f"page {self.pages} of {self._of_pages} has no link to the next page")
            self._arrive()
        elif cursor in self._cursors:
            self.stop(f"page {self.pages} links back to an earlier page")
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
            self._finish(ListEnd(f"{self._count()}; {self._doubts[0]}"))
        elif self.total is None:
            self._finish(ListEnd(f"{self.found:,}, to the end of the list", proven))
        elif self.found == self.total:
            self._finish(ListEnd(self._count(), proven and not self.is_capped))
        elif self.found > self.total:
            self._finish(ListEnd(f"more rows than the total: {self._count()}"))
        else:
            self._finish(ListEnd(f"fewer rows than the total: {self.total:,} counted, {self.found:,} shown"))

    def _finish(self, end: ListEnd) -> None:
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


# Facets: request a truncated list in parts, and prove that the parts are the whole.

MAX_IDS = 100  # values in one part: platforms refuse more

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class FacetParts:
    """One facet, and its values in parts that are asked for one after the other."""

    facet: str
    parts: tuple[tuple[str, ...], ...]


def split(facets: Counts, used: Iterable[str], cap: int) -> FacetParts | None:
    """The best way to ask in parts; None where no facet is left that parts anything."""
    left = {name: values for name, values in facets.items() if name not in set(used) and len(values) > 1}
    if not left:
        return None
    name = min(left, key=lambda each: _badness(left[each], cap))
    return FacetParts(name, tuple(_parts(left[name], cap)))


def _badness(values: Mapping[str, int], cap: int) -> tuple[bool, bool, int, int]:
    """Worse is a value that is cut off itself, rows that have no value, and rows that have several."""
    sum_of = sum(values.values())
    return max(values.values()) >= cap, sum_of < cap, sum_of, max(values.values())


def _parts(values: Mapping[str, int], cap: int) -> Iterator[tuple[str, ...]]:
    """The largest first, each filled up with what still fits."""
    bins: list[tuple[int, list[str]]] = []
    for value, count in sorted(values.items(), key=lambda each: (-each[1], each[0])):
        at = next(
            (
                place
                for place, (sum_of, ids) in enumerate(bins)
                if sum_of + count < cap and len(ids) < MAX_IDS
            ),
            None,
        )
        if at is None:
            bins.append((count, [value]))
        else:
            bins[at] = (bins[at][0] + count, [*bins[at][1], value])
    return (tuple(ids) for _, ids in bins)


def proves(whole: Counts, parts: Iterable[Counts], applied: Iterable[str]) -> bool:
    """Whether the parts of a list, of which none shares a row with another, are all of it.

    A row without a value of the facet that the list was parted by is in none of the parts. But it has a value
    of some other facet, and there the parts then count less than the whole does. So every other facet has to
    count the same, value by value.
    """
    witnesses = [name for name in whole if name not in set(applied)]
    counted: dict[str, dict[str, int]] = {name: {} for name in witnesses}
    for part in parts:
        for name in witnesses:
            for value, count in part.get(name, {}).items():
                counted[name][value] = counted[name].get(value, 0) + count
    return bool(witnesses) and all(counted[name] == dict(whole[name]) for name in witnesses)


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """How far a walk goes at most. `known_pages` in a row with nothing new end it early; 0: never."""

    pages: int = 500
    rows: int = 20_000
    known_pages: int = 0


@dataclass(frozen=True, slots=True)
class Tally:
    """What a walk brought. `total` is what the source counts, as far as it says; `alone`: the first page held
    everything.
    """

    postings: tuple[Posting, ...]
    found: int
    total: int | None
    pages: int
    complete: bool
    ended: str
    alone: bool = False


@dataclass(slots=True)
class _Branch:
    """A list, and the parts it was asked for in, where it was cut off."""

    leg: PagedList
    used: tuple[str, ...] = ()
    facets: Counts = field(default_factory=dict)
    by: str = ""
    parts: list["_Branch"] = field(default_factory=list)

    def all(self) -> Iterator["_Branch"]:
        yield self
        for part in self.parts:
            yield from part.all()


class Walk:
    """One walk over a list. The fetcher drives it: `ask` says what to request, `take` receives the
    response.
    """

    def __init__(self, paging: Paging, bounds: WalkLimits) -> None:
        self._paging, self._bounds = paging, bounds
        self._root = _Branch(PagedList(paging))
        self._stopped: str | None = None
        self._known = 0
        self._alone = True

    @property
    def ask(self) -> Ask | None:
        """What to ask for next; None at the end."""
        here = self._here()
        return here.leg.ask if here and self._stopped is None else None

    def take(
        self,
        listing: Listing,
        *,
        facets: Counts | None = None,
        known: bool = False,
        doubt: str | None = None,
        of_pages: int | None = None,
    ) -> None:
        """The page that `ask` brought. `known`: there is nothing new on it. `doubt`: why it may not lead to
        all the others.
        """
        branch = self._here()
        if branch is None:
            return
        if self._root.leg.pages and listing.postings:
            self._alone = False
        branch.leg.take(listing, doubt, of_pages)
        if branch.leg.pages == 1:
            branch.facets = facets or {}
            self._part(branch)
        self._known = self._known + 1 if known and listing.postings else 0
        self._mind_bounds()

    def give_up(self, why: str) -> None:
        """End it here: what comes next cannot be had."""
        self._stopped = why

    def tally(self) -> Tally:
        """What came of it, so far."""
        every = [
            each for branch in self._root.all() for copies in branch.leg.postings.values() for each in copies
        ]
        postings = merged(every)
        end = self._end()
        total = len(postings) if end.complete and self._root.parts else self._root.leg.total
        alone = self._alone and not self._root.parts
        return Tally(postings, len(postings), total, self._pages(), end.complete, end.says, alone)

    def _here(self) -> _Branch | None:
        """The list that is being walked: the first without an end. One that was asked for in parts goes on in
        them.
        """
        return next((branch for branch in self._root.all() if branch.leg.end is None), None)

    def _part(self, branch: _Branch) -> None:
        """A list that counts more than it shows is asked for in parts, where it has any."""
        cap = self._paging.cap
        if cap is None or not branch.leg.is_capped or self._bounds.known_pages:
            # parts are not in the order of the list, newest first, so a walk that looks for what is new has
            # no use for them
            return
        found = split(branch.facets, branch.used, cap)
        if found is None:
            return
        branch.leg.stop(f"requested by {found.facet}")
        branch.by = found.facet
        for ids in found.parts:
            part = PagedList(self._paging, {**branch.leg.facets, found.facet: ids})
            branch.parts.append(_Branch(part, (*branch.used, found.facet)))

    def _mind_bounds(self) -> None:
        """A list that goes on past a bound ends there, and one that is as long as the bound may have been cut
        off.
        """
        if sum(branch.leg.rows for branch in self._root.all()) >= self._bounds.rows:
            self._stopped = f"stopped at the limit of {self._bounds.rows:,} rows"
        elif self.ask is not None and self._pages() >= self._bounds.pages:
            self._stopped = f"stopped at the limit of {self._bounds.pages:,} pages"
        elif self.ask is not None and self._bounds.known_pages and self._known >= self._bounds.known_pages:
            self._stopped = f"stopped: {self._known} pages in a row with nothing new"

    def _pages(self) -> int:
        return sum(branch.leg.pages for branch in self._root.all())

    def _end(self) -> ListEnd:
        root = self._root
        if self._stopped is not None:
            return ListEnd(self._stopped)
        if not root.parts:
            return root.leg.end or ListEnd("not finished yet")
        found, pages = len(_names(root)), self._pages()
        if all(map(_is_whole, root.parts)) and _is_proven(root):
            return ListEnd(f"{found:,} of {found:,}, requested in parts by {root.by}", complete=True)
        broken = next(
            (
                each.leg.end.says
                for each in root.all()
                if each.leg.end and not each.parts and not each.leg.end.complete
            ),
            None,
        )
        return ListEnd(
            f"{found:,} found in {pages} pages by {root.by}; "
            + (broken or "the source gives no total to prove that these are all")
        )


def _is_whole(branch: _Branch) -> bool:
    if branch.parts:
        return all(map(_is_whole, branch.parts)) and _is_proven(branch)
    return branch.leg.end is not None and branch.leg.end.complete


def _is_proven(branch: _Branch) -> bool:
    """Whether the parts are the whole: by a total that is larger than the cap, or else by what the facets
    count.
    """
    found = len(_names(branch))
    total, cap = branch.leg.total or 0, branch.leg.cap or 0
    if total > cap:
        return found == total
    are_apart = sum(len(_names(part)) for part in branch.parts) == found
    return are_apart and proves(
        branch.facets, (part.facets for part in branch.parts), (*branch.used, branch.by)
    )


def _names(branch: _Branch) -> set[str]:
    return {name for each in branch.all() for name in each.leg.postings}
