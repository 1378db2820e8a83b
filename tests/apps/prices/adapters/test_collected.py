"""Items of the practice marketplace collected by the app itself, over loopback, on both stores: every planted
listing becomes the point that it should be, from day to day.
"""

from collections.abc import Iterator

import pytest

from tests.apps.prices.adapters.asking import Asker, item_of
from tests.apps.prices.collecting import add_item, add_source, app, points, standing
from tests.harness.databases import Database
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.model import Adapter, ItemSpec, PricePoint, PriceType, SourceSpec
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.practice.web.sites import marketplace
from thresher.practice.web.sites.marketplace_goods import Offer, Role, asked, offers, sold

EBAY = SourceSpec("ebay", Adapter.MARKETPLACE, rate_per_minute=None, cache_seconds=0)
MORGAN = "morgan-1881-s"


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.CLIENT)
    monkeypatch.setenv("EBAY_CLIENT_SECRET", marketplace.SECRET)


@pytest.fixture
def collector(database: Database, web: PracticeWeb) -> Iterator[Asker]:
    made = Asker(database, web, app)
    yield made
    made.shop.close()


def collect(collector: Asker, *pairs: tuple[int, int], knobs: tuple[Knob, ...] = ()) -> None:
    collector.web.turn(*knobs)
    collector.store.enqueue([collector.registry.admit(collect_task(*pair)) for pair in pairs])
    collector.work()
    collector.web.web.panel.clear()


def by_id(collector: Asker, item: int) -> dict[str, PricePoint]:
    return {str(each.external_id): each for each in points(collector.store, item)}


def of(collector: Asker, key: str, offered: tuple[Offer, ...]) -> dict[str, Offer]:
    """What stands in the listings of a thing with a price that can be read: all but those with variants."""
    return {f"v1|{each.id}|0": each for each in offered if each.thing == key and each.low is None}


@pytest.mark.parametrize("key", [MORGAN, "mercury-1916-d", "fieldmaster-k7"])
def test_planted_listings_become_the_points_that_they_are(collector: Asker, key: str) -> None:
    item, source = add_item(collector.store, item_of(key)), add_source(collector.store, EBAY)
    collect(collector, (item, source))
    now, seed = collector.web.now(), collector.web.web.seed
    found = by_id(collector, item)
    true = {
        name: each for name, each in of(collector, key, offers(seed, now)).items() if each.role is Role.TRUE
    }
    assert true.keys() <= found.keys()
    for name, offer in true.items():
        assert (found[name].price, found[name].currency, found[name].quantity) == (offer.cents, "USD", 1)
        assert found[name].price_type is (PriceType.SOLD if offer.sold else PriceType.ASK)
    for name, each in of(collector, key, offers(seed, now)).items():
        if name in found and each.role in (Role.REPLICA, Role.OTHER, Role.ACCESSORY):
            assert not found[name].counts, f"{each.title} counts as {key}"
        if name in found and each.role is Role.LOT:
            assert found[name].quantity == each.quantity or not found[name].counts
    standing_now = standing(collector.store, item, source)
    assert (standing_now.verdict, standing_now.complete) == ("found", True)


def test_from_day_to_day_prices_change_asks_end_and_are_sold(collector: Asker) -> None:
    item, source = add_item(collector.store, item_of(MORGAN)), add_source(collector.store, EBAY)
    seed = collector.web.web.seed
    for day in (0, 12, 30):
        collector.move_to(day)
        collect(collector, (item, source))
        now = collector.web.now()
        found = by_id(collector, item)
        live = {
            name for name, each in found.items() if each.price_type is PriceType.ASK and not each.ended_at
        }
        assert live == set(of(collector, MORGAN, asked(seed, now))) & found.keys()
        for name, offer in of(collector, MORGAN, (*asked(seed, now), *sold(seed, now))).items():
            if name in found and offer.role is Role.TRUE:
                assert found[name].price == offer.cents
                assert found[name].price_type is (PriceType.SOLD if offer.sold else PriceType.ASK)
    assert any(each.ended_at for each in by_id(collector, item).values())


def test_a_listing_found_for_two_items_belongs_to_both(collector: Asker) -> None:
    wide = ItemSpec("1881 Morgan", "coin", {"denomination": "dollar", "year": "1881", "series": "Morgan"})
    one, other = add_item(collector.store, item_of(MORGAN)), add_item(collector.store, wide)
    source = add_source(collector.store, EBAY)
    collect(collector, (one, source), (other, source))
    both = by_id(collector, one).keys() & by_id(collector, other).keys()
    assert len(both) > 8


def test_an_empty_answer_that_counts_results_ends_no_asking_price(collector: Asker) -> None:
    item, source = add_item(collector.store, item_of(MORGAN)), add_source(collector.store, EBAY)
    collect(collector, (item, source))
    before = by_id(collector, item)
    collector.move_to(1)
    empty = Knob(Trouble.BODY, "api.ebay.com", "/buy/", text='{"total": 12}', kind="application/json")
    collect(collector, (item, source), knobs=(empty,))
    after = by_id(collector, item)
    assert not any(each.ended_at for each in after.values())
    assert after.keys() == before.keys()
    assert standing(collector.store, item, source).verdict == "unknown"


def test_a_collection_without_the_sales_says_so(collector: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBAY_CLIENT_ID", marketplace.BROWSE_ONLY)
    item, source = add_item(collector.store, item_of(MORGAN)), add_source(collector.store, EBAY)
    collect(collector, (item, source))
    found = standing(collector.store, item, source)
    assert "does not open its list 'sold'" in str(found.reason)
    assert {each.price_type for each in points(collector.store, item)} == {PriceType.ASK}


def test_refused_credentials_disable_the_source_and_the_task_waits(
    collector: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBAY_CLIENT_SECRET", "not-the-secret-4711")
    item, source = add_item(collector.store, item_of(MORGAN)), add_source(collector.store, EBAY)
    collect(collector, (item, source))
    gate = collector.gate("source:prices.ebay")
    assert (gate["closed_tag"], points(collector.store, item)) == ("auth", [])
    assert collector.task()["state"] == "pending"
    monkeypatch.setenv("EBAY_CLIENT_SECRET", marketplace.SECRET)
    collector.reopen("source:prices.ebay")
    collector.work()
    assert points(collector.store, item)
    assert not [table for table, text in collector.everything() if "not-the-secret-4711" in text]


def test_pages_and_a_search_of_the_shop_are_collected_too(collector: Asker) -> None:
    seed, now = collector.web.web.seed, collector.web.now()
    true = [each for each in asked(seed, now) if each.thing == "fieldmaster-k7" and each.role is Role.TRUE]
    urls = tuple(f"https://shop.marketplace.example{each.path}" for each in true[:4])
    item = add_item(collector.store, item_of("fieldmaster-k7", urls=urls))
    options = {"url": "https://shop.marketplace.example/search?q={query}", "currency": "USD"}
    pages = add_source(
        collector.store, SourceSpec("shops", Adapter.PAGE, options={"currency": "USD"}, rate_per_minute=None)
    )
    search = add_source(
        collector.store, SourceSpec("shop", Adapter.SEARCH, options=options, rate_per_minute=None)
    )
    collect(collector, (item, pages), (item, search))
    found = [(each.source_id, each.title, each.price) for each in points(collector.store, item)]
    assert sorted(each for each in found if each[0] == pages) == sorted(
        (pages, each.title, each.cents) for each in true[:4]
    )
    assert {each for each in found if each[0] == search} >= {
        (search, each.title, each.cents) for each in true
    }
