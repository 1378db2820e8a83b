"""The checker is checked: a clean history has nothing to say, and each planted crime is found by the check it
is meant for."""

import copy
from collections import Counter

import pytest

from tests.chaos.history import CHECKS, GateRule, History, violations
from thresher.core.clock import SECOND

NO_HOST = f"https://{'h' * 300}/"


def task(task_id, state="succeeded", claim=1, **more):
    return {
        "id": task_id,
        "kind": "page",
        "stage": "get",
        "state": state,
        "claim": claim,
        "failures": 0,
        "crashes": 0,
        "parent_id": None,
        "tracking_id": None,
        "depth": 0,
        "ancestry": "[]",
        "url": None,
        "lineage_key": None,
        "error_name": None,
        "reason": None,
        "worker_id": 1,
        "lane_id": 1,
        "group_id": None,
    } | more


def attempt(task_id, claim, started, ended, ending="done"):
    return {
        "task_id": task_id,
        "claim": claim,
        "stage": "get",
        "worker_id": 1,
        "started_at": started * SECOND,
        "ended_at": ended * SECOND,
        "ending": ending,
    }


def lines(task_id, claim, outcome="Done", records=(), children=(), kind="page"):
    who = {
        "task": task_id,
        "claim": claim,
        "kind": kind,
        "stage": "get",
        "pid": 1,
        "at": claim,
        "version": "new",
    }
    end = {
        "phase": "end",
        "outcome": outcome,
        "records": [list(each) for each in records],
        "children": [list(each) for each in children],
    }
    return [{"phase": "start", **who}, {**end, **who}]


def clean():
    """A parent with one child and two refused ones; tasks that were tried twice, crashed, harm, and bring too
    long a key."""
    child = {"parent_id": 1, "tracking_id": 1, "depth": 1, "url": "u2", "lineage_key": "k2"}
    return History(
        roots=[1, 3, 4, 5, 6],
        tasks={
            1: task(1, lineage_key="k1", ancestry='["page:k1"]'),
            2: task(2, ancestry='["page:k1","page:k2"]', **child),
            3: task(3, claim=2, failures=1),
            4: task(4, claim=2, crashes=1),
            5: task(5, "failed", claim=3, crashes=3, error_name="Quarantined", kind="bomb"),
            6: task(6, "failed", failures=1, error_name="InvalidPayload"),
        },
        attempts=[
            attempt(1, 1, 10, 11),
            attempt(2, 1, 12, 13),
            attempt(3, 1, 14, 15, "retry"),
            attempt(3, 2, 16, 17),
            attempt(4, 1, 18, 19, "crashed"),
            attempt(4, 2, 20, 21),
            attempt(5, 1, 22, 23, "crashed"),
            attempt(5, 2, 24, 25, "crashed"),
            attempt(5, 3, 26, 27, "crashed"),
            attempt(6, 1, 28, 29, "failed"),
        ],
        effects=[
            *lines(1, 1, records=[("r", "a")], children=[("page", "u2"), ("page", "u2"), ("page", NO_HOST)]),
            *lines(2, 1, records=[("r", "a")]),
            *lines(3, 1, "Transient"),
            *lines(3, 2),
            lines(4, 1)[0],
            *lines(4, 2),
            *lines(6, 1, records=[("r", "k" * 3_000), ("r", "a")]),
        ],
        records={("r", "a"): 2},
        refusals=[
            {"parent_id": 1, "kind": "page", "url": "u2", "rule": "live_in_lineage"},
            {"parent_id": 1, "kind": "page", "url": NO_HOST, "rule": "invalid"},
        ],
        events=Counter(),
        repairs=[],
        gates={"source:web": {"name": "source:web", "in_flight": 0}},
        lanes=[{"key": "source:web", "status": "idle"}],
        rules={"source:web": GateRule(1, SECOND, 1)},
        gates_of={("page", "get"): ("source:web",)},
        max_depth=3,
        max_crashes=3,
        max_retries=3,
        guilty=frozenset({"bomb"}),
    )


def plant(change):
    history = copy.deepcopy(clean())
    change(history)
    return {sentence.partition(":")[0] for sentence in violations(history)}


def test_a_clean_history_has_nothing_to_say():
    assert violations(clean()) == []


def settled_late(history):
    history.attempts[4]["ended_at"] = history.attempts[5]["started_at"] + 1


def performed_but_never_written_down(history):
    history.effects = [line for line in history.effects if (line["task"], line["phase"]) != (2, "end")]


def quarantined_with_the_bomb(history):
    history.tasks[4].update(state="failed", error_name="Quarantined")
    history.effects.append(lines(5, 3, kind="bomb")[0])


