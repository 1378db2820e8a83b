"""The cache of answers: whoever asks the same gets listings of its own, and nothing that was not proved."""

from pathlib import Path
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
    points,
    prices_of,
    spec,
    standing,
)
from tests.apps.prices.paged import address, page, paged_spec
from tests.harness.tasks import rows
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.service.cache import set_cache
from thresher.apps.prices.store.answers import MAX_PAGES
from thresher.apps.prices.store.sources import find_price_source
from thresher.core.clock import HOUR, MINUTE, SECOND
from thresher.core.errors import UsageError
from thresher.core.page import Verdict
from thresher.store import sources as gates
from thresher.store.prune import prune


@pytest.mark.promise(9)
def test_two_identical_items_within_the_hour_both_get_all_their_points(world: OpenWorld) -> None:
    """The cached points of the first coin used to be filed under the first coin again, and the second was
    valued by none."""
    with world({URL: coins({"1": "10.00", "2": "12.50"})}) as made:
        source = add_source(made.store)
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        made.advance(minutes=30)
        task = collect(made, second, source)
        assert task["state"] == "succeeded"
        assert prices_of(made.store, first) == prices_of(made.store, second) == {"1": 1_000, "2": 1_250}
        assert {each.item_id for each in points(made.store, second)} == {second}
        assert asked(made) == 1
        assert [each["payload"]["item"] for each in made.tasks("value_item")] == [first, second]


def test_a_collection_from_the_cache_is_shown_as_such_and_says_when_its_prices_were_seen(
    world: OpenWorld,
) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        source = add_source(made.store)
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        seen_at = points(made.store, first)[0].observed_at
        made.advance(minutes=30)
        task = collect(made, second, source)
        assert task["reason"].startswith("from the cache: ")
        assert standing(made.store, second, source).from_cache
        assert not standing(made.store, first, source).from_cache
        assert [each.observed_at for each in points(made.store, second)] == [seen_at]


@pytest.mark.promise(10)
def test_the_cache_answers_while_the_source_is_paused_and_spends_nothing_of_its_rate(
    world: OpenWorld,
) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        source = add_source(made.store, spec(rate_per_minute=1))
        first, second, third = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "abc")
        collect(made, first, source)
        with made.store.read() as session:
            (before,) = gates.find_gates(session, name="source:prices.lists")
        collect(made, second, source, within=1)
        with made.store.read() as session:
            (after,) = gates.find_gates(session, name="source:prices.lists")
        assert after["tat"] == before["tat"]
        gates.pause(made.store, "source:prices.lists", HOUR, "for a while")
        assert collect(made, third, source, within=1)["state"] == "succeeded"


@pytest.mark.parametrize(
    ("said", "own", "setting", "fresh", "stale"),
    [
        (None, None, 3_600, 59 * MINUTE, 61 * MINUTE),
        (600, None, 3_600, 9 * MINUTE, 11 * MINUTE),
        (600, 1_200, 3_600, 19 * MINUTE, 21 * MINUTE),
        (None, None, 60, 59 * SECOND, 61 * SECOND),
    ],
    ids=["the setting", "the source", "a person", "a shorter setting"],
)
def test_an_answer_is_used_as_long_as_is_said(
    world: OpenWorld, said: int | None, own: int | None, setting: float, fresh: int, stale: int
) -> None:
    with world({URL: coins({"1": "10.00"})}, **{"prices.cache_ttl": setting}) as made:
        source = add_source(made.store, spec(cache_seconds=said))
        if own is not None:
            set_cache(made.store, "lists", own)
        item = add_item(made.store)
        collect(made, item, source)
        made.clock.advance(fresh)
        collect(made, item, source)
        assert asked(made) == 1
        made.clock.advance(stale - fresh)
        collect(made, item, source)
        assert asked(made) == 2


