"""Records of settlements are stored in bulk, and the tables are as if each had been stored on its own."""

import random
import re
import threading
from dataclasses import replace

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.harness.bodies import saved
from tests.harness.costs import plans, used
from tests.harness.databases import memory_database, only_postgres, only_sqlite, postgres_database
from tests.harness.hand import hands
from tests.harness.schemas import SCHEMAS
from tests.harness.tasks import done, entry, filing, rows, running, settle
from tests.store.one_by_one import file_one_by_one
from thresher.core.clock import FrozenClock
from thresher.core.keys import content_hash
from thresher.core.record import Filing, Link
from thresher.store import records
from thresher.store.records import PORTION, file_record, file_records, find_record, find_records

BODIES = (b"pears", b"plums", b"quinces")
HASHES = tuple(map(content_hash, BODIES))
# In the order of characters and not of any language.
KEYS = ("B", "a", "ß", "z", "\U0001d11e")

values = st.none() | st.sampled_from(["x", "", "ß"]) | st.integers(-2, 2) | st.booleans()
fields = st.dictionaries(st.sampled_from(["size", "state", "name"]), values, max_size=3)
pages = st.just({}) | st.sampled_from(HASHES).map(lambda name: {"page": name})
links = st.lists(st.builds(Link, st.sampled_from("pq"), st.sampled_from("xyz")), max_size=4).map(tuple)
places = st.dictionaries(
    st.sampled_from(["size", "state", "name.first"]), st.none() | st.just({"quote": "x"}), max_size=2
)
evidence = st.none() | st.builds(
    lambda source, said: {"source": source, "places": said}, st.sampled_from(["s", *HASHES]), places
)


def written(data):
    return None if data is None else orjson.dumps(data).decode()


filings = st.builds(
    lambda kind, key, data, page, links, evidence, merge, initial, marks, is_said: Filing(
        kind,
        key,
        written(data | page),
        links,
        written(evidence),
        merge,
        initial if merge else (),
        marks,
        data | page if is_said else None,
    ),
    st.sampled_from(["board", "posting"]),
    st.sampled_from(KEYS),
    fields,
    pages,
    links,
    evidence,
    st.booleans(),
    st.lists(st.sampled_from(["size", "state", "name"]), max_size=2).map(tuple),
    st.lists(st.sampled_from(["size", "state", "name"]), max_size=3).map(tuple),
    st.booleans(),
)
batches = st.lists(st.lists(st.tuples(st.integers(0, 9), filings), max_size=9), max_size=4)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def pair(request, postgres_url):
    """Two stores of one make, with the same bodies: what is stored in bulk, and what one by one."""
    make = (
        memory_database if request.param == "sqlite" else lambda clock: postgres_database(postgres_url, clock)
    )
    databases = [make(FrozenClock()) for _ in range(2)]
    stores = [database.open() for database in databases]
    for store in stores:
        for body in BODIES[:2]:
            saved(store, body)
    yield stores
    for database in databases:
        database.close()
        if request.param == "postgres":
            SCHEMAS.give_back(database.url)


def emptied(store):
    with store.write() as session:
        for table in ("links", "marks", "records", "loose_blobs"):
            session.run(f"delete from {table}")
        session.run("delete from blob_owners where kind = 'record'")
        session.run("update blobs set saved = 0")


def tables(store):
    """All that records leave behind, with their names instead of their ids."""
    found = rows(store, "select * from records order by id")
    name = {row[0]: row[1:3] for row in found}
    return {
        "records": [row[1:] for row in found],
        "links": sorted((name[row[0]], *row[1:]) for row in rows(store, "select * from links")),
        "marks": sorted((name[row[0]], *map(repr, row[1:])) for row in rows(store, "select * from marks")),
        "owners": sorted(
            (name[owner], each)
            for each, owner in rows(store, "select hash, owner from blob_owners where kind = 'record'")
        ),
        "loose": sorted(rows(store, "select hash, since from loose_blobs")),
        "saved": sorted(rows(store, "select hash, saved from blobs")),
    }


