"""Why the valuation of an item leaves out price points that match it: a bid, another grade, no exchange rate,
or far from all others. The valuation counts them by reason; a person wants to know which ones.
"""

from collections.abc import Callable, Mapping
from typing import Any

from thresher.apps.prices.store.valuations import ValuationInputs, valuation_inputs
from thresher.apps.prices.valuation.comps import OUTLIERS, belongs, choose, grade_key, grade_name
from thresher.apps.prices.valuation.options import options_of
from thresher.core.clock import day_of
from thresher.store.session import Session

MAX_POINTS = 2_000  # that are looked at one by one


def reasons_against(
    session: Session, item: int, setting: Callable[[str], Any], now: int
) -> Mapping[int, str]:
    """Why each of these points is left out, by id. Those that count are not named."""
    asked = {"item": item, "rates_max_age": int(setting("prices.rates_max_age"))}
    found = valuation_inputs(session, asked, now)
    if not isinstance(found, ValuationInputs):
        return {}
    options, today = options_of(setting), day_of(now)

    def chosen(points: Any) -> Any:
        return choose(found.item, points, found.rates, found.reputations, options, today)

    whole = chosen(found.points)
    prices = [each.price for each in whole.comps]
    reasons: dict[int, str] = {}
    for point in found.points[:MAX_POINTS]:
        alone = chosen([point])
        grade = None if point.grade is None else grade_key(point.grade)
        if alone.left_out:
            reasons[point.id] = next(iter(alone.left_out))
        elif not belongs(grade, whole.grade, is_wanted=whole.is_wanted):
            reasons[point.id] = f"{grade_name(grade)}, and the value is of {grade_name(whole.grade)}"
        elif not prices or not prices[0] <= alone.comps[0].price <= prices[-1]:
            reasons[point.id] = OUTLIERS
    return reasons