CRIMES = {
    "every_root_is_there": lambda h: h.roots.append(99),
    "every_task_has_ended": lambda h: h.tasks[2].update(state="running"),
    "every_child_is_there_once": lambda h: h.tasks.update({6: h.tasks[2] | {"id": 6, "claim": 0}}),
    "claims_rise_one_by_one": lambda h: h.tasks[3].update(claim=3),
    "one_ending_is_final": lambda h: h.attempts[2].update(ending="done"),
    "every_record_is_counted_once": lambda h: h.records.update({("r", "a"): 3}),
    "only_what_was_performed_was_accepted": performed_but_never_written_down,
    "nobody_performs_a_claim_twice": lambda h: h.effects.append(lines(1, 1)[0]),
    "no_zombie_was_heard": settled_late,
    "slots_hold": lambda h: h.attempts[0].update(ended_at=12 * SECOND + 1),
    "rates_hold": lambda h: h.attempts[1].update(started_at=11 * SECOND - 1, ended_at=11 * SECOND),
    "lineages_are_bounded": lambda h: h.tasks[2].update(depth=4),
    "budgets_add_up": lambda h: h.tasks[4].update(crashes=0),
    "gates_are_empty": lambda h: h.gates["source:web"].update(in_flight=1),
    "nothing_was_repaired": lambda h: h.repairs.append({"was": 1, "now": 0}),
    "long_keys_fail_alone": lambda h: h.tasks[6].update(error_name="Transient"),
    "only_bad_children_are_invalid": lambda h: h.refusals[0].update(rule="invalid"),
    "quarantine_finds_the_guilty": quarantined_with_the_bomb,
    "nothing_was_observed": lambda h: h.observed.append("a worker died of a bug"),
}


@pytest.mark.parametrize("check", [check.__name__ for check in CHECKS])
def test_each_check_finds_the_crime_it_is_for(check):
    assert check in plant(CRIMES[check])


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda h: h.tasks.pop(2), "every_child_is_there_once"),
        (lambda h: h.refusals.clear(), "every_child_is_there_once"),
        (lambda h: h.records.clear(), "every_record_is_counted_once"),
        (lambda h: h.attempts.append(attempt(1, 2, 30, 31)), "claims_rise_one_by_one"),
        (lambda h: h.attempts.append(attempt(1, 2, 30, 31)), "one_ending_is_final"),
        (lambda h: h.tasks[1].update(state="failed"), "one_ending_is_final"),
        (lambda h: h.tasks[5].update(error_name=None), "one_ending_is_final"),
        (lambda h: h.tasks[5].update(error_name="Gone"), "budgets_add_up"),
        (lambda h: h.tasks[3].update(failures=0), "budgets_add_up"),
        (lambda h: h.tasks[2].update(tracking_id=3), "lineages_are_bounded"),
        (lambda h: h.tasks[2].update(lineage_key="k1"), "lineages_are_bounded"),
        (lambda h: h.lanes[0].update(status="parked"), "gates_are_empty"),
        (lambda h: h.repairs.append({"timer_was": 1, "timer": 2}), "nothing_was_repaired"),
        (lambda h: h.attempts[9].update(ending="done"), "long_keys_fail_alone"),
        (lambda h: h.attempts[9].update(ending="retry"), "long_keys_fail_alone"),
        (lambda h: h.tasks[3].update(state="failed", error_name="InvalidPayload"), "long_keys_fail_alone"),
        (lambda h: h.refusals[1].update(rule="too_deep"), "only_bad_children_are_invalid"),
        (lambda h: h.tasks[2].update(url=NO_HOST), "only_bad_children_are_invalid"),
        (lambda h: h.tasks[5].update(state="succeeded", error_name=None), "quarantine_finds_the_guilty"),
        (lambda h: h.effects[1].update(outcome="Filtered"), "only_what_was_performed_was_accepted"),
    ],
)
def test_other_ways_to_the_same_crime_are_found_too(change, check):
    assert check in plant(change)


def test_burst_and_slack_are_granted_and_no_more():
    history = clean()
    history.rules = {"source:web": GateRule(None, SECOND, 3)}
    for at, each in enumerate(history.attempts[:4]):
        each["started_at"] = 100 * SECOND + at
        each["ended_at"] = 100 * SECOND + at
    assert any(sentence.startswith("rates_hold") for sentence in violations(history))
    history.attempts[3].update(started_at=101 * SECOND, ended_at=101 * SECOND)
    assert not any(sentence.startswith("rates_hold") for sentence in violations(history))


def test_times_on_both_sides_of_a_set_clock_are_not_compared():
    history = clean()
    settled_late(history)
    history.jumps = [2]
    assert not any(sentence.startswith(("no_zombie", "slots", "rates")) for sentence in violations(history))
