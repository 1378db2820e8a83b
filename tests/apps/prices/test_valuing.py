"""An item is valued after every change of its evidence: once for a burst, and never too rarely."""

import pickle
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tests.apps.prices.collecting import POLITE, add_item, add_source, coins, spec
from tests.apps.prices.listings import filed, row
from tests.apps.prices.valued_items import (
    MORGAN,
    collection,
    collections,
    history,
    opened,
    sales,
    scene,
    status,
    valued,
)
from tests.harness.databases import Database
from tests.harness.databases import file_and_server as pytest_generate_tests
from thresher.apps.prices.model import ItemStatus, Origin, PriceType
from thresher.apps.prices.rates import DayRate
from thresher.apps.prices.store.items import save_item, set_status
from thresher.apps.prices.store.points import live_points
from thresher.apps.prices.store.rates import save_rates
from thresher.apps.prices.store.valuations import (
    LivePoint,
    ValuationInputs,
    live_evidence,
    request_valuation,
    store_valuation,
    valuation_inputs,
)
from thresher.apps.prices.valuation.options import ValuationOptions
from thresher.apps.prices.valuing import EVERY, value_points, value_task
from thresher.core.clock import HOUR
from thresher.core.task import NewTask
from thresher.testing.world import World

__all__ = ["pytest_generate_tests"]


def run(world: World) -> list[str]:
    """Value the item as a person asks for it; the states of all valuations so far."""
    world.enqueue(value_task(1))
    world.run_until_idle()
    return [task["state"] for task in world.tasks("value_item")]


def compute(world: World, item: int = 1, after: int | None = None) -> Mapping[str, Any]:
    """Perform a valuation up to its settlement, as a worker that is slow to settle."""
    with world.store.read() as session:
        found = valuation_inputs(
            session, {"item": item, "after": after, "rates_max_age": 7}, world.clock.now()
        )
    assert isinstance(found, ValuationInputs)
    made = value_points(
        found.item, found.points, found.rates, found.reputations, ValuationOptions(), found.read_at
    )
    return {"valuation": made, "asked": found.asked, "read_at": found.read_at, "alerts": []}


def settle(world: World, said: Mapping[str, Any]) -> Mapping[str, int]:
    with world.store.write() as session:
        return store_valuation(session, said, world.clock.now())


def file(world: World, price: int) -> None:
    """A collection that has been settled, and whose valuation nobody has begun."""
    with world.store.write() as session:
        now = world.clock.now()
        filed(session, [row(price, at=now, external_id=str(price), price_type=PriceType.SOLD)], now)
        request_valuation(session, {"item": 1, "task": price}, now)
    world.enqueue(value_task(1, price))


# One valuation of one item


def test_an_item_with_evidence_is_priced(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 4_500, 5_000)
        assert run(here) == ["succeeded"]
        found = valued(here)
        assert found.bands is not None
        assert (found.bands.median, found.sold_count, found.source_count) == (4_500, 3, 1)
        assert found.explanation == (
            "3 sales from 1 source since 2023-11-14; the middle price is 45.00 USD, and about three in five lie "
            "between 40.00 USD and 45.00 USD."
        )
        assert status(here) is ItemStatus.PRICED
        assert [each.median for each in history(here)] == [4_500]


def test_a_valuation_is_read_as_it_was_made(database: Database) -> None:
    with opened(database) as here:
        scene(here, replace(MORGAN, attributes={**MORGAN.attributes, "cleaned": "yes"}))
        sales(here, 4_000, 4_500, 5_000, 4_600, 990_000)
        said = compute(here)
        assert settle(here, said) == {"valuations_stored": 1}
        assert valued(here) == said["valuation"]
        assert valued(here).parts
        assert valued(here).left_out == {"outliers": 1}


