"""refresh_prices: what is due is asked for once, in portions, and nothing else is."""

from typing import Any

import pytest

from tests.apps.prices.collecting import (
    URL,
    OpenWorld,
    add_item,
    add_source,
    asked,
    change,
    coins,
    collect,
    item_spec,
    spec,
    standing,
)
from tests.apps.prices.paged import address, page, paged_spec
from tests.harness.tasks import rows
from thresher.apps.prices.app import app as prices
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.model import ItemStatus, Origin
from thresher.apps.prices.refresh import EVERY, REFRESH
from thresher.apps.prices.store.collections import _DUE, _WAITING, FORGOTTEN
from thresher.apps.prices.store.items import save_item, set_status
from thresher.apps.prices.store.sources import retire_price_source
from thresher.core.clock import DAY, FOREVER, HOUR
from thresher.core.task import NewTask
from thresher.store import sources as gates
from thresher.testing.world import World

FILE = {URL: coins({"1": "10.00"})}


def refresh(made: World) -> dict[str, Any]:
    """One round, and all that follows from it at once; the task of the round."""
    (task,) = made.enqueue(NewTask(REFRESH))
    made.run_until_idle(within=0.01)
    return next(each for each in made.tasks(REFRESH) if each["id"] == task)


def collections(made: World) -> list[tuple[int, int]]:
    """The collections that were ever asked for, in their order."""
    return [(each["payload"]["item"], each["payload"]["source"]) for each in made.tasks("collect_prices")]


def test_the_schedule_asks_every_few_minutes() -> None:
    (schedule,) = [each for each in prices.schedules if each.task.kind == REFRESH]
    assert (schedule.every, schedule.task.key) == (EVERY, "refresh")
    assert EVERY <= 300


def test_a_new_item_and_a_new_source_are_looked_for_at_once(world: OpenWorld) -> None:
    with world(FILE) as made:
        first = add_item(made.store)
        lists = add_source(made.store)
        refresh(made)
        assert collections(made) == [(first, lists)]
        second = add_item(made.store, item_spec("another"))
        refresh(made)
        assert collections(made)[1:] == [(second, lists)]
        more = add_source(made.store, spec("more"))
        refresh(made)
        assert sorted(collections(made)[2:]) == [(first, more), (second, more)]
        assert refresh(made)["reason"] == "nothing is due"