def board(key="a", *, merge=True, **said):
    return Filing("board", key, written(said), merge=merge, marks=("size",))


@pytest.mark.promise(2)
@pytest.mark.promise(19)
@pytest.mark.parametrize("grouped", [1, 1_000], ids=["marks by name", "marks as they come"])
@given(batches=batches)
# What was read of the old data before it was replaced stays as a mark.
@example(batches=[[(1, board(size=3))], [(2, board(name="x")), (3, replace(board(merge=False), marks=()))]])
@example(batches=[[(1, board(page=HASHES[0])), (2, board(merge=False))]])
def test_records_stored_in_bulk_are_as_if_each_was_stored_on_its_own(pair, grouped, batches):
    bulk, plain = pair
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(records, "GROUPED", grouped)
        _store_both_ways(bulk, plain, batches)
    assert tables(bulk) == tables(plain)


def _store_both_ways(bulk, plain, batches):
    for store, file in ((bulk, file_records), (plain, file_one_by_one)):
        emptied(store)
        for now, batch in enumerate(batches, 1):
            with store.write() as session:
                file(session, batch, now)


def test_more_records_than_a_portion_are_all_stored_each_once(store):
    number = 2 * PORTION + 1
    batch = [filing(f"{at % number}", ("board", f"{at % 5}")) for at in range(number + 5)]
    settle(store, done(running(store, entry()), records=tuple(batch)))
    assert rows(store, "select count(*), sum(seen) from records") == [(number, number + 5)]
    assert rows(store, "select count(*) from links") == [(number + 5,)]


class Counted:
    """A session that counts what is sent to the database."""

    def __init__(self, session):
        self._session, self.statements = session, 0

    def __getattr__(self, name):
        found = getattr(self._session, name)
        if name in ("rows", "run", "many"):
            self.statements += 1
        return found


@pytest.mark.parametrize("merge", [True, False])
@only_postgres
def test_many_records_cost_as_many_statements_as_two(store, merge):
    def cost(number, word):
        batch = [
            Filing(
                "posting",
                f"{at}",
                written({"state": word}),
                (Link("board", "b"),),
                merge=merge,
                marks=("state",),
            )
            for at in range(number)
        ]
        with store.write() as session:
            counted = Counted(session)
            file_records(counted, [(1, each) for each in batch], 1)
        return counted.statements

    # The last one changes every mark.
    assert [cost(300, word) for word in ("new", "new", "old")] == ([3, 5, 6] if merge else [3, 3, 4])
    assert cost(2, "older") == cost(300, "oldest")


@only_sqlite
def test_storing_reads_no_table_from_end_to_end(store, monkeypatch):
    def work():
        for said in ({"size": 1}, {"size": 2}, {"size": None}):
            for keys in (KEYS, KEYS[:1]):
                batch = [replace(board(key, **said), links=(Link("p", "x"),)) for key in keys]
                with store.write() as session:
                    file_records(session, [(1, each) for each in batch], 1)

    assert not re.search(r"SCAN (r|records|links|marks)\b", used(plans(store, monkeypatch, work)))


# Two who store at the same time.


def merged(key, **said):
    return Filing("posting", key, written(said), merge=True)


def store_in(*batch):
    def act(store):
        with store.write() as session:
            file_records(session, [(1, each) for each in batch], 1)
        return True

    return act


def data_of(store, key):
    with store.read() as session:
        found = find_record(session, "posting", key)
    return found and (found.data, found.seen)


@pytest.mark.promise(2)
@only_postgres
@pytest.mark.parametrize("others", [(), ("a", "c")], ids=["alone", "among others"])
def test_who_comes_second_with_a_new_record_waits_and_merges_into_the_first(database, store, others):
    with hands(database, store, 2) as (first, second):
        store_in(merged("b", one=1), *(merged(f"{each}1") for each in others))(first.store)
        second.begin(store_in(merged("b", two=2), *map(merged, others)))
        assert second.waits()
        first.commit()
        assert second.finish()
    assert data_of(store, "b") == ({"one": 1, "two": 2}, 2)


