"""Both databases take the same and give back the same, whatever a stage or a page comes up with."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.workshop import one_stage
from tests.harness.databases import memory_database, postgres_database
from tests.harness.schemas import SCHEMAS
from tests.harness.tasks import claim, done, settle
from thresher import Done, Link, NewTask, Record
from thresher.core.clock import FrozenClock
from thresher.core.errors import ThresherError
from thresher.core.record import Between, Is, pack
from thresher.engine.registry import Registry
from thresher.store.records import count_records, file_record, find_record, find_records

pytestmark = pytest.mark.promise(19)
LIMIT = 65_536
NASTY_TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "a\udfffb",
    "\x1b[2J",
    "\u202eabc",
    "null",
    "'; drop table tasks; --",
    "%s",
    ":name",
    "ß",
    "e\u0301",
    "x" * 200,
    "x" * 201,
    "x" * 512,
    "x" * 513,
    "x" * 2_000,
    "x" * 2_001,
    "\U0001d11e" * 50,
    "\U0001d11e" * 51,
    "\U0001d11e" * 512,
    "é" * 1_001,
]
NASTY_NUMBERS = [
    0,
    -1,
    2**31,
    -(2**31) - 1,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63),
    -(2**63) - 1,
    2**64 - 1,
    2**64,
    10**30,
    True,
    False,
]
NASTY_FLOATS = [math.nan, math.inf, -math.inf, -0.0, 1.5, 1e308, 5e-324]

texts = st.sampled_from(NASTY_TEXTS) | st.text(st.characters(codec=None, categories=None), max_size=20)
numbers = st.sampled_from(NASTY_NUMBERS) | st.integers()
floats = st.sampled_from(NASTY_FLOATS) | st.floats()
plain = st.none() | texts | numbers | floats
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=4
)
links = st.lists(st.builds(Link, texts, texts), max_size=2).map(tuple)


@st.composite
def records(draw):
    data = draw(st.dictionaries(texts, values, max_size=3))
    marks = draw(st.lists(st.sampled_from([*data, "absent"]), max_size=2, unique=True)) if data else []
    return Record(draw(texts), draw(texts), data, draw(links), merge=draw(st.booleans()), marks=tuple(marks))


addresses = texts | texts.map(lambda text: f"https://{text}.example/{text}")
tasks = st.builds(
    NewTask,
    st.just("visit"),
    st.dictionaries(texts, values, max_size=3),
    st.none() | addresses,
    st.none() | texts,
    st.integers(-101, 101) | numbers | floats,
    floats | numbers | st.just(0.0),
)
few = {"min_size": 1, "max_size": 3}
names = st.sampled_from(["size", "state"]) | texts
exact = st.builds(
    lambda name, said: Is(name, *said), names, st.lists(texts, **few) | st.lists(numbers, **few)
)
conditions = exact | st.builds(Between, names, st.none() | numbers, st.none() | numbers)


@pytest.fixture(scope="module")
def both(postgres_url):
    """A store on each database, at the same time of day."""
    databases = [memory_database(FrozenClock()), postgres_database(postgres_url, FrozenClock())]
    yield [database.open() for database in databases]
    for database in databases:
        database.close()
    SCHEMAS.give_back(databases[1].url)


def same(both, play):
    """What both come to: the same answer, or the same refusal."""
    first, second = (_told(play, store) for store in both)
    assert first == second
    return first


def _told(play, store):
    try:
        return play(store)
    except ThresherError as problem:
        return type(problem).__name__, str(problem)


@given(record=records())
def test_a_record_is_kept_by_both_or_by_neither_and_read_back_the_same(both, record):
    def play(store):
        filing = pack(record, LIMIT)
        with store.write() as session:
            file_record(session, filing, 0, 0)
        with store.read() as session:
            found = find_record(session, record.kind, record.key)
        assert found is not None, "found by the key it was brought with"
        return replace(found, id=0)

    same(both, play)


@given(new=tasks)
def test_a_task_is_taken_by_both_or_by_neither_and_claimed_the_same(both, new):
    registry = Registry([one_stage("visit", lambda ctx: Done())])

    def play(store):
        (task_id,) = store.enqueue([registry.admit(new)])
        found = claim(store, 5)
        settle(store, *map(done, found))
        with store.read() as session:
            ranks = session.rows(
                "select rank, priority, url, dedupe_key, payload, run_at from tasks where id = :id",
                {"id": task_id or 0},
            )
        return task_id is None, [(task.payload, task.url, task.claim) for task in found], ranks

    same(both, play)


@given(
    where=st.lists(conditions, max_size=2),
    keys=st.none() | st.lists(st.just("a") | texts, max_size=3),
    link=st.none() | st.builds(Link, texts, texts),
    kind=st.just("page") | texts,
)
def test_a_search_finds_the_same_in_both_and_never_fails_on_what_it_is_asked(both, where, keys, link, kind):
    good = Record("page", "a", {"size": 7, "state": "open"}, (Link("role", "x"),), marks=("size", "state"))

    def play(store):
        with store.write() as session:
            file_record(session, pack(good, LIMIT), 0, 0)
        with store.read() as session:
            found = find_records(session, kind=kind, keys=keys, link=link, where=where)
            every = find_records(session, keys=keys, link=link, where=where, limit=1_000)
            number = count_records(session, kind=kind, where=where)
        return [each.key for each in found], sorted((each.kind, each.key) for each in every), number

    same(both, play)
