"""Long work in portions: a stage that goes on with itself, and what each portion leaves behind."""

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import App, Done, Effect, NewTask, Next, Pipeline, Record, Stage

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
    assert rows(workshop.store, "select key, seen from records order by key") == [
        ("0", 1),
        ("1", 1),
        ("2", 1),
        ("3", 1),
    ]
    assert workshop.endings(task_id) == ["next", "next", "retry", "next", "done"]


def test_an_effect_that_its_app_does_not_have_fails_its_own_task_and_says_so(workshop):
    async def boast(ctx):
        return Done(effects=(Effect("move.mountains"),), records=(Record("boast", "a"),))

    (task_id,) = workshop.drained(one_stage("boast", boast), NewTask("boast"), retry__max_retries=0)
    assert workshop.state(task_id) == "failed"
    assert "has no effect 'move.mountains'" in workshop.fields(task_id)["reason"]
    assert rows(workshop.store, "select count(*) from records") == [(0,)]


def make_mark(session, data, now):
    session.run(
        "insert into role_names (key, name, role_id) values (:key, :key, 1) on conflict do nothing", data
    )


@pytest.mark.parametrize("make", [make_mark, f"{__name__}:make_mark"])
def test_an_app_makes_its_effects_by_a_function_or_by_its_name(workshop, make):
    async def thresh(ctx):
        return Done(effects=(Effect("mark", {"key": "a"}),))

    app = App("threshing", (Pipeline("thresh", Stage(thresh)),), effects={"mark": make})
    (task_id,) = workshop.drained(app, NewTask("thresh"))
    assert workshop.state(task_id) == "succeeded"
    assert rows(workshop.store, "select key from role_names") == [("a",)]
