"""What the evidence about an item says: its price points, its valuation in words, and how both came to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from thresher.apps.prices.amounts import Money, amount_of, maybe_amount
from thresher.apps.prices.model import WHOLE, Item, PricePoint, PriceType
from thresher.apps.prices.service.items import ItemView, item_named, view_of
from thresher.apps.prices.service.point_reasons import reasons_against
from thresher.apps.prices.store.points import evidence_of, live_points, observations_of, points_of
from thresher.apps.prices.store.sources import list_price_sources
from thresher.apps.prices.store.valuations import PastValuation, valuation_history, valuation_of
from thresher.core.errors import UnknownName, UsageError
from thresher.store.session import Session
from thresher.store.store import Store

MAX_EXPLAINED = 2_000  # points that an explanation lists
MAX_SCANNED = 20_000  # points that a filter looks through for one page


@dataclass(frozen=True, slots=True)
class PointView:
    """A price point as people see it. `match_strength` is from 0 to 1. `unit` is the price of one. `reason`
    says why it does not count. `ended_at`: since then nobody asks this price any more.
    """

    id: int
    source: str
    price_type: str
    price: Money
    unit: Money
    quantity: int
    match_strength: float
    counts: bool
    reason: str | None
    title: str
    url: str | None
    external_id: str | None
    condition: str | None
    grade: str | None
    listing_date: date | None
    first_seen_at: int
    observed_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True)
class SignalView:
    """What one attribute or keyword says about whether a listing is the item: it matches, differs, or is
    silent. `weight` is out of 1,000; `quote` is the text that decided it.
    """

    name: str
    wanted: str
    verdict: str
    weight: int
    quote: str | None


@dataclass(frozen=True, slots=True)
class PointEvidenceView:
    """A price point with what it was read from: the quote and its place, what matched, and the hash of the
    stored answer.
    """

    point: PointView
    quote: str
    place: str
    signals: tuple[SignalView, ...]
    doubts: tuple[str, ...]
    shipping: Money | None
    was: Money | None
    high: Money | None
    body: str | None


@dataclass(frozen=True, slots=True)
class ConfidenceView:
    """One part of the confidence: what was measured, and the points that it brings."""

    name: str
    points: float
    because: str


@dataclass(frozen=True, slots=True)
class PriceExplanation:
    """The valuation of an item in words, and every point that it looked at: those that count, and those that
    do not, each with its reason. `left_out` counts the latter by reason.
    """

    item: ItemView
    explanation: str
    confidence: tuple[ConfidenceView, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    counted: list[PointEvidenceView] = field(default_factory=list)
    not_counted: list[PointEvidenceView] = field(default_factory=list)
    shown_all: bool = True


@dataclass(frozen=True, slots=True)
class ObservationView:
    """A price of a point: new, changed, ended (the ask was gone) or returned."""

    point_id: int
    observed_at: int
    what: str
    price: Money
    price_type: str


@dataclass(frozen=True, slots=True)
class PastValue:
    """A valuation that an item has had."""

    computed_at: int
    currency: str
    p10: Money | None
    p20: Money | None
    median: Money | None
    p80: Money | None
    p90: Money | None
    confidence: int | None
    comp_count: int


@dataclass(frozen=True, slots=True)
class PriceHistory:
    """How an item's value and the prices of its points have moved, newest first."""

    item: ItemView
    values: list[PastValue]
    observations: list[ObservationView]


@dataclass(frozen=True, slots=True)
class PointFilter:
    """Which points are listed."""

    counts: bool | None = None
    price_type: PriceType | None = None
    source: str | None = None
    ended: bool = True


EVERY_POINT = PointFilter()


def checked_price_type(text: str | None) -> PriceType | None:
    """A kind of price by its name. Raises UsageError."""
    if text is None:
        return None
    if text not in tuple(PriceType):
        raise UsageError(f"{text[:40]!r} is no type of price; write one of {', '.join(PriceType)}")
    return PriceType(text)


def list_points(
    store: Store, name: str, wanted: PointFilter = EVERY_POINT, *, after: int = 0, limit: int = 100
) -> list[PointView]:
    """The price points of an item, by id, those above `after`."""
    with store.read() as session:
        item = item_named(session, name)
        sources = _sources(session)
        if wanted.source is not None and wanted.source not in sources.values():
            raise UnknownName(
                f"there is no price source {wanted.source[:80]!r}; thresher prices sources list shows them"
            )
        found: list[PointView] = []
        scanned = 0
        while len(found) < limit and scanned < MAX_SCANNED:
            portion = points_of(session, item.id, counts=wanted.counts, after=after, limit=max(limit, 200))
            views = (_point(each, sources) for each in portion)
            found += [each for each in views if _fits(each, wanted)]
            if not portion:
                break
            after, scanned = portion[-1].id, scanned + len(portion)
        return found[:limit]


def _fits(point: PointView, wanted: PointFilter) -> bool:
    return (
        wanted.price_type in (None, point.price_type)
        and wanted.source in (None, point.source)
        and (wanted.ended or point.ended_at is None)
    )


