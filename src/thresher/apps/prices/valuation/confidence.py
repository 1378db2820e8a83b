"""How far a valuation can be trusted, from 1 to 10, with each part of it shown.

Points are counted in thousandths and rounded once. The limit for an item of which nobody has paid a price is
applied last, after every part: nothing can lift it over that limit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from thresher.apps.prices.model import WHOLE, Bands, ConfidencePart
from thresher.apps.prices.valuation.options import ConfidenceOptions

MIN_CONFIDENCE, MAX_CONFIDENCE = 1, 10


class ConfidenceInputs(NamedTuple):
    """What the confidence rests on. `strength` and `reputation` are sums over all comps, in thousandths;
    `flags` are the damages of the item by name. `shows_spread` says whether there are prices enough for it.
    """

    comps: int
    sold: int
    strength: int
    reputation: int
    bands: Bands
    flags: Sequence[str]
    shows_spread: bool


def confidence(
    evidence: ConfidenceInputs, options: ConfidenceOptions
) -> tuple[int, tuple[ConfidencePart, ...]]:
    """The confidence and its parts, in the order in which they are applied. The parts add up to it."""
    parts = [rule(evidence, options) for rule in _RULES]
    total = sum(thousandths for thousandths, _, _ in parts)
    rounded = (total + WHOLE // 2) // WHOLE
    clamped = min(max(rounded, MIN_CONFIDENCE), MAX_CONFIDENCE)
    if clamped * WHOLE != total:
        why = "rounded" if clamped == rounded else f"from {MIN_CONFIDENCE} to {MAX_CONFIDENCE}"
        parts.append(_Part(clamped * WHOLE - total, "rounding", why))
    cap = max(options.ask_only_cap, MIN_CONFIDENCE)
    if not evidence.sold and clamped > cap:
        why = f"nobody is known to have paid a price, so at most {cap}"
        parts.append(_Part((cap - clamped) * WHOLE, "asks only", why))
        clamped = cap
    return clamped, tuple(ConfidencePart(name, points / WHOLE, because) for points, name, because in parts)


class _Part(NamedTuple):
    points: int  # thousandths
    name: str
    because: str


def _comps(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    steps = (options.few_comps, options.some_comps, options.many_comps)
    points = sum(evidence.comps >= step for step in steps)
    number = "1 price counts" if evidence.comps == 1 else f"{evidence.comps:,} prices count"
    return _Part(points * WHOLE, "comps", number)


def _match(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    average = evidence.strength // evidence.comps
    return _Part(
        options.match_points * average, "match", f"the average match strength is {_decimal(average)} of 1"
    )


def _reputation(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    average = evidence.reputation // evidence.comps
    because = f"the average reputation of their sources is {_decimal(average)} of 1"
    return _Part(options.reputation_points * average, "reputation", because)


def _sold(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    share = 100 * evidence.sold
    points = sum(share >= step * evidence.comps for step in (options.half_sold, options.most_sold))
    return _Part(points * WHOLE, "sold share", f"{share // evidence.comps} % of the prices were paid")


def _spread(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    if not evidence.shows_spread:
        return _Part(0, "spread", "there are too few prices to say how far apart they lie")
    bands = evidence.bands
    wide = 100 * (bands.p90 - bands.p10)
    steps = (options.narrow_spread, options.medium_spread, options.wide_spread)
    points = sum(wide < step * bands.median for step in steps)
    percent = wide // bands.median
    return _Part(points * WHOLE, "spread", f"p10 and p90 lie {percent} % of the median apart")


def _flags(evidence: ConfidenceInputs, options: ConfidenceOptions) -> _Part:
    if not evidence.flags:
        return _Part(0, "condition", "no damage is stated")
    named = ", ".join(evidence.flags)
    return _Part(-WHOLE * min(len(evidence.flags), options.max_flags), "condition", f"damage: {named}")


_RULES = (_comps, _match, _reputation, _sold, _spread, _flags)


def _decimal(thousandths: int) -> str:
    return f"{thousandths / WHOLE:.2f}"
