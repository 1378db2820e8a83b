"""Errors by class: what the task spends, what the gate hears; and stages that behave as no stage should."""

import asyncio
import threading

import pytest

from tests.engine.workshop import PATIENCE, one_stage
from tests.harness.databases import with_processes
from tests.harness.gates import gate_row
from tests.harness.tasks import events, rows
from thresher import (
    Blocked,
    Done,
    Failed,
    NewTask,
    Next,
    Permanent,
    RateLimited,
    Record,
    Source,
    Transient,
    Unauthorized,
)
from thresher.core.clock import FOREVER, SECOND
from thresher.core.errors import DatabaseProblem
from thresher.store import sources

pytestmark = with_processes

WEB = ("source:web",)


def visits(perform, **source):
    return one_stage("visit", perform, through=WEB, sources=(Source("web", **source),))


def raising(*problems):
    """A stage that raises these one after another, and then is done."""
    left = list(problems)

    async def perform(ctx):
        if left:
            raise left.pop(0)
        return Done()

    return perform


@pytest.mark.promise(8)
def test_a_failure_is_tried_again_after_a_wait_that_doubles_until_the_budget_is_gone(workshop):
    registry = workshop.set_up(
        one_stage("visit", raising(*(Transient(f"no {n}") for n in range(9)))),
        retry__base=60.0,
        retry__jitter=0.2,
    )
    (task_id,) = workshop.put(registry, NewTask("visit"))
    for failures in (1, 2, 3):
        workshop.drain(registry)
        fields = workshop.fields(task_id)
        whole = 60 * SECOND * 2 ** (failures - 1)
        assert (fields["state"], fields["failures"]) == ("retryable", failures)
        assert 0.8 * whole <= fields["run_at"] - workshop.clock.now() <= whole
        workshop.clock.advance(fields["run_at"] - workshop.clock.now() - SECOND)
        workshop.drain(registry)
        assert workshop.fields(task_id)["claim"] == failures, "it came back too early"
        workshop.clock.advance(SECOND)
    workshop.drain(registry)
    assert workshop.endings(task_id) == ["retry", "retry", "retry", "failed"]
    assert workshop.fields(task_id)["error"] == "Transient"


@pytest.mark.promise(8)
def test_what_cannot_be_helped_by_another_try_fails_at_once(workshop):
    async def fail(ctx):
        if ctx.task.payload:
            raise Permanent("404")
        return Failed("the page does not exist")

    ids = workshop.drained(one_stage("visit", fail), NewTask("visit"), NewTask("visit", {"raise": 1}))
    assert [workshop.endings(each) for each in ids] == [["failed"], ["failed"]]
    assert workshop.fields(ids[1])["error"] == "Permanent"


@pytest.mark.promise(10)
def test_a_surprise_spends_a_failure_and_no_source_hears_of_it(workshop):
    (task_id,) = workshop.drained(visits(raising(ValueError("a bug of ours"))), NewTask("visit"))
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("retryable", "ValueError")
    assert gate_row(workshop.store, "source:web")["failures"] == 0


@pytest.mark.promise(8)
@pytest.mark.promise(10)
def test_a_source_that_asks_us_to_wait_is_left_alone_and_the_task_spends_nothing(workshop):
    registry = workshop.set_up(visits(raising(RateLimited("slow down", retry_after=90.0))))
    first, second = workshop.put(registry, NewTask("visit"), NewTask("visit"))
    workshop.drain(registry)
    gate = gate_row(workshop.store, "source:web")
    assert (gate["open_after"] - workshop.clock.now(), gate["closed_tag"]) == (90 * SECOND, "rate_limited")
    assert workshop.fields(first)["failures"] == workshop.fields(second)["failures"] == 0

    workshop.clock.advance(89 * SECOND)
    workshop.drain(registry)
    assert rows(workshop.store, "select count(*) from tasks where finished_at is null")[0][0] >= 1
    workshop.clock.advance(SECOND)
    workshop.drain(registry)
    assert {workshop.state(first), workshop.state(second)} == {"succeeded"}


@pytest.mark.promise(10)
@pytest.mark.parametrize(
    ("problem", "tag"), [(Blocked("captcha"), "anti_bot"), (Unauthorized("bad key"), "auth")]
)
def test_a_wall_or_a_bad_key_closes_the_source_until_a_person_opens_it(workshop, problem, tag):
    registry = workshop.set_up(visits(raising(problem)))
    (task_id,) = workshop.put(registry, NewTask("visit"))
    workshop.drain(registry)
    gate = gate_row(workshop.store, "source:web")
    assert (gate["open_after"], gate["closed_tag"]) == (FOREVER, tag)
    assert (workshop.state(task_id), workshop.fields(task_id)["failures"]) == ("pending", 0)
    assert [kind for kind, *_ in events(workshop.store, "gate_disabled")] == ["gate_disabled"]

    workshop.clock.advance(365 * 86_400 * SECOND)
    workshop.drain(registry)
    assert workshop.state(task_id) == "pending"
    sources.resume(workshop.store, "source:web")
    workshop.drain(registry)
    assert workshop.state(task_id) == "succeeded"


