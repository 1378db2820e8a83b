"""Money is held back before it is spent, under caps that hold at every instant, whoever dies in between."""

import pytest

from tests.harness.tasks import change, claim_one, done, entry, events, retry, rows, running, settle
from tests.store.money import NOON, USED, clock, counted, held, of, reserve, states
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.core.errors import ClaimLost, UsageError
from thresher.core.evidence import Evidence
from thresher.store import answers, budgets, ledger
from thresher.store.ledger import Caps, Hold, QuestionTaken, Short

__all__ = ["clock"]


def test_what_is_held_back_and_spent_counts_against_the_day_the_app_and_the_run(store):
    task = running(store)
    hold = held(store, 100, claim=of(task))
    names = ["app:roles:2024-10-04", "day:2024-10-04", f"run:{task.id}"]
    assert counted(store) == dict.fromkeys(names, (0, 100))
    ledger.settle(store, hold, 30, USED)
    assert counted(store) == dict.fromkeys(names, (30, 0))
    row = "select task_id, claim, tracking_id, app, provider, model, prompt, reserved, spent, input_tokens, output_tokens from spendings"
    assert rows(store, row) == [
        (task.id, task.claim, task.id, "roles", "openai", "m", "extract.1", 100, 30, 100, 20)
    ]


def test_a_call_on_nobodys_behalf_counts_against_no_run(store):
    held(store)
    assert sorted(counted(store)) == ["app:roles:2024-10-04", "day:2024-10-04"]


def test_a_child_spends_from_the_run_of_its_root(store):
    root = running(store)
    settle(store, done(root, children=(entry("child"),)))
    child = claim_one(store)
    held(store, claim=of(child))
    assert counted(store)[f"run:{root.id}"] == (0, 100)


@pytest.mark.promise(15)
@pytest.mark.parametrize(
    ("caps", "scope", "resets"),
    [
        (Caps(150, 1_000, 1_000), "run:{}", None),
        (Caps(1_000, 150, 1_000), "app:roles:2024-10-04", NOON + 12 * HOUR),
        (Caps(1_000, 1_000, 150), "day:2024-10-04", NOON + 12 * HOUR),
        (Caps(150, 150, 150), "run:{}", None),
    ],
)
def test_the_cap_that_is_short_is_named_with_what_is_left_of_it(store, caps, scope, resets):
    task = running(store)
    ledger.settle(store, held(store, 90, "a", claim=of(task), caps=caps), 90, USED)
    held(store, 10, "b", claim=of(task), caps=caps)
    before = counted(store)
    found = reserve(store, 51, "c", claim=of(task), caps=caps)
    assert found == Short(scope.format(task.id), 150, 90, 10, 51, resets)
    assert (counted(store), len(states(store))) == (before, 2), "a refusal holds nothing back anywhere"
    assert isinstance(reserve(store, 50, "c", claim=of(task), caps=caps), Hold), "to the millionth"


@pytest.mark.promise(15)
def test_a_cap_that_calls_under_way_may_still_leave_room_under_says_so(store):
    caps = Caps(150, 150, 150)
    hold = held(store, 100, "a", caps=caps)
    found = reserve(store, 60, "b", caps=caps)
    assert isinstance(found, Short)
    assert found.passing
    ledger.settle(store, hold, 90, USED)
    assert held(store, 60, "b", caps=caps)
    assert not reserve(store, 61, "c", caps=caps).passing


@pytest.mark.promise(15)
def test_nothing_may_be_spent_under_a_cap_of_nothing_but_what_is_free(store):
    nothing = Caps(0, 0, 0)
    assert isinstance(reserve(store, 1, caps=nothing), Short)
    assert isinstance(reserve(store, 0, caps=nothing), Hold)


