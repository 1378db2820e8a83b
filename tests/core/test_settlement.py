import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.clock import SECOND
from thresher.core.settlement import Blame, Ending, Error, Health, Settlement
from thresher.core.task import TERMINAL, State, Task, may_become

TASK = Task(1, 3, "page", "fetch", {}, {}, None, 1, None, 0, 0, 0, True)
ERROR = Error("Gone", "404")
BLAME = Blame(Health.FAILURE, "oh")

VALUES = {
    "task": st.just(TASK),
    "task_id": st.just(1),
    "claim": st.just(3),
    "at_stage": st.just("fetch"),
    "note": st.none() | st.text(),
    "stage": st.just("extract"),
    "gates": st.just(()),
    "checkpoint": st.just("{}"),
    "reason": st.text(),
    "delay_us": st.integers(0, 10**12),
    "error": st.just(ERROR),
    "blame": st.none() | st.just(BLAME),
    "words_due": st.booleans(),
    "spends_failure": st.booleans(),
    "crashes": st.integers(0, 9),
    "max_crashes": st.integers(1, 9),
    "lost": st.just("anna"),
    "spread_us": st.integers(0, 10**9),
    "begun": st.booleans(),
    "result": st.none() | st.just("{}"),
}
CONSTRUCTORS = [
    name
    for name, member in vars(Settlement).items()
    if isinstance(member, classmethod) and not name.startswith("_")
]


@pytest.mark.promise(1)
@pytest.mark.parametrize("name", CONSTRUCTORS)
@given(data=st.data())
def test_no_constructor_can_make_a_move_that_the_table_does_not_have(name, data):
    make = getattr(Settlement, name)
    names = [each for each in inspect.signature(make).parameters if each != "brought"]
    settled = make(**{each: data.draw(VALUES[each], each) for each in names})
    assert may_become(State.RUNNING, settled.state)
    assert (settled.task_id, settled.claim, settled.at_stage) == (1, 3, "fetch")
    assert not (settled.healthy and settled.blame)
    assert settled.state is not State.RETRYABLE or settled.spends_failure


def test_there_is_a_constructor_for_every_ending():
    assert {name.replace("advance", "next") for name in CONSTRUCTORS} == {
        "done",
        "next",
        "filtered",
        "skipped",
        "snooze",
        "misplaced",
        "retry",
        "fail",
        "cancelled",
        "hand_back",
        "crash",
    }
    assert len(CONSTRUCTORS) == len(Ending) + 1  # a task in the wrong lane is snoozed, too


@pytest.mark.promise(8)
@pytest.mark.parametrize(
    ("crashes", "state"), [(0, State.PENDING), (1, State.PENDING), (2, State.FAILED), (7, State.FAILED)]
)
def test_the_third_crash_is_the_last(crashes, state):
    settled = Settlement.crash(1, 3, "fetch", crashes=crashes, max_crashes=3, lost="anna", spread_us=0)
    assert (settled.state, settled.crashed, settled.spends_failure) == (state, True, False)
    assert (settled.error is not None) is (state in TERMINAL)


@pytest.mark.parametrize(
    ("settled", "plain"),
    [
        (Settlement.done(TASK), True),
        (Settlement.retry(TASK, delay_us=0, error=ERROR), True),
        (Settlement.retry(TASK, delay_us=0, error=ERROR, blame=BLAME), False),
        (Settlement.advance(TASK, stage="b", gates=(), checkpoint="{}"), False),
        (Settlement.done(TASK, records=("a record",)), False),
        (Settlement.done(TASK, children=("a child",)), False),
    ],
    ids=["done", "retry", "blame", "next", "records", "children"],
)
def test_what_brings_nothing_else_is_plain(settled, plain):
    assert settled.is_plain is plain


@pytest.mark.promise(8)
def test_a_task_that_lost_its_worker_twice_comes_back_at_a_time_of_its_own():
    delays = [
        Settlement.crash(1, 3, "fetch", crashes=n, max_crashes=9, lost="anna", spread_us=10 * SECOND).delay_us
        for n in range(3)
    ]
    assert delays == [0, 10 * SECOND, 20 * SECOND]
