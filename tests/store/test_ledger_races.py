"""The ledger under any order of events and from many machines at once: no cap is passed, and the books
agree."""

import random
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.databases import memory_database, only_postgres, with_processes
from tests.harness.hand import hands
from tests.harness.tasks import claim_one, done, entry, events, put, retry, running, settle
from tests.store.money import NOON, USED, clock, counted, held, of, reserve, states
from thresher.core.clock import DAY, HOUR, SECOND, FrozenClock
from thresher.core.errors import ClaimLost
from thresher.store import budgets, ledger
from thresher.store.ledger import Caps, Hold, QuestionTaken

__all__ = ["clock"]


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "again", "end", "assume", "day", "back", "prune", "forget"]),
        st.integers(0, 120),
        st.integers(0, 3),
    ),
    max_size=40,
)


@pytest.mark.promise(15)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=MOVES)
def test_whatever_happens_in_whatever_order_no_cap_is_passed_and_the_books_agree(moves):
    clock = FrozenClock(NOON)
    database = memory_database(clock)
    store, caps = database.open(), Caps(200, 300, 400)
    put(store, *(entry() for _ in range(4)))
    tasks = [claim_one(store) for _ in range(4)]
    holds, settled = [], []
    for move, amount, who in moves:
        if move == "reserve":
            with_claim = of(tasks[who]) if who else None
            try:
                found = reserve(
                    store, amount, f"q{amount % 7}", claim=with_claim, app=f"app{who % 2}", caps=caps
                )
            except ClaimLost:
                continue
            holds += [(found, amount)] if isinstance(found, Hold) else []
        elif move == "settle" and holds:
            hold, most = holds.pop(0)
            ledger.settle(store, hold, min(amount, most), USED)
            settled.append(hold)
        elif move == "again" and settled:
            ledger.settle(store, settled[0], amount, USED)
        elif move == "end":
            store.settle([done(tasks[who])], report=False)
        elif move == "forget" and holds:
            holds.pop()
        elif move == "assume":
            ledger.assume(store, 2)
        elif move in ("day", "back"):
            clock.advance(DAY if move == "day" else -DAY)
        elif move == "prune":
            budgets.prune(store)
        for scope, (spent, reserved) in counted(store).items():
            assert spent + reserved <= caps.of(scope)
        assert budgets.drifted(store) == []
    database.close()


@pytest.mark.promise(3)
@pytest.mark.promise(15)
@with_processes
def test_machines_that_race_for_the_last_cents_never_pass_a_cap_and_wait_for_nobody_in_a_circle(database):
    stores = [database.open() for _ in range(4)]
    put(stores[0], *(entry() for _ in range(4)))
    tasks = [claim_one(stores[0]) for _ in range(4)]
    caps, ended, problems = Caps(400, 700, 1_000), threading.Event(), []

    def spending(store, seed):
        luck = random.Random(seed)
        try:
            for n in range(30):
                most = luck.randrange(1, 60)
                claim = of(luck.choice(tasks)) if luck.random() < 0.7 else None
                found = reserve(
                    store, most, f"q{luck.randrange(40)}/{n}", claim=claim, app=luck.choice("ab"), caps=caps
                )
                if isinstance(found, Hold) and luck.random() < 0.9:
                    ledger.settle(store, found, luck.randrange(most + 1), USED)
        except BaseException as problem:
            problems.append(problem)

    def sweeping(store):
        while not ended.is_set():
            ledger.assume(store, 3)
            budgets.repair(store)
            for scope, (spent, reserved) in counted(store).items():
                if spent + reserved > caps.of(scope):
                    problems.append((scope, spent, reserved))

    threads = [threading.Thread(target=spending, args=(store, seed)) for seed, store in enumerate(stores[:3])]
    sweeper = threading.Thread(target=sweeping, args=(stores[3],))
    for thread in (*threads, sweeper):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    sweeper.join()
    assert problems == []
    assert (budgets.drifted(stores[0]), events(stores[0], "ledger_repaired")) == ([], [])


@pytest.mark.promise(15)
@with_processes
def test_workers_of_one_lineage_that_state_a_budget_never_pass_it_together(database):
    """The setting would allow a hundred times as much."""
    stores = [database.open() for _ in range(3)]
    put(stores[0], entry())
    task = claim_one(stores[0])
    caps, problems, heard = Caps(250, 100_000, 100_000, own=True), [], []

    def spending(store, seed):
        luck = random.Random(seed)
        for n in range(25):
            most = luck.randrange(1, 40)
            found = reserve(store, most, f"{seed}/{n}", claim=of(task), caps=caps)
            if isinstance(found, Hold):
                spent, reserved = counted(store)[f"run:{task.id}"]
                problems.extend([(spent, reserved)] if spent + reserved > 250 else [])
                ledger.settle(store, found, luck.randrange(most // 2, most + 1), USED)
            else:
                heard.append(found)

    threads = [threading.Thread(target=spending, args=(store, seed)) for seed, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert heard
    assert {(each.own, each.scope) for each in heard} == {(True, f"run:{task.id}")}
    with stores[0].read() as session:
        assert 0 < budgets.spent_by(session, task.id) <= 250


@pytest.mark.promise(15)
@only_postgres
@pytest.mark.parametrize("seconds", [0, 2])
def test_two_who_ask_the_same_at_the_same_instant_pay_once(database, store, clock, seconds):
    """On two sides of midnight no budget of theirs is the same; the question is."""
    clock.advance(12 * HOUR - SECOND)
    with hands(database, store, 2) as (one, two):
        assert isinstance(reserve(one.store, question="q", app="a"), Hold)
        clock.advance(seconds * SECOND)
        two.begin(lambda machine: reserve(machine, question="q", app="b"))
        assert two.waits()
        one.commit()
        assert isinstance(two.finish(), QuestionTaken)
    assert states(store) == ["reserved"]
    assert budgets.drifted(store) == []


@pytest.mark.promise(2)
@pytest.mark.promise(15)
@only_postgres
def test_a_claim_that_is_lost_while_it_waits_for_the_books_spends_nothing(database, store):
    held(store, question="opens the books")
    task = running(store)
    with hands(database, store, 2) as (one, two):
        held(one.store, question="a")
        two.begin(lambda machine: reserve(machine, question="b", claim=of(task)))
        assert two.waits()
        settle(store, retry(task))
        one.commit()
        with pytest.raises(ClaimLost):
            two.finish()
    assert len(states(store)) == 2
