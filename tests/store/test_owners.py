"""Bodies that stages saved: they stay while a lineage, a record, a page, an example or a late post needs
them, and then go."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.bodies import saved
from tests.harness.costs import plans, scans
from tests.harness.databases import memory_database, only_postgres, with_processes
from tests.harness.hand import hands
from tests.harness.tasks import (
    change,
    claim,
    claim_one,
    done,
    entry,
    failed,
    filing,
    put,
    rows,
    running,
    settle,
)
from thresher.apps.roles.store.people import erase_candidate
from thresher.core.clock import DAY
from thresher.core.errors import UnknownName
from thresher.core.keys import content_hash
from thresher.core.record import Filing
from thresher.engine.chores import prune_kept
from thresher.store import blobs, extractors, owners, pages
from thresher.store.pages import Kept
from thresher.store.prune import _remove, prune
from thresher.store.records import file_record
from thresher.store.tasks import revive

LONG = 400 * DAY


def naming(*names, key="a", kind="posting"):
    return filing(key, kind=kind, data='{"pages": [' + ", ".join(f'"{name}"' for name in names) + "]}")


def page(key="k"):
    return Kept(key, f"https://a.example/{key}", "a.example", "GET", 200, {}, 0, "{}", 2**60)


def tidy(store, clock, after=LONG):
    """Prune history, and bodies once nobody has needed them for long enough."""
    clock.advance(after)
    prune(store)
    clock.advance(8 * DAY)
    return pages.prune_pages(store, 0).bodies


def stays(store, name):
    try:
        return bool(blobs.get(store, name))
    except UnknownName:
        return False


@pytest.mark.promise(18)
def test_a_body_goes_with_the_lineage_whose_task_saved_it(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task))
    assert (tidy(store, clock, after=29 * DAY), stays(store, name)) == (0, True)
    assert (tidy(store, clock, after=2 * DAY), stays(store, name)) == (1, False)
    assert rows(store, "select * from blob_owners") == rows(store, "select * from loose_blobs") == []


@pytest.mark.promise(1)
def test_a_task_that_waits_keeps_what_its_ancestor_saved(store, clock):
    root = running(store)
    name = saved(store, b"pears", root)
    settle(store, done(root, children=(entry(key="child", payload={"hash": name}, delay_us=2 * LONG),)))
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    clock.advance(LONG)
    child = claim_one(store)
    assert blobs.get(store, child.payload["hash"]) == b"pears"
    settle(store, done(child))
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_lineage_that_is_removed_in_several_batches_keeps_its_bodies_until_its_last_task_goes(store, clock):
    root = running(store)
    name = saved(store, b"pears", root)
    settle(store, done(root, children=(entry(key="child"),)))
    child = claim_one(store)
    clock.advance(1)
    settle(store, failed(child))
    clock.advance(LONG)
    with store.write() as session:  # one batch, and the process dies
        assert _remove(session, [(root.id, root.id, 0)], clock.now() - DAY, clock.now()) == 1
    assert rows(store, "select id from tasks") == [(child.id,)]
    revive(store, [child.id])
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    settle(store, done(claim_one(store)))
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_record_keeps_the_bodies_that_it_names_when_the_lineage_is_gone(store, clock):
    task = running(store)
    data, evidence, spare = (saved(store, body, task) for body in (b"data", b"evidence", b"spare"))
    record = Filing(
        "posting",
        "a",
        f'{{"page": {{"is": ["cafe{data}"]}}}}',
        evidence=f'{{"source": "{evidence}", "places": {{}}}}',
    )
    settle(store, done(task, records=(record,)))
    assert tidy(store, clock) == 1
    assert [stays(store, name) for name in (data, evidence, spare)] == [True, True, False]


@pytest.mark.promise(18)
@pytest.mark.parametrize("merge", [True, False])
def test_a_record_that_names_another_body_lets_go_of_the_first(store, clock, merge):
    task = running(store)
    first, second, other = (saved(store, body, task) for body in (b"first", b"second", b"other"))
    settle(
        store,
        done(task, records=(Filing("board", "a", f'{{"page": "{first}", "also": "{other}"}}', merge=merge),)),
    )
    settle(
        store, done(running(store), records=(Filing("board", "a", f'{{"page": "{second}"}}', merge=merge),))
    )
    assert tidy(store, clock) == (1 if merge else 2)
    assert [stays(store, name) for name in (first, second, other)] == [False, True, merge]


@pytest.mark.promise(1)
def test_a_record_that_names_nothing_any_more_keeps_what_it_had(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task, records=(naming(name),)))
    settle(store, done(running(store), records=(filing("a"),)))
    assert (tidy(store, clock), stays(store, name)) == (0, True)


@pytest.mark.promise(18)
def test_a_record_that_is_removed_lets_go_and_a_living_lineage_does_not(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    with store.write() as session:
        record_id = file_record(session, naming(name, kind="candidate"), 0, clock.now())
    with store.write() as session:
        erase_candidate(session, record_id, clock.now())
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    settle(store, done(task))
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(18)
def test_a_body_whose_lineage_went_first_goes_with_its_record(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task, records=(naming(name, kind="candidate"),)))
    assert tidy(store, clock) == 0
    ((record_id,),) = rows(store, "select id from records")
    with store.write() as session:
        erase_candidate(session, record_id, clock.now())
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)
    clock.advance(8 * DAY)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_body_that_two_tasks_saved_stays_until_both_lineages_are_gone(store, clock):
    one, two = put(store, entry(key="one"), entry(key="two"))
    tasks = {task.id: task for task in claim(store, 2)}
    assert saved(store, b"pears", tasks[one]) == (name := saved(store, b"pears", tasks[two]))
    settle(store, done(tasks[one]))
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    settle(store, done(tasks[two]))
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
@pytest.mark.parametrize("saved_first", [True, False])
def test_a_body_that_is_also_a_kept_page_goes_with_whichever_is_the_last(store, clock, saved_first):
    task = running(store)
    if saved_first:
        saved(store, b"pears", task)
    pages.keep(store, page(), b"pears")
    name = saved(store, b"pears", task)
    settle(store, done(task))
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    pages.forget(store, "k")
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_body_that_was_lent_outlives_its_owners_and_goes_when_it_is_given_back(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    with store.write() as session:
        blobs.lend(session, blobs.pack(b"pears"), clock.now())
    settle(store, done(task))
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    with store.write() as session:
        blobs.give_back(session, name)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_an_example_keeps_its_page_until_it_is_forgotten(store, clock):
    task = running(store)
    name = saved(store, b"<p>pears</p>", task)
    extractors.add_example(
        store,
        site="a.example",
        schema_name="fruit",
        schema_digest="d",
        page=blobs.pack(b"<p>pears</p>"),
        labels={"x": "pears"},
        by="data",
    )
    settle(store, done(task))
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    assert extractors.forget(store, "a.example", "fruit", name)
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_task_that_was_killed_before_it_settled_finds_its_body_again(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    clock.advance(LONG)
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    assert saved(store, b"pears", task) == name
    assert rows(store, "select kind, owner from blob_owners") == [("lineage", task.id)]


@pytest.mark.promise(18)
def test_what_a_stage_saves_after_its_lineage_was_removed_is_not_kept_for_ever(store, clock):
    task = running(store)
    settle(store, failed(task))
    tidy(store, clock)
    name = saved(store, b"pears", task)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_how_long_a_body_stays_that_nobody_needs_is_a_setting_and_counted_from_the_last_owner(
    make_store, clock
):
    store = make_store(history__bodies=3)
    task, second = running(store), running(store)
    name = saved(store, b"pears", task)
    saved(store, b"pears", second)
    settle(store, done(task), done(second, records=(naming(name),)))
    clock.advance(31 * DAY)
    prune(store)
    clock.advance(2 * DAY)
    ((record_id,),) = rows(store, "select id from records")
    with store.write() as session:
        erase_candidate(session, record_id, clock.now())
    clock.advance(2 * DAY)
    assert (prune_kept(store), stays(store, name)) == (None, True)
    clock.advance(2 * DAY)
    assert (prune_kept(store), stays(store, name)) == ("0 old pages and 1 bodies removed", False)


@pytest.mark.promise(1)
def test_a_body_that_is_saved_again_while_it_waits_to_go_stays(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task))
    clock.advance(31 * DAY)
    prune(store)
    again = running(store)
    saved(store, b"pears", again)
    clock.advance(8 * DAY)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)
    settle(store, done(again))
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_a_worker_that_knows_no_owners_leaves_owned_bodies_alone(store, clock):
    """It removes loose bodies that are marked 0 and that no page names."""
    task = running(store)
    for body in (b"task", b"record", b"example", b"lent"):
        pages.keep(store, page(), body)
    names = [saved(store, body, task) for body in (b"task", b"lent")]
    settle(store, done(task, records=(naming(content_hash(b"record")),)))
    extractors.add_example(
        store,
        site="a.example",
        schema_name="f",
        schema_digest="d",
        page=blobs.pack(b"example"),
        labels={},
        by="data",
    )
    with store.write() as session:
        blobs.lend(session, blobs.pack(b"lent"), clock.now())
    assert rows(store, "select hash from blobs where saved = 2") == [(names[1],)]
    with store.write() as session:
        blobs.give_back(session, names[1])
    assert rows(store, "select hash from blobs where saved = 0") == []
    pages.forget(store, "k")
    assert pages.prune_pages(store, 0).bodies == 0


def test_hashes_are_found_wherever_they_stand():
    name = content_hash(b"pears")
    for before in range(20):
        assert name in owners.hashes_in("x" * before + name + "z")
    assert owners.hashes_in(f"page-{name}", f'{{"{name}":1}}', None) == {name}
    assert {name} <= owners.hashes_in(f"cafe{name}") & owners.hashes_in(f"{name}cafe") & owners.hashes_in(
        f'"\\u001f{name}"'
    )
    assert owners.hashes_in(name[:-1], name.upper(), "deadbeef " * 100, "") == set()


@given(
    st.lists(
        st.sampled_from(["0", "f", "deadbeef", "cafe" * 4, "a1" * 32, "g", "é", "\ud800", " "]), max_size=40
    )
)
def test_no_row_of_digits_that_may_be_a_hash_is_passed_over(parts):
    text = "".join(parts)
    runs = re.findall("[0-9a-f]{64,}", text)
    assert owners.hashes_in(text) == {name for run in runs for name in (run[:64], run[-64:])}


@pytest.mark.promise(4)
def test_a_settlement_that_names_no_hash_asks_nothing_about_bodies(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    task = running(store)
    found = plans(
        store,
        monkeypatch,
        lambda: settle(store, done(task, records=(filing("a", data='{"title": "pears"}'),))),
    )
    assert [sql for sql in found if "blob" in sql] == []
    database.close()


@pytest.mark.promise(4)
def test_everything_about_owners_is_found_by_an_index_on_sqlite(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    task = running(store)
    name = saved(store, b"pears", task)
    saved(store, b"plums", task)
    found = plans(store, monkeypatch, lambda: settle(store, done(task, records=(naming(name),))))
    assert any("blob_owners" in sql for sql in found)
    assert scans({sql: plan for sql, plan in found.items() if "blob" in sql}) == {}
    found = plans(store, monkeypatch, lambda: tidy(store, clock))
    assert scans({sql: plan for sql, plan in found.items() if "blob" in sql}) == {}
    database.close()


# Many at once.


def loose(store, clock):
    """A body that pruning is about to remove."""
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task))
    clock.advance(LONG)
    prune(store)
    clock.advance(8 * DAY)
    return name


@pytest.mark.promise(1)
@only_postgres
def test_a_body_that_is_being_saved_again_is_not_pruned(database, store, clock):
    name, task = loose(store, clock), running(store)
    with hands(database, store, 1) as (one,):
        saved(one.store, b"pears", task)
        assert pages.prune_pages(store, 0).bodies == 0
        one.commit()
    assert pages.prune_pages(store, 0).bodies == 0
    assert stays(store, name)


@pytest.mark.promise(1)
@only_postgres
def test_whoever_saves_a_body_that_is_being_pruned_stores_it_anew(database, store, clock):
    name, task = loose(store, clock), running(store)
    with hands(database, store, 2) as (one, two):
        assert pages.prune_pages(one.store, 0).bodies == 1
        two.begin(lambda its: saved(its, b"pears", task))
        assert two.waits()
        one.commit()
        assert two.finish() == name
    assert stays(store, name)
    assert (tidy(store, clock), stays(store, name)) == (0, True)


@pytest.mark.promise(1)
@only_postgres
def test_a_body_that_a_record_is_about_to_name_is_not_pruned(database, store, clock):
    name = loose(store, clock)
    with hands(database, store, 1) as (one,), one.store.write() as session:
        file_record(session, naming(name), 0, clock.now())
        assert pages.prune_pages(store, 0).bodies == 0
        one.commit()
    assert pages.prune_pages(store, 0).bodies == 0
    assert stays(store, name)


@pytest.mark.promise(18)
@only_postgres
def test_owners_that_go_while_pruning_looks_leave_a_new_note(database, store, clock):
    task, other = running(store), running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task), done(other, records=(naming(name),)))
    clock.advance(LONG)
    prune(store)
    clock.advance(8 * DAY)
    ((record_id,),) = rows(store, "select id from records")
    with hands(database, store, 2) as (one, two):
        assert pages.prune_pages(one.store, 0).bodies == 0  # the record owns it: the note is settled
        two.begin(lambda its: erase(its, record_id, clock.now()))
        assert two.waits()
        one.commit()
        two.finish()
    clock.advance(8 * DAY)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (1, False)


def erase(store, record_id, now):
    with store.write() as session:
        return erase_candidate(session, record_id, now)


@pytest.mark.promise(1)
@with_processes
def test_bodies_saved_and_filed_while_others_prune_are_never_missing(make_store, database, clock):
    stores = [make_store(history__retention=0, history__bodies=1) for _ in range(3)]
    ended, problems = threading.Event(), []

    def saving(store, seed):
        try:
            for n in range(30):
                task = running(store, entry(f"kind{seed}"))
                name = saved(store, f"{n % 2}".encode(), task)
                assert blobs.get(store, name)
                settle(store, done(task, records=(naming(name, key=f"{(n + seed) % 3}"),)))
                lost = rows(
                    store,
                    "select hash from blob_owners o where not exists (select 1 from blobs b where b.hash = o.hash)",
                )
                assert lost == []
        except BaseException as problem:
            problems.append(problem)

    def pruning(store):
        while not ended.is_set():
            prune(store)
            change(store, "update loose_blobs set since = 0")
            pages.prune_pages(store, 0)

    savers = [threading.Thread(target=saving, args=(store, seed)) for seed, store in enumerate(stores[:2])]
    pruner = threading.Thread(target=pruning, args=(stores[2],))
    for thread in (*savers, pruner):
        thread.start()
    for thread in savers:
        thread.join()
    ended.set()
    pruner.join()
    assert problems == []
    for (data,) in rows(stores[0], "select data from records"):
        assert all(stays(stores[0], name) for name in owners.hashes_in(data))
