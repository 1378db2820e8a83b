"""Lanes and gates of hosts that nobody needs are removed; whoever still remembers them looks them up again
and loses nothing."""

import pytest

from tests.harness.costs import plans, scans, used
from tests.harness.databases import memory_database, only_postgres, with_processes
from tests.harness.tasks import (
    claim,
    claim_one,
    done,
    entry,
    failed,
    put,
    rows,
    running,
    settle,
    state_of,
    told_to_wait,
    troubled,
)
from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.gate import GateLimits
from thresher.core.group import GroupEntry
from thresher.core.settlement import Settlement
from thresher.store import host_rules, permits, sources
from thresher.store.prune import prune, prune_hosts
from thresher.store.repair import repair
from thresher.store.tasks import revive

HOST = "host:a.example"


def names(store, table="gates", column="name"):
    return [row[0] for row in rows(store, f"select {column} from {table} order by 1")]


def forget(store, clock, days=62):
    """Let the history go, and then the hosts."""
    clock.advance(days * DAY)
    prune(store)
    return prune_hosts(store)


def used_once(store, *gates):
    settle(store, done(running(store, entry(gates=gates or [HOST]))))


def test_a_host_that_nobody_needs_any_more_goes_with_its_lanes(store, clock):
    used_once(store)
    removed = forget(store, clock)
    assert (removed.lanes, removed.gates) == (1, 1)
    assert (names(store), names(store, "lanes", "key"), names(store, "host_lanes", "lane_id")) == ([], [], [])
    assert names(store, "loose_lanes", "lane_id") == []


def test_a_host_with_history_stays_and_so_does_one_that_was_used_lately(make_store, clock):
    store = make_store(history__retention=100)
    used_once(store)
    assert forget(store, clock).lanes == 0
    clock.advance(60 * DAY)
    store.enqueue([entry(gates=[HOST])])
    settle(store, done(claim_one(store)))
    prune(store)
    assert prune_hosts(store).lanes == 0
    assert names(store) == [HOST]


@pytest.mark.promise(1)
@pytest.mark.parametrize("state", ["due", "delayed", "running", "failed"])
def test_the_lane_of_a_task_stays_whatever_the_task_waits_for(make_store, clock, state):
    store = make_store(history__retention=36_500)
    put(store, entry(gates=[HOST], delay_us=400 * DAY if state == "delayed" else 0))
    if state in ("running", "failed"):
        task = claim_one(store)
    if state == "failed":
        settle(store, failed(task))
    assert forget(store, clock, 300).lanes == 0
    if state == "failed":
        assert revive(store, [task.id]) == [task.id]
    clock.advance(100 * DAY)
    if state == "running":
        settle(store, done(task))
    else:
        settle(store, done(claim_one(store)))


@pytest.mark.promise(1)
def test_the_lane_of_the_task_that_follows_a_group_stays(store, clock):
    opener = running(store)
    then = entry("report", gates=[HOST])
    settle(
        store,
        done(
            opener,
            group=GroupEntry("crawl", "1", "app", then),
            children=(entry(key="child", delay_us=90 * DAY),),
        ),
    )
    assert forget(store, clock).lanes == 0
    clock.advance(90 * DAY)
    settle(store, done(claim_one(store)))
    clock.advance(SECOND)
    assert claim_one(store).kind == "report"


@pytest.mark.promise(1)
@pytest.mark.promise(3)
def test_a_process_that_remembers_a_lane_that_is_gone_enqueues_all_the_same(database, clock):
    mine, other = database.open(), database.open()
    used_once(mine)
    assert forget(other, clock).gates == 1
    put(mine, entry(gates=[HOST]), entry(gates=[HOST], delay_us=HOUR), entry(gates=[HOST, "host:b.example"]))
    (task,) = claim(other, 2)
    assert HOST in task.lane, "one at a time"
    assert names(mine) == [HOST, "host:b.example"]
    assert rows(
        mine, "select count(*) from tasks t where not exists (select 1 from lanes l where l.id = t.lane_id)"
    ) == [(0,)]


