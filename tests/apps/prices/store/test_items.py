"""Items and sources as they are stored: known by name, kept when archived or retired."""

from thresher.apps.prices.model import (
    Adapter,
    ItemSpec,
    ItemStatus,
    Origin,
    RuleKind,
    SourceRule,
    SourceSpec,
)
from thresher.apps.prices.store.items import find_item, list_items, save_item, set_status
from thresher.apps.prices.store.sources import (
    find_price_source,
    list_price_sources,
    retire_price_source,
    save_price_source,
)
from thresher.core.clock import SECOND
from thresher.store.sources import find_gates
from thresher.store.store import Store

MORGAN = ItemSpec("1921-D Morgan", "coin", {"denomination": "dollar", "year": "1921"}, include=("silver",))
BAY = SourceSpec(
    "bay",
    Adapter.MARKETPLACE,
    "ebay",
    {"market": "EBAY_US"},
    tier=2,
    reputation=0.8,
    rate_per_minute=30,
    rules=(SourceRule(RuleKind.EXCLUDE_KEYWORDS, ("replica", "copy"), 5),),
)


def test_an_item_is_read_as_it_was_said(store: Store) -> None:
    with store.write() as session:
        saved = save_item(session, MORGAN, ItemStatus.ATTRIBUTED, Origin.FILE, 5 * SECOND, 7)
        found = find_item(session, "1921-D Morgan")
        assert found is not None
        assert (found.id, found.spec, found.status, found.origin) == (
            saved,
            MORGAN,
            ItemStatus.ATTRIBUTED,
            Origin.FILE,
        )
        assert find_item(session, str(saved)) == found
        assert (found.refresh, found.created_at, found.is_live) == (5 * SECOND, 7, True)


def test_an_item_that_is_said_again_keeps_its_id_and_comes_back_from_the_archive(store: Store) -> None:
    with store.write() as session:
        first = save_item(session, MORGAN, ItemStatus.PENDING, Origin.PERSON, 0, 1)
        set_status(session, first, ItemStatus.ARCHIVED, 2)
        assert list_items(session) == []
        assert [each.archived_at for each in list_items(session, archived=True)] == [2]
        assert save_item(session, MORGAN, ItemStatus.ATTRIBUTED, Origin.PERSON, 0, 3) == first
        assert [(each.archived_at, each.created_at) for each in list_items(session)] == [(0, 1)]
        assert list_items(session, status=ItemStatus.PENDING) == []


def test_a_source_has_a_gate_with_its_rate_and_a_breaker(store: Store) -> None:
    with store.write() as session:
        save_price_source(session, BAY, Origin.PERSON, 1)
        found = find_price_source(session, "bay")
        assert found is not None
        assert (found.spec, found.gate) == (BAY, "source:prices.bay")
        (gate,) = find_gates(session, name=found.gate)
        assert (gate["interval_us"], gate["trip_after"], gate["cooldown_us"]) == (
            2 * SECOND,
            5,
            300 * SECOND,
        )


def test_a_source_that_is_retired_is_kept_and_may_return(store: Store) -> None:
    with store.write() as session:
        saved = save_price_source(session, BAY, Origin.FILE, 1)
        assert retire_price_source(session, saved, 2)
        assert not retire_price_source(session, saved, 3)
        assert list_price_sources(session) == []
        assert [each.retired_at for each in list_price_sources(session, retired=True)] == [2]
        assert save_price_source(session, BAY, Origin.FILE, 4) == saved
        assert len(list_price_sources(session)) == 1
