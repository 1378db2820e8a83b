"""A valuation once more, slow and straightforward, with fractions. It shares no code with the app."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from thresher.apps.prices.model import PricePoint
from thresher.apps.prices.valuation.options import ValuationOptions

DAY = 86_400_000_000


@dataclass(frozen=True)
class Expected:
    prices: dict[str, int] | None
    confidence: int | None
    comps: int
    sold: int
    sources: int
    left_out: int


def spelled(grade: str | None) -> str | None:
    return None if grade is None else grade.lower().replace("-", "").replace(" ", "")


def day_number(point: PricePoint) -> int:
    """Days since 1970 of the price."""
    if point.price_type == "sold":
        if point.listing_date:
            return point.listing_date.toordinal() - 719_163
        return point.first_seen // DAY
    return point.observed_at // DAY


def age_factor(days: int, half_life: int) -> int:
    days = max(days, 0)
    halvings = 0
    while days >= half_life:
        days -= half_life
        halvings += 1
    exact = Fraction(1000, 2**halvings) * (1 - Fraction(days, 2 * half_life))
    return max(16, floor(exact))


def at_percent(pairs: Sequence[tuple[int, int]], percent: int) -> int:
    number = len(pairs)
    total = Fraction(sum(weight for _, weight in pairs))
    wanted = Fraction(percent, 100) * (total - total / number)
    for upto in range(number):
        if sum(weight for _, weight in pairs[: upto + 1]) > wanted:
            return pairs[upto][0]
    return pairs[-1][0]


def candidates(
    points: Sequence[PricePoint], rates: Mapping[str, Fraction], reputations: Mapping[int, float]
) -> list[tuple[int, PricePoint, int]]:
    may = []
    for point in points:
        if not point.counts or point.price_type == "bid":
            continue
        if point.price_type == "ask" and point.ended_at > 0:
            continue
        reputation = floor(Fraction(str(reputations.get(point.source_id, 0))) * 1000 + Fraction(1, 2))
        if point.unit <= 0 or point.match_strength <= 0 or reputation <= 0:
            continue
        if point.currency not in rates:
            continue
        price = floor(point.unit * rates[point.currency])
        if price <= 0:
            continue
        may.append((price, point, reputation))
    return may


def largest(may: Sequence[tuple[int, PricePoint, int]]) -> str | None:
    groups: dict[str | None, list[PricePoint]] = {}
    for _, point, _ in may:
        groups.setdefault(spelled(point.grade), []).append(point)
    order = sorted(
        groups,
        key=lambda name: (
            -len(groups[name]),
            -len([each for each in groups[name] if each.price_type == "sold"]),
            name or "",
        ),
    )
    return order[0] if order else None


def expected(
    points: Sequence[PricePoint],
    wanted: str | None,
    flags: int,
    rates: Mapping[str, Fraction],
    reputations: Mapping[int, float],
    options: ValuationOptions,
    today: int,
) -> Expected:
    may = candidates(points, rates, reputations)
    grade = spelled(wanted) if wanted else largest(may)
    comps = []
    for price, point, reputation in may:
        is_raw = wanted == "raw" and point.grade in (None, "raw")
        if spelled(point.grade) != grade and not is_raw:
            continue
        kind = 1000 if point.price_type == "sold" else options.ask_weight
        weight = point.match_strength * reputation * kind
        weight *= age_factor(today - day_number(point), options.half_life)
        if weight > 0:
            comps.append((price, weight, point, reputation))
    comps.sort(key=lambda each: each[0])
    if len(comps) >= options.fence_from:
        plain = [each[0] for each in comps]
        q1, median, q3 = (plain[floor(Fraction(p, 100) * (len(plain) - 1))] for p in (25, 50, 75))
        reach = Fraction(options.fence, 1000) * (q3 - q1)
        near = Fraction(options.fence_min, 100) * median
        comps = [
            each
            for each in comps
            if q1 - reach <= each[0] <= q3 + reach or median - near <= each[0] <= median + near
        ]
    if not comps:
        return Expected(None, None, 0, 0, 0, len(points))
    pairs = [(price, weight) for price, weight, _, _ in comps]
    bands = {f"p{percent}": at_percent(pairs, percent) for percent in (10, 20, 40, 50, 60, 80, 90)}
    total = sum(weight for _, weight in pairs)
    bands["mean"] = floor(Fraction(sum(price * weight for price, weight in pairs), total) + Fraction(1, 2))
    sold = len([each for each in comps if each[2].price_type == "sold"])
    return Expected(
        bands,
        trust(comps, bands, sold, flags, options),
        len(comps),
        sold,
        len({each[2].source_id for each in comps}),
        len(points) - len(comps),
    )


def trust(
    comps: Sequence[tuple[int, int, PricePoint, int]],
    bands: Mapping[str, int],
    sold: int,
    flags: int,
    options: ValuationOptions,
) -> int:
    number = len(comps)
    points = Fraction(0)
    points += 3 if number >= 20 else 2 if number >= 10 else 1 if number >= 5 else 0
    points += 2 * Fraction(sum(each[2].match_strength for each in comps) // number, 1000)
    points += Fraction(sum(each[3] for each in comps) // number, 1000)
    share = Fraction(sold, number)
    points += 2 if share >= Fraction(8, 10) else 1 if share >= Fraction(1, 2) else 0
    spread = Fraction(bands["p90"] - bands["p10"], bands["p50"])
    if number >= options.fence_from:
        points += 3 if spread < Fraction(2, 10) else 2 if spread < Fraction(4, 10) else 0
        points += 1 if Fraction(4, 10) <= spread < Fraction(6, 10) else 0
    points -= min(flags, 3)
    found = min(10, max(1, floor(points + Fraction(1, 2))))
    return found if sold else min(found, 7)