def test_the_cache_is_switched_off_and_on_while_everything_runs(world: OpenWorld) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        item, source = add_item(made.store), add_source(made.store)
        collect(made, item, source)
        change(made, **{"prices.cache_enabled": 0})
        collect(made, item, source)
        assert asked(made) == 2
        change(made, **{"prices.cache_enabled": 1})
        collect(made, item, source)
        assert asked(made) == 2


def test_a_person_sets_the_cache_of_one_source_and_gives_it_back(world: OpenWorld) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        item, source = add_item(made.store), add_source(made.store, spec(cache_seconds=600))
        set_cache(made.store, "lists", 0)
        collect(made, item, source)
        collect(made, item, source)
        assert asked(made) == 2
        add_source(made.store, spec(cache_seconds=600))  # the project file says the same as before
        with made.store.read() as session:
            found = find_price_source(session, "lists")
        assert found is not None
        assert (found.cache_seconds, found.spec.cache_seconds) == (0, 600)
        set_cache(made.store, "lists", None)
        collect(made, item, source)
        collect(made, item, source)
        assert asked(made) == 3


@pytest.mark.parametrize("wrong", [-1, 31 * 86_400, True])
def test_a_time_that_no_cache_can_have_is_refused(world: OpenWorld, wrong: Any) -> None:
    with world({}) as made:
        add_source(made.store)
        with pytest.raises(UsageError, match="must be from 0 to"):
            set_cache(made.store, "lists", wrong)
        with pytest.raises(UsageError, match="no price source 'nowhere'"):
            set_cache(made.store, "nowhere", 60)


def test_the_cache_survives_a_restart(world: OpenWorld) -> None:
    pages = {URL: coins({"1": "10.00"})}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store)
        collect(made, item, source)
    with world(pages) as again:
        again.advance(minutes=5)
        collect(again, item, source)
        assert asked(again) == 0
        assert standing(again.store, item, source).from_cache


def test_the_key_is_the_whole_query_grade_and_keywords_included(world: OpenWorld, paged: None) -> None:
    pages = {
        address(): page([("1", 100)]),
        address(None, "proof"): page([("2", 200)]),
    }
    with world(pages) as made:
        source = add_source(made.store, paged_spec())
        plain = add_item(made.store)
        proof = add_item(made.store, item_spec("Morgan dollar proof", include=("proof",)))
        graded = add_item(made.store, item_spec("Morgan dollar MS65", attributes={"grade": "MS65"}))
        for item in (plain, proof, graded):
            collect(made, item, source)
        assert rows(made.store, "select count(*) from price_answers") == [(3,)]
        assert prices_of(made.store, proof) == {"2": 200}
        add_source(made.store, paged_spec(options={"market": "other"}))
        collect(made, plain, source)
        assert asked(made, address()) == 3


@pytest.mark.promise(7)
@pytest.mark.parametrize("verdict", ["unknown", "confirmed_empty"])
def test_an_answer_without_proof_or_without_listings_is_not_kept(
    world: OpenWorld, paged: None, verdict: str
) -> None:
    with world({address(): page([], verdict)}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]
        collect(made, item, source)
        assert asked(made, address()) == 2


@pytest.mark.promise(7)
def test_a_list_that_broke_off_is_not_kept(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): page([], "unknown")}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]


def test_a_list_of_several_pages_is_answered_whole(world: OpenWorld, paged: None) -> None:
    pages = {
        address(): page([("1", 100), ("2", 200)], next="a"),
        address("a"): page([("3", 300)]),
    }
    with world(pages) as made:
        source = add_source(made.store, paged_spec())
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        collect(made, second, source)
        found = standing(made.store, second, source)
        assert (found.from_cache, found.pages, found.listings, found.complete) == (True, 2, 3, True)
        assert prices_of(made.store, second) == {"1": 100, "2": 200, "3": 300}


def test_an_answer_that_was_cut_short_is_used_and_said_to_be_so(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): page([("2", 200)], next="b")}
    with world(pages, **{"prices.max_pages": 2}) as made:
        source = add_source(made.store, paged_spec())
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        task = collect(made, second, source)
        assert "cut short after 2 pages" in task["reason"]
        assert not standing(made.store, second, source).complete


