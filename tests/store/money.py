"""Money as tests hold it back: ample caps, a day at noon, and what the books say."""

import pytest

from tests.harness.tasks import rows
from thresher.core.answer import DOLLAR, Usage
from thresher.core.clock import DAY, HOUR, MINUTE, FrozenClock
from thresher.store import ledger
from thresher.store.ledger import Caps, Hold

AMPLE = Caps(1_000 * DOLLAR, 1_000 * DOLLAR, 1_000 * DOLLAR)
USED = Usage(1, 100, 20)
NOON = 20_000 * DAY + 12 * HOUR  # 2024-10-04


@pytest.fixture
def clock():
    return FrozenClock(NOON)


def reserve(
    store, most=100, question="q", *, claim=None, app="roles", caps=AMPLE, expires_us=MINUTE, model="m"
):
    return ledger.reserve(
        store,
        claim=claim,
        app=app,
        provider="openai",
        model=model,
        prompt="extract.1",
        question=question,
        most=most,
        caps=caps,
        expires_us=expires_us,
    )


def held(store, most=100, question="q", **how):
    found = reserve(store, most, question, **how)
    assert isinstance(found, Hold), found
    return found


def of(task):
    return (task.id, task.claim)


def counted(store):
    return {
        scope: (spent, reserved)
        for scope, spent, reserved in rows(store, "select scope, spent, reserved from budgets")
    }


def states(store):
    return [row[0] for row in rows(store, "select state from spendings order by id")]
