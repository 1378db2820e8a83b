import inspect
import math
from functools import partial

import pytest

from tests.harness.tasks import entry, filing
from thresher.core import errors
from thresher.core.backoff import Backoff
from thresher.core.clock import MINUTE, SECOND
from thresher.core.decide import MAX_MESSAGE, POLICY, Step, ruling_for, settle_error, settle_outcome
from thresher.core.errors import InvalidPayload, InvalidUrl
from thresher.core.limits import MAX_SETTLEMENT_BYTES
from thresher.core.outcome import Done, Failed, Filtered, Finds, Next, Skipped, Snooze
from thresher.core.record import Filing, Record
from thresher.core.settlement import Ending, Health
from thresher.core.task import Entry, NewTask, State, Task

CLASSES = [cls for name, cls in inspect.getmembers(errors, inspect.isclass) if not name.startswith("_")]
TASK_ERRORS = [cls for cls in CLASSES if issubclass(cls, errors.TaskError)]


class House:
    """A house of one pipeline: fetch, then extract."""

    def admit(self, new):
        return entry(new.kind, key=new.key)

    def check_effect(self, task, effect):
        return effect

    def pack_result(self, task, result):
        return f"{result}"

    def pack(self, record):
        return filing(record.key)

    def step(self, task, outcome):
        return Step("extract", ("source:model",), "{}")

    def on_failed(self, task, error):
        return Finds(records=(Record("grave", error.name),))


def task(failures=0, lane=("host:acme.example",)):
    return Task(1, 3, "page", "fetch", {}, {}, None, 1, None, 0, failures, 0, lane)


def after(problem, **about):
    return settle_error(task(**about), problem, House(), backoff=Backoff(jitter=0), luck=0.0)


@pytest.mark.promise(8)
def test_an_address_that_is_none_is_not_tried_again():
    failed = after(InvalidUrl("'acme' is not a URL"))
    assert (failed.ending, failed.error.name) == (Ending.FAILED, "InvalidUrl")


