"""How fast items are valued, beside one NumPy percentile for each item as the limit.

    python bench/valuations.py [--items 10000] [--points 100] [--store sqlite|postgres] [--json]

The points of an item are sales and asks of several sources and ages, of raw and graded coins, a tenth of them
left out by the matching. Each item is valued whole: choice, weights, fence, percentiles, confidence,
explanation, basis. In turns with it NumPy takes seven percentiles of as many plain prices, which are ready as
an array: no weights, no grades, no words.

With `--store` a tenth of the items is stored first; then the inputs of each are read, valued and stored, each
in transactions of their own, as a task does it without the queue.

`cpu` is this process's processor time, without PostgreSQL's own.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np

from thresher.apps.prices.app import app as prices
from thresher.apps.prices.model import (
    Adapter,
    Item,
    ItemSpec,
    ItemStatus,
    JudgedListing,
    Listing,
    Origin,
    PricePoint,
    PriceType,
    SourceSpec,
)
from thresher.apps.prices.point_row import point_row
from thresher.apps.prices.rates import NO_RATES
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.points import file_points
from thresher.apps.prices.store.sources import save_price_source
from thresher.apps.prices.store.valuations import ValuationInputs, store_valuation, valuation_inputs
from thresher.apps.prices.valuation.options import ValuationOptions
from thresher.apps.prices.valuation.value import value
from thresher.bench.queue import database_for
from thresher.core.clock import DAY, SECOND, day_of
from thresher.runtime import open_store
from thresher.store.store import Store

NOW = 1_700_000_000 * SECOND
SOURCES = (0.8, 0.5, 0.9)
GRADES = (None, None, None, "raw", "raw", "MS63", "MS65")
PERCENTS = (10, 20, 40, 50, 60, 80, 90)
OPTIONS = ValuationOptions()
CHUNK = 200  # items in one turn
STORED = 10  # one item of so many is stored


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--store", choices=("sqlite", "postgres"))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = computed(args.items, args.points)
    if args.store:
        found |= stored(args.store, max(1, args.items // STORED), args.points)
    print(json.dumps(found) if args.json else "\n".join(f"{name:24} {said}" for name, said in found.items()))


def computed(items: int, points: int) -> dict[str, Any]:
    """Value all items, in turns with NumPy."""
    ours, limit = Watch(), Watch()
    for first in range(0, items, CHUNK):
        some = [(_item(at), _points(at, points)) for at in range(first, min(first + CHUNK, items))]
        plain = [np.array([each.unit for each in of_one]) for _, of_one in some]
        ours.time(partial(_value_all, some, dict(enumerate(SOURCES, 1))))
        limit.time(partial(_percentiles, plain))
    return {
        "items": items,
        "points": points,
        "load": round(os.getloadavg()[0], 1),
        "seconds": round(ours.wall, 2),
        "items_per_second": round(items / ours.wall),
        "cpu_us_per_item": round(1e6 * ours.cpu / items),
        "numpy_cpu_us_per_item": round(1e6 * limit.cpu / items),
        "ratio_cpu": round(limit.cpu / ours.cpu, 3),
    }


def _value_all(some: Sequence[tuple[Item, Sequence[PricePoint]]], reputations: Mapping[int, float]) -> None:
    for item, points in some:
        value(item, points, NO_RATES, reputations, OPTIONS, NOW)


def _percentiles(some: Sequence[Any]) -> None:
    for each in some:
        np.percentile(each, PERCENTS, method="lower")


class Watch:
    """Time and processor time of what was run."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def time(self, run: Callable[[], object]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu


def _item(at: int) -> Item:
    return Item(at + 1, _spec(at), ItemStatus.ATTRIBUTED)


def _spec(at: int) -> ItemSpec:
    said = {"denomination": "dollar", "year": str(1800 + at % 200)} | (
        {"grade": "MS65"} if at % 3 == 0 else {}
    )
    return ItemSpec(f"coin {at}", "coin", said)


def _points(seed: int, number: int) -> list[PricePoint]:
    dice = random.Random(seed)
    return [_point(dice, at, dice.lognormvariate(8, 0.5)) for at in range(number)]