def test_an_answer_of_too_many_pages_is_not_kept(world: OpenWorld, paged: None) -> None:
    pages = {
        address(None if at == 0 else f"c{at}"): page([(f"{at}", 100 + at)], next=f"c{at + 1}")
        for at in range(40)
    }
    with world(pages, **{"prices.max_pages": MAX_PAGES + 1}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        assert collect(made, item, source)["state"] == "succeeded"
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]


def test_an_answer_with_long_addresses_is_read_to_its_end_and_not_kept(world: OpenWorld, paged: None) -> None:
    cursors = [f"{at}-" + "x" * 3_000 for at in range(15)]
    pages = {
        address(cursor): page([(f"{at}", 100 + at)], next=following)
        for at, (cursor, following) in enumerate(zip((None, *cursors), (*cursors, None), strict=True))
    }
    with world(pages, **{"prices.max_pages": 100}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        assert task["state"] == "succeeded", task["reason"]
        assert standing(made.store, item, source).pages == 16
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]


def test_a_body_that_was_pruned_is_a_miss(world: OpenWorld) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        source = add_source(made.store)
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        with made.store.write() as session:
            session.run("delete from blob_owners")
            session.run("delete from blobs")
        task = collect(made, second, source)
        assert (task["state"], asked(made)) == ("succeeded", 2)
        assert prices_of(made.store, second) == {"1": 1_000}


@pytest.mark.promise(1)
def test_pruning_keeps_the_bodies_of_answers_that_are_kept(world: OpenWorld, paged: None) -> None:
    # None of its listings is filed, so nothing but the answer needs the body.
    body = page([("1", None)])
    with world(
        {address(): body}, **{"prices.cache_ttl": 30 * 86_400, "history.retention": 1, "history.bodies": 1}
    ) as made:
        source = add_source(made.store, paged_spec())
        first, second = (add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab")
        collect(made, first, source)
        made.advance(days=20)
        prune(made.store)
        assert made.tasks("collect_prices") == []
        collect(made, second, source)
        assert asked(made, address()) == 1
        assert standing(made.store, second, source).verdict is Verdict.FOUND


@pytest.mark.promise(2)
def test_of_two_tasks_that_ask_the_same_at_once_the_second_uses_what_the_first_has_stored(
    world: OpenWorld,
) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        source = add_source(made.store, spec(rate_per_minute=1))
        items = [add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in "ab"]
        made.enqueue(*(collect_task(each, source) for each in items))
        made.run_until_idle(within=90)
        assert asked(made) == 1
        assert [prices_of(made.store, each) for each in items] == [{"1": 1_000}] * 2


def test_an_older_answer_never_takes_the_place_of_a_newer_one(world: OpenWorld) -> None:
    with world({URL: coins({"1": "10.00"})}) as made:
        item, source = add_item(made.store), add_source(made.store)
        collect(made, item, source)
        made.advance(hours=2)
        collect(made, item, source)
        (newer,) = rows(made.store, "select fetched_at from price_answers")
        made.clock.advance(-HOUR)
        change(made, **{"prices.cache_enabled": 0})
        collect(made, item, source)
        assert rows(made.store, "select fetched_at from price_answers") == [newer]


def test_a_file_of_the_project_is_read_anew_every_time(world: OpenWorld, tmp_path: Path) -> None:
    (tmp_path / "coins.csv").write_text(coins({"1": "10.00"}))
    with world({}) as made:
        source = add_source(made.store, spec(options={"file": "coins.csv", "folder": str(tmp_path)}))
        item = add_item(made.store)
        collect(made, item, source)
        (tmp_path / "coins.csv").write_text(coins({"1": "11.00"}))
        made.advance(minutes=1)
        collect(made, item, source)
        assert prices_of(made.store, item) == {"1": 1_100}
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]