def test_an_item_without_evidence_has_no_figures_and_is_not_priced(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        run(here)
        found = valued(here)
        assert (found.bands, found.confidence, found.explanation) == (
            None,
            None,
            "No price has been found yet.",
        )
        assert status(here) is ItemStatus.ATTRIBUTED
        assert [(each.median, each.confidence, each.comp_count) for each in history(here)] == [
            (None, None, 0)
        ]


def test_the_same_evidence_writes_nothing(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 4_500)
        run(here)
        first = valued(here)
        here.advance(hours=1)
        run(here)
        assert valued(here) == first
        assert len(history(here)) == 1
        assert here.tasks("value_item")[1]["state"] == "succeeded"


def test_history_has_a_row_only_where_a_figure_changed(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 4_500)
        run(here)
        here.advance(days=3)  # the prices are older: the basis is another one, the figures are the same
        run(here)
        assert valued(here).computed_at == here.clock.now()
        assert [each.median for each in history(here)] == [4_000]
        sales(here, 4_000, 4_500, 4_600)
        run(here)
        assert [each.median for each in history(here)] == [4_500, 4_000]


def test_an_item_whose_evidence_is_gone_is_not_priced_any_more(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000)
        run(here)
        with here.store.write() as session:
            session.run("update price_points set counts = 0, reason = 'a replica'")
        run(here)
        assert valued(here).bands is None
        assert status(here) is ItemStatus.ATTRIBUTED
        assert [each.median for each in history(here)] == [None, 4_000]


def test_an_archived_item_is_not_valued(database: Database) -> None:
    with opened(database) as here:
        item = scene(here)
        sales(here, 4_000)
        said = compute(here)
        with here.store.write() as session:
            set_status(session, item, ItemStatus.ARCHIVED, here.clock.now())
        assert run(here) == ["skipped"]
        assert settle(here, said) == {}
        assert history(here) == []
        assert status(here) is ItemStatus.ARCHIVED


def test_an_item_that_lacks_attributes_is_valued_and_stays_pending(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        with here.store.write() as session:
            save_item(session, MORGAN, ItemStatus.PENDING, Origin.PERSON, 0, here.clock.now())
        sales(here, 4_000)
        run(here)
        assert valued(here).bands is not None
        assert status(here) is ItemStatus.PENDING


def test_asks_that_have_ended_do_not_count(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 9_000, kind=PriceType.ASK)
        with here.store.write() as session:
            session.run("update price_points set ended_at = 5 where price = 9000")
        run(here)
        assert valued(here).comp_count == 1


def test_prices_in_other_currencies_are_converted_with_the_rates_of_the_project(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        with here.store.write() as session:
            days = [
                DayRate(date(2023, 11, day), "USD", Decimal(rate)) for day, rate in ((13, "1.25"), (1, "9"))
            ]
            save_rates(session.dialect, session, "EUR", days)
            said: dict[str, Any] = {"price_type": PriceType.SOLD, "currency": "EUR"}
            rows = [
                row(4_000, external_id="1", **said),
                row(4_000, external_id="2", listed_on=date(2023, 10, 20), **said),
            ]
            filed(session, rows, here.clock.now())
        run(here)
        found = valued(here)
        assert found.bands is not None
        assert (found.bands.median, found.comp_count) == (5_000, 1)
        assert found.left_out == {"no exchange rate from EUR": 1}


def test_a_valuation_looks_at_all_points_that_are_live(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 4_500)
        sales(here, 5_000, 5_500, kind=PriceType.ASK)
        with here.store.write() as session:
            session.run("update price_points set ended_at = 5 where price = 5500")
            session.run(
                "update price_points set counts = 0, reason = 'no', grade = 'MS65' where price = 4000"
            )
            wanted = live_points(session, 1)
            found = live_evidence(session, 1)
            assert len(found) == 3
            assert [[getattr(each, name) for name in LivePoint._fields] for each in wanted] == [
                list(each) for each in found
            ]
            assert live_evidence(session, 1, limit=2) == found[:2]


def test_many_points_are_valued_in_a_process_of_their_own(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher.apps.prices.valuing.LARGE", 2)
    with opened(database) as here:
        scene(here)
        sales(here, 4_000, 4_500, 5_000)
        assert run(here) == ["succeeded"]
        assert valued(here).comp_count == 3
        with here.store.read() as session:
            found = valuation_inputs(session, {"item": 1}, here.clock.now())
        assert pickle.loads(pickle.dumps(found)) == found


# Bursts and races


def test_a_burst_of_collections_is_valued_once(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        here.enqueue(*(collection(4_000 + at) for at in range(20)))
        here.run_until_idle(within=0)
        states = [task["state"] for task in here.tasks("value_item")]
        assert (states.count("succeeded"), states.count("skipped")) == (1, 19)
        assert valued(here).comp_count == 20
        assert here.refusals() == []


def test_a_collection_that_ends_while_the_item_is_valued_is_valued_after_it(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        here.enqueue(collection(4_000))
        here.run_until_idle(within=0)
        slow = compute(here)  # it has read the points, and settles late
        here.advance(seconds=1)
        here.enqueue(collection(6_000))
        here.run_until_idle(within=0)
        assert valued(here).comp_count == 2
        assert settle(here, slow) == {"valuations_outdated": 1}
        assert valued(here).comp_count == 2
        assert len(history(here)) == 2


def test_a_request_of_a_person_keeps_no_task_from_its_work(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        file(here, 4_000)
        with here.store.write() as session:
            request_valuation(session, {"item": 1}, here.clock.now())
        here.run_until_idle(within=0)
        assert valued(here).comp_count == 1
        assert compute(here, after=77)["asked"] == 2


def test_a_valuation_that_settles_before_the_newer_one_does_not_stop_it(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        file(here, 4_000)
        slow = compute(here)
        file(here, 6_000)
        assert settle(here, slow) == {"valuations_stored": 1}
        here.run_until_idle(within=0)
        assert valued(here).comp_count == 2


def test_a_collection_that_ends_in_the_middle_of_a_valuation_is_valued_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(database) as here:
        scene(here)
        later = [6_000, 7_000]

        def interrupted(*said: Any) -> Any:
            if later:
                file(here, later.pop())
            return value_points(*said)

        monkeypatch.setattr("thresher.apps.prices.valuing.value_points", interrupted)
        here.enqueue(collection(4_000))
        here.run_until_idle(within=0)
        assert later == []
        assert valued(here).comp_count == 3


def test_collections_of_one_run_are_all_valued(database: Database) -> None:
    # One key for all would be refused here: a task with the same kind and key has ended in the lineage.
    with opened(database) as here:
        scene(here)
        root = here.enqueue(collections((4_000,), (5_000,), (6_000,)))[0]
        here.run_until_idle(within=30)
        found = here.tasks("value_item")
        assert {task["tracking_id"] for task in found} == {root}
        assert here.refusals() == []
        assert valued(here).comp_count == 3


def test_an_item_is_valued_with_what_all_sources_of_one_refresh_have_found(database: Database) -> None:
    urls = [f"https://lists{at}.example/coins.csv" for at in range(4)]
    pages = {url: coins({f"{at}": f"{10 + at}.00"}) for at, url in enumerate(urls)}
    with opened(database, pages, settings=POLITE) as here:
        item = add_item(here.store)
        for at, url in enumerate(urls):
            add_source(here.store, spec(f"lists{at}", url))
        here.enqueue(NewTask("refresh_prices", key="refresh"))
        here.run_until_idle()
        assert (valued(here, item).ask_count, valued(here, item).source_count) == (4, 4)
        assert here.refusals() == []


def test_a_valuation_that_was_refused_or_cancelled_is_made_by_the_sweep(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000)
        with here.store.write() as session:
            request_valuation(session, {"item": 1, "task": 999}, here.clock.now())
        here.run_until_idle(within=0)
        assert here.tasks("value_item") == []  # a request that young has a task of its own
        here.advance(seconds=EVERY)
        here.run_until_idle(within=0)
        assert valued(here).comp_count == 1
        here.advance(seconds=EVERY)
        here.run_until_idle(within=0)
        assert len(here.tasks("value_item")) == 1


def test_the_sweep_values_an_item_that_somebody_has_changed(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        sales(here, 4_000)
        run(here)
        here.advance(hours=1)
        with here.store.write() as session:
            changed = replace(MORGAN, attributes={**MORGAN.attributes, "grade": "MS65"})
            save_item(session, changed, ItemStatus.ATTRIBUTED, Origin.PERSON, 0, here.clock.now())
        here.advance(seconds=EVERY)
        here.run_until_idle(within=0)
        assert valued(here).bands is None
        assert "none was found for grade MS65" in valued(here).explanation


def test_the_sweep_values_again_what_has_aged(database: Database) -> None:
    with opened(database, settings={"prices.value.every": 24.0}) as here:
        scene(here)
        sales(here, 4_000)
        run(here)
        here.advance(hours=23)
        here.run_until_idle(within=0)
        assert len(here.tasks("value_item")) == 1
        here.advance(hours=2)
        here.run_until_idle(within=0)
        assert valued(here).computed_at == here.clock.now()
        assert here.clock.now() - valued(here).computed_at < HOUR


def test_the_sweep_goes_on_through_many_items(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thresher.apps.prices.valuing.BATCH", 2)
    with opened(database) as here:
        scene(here)
        with here.store.write() as session:
            for number in range(2, 6):
                save_item(
                    session,
                    replace(MORGAN, name=f"coin {number}"),
                    ItemStatus.ATTRIBUTED,
                    Origin.PERSON,
                    0,
                    1,
                )
            for number in range(1, 6):
                request_valuation(session, {"item": number}, here.clock.now())
        here.advance(seconds=2 * EVERY)
        here.run_until_idle(within=0)
        assert sorted(task["payload"]["item"] for task in here.tasks("value_item")) == [1, 2, 3, 4, 5]


def test_what_fails_for_good_is_not_asked_for_again_until_something_is_found(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*said: object) -> None:
        raise NameError("a mistake")

    with opened(database) as here:
        scene(here)
        with monkeypatch.context() as patch:
            patch.setattr("thresher.apps.prices.valuing.value_points", broken)
            here.enqueue(collection(4_000))
            here.run_until_idle(within=0)
            here.advance(seconds=3 * EVERY)
            here.run_until_idle(within=0)
        assert [task["state"] for task in here.tasks("value_item")] == ["failed"]
        here.enqueue(collection(5_000))
        here.run_until_idle(within=0)
        assert valued(here).comp_count == 2
