"""The numbers of the valuation rules, as one value: each is a setting, and all that enter the arithmetic are
whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ConfidenceOptions:
    """What brings confidence. Shares and spreads are in percent."""

    few_comps: int = 5
    some_comps: int = 10
    many_comps: int = 20
    match_points: int = 2
    reputation_points: int = 1
    half_sold: int = 50
    most_sold: int = 80
    narrow_spread: int = 20
    medium_spread: int = 40
    wide_spread: int = 60
    max_flags: int = 3
    ask_only_cap: int = 7


@dataclass(frozen=True, slots=True)
class ValuationOptions:
    """How prices are weighed and fenced. `half_life` is in days, `ask_weight` and `fence` in thousandths,
    `fence_min` in percent of the median.
    """

    half_life: int = 180
    ask_weight: int = 400
    fence: int = 1_500
    fence_from: int = 4
    fence_min: int = 10
    confidence: ConfidenceOptions = ConfidenceOptions()


_CONFIDENCE = ConfidenceOptions.__slots__


def options_of(setting: Callable[[str], Any]) -> ValuationOptions:
    """The rules as they are set now."""
    return ValuationOptions(
        half_life=int(setting("prices.value.half_life")),
        ask_weight=int(setting("prices.value.ask_weight")),
        fence=round(1_000 * float(setting("prices.value.fence"))),
        fence_from=int(setting("prices.value.fence_from")),
        fence_min=int(setting("prices.value.fence_min")),
        confidence=ConfidenceOptions(
            **{name: int(setting(f"prices.confidence.{name}")) for name in _CONFIDENCE}
        ),
    )
