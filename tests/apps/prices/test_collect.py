"""collect_prices: what a collection files, what it proves, and what it leaves alone."""

from itertools import pairwise

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
from thresher.apps.prices.model import Adapter, ItemStatus, SourceSpec
from thresher.apps.prices.store.items import set_status
from thresher.apps.prices.store.sources import find_price_source, retire_price_source
from thresher.core.clock import FOREVER, HOUR, MINUTE, SECOND
from thresher.core.page import Verdict
from thresher.store import sources as gates
from thresher.testing.web import Reply


def test_a_collection_files_the_listings_of_the_item_and_has_it_valued(world: OpenWorld) -> None:
    with world({URL: coins({"1": "10.00", "2": "12.50"}) + "3,1921 Peace medal,99.00,USD,ask,,\n"}) as made:
        item, source = add_item(made.store), add_source(made.store)
        task = collect(made, item, source)
        assert task["state"] == "succeeded", task["reason"]
        assert task["reason"] == "3 listings on 1 page, 2 count"
        assert prices_of(made.store, item) == {"1": 1_000, "2": 1_250}
        found = standing(made.store, item, source)
        assert (found.verdict, found.complete, found.pages) == (Verdict.FOUND, True, 1)
        assert (found.listings, found.counted, found.failures, found.asked_at) == (3, 2, 0, 0)
        assert found.last_success_at == found.ended_at
        assert found.due_at > made.clock.now()
        assert [each["payload"]["item"] for each in made.tasks("value_item")] == [item]
        assert asked(made) == 1


# Pages


@pytest.mark.promise(2)
def test_a_list_is_filed_page_by_page_and_every_page_waits_for_the_rate_of_the_source(
    world: OpenWorld, paged: None
) -> None:
    pages = {
        address(): page([("1", 100), ("2", 200)], next="a"),
        address("a"): page([("3", 300)], next="b"),
        address("b"): page([("4", 400)]),
    }
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec(rate_per_minute=6))
        task = collect(made, item, source, within=60.0)
        assert task["state"] == "succeeded"
        assert prices_of(made.store, item) == {"1": 100, "2": 200, "3": 300, "4": 400}
        at = [each.at for each in made.web.requests if "paged" in each.url and "at=" in each.url]
        assert [later - sooner for sooner, later in pairwise(at)] == [10 * SECOND] * 2
        assert standing(made.store, item, source).pages == 3


@pytest.mark.promise(3)
def test_the_rate_of_a_source_holds_over_all_its_items(world: OpenWorld, paged: None) -> None:
    with world({address(): page([("1", 100)])}, **{"prices.cache_enabled": 0}) as made:
        source = add_source(made.store, paged_spec(rate_per_minute=60))
        items = [add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in range(8)]
        made.enqueue(*(collect_task(each, source) for each in items))
        made.run_until_idle()
        at = [each.at for each in made.web.requests if "at=" in each.url]
        assert len(at) == 8
        assert all(later - sooner >= SECOND for sooner, later in pairwise(at))


def test_too_many_pages_are_said_to_be_cut_short_and_end_no_asking_price(
    world: OpenWorld, paged: None
) -> None:
    pages = {
        address(): page([("1", 100)], next="a"),
        address("a"): page([("2", 200)], next="b"),
        address("b"): page([("3", 300)]),
    }
    with world(pages, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        change(made, **{"prices.max_pages": 2})
        made.web.add({address("a"): page([("9", 900)], next="b", unseen=["bids"])})
        task = collect(made, item, source)
        assert (
            "cut short after 2 pages (prices.max_pages), and nothing was asked for of bids" in task["reason"]
        )
        assert not standing(made.store, item, source).complete
        assert prices_of(made.store, item) == {"1": 100, "2": 200, "3": 300, "9": 900}


def test_an_asking_price_that_a_complete_list_no_longer_shows_ends(world: OpenWorld, paged: None) -> None:
    with world({address(): page([("1", 100), ("2", 200)])}, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        made.web.add({address(): page([("1", 150)])})
        made.advance(minutes=1)
        collect(made, item, source)
        assert prices_of(made.store, item) == {"1": 150}
        assert standing(made.store, item, source).changes == 2


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_cursor_that_no_longer_holds_begins_the_list_again(world: OpenWorld, paged: None) -> None:
    answers = [Reply(status=410), page([("2", 200)])]
    pages = {address(): page([("1", 100)], next="a"), address("a"): lambda _: answers.pop(0)}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        assert task["state"] == "succeeded"
        assert prices_of(made.store, item) == {"1": 100, "2": 200}
        found = standing(made.store, item, source)
        assert (found.pages, found.complete, found.listings) == (2, True, 2)
        assert asked(made, address()) == 2


def test_a_list_that_never_holds_still_is_cut_short_in_the_end(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): Reply(status=410)}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        assert (task["state"], asked(made, address())) == ("succeeded", 3)
        assert "cut short" in task["reason"]
        assert not standing(made.store, item, source).complete
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]