@pytest.mark.promise(18)
@pytest.mark.parametrize("brings", ["children", "records", "result"])
def test_an_outcome_larger_than_a_database_takes_fails_and_says_what_to_do(brings):
    large = "x" * (MAX_SETTLEMENT_BYTES // 4)
    house = House()
    house.admit = lambda new: Entry(new.kind, "fetch", payload=large)
    house.pack = lambda record: Filing("page", "k", large)
    house.pack_result = lambda task, result: large * 4 + large
    outcome = {
        "children": lambda: Done(children=(NewTask("page"),) * 5),
        "records": lambda: Done(records=(Record("page", "k"),) * 5),
        "result": lambda: Done(result="x"),
    }[brings]
    with pytest.raises(
        InvalidPayload, match=r"returned about 167,77.,... bytes in one outcome; the limit is 134,217,728"
    ):
        settle_outcome(task(), outcome(), house)


@pytest.mark.parametrize(
    ("outcome", "ending", "state"),
    [
        (Done(), Ending.DONE, State.SUCCEEDED),
        (Done("all of it"), Ending.DONE, State.SUCCEEDED),
        (Next({"page": 2}), Ending.NEXT, State.PENDING),
        (Filtered("too old"), Ending.FILTERED, State.FILTERED),
        (Skipped("seen"), Ending.SKIPPED, State.SKIPPED),
        (Snooze(5, "not yet"), Ending.SNOOZED, State.PENDING),
        (Failed("no"), Ending.FAILED, State.FAILED),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_every_outcome_has_its_settlement(outcome, ending, state):
    settled = settle_outcome(task(), outcome, House())
    assert (settled.task_id, settled.claim, settled.at_stage, settled.ending, settled.state) == (
        1,
        3,
        "fetch",
        ending,
        state,
    )


@pytest.mark.parametrize(
    "ending", [Done, Next, lambda **finds: Filtered("no", **finds), lambda **finds: Skipped("no", **finds)]
)
def test_what_an_attempt_brings_home_travels_with_it(ending):
    settled = settle_outcome(
        task(), ending(records=(Record("posting", "a"),), children=(NewTask("item", key="b"),)), House()
    )
    assert [each.key for each in settled.records] == ["a"]
    assert [each.key for each in settled.children] == ["b"]


@pytest.mark.promise(8)
def test_snoozing_spends_nothing():
    settled = settle_outcome(task(), Snooze(1.5, "not yet"), House())
    assert (settled.delay_us, settled.spends_failure, settled.blame) == (1_500_000, False, None)


def test_a_snooze_into_the_past_is_a_snooze_for_now():
    assert settle_outcome(task(), Snooze(-5, "late"), House()).delay_us == 0


def test_the_next_stage_takes_its_place_and_gates_from_the_house():
    settled = settle_outcome(task(), Next({}), House())
    assert (settled.stage, settled.gates, settled.checkpoint) == ("extract", ("source:model",), "{}")


@pytest.mark.promise(17)
@pytest.mark.parametrize("outcome", [Done, Filtered, Skipped, Failed, partial(Snooze, 1)])
def test_what_a_stage_says_is_kept_without_secrets(outcome):
    settled = settle_outcome(task(), outcome("asked https://ada:hunter22@a.example/?token=abc1234"), House())
    said = settled.error.message if settled.error else settled.reason
    assert said == "asked https://ada:***@a.example/?token=***"


@pytest.mark.parametrize(
    "wordy", [Done("x\x00\ud800"), Filtered("x\x00\ud800"), Skipped("x\x00\ud800"), Snooze(1, "x\x00\ud800")]
)
def test_reasons_are_made_fit_for_every_database(wordy):
    assert settle_outcome(task(), wordy, House()).reason == "x\ufffd?"


@pytest.mark.promise(8)
@pytest.mark.promise(10)
@pytest.mark.parametrize(
    ("cls", "state", "spends", "effect", "tag"),
    [
        (errors.Transient, State.RETRYABLE, True, Health.FAILURE, None),
        (errors.TimedOut, State.RETRYABLE, True, Health.FAILURE, None),
        (errors.ConnectionFailed, State.RETRYABLE, True, Health.FAILURE, None),
        (errors.ServerError, State.RETRYABLE, True, Health.FAILURE, None),
        (errors.RateLimited, State.PENDING, False, Health.PAUSE, "rate_limited"),
        (errors.BudgetExhausted, State.PENDING, False, Health.PAUSE, "budget"),
        (errors.Blocked, State.PENDING, False, Health.DISABLE, "anti_bot"),
        (errors.Unauthorized, State.PENDING, False, Health.DISABLE, "auth"),
        (errors.Permanent, State.FAILED, True, None, None),
        (errors.Gone, State.FAILED, True, None, None),
        (errors.Malformed, State.FAILED, True, None, None),
        (errors.TooLarge, State.FAILED, True, None, None),
        (errors.Refused, State.FAILED, True, None, None),
        (errors.TaskError, State.FAILED, True, None, None),
        (ValueError, State.RETRYABLE, True, None, None),
    ],
    ids=lambda value: value.__name__ if inspect.isclass(value) else "",
)
def test_every_error_is_settled_by_its_class(cls, state, spends, effect, tag):
    settled = after(cls("oh"))
    assert (settled.state, settled.spends_failure) == (state, spends)
    assert (settled.blame and settled.blame.health, settled.blame and settled.blame.tag) == (effect, tag)
    assert settled.error.name == cls.__name__


@pytest.mark.promise(10)
@pytest.mark.parametrize("cls", TASK_ERRORS, ids=lambda cls: cls.__name__)
def test_every_class_of_the_error_tree_has_a_ruling_of_its_own_kind(cls):
    assert any(
        base in POLICY
        for base in cls.__mro__
        if base not in (errors.TaskError, errors.ThresherError, Exception)
    ) or (cls is errors.TaskError)
    assert ruling_for(cls()) is not None


@pytest.mark.promise(8)
def test_the_last_retry_is_followed_by_the_end():
    assert after(errors.TimedOut(), failures=2).state is State.RETRYABLE
    ended = after(errors.TimedOut(), failures=3)
    assert (ended.state, ended.blame.health) == (State.FAILED, Health.FAILURE)


@pytest.mark.promise(8)
def test_retries_back_off():
    assert [after(errors.TimedOut(), failures=n).delay_us for n in range(3)] == [
        MINUTE,
        2 * MINUTE,
        4 * MINUTE,
    ]


@pytest.mark.promise(10)
def test_a_retry_after_is_what_the_gate_is_closed_for():
    settled = after(errors.RateLimited("slow down", retry_after=30))
    assert (settled.blame.delay_us, settled.blame.gate, settled.delay_us) == (30 * SECOND, None, 0)


@pytest.mark.promise(8)
@pytest.mark.parametrize(
    "problem",
    [errors.RateLimited("slow down", retry_after=3, gate="host:b"), errors.Blocked("no", gate="host:b")],
)
def test_a_gate_closed_somewhere_else_does_not_bring_the_task_back_at_once(problem):
    settled = after(problem)
    assert (settled.blame.gate, settled.delay_us, settled.spends_failure) == ("host:b", MINUTE, False)


@pytest.mark.promise(8)
@pytest.mark.parametrize("asked", [0, -5, math.nan, 0.0001])
def test_a_retry_after_of_nothing_is_no_hot_loop(asked):
    assert after(errors.RateLimited(retry_after=asked)).blame.delay_us == SECOND


@pytest.mark.parametrize("asked", [math.inf, 1e30])
def test_a_retry_after_of_ages_is_cut_short(asked):
    assert after(errors.RateLimited(retry_after=asked)).blame.delay_us == 30 * 86_400 * SECOND


@pytest.mark.promise(8)
@pytest.mark.parametrize("cls", [errors.RateLimited, errors.BudgetExhausted])
def test_a_task_without_gates_waits_for_itself_and_spends_nothing_either(cls):
    settled = after(cls(retry_after=30), lane=(), failures=3)
    assert (settled.state, settled.delay_us, settled.spends_failure, settled.blame) == (
        State.PENDING,
        30 * SECOND,
        False,
        None,
    )


def test_a_wall_without_a_source_to_disable_is_left_to_a_person():
    settled = after(errors.Blocked(), lane=())
    assert (settled.state, settled.blame) == (State.FAILED, None)


def test_an_error_message_is_cut_and_cleaned():
    message = after(ValueError("\x00\ud800" + "x" * 10_000)).error.message
    assert len(message) == MAX_MESSAGE
    assert message.startswith("\ufffd?x")


def test_an_error_without_words_is_named_by_its_class():
    assert after(errors.Gone()).error.message == "Gone"


def test_not_yet_waits_as_long_as_it_says_spends_nothing_and_blames_nobody():
    settled = after(errors.NotYet("host:a.example is closed", retry_after=90, gate="host:a.example"))
    assert (settled.ending, settled.state, settled.delay_us) == (Ending.SNOOZED, State.PENDING, 90 * SECOND)
    assert (settled.spends_failure, settled.blame) == (False, None)


@pytest.mark.parametrize(("away", "waits"), [(0.0, SECOND), (7.0, 7 * SECOND)])
def test_a_gate_that_has_heard_of_it_is_not_told_again(away, waits):
    problem = errors.RateLimited("429", retry_after=3_600, gate="host:a.example")
    assert after(problem).blame is not None
    problem.away = away
    assert (after(problem).blame, after(problem).delay_us) == (None, waits)


def test_a_failure_for_good_brings_what_the_app_wants_written_down():
    assert [each.key for each in after(errors.Gone("404")).records] == ["Gone"]
    assert [each.key for each in after(errors.TimedOut("slow"), failures=99).records] == ["TimedOut"]
    assert after(errors.TimedOut("slow")).records == ()
    assert after(errors.RateLimited("slow down")).records == ()


def test_an_app_that_stumbles_over_a_failure_does_not_keep_the_task_from_ending():
    class Clumsy(House):
        def on_failed(self, task, error):
            raise KeyError("nobody")

    settled = settle_error(task(), errors.Gone("404"), Clumsy(), backoff=Backoff(jitter=0), luck=0.0)
    assert (settled.state, settled.records) == (State.FAILED, ())


def test_a_failed_outcome_keeps_what_was_found_out_on_the_way():
    settled = settle_outcome(
        task(), Failed("no", records=(Record("look", "7"),), children=(NewTask("page", key="k"),)), House()
    )
    assert (len(settled.records), len(settled.children)) == (1, 1)
