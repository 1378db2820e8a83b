"""Apps are told what happens: after the commit, beside the work, and whatever a subscriber does."""

import asyncio

import pytest

from tests.engine.workshop import PATIENCE, Workshop
from thresher import App, Blocked, Context, Done, Failed, Group, NewTask, Outcome, Pipeline, Source, Stage
from thresher.core.errors import UsageError
from thresher.engine.registry import Registry


async def do(ctx: Context) -> Outcome:
    how = ctx.task.payload.get("how")
    if how == "fail":
        return Failed("it cannot be done")
    if how == "wall":
        raise Blocked("a captcha")
    if how == "spawn":
        twins = (NewTask("do", key="twin"), NewTask("do", key="twin"))
        return Done(children=twins, group=Group("twins"))
    return Done()


def app(**on):
    pipelines = (Pipeline("do", Stage(do)), Pipeline("walled", Stage(do, through=("source:wall",))))
    return App("test", pipelines=pipelines, sources=(Source("wall"),), on=on)


def told_of(workshop: Workshop, *kinds: str, tasks: tuple[NewTask, ...]):
    heard = []
    workshop.drained(app(**dict.fromkeys(kinds, heard.append)), *tasks)
    return heard


def test_the_ends_of_tasks_are_told_with_their_state_and_reason(workshop):
    heard = told_of(
        workshop, "task_ended", "task_failed", tasks=(NewTask("do"), NewTask("do", {"how": "fail"}))
    )
    told = sorted((each.kind, each.detail["state"], each.detail["reason"]) for each in heard)
    assert told == [
        ("task_ended", "failed", "it cannot be done"),
        ("task_ended", "succeeded", None),
        ("task_failed", "failed", "it cannot be done"),
    ]
    assert {each.detail["kind"] for each in heard} == {"do"}


def test_groups_gates_and_refused_spawns_are_told_too(workshop):
    tasks = (NewTask("do", {"how": "spawn"}), NewTask("walled", {"how": "wall"}))
    heard = {
        each.kind: each
        for each in told_of(workshop, "group_ended", "gate_disabled", "spawn_refused", tasks=tasks)
    }
    assert heard["group_ended"].detail["key"] == "twins"
    assert heard["gate_disabled"].gate == "source:wall"
    assert (heard["spawn_refused"].detail["rule"], heard["spawn_refused"].detail["key"]) == (
        "live_in_lineage",
        "twin",
    )


def test_each_is_told_once_and_nothing_of_before(workshop):
    assert [
        each.detail["key"]
        for each in told_of(workshop, "group_ended", tasks=(NewTask("do", {"how": "spawn"}),))
    ] == ["twins"]
    assert len(told_of(workshop, "group_ended", tasks=(NewTask("do", {"how": "spawn"}),))) == 1


@pytest.mark.promise(2)
def test_a_subscriber_that_raises_or_hangs_changes_nothing(workshop, caplog, monkeypatch):
    heard = []

    def broken(event):
        raise ValueError("no")

    async def hanging(event):
        heard.append(event.task_id)
        await asyncio.Event().wait()

    monkeypatch.setattr("thresher.engine.subscribers.FINISH_SECONDS", 0.05)
    registry = workshop.set_up(app(group_ended=broken, task_ended=hanging))
    ids = workshop.put(registry, NewTask("do", {"how": "spawn"}))
    workshop.drain(registry)
    assert (workshop.state(ids[0]), len(heard)) == ("succeeded", 1)
    assert "a subscriber took too long" in caplog.text


def test_a_raising_subscriber_is_logged_and_the_next_one_is_told(workshop, caplog):
    heard = []

    def broken(event):
        raise ValueError("no")

    workshop.drained(app(task_ended=broken, task_failed=heard.append), NewTask("do", {"how": "fail"}))
    assert (len(heard), "the subscriber to task_ended raised" in caplog.text) == (1, True)


def test_tasks_of_other_apps_are_not_told(workshop):
    heard = []
    other = App("other", pipelines=(Pipeline("other", Stage(do)),), on={"task_ended": heard.append})
    workshop.set_up(app())
    registry = Registry([app(), other], workshop.store.settings)
    workshop.put(registry, NewTask("do"), NewTask("other"))
    asyncio.run(asyncio.wait_for(workshop.worker(registry, until_idle=True).run(), PATIENCE))
    assert [each.detail["kind"] for each in heard] == ["other"]


def test_what_nobody_tells_cannot_be_subscribed_to():
    with pytest.raises(
        UsageError, match="unknown events: 'task_started'; the events are: task_ended, task_failed"
    ):
        Registry([app(task_started=print)])