def test_a_list_that_was_interrupted_for_long_begins_again(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): page([("2", 200)])}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec(rate_per_minute=1))
        made.enqueue(collect_task(item, source))
        made.run_until_idle(within=1)
        assert asked(made, address()) == 1
        gates.pause(made.store, "source:prices.paged", 2 * HOUR, "somebody paused it")
        made.advance(hours=3)
        made.run_until_idle(within=300)
        assert [each["state"] for each in made.tasks("collect_prices")] == ["succeeded"]
        assert (asked(made, address()), asked(made, address("a"))) == (2, 1)


def test_an_item_that_is_changed_while_it_is_looked_for_is_looked_for_as_it_is_now(
    world: OpenWorld, paged: None
) -> None:
    pages = {
        address(): page([("1", 100)], next="a"),
        address("a"): page([("2", 200)]),
        address(None, "proof"): page([("3", 300)]),
    }
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec(rate_per_minute=1))
        made.enqueue(collect_task(item, source))
        made.run_until_idle(within=1)
        add_item(made.store, item_spec(include=("proof",)))
        made.run_until_idle(within=300)
        assert [each["state"] for each in made.tasks("collect_prices")] == ["succeeded"]
        assert asked(made, address("a")) == 0
        assert "3" in prices_of(made.store, item)


# Nothing found is not nothing there


@pytest.mark.promise(7)
def test_an_answer_that_proves_nothing_fails_the_collection_and_ends_nothing(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): page([("1", 100)])}, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        succeeded_at = standing(made.store, item, source).last_success_at
        made.web.add({address(): page([], "unknown", reason="a page without rows")})
        made.advance(minutes=5)
        task = collect(made, item, source)
        assert task["state"] == "failed"
        assert "a page without rows" in task["reason"]
        assert prices_of(made.store, item) == {"1": 100}
        found = standing(made.store, item, source)
        assert (found.verdict, found.failures, found.complete) == (Verdict.UNKNOWN, 1, False)
        assert found.last_success_at == succeeded_at
        assert len(made.events("price_collection_failed")) == 1


@pytest.mark.promise(7)
def test_rows_of_an_answer_that_proves_nothing_are_kept_and_end_nothing(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): page([("1", 100), ("2", 200)])}, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        made.web.add({address(): page([("3", 300)], "unknown")})
        made.advance(minutes=5)
        assert collect(made, item, source)["state"] == "failed"
        assert prices_of(made.store, item) == {"1": 100, "2": 200, "3": 300}


@pytest.mark.promise(7)
def test_a_list_that_breaks_off_is_not_complete(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): page([("2", 200)])}
    with world(pages, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        made.web.add({address("a"): page([], "unknown", reason="a shell")})
        made.advance(minutes=5)
        task = collect(made, item, source)
        assert (task["state"], "not complete: a shell" in task["reason"]) == ("succeeded", True)
        assert prices_of(made.store, item) == {"1": 100, "2": 200}
        assert not standing(made.store, item, source).complete


@pytest.mark.promise(7)
def test_an_empty_list_is_believed_the_second_time(world: OpenWorld, paged: None) -> None:
    with world({address(): page([("1", 100)])}, **{"prices.cache_enabled": 0}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        collect(made, item, source)
        made.web.add({address(): page([], "confirmed_empty")})
        made.advance(minutes=5)
        assert collect(made, item, source)["state"] == "succeeded"
        assert prices_of(made.store, item) == {"1": 100}
        made.advance(minutes=5)
        collect(made, item, source)
        assert prices_of(made.store, item) == {}


@pytest.mark.promise(7)
def test_a_source_that_used_to_bring_listings_and_proves_nothing_any_more_is_told_once(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): page([("1", 100)])}, **{"prices.cache_enabled": 0}) as made:
        source = add_source(made.store, paged_spec())
        items = [add_item(made.store, item_spec(f"Morgan dollar {at}")) for at in range(5)]
        collect(made, items[0], source)
        made.web.add({address(): page([], "unknown", reason="a page without rows")})
        for item in items:
            collect(made, item, source)
        (event,) = made.events("price_source_silent")
        assert event["detail"]["source"] == "paged"
        made.web.add({address(): page([("1", 100)])})
        collect(made, items[0], source)
        assert rows(made.store, "select unproven from price_sources") == [(0,)]


# Sources that wait, and sources in trouble


