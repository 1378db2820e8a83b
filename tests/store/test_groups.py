"""A group ends with its last member, whichever way that one ends, and is followed once."""

import pytest

from tests.harness.groups import counts, followers, group, has_ended, newest, opened
from tests.harness.tasks import (
    change,
    claim,
    claim_one,
    done,
    entry,
    events,
    failed,
    fields_of,
    put,
    refusals_of,
    retry,
    rows,
    running,
    settle,
    state_of,
    worker,
)
from thresher.core.clock import DAY, SECOND
from thresher.core.group import Stop
from thresher.core.lineage import RefusalRule
from thresher.core.page import Verdict
from thresher.core.settlement import Settlement
from thresher.store import groups, tasks, workers
from thresher.store.prune import prune
from thresher.store.repair import repair

REPORT = entry("report")


def pages(number):
    return tuple(entry(key=f"page {at}") for at in range(number))


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_the_task_that_follows_a_group_becomes_due_with_the_last_members_settlement(store):
    group_id = opened(store, *pages(3), then=REPORT)
    first, second, third = claim(store, 3)
    settle(store, done(first), done(second))
    assert counts(store, group_id) == {"live": 1, "succeeded": 2}
    assert claim(store) == []

    settle(store, done(third))
    assert (counts(store, group_id), has_ended(store, group_id)) == ({"succeeded": 3}, True)
    assert claim_one(store).kind == "report"
    assert events(store, "group_ended") == [
        ("group_ended", rows(store, "select opener_id from task_groups")[0][0], None)
    ]


@pytest.mark.promise(2)
def test_plain_settlements_that_share_the_claims_transaction_count_too(store):
    group_id = opened(store, *pages(3), then=REPORT)
    members = claim(store, 3)
    turn = store.turn(
        [done(members[0]), failed(members[1]), Settlement.skipped(members[2], reason="seen")], 1, 1
    )
    assert counts(store, group_id) == {"succeeded": 1, "failed": 1, "skipped": 1}
    assert [task.kind for task in turn.tasks] == ["report"]


@pytest.mark.promise(2)
def test_what_is_simply_done_counts_too(store):
    group_id = opened(store, *pages(4), then=REPORT)
    turn = store.turn([done(task) for task in claim(store, 4)], 1, 1)
    assert (counts(store, group_id), [task.kind for task in turn.tasks]) == ({"succeeded": 4}, ["report"])


ENDINGS = {
    "succeeded": lambda task: done(task),
    "filtered": lambda task: Settlement.filtered(task, reason="no"),
    "skipped": lambda task: Settlement.skipped(task, reason="no"),
    "failed": lambda task: failed(task),
    "cancelled": lambda task: Settlement.cancelled(task, reason="no"),
}


@pytest.mark.promise(1)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "rich"])
@pytest.mark.parametrize("state", ENDINGS)
def test_a_group_ends_whichever_way_its_last_member_ends(store, state, plain):
    group_id = opened(store, *pages(1), then=REPORT)
    settlement = ENDINGS[state](claim_one(store))
    if plain:
        store.turn([settlement], 0, 1)
    else:
        settle(store, settlement)
    assert (counts(store, group_id), followers(store)) == ({state: 1}, [("report", 1)])


@pytest.mark.promise(1)
def test_a_waiting_member_that_a_person_cancels_ends_its_group(store):
    group_id = opened(store, *pages(2), then=REPORT)
    ids = [row[0] for row in rows(store, "select id from tasks where group_id is not null")]
    tasks.cancel(store, ids, "not needed")
    assert (counts(store, group_id), followers(store)) == ({"cancelled": 2}, [("report", 1)])


@pytest.mark.promise(1)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "rich"])
def test_a_running_member_that_a_person_cancels_ends_its_group_when_it_comes_back(store, plain):
    group_id = opened(store, *pages(1), then=REPORT)
    member = claim_one(store)
    tasks.cancel(store, [member.id], "not needed")
    assert not has_ended(store, group_id)
    if plain:
        store.turn([retry(member)], 0, 1)
    else:
        settle(store, retry(member))
    assert (counts(store, group_id), followers(store)) == ({"cancelled": 1}, [("report", 1)])


@pytest.mark.promise(1)
def test_a_task_that_a_person_cancels_before_it_opens_a_group_leaves_a_refusal_for_the_task_that_would_follow(
    store,
):
    opener = running(store, entry("opener"))
    tasks.cancel(store, [opener.id], "not needed")
    settle(
        store,
        Settlement.advance(
            opener, stage="more", gates=(), checkpoint="{}", children=pages(2), group=group(then=REPORT)
        ),
    )
    assert rows(store, "select count(*) from task_groups") == [(0,)]
    refused = rows(store, "select kind, rule from refusals where parent_id = :id", id=opener.id)
    assert sorted(refused) == [
        ("page", RefusalRule.CANCELLED),
        ("page", RefusalRule.CANCELLED),
        ("report", RefusalRule.CANCELLED),
    ]