def list_evidence(
    store: Store, item: int, wanted: PointFilter = EVERY_POINT, *, after: int = 0, limit: int = 100
) -> list[PointEvidenceView]:
    """The price points of an item by id, those above `after`, each with its evidence."""
    with store.read() as session:
        sources = _sources(session)
        while True:
            portion = points_of(session, item, counts=wanted.counts, after=after, limit=limit)
            views = (_with_evidence(session, each, sources) for each in portion)
            found = [each for each in views if _fits(each.point, wanted)]
            if found or len(portion) < limit:
                return found
            after = portion[-1].id


def show_point(store: Store, name: str, point: int) -> PointEvidenceView:
    """One price point of an item, with its evidence."""
    with store.read() as session:
        item = item_named(session, name)
        found = points_of(session, item.id, after=point - 1, limit=1)
        if not found or found[0].id != point:
            raise UnknownName(
                f"{item.name!r} has no price point {point}; thresher prices points {item.id} lists them"
            )
        return _with_evidence(session, found[0], _sources(session))


def explain_item(store: Store, name: str) -> PriceExplanation:
    """Why an item is worth what it is said to be worth."""
    with store.read() as session:
        item = item_named(session, name)
        view, value, sources = view_of(session, item), valuation_of(session, item.id), _sources(session)
        points = live_points(session, item.id)
        shown = [_with_evidence(session, each, sources) for each in points[:MAX_EXPLAINED]]
        against = reasons_against(session, item.id, store.settings.__getitem__, store.backend.now(session))
        shown = [_explained(each, against.get(each.point.id)) for each in shown]
        return PriceExplanation(
            view,
            value.explanation if value else _nothing(item, view, points),
            tuple(
                ConfidenceView(each.name, each.points, each.because)
                for each in (value.parts if value else ())
            ),
            dict(value.left_out) if value else {},
            [each for each in shown if each.point.counts],
            [each for each in shown if not each.point.counts],
            len(points) <= MAX_EXPLAINED,
        )


def _explained(shown: PointEvidenceView, why: str | None) -> PointEvidenceView:
    """The point as the valuation sees it: one that matches may still be left out."""
    if why is None or not shown.point.counts:
        return shown
    return replace(shown, point=replace(shown.point, counts=False, reason=why))


def _nothing(item: Item, view: ItemView, points: list[PricePoint]) -> str:
    if points:
        return "It was not valued yet: a worker does it after each collection."
    if view.collected_at:
        return "There is no evidence: the sources that were asked show no listing of it."
    return f"It was not looked for yet: thresher prices show {item.id} says what it waits for."


def show_history(store: Store, name: str, limit: int = 200) -> PriceHistory:
    """How an item's value and the prices of its points have moved, newest first."""
    with store.read() as session:
        item = item_named(session, name)
        values = [_past(each) for each in valuation_history(session, item.id, limit)]
        observed = [
            ObservationView(
                each.point_id,
                each.observed_at,
                each.what.value,
                amount_of(each.price, each.currency),
                each.price_type.value,
            )
            for each in observations_of(session, item.id, limit)
        ]
        return PriceHistory(view_of(session, item), values, observed)


def _past(value: PastValuation) -> PastValue:
    p10, p20, median, p80, p90 = (
        maybe_amount(each, value.currency)
        for each in (value.p10, value.p20, value.median, value.p80, value.p90)
    )
    return PastValue(
        value.computed_at, value.currency, p10, p20, median, p80, p90, value.confidence, value.comp_count
    )


def _sources(session: Session) -> Mapping[int, str]:
    return {each.id: each.name for each in list_price_sources(session, retired=True)}


def _point(point: PricePoint, sources: Mapping[int, str]) -> PointView:
    return PointView(
        point.id,
        sources.get(point.source_id, str(point.source_id)),
        point.price_type.value,
        amount_of(point.price, point.currency),
        amount_of(point.unit, point.currency),
        point.quantity,
        round(point.match_strength / WHOLE, 3),
        point.counts,
        point.reason,
        point.title,
        point.url,
        point.external_id,
        point.condition,
        point.grade,
        point.listing_date,
        point.first_seen,
        point.observed_at,
        point.ended_at or None,
    )


def _with_evidence(session: Session, point: PricePoint, sources: Mapping[int, str]) -> PointEvidenceView:
    found = evidence_of(session, point.id)
    currency = point.currency
    if found is None:
        return PointEvidenceView(_point(point, sources), "", "", (), (), None, None, None, None)
    return PointEvidenceView(
        _point(point, sources),
        found.quote,
        found.place,
        tuple(
            SignalView(each.name, each.wanted, each.verdict, each.weight, each.quote)
            for each in found.signals
        ),
        found.doubts,
        maybe_amount(found.shipping, currency),
        maybe_amount(found.was, currency),
        maybe_amount(found.high, currency),
        found.body,
    )