@pytest.mark.promise(1)
@pytest.mark.promise(10)
def test_a_paused_or_disabled_source_is_waited_for_and_never_succeeds_with_nothing(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): page([("1", 100)])}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        gates.disable(made.store, "source:prices.paged", "by_hand", "no more")
        made.enqueue(collect_task(item, source))
        made.run_until_idle(within=48 * 3_600)
        (task,) = made.tasks("collect_prices")
        assert (task["state"], asked(made, address())) == ("pending", 0)
        gates.resume(made.store, "source:prices.paged")
        gates.pause(made.store, "source:prices.paged", 30 * MINUTE, "for a while")
        made.run_until_idle(within=60)
        assert asked(made, address()) == 0
        made.advance(minutes=31)
        made.run_until_idle()
        (task,) = made.tasks("collect_prices")
        assert (task["state"], prices_of(made.store, item)) == ("succeeded", {"1": 100})


@pytest.mark.promise(10)
def test_a_source_that_is_paused_between_two_pages_is_waited_for(world: OpenWorld, paged: None) -> None:
    pages = {address(): page([("1", 100)], next="a"), address("a"): page([("2", 200)])}
    with world(pages) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec(rate_per_minute=1))
        made.enqueue(collect_task(item, source))
        made.run_until_idle(within=1)
        gates.pause(made.store, "source:prices.paged", 30 * MINUTE, "for a while")
        made.run_until_idle(within=20 * 60)
        assert (asked(made, address("a")), prices_of(made.store, item)) == (0, {"1": 100})
        made.run_until_idle(within=40 * 60)
        assert asked(made, address("a")) == 1


@pytest.mark.promise(10)
def test_a_source_that_asks_for_patience_is_paused_and_no_retry_is_spent(
    world: OpenWorld, paged: None
) -> None:
    answers = [Reply(status=429, headers={"retry-after": "900"})]
    first = page([("1", 100)])
    with world({address(): lambda _: answers.pop() if answers else first}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        assert (task["state"], task["failures"]) == ("pending", 0)
        with made.store.read() as session:
            (gate,) = gates.find_gates(session, name="source:prices.paged")
        assert gate["open_after"] >= made.clock.now() + 899 * SECOND
        assert gate["closed_tag"] == "rate_limited"
        made.advance(minutes=16)
        made.run_until_idle()
        assert [each["state"] for each in made.tasks("collect_prices")] == ["succeeded"]


@pytest.mark.promise(10)
def test_refused_credentials_disable_the_source_and_the_collection_waits(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): Reply(status=401)}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        with made.store.read() as session:
            (gate,) = gates.find_gates(session, name="source:prices.paged")
        assert (gate["open_after"], gate["closed_tag"], task["state"]) == (FOREVER, "auth", "pending")


@pytest.mark.promise(8)
@pytest.mark.promise(10)
def test_a_collection_that_fails_for_good_says_why_and_comes_back_as_usual(
    world: OpenWorld, paged: None
) -> None:
    with world({address(): Reply("down", 503)}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source, within=2 * 86_400)
        assert (task["state"], task["failures"]) == ("failed", 4)
        found = standing(made.store, item, source)
        assert (found.verdict, found.failures, found.last_success_at) == (Verdict.UNKNOWN, 1, 0)
        assert "503" in (found.reason or "")
        assert made.clock.now() < found.due_at < FOREVER
        (event,) = made.events("price_collection_failed")
        assert (event["detail"]["item"], event["detail"]["source"]) == (item, source)
        assert event["detail"]["item_name"] == "Morgan dollar"
        assert event["detail"]["source_name"] == "paged"


# What is not asked


@pytest.mark.parametrize("what", ["archived", "retired", "manual", "elsewhere", "unasked", "gone"])
def test_what_is_not_to_be_asked_is_skipped_with_its_reason_and_never_due(
    world: OpenWorld, paged: None, what: str
) -> None:
    with world({}) as made:
        said = {"elsewhere": item_spec(sources=("other",)), "unasked": item_spec(exclude=("unasked",))}
        item, source = add_item(made.store, said.get(what)), add_source(made.store, paged_spec())
        with made.store.write() as session:
            if what == "archived":
                set_status(session, item, ItemStatus.ARCHIVED, 1)
            if what == "retired":
                retire_price_source(session, source, 1)
            if what == "manual":
                session.run("update price_sources set adapter = 'manual'")
            if what == "gone":
                session.run("delete from price_items")
        task = collect(made, item, source)
        assert task["state"] == "skipped"
        words = {
            "archived": "archived",
            "retired": "retired",
            "manual": "manually",
            "elsewhere": "at other only",
            "unasked": "it says so itself",
            "gone": "not there",
        }
        assert words[what] in task["reason"]
        assert standing(made.store, item, source).due_at == FOREVER
        assert made.web.requests == []


# Sources and their words are strangers'