@pytest.mark.promise(15)
def test_each_app_has_its_own_cap_and_all_share_the_day(store):
    caps = Caps(100, 100, 150)
    held(store, 100, "a", app="roles", caps=caps)
    assert reserve(store, 1, "b", app="roles", caps=caps).scope.startswith("app:roles")
    held(store, 50, "c", app="prices:eu", caps=caps)
    assert reserve(store, 1, "d", app="prices", caps=caps).scope.startswith("day:")
    assert budgets.drifted(store) == []


@pytest.mark.promise(15)
def test_a_cap_that_was_lowered_below_what_is_spent_lets_nothing_pass(store):
    ledger.settle(store, held(store, 100), 100, USED)
    assert isinstance(reserve(store, 0, "b", caps=Caps(50, 50, 50)), Short)


@pytest.mark.promise(15)
def test_a_new_day_begins_with_nothing_spent_and_the_run_goes_on(store, clock):
    task = running(store)
    caps = Caps(250, 100, 100)
    ledger.settle(store, held(store, 100, "a", claim=of(task), caps=caps), 100, USED)
    assert reserve(store, 1, "b", claim=of(task), caps=caps).resets_at == NOON + 12 * HOUR
    clock.advance(12 * HOUR)
    ledger.settle(store, held(store, 100, "b", claim=of(task), caps=caps), 100, USED)
    clock.advance(DAY)
    assert reserve(store, 51, "c", claim=of(task), caps=caps).scope == f"run:{task.id}"


@pytest.mark.promise(15)
def test_a_clock_set_back_over_midnight_gives_no_day_twice(store, clock):
    caps = Caps(1_000, 100, 100)
    clock.advance(12 * HOUR - SECOND)
    ledger.settle(store, held(store, 80, "a", caps=caps), 80, USED)
    clock.advance(2 * SECOND)
    late = held(store, 90, "b", caps=caps)
    clock.advance(-2 * SECOND)
    assert isinstance(reserve(store, 21, "c", caps=caps), Short)
    ledger.settle(store, late, 90, USED)
    clock.advance(2 * SECOND)
    assert isinstance(reserve(store, 11, "c", caps=caps), Short)
    assert counted(store)["day:2024-10-04"] == (80, 0)
    assert counted(store)["day:2024-10-05"] == (90, 0)