def test_what_was_looked_for_is_due_again_after_its_wait_and_not_before(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        refresh(made)
        made.advance(hours=23)
        assert refresh(made)["state"] == "skipped"
        made.advance(hours=2)
        refresh(made)
        assert len(collections(made)) == 2
        assert standing(made.store, item, source).quiet == 1


def test_quiet_looks_make_it_rarer_and_a_price_that_moves_makes_it_sooner(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        waits = []
        for _ in range(8):
            collect(made, item, source)
            found = standing(made.store, item, source)
            waits.append((found.due_at - found.ended_at) / DAY)
            made.clock.advance(found.due_at - made.clock.now())
        assert waits == [1, 1, 1, 2, 2, 4, 8, 8]
        made.web.add({URL: coins({"1": "11.00"})})
        collect(made, item, source)
        found = standing(made.store, item, source)
        assert ((found.due_at - found.ended_at) / DAY, found.changes, found.quiet) == (1, 1, 0)


def test_the_interval_that_a_person_has_set_wins(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store, refresh=2 * HOUR), add_source(made.store)
        for _ in range(3):
            collect(made, item, source)
            found = standing(made.store, item, source)
            assert found.due_at - found.ended_at == 2 * HOUR
            made.advance(hours=3)


def test_the_same_answer_from_the_cache_is_no_quiet_look(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        for _ in range(5):
            collect(made, item, source)
        found = standing(made.store, item, source)
        assert (found.quiet, found.changes, asked(made)) == (0, 1, 1)


@pytest.mark.promise(8)
def test_after_a_failure_for_good_the_usual_wait_goes_on(world: OpenWorld) -> None:
    with world({URL: 503}, **{"retry.max_retries": 0}) as made:
        item, source = add_item(made.store), add_source(made.store)
        refresh(made)
        found = standing(made.store, item, source)
        assert (found.failures, found.due_at - found.ended_at) == (1, DAY)


# Never


def test_archived_items_and_retired_sources_are_never_asked_for_and_come_back_at_once(
    world: OpenWorld,
) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        with made.store.write() as session:
            set_status(session, item, ItemStatus.ARCHIVED, 1)
        assert refresh(made)["state"] == "skipped"
        add_item(made.store)
        with made.store.write() as session:
            retire_price_source(session, source, 1)
        made.advance(days=400)
        assert refresh(made)["state"] == "skipped"
        assert collections(made) == []
        add_source(made.store)
        refresh(made)
        assert collections(made) == [(item, source)]
        with made.store.write() as session:
            set_status(session, item, ItemStatus.ARCHIVED, 1)
            set_status(session, item, ItemStatus.PENDING, 1)
        refresh(made)
        assert collections(made) == [(item, source)] * 2


def test_an_item_that_names_its_sources_is_looked_for_there_only(world: OpenWorld) -> None:
    with world(FILE) as made:
        lists, more = add_source(made.store), add_source(made.store, spec("more"))
        item = add_item(made.store, item_spec(sources=("more",)))
        refresh(made)
        assert collections(made) == [(item, more)]
        add_item(made.store, item_spec(sources=("lists", "more")))
        refresh(made)
        assert sorted(collections(made)[1:]) == [(item, lists), (item, more)]


def test_an_archived_item_that_is_due_by_mistake_is_dropped(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        with made.store.write() as session:
            session.run("update price_items set archived_at = 1, status = 'archived'")
        refresh(made)
        assert (collections(made), standing(made.store, item, source).due_at) == ([], FOREVER)


def test_saying_the_same_again_asks_for_nothing_and_a_change_asks_at_once(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        refresh(made)
        for _ in range(3):
            add_item(made.store)
            add_source(made.store)
        assert refresh(made)["state"] == "skipped"
        add_item(made.store, item_spec(exclude=("replica",)))
        refresh(made)
        add_source(made.store, spec(tier=1))
        refresh(made)
        assert collections(made) == [(item, source)] * 3


# Not a flood


@pytest.mark.promise(4)
@pytest.mark.promise(5)
def test_thousands_of_new_items_come_in_portions_and_no_source_takes_the_place_of_another(
    world: OpenWorld,
) -> None:
    with world({}, **{"prices.max_waiting": 50}) as made:
        slow, other = add_source(made.store), add_source(made.store, spec("other"))
        with made.store.write() as session:
            for at in range(2_000):
                save_item(session, item_spec(f"coin {at}"), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, 1)
        for source in ("lists", "other"):
            gates.disable(made.store, f"source:prices.{source}", "by_hand", "not yet")
        for _ in range(3):
            refresh(made)
        assert counted(made) == {slow: 50, other: 50}
        assert made.refusals() == []
        gates.resume(made.store, "source:prices.other")
        made.web.add(FILE)
        refresh(made)
        refresh(made)
        assert counted(made)[slow] == 50
        assert counted(made)[other] == 100


def counted(made: World) -> dict[int, int]:
    found = collections(made)
    return {source: sum(each == source for _, each in found) for _, source in found}


@pytest.mark.promise(2)
def test_nothing_is_asked_for_twice_while_it_is_live(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        gates.disable(made.store, "source:prices.lists", "by_hand", "not yet")
        refresh(made)
        made.advance(hours=5)
        refresh(made)
        assert (collections(made), made.refusals()) == ([(item, source)], [])
        assert made.enqueue(collect_task(item, source)) == [None]


@pytest.mark.promise(1)
def test_a_pair_whose_task_was_cancelled_comes_back(world: OpenWorld) -> None:
    with world(FILE) as made:
        item, source = add_item(made.store), add_source(made.store)
        gates.disable(made.store, "source:prices.lists", "by_hand", "not yet")
        refresh(made)
        made.cancel(made.tasks("collect_prices")[0]["id"])
        gates.resume(made.store, "source:prices.lists")
        assert refresh(made)["state"] == "skipped"
        made.clock.advance(FORGOTTEN + 1)
        refresh(made)
        assert [each["state"] for each in made.tasks("collect_prices")] == ["cancelled", "succeeded"]
        assert standing(made.store, item, source).asked_at == 0


@pytest.mark.promise(4)
def test_what_is_due_is_read_from_an_index(world: OpenWorld) -> None:
    with world({}) as made:
        with made.store.write() as session:
            session.run(
                "insert into price_sources (name, adapter, spec, created_at, updated_at) values ('a', 'csv', '{}', 1, 1)"
            )
            for at in range(300):
                session.run(
                    "insert into price_collections (item_id, source_id, due_at) values (:at, :source, :due)",
                    {"at": at, "source": at % 3, "due": FOREVER},
                )
        due = {"source": 1, "now": 5, "since": 0, "limit": 10}
        waiting = {"source": 1, "since": 0, "limit": 10}
        with made.store.read() as session:
            if session.dialect.name == "sqlite":
                told = [
                    str(row)
                    for sql, said in ((_DUE, due), (_WAITING, waiting))
                    for row in session.rows(f"explain query plan {sql}", said)
                ]
                assert any("price_collections_due (source_id=? AND due_at<?)" in each for each in told), told
                assert any("price_collections_asked (source_id=? AND asked_at>?)" in each for each in told), (
                    told
                )
                assert not any("TEMP B-TREE FOR ORDER BY" in each for each in told), told


def test_answers_that_are_too_old_are_forgotten_in_a_round(world: OpenWorld) -> None:
    with world(FILE, **{"prices.cache_ttl": 600}) as made:
        add_item(made.store)
        add_source(made.store)
        add_source(made.store, spec("kept", cache_seconds=86_400))
        refresh(made)
        assert rows(made.store, "select count(*) from price_answers") == [(2,)]
        made.advance(minutes=11)
        refresh(made)
        ((left, name),) = rows(
            made.store,
            "select count(*), max(s.name) from price_answers a join price_sources s on s.id = a.source_id",
        )
        assert (left, name) == (1, "kept")
        change(made, **{"prices.cache_enabled": 0})
        refresh(made)
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]
        assert rows(
            made.store, "select count(*) from blob_owners where kind = 'app:prices' and owner < 0"
        ) == [(0,)]


def test_an_item_is_due_at_once_if_it_was_changed_after_its_last_page_was_asked_for(
    world: OpenWorld, paged: None
) -> None:
    changing: list[World] = []

    def answer(_: object) -> Any:
        if changing:
            add_item(changing.pop().store, item_spec(exclude=("replica",)))
        return page([("1", 100)])

    with world({address(): answer}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        changing.append(made)
        collect(made, item, source)
        assert standing(made.store, item, source).due_at == 0
