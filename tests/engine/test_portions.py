"""Long work in portions: a stage that goes on with itself, and what each portion leaves behind."""

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import Done, NewTask, Next, Record
from thresher.core.deed import Deed

pytestmark = with_processes


@pytest.mark.promise(1)
def test_a_stage_that_goes_on_with_itself_keeps_every_portion_and_its_place(workshop):
    stumbled = []

    async def thresh(ctx):
        at = ctx.task.checkpoint.get("at", 0)
        if at == 2 and not stumbled:
            stumbled.append(at)
            raise ConnectionError("once in the middle")
        sheaf = Record("sheaf", str(at))
        return Done(records=(sheaf,)) if at == 3 else Next({"at": at + 1}, again=True, records=(sheaf,))

    (task_id,) = workshop.drained(one_stage("thresh", thresh), NewTask("thresh"), retry__base=0)
    assert workshop.state(task_id) == "succeeded"
    assert rows(workshop.store, "select key, seen from records order by key") == [("0", 1), ("1", 1), ("2", 1), ("3", 1)]
    assert workshop.endings(task_id) == ["next", "next", "retry", "next", "done"]


def test_a_deed_that_the_store_does_not_know_fails_its_own_task_and_says_so(workshop):
    async def boast(ctx):
        return Done(deeds=(Deed("move.mountains"),), records=(Record("boast", "a"),))

    (task_id,) = workshop.drained(one_stage("boast", boast), NewTask("boast"), retry__max_retries=0)
    assert workshop.state(task_id) == "failed"
    assert "move.mountains" in workshop.fields(task_id)["reason"]
    assert rows(workshop.store, "select count(*) from records") == [(0,)]
