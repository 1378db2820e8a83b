"""Alerts fire once when the value crosses a threshold, and people are told once, whatever is killed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.valuation.points import item, sold, valued
from tests.apps.prices.valued_items import collection, opened, sales, scene
from tests.harness.databases import Database
from tests.harness.databases import file_and_server as pytest_generate_tests
from thresher.apps.prices.alerting import EVERY, Alert, AlertKind, Notice, judge_alerts
from thresher.apps.prices.model import ItemSpec
from thresher.apps.prices.service.alert_checks import PATIENCE, check_price_alerts
from thresher.apps.prices.service.alerts import add_alerts
from thresher.apps.prices.store.alerts import (
    add_alert,
    alerts_of,
    change_alerts,
    find_alert,
    list_alerts,
    remove_alert,
)
from thresher.apps.prices.valuing import value_task
from thresher.core.clock import MINUTE
from thresher.core.extension import CheckLevel
from thresher.notify.notifier import Notifier
from thresher.testing.world import World

__all__ = ["pytest_generate_tests"]

HYSTERESIS = 20  # thousandths


def alert(kind: AlertKind = AlertKind.BELOW, threshold: int = 9_000, **others: Any) -> Alert:
    return Alert(1, 1, kind, threshold, **others)


def told(first: Alert, values: Sequence[int | None]) -> list[Notice | None]:
    """What one alert tells at each value of its item, one after the other. None is no evidence."""
    before, now, found = None, first, []
    for each in values:
        value = valued(sold(each) if each is not None else [])
        changes = judge_alerts([now], item(), before, value, HYSTERESIS)
        for change in changes:
            now = replace(now, armed=change.armed, basis=change.basis, times=now.times + bool(change.notice))
        found.append(changes[0].notice if changes else None)
        before = value
    return found


def fired(first: Alert, values: Sequence[int | None]) -> list[int]:
    """The places in a series of values at which one alert is told."""
    return [at for at, notice in enumerate(told(first, values)) if notice is not None]


# What fires


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([9_500, 8_900], [1]),
        ([9_500, 9_000], []),  # at the threshold is not below it
        ([8_900], [0]),  # the first value may be below it already
        ([9_500, 8_900, 8_500, 8_000], [1]),
        ([8_900, 9_100, 8_900], [0]),  # it trembles: 9,180 is where it is armed again
        ([8_900, 9_180, 8_900], [0, 2]),
        ([8_900, 9_179, 8_900], [0]),
        ([8_900, None, 8_900], [0]),  # no evidence is no value of 0
        ([None, 8_900], [1]),
    ],
)
def test_below(values: list[int | None], expected: list[int]) -> None:
    assert fired(alert(), values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([8_500, 9_100], [1]),
        ([9_000], []),
        ([9_100, 8_900, 9_100], [0]),
        ([9_100, 8_820, 9_100], [0, 2]),
        ([9_100, 8_821, 9_100], [0]),
    ],
)
def test_above(values: list[int | None], expected: list[int]) -> None:
    assert fired(alert(AlertKind.ABOVE), values) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([10_000, 10_999], []),  # 10 %, measured against the first value
        ([10_000, 11_000], [1]),
        ([10_000, 9_000], [1]),
        ([10_000, 10_500, 11_000, 11_500, 12_100], [2, 4]),  # each against the value that was told last
        ([10_000, None, 12_000], [2]),
        ([10_000, 10_000], []),
    ],
)
def test_change(values: list[int | None], expected: list[int]) -> None:
    assert fired(alert(AlertKind.CHANGE, 100), values) == expected


@given(st.lists(st.integers(8_000, 10_000), max_size=40))
def test_between_two_tellings_the_value_has_come_back(values: list[int]) -> None:
    at = fired(alert(), values)
    assert all(values[each] < 9_000 for each in at)
    for one, other in pairwise(at):
        assert max(values[one:other]) * 1_000 >= 9_000 * (1_000 + HYSTERESIS)
    if any(each < 9_000 for each in values):
        assert at[0] == next(place for place, each in enumerate(values) if each < 9_000)


def test_a_message_says_what_moved_why_and_where_to_look() -> None:
    _, notice = told(alert(), [9_500, 8_950])
    assert notice is not None
    assert notice.title == "1921-D Morgan: 95.00 USD -> 89.50 USD"
    assert notice.body.splitlines() == [
        "The value is below 90.00 USD: 95.00 USD -> 89.50 USD.",
        "1 sale from 1 source since 2023-11-15; most of them are at 89.50 USD.",
        "Confidence: 5 of 10.",
        "",
        "Dashboard: /prices/1",
        "Command: thresher prices explain 1",
    ]


def test_a_message_about_a_change_says_its_share() -> None:
    *_, notice = told(alert(AlertKind.CHANGE, 100), [10_000, 8_750])
    assert notice is not None
    assert notice.body.startswith("The value has fallen by 12.5 %: 100.00 USD -> 87.50 USD.")


def test_a_hostile_name_cannot_leave_its_line() -> None:
    of = item()
    of = replace(of, spec=replace(of.spec, name="a\r\nBcc: all\x1b[31m" + "x" * 300))
    (change,) = judge_alerts([alert()], of, None, valued(sold(4_500)), HYSTERESIS)
    assert change.notice is not None
    assert "\n" not in change.notice.title
    assert "\x1b" not in change.notice.title
    assert len(change.notice.title) < 150


def test_a_value_in_another_currency_is_not_compared_with_the_old_one() -> None:
    before = replace(valued(sold(9_500)), currency="EUR")
    (change,) = judge_alerts([alert()], item(), before, valued(sold(8_900)), HYSTERESIS)
    assert change.notice is not None
    assert change.notice.old is None


# The table


def test_the_same_alert_is_added_once_and_removed_ones_are_gone(database: Database) -> None:
    with opened(database) as here, here.store.write() as session:
        first = add_alert(session, 1, AlertKind.BELOW, 9_000, None, 5)
        assert add_alert(session, 1, AlertKind.BELOW, 9_000, None, 6) == first
        second = add_alert(session, 1, AlertKind.CHANGE, 100, 4_500, 7)
        other = add_alert(session, 2, AlertKind.ABOVE, 9_000, None, 7)
        assert [each.id for each in alerts_of(session, 1)] == [first, second]
        assert [each.id for each in list_alerts(session, after=first)] == [second, other]
        found = find_alert(session, second)
        assert found == Alert(second, 1, AlertKind.CHANGE, 100, basis=4_500, created_at=7)
        assert remove_alert(session, first, 8)
        assert not remove_alert(session, first, 9)
        assert find_alert(session, first) is None
        assert add_alert(session, 1, AlertKind.BELOW, 9_000, None, 6) != first


def test_of_two_valuations_at_once_one_fires(database: Database) -> None:
    with opened(database) as here, here.store.write() as session:
        add_alert(session, 1, AlertKind.BELOW, 9_000, None, 5)
        found = alerts_of(session, 1)
        changes = judge_alerts(found, item(), None, valued(sold(8_900)), HYSTERESIS)
        assert change_alerts(session, changes, "coin", "USD", 6) == 1
        assert change_alerts(session, changes, "coin", "USD", 7) == 0
        (now,) = alerts_of(session, 1)
        assert (now.armed, now.times, now.fired_at, now.is_due) == (False, 1, 6, True)


def test_a_removed_alert_fires_no_more_and_what_it_had_to_say_is_dropped(database: Database) -> None:
    with opened(database) as here:
        watch(here)
        with here.store.write() as session:
            (found,) = alerts_of(session, 1)
            changes = judge_alerts([found], item(), None, valued(sold(8_900)), HYSTERESIS)
            change_alerts(session, changes, "coin", "USD", 6)
            remove_alert(session, found.id, 7)
            assert change_alerts(session, changes, "coin", "USD", 8) == 0
        here.advance(seconds=EVERY)
        here.run_until_idle()
        assert here.messages == []


# From a price to a message


def watch(world: World, *kinds: tuple[AlertKind, int]) -> None:
    """An item with alerts; without saying so, one below 90.00."""
    scene(world)
    with world.store.write() as session:
        for kind, threshold in kinds or ((AlertKind.BELOW, 9_000),):
            add_alert(session, 1, kind, threshold, None, 1)


def revalue(world: World, *prices: int) -> None:
    """Replace the sales of the item and value it."""
    sales(world, *prices)
    world.enqueue(value_task(1))
    world.run_until_idle()


def events(world: World) -> list[tuple[int | None, int]]:
    return [(each["detail"]["old"], each["detail"]["new"]) for each in world.events("price_alert")]


def test_people_are_told_when_a_price_falls(database: Database) -> None:
    with opened(database) as here:
        watch(here)
        revalue(here, 9_500)
        assert (here.messages, events(here)) == ([], [])
        revalue(here, 8_900)
        assert [title for title, _ in here.messages] == ["1921-D Morgan: 95.00 USD -> 89.00 USD"]
        assert events(here) == [(9_500, 8_900)]
        revalue(here, 8_800)
        here.advance(seconds=3 * EVERY)
        here.run_until_idle()
        assert (len(here.messages), len(events(here))) == (1, 1)
        with here.store.read() as session:
            (found,) = alerts_of(session, 1)
        assert (found.told, found.is_due, found.armed) == (
            "1921-D Morgan: 95.00 USD -> 89.00 USD",
            False,
            False,
        )


def test_each_alert_has_a_message_of_its_own(database: Database) -> None:
    with opened(database) as here:
        watch(here, (AlertKind.BELOW, 9_000), (AlertKind.CHANGE, 50), (AlertKind.ABOVE, 100_000))
        revalue(here, 9_500)
        revalue(here, 8_900)
        assert [body.partition(":")[0] for _, body in here.messages] == [
            "The value is below 90.00 USD",
            "The value has fallen by 6.3 %",
        ]
        assert len(events(here)) == 2


def test_an_alert_that_was_added_after_the_last_valuation_fires_with_the_next(database: Database) -> None:
    with opened(database) as here:
        watch(here, (AlertKind.BELOW, 1))
        revalue(here, 8_900)
        with here.store.write() as session:
            add_alert(session, 1, AlertKind.BELOW, 9_000, None, 1)
        here.enqueue(value_task(1))  # nothing else has changed: the valuation is the same
        here.run_until_idle()
        assert [title for title, _ in here.messages] == ["1921-D Morgan: 89.00 USD"]


def test_an_alert_that_a_person_adds_fires_without_anything_being_found(database: Database) -> None:
    with opened(database) as here:
        scene(here)
        revalue(here, 8_900)
        add_alerts(here.store, "1921-D Morgan", below="90.00")
        here.advance(seconds=EVERY + 60)
        here.run_until_idle()
        assert [title for title, _ in here.messages] == ["1921-D Morgan: 89.00 USD"]


def test_a_valuation_that_is_outdated_fires_nothing(database: Database) -> None:
    with opened(database) as here:
        watch(here)
        with here.store.write() as session:
            session.run("insert into price_valuation_requests (item_id, asked, served) values (1, 0, 5)")
        revalue(here, 8_900)
        assert (here.messages, events(here)) == ([], [])


# Who is told


def silence(world: World) -> None:
    """Nobody stands under notify: in the project."""
    object.__setattr__(world._services, "notifier", Notifier(()))


def test_without_anybody_to_tell_there_is_an_event_and_a_line_of_the_doctor(database: Database) -> None:
    with opened(database) as here:
        watch(here)
        silence(here)
        revalue(here, 8_900)
        assert events(here) == [(None, 8_900)]
        assert [check.verdict for check in check_price_alerts(here.store)] == [CheckLevel.OK]
        here.advance(seconds=PATIENCE / 1_000_000 + 60)
        here.run_until_idle(within=0)
        (check,) = check_price_alerts(here.store)
        assert check.verdict is CheckLevel.WARN
        assert check.found == "1 price alert is open but nobody is told, the first for 11m 40s"
        assert here.messages == []


def test_what_waited_is_told_once_there_is_somebody(database: Database) -> None:
    with opened(database) as here:
        watch(here)
        silence(here)
        revalue(here, 8_900)
        now = here.clock.now()
    with opened(database, now=now + 5 * MINUTE) as here:
        here.run_until_idle()
        assert [title for title, _ in here.messages] == ["1921-D Morgan: 89.00 USD"]
        assert [check.verdict for check in check_price_alerts(here.store)] == [CheckLevel.OK]


def test_the_doctor_says_nothing_where_nobody_wants_to_be_told(database: Database) -> None:
    with opened(database) as here:
        assert check_price_alerts(here.store) == []


# Kills


class Killed(BaseException):
    """What ends a process here: nothing after it is performed, and nothing is settled."""


def kill_settlement(world: World, effect: str) -> None:
    """End the worker when it is about to settle what brings this effect."""
    turn = world.store.turn

    def dying(settlements: Sequence[Any], *others: Any) -> Any:
        if any(each.name == effect for settled in settlements for each in settled.effects):
            raise Killed
        return turn(settlements, *others)

    world.store.turn = dying  # type: ignore[method-assign,assignment]


def kill_before_sending(world: World) -> None:
    async def send(title: str, body: str) -> Any:
        raise Killed

    notifier = world._services.notifier
    assert notifier is not None
    notifier.send = send  # type: ignore[method-assign]


@pytest.mark.promise(2)
@pytest.mark.parametrize(
    ("kill", "sent"),
    [
        (lambda world: kill_settlement(world, "prices.file_points"), 0),
        (lambda world: kill_settlement(world, "prices.store_valuation"), 0),
        (kill_before_sending, 0),
        (lambda world: kill_settlement(world, "prices.alert_told"), 1),
    ],
    ids=["before it is filed", "before it is valued", "before it is sent", "before it is noted"],
)
def test_people_are_told_exactly_once_whatever_is_killed(
    database: Database, kill: Callable[[World], None], sent: int
) -> None:
    with opened(database) as first:
        watch(first)
        first.enqueue(collection(8_900))
        kill(first)
        with pytest.raises(Killed):
            first.run_until_idle()
        now = first.clock.now()
        assert len(first.messages) == sent
    for later in (2, 10, 30):
        with opened(database, now=now + later * MINUTE) as next_one:
            next_one.run_until_idle()
            sent += len(next_one.messages)
            assert events(next_one) == [(None, 8_900)]
    assert sent == 1


def test_an_item_of_another_kind_can_be_watched(database: Database) -> None:
    with opened(database) as here:
        scene(here, ItemSpec("phone", "product", {"model": "X1"}, currency="JPY"))
        with here.store.write() as session:
            add_alert(session, 1, AlertKind.ABOVE, 5, None, 1)
        revalue(here, 8_900)
        assert here.messages == []  # its sales are in dollars, and there is no rate