@pytest.mark.promise(2)
@only_postgres
@pytest.mark.parametrize("others", [(), ("a", "c")], ids=["alone", "among others"])
def test_who_waits_for_a_known_record_merges_into_what_is_written_meanwhile(database, store, others):
    store_in(*map(merged, "abc"))(store)
    with hands(database, store, 2) as (first, second):
        store_in(merged("b", one=1))(first.store)
        second.begin(store_in(merged("b", two=2), *map(merged, others)))
        assert second.waits()
        first.commit()
        assert second.finish()
    assert data_of(store, "b") == ({"one": 1, "two": 2}, 3)


@only_postgres
@pytest.mark.parametrize("merge", [True, False])
def test_a_record_that_is_removed_while_it_is_waited_for_is_stored_anew(database, store, merge):
    store_in(*map(merged, "abc"))(store)
    with hands(database, store, 2) as (first, second):
        with first.store.write() as session:
            session.run("delete from records where key = 'b'")
        second.begin(store_in(*(replace(merged(key, two=2), merge=merge) for key in "abc")))
        assert second.waits()
        first.commit()
        assert second.finish()
    assert data_of(store, "b") == ({"two": 2}, 1)


@pytest.mark.promise(2)
@only_postgres
@pytest.mark.parametrize("merge", [True, False])
def test_known_and_new_records_are_taken_in_the_order_of_their_keys(database, store, merge):
    """Who took the known ones first would hold `c` while it waits for `b`; whoever has `b` may want `c`."""
    store_in(*map(merged, "ac"))(store)
    (known,) = rows(store, "select id from records where key = 'c'")
    with hands(database, store, 3) as (first, second, third):
        store_in(merged("b", one=1))(first.store)
        second.begin(store_in(*(replace(merged(key, two=2), merge=merge) for key in "abc")))
        assert second.waits()
        third.begin(lambda _: third.hold("records", known[0]))
        assert not third.waits()
        third.finish()
        store_in(merged("c", one=1))(first.store)
        first.commit()
        assert second.finish()
    assert data_of(store, "c") == ({"two": 2} | ({"one": 1} if merge else {}), 3)


@pytest.mark.promise(2)
def test_settlers_that_meet_at_the_same_records_lose_nothing_and_never_wait_in_a_circle(database):
    """Batches of some forty records that overlap, in any order, by four machines; a few are replaced."""
    stores = [database.open() for _ in range(4)]
    start, problems = threading.Barrier(4), []

    def work(who):
        dice = random.Random(who)
        try:
            start.wait(10)
            for turn in range(20):
                keys = dice.sample(range(40 + 4 * turn), dice.choice((1, 2, 12, 40)))
                batch = [
                    Filing(
                        "posting",
                        f"{key:03}",
                        written({f"{who}": turn, "last": who}),
                        (Link("board", f"{who}"),),
                        merge=key % 8 != 0,
                        marks=("last",),
                    )
                    for key in keys
                ]
                dice.shuffle(batch)
                store_in(*batch)(stores[who])
                brought[who] += [(key, turn) for key in keys]
        except BaseException as problem:
            problems.append(problem)

    brought = [[] for _ in stores]
    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    assert problems == []
    assert not any(each.is_alive() for each in threads)
    with stores[0].read() as session:
        found = {int(each.key): each for each in find_records(session, kind="posting", limit=1_000)}
    for key, record in found.items():
        last = {who: turn for who in range(4) for at, turn in brought[who] if at == key}
        assert record.seen == sum(at == key for each in brought for at, _ in each)
        assert {link.target for link in record.links} == {f"{who}" for who in last}
        assert record.marks == {"last": record.data["last"]}
        if key % 8:
            assert {**record.data, "last": 0} == {**{f"{who}": turn for who, turn in last.items()}, "last": 0}
    assert set(found) == {key for each in brought for key, _ in each}


def test_one_record_alone_returns_the_id_under_which_it_is_known(store):
    with store.write() as session:
        first, again = (file_record(session, merged("a"), 0, 1) for _ in range(2))
        assert first == again
        assert file_record(session, replace(merged("a"), merge=False), 0, 1) == first
