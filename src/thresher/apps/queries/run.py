"""One run of a query, as it is kept between two steps, and the decisions about its next one. Pure.

A run walks through its windows one after the other, and through each window page by page. Every page is one
step of the cycle's task: what it brought is stored with the step, so that a run that is interrupted goes on
with the next page.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from thresher.apps.queries.clients.search import Offer, Reach, SearchPage, WindowKind
from thresher.apps.queries.coverage import Coverage, Span
from thresher.apps.queries.model import Caps, Status, StopReason
from thresher.apps.queries.store.queries import read_coverage
from thresher.apps.queries.store.queries import written as coverage_text
from thresher.apps.queries.windows import Plan, Purpose, Walked, Window, after, may_stop
from thresher.core.page import Verdict
from thresher.core.stored import read, written

HOW_RUNS_END: Mapping[StopReason, Status] = {
    StopReason.WINDOW_EXHAUSTED: Status.SUCCESS,
    StopReason.ALL_KNOWN: Status.SUCCESS,
    StopReason.MAX_PAGES: Status.SUCCESS,
    StopReason.MAX_OFFERS: Status.SUCCESS,
    StopReason.RATE_LIMIT: Status.IDLE,
    StopReason.ERROR: Status.ERROR,
}


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """A window as JSON."""

    first: str = ""
    last: str = ""
    purpose: str = Purpose.FORWARD.value

    @classmethod
    def of(cls, window: Window) -> "StoredWindow":
        return cls(window.span.first.isoformat(), window.span.last.isoformat(), window.purpose.value)

    @property
    def window(self) -> Window:
        span = Span(date.fromisoformat(self.first), date.fromisoformat(self.last))
        return Window(span, Purpose(self.purpose))


@dataclass(frozen=True, slots=True)
class Counters:
    """What a run has done so far; the names are those of `ingestion_runs`."""

    pages_fetched: int = 0
    offers_fetched: int = 0
    details_fetched: int = 0
    requests_count: int = 0
    http_429_count: int = 0
    errors_count: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class WantedDetail:
    """An offer whose list says too little: what its own page is asked for by. Those of companies that nobody
    knew come first, the others `later`.
    """

    posting: str = ""
    number: str = ""
    url: str = ""
    title: str = ""
    company: str = ""
    later: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """A run between two steps. The first of `windows` is being walked through: `asked_at` is when its first
    page was asked for, `cursor` where it goes on, `rows` how many it has shown, `total` how many it says
    there are, `oldest` the oldest day so far.
    """

    key: str = ""
    serial: int = 0
    began: int = 0
    windows: tuple[StoredWindow, ...] = ()
    first: str = ""
    coverage: str = "{}"
    asked_at: int = 0
    cursor: str | None = None
    rows: int = 0
    total: int | None = None
    oldest: str | None = None
    in_order: bool = True
    retry_at: int = 0
    waits: int = 0
    counters: Counters = field(default_factory=Counters)
    details_asked: int = 0
    news: int = 0  # offers that are new or read otherwise
    stop: str | None = None
    note: str | None = None
    blocked: bool = False

    @classmethod
    def of(cls, data: object) -> "Run":
        return read(cls, data)

    def stored(self) -> Any:
        return written(self)

    @property
    def window(self) -> Window:
        return self.windows[0].window

    @property
    def stopped(self) -> StopReason | None:
        return StopReason(self.stop) if self.stop else None

    @property
    def verdict(self) -> Verdict:
        """How the look of this run ended."""
        if self.blocked:
            return Verdict.BLOCKED
        if self.counters.offers_fetched:
            return Verdict.FOUND
        exhausted = self.stopped is StopReason.WINDOW_EXHAUSTED
        return Verdict.CONFIRMED_EMPTY if exhausted else Verdict.UNKNOWN

    def counting(self, **more: int) -> "Run":
        """The run with so much more of something."""
        counted = {name: getattr(self.counters, name) + number for name, number in more.items()}
        return replace(self, counters=replace(self.counters, **counted))


def begun(key: str, serial: int, windows: Sequence[Window], coverage: Coverage, now: int) -> Run:
    """A run that has not asked for anything yet."""
    stored = tuple(StoredWindow.of(each) for each in windows)
    oldest = min(each.span.first for each in windows)
    return Run(key, serial, now, stored, oldest.isoformat(), coverage_text(coverage))


def from_the_top(run: Run, now: int) -> Run:
    """The run at the first page of its window."""
    return replace(run, asked_at=now, cursor=None, rows=0, total=None, oldest=None, in_order=True)


def with_page(run: Run, page: SearchPage) -> Run:
    """The run after a page was read: what it counts, and how far back its rows reach."""
    days = [day for offer in page.offers if (day := offer.day)]
    reached = [date.fromisoformat(run.oldest)] if run.oldest else []
    falling = all(
        one >= other for one, other in zip([*reached, *days], days[0 if reached else 1 :], strict=False)
    )
    oldest = min((*reached, *days), default=None)
    run = run.counting(pages_fetched=1, offers_fetched=len(page.offers), errors_count=len(page.bad))
    return replace(
        run,
        rows=run.rows + page.rows,
        total=page.total if page.total is not None else run.total,
        oldest=oldest.isoformat() if oldest else None,
        in_order=run.in_order and falling and len(days) == len(page.offers),
        retry_at=0,
        waits=0,
    )


def ending(
    run: Run, page: SearchPage, caps: Caps, reach: Reach, plan: Plan, *, all_known: bool
) -> tuple[StopReason, str | None] | None:
    """Why a window ends with this page, and what to say of it; None where it goes on."""
    if page.next is None:
        short = run.total is not None and run.rows < run.total
        why = page.capped or (
            f"the client says there are {run.total}, and showed {run.rows}" if short else None
        )
        return (StopReason.MAX_OFFERS, why) if why else (StopReason.WINDOW_EXHAUSTED, None)
    if run.counters.offers_fetched >= caps.max_offers:
        return StopReason.MAX_OFFERS, f"{caps.max_offers} offers are the limit of a run"
    if run.counters.pages_fetched >= caps.max_pages:
        return StopReason.MAX_PAGES, f"{caps.max_pages} pages are the limit of a run"
    oldest = date.fromisoformat(run.oldest) if run.oldest else None
    in_order = reach.newest_first and run.in_order
    if all_known and in_order and may_stop(run.window, read_coverage(run.coverage), plan, oldest):
        return StopReason.ALL_KNOWN, None
    return None


def after_window(run: Run, ended: StopReason, note: str | None, reach: Reach, caps: Caps, plan: Plan) -> Run:
    """The run after a window: what was seen, and the windows that are left. Days that the client itself cut
    short are asked for in smaller portions, as long as it can be asked so.
    """
    walked = Walked(ended, date.fromisoformat(run.oldest) if run.oldest else None, run.in_order)
    window, rest = run.window, run.windows[1:]
    coverage = after(read_coverage(run.coverage), window, reach, walked, plan)
    full = is_full(run, caps)
    cut_by_client = ended is StopReason.MAX_OFFERS and not full
    if cut_by_client and reach.window is WindowKind.RANGE and window.span.days > 1:
        halves = (Window(span, window.purpose) for span in window.span.halves())
        rest = (*(StoredWindow.of(half) for half in halves), *rest)
    elif full or ended in (StopReason.RATE_LIMIT, StopReason.ERROR):
        rest = ()
    return replace(
        from_the_top(run, 0),
        windows=rest,
        coverage=coverage_text(coverage),
        stop=_worst(run.stopped, ended, rest_left=bool(rest), full=full).value,
        note=note or run.note,
    )


def is_full(run: Run, caps: Caps) -> bool:
    """Whether a run has reached a limit of its own."""
    done = run.counters
    return done.pages_fetched >= caps.max_pages or done.offers_fetched >= caps.max_offers


def _worst(before: StopReason | None, ended: StopReason, *, rest_left: bool, full: bool) -> StopReason:
    """Why the run stops, as far as it has come. A window that was cut short is not made good by the next."""
    if full and ended in (StopReason.WINDOW_EXHAUSTED, StopReason.ALL_KNOWN) and rest_left:
        return StopReason.MAX_PAGES
    order = list(HOW_RUNS_END)
    return max((ended, *([before] if before else [])), key=order.index)


def wanted_details(
    offers: Sequence[tuple[str, Offer]], new_companies: Collection[str], fresh: Collection[str]
) -> list[WantedDetail]:
    """The new offers without a description."""
    return [
        WantedDetail(
            key,
            each.posting.key or "",
            each.posting.url or "",
            each.posting.title,
            each.posting.company or "",
            int((each.posting.company or "") not in new_companies),
        )
        for key, each in offers
        if key in fresh and not each.posting.description
    ]
