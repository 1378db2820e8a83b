"""The checks of groups and versions are checked: a clean history has nothing to say, and each planted crime
is found."""

import copy
from collections import Counter

import pytest

from tests.chaos.group_check import GROUP_CHECKS
from tests.chaos.history import CHECKS, violations
from tests.chaos.test_history import attempt, clean, lines, task

ALL = (*CHECKS, *GROUP_CHECKS)
EMPTY = {"live": 0, "succeeded": 0, "filtered": 0, "skipped": 0, "failed": 0, "cancelled": 0, "refused": 0}


def group(group_id, opener, then, parent=None, **numbers):
    own = {
        "id": group_id,
        "key": f"g{group_id}",
        "opener_id": opener,
        "parent_id": parent,
        "then_id": then,
        "follow_up": None,
    }
    return own | {"ended_at": 1, "open_groups": 0} | EMPTY | numbers


def child(task_id, parent, kind, group_id, **more):
    own = {
        "parent_id": parent,
        "tracking_id": 11,
        "depth": 1,
        "kind": kind,
        "group_id": group_id,
        "url": f"u{task_id}",
    }
    return task(task_id, **own | more)


def performed(task_id, at, kind="item", version="new", **said):
    start, end = lines(task_id, 1, kind=kind)
    return [start | {"at": at, "version": version}, end | {"at": at, "version": version} | said]


def grouped():
    """A group of two items, one of which opens a group of one more below; each group is followed. Beside it a
    kind that is new."""
    history = clean()
    history.effects = [line | {"at": line["task"]} for line in history.effects]
    history.roots += [11, 20]
    history.tasks |= {
        11: task(11, kind="batch"),
        12: child(12, 11, "item", 1),
        13: child(13, 11, "item", 1, state="filtered"),
        14: child(14, 12, "item", 2, depth=2),
        15: child(15, 12, "sum_up", 1, depth=2, url=None),
        16: child(16, 11, "sum_up", None, url=None),
        20: task(20, kind="novel", worker_id=1),
    }
    history.attempts += [
        attempt(each, 1, 100 + each, 100 + each, "filtered" if each == 13 else "done")
        for each in (*range(11, 17), 20)
    ]
    spawned = [["item", "u12"], ["item", "u13"], ["sum_up", None]]
    below = [["item", "u14"], ["sum_up", None]]
    history.effects += [
        *performed(11, 11, "batch", children=spawned, group="g1", counts={"split": 1}),
        *performed(12, 12, children=below, group="g2", counts={"handled": 1}),
        *performed(13, 13, outcome="Filtered", counts={"handled": 1}),
        *performed(14, 14, counts={"handled": 1}),
        *performed(15, 15, "sum_up", counts={"summed": 1}),
        *performed(16, 16, "sum_up", counts={"summed": 1}),
        *performed(20, 20, "novel"),
        {"phase": "saw", "task": 15, "claim": 1, "group": 2} | EMPTY | {"succeeded": 1},
        {"phase": "saw", "task": 16, "claim": 1, "group": 1} | EMPTY | {"succeeded": 3, "filtered": 1},
    ]
    history.groups = {
        1: group(1, 11, 16, succeeded=2, filtered=1),
        2: group(2, 12, 15, parent=1, succeeded=1),
    }
    history.counts = {1: Counter(split=1, handled=1, summed=1), 2: Counter(handled=2, summed=1)}
    history.workers, history.newer, history.mourned = (
        {1: "w0-new", 2: "w2-old"},
        frozenset({("novel", "get")}),
        frozenset({"bomb"}),
    )
    history.records["epitaph", "5"] = 1
    return history


def plant(change):
    history = copy.deepcopy(grouped())
    change(history)
    return {sentence.partition(":")[0] for sentence in violations(history, ALL)}


def test_a_clean_history_with_groups_has_nothing_to_say():
    assert violations(grouped(), ALL) == []


def refused_twice(history):
    history.refusals.append({"parent_id": 12, "kind": "item", "url": None, "rule": "live_in_lineage"})


def followed_twice(history):
    history.tasks[17] = history.tasks[16] | {"id": 17}


def begun_early(history):
    next(line for line in history.effects if line["task"] == 15 and line["phase"] == "start")["at"] = 13


def begun_before_the_group_below(history):
    next(line for line in history.effects if line["task"] == 16 and line["phase"] == "start")["at"] = 14


def seen_too_early(history):
    history.effects[-1].update(live=1, succeeded=2)


def performed_by_the_old(history):
    history.effects += performed(20, 20, "novel", "old")[:1]


@pytest.mark.parametrize(
    ("check", "change"),
    [
        ("every_group_has_ended", lambda h: h.groups[1].update(ended_at=None)),
        ("every_group_has_ended", lambda h: h.groups[1].update(live=1)),
        ("every_group_is_opened_once", lambda h: h.groups.update({3: group(3, 11, 16) | {"key": "g1"}})),
        ("every_group_is_opened_once", lambda h: h.groups.pop(2)),
        ("every_group_is_opened_once", lambda h: h.groups[2].update(opener_id=14)),
        ("every_group_is_followed_once", lambda h: h.groups[1].update(then_id=None)),
        ("every_group_is_followed_once", lambda h: h.groups[1].update(then_id=15)),
        ("every_group_is_followed_once", followed_twice),
        ("totals_add_up", lambda h: h.groups[1].update(succeeded=3)),
        ("totals_add_up", lambda h: h.tasks[14].update(state="failed")),
        ("totals_add_up", refused_twice),
        ("counts_add_up", lambda h: h.counts[1].update(handled=1)),
        ("counts_add_up", lambda h: h.counts.pop(2)),
        ("followers_come_last", begun_early),
        ("followers_come_last", begun_before_the_group_below),
        ("followers_see_the_whole", seen_too_early),
        ("followers_see_the_whole", lambda h: h.effects[-1].update(task=15)),
        ("the_old_version_leaves_the_new_alone", performed_by_the_old),
        (
            "the_old_version_leaves_the_new_alone",
            lambda h: next(a for a in h.attempts if a["task_id"] == 20).update(worker_id=2),
        ),
        ("the_old_version_leaves_the_new_alone", lambda h: h.tasks[20].update(state="failed")),
        ("every_record_is_counted_once", lambda h: h.records.pop(("epitaph", "5"))),
    ],
)
def test_each_check_finds_the_crime_it_is_for(check, change):
    assert check in plant(change)


def test_no_check_is_left_out():
    checked = {
        check for mark in test_each_check_finds_the_crime_it_is_for.pytestmark for check, _ in mark.args[1]
    }
    assert checked >= {check.__name__ for check in GROUP_CHECKS}
