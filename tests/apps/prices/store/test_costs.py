"""What price points cost a database, counted and not timed: every statement uses an index, and a page costs
the same however many points there are.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.apps.prices.listings import filed, row
from tests.harness.costs import instructions, plans, rows_read, scans, used
from tests.harness.databases import only_files, only_postgres
from tests.harness.hand import hands
from thresher.apps.prices.point_row import PointRow
from thresher.apps.prices.store.points import (
    end_asks,
    evidence_of,
    live_points,
    observations_of,
    points_of,
)
from thresher.store.store import Store

TABLES = ("price_points", "price_observations")
LISTS = ("CONSTANT ROW", "json_each VIRTUAL TABLE INDEX 1:")  # no tables: what a statement is given
FEW, MANY = 2_000, 50_000  # points of other items
OTHER = 1_000  # their items begin here
_POINTS = """insert into price_points (item_id, source_id, dedupe_key, price, currency, price_type, unit, quantity,
        match_strength, counts, title, first_seen, observed_at, judged_at, evidence)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < {number} - 1)
    select {other} + i / 100, 1, 'ext_' || i, 100, 'USD', 'ask', 100, 1, 800, 1, 'a coin', 1, 1, 1, '{{}}' from n"""
_OBSERVATIONS = """insert into price_observations (item_id, observed_at, point_id, price, currency, price_type, unit,
        match_strength, what)
    select item_id, 1, id, price, currency, price_type, unit, match_strength, 'new' from price_points where item_id >= {other}"""


def fill(store: Store, number: int) -> None:
    with store.write() as session:
        session.run(_POINTS.format(number=number, other=OTHER))
        session.run(_OBSERVATIONS.format(other=OTHER))


def works(store: Store, first: int = 1, number: int = 4) -> Iterator[None]:
    """All that is done often, for a few items: new pages, changed ones, vanished asks, and the reads. Yields
    after each.
    """
    for item in range(first, first + number):
        for at in (1, 2, 3):
            with store.write() as session:
                rows = [row(4_500 + at * (place % 3), external_id=str(place)) for place in range(20 - at)]
                filed(session, rows, at, item=item)
            yield
        for at, what in ((1, "new"), (2, "changed")):
            with store.write() as session:
                counts = filed(session, without_ids(at), at, item=item, source=2, began_at=at)
            assert counts == {f"price_points_{what}": 10}
            yield
        with store.write() as session:
            assert end_asks(session, {"item": item, "source": 1, "began_at": 3}, 3)
        yield
        with store.read() as session:
            assert len(points_of(session, item)) == 29
            assert points_of(session, item, counts=True, after=1)
            assert len(live_points(session, item)) == 27
            assert observations_of(session, item, 10)
            assert evidence_of(session, points_of(session, item)[0].id)
        yield


def without_ids(at: int) -> list[PointRow]:
    """Ten listings that are found again by what they say, with another price at each look."""
    return [
        row(4_500 + at, at=at, external_id=None, url=f"https://bay.example/{place}", title=f"coin {place}")
        for place in range(10)
    ]


@only_files
@pytest.mark.promise(18)
def test_every_statement_uses_an_index_on_sqlite(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, FEW)
    found = plans(store, monkeypatch, lambda: list(works(store)))
    about = {sql: plan for sql, plan in found.items() if "price_" in sql}
    assert len(about) >= 12
    assert scans(about, but=LISTS) == {}
    for index in ("price_points_key", "price_points_item", "PRIMARY KEY"):
        assert index in used(about), f"nothing uses {index}"
    assert "USE TEMP B-TREE FOR ORDER BY" not in used(about)


@only_files
@pytest.mark.promise(18)
def test_a_page_costs_the_same_among_many_points_on_sqlite(store: Store) -> None:
    def cost() -> int:
        first = next(counted)
        return instructions(store, lambda: list(works(store, first)))

    counted: Iterator[int] = iter((1, 11, 21))
    cost()  # prepares its statements
    fill(store, FEW)
    among_few = cost()
    with store.write() as session:
        session.run("delete from price_observations where item_id >= :other", {"other": OTHER})
        session.run("delete from price_points where item_id >= :other", {"other": OTHER})
    fill(store, MANY)
    assert cost() <= 1.2 * among_few


@only_postgres
@pytest.mark.promise(18)
def test_a_page_reads_its_own_points_only_on_postgres(database: Any, store: Store) -> None:
    fill(store, MANY)
    with store.write() as session:
        session.run("analyze price_points, price_observations")
    with hands(database, store, 1) as (hand,):
        read = rows_read(hand, TABLES, works(hand.store))
    assert 0 < max(read.values()) < 200, read


@only_postgres
@pytest.mark.promise(18)
def test_plans_that_were_made_for_empty_tables_do_for_full_ones_on_postgres(
    database: Any, store: Store
) -> None:
    with hands(database, store, 1) as (hand,):
        for _ in works(hand.store):
            hand.commit()
        fill(store, MANY)
        read = rows_read(hand, TABLES, works(hand.store, 11))
    assert 0 < max(read.values()) < 200, read