@pytest.mark.promise(15)
def test_a_call_over_midnight_is_settled_on_the_day_it_was_held_back(store, clock):
    clock.advance(12 * HOUR - SECOND)
    hold = held(store)
    clock.advance(MINUTE // 2)
    ledger.settle(store, hold, 60, USED)
    assert counted(store) == {"app:roles:2024-10-04": (60, 0), "day:2024-10-04": (60, 0)}


@pytest.mark.promise(2)
def test_settling_twice_counts_once_and_the_first_word_stands(store):
    hold = held(store)
    ledger.settle(store, hold, 30, USED)
    ledger.settle(store, hold, 99, Usage(1, 7, 7))
    assert counted(store)["day:2024-10-04"] == (30, 0)
    assert rows(store, "select spent, input_tokens from spendings") == [(30, 100)]


@pytest.mark.promise(15)
def test_a_vendor_that_takes_more_than_the_worst_is_written_down_as_it_is_and_reported(store):
    hold = held(store, 100, caps=Caps(100, 100, 100))
    ledger.settle(store, hold, 130, USED)
    assert counted(store)["day:2024-10-04"] == (130, 0)
    assert [kind for kind, _, _ in events(store)] == ["money_overspent"]
    assert isinstance(reserve(store, 0, "b", caps=Caps(100, 100, 100)), Short)


@pytest.mark.parametrize("amount", [-1, ledger.MAX_AMOUNT + 1])
def test_an_amount_that_cannot_be_is_refused(store, amount):
    with pytest.raises(UsageError, match="millionths of a dollar"):
        reserve(store, amount)
    hold = held(store)
    with pytest.raises(UsageError, match="millionths of a dollar"):
        ledger.settle(store, hold, amount, USED)
    assert counted(store)["day:2024-10-04"] == (0, 100)


@pytest.mark.promise(15)
@pytest.mark.promise(2)
def test_a_claim_that_is_lost_spends_nothing(store):
    task = running(store)
    settle(store, retry(task))
    with pytest.raises(ClaimLost):
        reserve(store, claim=of(task))
    again = claim_one(store)
    with pytest.raises(ClaimLost):
        reserve(store, claim=of(task))
    assert states(store) == []
    held(store, claim=of(again))


@pytest.mark.promise(15)
def test_two_who_ask_the_same_pay_once(store, clock):
    held(store, question="q")
    assert reserve(store, question="q") == QuestionTaken(NOON + MINUTE)
    assert reserve(store, question="q", app="prices") == QuestionTaken(NOON + MINUTE)
    assert isinstance(reserve(store, question="another"), Hold)


@pytest.mark.promise(15)
def test_whoever_has_paid_and_not_yet_kept_the_answer_is_waited_for(store):
    one, two = running(store), running(store)
    ledger.settle(store, held(store, claim=of(one)), 10, USED)
    assert isinstance(reserve(store, claim=of(two)), QuestionTaken)
    ledger.settle(
        store, held(store, claim=of(one)), 10, USED
    )  # the asker itself asks again, to have its answer mended
    settle(store, done(one))
    assert isinstance(reserve(store, claim=of(two)), Hold), "it ended without an answer"


@pytest.mark.promise(15)
def test_a_question_that_has_an_answer_is_not_paid_for_again(store):
    task = running(store)
    ledger.settle(store, held(store, claim=of(task)), 10, USED)
    answers.keep(store, "q", "extract.1", ModelAnswer({}, Evidence(), USED, 10, "m"))
    assert reserve(store, claim=of(task)) == QuestionTaken(NOON)
    assert counted(store)["day:2024-10-04"] == (10, 0)
    answers.forget(store, question="q")
    assert isinstance(reserve(store, claim=of(task)), Hold)


@pytest.mark.promise(15)
def test_money_of_a_claim_that_ended_without_a_word_is_taken_to_be_spent(store):
    caps = Caps(150, 150, 150)
    task = running(store)
    held(store, 100, claim=of(task), caps=caps)
    assert ledger.assume(store, 10) == 0
    settle(store, retry(task))
    assert ledger.assume(store, 10) == 1
    assert ledger.assume(store, 10) == 0
    assert (states(store), counted(store)["day:2024-10-04"]) == (["assumed"], (100, 0))
    assert events(store, "money_assumed") == [("money_assumed", task.id, None)]
    assert isinstance(reserve(store, 51, "b", caps=caps), Short)
    assert isinstance(reserve(store, 50, "b", caps=caps), Hold)


@pytest.mark.promise(15)
def test_money_whose_time_is_up_is_taken_to_be_spent(store, clock):
    task = running(store)
    held(store, question="a", claim=of(task))
    held(store, question="b")
    clock.advance(MINUTE - 1)
    assert ledger.assume(store, 10) == 0
    clock.advance(1)
    assert ledger.assume(store, 1) == 1
    assert ledger.assume(store, 10) == 1
    assert counted(store)["day:2024-10-04"] == (200, 0)


@pytest.mark.promise(15)
def test_a_clock_set_back_leaves_no_money_held_back_for_ever(store, clock):
    held(store)
    clock.advance(-30 * DAY)
    assert ledger.assume(store, 10) == 1


@pytest.mark.promise(15)
def test_a_dead_askers_question_is_free_at_once_and_its_money_counts(store):
    task = running(store)
    held(store, 100, claim=of(task))
    settle(store, retry(task))
    again = claim_one(store)
    held(store, 100, claim=of(again))
    assert states(store) == ["assumed", "reserved"]
    assert counted(store)["day:2024-10-04"] == (100, 100)


@pytest.mark.promise(15)
def test_the_truth_replaces_what_was_only_assumed_and_only_once(store, clock):
    hold = held(store)
    clock.advance(MINUTE)
    ledger.assume(store, 10)
    ledger.settle(store, hold, 30, USED)
    ledger.settle(store, hold, 20, USED)
    assert (states(store), counted(store)["day:2024-10-04"]) == (["settled"], (30, 0))
    assert budgets.drifted(store) == []


@pytest.mark.promise(3)
@pytest.mark.promise(15)
@pytest.mark.parametrize("wrong", ["spent = 0", "reserved = 0", "spent = 999, reserved = 7"])
def test_a_budget_that_drifted_is_added_up_anew_and_reported(store, wrong):
    ledger.settle(store, held(store, 100, "a"), 40, USED)
    held(store, 100, "b")
    assert (budgets.drifted(store), budgets.repair(store)) == ([], [])
    change(store, f"update budgets set {wrong} where scope like 'day:%'")
    (drift,) = budgets.drifted(store)
    assert (drift.true.spent, drift.true.reserved) == (40, 100)
    assert "its calls are 40 and 100" in budgets.repair(store)[0]
    assert (budgets.drifted(store), [kind for kind, _, _ in events(store)]) == ([], ["ledger_repaired"])


def test_an_app_reads_what_a_lineage_has_spent_whether_or_not_its_budget_was_dropped(store):
    root = running(store)
    settle(store, done(root, children=(entry("child"),)))
    child = claim_one(store)
    ledger.settle(store, held(store, 80, "a", claim=of(child)), 60, USED)
    held(store, 50, "b", claim=of(child), expires_us=1_000 * DAY)

    def spent(tracking_id):
        with store.read() as session:
            return budgets.spent_by(session, tracking_id)

    assert (spent(root.id), spent(999)) == (60, 0), "what is only reserved is not spent"
    change(store, "delete from budgets")
    assert spent(root.id) == 60


@pytest.mark.promise(15)
def test_a_budget_that_was_dropped_comes_back_from_the_ledger(store, clock):
    """A clock that runs ahead for a while must not give a day's money out twice."""
    task = running(store)
    caps = Caps(100, 100, 100)
    ledger.settle(store, held(store, 80, "a", claim=of(task), caps=caps), 80, USED)
    clock.advance(8 * DAY)
    budgets.prune(store)
    assert counted(store) == {}
    assert reserve(store, 21, "b", claim=of(task), caps=caps).scope == f"run:{task.id}"
    clock.advance(-8 * DAY)
    assert isinstance(reserve(store, 21, "b", caps=caps), Short)


@pytest.mark.promise(15)
def test_pruning_leaves_alone_what_is_held_back_and_what_caps_still_need(store, clock):
    task = running(store)
    ledger.settle(store, held(store, 10, "a", claim=of(task)), 10, USED)
    ledger.settle(store, held(store, 10, "b"), 10, USED)
    held(store, 10, "c", expires_us=1_000 * DAY)
    clock.advance(401 * DAY)
    ledger.settle(store, held(store, 5, "d", claim=of(task)), 5, USED)
    assert budgets.prune(store) == 0, "the day of the one that is held back is still open"
    ledger.assume(store, 10)
    change(store, "update spendings set state = 'settled', spent = reserved where state = 'reserved'")
    change(store, "update budgets set reserved = 0, spent = spent + reserved")
    assert budgets.prune(store) == 2
    assert rows(store, "select question from spendings order by id") == [("a",), ("d",)], (
        "a run that goes on keeps its past"
    )
    assert (budgets.drifted(store), counted(store)[f"run:{task.id}"]) == ([], (15, 0))


def test_texts_that_only_one_database_could_keep_are_kept_by_both(store):
    hold = held(store, app="a\x00b\ud800", question="q\x00")
    ledger.settle(store, hold, 5, USED)
    assert budgets.drifted(store) == []