@pytest.mark.promise(1)
@pytest.mark.promise(8)
def test_a_member_that_the_reaper_quarantines_ends_its_group(make_store, clock):
    store = make_store(retry__max_crashes=1)
    group_id = opened(store, *pages(1), then=REPORT)
    lost = claim_one(store, worker(store))
    clock.advance(60 * SECOND)
    workers.reap(store, 10)
    assert state_of(store, lost.id) == "failed"
    assert (counts(store, group_id), followers(store)) == ({"failed": 1}, [("report", 1)])


@pytest.mark.promise(2)
def test_a_worker_that_lost_its_claim_counts_nothing(store):
    group_id = opened(store, *pages(1), then=REPORT)
    stale = claim_one(store)
    settle(store, Settlement.hand_back(stale, reason="stopping"))
    store.turn([done(stale)], 0, 1)
    store.settle([done(stale, counts=(("pages", 1),), children=pages(2), group=group("other"))])
    assert (counts(store, group_id), has_ended(store, group_id), newest(store)) == (
        {"live": 1},
        False,
        group_id,
    )
    assert rows(store, "select * from group_counts") == []


@pytest.mark.promise(1)
def test_a_group_over_a_tree_ends_with_its_last_descendant(store):
    group_id = opened(store, *pages(1), then=REPORT)
    settle(store, done(claim_one(store), children=(entry("detail", key="a"), entry("detail", key="b"))))
    assert (counts(store, group_id), has_ended(store, group_id)) == ({"live": 2, "succeeded": 1}, False)
    first, second = claim(store, 2)
    settle(store, done(first), done(second, children=(entry("detail", key="c"),)))
    assert not has_ended(store, group_id)
    settle(store, done(claim_one(store)))
    assert (counts(store, group_id), followers(store)) == ({"succeeded": 4}, [("report", 1)])


def test_a_detached_child_does_not_join(store):
    group_id = opened(store, *pages(1), then=REPORT)
    alone = entry("detail", key="alone")
    alone = type(alone)(
        **{name: getattr(alone, name) for name in alone.__dataclass_fields__} | {"detached": True}
    )
    settle(store, done(claim_one(store), children=(alone,)))
    assert (counts(store, group_id), has_ended(store, group_id)) == ({"succeeded": 1}, True)


@pytest.mark.promise(1)
def test_an_empty_group_ends_at_once(store):
    group_id = opened(store, then=REPORT)
    assert (counts(store, group_id), has_ended(store, group_id), followers(store)) == (
        {},
        True,
        [("report", 1)],
    )


@pytest.mark.promise(1)
@pytest.mark.promise(6)
def test_a_group_whose_every_child_is_refused_ends_at_once_and_counts_the_refusals(store):
    put(store, entry(key="taken", delay_us=SECOND))
    group_id = opened(store, entry(key="taken"), then=REPORT)
    assert (counts(store, group_id), followers(store)) == ({"refused": 1}, [("report", 1)])


@pytest.mark.promise(6)
def test_while_a_group_is_open_another_of_its_key_is_refused_whole_and_recorded(store):
    group_id = opened(store, *pages(1), then=REPORT)
    again = running(store, entry("opener", priority=50))
    settle(store, done(again, children=(entry(key="new"),), group=group(then=REPORT)))
    assert (counts(store, group_id), newest(store)) == ({"live": 1}, group_id)
    refused = [(each["kind"], each["rule"]) for each in refusals_of(store, again.id)]
    assert refused == [("page", RefusalRule.GROUP_OPEN), ("report", RefusalRule.GROUP_OPEN)]


def test_once_a_group_has_ended_its_key_is_free_and_other_names_never_took_it(store):
    first = opened(store)
    second = opened(store, *pages(1))
    third = opened(store, name="others")
    assert len({first, second, third}) == 3
    assert refusals_of(store, 2) == []


@pytest.mark.promise(6)
def test_a_follower_that_would_be_too_deep_is_refused_when_the_group_is_opened(make_store):
    store = make_store(lineage__max_depth=1)
    settle(store, done(running(store, entry("root")), children=(entry("opener", key="deep"),)))
    opener = claim_one(store)
    opened(store, opener=opener, then=REPORT)
    assert (followers(store), [each["rule"] for each in refusals_of(store, opener.tracking_id)]) == (
        [],
        [RefusalRule.TOO_DEEP],
    )