def _point(dice: random.Random, at: int, price: float) -> PricePoint:
    seen = NOW - dice.randrange(700) * DAY
    is_sold = dice.random() < 0.5
    return PricePoint(
        id=at,
        item_id=1,
        source_id=dice.randint(1, len(SOURCES)),
        dedupe_key=f"ext_{at}",
        price=round(price) + 1,
        currency="USD",
        price_type=PriceType.SOLD if is_sold else PriceType.ASK,
        unit=round(price) + 1,
        quantity=1,
        match_strength=dice.randint(600, 1_000),
        counts=dice.random() < 0.9,
        reason="it is a lot of unknown size",
        title=f"coin {at}",
        url=None,
        external_id=str(at),
        condition=None,
        grade=dice.choice(GRADES),
        listing_date=day_of(seen) - timedelta(days=dice.randrange(5)) if is_sold else None,
        first_seen=seen,
        observed_at=seen,
    )


def stored(kind: str, items: int, points: int) -> dict[str, Any]:
    """Read, value and store items, one after the other."""
    reading, valuing, storing = Watch(), Watch(), Watch()
    with database_for(kind, None, "machine") as url, closing(open_store(url, apps=(prices,))) as store:
        for item in _fill(store, items, points):
            _value_stored(store, item, reading, valuing, storing)
    wall = reading.wall + valuing.wall + storing.wall
    cpu = reading.cpu + valuing.cpu + storing.cpu
    return {
        "store": kind,
        "stored_items": items,
        "stored_items_per_second": round(items / wall),
        "stored_cpu_us_per_item": round(1e6 * cpu / items),
        "read_cpu_us": round(1e6 * reading.cpu / items),
        "value_cpu_us": round(1e6 * valuing.cpu / items),
        "write_cpu_us": round(1e6 * storing.cpu / items),
    }


def _fill(store: Store, items: int, points: int) -> Sequence[int]:
    with store.write() as session:
        for at, reputation in enumerate(SOURCES):
            said = SourceSpec(f"bay{at}", Adapter.MARKETPLACE, "ebay", reputation=reputation)
            save_price_source(session, said, Origin.PERSON, NOW)
        known = [
            save_item(session, _spec(at), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, NOW) for at in range(items)
        ]
        for item in known:
            for source in range(1, len(SOURCES) + 1):
                _file(
                    session,
                    item,
                    source,
                    [each for each in _points(item, points) if each.source_id == source],
                )
    return known


def _file(session: Any, item: int, source: int, points: Sequence[PricePoint]) -> None:
    rows = [point_row(_judged(each), NOW, None) for each in points]
    said = {"item": item, "source": source, "rows": rows, "bodies": [], "observed_at": NOW}
    file_points(session, said, NOW)


def _judged(point: PricePoint) -> JudgedListing:
    listing = Listing(
        point.title,
        point.price_type,
        point.price,
        point.currency,
        external_id=point.external_id,
        listed_on=point.listing_date,
    )
    reason = None if point.counts else point.reason
    strength = point.match_strength
    return JudgedListing(listing, point.unit, 1, strength, (), point.grade, point.counts, reason)


def _value_stored(store: Store, item: int, reading: Watch, valuing: Watch, storing: Watch) -> None:
    found: list[ValuationInputs] = []
    made: list[Any] = []

    def read() -> None:
        with store.read() as session:
            inputs = valuation_inputs(session, {"item": item, "rates_max_age": 7}, NOW)
            assert isinstance(inputs, ValuationInputs)
            found.append(inputs)

    def compute() -> None:
        (inputs,) = found
        said = (inputs.item, inputs.points, inputs.rates, inputs.reputations, OPTIONS, NOW)
        made.append(value(*said))

    def write() -> None:
        said = {"valuation": made[0], "asked": found[0].asked, "read_at": NOW, "alerts": []}
        with store.write() as session:
            store_valuation(session, said, NOW)

    reading.time(read)
    valuing.time(compute)
    storing.time(write)


if __name__ == "__main__":
    main()
