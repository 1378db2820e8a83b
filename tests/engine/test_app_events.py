"""Events of an app: written with the settlement or by its service, shown and told like the machine's.

What nobody lists is refused by name."""

import pytest

from tests.engine.workshop import Workshop
from thresher import App, Context, Done, Failed, NewEvent, NewTask, Outcome, Pipeline, Stage
from thresher.admin.events import list_events
from thresher.core.errors import DuplicateKind, UsageError
from thresher.engine.registry import Registry
from thresher.store.events import record_event

OVERFLOWED = "A cup was filled over its brim."


async def pour(ctx: Context) -> Outcome:
    if "event" in ctx.task.payload:
        return Done(events=(NewEvent(ctx.task.payload["event"]),))
    return Failed("the cup is full", events=(NewEvent("cup_overflowed", {"cup": 7}),))


def app(name: str = "tea", **more) -> App:
    return App(
        name, pipelines=(Pipeline("pour", Stage(pour)),), events={"cup_overflowed": OVERFLOWED}, **more
    )


def seen(workshop: Workshop, **asked):
    return [
        (each["kind"], each["task_id"], each["detail"], each["sentence"])
        for each in list_events(workshop.store, **asked)
    ]


@pytest.mark.promise(2)
@pytest.mark.promise(16)
def test_an_event_of_an_app_is_written_with_the_settlement_listed_and_told(workshop: Workshop):
    heard = []
    (task,) = workshop.drained(app(on={"cup_overflowed": heard.append}), NewTask("pour"))
    assert seen(workshop, kind="cup_overflowed") == [("cup_overflowed", task, {"cup": 7}, OVERFLOWED)]
    assert [(each.kind, each.task_id, each.detail) for each in heard] == [
        ("cup_overflowed", task, {"cup": 7})
    ]


def test_an_event_that_the_app_of_the_task_does_not_list_is_refused_where_it_is_made(workshop: Workshop):
    registry = workshop.set_up(app(), retry__max_retries=0)
    ids = workshop.put(
        registry, NewTask("pour", {"event": "cup_broke"}), NewTask("pour", {"event": "gate_paused"})
    )
    workshop.drain(registry)
    for task, kind in zip(ids, ("cup_broke", "gate_paused"), strict=True):
        said = workshop.fields(task)
        assert (said["state"], said["error"]) == ("failed", "UsageError")
        assert f"app 'tea' has no event '{kind}'; it has: cup_overflowed" in said["reason"]
    assert seen(workshop) == []


def write_two(workshop: Workshop) -> None:
    with workshop.store.write() as session:
        record_event(session, "cup_overflowed", 2, cup=9)
        record_event(session, "cup_broke", 2)


def test_a_service_writes_events_that_an_app_lists_and_no_others(workshop: Workshop):
    workshop.set_up(app())
    with workshop.store.write() as session:
        record_event(session, "cup_overflowed", 1, cup=8)
    with pytest.raises(UsageError, match=r"there is no event kind 'cup_broke'.*App\(events="):
        write_two(workshop)
    assert [detail for _, _, detail, _ in seen(workshop)] == [{"cup": 8}]


def test_events_of_an_app_that_is_gone_are_still_shown(workshop: Workshop):
    workshop.drained(app(), NewTask("pour"))
    workshop.set_up(App("other"))
    ((kind, _, _, sentence),) = seen(workshop)
    assert (kind, "not enabled here" in sentence) == ("cup_overflowed", True)
    with pytest.raises(UsageError, match="there is no event kind 'cup_overflowed'; the kinds are "):
        seen(workshop, kind="cup_overflowed")


def test_two_apps_with_one_kind_are_refused_by_name():
    with pytest.raises(
        DuplicateKind, match="event 'cup_overflowed' is listed by app 'tea' and again by 'coffee'"
    ):
        Registry([app(), App("coffee", events={"cup_overflowed": OVERFLOWED})])


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ({"gate_paused": "A cup."}, "'gate_paused' is one of Thresher's own"),
        ({"task_failed": "A cup."}, "'task_failed' is one of Thresher's own"),
        ({"Cup Broke": "A cup."}, "write lower-case words with underscores: cup_broke"),
        ({"cup_broke": " "}, "'cup_broke' has no sentence"),
    ],
)
def test_an_event_has_a_name_of_its_own_and_a_sentence(events: dict[str, str], why: str):
    with pytest.raises(UsageError, match=why):
        App("tea", events=events)


def test_an_app_may_subscribe_to_events_of_another_that_is_enabled():
    waiter = App("waiter", on={"cup_overflowed": print})
    Registry([app(), waiter])
    with pytest.raises(
        UsageError,
        match=r"app 'waiter' subscribes to unknown events: 'cup_overflowed'; the events are: .*group_ended",
    ):
        Registry([waiter])