@pytest.mark.promise(1)
def test_a_process_that_remembers_a_lane_that_is_gone_settles_all_the_same(database, clock):
    mine, other = database.open(), database.open()
    used_once(mine)
    used_once(mine, "host:b.example")
    assert forget(other, clock).gates == 2
    parent, opener = running(mine), running(mine)
    settle(
        mine,
        done(
            parent,
            children=(
                entry(gates=[HOST], key="child"),
                entry(gates=["host:b.example"], key="later", delay_us=SECOND),
            ),
        ),
        done(opener, group=GroupEntry("crawl", "1", "app", entry("report", gates=["host:b.example"]))),
    )
    clock.advance(2 * SECOND)
    assert sorted(task.kind for task in claim(other, 5)) == ["page", "report"]
    assert rows(
        mine, "select count(*) from tasks t where not exists (select 1 from lanes l where l.id = t.lane_id)"
    ) == [(0,)]


@pytest.mark.promise(1)
def test_a_task_moves_into_a_lane_that_was_removed_meanwhile(database, clock):
    mine, other = database.open(), database.open()
    used_once(mine)
    clock.advance(2 * SECOND)
    settle(mine, done(running(mine, entry(stage="store", gates=[HOST]))))
    assert forget(other, clock).lanes == 2
    settle(mine, Settlement.advance(running(mine), stage="store", gates=(HOST,), checkpoint="{}"))
    assert (claim_one(other).stage, names(mine)) == ("store", [HOST])


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_transaction_of_the_callers_outlives_a_lane_that_is_gone(database, clock):
    mine, other = database.open(), database.open()
    used_once(mine)
    assert forget(other, clock).gates == 1
    with mine.transaction() as transaction:
        transaction.execute("insert into chore_rounds (name, at) values ('mine', 1) returning name")
        assert None not in transaction.enqueue([entry(gates=[HOST])])
    assert rows(mine, "select name from chore_rounds where name = 'mine'") == [("mine",)]
    assert claim_one(other).lane == (HOST,)


@pytest.mark.promise(3)
@pytest.mark.promise(16)
def test_a_request_to_a_host_that_was_forgotten_passes_a_gate_all_the_same(database, clock):
    mine, other = database.open(), database.open()
    ask = {"claim": None, "holder": None, "expires_us": SECOND}
    permits.release(mine, permits.reserve(mine, [HOST], **ask))
    assert forget(other, clock).gates == 1
    permit = permits.reserve(mine, [HOST], **ask)
    assert isinstance(permit, permits.Permit)
    assert isinstance(permits.reserve(other, [HOST], **ask), permits.PermitWait), "one at a time"
    assert isinstance(permits.start(mine, [HOST], claim=None), permits.Go)
    permits.release(mine, permit)
    assert forget(other, clock).gates == 1
    assert permits.peek(mine, [HOST], claim=None) is None
    assert isinstance(permits.start(mine, [HOST], claim=None), permits.PermitWait), (
        "without a permit nothing goes out"
    )


@pytest.mark.promise(16)
def test_what_a_forgotten_host_asks_for_holds(database, clock):
    mine, other = database.open(), database.open()
    for ask in (
        lambda: host_rules.hold_back(mine, HOST, HOUR, "slow down"),
        lambda: host_rules.slow_down(mine, HOST, 9 * SECOND),
    ):
        used_once(mine)
        assert forget(other, clock, 200).gates == 1
        ask()
        clock.advance(HOUR)
    assert rows(other, "select interval_us from gates") == [(9 * SECOND,)]


@pytest.mark.promise(16)
@pytest.mark.promise(20)
def test_what_a_person_or_a_site_has_decided_about_a_host_is_kept(store, clock):
    hosts = {
        name: f"host:{name}.example"
        for name in ("limited", "waived", "disabled", "paused", "blamed", "plain")
    }
    for gate in hosts.values():
        used_once(store, gate)
    sources.set_limits(store, hosts["limited"], GateLimits(max_in_flight=7))
    host_rules.waive_robots(store, hosts["waived"], "they said so")
    sources.disable(store, hosts["disabled"], "anti_bot", "captcha")
    sources.pause(store, hosts["paused"], 250 * DAY, "later")
    clock.advance(2 * SECOND)
    settle(store, troubled(running(store, entry(gates=[hosts["blamed"]], key="b"))))
    clock.advance(2 * SECOND)
    settle(store, done(claim_one(store)))
    clock.advance(100 * DAY)
    forget(store, clock)
    prune_hosts(store)
    assert names(store) == sorted(hosts[name] for name in ("limited", "waived", "disabled", "paused"))
    clock.advance(100 * DAY)
    forget(store, clock)
    assert names(store) == sorted(hosts[name] for name in ("limited", "waived", "disabled"))


