"""Every listing of the practice marketplace is judged about every thing that it sells: only those that are
one of it, or several, count.
"""

from datetime import timedelta

import pytest

from tests.apps.prices.matching.judging import item, judged
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.sites.marketplace_goods import THINGS, MarketThing, Offer, Role, asked, sold

NOW = DAY_ZERO + timedelta(days=40)
FAULTS = ("cleaned", "for parts")  # the same thing, in a state that is not said of the item


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("thing", THINGS, ids=lambda each: each.key)
def test_only_listings_about_the_thing_count_and_lots_by_the_piece(thing: MarketThing, seed: int) -> None:
    about = item(thing.kind, name=thing.name, **dict(thing.attributes))
    offers = [each for each in (*sold(seed, NOW), *asked(seed, NOW)) if each.role is not Role.VARIANTS]
    assert len(offers) > 50
    for offer in offers:
        found = judged(about, offer.title, amount=offer.cents, condition=offer.condition)
        assert found.counts is _is_it(offer, thing.key), (offer.title, found.reason)
        if found.counts:
            assert found.quantity == offer.quantity
            assert found.unit is not None
            assert abs(found.unit * offer.quantity - offer.cents) * 2 <= offer.quantity
            assert found.strength == 1_000


def _is_it(offer: Offer, thing: str) -> bool:
    return (
        offer.thing == thing
        and offer.role in (Role.TRUE, Role.LOT)
        and not any(offer.title.endswith(fault) for fault in FAULTS)
    )
