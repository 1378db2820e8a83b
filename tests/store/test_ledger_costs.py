"""What a call costs the ledger, counted and not timed."""

import pytest

from tests.harness.costs import instructions, keep_still, rows_read
from tests.harness.databases import only_postgres, only_sqlite
from tests.harness.hand import hands
from tests.store.money import USED, clock, held
from thresher.store import ledger

__all__ = ["clock"]


def fill(store, number):
    """Many calls of long ago, and a few under way."""
    row = """insert into spendings (at, day, task_id, claim, tracking_id, app, provider, model, prompt, question, reserved, spent, state,
        expires_at) values (0, '1970-01-01', :n, 1, :n, 'old', 'p', 'm', 'x', :q, 5, 5, 'settled', 1)"""
    with store.write() as session:
        session.many(row, [{"n": n + 1_000, "q": f"old {n}"} for n in range(number)])


@pytest.mark.promise(4)
@only_sqlite
def test_a_call_costs_the_same_however_long_the_ledger_is(store):
    def call(n):
        ledger.settle(store, held(store, question=f"q{n}"), 5, USED)
        held(store, question=f"left {n}", expires_us=0)
        assert ledger.assume(store, 10) == 1

    call(0)
    few = instructions(store, lambda: call(1), step=10)
    fill(store, 5_000)
    assert instructions(store, lambda: call(2), step=10) <= 1.5 * few


@pytest.mark.promise(4)
@only_postgres
def test_no_call_reads_the_ledger_from_end_to_end_on_postgres(database, store):
    """With plans that were made while it was empty, too."""

    def late(hand):
        ledger.settle(hand.store, held(hand.store, question="late"), 5, USED)
        ledger.assume(hand.store, 10)
        yield

    keep_still(store, "spendings", "budgets", "answers")
    with hands(database, store, 1) as (hand,):
        for n in range(10):
            ledger.settle(hand.store, held(hand.store, question=f"early {n}"), 5, USED)
            ledger.assume(hand.store, 10)
        hand.commit()
        fill(store, 5_000)
        read = rows_read(hand, ("spendings", "budgets", "answers"), late(hand))
    assert sum(read.values()) < 1_000, read
