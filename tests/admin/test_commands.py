"""What a person may change, on every database."""

import asyncio

import pytest

from tests.harness.databases import only_sqlite
from tests.harness.gates import gate, gate_row
from tests.harness.tasks import claim_one, done, entry, failed, fields_of, put, running, settle, state_of
from thresher.admin import failures, sources, tasks
from thresher.admin.settings import set_setting, unset_setting
from thresher.admin.times import per_second, seconds, whole
from thresher.core.app import App
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Source, Stage
from thresher.core.task import NewTask
from thresher.engine.registry import Registry


async def nothing(ctx):
    return Done()


def registry(*start: NewTask) -> Registry:
    return Registry(
        [App("one", (Pipeline("page", Stage(nothing)), Pipeline("list", Stage(nothing))), start=start)]
    )


def test_a_key_that_is_taken_brings_the_task_that_has_it(store):
    first = tasks.add(store, registry(), NewTask("page", key="k"))
    again = tasks.add(store, registry(), NewTask("page", key="k"))
    assert (again.id, first.new, again.new) == (first.id, True, False)


def test_an_app_starts_once_whatever_became_of_its_tasks(store):
    reg = registry(NewTask("page"), NewTask("list"))
    assert len(tasks.start(store, reg)) == 2
    settle(store, done(claim_one(store)), done(claim_one(store)))
    assert tasks.start(store, reg) == []
    assert len(tasks.start(store, reg, again=True)) == 2


@pytest.mark.promise(8)
def test_a_retry_gives_a_fresh_budget_and_happens_for_all_or_none(store):
    first, second = (running(store, entry()) for _ in range(2))
    settle(store, failed(first), done(second))
    with pytest.raises(NotAllowed, match=f"{second.id} is succeeded"):
        tasks.retry(store, [first.id, second.id])
    with pytest.raises(UnknownName, match="no task 99"):
        tasks.retry(store, [first.id, 99])
    assert state_of(store, first.id) == "failed"
    assert tasks.retry(store, [first.id, first.id]).retried == [first.id]
    assert fields_of(store, first.id)["failures"] == 0


@pytest.mark.promise(2)
def test_of_several_failures_with_one_key_only_the_newest_comes_back(store):
    ids = []
    for _ in range(3):
        task = running(store, entry(key="k"))
        settle(store, failed(task))
        ids.append(task.id)
    done_ = failures.retry_failures(store, apply=True)
    assert (done_.matched, done_.result.retried, done_.result.key_taken) == (3, ids[2:], ids[:2])
    assert tasks.retry(store, ids[:1]).key_taken == ids[:1]


def test_a_dry_run_changes_nothing(store):
    task = running(store)
    settle(store, failed(task))
    assert failures.retry_failures(store, apply=False).matched == 1
    assert state_of(store, task.id) == "failed"


def test_waiting_tasks_are_cancelled_and_running_ones_asked(store):
    runs = running(store)
    (waits,) = put(store)
    result = tasks.cancel(store, [runs.id, waits], "enough")
    assert (result.cancelled, result.asked) == ([waits], [runs.id])
    with pytest.raises(NotAllowed, match="cancelled"):
        tasks.cancel(store, [waits], "enough")


def test_limits_not_named_stay_as_they_are(store):
    gate(store, "host:a.example", slots=3, interval_us=500_000, trip_after=7)
    sources.limit(store, "host:a.example", {"rate": "4", "in_flight": None})
    row = gate_row(store, "host:a.example")
    assert (row["max_in_flight"], row["interval_us"], row["trip_after"]) == (3, 250_000, 7)


def test_a_pause_cannot_open_what_is_disabled(store):
    gate(store, "source:a")
    sources.disable(store, "a", "lawyers")
    with pytest.raises(NotAllowed, match="disabled"):
        sources.pause(store, "a", 1, "tea")
    with pytest.raises(NotAllowed, match="lawyers"):
        sources.resume(store, "a")
    sources.enable(store, "a")
    assert gate_row(store, "source:a")["open_after"] == 0


@pytest.mark.promise(10)
def test_a_probe_that_never_answers_counts_as_trouble(store, monkeypatch):
    async def silence() -> str | None:
        await asyncio.Event().wait()
        return None

    monkeypatch.setattr(sources, "PROBE_SECONDS", 0.01)
    gate(store, "source:a", trip_after=5)
    found = sources.test(store, Registry([App("one", (), sources=(Source("a", probe=silence),))]), "a")
    assert (found.ran, found.ok) == (True, False)
    assert "TimedOut" in (found.says or "")
    assert gate_row(store, "source:a")["failures"] == 1


@pytest.mark.promise(12)
def test_a_setting_goes_back_to_what_the_project_says(store):
    store.project_settings = {"retry.base": 7.0}
    assert set_setting(store, "retry.base", "5", "ann") == 5
    assert unset_setting(store, "retry.base", "ann") == 7


@only_sqlite
def test_durations_and_rates_are_read_as_people_write_them(store):
    given = {
        "90": 90,
        "90s": 90,
        "10m": 600,
        "2h": 7_200,
        "1d": 86_400,
        "1h30m": 5_400,
        "500ms": 0.5,
        " 5 m ": 300,
    }
    assert {text: seconds(text) for text in given} == given
    assert [per_second(text) for text in ("2", "0.5", "30/m", "none", "off")] == [2, 0.5, 0.5, None, None]
    assert (whole("3", "burst"), whole("none", "burst")) == (3, None)
    for wrong in ("", "m", "5x", "-5s", "1h30", "ten", "1e9", "٣s"):
        with pytest.raises(UsageError, match="10m"):
            seconds(wrong)
    for wrong in ("", "/m", "5/y", "fast", "-1"):
        with pytest.raises(UsageError, match="30/m"):
            per_second(wrong)
