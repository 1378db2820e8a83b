"""The valuation of an item: the prices that count, their bands, the confidence, and the explanation.

The order of points changes nothing, and neither does the machine: all arithmetic is in whole numbers.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import orjson

from thresher.apps.prices.kinds import YES, kinds
from thresher.apps.prices.model import ConfidencePart, Item, Valuation
from thresher.apps.prices.valuation.comps import Chosen, Converter, Evidence, choose
from thresher.apps.prices.valuation.confidence import ConfidenceInputs, confidence
from thresher.apps.prices.valuation.explanation import explain
from thresher.apps.prices.valuation.options import ValuationOptions
from thresher.apps.prices.valuation.percentiles import Weighed, bands_of
from thresher.core.clock import day_of

NOT_DAMAGE = frozenset({"toning"})  # flags that say how an item looks, and lower nothing


def value(
    item: Item,
    points: Iterable[Evidence],
    rates: Converter,
    reputations: Mapping[int, float],
    options: ValuationOptions,
    now: int,
) -> Valuation:
    """Value an item by its points. `reputations` are those of the sources by id, from 0 to 1; `now` is in
    microseconds.
    """
    chosen = choose(item, points, rates, reputations, options, day_of(now))
    comps, flags = chosen.comps, damages(item)
    sold = sum(each.is_sold for each in comps)
    bands = bands_of([Weighed(each.price, each.weight) for each in comps]) if comps else None
    trust: int | None = None
    parts: tuple[ConfidencePart, ...] = ()
    if bands is not None:
        inputs = ConfidenceInputs(
            len(comps),
            sold,
            sum(each.strength for each in comps),
            sum(each.reputation for each in comps),
            bands,
            flags,
            len(comps) >= options.fence_from,
        )
        trust, parts = confidence(inputs, options.confidence)
    return Valuation(
        item_id=item.id,
        currency=item.spec.currency,
        bands=bands,
        confidence=trust,
        comp_count=len(comps),
        sold_count=sold,
        ask_count=len(comps) - sold,
        source_count=len({each.source for each in comps}),
        explanation=explain(chosen, bands, item.spec.currency),
        parts=parts,
        left_out=dict(sorted(chosen.left_out.items())),
        basis=_basis(item, chosen, flags, options),
        computed_at=now,
    )


def damages(item: Item) -> tuple[str, ...]:
    """What is said to be wrong with an item: the flags of its kind that it has, but for what is no damage."""
    kind = kinds().get(item.spec.kind)
    said = item.spec.attributes
    return tuple(
        each.title.lower()
        for each in (kind.attributes if kind else ())
        if each.flag and each.name not in NOT_DAMAGE and said.get(each.name) == YES
    )


def _basis(item: Item, chosen: Chosen, flags: Sequence[str], options: ValuationOptions) -> str:
    """A hash of all that a valuation follows from. The age of a price is in its weight."""
    said = [
        item.spec.currency,
        chosen.grade,
        chosen.is_wanted,
        flags,
        options,
        [each[:-1] for each in chosen.comps],
        min((each.day for each in chosen.comps), default=None),
        dict(chosen.left_out),
    ]
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS, default=tuple)).hexdigest()