@pytest.mark.promise(1)
def test_a_task_that_opens_a_group_and_goes_on_is_its_first_member(store):
    opener = running(store, entry("opener"))
    settle(
        store,
        Settlement.advance(
            opener, stage="more", gates=(), checkpoint="{}", children=pages(1), group=group(then=REPORT)
        ),
    )
    group_id = newest(store)
    one, two = sorted(claim(store, 2), key=lambda task: task.id)
    settle(store, done(two))
    assert (counts(store, group_id), has_ended(store, group_id)) == ({"live": 1, "succeeded": 1}, False)

    settle(
        store,
        Settlement.advance(
            one, stage="more", gates=(), checkpoint="{}", children=(entry(key="late"),), group=group()
        ),
    )
    assert counts(store, group_id) == {"live": 2, "succeeded": 1}
    assert refusals_of(store, opener.id) == []
    settle(store, *(done(task) for task in claim(store, 2)))
    assert (counts(store, group_id), followers(store)) == ({"succeeded": 3}, [("report", 1)])


@pytest.mark.promise(1)
def test_a_group_waits_for_the_groups_below_it_and_for_what_follows_them(store):
    outer = opened(store, entry("opener", key="inner"), then=REPORT)
    inner = opened(store, *pages(1), opener=claim_one(store), key="inner", then=entry("sum"))
    assert (counts(store, outer), has_ended(store, outer)) == ({"succeeded": 1}, False)
    settle(store, done(claim_one(store)))
    assert (has_ended(store, inner), has_ended(store, outer), counts(store, outer)) == (
        True,
        False,
        {"live": 1, "succeeded": 1},
    )
    sums = claim_one(store)
    settle(store, done(sums))
    assert (sums.kind, has_ended(store, outer), followers(store)) == ("sum", True, [("report", 1)])


@pytest.mark.promise(1)
def test_a_group_below_that_is_empty_ends_the_group_above_in_the_same_transaction(store):
    outer = opened(store, entry("opener", key="inner"), then=REPORT)
    inner = opened(store, opener=claim_one(store), key="inner")
    assert (has_ended(store, inner), has_ended(store, outer), followers(store)) == (
        True,
        True,
        [("report", 1)],
    )


@pytest.mark.promise(2)
def test_a_member_sent_back_reopens_its_group_which_is_not_followed_twice(store):
    outer = opened(store, entry("opener", key="inner"), then=REPORT)
    inner = opened(store, *pages(1), opener=claim_one(store), key="inner")
    member = claim_one(store)
    settle(store, failed(member))
    assert (counts(store, inner), has_ended(store, outer), followers(store)) == (
        {"failed": 1},
        True,
        [("report", 1)],
    )

    assert tasks.revive(store, [member.id]) == [member.id]
    assert (counts(store, inner), has_ended(store, inner), has_ended(store, outer)) == (
        {"live": 1},
        False,
        False,
    )
    settle(store, done(next(task for task in claim(store, 2) if task.id == member.id)))
    assert (counts(store, inner), has_ended(store, outer), followers(store)) == (
        {"succeeded": 1},
        True,
        [("report", 1)],
    )


def test_a_group_that_is_open_again_does_not_hold_its_key(store):
    old = opened(store, *pages(1))
    member = claim_one(store)
    settle(store, failed(member))
    new = opened(store, entry(key="other"))
    tasks.revive(store, [member.id])
    assert (has_ended(store, old), has_ended(store, new), old != new) == (False, False, True)
    settle(store, *(done(task) for task in claim(store, 2)))
    assert (has_ended(store, old), has_ended(store, new)) == (True, True)


def test_one_transaction_counts_members_of_many_groups(store):
    groups = [opened(store, entry(key=f"{at} a"), entry(key=f"{at} b"), key=str(at)) for at in range(5)]
    members = claim(store, 10)
    store.turn([done(task) for task in members], 0, 1)
    assert [counts(store, each) for each in groups] == [{"succeeded": 2}] * 5


@pytest.mark.promise(6)
def test_two_tasks_of_one_transaction_cannot_open_the_same_group(store):
    put(store, entry("opener"), entry("opener"))
    one, two = claim(store, 2)
    settle(
        store,
        done(one, children=(entry(key="a"),), group=group()),
        done(two, children=(entry(key="b"),), group=group()),
    )
    assert rows(store, "select count(*) from task_groups") == [(1,)]
    assert [each["rule"] for each in refusals_of(store, two.id)] == [RefusalRule.GROUP_OPEN]