@pytest.mark.promise(18)
def test_hostile_titles_are_stored_as_text_and_long_notes_are_cut(world: OpenWorld, paged: None) -> None:
    evil = "1921 Morgan dollar <script>alert(1)</script> \x1b[31m'); drop table price_points;--"
    body = page([("1", 100)], title=evil, notes=["x" * 5_000] * 100, reason="\x00" * 10)
    with world({address(): body}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        task = collect(made, item, source)
        assert task["state"] == "succeeded"
        assert [each.price for each in points(made.store, item)] == [100]
        assert "\x1b" not in points(made.store, item)[0].title
        assert len(standing(made.store, item, source).reason or "") < 3_000


def test_the_row_of_a_collection_says_the_same_as_its_task(world: OpenWorld) -> None:
    bad = "7,1921 Morgan dollar,cheap,USD,ask,,\n"
    with world({URL: coins({"1": "10.00"}) + bad}) as made:
        item, source = add_item(made.store), add_source(made.store)
        task = collect(made, item, source)
        reason = standing(made.store, item, source).reason
        assert reason == task["reason"]
        assert "line 3: price: 'cheap' is no price" in (reason or "")


def test_a_source_that_is_said_again_keeps_the_limits_of_its_gate(world: OpenWorld) -> None:
    with world({}) as made:
        add_source(made.store, spec(rate_per_minute=30))
        add_source(made.store, spec(rate_per_minute=10, tier=2))
        with made.store.read() as session:
            found = find_price_source(session, "lists")
            assert found is not None
            (gate,) = gates.find_gates(session, name=found.gate)
        assert (found.spec.tier, gate["interval_us"]) == (2, 2 * SECOND)


# Product pages


def product(price: str) -> str:
    data = (
        '{"@context": "https://schema.org", "@type": "Product", "name": "1921 Morgan dollar", '
        f'"offers": {{"@type": "Offer", "price": "{price}", "priceCurrency": "USD"}}}}'
    )
    return f'<script type="application/ld+json">{data}</script><h1>1921 Morgan dollar</h1><p>${price}</p>'


@pytest.mark.promise(10)
def test_one_product_page_in_trouble_does_not_keep_the_others_from_being_read(world: OpenWorld) -> None:
    urls = tuple(f"https://shop{at}.example/morgan" for at in range(3))
    shell = '<div id="root"></div><script src="/app.js"></script>'
    with world({urls[0]: product("41.00"), urls[1]: shell, urls[2]: product("43.00")}) as made:
        source = add_source(made.store, SourceSpec("pages", Adapter.PAGE, rate_per_minute=None))
        item = add_item(made.store, item_spec(urls=urls))
        task = collect(made, item, source)
        assert task["state"] == "succeeded", task["reason"]
        assert sorted(prices_of(made.store, item).values()) == [4_100, 4_300]
        found = standing(made.store, item, source)
        assert (found.pages, found.complete) == (3, False)
        assert rows(made.store, "select count(*) from price_answers") == [(0,)]


@pytest.mark.promise(10)
def test_a_host_that_fails_is_blamed_and_not_the_source_of_all_product_pages(world: OpenWorld) -> None:
    url = "https://shop.example/morgan"
    with world({url: 503}) as made:
        source = add_source(made.store, SourceSpec("pages", Adapter.PAGE, rate_per_minute=None))
        item = add_item(made.store, item_spec(urls=(url,)))
        collect(made, item, source, within=1)
        with made.store.read() as session:
            (of_source,) = gates.find_gates(session, name="source:prices.pages")
            (of_host,) = gates.find_gates(session, name="host:shop.example")
        assert (of_source["failures"], of_host["failures"]) == (0, 1)


@pytest.mark.promise(10)
def test_a_source_with_addresses_of_its_own_is_blamed_and_not_its_host(world: OpenWorld) -> None:
    with world({URL: 503}) as made:
        item, source = add_item(made.store), add_source(made.store)
        collect(made, item, source, within=1)
        with made.store.read() as session:
            (of_source,) = gates.find_gates(session, name="source:prices.lists")
            (of_host,) = gates.find_gates(session, name="host:lists.example")
        assert (of_source["failures"], of_host["failures"]) == (1, 0)


@pytest.mark.promise(8)
def test_a_worker_without_the_keys_of_a_source_leaves_it_waiting_and_names_them(
    world: OpenWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EBAY_CLIENT_ID", raising=False)
    monkeypatch.setenv("EBAY_CLIENT_SECRET", "some-secret-0815")
    with world({}) as made:
        item = add_item(made.store)
        source = add_source(made.store, SourceSpec("bay", Adapter.MARKETPLACE, "ebay"))
        task = collect(made, item, source, within=10)
        assert (task["state"], task["failures"]) == ("pending", 0)
        assert task["reason"] == "bay needs EBAY_CLIENT_ID, which is not set where this worker runs"
        assert asked(made) == 0
