"""The pages about schedules, costs and health, on both databases: what they show, and what their forms do."""

import pytest

from tests.harness.tasks import claim, done, entry, rows, settle, worker
from tests.web.pages.visitor import page, with_anna
from thresher.admin.schedules import list_firings
from thresher.admin.sources import add, disable
from thresher.core.clock import HOUR
from thresher.store.schedules import Plan, fire, read_plans, save_plan

EVIL = "<img src=x onerror=alert(1)>"


def planned(store, name="tea/time", **more):
    """A schedule of these tests."""
    with store.write() as session:
        now = store.backend.now(session)
        save_plan(
            session,
            Plan(name, EVIL, entry(kind="visit"), None, HOUR, "UTC", "skip", now + HOUR, **more),
        )


def test_a_schedule_is_shown_with_its_next_firing_and_what_came_of_the_last(world):
    anna = with_anna(world).log_in()
    planned(world.store)
    shown = anna.see("/schedules")
    for said in ("tea/time", "every 1h", "none yet", "&lt;img src=x"):
        assert said in shown
    with world.store.read() as session:
        plan = next(each for each in read_plans(session) if each.name == "tea/time")
        now = world.store.backend.now(session)
    assert fire(world.store, plan, [now], now + HOUR)
    settle(world.store, done(claim(world.store)[0]))
    found = next(each for each in list_firings(world.store) if each.schedule.name == "tea/time")
    assert found.state == "succeeded"
    assert f'href="/tasks/{found.task}"' in anna.see("/schedules")


def test_a_schedule_is_paused_resumed_and_fired_by_forms(world):
    anna = with_anna(world).log_in()
    planned(world.store)
    path = "/schedules/tea%2Ftime"
    assert f'action="{path}/pause"' in anna.see("/schedules")
    assert anna.post(f"{path}/pause").headers["Location"] == "/schedules"
    shown = anna.see("/schedules")
    assert "when it is resumed" in shown
    before = rows(world.store, "select next_at, last_at from schedules where name = 'tea/time'")
    told = anna.post(f"{path}/fire")
    ((task,),) = rows(world.store, "select id from tasks where kind = 'visit'")
    assert (told.status, told.headers["Location"]) == (303, f"/tasks/{task}")
    assert rows(world.store, "select next_at, last_at from schedules where name = 'tea/time'") == before
    anna.post(f"{path}/resume")
    assert f'action="{path}/pause"' in anna.see("/schedules")
    for change in ("pause", "resume", "fire"):
        page(anna.post(f"/schedules/nobody/{change}"), 404)


SPENT = """insert into spendings (at, day, task_id, claim, tracking_id, app, provider, model, prompt, question, reserved,
    spent, input_tokens, output_tokens, state, expires_at) values (:at, :day, 7, 1, 7, :app, 'own', 'small', 'p', :question,
    900000, :spent, 1200, 30, 'settled', 0)"""


@pytest.fixture
def spent(world):
    """Two calls of two days."""
    with world.store.write() as session:
        now = world.store.backend.now(session)
        for number, day in enumerate(("2023-11-13", "2023-11-14")):
            session.run(
                SPENT,
                {
                    "at": now,
                    "day": day,
                    "app": EVIL,
                    "question": str(number),
                    "spent": 120_000 * (number + 1),
                },
            )


@pytest.mark.usefixtures("spent")
def test_costs_are_shown_by_what_one_asks_for_and_lead_to_their_calls(world):
    anna = with_anna(world).log_in()
    shown = anna.see("/costs")
    for said in ("2023-11-13", "$0.24", "2 calls</a> cost $0.36 in all", "$10.00", "day by day"):
        assert said in shown
    assert "&lt;img src=x" in anna.see("/costs?by=app")
    assert "own/small" in anna.see("/costs?by=model&since=7d")
    tasks = anna.see("/costs?by=task")
    assert 'href="/tasks/7"' in tasks
    assert 'href="/costs/calls?task=7&amp;since=30d"' in tasks
    assert anna.see("/costs/calls?task=7").count("settled") == 2
    assert 'href="/costs/calls?model=own%2Fsmall&amp;since=7d"' in anna.see("/costs?by=model&since=7d")
    assert anna.see("/costs/calls?model=own%2Fsmall&day=2023-11-13&since=7d").count("settled") == 1
    assert 'href="/costs/calls?subject=-&amp;since=30d"' in anna.see("/costs?by=subject")
    assert anna.see("/costs/calls?subject=-&kind=-").count("settled") == 2
    assert "No call is like that" in anna.see("/costs/calls?run=8")
    for wrong in (
        "/costs?by=weather",
        "/costs?since=soon",
        f"/costs/calls?task={'9' * 30}",
        "/costs/calls?run=x",
    ):
        anna.see(wrong, 400)


def test_nothing_spent_says_that_no_model_was_called(world):
    anna = with_anna(world).log_in()
    assert "No model was called in the last <bdi>30 days</bdi>" in anna.see("/costs")
    assert "No model was called" in anna.see("/costs/calls")


def test_health_says_what_is_wrong_first_and_what_is_ok_too(world):
    anna = with_anna(world).log_in()
    add(world.store, "cafe", {})
    disable(world.store, "cafe", EVIL)
    worker(world.store, EVIL)
    shown = anna.see("/health")
    assert "Something needs attention" in shown
    assert shown.index("source:cafe is disabled") < shown.index("counters and lanes agree")
    assert 'class="pill live">ok</span>' in shown
    assert "<img src=x" not in shown
    assert "no worker" not in shown.lower()


def test_looking_at_health_writes_nothing(world, monkeypatch):
    """Else every look would tell all open pages to look again."""
    anna = with_anna(world).log_in()

    def refuse(**_):
        pytest.fail("a look has written")

    monkeypatch.setattr(world.store.backend, "write", refuse)
    for path in ("/health", "/", "/sources", "/schedules", "/costs"):
        anna.see(path)
