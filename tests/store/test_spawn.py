import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import (
    claim,
    claim_one,
    done,
    entry,
    fields_of,
    put,
    refusals_of,
    rows,
    running,
    settle,
)
from thresher.store import tasks
from thresher.store.spawn import known_lineage

URL = "https://acme.example/jobs"


def rules(store, tracking_id):
    return [row["rule"] for row in refusals_of(store, tracking_id)]


def child_of(store, parent, *children):
    settle(store, done(parent, children=children))
    return claim_one(store)


def test_a_child_knows_its_root_its_parent_and_its_depth(store):
    root = running(store, entry(url="https://acme.example/"))
    child = child_of(store, root, entry(url=URL))
    grandchild = child_of(store, child, entry(url=URL + "/1"))
    assert (child.tracking_id, child.parent_id, child.depth) == (root.id, root.id, 1)
    assert (grandchild.tracking_id, grandchild.parent_id, grandchild.depth) == (root.id, child.id, 2)
    with store.read() as session:
        assert [task["id"] for task in tasks.lineage(session, root.id)] == [root.id, child.id, grandchild.id]


@pytest.mark.promise(6)
def test_a_lineage_ends_at_its_greatest_depth(make_store):
    store = make_store(lineage__max_depth=3)
    task = running(store, entry(key="0"))
    for depth in range(1, 4):
        task = child_of(store, task, entry(key=str(depth)))
    settle(store, done(task, children=(entry(key="4"),)))
    assert claim(store) == []
    (refused,) = refusals_of(store, task.tracking_id)
    assert (refused["rule"], refused["parent_id"]) == ("too_deep", task.id)
    assert refused["detail"] == "depth 4; the limit is 3 (lineage.max_depth)"


@pytest.mark.promise(6)
def test_a_page_that_leads_back_to_itself_is_not_followed_again(store):
    root = running(store, entry(url=URL))
    child = child_of(store, root, entry(url=URL + "/2"))
    settle(store, done(child, children=(entry(url=URL), entry(url=URL + "/2"), entry("other", url=URL))))
    assert rules(store, root.id) == ["in_ancestry", "in_ancestry"]
    assert [task.kind for task in claim(store, 5)] == ["other"]


@pytest.mark.promise(6)
def test_what_waits_or_runs_in_a_lineage_is_not_spawned_again(store):
    root = running(store, entry(url=URL))
    settle(store, done(root, children=(entry(url=URL + "/1"), entry(url=URL + "/2"))))
    first = claim_one(store)
    settle(store, done(first, children=(entry(url=URL + "/2"),)))
    assert rules(store, root.id) == ["live_in_lineage"]


@pytest.mark.promise(6)
def test_what_has_ended_in_a_lineage_is_not_spawned_again(store):
    root = running(store, entry(url=URL))
    settle(store, done(root, children=(entry(url=URL + "/1"), entry(url=URL + "/2"))))
    first, second = claim(store, 2)
    settle(store, done(first))
    settle(store, done(second, children=(entry(url=URL + "/1"),)))
    assert rules(store, root.id) == ["ended_in_lineage"]


@pytest.mark.promise(6)
def test_twins_in_one_settlement_are_one_child(store):
    root = running(store, entry(url=URL))
    settle(store, done(root, children=(entry(url=URL + "/1"), entry(url=URL + "/1?utm_source=mail"))))
    assert rules(store, root.id) == ["live_in_lineage"]
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(6)
def test_siblings_settled_together_see_each_others_children(store):
    root = running(store, entry(url=URL))
    settle(store, done(root, children=(entry(url=URL + "/1"), entry(url=URL + "/2"))))
    settle(store, *(done(task, children=(entry(url=URL + "/3"),)) for task in claim(store, 2)))
    assert rules(store, root.id) == ["live_in_lineage"]
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(6)
def test_a_child_whose_key_is_taken_elsewhere_is_refused_in_writing_and_without_alarm(store, caplog):
    (elsewhere,) = put(store, entry("item", key="a", delay_us=1))
    root = running(store)
    settle(store, done(root, children=(entry("item", key="a"), entry("item", key="b"))))
    assert rules(store, root.id) == ["duplicate_key"]
    assert caplog.records == []
    assert fields_of(store, elsewhere)["parent_id"] is None
    assert [task.parent_id for task in claim(store, 5)] == [root.id]


@pytest.mark.promise(6)
def test_the_same_page_may_be_visited_by_another_lineage(store):
    for _ in range(2):
        root = running(store, entry(url="https://acme.example/"))
        assert child_of(store, root, entry(url=URL)).tracking_id == root.id


@pytest.mark.promise(6)
@with_processes
def test_siblings_on_two_machines_cannot_both_spawn_the_same_page(make_store):
    one, other = make_store(), make_store()
    root = running(one, entry(url=URL))
    settle(one, done(root, children=tuple(entry(url=f"{URL}/{n}") for n in range(10))))
    siblings = claim(one, 10)
    start = threading.Barrier(2)

    def spawn(store, mine):
        for sibling in mine:
            start.wait(10)
            settle(
                store,
                done(sibling, children=(entry(url=URL + "/same"), entry(url=f"{URL}/own/{sibling.id}"))),
            )

    threads = [
        threading.Thread(target=spawn, args=pair) for pair in ((one, siblings[:5]), (other, siblings[5:]))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert rows(one, "select count(*) from tasks where url = :url", url=URL + "/same") == [(1,)]
    assert rows(one, "select count(*) from refusals") == [(9,)]
    assert rows(one, "select count(*) from tasks") == [(1 + 10 + 10 + 1,)]


@pytest.mark.promise(6)
def test_a_lineage_can_be_asked_about_more_keys_than_fit_into_one_statement(store):
    """70,000 values are more than PostgreSQL takes in one statement; SQLite's time for one grew with their
    square."""
    parent = running(store)
    settle(store, done(parent, children=(entry(key="k69999"),)))
    with store.read() as session:
        known = known_lineage(session, parent.id, [entry(key=f"k{n}") for n in range(70_000)])
    assert known.has_live("page", "k69999")
    assert not known.has_live("page", "k0")
