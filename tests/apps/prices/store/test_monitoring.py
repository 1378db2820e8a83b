"""The monitoring queries: recent tasks, sources, stuck tasks, tasks by worker, duplicate points; over tasks
that real claims and settlements have moved.
"""

import orjson
import pytest

from tests.apps.prices.listings import filed, row
from tests.harness.tasks import (
    attempts_of,
    claim,
    done,
    entry,
    failed,
    fields_of,
    put,
    retry,
    rows,
    settle,
    worker,
)
from thresher.apps.prices.model import Adapter, ItemSpec, ItemStatus, Origin, SourceSpec
from thresher.apps.prices.service import monitoring
from thresher.apps.prices.store.items import save_item
from thresher.apps.prices.store.monitoring import RecentTask, SourceHealth, TaskCount
from thresher.apps.prices.store.sources import COOLDOWN, TRIP_AFTER, retire_price_source, save_price_source
from thresher.core.clock import HOUR, MINUTE, SECOND, FrozenClock
from thresher.core.errors import UsageError
from thresher.core.settlement import Blame, Health
from thresher.core.task import Entry, State, WorkerId
from thresher.store import sources
from thresher.store.store import Store
from thresher.store.workers import reap, renew

LEASE_US = 300 * SECOND  # the lock timeout of the seed


@pytest.fixture
def known(store: Store) -> tuple[int, int]:
    """An item and a source."""
    with store.write() as session:
        item = save_item(session, ItemSpec("Morgan"), ItemStatus.ATTRIBUTED, Origin.PERSON, 0, 1)
        return item, save_price_source(session, SourceSpec("bay", Adapter.MARKETPLACE), Origin.PERSON, 1)


def collection(item: int, source: int, number: int = 0, gates: tuple[str, ...] = ()) -> Entry:
    key = f"{item}:{source}:{number}"
    payload = {"item": item, "source": source}
    return entry("collect_prices", key=key, payload=payload, stage="collect", gates=gates)


def ids(found: list[RecentTask]) -> list[int]:
    return [each.id for each in found]