@pytest.mark.promise(10)
def test_failures_in_a_row_trip_the_breaker_and_one_trial_lets_it_recover(workshop):
    problems = [Transient("down") for _ in range(3)]
    registry = workshop.set_up(
        visits(raising(*problems), trip_after=3, cooldown=10.0, in_flight=1), retry__base=0.0
    )
    ids = workshop.put(registry, *(NewTask("visit") for _ in range(5)))
    workshop.drain(registry)
    gate = gate_row(workshop.store, "source:web")
    assert (gate["failures"], gate["tripped_until"] - workshop.clock.now()) == (3, 10 * SECOND)
    assert rows(workshop.store, "select count(*) from attempts") == [(3,)], (
        "a tripped gate lets nobody through"
    )

    workshop.clock.advance(10 * SECOND)
    workshop.drain(registry)
    assert {workshop.state(each) for each in ids} == {"succeeded"}
    assert [kind for kind, *_ in events(workshop.store) if kind.startswith("gate_")] == [
        "gate_tripped",
        "gate_recovered",
    ]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even a message")


class Alien(BaseException):
    pass


@pytest.mark.promise(1)
@pytest.mark.parametrize(
    "problem",
    [SystemExit(3), GeneratorExit(), asyncio.CancelledError("my own"), Mute(), TimeoutError(), Alien()],
    ids=lambda problem: type(problem).__name__,
)
def test_whatever_a_stage_raises_ends_its_attempt_and_not_its_worker(workshop, problem):
    registry = workshop.set_up(visits(raising(problem)))
    (task_id,) = workshop.put(registry, NewTask("visit"))
    workshop.drain(registry)
    assert workshop.endings(task_id) == ["retry"]
    assert gate_row(workshop.store, "source:web")["in_flight"] == 0


@pytest.mark.promise(8)
@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -5.0, 1e300])
def test_a_wait_that_makes_no_sense_neither_stops_the_worker_nor_spins(workshop, wait):
    registry = workshop.set_up(visits(raising(RateLimited("slow down", retry_after=wait))))
    (task_id,) = workshop.put(registry, NewTask("visit"))
    workshop.drain(registry)
    assert len(workshop.endings(task_id)) == 1
    assert workshop.state(task_id) in ("pending", "retryable")
    assert gate_row(workshop.store, "source:web")["in_flight"] == 0


@pytest.mark.promise(1)
def test_a_plain_function_that_wants_to_exit_ends_its_attempt_only(workshop):
    def leave(ctx):
        raise SystemExit(1)

    (task_id,) = workshop.drained(one_stage("leave", leave), NewTask("leave"))
    assert workshop.endings(task_id) == ["retry"]


@pytest.mark.parametrize("nonsense", [None, 7, "done", Done, (Done(),)], ids=repr)
def test_a_stage_that_returns_nonsense_is_told_what_to_return(workshop, nonsense):
    async def perform(ctx):
        return nonsense

    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"]) == ("failed", "InvalidOutcome")
    assert (
        "return Done(), Next(...), Filtered(...), Skipped(...), Snooze(...) or Failed(...)"
        in fields["reason"]
    )


def test_going_on_after_the_last_stage_is_an_error_that_says_so(workshop):
    async def perform(ctx):
        return Next({})

    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    assert "it is the last stage; return Done" in workshop.fields(task_id)["reason"]


@pytest.mark.promise(10)
def test_a_stage_that_takes_too_long_counts_against_its_source(workshop):
    async def hang(ctx):
        await asyncio.Event().wait()

    app = one_stage("visit", hang, through=WEB, timeout=0.05, sources=(Source("web"),))
    (task_id,) = workshop.drained(app, NewTask("visit"))
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("retryable", "TimedOut")
    assert gate_row(workshop.store, "source:web")["failures"] == 1


def test_a_plain_function_that_takes_too_long_loses_its_attempt_although_its_thread_goes_on(workshop):
    go_on = threading.Event()

    def hang(ctx):
        go_on.wait(PATIENCE)
        return Done()

    try:
        (task_id,) = workshop.drained(one_stage("visit", hang, timeout=0.05), NewTask("visit"))
    finally:
        go_on.set()
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("retryable", "TimedOut")


@pytest.mark.promise(1)
@pytest.mark.promise(19)
@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "x" * 100_000], ids=["nul", "surrogate", "long"])
def test_text_that_a_database_cannot_keep_changes_nothing_about_the_ending(workshop, text):
    async def perform(ctx):
        if ctx.task.payload:
            raise Transient(text)
        return Done(text, records=(Record("page", "a"),))

    ids = workshop.drained(one_stage("visit", perform), NewTask("visit"), NewTask("visit", {"raise": 1}))
    assert [workshop.endings(each) for each in ids] == [["done"], ["retry"]]


@pytest.mark.promise(8)
@pytest.mark.parametrize(
    "problem",
    [DatabaseProblem("the disk is full"), ValueError("a bug of ours")],
    ids=["database", "surprise"],
)
def test_writes_that_fail_while_reads_succeed_are_tried_less_and_less_often(workshop, caplog, problem):
    registry = workshop.set_up(one_stage("visit", lambda ctx: Done()))
    workshop.put(registry, NewTask("visit"))
    store, left = workshop.machine(), [4]
    turn = store.backend.turn

    def refused(*asked):
        left[0] -= 1
        if left[0] >= 0:
            raise problem
        return turn(*asked)

    store.backend.turn = refused
    with caplog.at_level("WARNING", "thresher.worker"):
        workshop.drain(registry, store=store)
    waits = [record.args[1] for record in caplog.records if "trying again" in record.msg]
    assert waits == [0.1, 0.2, 0.5, 1.0]
