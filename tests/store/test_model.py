"""The model check: random walks over everything that can happen, with every promise of the queue checked at
every step.

A violation names its seed. `THRESHER_MODEL_SEED=7` replays that walk alone; `THRESHER_MODEL_STEPS=5000` makes
it longer.
"""

import os

import pytest

from tests.harness.databases import only_postgres, only_sqlite
from tests.harness.walk import Walk

SEED, STEPS = os.environ.get("THRESHER_MODEL_SEED"), os.environ.get("THRESHER_MODEL_STEPS")


def seeds(number):
    return [int(SEED)] if SEED else range(number)


def steps(number):
    return int(STEPS) if STEPS else number


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@only_sqlite
@pytest.mark.parametrize("seed", seeds(24))
def test_no_walk_breaks_a_promise_on_sqlite(make_store, clock, seed):
    Walk([make_store(), make_store()], clock, seed).run(steps(400))


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(19)
@only_postgres
@pytest.mark.parametrize("seed", seeds(6))
def test_no_walk_breaks_a_promise_on_postgres(make_store, clock, seed):
    Walk([make_store(), make_store()], clock, seed, repair_every=25).run(steps(200))
