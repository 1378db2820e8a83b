"""Whatever lists without ids say from day to day, each of their listings is one point."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.prices.listings import filed, row
from thresher.apps.prices.model import PriceType
from thresher.apps.prices.point_row import PointRow
from thresher.apps.prices.store.points import end_asks, live_points, observations_of, points_of
from thresher.core.clock import DAY
from thresher.store.session import Session
from thresher.store.store import Store

ITEMS = count(1)

# Few words, so that many listings are alike.
listings = st.fixed_dictionaries(
    {
        "title": st.sampled_from(["1921-D Morgan dollar", "1921-D Morgan dollar MS65"]),
        "url": st.sampled_from([None, "https://bay.example/1", "https://bay.example/2?from=search"]),
        "amount": st.sampled_from([4_000, 4_500, 5_000]),
        "currency": st.sampled_from(["USD", "USD", "EUR"]),
        "price_type": st.sampled_from([PriceType.ASK, PriceType.ASK, PriceType.SOLD, PriceType.BID]),
    }
)
days = st.lists(st.lists(listings, max_size=6), min_size=1, max_size=4)


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    with store.write() as opened:
        yield opened


def rows_of(day: int, said: Sequence[dict[str, Any]]) -> list[PointRow]:
    return [row(at=day * DAY, external_id=None, **each) for each in said]


def look(session: Session, item: int, day: int, said: Sequence[dict[str, Any]]) -> dict[str, int]:
    """A list of one page that is read to its end."""
    at = day * DAY
    counts = filed(session, rows_of(day, said), at, item=item, began_at=at)
    end_asks(session, {"item": item, "source": 1, "began_at": at}, at)
    return counts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days=days)
def test_after_each_look_there_are_as_many_live_asks_as_the_list_has(
    session: Session, days: list[list[dict[str, Any]]]
) -> None:
    item = next(ITEMS)
    for day, said in enumerate(days, 1):
        look(session, item, day, said)
        shown = {each.dedupe_key: each for each in rows_of(day, said) if each.price_type == "ask"}
        live = [each for each in live_points(session, item) if each.price_type is PriceType.ASK]
        assert sorted((each.title, each.price, each.currency) for each in live) == sorted(
            (each.title, each.price, each.currency) for each in shown.values()
        )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days=days)
def test_a_list_that_stays_as_it_is_adds_nothing(session: Session, days: list[list[dict[str, Any]]]) -> None:
    item = next(ITEMS)
    for day, said in enumerate(days, 1):
        look(session, item, day, said)
    before = points_of(session, item), observations_of(session, item)
    assert look(session, item, len(days), days[-1]).keys() <= {"price_points_known"}
    assert (points_of(session, item), observations_of(session, item)) == before
    look(session, item, len(days) + 1, days[-1])
    assert len(points_of(session, item)) == len(before[0])
    assert observations_of(session, item) == before[1]


def test_what_a_person_enters_on_another_day_is_another_price(session: Session) -> None:
    """A list is read again and again; whoever enters a price says that it is one."""
    for day in (1, 2):
        filed(session, rows_of(day, [{"price_type": PriceType.SOLD}]), day * DAY)
    assert len(points_of(session, 1)) == 2


def test_a_point_that_has_ended_returns(session: Session) -> None:
    look(session, 1, 1, [{}])
    look(session, 1, 2, [{"title": "another"}])
    assert look(session, 1, 3, [{}]) == {"price_points_returned": 1}
