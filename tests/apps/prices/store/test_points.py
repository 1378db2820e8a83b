"""Price points as pages of listings are filed: what is new, what has changed, what stays, and who else has
filed it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.apps.prices.listings import filed, judged, listing, page, row
from tests.harness.tasks import LEASE_US, claim, done, entry, put, worker
from thresher.apps.prices.model import (
    Change,
    ItemSpec,
    ItemStatus,
    Origin,
    PointEvidence,
    PriceType,
    Signal,
)
from thresher.apps.prices.point_row import MAX_AMOUNT, PointRow, point_row
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.points import (
    duplicate_points,
    end_asks,
    evidence_of,
    file_points,
    live_points,
    observations_of,
    points_of,
)
from thresher.core.clock import FrozenClock
from thresher.core.errors import UnknownName
from thresher.core.outcome import CheckedEffect
from thresher.store.session import Session
from thresher.store.settle import read_result
from thresher.store.store import Store
from thresher.store.workers import reap

ASK, SOLD, BID = PriceType.ASK, PriceType.SOLD, PriceType.BID


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    with store.write() as opened:
        yield opened


def history(session: Session, item: int = 1) -> list[tuple[int, int, str]]:
    """When, how much and what, oldest first."""
    return [
        (each.observed_at, each.price, each.what.value) for each in reversed(observations_of(session, item))
    ]


def only(session: Session, item: int = 1) -> Any:
    (found,) = points_of(session, item)
    return found


# What is new


def test_a_listing_is_stored_as_it_was_judged(session: Session) -> None:
    found = point_row(
        judged(
            listing(
                amount=9_000,
                listed_on=date(2026, 2, 1),
                condition="Used",
                shipping=450,
                was=9_900,
                high=12_000,
                doubts=("one of two prices",),
            ),
            730,
            unit=4_500,
            quantity=2,
            grade="MS65",
            counts=False,
            reason="a lot",
        ),
        5,
        None,
    )
    assert found is not None
    assert filed(session, [found], 5) == {"price_points_new": 1}
    point = only(session)
    assert (point.price, point.unit, point.quantity, point.currency, point.price_type) == (
        9_000,
        4_500,
        2,
        "USD",
        ASK,
    )
    assert (point.match_strength, point.counts, point.reason, point.grade) == (730, False, "a lot", "MS65")
    assert (point.title, point.condition, point.listing_date) == (
        "1921-D Morgan dollar",
        "Used",
        date(2026, 2, 1),
    )
    assert (point.external_id, point.dedupe_key) == ("v1|110|0", "ext_v1|110|0")
    assert (point.first_seen, point.observed_at, point.ended_at) == (5, 5, 0)
    assert evidence_of(session, point.id) == PointEvidence(
        None,
        "$90.00",
        "/items/0/price",
        (Signal("year", "1921", "matches", 300, "1921"),),
        ("one of two prices",),
        450,
        9_900,
        12_000,
    )
    assert evidence_of(session, point.id + 1) is None
    assert history(session) == [(5, 9_000, "new")]


@pytest.mark.promise(9)
def test_a_listing_that_is_about_two_items_belongs_to_both(session: Session) -> None:
    filed(session, [row()], 1, item=1)
    assert filed(session, [row(strength=300)], 2, item=2) == {"price_points_new": 1}
    filed(session, [row(amount=4_000)], 3, item=2)
    assert [(only(session, item).price, only(session, item).match_strength) for item in (1, 2)] == [
        (4_500, 800),
        (4_000, 800),
    ]
    assert history(session, 1) == [(1, 4_500, "new")]


@pytest.mark.promise(9)
def test_the_same_id_at_two_sources_is_two_points(session: Session) -> None:
    filed(session, [row()], 1, source=1)
    assert filed(session, [row()], 1, source=2) == {"price_points_new": 1}
    assert [each.source_id for each in points_of(session, 1)] == [1, 2]


@pytest.mark.promise(2)
def test_rows_of_one_page_with_one_key_are_one_point_the_strongest(session: Session) -> None:
    rows = [row(4_500, 500, title="weak"), row(4_600, 900, title="strong"), row(4_700, 900, title="late")]
    assert filed(session, rows, 1) == {"price_points_new": 1}
    assert (only(session).title, only(session).price) == ("strong", 4_600)


def test_of_an_ask_and_a_sale_of_one_page_the_sale_is_kept(session: Session) -> None:
    filed(session, [row(4_500, 900), row(4_000, 700, price_type=SOLD), row(4_600, 950)], 1)
    assert (only(session).price_type, only(session).price) == (SOLD, 4_000)


# What is seen again


@pytest.mark.promise(2)
def test_making_the_effect_twice_changes_nothing(session: Session) -> None:
    data = page([row(external_id=str(number), amount=100 + number) for number in range(30)], 7)
    assert file_points(session, data, 8) == {"price_points_new": 30}
    before = (points_of(session, 1), observations_of(session, 1))
    assert file_points(session, data, 9) == {"price_points_known": 30}
    assert (points_of(session, 1), observations_of(session, 1)) == before


def test_a_listing_that_is_seen_again_is_no_new_observation(session: Session) -> None:
    filed(session, [row()], 1)
    assert filed(session, [row(place="/items/7/price")], 5) == {"price_points_known": 1}
    assert (only(session).first_seen, only(session).observed_at) == (1, 5)
    assert history(session) == [(1, 4_500, "new")]


def test_a_changed_asking_price_is_an_observation_whatever_its_strength(session: Session) -> None:
    for at, (amount, strength) in enumerate(((4_500, 800), (4_200, 100), (4_900, 900), (4_900, 100)), 1):
        filed(session, [row(amount, strength, title=f"title {at}")], at)
    point = only(session)
    assert (point.price, point.unit, point.match_strength, point.title) == (4_900, 4_900, 900, "title 3")
    assert history(session) == [(1, 4_500, "new"), (2, 4_200, "changed"), (3, 4_900, "changed")]


def test_the_words_of_the_stronger_match_stay(session: Session) -> None:
    filed(session, [row(4_500, 800, title="whole", condition="MS65")], 1)
    filed(session, [row(4_500, 500, title="cut", counts=False, reason="weak")], 2)
    point = only(session)
    assert (point.title, point.match_strength, point.counts, point.reason) == ("whole", 800, True, None)
    filed(session, [row(4_500, 900, title="better", counts=False, reason="a copy")], 3)
    point = only(session)
    assert (point.title, point.match_strength, point.counts, point.reason) == ("better", 900, False, "a copy")
    assert (point.condition, point.observed_at) == ("MS65", 3)  # nobody has said otherwise
    assert history(session) == [(1, 4_500, "new")]


def test_the_newer_of_two_equal_matches_is_believed(session: Session) -> None:
    filed(session, [row(title="before")], 1)
    filed(session, [row(title="after", counts=False, reason="excluded")], 2)
    assert (only(session).title, only(session).reason) == ("after", "excluded")


def test_a_judgement_of_an_older_item_gives_way_to_a_weaker_one(session: Session) -> None:
    def saved(at: int, **said: Any) -> int:
        return save_item(session, ItemSpec("Morgan", **said), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, at)

    item = saved(1)
    filed(session, [row(4_500, 900, title="of any year")], 5, item=item)
    filed(session, [row(4_500, 300, title="cut")], 6, item=item)
    assert only(session, item).title == "of any year"
    saved(7, exclude=("replica",))
    filed(session, [row(4_500, 300, counts=False, reason="replica")], 8, item=item)
    assert (only(session, item).counts, only(session, item).match_strength) == (False, 300)
    filed(session, [row(4_500, 200)], 9, item=item)
    assert (only(session, item).reason, only(session, item).match_strength) == ("replica", 300)
    assert [each.what for each in observations_of(session, item)] == [Change.NEW]


def test_a_judgement_that_is_confirmed_after_the_change_stays(session: Session) -> None:
    item = save_item(session, ItemSpec("Morgan"), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, 7)
    for at, strength in ((5, 900), (8, 900), (9, 300)):
        filed(session, [row(4_500, strength)], at, item=item)
    assert (only(session, item).match_strength, only(session, item).observed_at) == (900, 9)


@pytest.mark.promise(14)
def test_a_quote_goes_with_the_price_that_was_read_from_it(session: Session) -> None:
    strong, weak = (Signal("year", "1921", "matches", weight, "1921") for weight in (300, 10))
    filed(session, [row(4_500, 800, title="whole")], 1)
    weak_row = point_row(judged(listing(amount=4_100, title="cut"), 100, signals=(weak,)), 2, None)
    assert weak_row is not None
    filed(session, [weak_row], 2)
    evidence = evidence_of(session, only(session).id)
    assert evidence is not None
    assert (evidence.quote, evidence.signals) == ("$41.00", (strong,))
    assert (only(session).price, only(session).title) == (4_100, "whole")


def test_an_older_page_changes_no_price_and_no_time(session: Session) -> None:
    filed(session, [row(4_500, 800)], 10)
    assert filed(session, [row(3_000, 800)], 5) == {"price_points_known": 1, "price_points_late": 1}
    assert (only(session).price, only(session).observed_at) == (4_500, 10)
    filed(session, [row(3_000, 900, title="stronger")], 6)
    point = only(session)
    assert (point.price, point.title, point.match_strength, point.observed_at) == (4_500, "stronger", 900, 10)
    evidence = evidence_of(session, point.id)
    assert evidence is not None
    assert evidence.quote == "$45.00"
    assert history(session) == [(10, 4_500, "new")]


def test_another_currency_is_another_price(session: Session) -> None:
    filed(session, [row()], 1)
    filed(session, [row(currency="EUR")], 2)
    assert [each.currency for each in observations_of(session, 1)] == ["EUR", "USD"]


def test_an_ask_that_is_sold_becomes_sold_and_stays_sold(session: Session) -> None:
    filed(session, [row(4_500)], 1)
    assert filed(session, [row(4_100, 300, price_type=SOLD)], 2) == {"price_points_changed": 1}
    filed(session, [row(5_000, 900)], 3)
    point = only(session)
    assert (point.price, point.price_type, point.match_strength) == (4_100, SOLD, 800)
    assert [(each.price_type, each.what) for each in observations_of(session, 1)] == [
        (SOLD, Change.CHANGED),
        (ASK, Change.NEW),
    ]


# What is no longer listed


def ended(session: Session, began: int, item: int = 1, source: int = 1) -> dict[str, int]:
    return end_asks(session, {"item": item, "source": source, "began_at": began}, began)


def test_an_ask_that_is_no_longer_listed_ends(session: Session) -> None:
    filed(session, [row(external_id="a"), row(external_id="b")], 1)
    filed(session, [row(external_id="b")], 5)
    assert ended(session, 5) == {"price_points_ended": 1}
    assert [(each.external_id, each.ended_at) for each in points_of(session, 1)] == [("a", 5), ("b", 0)]
    assert [each.external_id for each in live_points(session, 1)] == ["b"]
    assert history(session)[-1] == (5, 4_500, "ended")
    assert ended(session, 5) == {}
    assert len(history(session)) == 3


def test_what_was_sold_or_bid_never_ends(session: Session) -> None:
    filed(session, [row(external_id="s", price_type=SOLD), row(external_id="b", price_type=BID)], 1)
    assert ended(session, 9) == {}
    assert len(live_points(session, 1)) == 2


def test_only_asks_of_this_item_and_source_end(session: Session) -> None:
    for item, source in ((1, 1), (1, 2), (2, 1)):
        filed(session, [row()], 1, item=item, source=source)
    ended(session, 5)
    assert [each.ended_at for item in (1, 2) for each in points_of(session, item)] == [5, 0, 0]


@pytest.mark.parametrize("amount", [4_500, 4_000])
def test_an_ask_that_is_listed_again_returns(session: Session, amount: int) -> None:
    filed(session, [row()], 1)
    ended(session, 5)
    assert filed(session, [row(amount)], 9) == {"price_points_returned": 1}
    assert (only(session).ended_at, only(session).price, only(session).observed_at) == (0, amount, 9)
    assert history(session)[-1] == (9, amount, "returned")
    assert filed(session, [row(amount)], 9) == {"price_points_known": 1}


def test_an_ask_that_has_ended_and_is_sold_is_sold(session: Session) -> None:
    filed(session, [row()], 1)
    ended(session, 5)
    assert filed(session, [row(4_300, price_type=SOLD)], 9) == {"price_points_changed": 1}
    assert (only(session).ended_at, only(session).price_type) == (0, SOLD)


def test_a_page_from_before_the_end_brings_nothing_back(session: Session) -> None:
    filed(session, [row()], 1)
    ended(session, 5)
    filed(session, [row()], 3)
    assert (only(session).ended_at, only(session).observed_at) == (5, 3)
    ended(session, 5)
    assert [each[2] for each in history(session)] == ["new", "ended"]


# Bodies


def owned(session: Session) -> set[tuple[str, int]]:
    return {
        (row[0], row[1])
        for row in session.rows("select hash, owner from blob_owners where kind = 'app:prices'")
    }


def saved(session: Session, *names: str) -> None:
    sql = "insert into blobs (hash, size, body, created_at, saved) values (:hash, 1, :body, 0, 2)"
    session.many(sql, [{"hash": name * 64, "body": b"x"} for name in names])


@pytest.mark.promise(9)
def test_an_item_keeps_the_answers_that_its_points_were_read_from(session: Session) -> None:
    saved(session, "a", "b", "c")
    a, b, c = (name * 64 for name in "abc")
    filed(session, [row(external_id=name, body=a) for name in "xy"], 1, bodies=[a])
    filed(session, [row(body=a)], 1, item=2, bodies=[a])
    assert owned(session) == {(a, 1), (a, 2)}
    filed(session, [row(external_id=name, body=b) for name in "xy"], 2, bodies=[b])
    assert owned(session) == {(a, 1), (a, 2)}  # nothing new was read from it
    filed(session, [row(4_000, external_id="x", body=b), row(external_id="y", body=b)], 3, bodies=[b])
    assert owned(session) == {(a, 1), (a, 2), (b, 1)}
    filed(session, [row(3_000, external_id=name, body=c) for name in "xy"], 4, bodies=[c])
    assert owned(session) == {(a, 2), (c, 1)}
    evidence = evidence_of(session, points_of(session, 1)[0].id)
    assert evidence is not None
    assert evidence.body == c


def test_a_point_whose_answer_is_not_stored_is_not_written(store: Store) -> None:
    with pytest.raises(UnknownName, match="no body is stored"), store.write() as session:
        filed(session, [row(body="d" * 64)], 1)
    with store.read() as session:
        assert points_of(session, 1) == []


# Hostile listings


def test_a_listing_without_a_price_is_no_row() -> None:
    assert point_row(judged(listing(amount=None)), 1, None) is None
    assert point_row(judged(listing(currency=None)), 1, None) is None
    assert point_row(judged(listing(amount=-1)), 1, None) is None
    assert point_row(judged(listing(amount=MAX_AMOUNT + 1)), 1, None) is None


@pytest.mark.parametrize("said", [{"unit": None}, {"quantity": 0}, {"quantity": 10**12}, {"unit": 10**30}])
def test_a_listing_of_nobody_knows_how_many_does_not_count(said: dict[str, Any]) -> None:
    found = row(**said)
    assert (found.counts, found.reason, found.unit) == (0, "it is not known how many it offers", 4_500)


hostile_text = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["\x00" * 9, "\ud800", "x" * 9_000]
)


@pytest.mark.promise(18)
@given(
    st.lists(
        st.tuples(hostile_text, hostile_text, hostile_text, st.integers(-(10**20), 10**20)),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_listing_says_is_stored_or_counted(
    store: Store, said: list[tuple[str, str, str, int]]
) -> None:
    rows = [
        point_row(
            judged(
                listing(
                    title=text,
                    url=url,
                    external_id=name,
                    amount=amount,
                    shipping=amount,
                    quote=text,
                    condition=name,
                    doubts=(url,),
                ),
                signals=(Signal(text, url, "matches", 1, name),),
                reason=text,
                grade=url,
                quantity=amount,
            ),
            1,
            None,
        )
        for text, url, name, amount in said
    ]
    fitting = [each for each in rows if each is not None]
    with store.write() as session:
        before = len(points_of(session, 1, limit=10_000))
        new = filed(session, fitting, 1).get("price_points_new", 0)
        assert len(points_of(session, 1, limit=10_000)) == before + new
        assert len({each.dedupe_key for each in fitting}) >= new
        for each in points_of(session, 1, limit=10_000):
            assert evidence_of(session, each.id) is not None


# Reads


def test_points_are_read_in_pages_and_by_whether_they_count(session: Session) -> None:
    filed(session, [row(external_id=f"{number:02}", counts=number % 2 == 0) for number in range(9)], 1)
    first = points_of(session, 1, limit=4)
    assert [each.external_id for each in first] == ["00", "01", "02", "03"]
    assert [each.external_id for each in points_of(session, 1, after=first[-1].id, limit=2)] == ["04", "05"]
    assert len(points_of(session, 1, counts=True)) == 5
    assert len(points_of(session, 1, counts=False)) == 4
    assert [each.external_id for each in live_points(session, 1, 2)] == ["08", "07"]
    assert len(observations_of(session, 1, 3)) == 3
    assert points_of(session, 2) == []


def test_no_two_points_share_a_key(session: Session) -> None:
    for at in (1, 2):
        filed(session, [row(external_id=str(number)) for number in range(5)], at)
    assert duplicate_points(session) == []


def test_duplicates_would_be_found(store: Store) -> None:
    """The check can fail: without its index the table would take them."""
    with store.write() as session:
        filed(session, [row()], 1)
        session.run("drop index price_points_key")
        names = "item_id, source_id, dedupe_key, price, currency, price_type, unit, quantity, match_strength, counts, title, first_seen, observed_at, judged_at, evidence"
        session.run(f"insert into price_points ({names}) select {names} from price_points")
        assert duplicate_points(session) == [(1, 1, "ext_v1|110|0", 2)]


# Settlements


@pytest.mark.promise(2)
def test_points_come_with_the_settlement_and_not_without_it(store: Store, clock: FrozenClock) -> None:
    put(store, entry("collect_prices"))
    (lost,) = claim(store, 1, worker(store, "anna"))
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 1
    (task,) = claim(store, 1, worker(store, "bert"))
    effects = tuple(
        CheckedEffect("prices.file_points", page([row(amount)], 1), file_points) for amount in (4_500, 9_900)
    )
    assert store.settle([done(lost, effects=effects[1:])]) != []  # the fence is in the way
    assert store.settle([done(task, effects=effects[:1])]) == []
    assert store.settle([done(task, effects=effects[:1])]) != []  # its answer was lost, and it came again
    with store.read() as session:
        assert history(session) == [(1, 4_500, "new")]
        assert read_result(session, task.id) == {"price_points_new": 1}


# Two workers


def at_once(*works: Callable[[], object]) -> None:
    """Do all of these in threads of their own; raise what one of them raised."""
    raised: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as problem:
            raised.append(problem)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
        assert not each.is_alive(), "a worker waits for ever"
    if raised:
        raise raised[0]


def many(amount: int, numbers: Sequence[int]) -> list[PointRow]:
    return [row(amount, external_id=f"{number:03}") for number in numbers]


@pytest.mark.promise(2)
@pytest.mark.promise(19)
def test_two_workers_that_file_one_page_at_once_neither_wait_for_ever_nor_double(
    database: Any, store: Store
) -> None:
    others = [database.open() for _ in range(3)]
    ready = threading.Barrier(4)

    def works(opened: Store, number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(12):
                ready.wait(60)
                numbers = range(turn * 20, turn * 20 + 60)  # two thirds are known from the turn before
                rows = many(1_000 + turn, numbers if number % 2 else list(reversed(numbers)))
                with opened.write() as session:
                    filed(session, rows, turn + 1)

        return work

    at_once(*(works(opened, number) for number, opened in enumerate([store, *others])))
    with store.read() as session:
        found = points_of(session, 1, limit=10_000)
        assert len(found) == 11 * 20 + 60
        assert duplicate_points(session) == []
        told = observations_of(session, 1, 100_000)
        assert len({(each.point_id, each.observed_at) for each in told}) == len(told)
        assert sum(each.what is Change.NEW for each in told) == len(found)
        assert sum(each.what is Change.CHANGED for each in told) == 11 * 40
