"""Prove how a list goes on: its second page has other links, its last page has some, the one behind it has
none.

Lists claim totals that do not exist, hide pages behind a window of numbers, and repeat their last page for
ever. So the number of pages is believed only where both sides of the end were seen; else the end is searched
for, in a bounded number of steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from thresher.apps.extractions.detection.link_pattern import matches
from thresher.apps.extractions.detection.look import PageLook
from thresher.apps.extractions.detection.paging import (
    MAX_PAGES,
    Paging,
    as_pagination,
    page_address,
    relative,
)
from thresher.apps.extractions.detection.report import Confidence, Estimate, PagingReport
from thresher.apps.extractions.detection.sampling import exactly
from thresher.apps.extractions.detection.steps import Why
from thresher.apps.extractions.model import Pagination, PagingKind

MAX_PROBES = 24  # pages of one list that are looked at in search of its end
MAX_WINDOWS = 3  # times that a page claims to be the last and is not
MAX_WALKED = 4  # pages that are walked of a list that only names its next page
SPREAD = 0.1  # by which pages that nobody has looked at may differ from the second one
REPEATS = "repeats the last page"

GetPage = Callable[..., PageLook]


@dataclass(frozen=True, slots=True)
class PagingProof:
    """`pages` and `rows` are the number of pages and of the links on all of them; `urls` are the links that
    were seen, `looks` the pages of the list that have some.
    """

    pagination: Pagination | None
    pages: Estimate
    rows: Estimate
    urls: tuple[str, ...]
    report: PagingReport | None = None
    looks: tuple[PageLook, ...] = ()


@dataclass(frozen=True, slots=True)
class Prover:
    """Looks at pages of one list. `page` gives the look at an address, or ends the plan with the wish for
    it.
    """

    page: GetPage
    pattern: str | None
    depth: int

    def first_page(self, urls: Sequence[str]) -> PagingProof:
        """A list of which only this page is known."""
        return PagingProof(None, exactly(1), exactly(len(urls)), tuple(urls))

    def proved(self, look: PageLook, urls: Sequence[str]) -> PagingProof:
        """What a page says about its list, held against what the other pages show."""
        paging = look.paging
        if paging is None:
            return self.first_page(urls)
        if paging.kind is PagingKind.LOAD_MORE:
            rows = (
                Estimate(paging.total, len(urls), paging.total, Confidence.SAMPLED)
                if paging.total
                else Estimate(low=len(urls))
            )
            note = f"level {self.depth + 1}: more is loaded by a click, which was not tried"
            report = PagingReport(str(paging.kind), pages=None, notes=(note,))
            return PagingProof(as_pagination(paging), exactly(1), rows, tuple(urls), report)
        if not paging.is_counted:
            return self.by_next(look, urls, paging.next or "", paging)
        return self._counted(look, urls, paging)

    # --- lists whose pages are counted

    def _counted(self, look: PageLook, urls: Sequence[str], paging: Paging) -> PagingProof:
        second = self.at(paging, 1, look.asked)
        new = set(self.links(second)) - set(urls)
        if not new:
            if paging.next is not None and paging.next != page_address(paging, 1, look.asked):
                return self.by_next(look, urls, paging.next, replace(paging, kind=PagingKind.NEXT_LINK))
            note = f"level {self.depth + 1}: the second page shows nothing new, so the first one is taken for all"
            return replace(self.first_page(urls), report=PagingReport(str(paging.kind), notes=(note,)))
        claims = self._claims(paging, second, len(urls))
        end = _End(self, paging, look, tuple(urls), second)
        return self._result(look, paging, claims, end.found(claims), end, len(new))

    def _result(
        self, look: PageLook, paging: Paging, claims: int | None, found: "_LastPage", end: "_End", new: int
    ) -> PagingProof:
        last = found.number
        pattern = paging.url_pattern if self.depth == 0 else relative(paging.url_pattern or "", look.asked)
        second = page_address(paging, 1, look.asked)
        report = PagingReport(str(paging.kind), second, new, claims, last, found.after, found.notes)
        # A list that tells its own length is read again by every extraction; one that does not is told.
        total = None if found.is_told else last
        if last is None or pattern is None:
            kept = (
                as_pagination(replace(paging, kind=PagingKind.NEXT_LINK))
                if paging.next
                else as_pagination(paging)
            )
        else:
            kept = as_pagination(paging, total_pages=total, pattern=pattern)
        return PagingProof(kept, *end.estimates(last), end.urls(), report, end.looks())

    @staticmethod
    def _claims(paging: Paging, second: PageLook, rows: int) -> int | None:
        said = [paging.claimed_pages(rows), second.paging.claimed_pages(rows) if second.paging else None]
        return max((each for each in said if each is not None), default=None)

    # --- lists that only name their next page

    def by_next(
        self, look: PageLook, urls: Sequence[str], following: str, paging: Paging | None = None
    ) -> PagingProof:
        """Walk a few pages along the links to the next one."""
        kind = paging.kind if paging is not None else PagingKind.NEXT_LINK
        seen, known, pages, rows = {look.asked}, list(urls), 1, len(urls)
        looks = [look]
        upcoming: str | None = following or None
        new = 0
        while upcoming is not None and upcoming not in seen and pages <= MAX_WALKED:
            seen.add(upcoming)
            found = self.page(upcoming, Why.PAGING, self.depth)
            links = [url for url in self.links(found) if url not in set(known)]
            if not links:
                break
            new = new or len(links)
            looks.append(found)
            known, pages, rows = [*known, *links], pages + 1, rows + len(links)
            upcoming = found.paging.next if found.paging is not None else None
        ended = upcoming is None
        if pages == 1:
            note = (
                f"level {self.depth + 1}: the next page shows nothing new, so the first one is taken for all"
            )
            return replace(self.first_page(urls), report=PagingReport(str(kind), following, 0, notes=(note,)))
        total = paging.total if paging is not None else None
        notes = () if ended or total else (f"level {self.depth + 1}: the list does not say how long it is",)
        report = PagingReport(str(kind), following, new, None, pages if ended else None, notes=notes)
        if ended:
            return PagingProof(
                Pagination(kind), exactly(pages), exactly(rows), tuple(known), report, tuple(looks)
            )
        number = -(-total // max(1, len(urls))) if total else None
        of_pages = Estimate(number, pages + 1, number, _sampled(number))
        of_rows = Estimate(total, rows + 1, total, _sampled(total))
        return PagingProof(Pagination(kind), of_pages, of_rows, tuple(known), report, tuple(looks))

    # --- pages

    def at(self, paging: Paging, index: int, list_url: str) -> PageLook:
        url = page_address(paging, index, list_url) or ""
        return self.page(url, Why.PAGING, self.depth)

    def links(self, look: PageLook) -> list[str]:
        """The links of the list on another of its pages."""
        if look.trouble is not None:
            return []
        if self.pattern is not None:
            return [url for url in look.links if matches(self.pattern, url)]
        return list(look.lists[0].urls) if look.lists else []


def _sampled(number: int | None) -> Confidence:
    return Confidence.UNKNOWN if number is None else Confidence.SAMPLED


@dataclass(frozen=True, slots=True)
class _LastPage:
    """The last page of a list, if its end was found. `is_told`: the list itself says so. `after` is what the
    page behind it does.
    """

    number: int | None = None
    is_told: bool = False
    after: str | None = None
    notes: tuple[str, ...] = ()


class _End:
    """The search for the last page of a counted list."""

    def __init__(
        self, prover: Prover, paging: Paging, first: PageLook, urls: tuple[str, ...], second: PageLook
    ) -> None:
        self._prover, self._paging, self._first = prover, paging, first
        self._rows: dict[int, tuple[str, ...]] = {1: urls, 2: tuple(prover.links(second))}
        self._looks: dict[int, PageLook] = {1: first, 2: second}
        self._clamped: frozenset[str] = frozenset()  # rows that every page behind the last one repeats

    def urls(self) -> tuple[str, ...]:
        """All links that were seen, those of the first pages first."""
        found = [url for number in sorted(self._rows) for url in self._rows[number]]
        return tuple(dict.fromkeys(found))

    def looks(self) -> tuple[PageLook, ...]:
        """The pages that have links of their own, in order."""
        return tuple(self._looks[number] for number in sorted(self._rows))

    def estimates(self, last: int | None) -> tuple[Estimate, Estimate]:
        """How many pages and how many links there are. Pages may repeat each other's links, so what the
        second page had that was new stands for those that nobody has looked at.
        """
        seen = self.urls()
        if last is None:
            return Estimate(low=len(self._rows) + 1), Estimate(low=len(seen) + 1)
        left = max(0, last - len(self._rows))
        new = len(set(self._rows[2]) - set(self._rows[1]))
        rows = len(seen) + left * new
        if left == 0:
            return exactly(last), exactly(rows)
        low, high = max(len(seen), round(rows * (1 - SPREAD))), round(rows * (1 + SPREAD))
        return exactly(last, Confidence.CHECKED), Estimate(rows, low, high, Confidence.CHECKED)

    def found(self, claims: int | None) -> _LastPage:
        """The last page: the one that the list claims, if it is one, else the one that a search finds."""
        if claims is None or claims > MAX_PAGES:
            return self._searched(None)
        for _ in range(MAX_WINDOWS):
            if claims > 2 and not self._has_rows(claims):
                return self._searched(claims)
            higher = self._higher(claims)
            if higher is None:
                break
            claims = higher
        else:
            return _LastPage(notes=(f"{self._where()} the list shows only a part of its page numbers",))
        after = self._behind(claims)
        if after == REPEATS and claims > 3 and set(self._links_at(claims - 1)) <= set(self._links_at(claims)):
            self._clamped = frozenset(self._links_at(claims))
            return self._searched(claims)
        if after is None:
            note = f"{self._where()} there are more pages than the list says"
            return _LastPage(after="has more rows", notes=(note,))
        return _LastPage(claims, is_told=True, after=after)

    def _searched(self, claims: int | None) -> _LastPage:
        """Look for the end: doubling until a page has nothing new, then halving."""
        low, high, probes = 2, claims, 0
        step = 4
        while high is None or high - low > 1:
            if probes >= MAX_PROBES:
                return _LastPage(notes=(f"{self._where()} the end of the list was not found",))
            probes += 1
            galloping = high is None or step < high
            place = step if galloping and step > low else (low + (high or low + 2)) // 2
            if self._has_rows(place):
                low, step = place, step * 2
            else:
                high, step = place, MAX_PAGES * 4
        if self._clamped:
            low += 1  # the first page with the rows that all later ones repeat is the last
        note = f"{self._where()} the list claims {claims:,} pages and has {low:,}" if claims else ""
        return _LastPage(low, after=self._behind(low), notes=(note,) if note else ())

    def _where(self) -> str:
        return f"level {self._prover.depth + 1}:"

    def _look(self, number: int) -> PageLook:
        if number not in self._looks:
            look = self._prover.at(self._paging, number - 1, self._first.asked)
            self._looks[number] = look
        return self._looks[number]

    def _links_at(self, number: int) -> tuple[str, ...]:
        return tuple(self._prover.links(self._look(number)))

    def _has_rows(self, number: int) -> bool:
        """Whether a page has links that no page before it has."""
        rows = self._links_at(number)
        if self._clamped and set(rows) <= self._clamped:
            return False
        before = {url for other, urls in self._rows.items() if other < number for url in urls}
        fresh = [url for url in rows if url not in before]
        if fresh:
            self._rows[number] = rows
        return bool(fresh)

    def _higher(self, number: int) -> int | None:
        """A later page that the alleged last one knows of."""
        paging = self._look(number).paging
        if paging is None:
            return None
        named = paging.last if paging.last is not None and paging.last <= MAX_PAGES else None
        if named is not None and named > number:
            return named
        following = page_address(self._paging, number, self._first.asked)
        return number + 1 if paging.next is not None and paging.next == following else None

    def _behind(self, last: int) -> str | None:
        """What the page behind the last one does; None where it has rows of its own."""
        look = self._look(last + 1)
        if look.trouble is not None:
            return look.trouble
        rows = self._links_at(last + 1)
        if not rows:
            return "is empty"
        if set(rows) <= set(self._rows.get(last, ())):
            return REPEATS
        if set(rows) <= set(self._rows[1]):
            return "repeats the first page"
        return None if self._has_rows(last + 1) else "has nothing new"
