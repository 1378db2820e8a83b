import pytest

from thresher.core.task import (
    LIVE,
    REVIVABLE,
    TERMINAL,
    TRANSITIONS,
    WAITING,
    State,
    diagram,
    may_become,
    sql_list,
)


def test_every_state_has_its_row():
    assert set(TRANSITIONS) == set(State)


def test_the_groups_of_states_follow_from_the_table():
    assert {State.PENDING, State.RETRYABLE} == WAITING
    assert WAITING | {State.RUNNING} == LIVE
    assert {State.SUCCEEDED, State.FILTERED, State.SKIPPED, State.FAILED, State.CANCELLED} == TERMINAL
    assert TERMINAL - {State.SUCCEEDED} == REVIVABLE


@pytest.mark.promise(1)
def test_every_state_is_either_live_or_terminal():
    assert set(State) == LIVE | TERMINAL
    assert not LIVE & TERMINAL


@pytest.mark.promise(1)
@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_the_only_way_out_of_an_end_is_back_to_the_start(state):
    assert TRANSITIONS[state] <= {State.PENDING}


def test_a_success_is_final():
    assert not TRANSITIONS[State.SUCCEEDED]


@pytest.mark.parametrize("state", sorted(LIVE))
def test_every_living_task_can_reach_an_end(state):
    reached, before = {state}, set()
    while reached != before:
        before, reached = reached, reached | {new for old in reached for new in TRANSITIONS[old]}
    assert reached >= TERMINAL


def test_a_task_starts_to_run_only_from_waiting():
    assert {state for state in State if may_become(state, State.RUNNING)} == WAITING


def test_states_are_written_into_sql_as_sorted_literals():
    assert sql_list(WAITING) == "'pending', 'retryable'"
    assert sql_list(frozenset(State)).count("'") == 2 * len(State)


def test_the_diagram_has_an_arrow_for_every_move():
    drawn = diagram()
    for old in State:
        for new in TRANSITIONS[old]:
            assert f"    {old} --> {new}\n" in drawn + "\n"
    assert drawn.count("--> [*]") == len(TERMINAL)
    assert drawn.count("-->") == 1 + sum(map(len, TRANSITIONS.values())) + len(TERMINAL)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (State.SUCCEEDED, "succeeded"),
        (State.FAILED, "failed"),
        (State.SKIPPED, "was skipped"),
        (State.FILTERED, "was filtered"),
        (State.CANCELLED, "was cancelled"),
        (State.PENDING, "is pending"),
        (State.RUNNING, "is running"),
        (State.RETRYABLE, "is retryable"),
    ],
)
def test_a_sentence_says_of_a_task_what_became_of_it(state, said):
    assert state.phrase == said
