"""Which price points of an item count, and how much each of them does.

Weight of a price = match strength x reputation of its source x what an ask counts beside a sale x recency.
Bids do not count, and asks that are no longer listed do not either: nobody knows whether somebody paid them
or they were withdrawn. Prices of one grade count, never those of several.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple, Protocol

from thresher.apps.prices.kinds import Comparison, kinds
from thresher.apps.prices.matching.grades import normal_grade
from thresher.apps.prices.model import RAW, WHOLE, Item, PriceType
from thresher.apps.prices.valuation.options import ValuationOptions
from thresher.apps.prices.valuation.percentiles import fence
from thresher.core.clock import day_of

MAX_REASONS = 50  # that are kept of one valuation
MIN_RECENCY = 16  # thousandths: what is older than six half-lives counts no less for it

BIDS = "bids"
ENDED = "asks that are no longer listed"
NO_PRICE = "without a price"
NO_REPUTATION = "sources with reputation 0"
OUTLIERS = "outliers"
NOT_COUNTED = "not counted"
UNWEIGHED = "of no weight"
OTHERS = "other reasons"


class Converter(Protocol):
    """What converts amounts at the rate of a day: `rates.Rates`."""

    def convert(self, minor: int, currency: str, into: str, on: date) -> int | None:
        """The amount in the other currency; None where no rate is known on that day or shortly before."""
        ...


class Evidence(Protocol):
    """What a valuation looks at of a price point: all of these are of `PricePoint`."""

    @property
    def source_id(self) -> int: ...
    @property
    def unit(self) -> int: ...
    @property
    def currency(self) -> str: ...
    @property
    def price_type(self) -> PriceType: ...
    @property
    def match_strength(self) -> int: ...
    @property
    def counts(self) -> bool: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def grade(self) -> str | None: ...
    @property
    def listing_date(self) -> date | None: ...
    @property
    def first_seen(self) -> int: ...
    @property
    def observed_at(self) -> int: ...
    @property
    def ended_at(self) -> int: ...


class Comp(NamedTuple):
    """A price point that counts: its price in the currency of the item, and its weight."""

    price: int
    weight: int
    is_sold: bool
    strength: int
    reputation: int
    source: int
    day: date


class _Candidate(NamedTuple):
    """A price point that may count: a sale or a live ask of a listing that is about this item, with its price
    in the currency of the item.
    """

    price: int
    is_sold: bool
    strength: int
    reputation: int
    source: int
    day: date
    grade: str | None


class Chosen(NamedTuple):
    """What a valuation rests on: the prices that count, the lowest first, all of one grade; and how many
    points were left out, by reason. `is_wanted` says whether the item names that grade.
    """

    comps: Sequence[Comp]
    left_out: Mapping[str, int]
    grade: str | None
    is_wanted: bool
    has_grades: bool  # whether any point states a grade, or the item does


def choose(
    item: Item,
    points: Iterable[Evidence],
    rates: Converter,
    reputations: Mapping[int, float],
    options: ValuationOptions,
    today: date,
) -> Chosen:
    """Choose the prices that count. An item with a grade is compared with that grade, another one with the
    largest group of equal grade.
    """
    left_out: Counter[str] = Counter()
    candidates = _candidates(points, item.spec.currency, rates, reputations, left_out)
    wanted = wanted_grade(item)
    grade = _largest_grade(candidates) if wanted is None else wanted
    group = []
    for each in candidates:
        if belongs(each.grade, grade, is_wanted=wanted is not None):
            group.append(each)
        else:
            left_out[grade_name(each.grade)] += 1
    comps = _weighed(group, options, today, left_out)
    comps = _fenced(comps, options, left_out)
    has_grades = wanted is not None or any(each.grade is not None for each in candidates)
    return Chosen(comps, _most_frequent(left_out), grade, wanted is not None, has_grades)


def wanted_grade(item: Item) -> str | None:
    """The grade that an item names, as it is compared; None for one that names none, or of a kind without
    grades.
    """
    said = item.spec.attributes
    kind = kinds().get(item.spec.kind)
    graded = (each for each in (kind.attributes if kind else ()) if each.compare is Comparison.GRADE)
    text = next((said[each.name] for each in graded if said.get(each.name)), None)
    return None if text is None else grade_key(normal_grade(text) or text)


def belongs(grade: str | None, group: str | None, *, is_wanted: bool) -> bool:
    """Whether a price of this grade counts in the group. Whoever asks for a raw one is also shown those that
    nobody has graded: they state no grade, or one word of their seller without a number.
    """
    return grade == group or (is_wanted and group == RAW and (grade is None or grade.isalpha()))


def _most_frequent(left_out: Counter[str]) -> Mapping[str, int]:
    """Reasons quote listings, so there may be as many of them as points."""
    kept = sorted(left_out.items(), key=lambda each: (-each[1], each[0]))
    if len(kept) <= MAX_REASONS:
        return dict(kept)
    rest = sum(number for _, number in kept[MAX_REASONS:])
    return {**dict(kept[:MAX_REASONS]), OTHERS: left_out[OTHERS] + rest}


def _candidates(
    points: Iterable[Evidence],
    currency: str,
    rates: Converter,
    reputations: Mapping[int, float],
    left_out: Counter[str],
) -> list[_Candidate]:
    known = {source: round(WHOLE * reputation) for source, reputation in reputations.items()}
    found = []
    for point in points:
        reputation = known.get(point.source_id, 0)
        reason = _reason_against(point, reputation)
        if reason is not None:
            left_out[reason] += 1
            continue
        day = price_day(point)
        price: int | None = point.unit
        if point.currency != currency:
            price = rates.convert(point.unit, point.currency, currency, day)
        if price is None or price <= 0:
            left_out[f"no exchange rate from {point.currency}" if price is None else NO_PRICE] += 1
            continue
        is_sold = point.price_type is PriceType.SOLD
        grade = None if point.grade is None else grade_key(point.grade)
        found.append(
            _Candidate(price, is_sold, point.match_strength, reputation, point.source_id, day, grade)
        )
    return found


def _reason_against(point: Evidence, reputation: int) -> str | None:
    """Why a point cannot count, whatever the others are."""
    if not point.counts:
        return point.reason or NOT_COUNTED
    if point.price_type is PriceType.BID:
        return BIDS
    if point.ended_at and point.price_type is PriceType.ASK:
        return ENDED
    if point.unit <= 0 or point.match_strength <= 0:
        return NO_PRICE if point.unit <= 0 else UNWEIGHED
    return NO_REPUTATION if reputation <= 0 else None


@lru_cache(1_024)
def grade_key(text: str) -> str:
    """A grade without its way of writing: MS-65, MS 65 and ms65 are one. AU details is not AU."""
    words = "".join(char if char.isalnum() or char == "+" else " " for char in text.casefold()).split()
    return ("" if any(map(str.isdigit, text)) else " ").join(words)


def grade_name(grade: str | None) -> str:
    """What people call a group of equal grade."""
    if grade is None:
        return "no grade stated"
    return f"grade {RAW if grade == RAW else grade.upper()}"


def _largest_grade(candidates: Sequence[_Candidate]) -> str | None:
    """The grade of most candidates; of several the one with most sales, then the one that states no grade."""
    number = Counter(each.grade for each in candidates)
    sold = Counter(each.grade for each in candidates if each.is_sold)
    return min(number, key=lambda each: (-number[each], -sold[each], each or ""), default=None)


def _weighed(
    group: Sequence[_Candidate], options: ValuationOptions, today: date, left_out: Counter[str]
) -> list[Comp]:
    """Each candidate with its weight, the lowest price first."""
    found = []
    for price, is_sold, strength, reputation, source, day, _ in group:
        kind = WHOLE if is_sold else options.ask_weight
        weight = strength * reputation * kind * recency((today - day).days, options.half_life)
        if weight > 0:
            found.append(Comp(price, weight, is_sold, strength, reputation, source, day))
        else:
            left_out[UNWEIGHED] += 1
    return sorted(found)


def price_day(point: Evidence) -> date:
    """The day of a price. A sale has the day on which it was listed as sold, or else first seen; an ask is as
    old as the last look at it, however long it has been listed.
    """
    if point.price_type is PriceType.SOLD:
        return point.listing_date or day_of(point.first_seen)
    return day_of(point.observed_at)


@lru_cache(4_096)
def recency(days: int, half_life: int) -> int:
    """How much a price of that age counts, in thousandths: half as much after each half-life, and straight
    lines between.
    """
    halvings, rest = divmod(max(days, 0), half_life)
    if halvings > 10:
        return MIN_RECENCY
    return max(WHOLE * (2 * half_life - rest) // (2 * half_life << halvings), MIN_RECENCY)


def _fenced(comps: list[Comp], options: ValuationOptions, left_out: Counter[str]) -> list[Comp]:
    """Leave out what lies far from all others. A few prices do not say what is far."""
    if len(comps) < options.fence_from:
        return comps
    low, high = fence([each.price for each in comps], options.fence, options.fence_min)
    inside = [each for each in comps if low <= each.price <= high]
    if len(inside) < len(comps):
        left_out[OUTLIERS] += len(comps) - len(inside)
    return inside
