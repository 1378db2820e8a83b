"""Listings without an id are found again by what they say, day after day: one listing stays one point."""

import pytest

from tests.apps.prices.collecting import (
    TITLE,
    URL,
    OpenWorld,
    add_item,
    add_source,
    collect,
    points,
    standing,
)
from tests.apps.prices.paged import address, page, paged_spec
from tests.harness.tasks import rows
from thresher.core.clock import DAY
from thresher.testing.world import World

HEADER = "title,price,currency,type,date,url\n"


def line(price: str, *, at: str = "https://lists.example/1", kind: str = "ask", date: str = "") -> str:
    return f"{TITLE},{price},USD,{kind},{date},{at}\n"


def look(made: World, item: int, source: int, *lines: str) -> None:
    """The list as it is on the next day."""
    made.advance(days=1)
    made.web.add({URL: HEADER + "".join(lines)})
    assert collect(made, item, source)["state"] == "succeeded"


def prices(made: World, item: int) -> list[tuple[str, int, bool]]:
    """Type and price of each point, and whether it is live."""
    return sorted((each.price_type.value, each.price, not each.ended_at) for each in points(made.store, item))


def history(made: World) -> list[tuple[str, int]]:
    return rows(made.store, "select what, price from price_observations order by observed_at, price")


@pytest.mark.promise(2)
def test_an_ask_that_stays_as_it_is_is_one_point_and_one_observation(world: OpenWorld) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        for day in range(8):
            other = f"https://lists.example/2?from=search-{day}"
            look(made, item, source, line("10.00"), line("12.00", at=other))
        assert prices(made, item) == [("ask", 1_000, True), ("ask", 1_200, True)]
        assert history(made) == [("new", 1_000), ("new", 1_200)]
        found = standing(made.store, item, source)
        assert (found.quiet, (found.due_at - found.ended_at) / DAY) == (7, 8)


@pytest.mark.promise(2)
def test_a_changed_asking_price_is_an_observation_of_the_same_point(world: OpenWorld) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        for price in ("10.00", "9.00", "9.00", "11.00"):
            look(made, item, source, line(price), line("50.00", at="https://lists.example/2"))
        assert prices(made, item) == [("ask", 1_100, True), ("ask", 5_000, True)]
        assert history(made) == [("new", 1_000), ("new", 5_000), ("changed", 900), ("changed", 1_100)]


@pytest.mark.promise(2)
@pytest.mark.parametrize("at", ["https://lists.example/1", ""])
def test_a_sale_without_a_date_is_counted_once_however_often_the_list_shows_it(
    world: OpenWorld, at: str
) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        for _ in range(3):
            look(made, item, source, line("10.00", at=at, kind="sold"))
        assert prices(made, item) == [("sold", 1_000, True)]
        assert history(made) == [("new", 1_000)]


def test_another_sale_of_the_same_thing_is_another_point(world: OpenWorld) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        look(made, item, source, line("10.00", kind="sold"))
        look(made, item, source, line("10.00", kind="sold"), line("11.00", kind="sold"))
        look(made, item, source, line("10.00", kind="sold", date="2023-11-01"))
        assert prices(made, item) == [("sold", 1_000, True), ("sold", 1_000, True), ("sold", 1_100, True)]


@pytest.mark.promise(2)
def test_a_list_that_is_never_read_to_its_end_counts_no_listing_twice(world: OpenWorld, paged: None) -> None:
    """Where each day makes a point of its own and only a whole list ends the old one, both stay for ever."""
    with world({}, **{"prices.max_pages": 1}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        for amount in (1_000, 1_000, 1_200):
            made.advance(days=1)
            made.web.add({address(): page([("https://paged.example/1", amount)], next="2")})
            collect(made, item, source)
            assert not standing(made.store, item, source).complete
        assert prices(made, item) == [("ask", 1_200, True)]


@pytest.mark.promise(2)
def test_two_pages_of_one_list_have_two_listings_however_alike_they_are(
    world: OpenWorld, paged: None
) -> None:
    alike = "https://paged.example/1"
    with world({}, **{"prices.cache_ttl": 3_600}) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec(rate_per_minute=6))
        for _ in range(2):
            made.advance(days=1)
            first, second = page([(alike, 1_000)], next="2"), page([(alike, 1_200)])
            made.web.add({address(): first, address("2"): second})
            for _ in range(2):  # the second time from the cache
                assert collect(made, item, source)["state"] == "succeeded"
        assert history(made) == [("new", 1_000), ("new", 1_200)]


def test_listings_that_cannot_be_told_apart_are_paired_by_their_price_alone(world: OpenWorld) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        look(made, item, source, line("10.00"), line("12.00"))
        look(made, item, source, line("12.00"), line("10.00"))
        assert history(made) == [("new", 1_000), ("new", 1_200)]
        look(made, item, source, line("12.00"), line("9.00"))
        assert history(made)[2:] == [("changed", 900)]
        look(made, item, source, line("13.00"), line("8.00"))
        assert sorted(history(made)[3:]) == [("ended", 900), ("ended", 1_200), ("new", 800), ("new", 1_300)]


def test_without_an_address_another_price_is_another_listing(world: OpenWorld) -> None:
    with world({}) as made:
        item, source = add_item(made.store), add_source(made.store)
        look(made, item, source, line("10.00", at=""))
        look(made, item, source, line("11.00", at=""))
        assert prices(made, item) == [("ask", 1_000, False), ("ask", 1_100, True)]