def test_recent_tasks_say_who_held_them_and_how_they_ended(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    began = clock.now()
    put(store, *(collection(*known, number) for number in range(4)))
    anna = worker(store, "anna", LEASE_US)
    one, two, three = claim(store, 3, anna)
    settle(store, done(one), failed(two))
    clock.advance(MINUTE)
    assert renew(store, WorkerId(anna)).alive
    waiting, running, bad, good = monitoring.recent_tasks(store)
    assert (waiting.status, waiting.locked_by, waiting.heartbeat_at) == (State.PENDING, None, None)
    assert (running.id, running.status, running.locked_by) == (three.id, State.RUNNING, "anna")
    assert (running.heartbeat_at, running.completed_at) == (began + MINUTE, None)
    assert (bad.status, bad.locked_by, bad.error_message) == (State.FAILED, "anna", "Gone: 404")
    assert (good.status, good.heartbeat_at, good.completed_at) == (State.SUCCEEDED, began, began)
    assert (good.item, good.source, good.created_at, good.error_message) == ("Morgan", "bay", began, None)


def test_a_task_that_is_tried_again_says_what_went_wrong(store: Store, known: tuple[int, int]) -> None:
    put(store, collection(*known))
    (task,) = claim(store, 1, worker(store, "anna"))
    settle(store, retry(task, delay_us=300 * SECOND))
    (found,) = monitoring.recent_tasks(store)
    assert (found.error_message, found.failures, found.heartbeat_at) == ("TimedOut: no answer", 1, None)
    assert found.status is State.RETRYABLE


def test_the_newest_twenty_collections_are_shown_and_nothing_else(
    store: Store, known: tuple[int, int]
) -> None:
    made = put(store, *(collection(*known, number) for number in range(25)))
    put(store, entry("page"), entry("value_item", payload={"item": known[0]}))
    assert ids(monitoring.recent_tasks(store)) == sorted(made, reverse=True)[:20]
    assert len(monitoring.recent_tasks(store, 3)) == 3
    for wrong in (0, -1, 1_001):
        with pytest.raises(UsageError, match="ask for 1 to 1,000 tasks"):
            monitoring.recent_tasks(store, wrong)


def test_a_task_of_nothing_that_is_known_is_shown_all_the_same(store: Store) -> None:
    put(store, entry("collect_prices", payload={"item": 99, "source": "x"}), entry("collect_prices"))
    assert [(each.item, each.source) for each in monitoring.recent_tasks(store)] == [(None, None)] * 2


# Stuck tasks


@pytest.mark.promise(1)
def test_a_task_is_stuck_once_its_worker_is_silent_for_the_timeout(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    put(store, collection(*known))
    began = clock.now()
    claim(store, 1, worker(store, "anna", LEASE_US))
    clock.advance(300 * SECOND)
    assert monitoring.stuck_tasks(store, 300) == []
    clock.advance(1)
    (found,) = monitoring.stuck_tasks(store, 300)
    assert (found.locked_by, found.item, found.source) == ("anna", "Morgan", "bay")
    assert (found.heartbeat_at, found.started_at) == (began, began)
    assert found.time_since_heartbeat == 300 * SECOND + 1
    assert len(monitoring.stuck_tasks(store)) == 1  # worker.lease is shorter


def test_a_worker_that_renews_keeps_its_tasks_from_being_stuck(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    put(store, collection(*known))
    anna = worker(store, "anna", LEASE_US)
    claim(store, 1, anna)
    clock.advance(LEASE_US)
    assert renew(store, WorkerId(anna)).alive
    clock.advance(LEASE_US)
    assert monitoring.stuck_tasks(store, 300) == []


def test_a_task_without_any_heartbeat_is_stuck(store: Store, known: tuple[int, int]) -> None:
    put(store, collection(*known))
    claim(store, 1)  # of a worker that has no row
    (found,) = monitoring.stuck_tasks(store, 300)
    assert (found.locked_by, found.heartbeat_at, found.time_since_heartbeat) == (None, None, None)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_timeout_that_is_none_is_refused(store: Store, timeout: float) -> None:
    with pytest.raises(UsageError, match="must be longer than 0 seconds"):
        monitoring.stuck_tasks(store, timeout)


@pytest.mark.promise(1)
@pytest.mark.promise(8)
def test_reclaiming_a_stuck_task_counts_an_attempt_and_names_the_prior_worker(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    put(store, collection(*known))
    anna = worker(store, "anna", LEASE_US)
    (held,) = claim(store, 1, anna)
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 1
    assert monitoring.stuck_tasks(store) == []
    (attempt,) = attempts_of(store, held.id)
    assert (attempt["ending"], attempt["worker_id"]) == ("crashed", anna)
    assert attempt["reason"] == "its worker anna vanished"
    (event,) = rows(store, "select detail from events where kind = 'worker_lost'")
    assert orjson.loads(event[0])["name"] == "anna"
    assert fields_of(store, held.id)["crashes"] == 1
    (found,) = monitoring.recent_tasks(store)
    assert (found.status, found.locked_by, found.crashes) == (State.PENDING, "anna", 1)
    # Another worker finishes it, and what the prior one brings is refused.
    (again,) = claim(store, 1, worker(store, "bert", LEASE_US))
    assert store.settle([done(held)]) != []
    settle(store, done(again))
    assert [each.locked_by for each in monitoring.recent_tasks(store)] == ["bert"]
    assert [each["ending"] for each in attempts_of(store, held.id)] == ["crashed", "done"]


# By status and worker


def test_tasks_are_counted_by_status_and_worker(store: Store, known: tuple[int, int]) -> None:
    put(store, *(collection(*known, number) for number in range(6)), entry("page"))
    anna, bert = worker(store, "anna", LEASE_US), worker(store, "bert", LEASE_US)
    mine, theirs = claim(store, 3, anna), claim(store, 1, bert)
    collected = [each for each in (*mine, *theirs) if each.kind == "collect_prices"]
    settle(store, *(done(each) for each in collected if each in mine[:2]))
    found = monitoring.tasks_by_worker(store)
    assert sum(each.count for each in found) == 6
    assert TaskCount(State.PENDING, None, 2) in found
    assert TaskCount(State.SUCCEEDED, "anna", 2) in found
    assert {each.locked_by for each in found if each.status is State.RUNNING} == {"anna", "bert"}


# Sources


def source(store: Store, name: str) -> SourceHealth:
    (found,) = [each for each in monitoring.source_health(store) if each.name == name]
    return found


def test_a_source_that_nothing_has_happened_to_is_open(store: Store, known: tuple[int, int]) -> None:
    assert source(store, "bay") == SourceHealth("bay", True, 0, None, None, None, None)


def test_sources_are_listed_by_name_without_retired_ones(store: Store, clock: FrozenClock) -> None:
    with store.write() as session:
        for name in ("b", "c", "a"):
            save_price_source(session, SourceSpec(name, Adapter.CSV), Origin.PERSON, 1)
        gone = save_price_source(session, SourceSpec("aa", Adapter.CSV), Origin.PERSON, 1)
        retire_price_source(session, gone, 2)
    assert [each.name for each in monitoring.source_health(store)] == ["a", "b", "c"]


def test_five_failures_in_a_row_pause_a_source_and_say_so(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    gate = "source:prices.bay"
    put(store, *(collection(*known, number, (gate,)) for number in range(TRIP_AFTER + 1)))
    (fine,) = claim(store, 1)
    settle(store, done(fine))
    well = clock.now()
    for failures in range(1, TRIP_AFTER + 1):
        clock.advance(MINUTE)
        assert source(store, "bay").failure_streak == failures - 1
        (task,) = claim(store, 1)
        settle(store, retry(task, HOUR, blame=Blame(Health.FAILURE, "TimedOut: no answer")))
    found = source(store, "bay")
    assert (found.enabled, found.failure_streak, found.paused_until) == (True, 5, clock.now() + COOLDOWN)
    assert (found.last_failure_at, found.last_success_at) == (clock.now(), well)
    assert found.why == "5 failures in a row; the last: TimedOut: no answer"
    clock.advance(COOLDOWN)
    assert source(store, "bay").paused_until is None


def test_a_source_that_somebody_paused_or_disabled_says_why(
    store: Store, clock: FrozenClock, known: tuple[int, int]
) -> None:
    sources.pause(store, "source:prices.bay", HOUR, "asked to wait", "rate_limited")
    found = source(store, "bay")
    assert (found.enabled, found.paused_until) == (True, clock.now() + HOUR)
    assert found.why == "rate_limited: asked to wait"
    sources.disable(store, "source:prices.bay", "manual", "too expensive")
    found = source(store, "bay")
    assert (found.enabled, found.paused_until, found.why) == (False, None, "manual: too expensive")
    sources.resume(store, "source:prices.bay")
    assert (source(store, "bay").enabled, source(store, "bay").why) == (True, None)


# Everything


def test_duplicates_are_none_and_would_be_named(store: Store, known: tuple[int, int]) -> None:
    item, at = known
    with store.write() as session:
        for moment in (1, 2):
            filed(session, [row()], moment, item=item, source=at)
    assert monitoring.duplicates(store) == []
    with store.write() as session:
        names = "item_id, source_id, dedupe_key, price, currency, price_type, unit, quantity, match_strength, counts, title, first_seen, observed_at, judged_at, evidence"
        session.run("drop index price_points_key")
        session.run(f"insert into price_points ({names}) select {names} from price_points")
    (found,) = monitoring.duplicates(store)
    assert (found.item, found.source, found.count) == ("Morgan", "bay", 2)


def test_everything_is_read_at_once(store: Store, clock: FrozenClock, known: tuple[int, int]) -> None:
    put(store, collection(*known))
    claim(store, 1, worker(store, "anna", LEASE_US))
    clock.advance(LEASE_US + 1)
    found = monitoring.read_monitoring(store)
    assert found.at == clock.now()
    assert [len(each) for each in (found.recent, found.sources, found.stuck, found.by_worker)] == [1, 1, 1, 1]
    assert found.duplicates == []
