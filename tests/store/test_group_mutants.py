"""Each rule by which groups are counted, removed on purpose: the checks below must notice."""

import pytest

from tests.harness.databases import only_postgres, only_sqlite
from tests.harness.groups import counts, followers, has_ended, opened
from tests.harness.hand import hands
from tests.harness.tasks import claim, claim_one, done, entry, failed, settle
from tests.store.test_groups import REPORT, pages
from tests.store.test_mutants import install
from thresher.core.settlement import Settlement
from thresher.store import tasks
from thresher.store.sqlite import backend as sqlite_backend
from thresher.store.sqlite import groups as sqlite_groups


def simply_done_members_count(database, store):
    group_id = opened(store, *pages(1))
    store.turn([done(claim_one(store))], 0, 1)
    return has_ended(store, group_id)


def failed_members_count(database, store):
    group_id = opened(store, *pages(1))
    store.turn([failed(claim_one(store))], 0, 1)
    return counts(store, group_id) == {"failed": 1}


def members_that_wait_do_not_count(database, store):
    group_id = opened(store, *pages(1))
    store.turn([Settlement.hand_back(claim_one(store), reason="stopping")], 0, 1)
    return counts(store, group_id) == {"live": 1}


def a_group_waits_for_those_below(database, store):
    outer = opened(store, entry("opener", key="inner"), key="outer")
    opened(store, *pages(1), opener=claim_one(store), key="inner")
    early = has_ended(store, outer)
    settle(store, done(claim_one(store)))
    return not early and has_ended(store, outer)


def a_group_is_followed_once(database, store):
    opened(store, *pages(1), then=REPORT)
    member = claim_one(store)
    settle(store, failed(member))
    tasks.revive(store, [member.id])
    settle(store, *(done(task) for task in claim(store, 2)))
    return followers(store) == [("report", 1)]


def groups_are_taken_in_one_order(database, store):
    """B has members of both groups, A ends the inner one and tells the outer, while somebody holds the outer
    one."""
    outer = opened(store, entry("opener", key="inner"), entry(key="of outer"), key="outer")
    opener, of_outer = sorted(claim(store, 2), key=lambda task: task.kind)
    opened(store, *pages(2), opener=opener, key="inner")
    one, two = claim(store, 2)
    with hands(database, store, 3) as (a, b, c):
        c.hold("task_groups", outer)
        b.begin(lambda other: other.settle([done(of_outer), done(one)]))
        b.waits()
        a.begin(lambda other: other.settle([done(two)]))
        a.waits()
        c.commit()
        try:
            b.finish()
            a.finish()
        except Exception:
            return False
    return has_ended(store, outer)


def a_key_is_free_once_its_group_has_ended(database, store):
    first = opened(store, *pages(1))
    settle(store, done(claim_one(store)))
    return opened(store, entry(key="again")) != first


CHECKS = (
    simply_done_members_count,
    failed_members_count,
    members_that_wait_do_not_count,
    a_group_waits_for_those_below,
    a_group_is_followed_once,
    a_key_is_free_once_its_group_has_ended,
)

ENDED_ONLY = """array_agg(u.group_id) filter (where u.group_id is not null and u.finished_at is not null),
           array_agg(u.state) filter (where u.group_id is not null and u.finished_at is not null)"""
SQL_MUTANTS = {
    "what is simply done is not counted": (
        "array_agg(u.group_id) filter (where u.group_id is not null)\n            into",
        "null::bigint[]\n            into",
        simply_done_members_count,
    ),
    "every settlement counts as an end": (
        ENDED_ONLY,
        ENDED_ONLY.replace(" and u.finished_at is not null", "").replace("u.state", "'failed'::text"),
        members_that_wait_do_not_count,
    ),
    "groups below are not waited for": (
        "if g.ended_at is null and g.live = 0 and g.open_groups = 0 then",
        "if g.ended_at is null and g.live = 0 then",
        a_group_waits_for_those_below,
    ),
    "the group above is not told": (
        "numbers := numbers || -1::bigint",
        "numbers := numbers || 0::bigint",
        a_group_waits_for_those_below,
    ),
    "what follows is not forgotten": (
        "open_key = null, follow_up = null,",
        "open_key = null,",
        a_group_is_followed_once,
    ),
    "a key is never given back": (
        "open_key = null, follow_up = null,",
        "follow_up = null,",
        a_key_is_free_once_its_group_has_ended,
    ),
    "groups are taken from the oldest": (
        "at := (select max(x) from unnest(ids) x);",
        "at := (select min(x) from unnest(ids) x);",
        groups_are_taken_in_one_order,
    ),
}


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize(("old", "new", "check"), SQL_MUTANTS.values(), ids=SQL_MUTANTS)
def test_a_check_notices_that(database, store, old, new, check):
    install(store, (old, new))
    assert not check(database, store)


@pytest.mark.promise(1)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_nothing_removed_nothing_noticed(database, store, check):
    """The control."""
    assert check(database, store)


@pytest.mark.promise(1)
@only_postgres
def test_groups_that_depend_on_each_other_are_never_waited_for_in_a_circle(database, store):
    assert groups_are_taken_in_one_order(database, store)


def no_cascade(monkeypatch):
    count = sqlite_groups._count

    def keep_to_itself(*what):
        count(*what)
        return []

    monkeypatch.setattr(sqlite_groups, "_count", keep_to_itself)


def no_counting_in_turns(monkeypatch):
    monkeypatch.setattr(sqlite_backend, "ended_members", lambda hits: {})


@pytest.mark.promise(1)
@only_sqlite
@pytest.mark.parametrize(
    ("remove", "check"),
    [(no_cascade, a_group_waits_for_those_below), (no_counting_in_turns, simply_done_members_count)],
    ids=["no_cascade", "no_counting_in_turns"],
)
def test_a_check_notices_on_sqlite(database, store, monkeypatch, remove, check):
    remove(monkeypatch)
    assert not check(database, store)