def test_members_add_to_the_counters_and_the_task_that_follows_says_how_it_ended(store):
    opener = running(store, entry("opener"))
    settle(
        store,
        done(opener, children=pages(2), group=group(then=REPORT, subject="acme"), counts=(("lists", 1),)),
    )
    one, two = claim(store, 2)
    settle(store, done(one, counts=(("offers", 20), ("pages", 1))), done(two, counts=(("offers", 3),)))
    settle(
        store, done(claim_one(store), stop=Stop("the list ended", Verdict.FOUND), counts=(("reports", 1),))
    )
    counted = dict(rows(store, "select name, number from group_counts"))
    assert counted == {"lists": 1, "offers": 23, "pages": 1, "reports": 1}
    assert rows(store, "select subject, stop_reason, verdict from task_groups") == [
        ("acme", "the list ended", "found")
    ]


def test_counts_without_a_group_are_ignored(store):
    settle(store, done(running(store), counts=(("pages", 1),), stop=Stop("over")))
    assert rows(store, "select * from group_counts") == []


def test_the_task_that_follows_is_a_child_of_the_opener(store):
    opener = running(store, entry("opener"))
    opened(store, opener=opener, then=entry("report", payload={"a": 1}, priority=3))
    (found,) = rows(store, "select id from tasks where kind = 'report'")
    task = fields_of(store, found[0])
    assert (task["parent_id"], task["depth"], task["payload"], task["priority"]) == (
        opener.id,
        1,
        {"a": 1},
        3,
    )
    assert rows(store, "select then_id, follow_up from task_groups") == [(found[0], None)]


def test_a_group_shows_what_is_in_the_groups_below_it(store):
    outer = opened(store, entry("opener", key="inner"), key="outer")
    opener = claim_one(store)
    settle(store, done(opener, children=pages(2), group=group("inner"), counts=(("pages", 2),)))
    member = claim_one(store)
    settle(store, failed(member, counts=(("errors", 1),)))
    change(
        store,
        """insert into spendings (at, day, task_id, claim, tracking_id, app, provider, model, prompt, question, reserved, spent,
        state, expires_at) values (0, '1970-01-01', :task, 1, 1, 'test', 'p', 'm', 'x', 'q', 7, 5, 'settled', 0)""",
        task=member.id,
    )
    with store.read() as session:
        seen, inner = groups.get(session, outer), groups.group_of(session, member.id)
        (found,) = groups.find(session, parent_id=outer, running=True)
    assert (seen.members, seen.live, seen.succeeded, seen.failed, seen.cost) == (3, 1, 1, 1, 5)
    assert (dict(seen.counts), seen.is_running) == ({"errors": 1, "pages": 2}, True)
    assert inner == found


def test_the_task_that_follows_sees_the_group_it_follows(store):
    outer = opened(store, entry("opener", key="inner"), key="outer")
    inner = opened(store, opener=claim_one(store), key="inner", then=REPORT)
    follower = claim_one(store)
    with store.read() as session:
        assert (groups.group_of(session, follower.id).id, groups.group_of(session, 999)) == (inner, None)
        assert [each.id for each in groups.find(session)] == [inner, outer]
        assert groups.find(session, runs=True) == []


@pytest.mark.promise(1)
def test_counters_of_a_group_that_drifted_are_set_right_and_that_is_an_event(store):
    group_id = opened(store, *pages(2), then=REPORT)
    settle(store, done(claim_one(store)))
    assert repair(store) == []
    change(store, "update task_groups set live = 5, succeeded = 0")
    assert repair(store) == [
        f"group {group_id} counted live 5; it is 1",
        f"group {group_id} counted succeeded 0; it is 1",
    ]
    assert (counts(store, group_id), len(events(store, "group_repaired"))) == ({"live": 1, "succeeded": 1}, 1)


@pytest.mark.promise(1)
def test_a_group_that_drifted_past_its_end_is_ended_by_the_repair(store):
    group_id = opened(store, *pages(1), then=REPORT)
    change(store, "update task_groups set live = 2")
    settle(store, done(claim_one(store)))
    assert not has_ended(store, group_id)
    repair(store)
    assert (has_ended(store, group_id), followers(store)) == (True, [("report", 1)])


def test_groups_go_with_the_history_of_their_lineage(store, clock):
    opened(store, *pages(1))
    settle(store, done(claim_one(store), counts=(("pages", 1),)))
    clock.advance(400 * DAY)
    assert prune(store) == 2
    assert rows(store, "select * from task_groups") == rows(store, "select * from group_counts") == []
