import pytest

from tests.harness.databases import only_postgres
from tests.store.schedules import SCHEDULES


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@only_postgres
@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda schedule: schedule.__name__)
def test_no_race_loses_a_task_or_a_wake_up(database, store, clock, schedule):
    assert list(schedule(database, store, clock)) == []