@pytest.mark.promise(20)
def test_an_event_that_names_a_host_keeps_its_name(store, clock):
    task = running(store, entry(gates=[HOST]))
    settle(store, told_to_wait(task, SECOND))
    clock.advance(2 * SECOND)
    settle(store, done(claim_one(store)))
    assert forget(store, clock).gates == 0
    assert rows(store, "select g.name from events e join gates g on g.id = e.gate_id") == [(HOST,)]
    forget(store, clock)
    assert names(store) == []


def test_a_lane_through_two_hosts_keeps_both_while_one_must_stay(store, clock):
    used_once(store, HOST, "host:b.example")
    sources.pause(store, HOST, 150 * DAY, "later")
    clock.advance(40 * DAY)
    assert forget(store, clock).lanes == 0
    assert names(store) == [HOST, "host:b.example"]


def test_sources_are_never_removed(store, clock):
    sources.add_source(store, "shop", GateLimits())
    used_once(store, "source:shop")
    assert forget(store, clock).lanes == 1
    assert names(store) == ["source:shop"]
    used_once(store, "source:shop")


def test_hosts_go_batch_by_batch_and_what_stays_is_not_looked_at_for_ever(make_store, clock):
    store = make_store(prune__batch=3)
    for n in range(10):
        used_once(store, f"host:{n}.example")
    put(store, *(entry(gates=[f"host:kept-{n}.example"], delay_us=1_000 * DAY) for n in range(7)))
    assert forget(store, clock).gates == 10
    assert len(names(store)) == 7
    assert repair(store) == []


@only_postgres
@pytest.mark.promise(1)
def test_pruning_leaves_alone_what_an_open_transaction_enqueues_into(database, clock):
    mine, other = database.open(), database.open()
    used_once(mine)
    clock.advance(62 * DAY)
    prune(other)
    with mine.transaction() as transaction:
        transaction.enqueue([entry(gates=[HOST])])
        assert prune_hosts(other).lanes == 0
    assert claim_one(other).lane == (HOST,)


@with_processes
@pytest.mark.promise(1)
@pytest.mark.promise(3)
def test_nothing_is_lost_while_hosts_are_pruned_under_those_who_use_them(database, clock):
    """A clock that leaps: every round forgets all hosts, and everybody remembers them."""
    stores = [database.open(history__retention=0, history__hosts=2) for _ in range(3)]
    accepted, ended = 0, 0
    for n in range(12):
        store = stores[n % 3]
        accepted += len(put(store, *(entry(gates=[f"host:{m}.example"]) for m in range(6))))
        for task in claim(stores[(n + 1) % 3], 6):
            settle(
                stores[(n + 2) % 3],
                done(task, children=(entry("child", gates=[f"host:{n % 6}.example"], key=f"{task.id}"),)),
            )
            ended += 1
        clock.advance(3 * DAY)
        prune(store)
        prune_hosts(store)
        clock.advance(3 * DAY)
    for _ in range(200):
        clock.advance(2 * SECOND)
        found = claim(stores[0], 10)
        for task in found:
            settle(stores[1], done(task))
        if not found:
            break
    assert rows(stores[0], "select count(*) from tasks where finished_at is null") == [(0,)]


@pytest.mark.promise(4)
def test_idle_hosts_are_found_by_an_index(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    used_once(store)
    clock.advance(62 * DAY)
    prune(store)
    found = plans(store, monkeypatch, lambda: prune_hosts(store))
    assert scans(found) == {}
    assert all(
        index in used(found)
        for index in ("loose_lanes_since", "tasks_lane", "tasks_due", "task_groups_then_lane", "events_gate")
    )
    database.close()


def test_a_failed_task_can_be_sent_back_to_a_host_that_would_be_forgotten(store, clock):
    task = running(store, entry(gates=[HOST]))
    settle(store, failed(task))
    clock.advance(29 * DAY)
    prune_hosts(store)
    revive(store, [task.id])
    assert state_of(store, task.id) == "pending"
    assert claim_one(store).id == task.id
