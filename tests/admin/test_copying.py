"""A whole database into another one: in one moment, in one piece, compared, and with nobody's lease carried
on."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.harness.databases import Database, drop_schema, only_files
from tests.harness.tasks import change, claim, claim_one, entry, put, rows
from thresher import App
from thresher.cli import main
from thresher.core.clock import DAY
from thresher.core.errors import ConfigError, DatabaseProblem, NewerSchema
from thresher.core.gate import GateLimits
from thresher.practice.postgres import binaries
from thresher.runtime import copy_database, open_bare
from thresher.store import app_migrations, workers
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.copying import Copied
from thresher.store.sources import add_source
from thresher.store.store import Store

# The clock of the tests stands in the past, and a copy is made by the clock of the machine.
LONG_US = 10 * 365 * DAY
KILLED = """
import os, signal, sys
from thresher.runtime import copy_database

def doomed(table, done, total):
    if table == "tasks":
        os.kill(os.getpid(), signal.SIGKILL)

copy_database(sys.argv[1], sys.argv[2], [], doomed)
"""


def url_of(database: Database) -> str:
    return database.url if database.name == "postgres" else f"sqlite:///{database.url}"


@pytest.fixture(params=["sqlite", "postgres"])
def to(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'copy.db'}"
        return
    url = f"{request.getfixturevalue('postgres_url')}?schema=copy_{secrets.token_hex(6)}"
    yield url
    drop_schema(url)


def copied(database: Database, to: str, *apps: App, told=lambda *_: None) -> Copied:
    return copy_database(url_of(database), to, apps, told)


def has_tables(url: str) -> bool:
    """Whether anything of ours is in a database."""
    with closing(open_bare(url, create=True)) as store, store.read() as session:
        asked = {
            "sqlite": "select count(*) from sqlite_master",
            "postgres": "select count(*) from pg_class where relnamespace = (select oid from pg_namespace where nspname = current_schema())",
        }
        return session.rows(asked[store.backend.dialect.name]) != [(0,)]


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_a_copy_has_what_was_there_when_it_began_and_nothing_that_came_later(database, store: Store, to: str):
    put(store, entry(url="https://a.example/1"))
    late: list[int] = []

    def told(table: str, done: int, total: int) -> None:
        if not late:  # the first rows are on their way
            late.extend(put(store, entry(url="https://a.example/2")))

    done = copied(database, to, told=told)
    assert late
    assert next(each.rows for each in done.tables if each.table == "tasks") == 1
    with closing(open_bare(to)) as copy:
        assert rows(copy, "select url from tasks") == [("https://a.example/1",)]
    assert len(rows(store, "select id from tasks")) == 2


@pytest.mark.promise(2)
def test_a_task_that_ran_in_the_source_runs_again_in_the_copy_and_goes_on_in_the_source(
    database, store: Store, to: str
):
    put(store, entry())
    worker = workers.register(store, name="mill", host="h", pid=1, lease_us=LONG_US)
    held = claim_one(store, worker)
    assert copied(database, to).workers == 1
    with closing(open_bare(to)) as copy:
        assert workers.reap(copy, 10) == 1
        assert rows(copy, "select state, crashes from tasks") == [("pending", 1)]
        assert not workers.renew(copy, worker).alive
    assert workers.renew(store, worker).alive
    assert workers.held(store, worker) == {held.id: held.claim}


@pytest.mark.promise(1)
def test_no_number_that_was_given_out_is_given_out_again(database, store: Store, to: str):
    """Not even one whose row is gone."""
    gone = put(store, *(entry(key=f"k{n}") for n in range(5)))
    change(store, "delete from tasks")
    copied(database, to)
    with closing(open_bare(to)) as copy:
        assert min(put(copy, entry())) > max(gone)


@pytest.mark.promise(1)
def test_tasks_are_claimed_in_a_copy_of_a_copy_though_sqlite_keeps_no_floor(
    database, store: Store, to: str, tmp_path: Path, postgres_url: str
):
    """A task that came in between, with a rank below the last that PostgreSQL saw, is not passed over."""
    add_source(store, "a", GateLimits(), "test")
    put(store, *(entry(gates=("source:a",)) for _ in range(3)))
    claim(store, 2)
    copied(database, to)
    last = f"{postgres_url}?schema=last_{secrets.token_hex(6)}"
    try:
        with closing(open_bare(to, clock=database.clock)) as copy:
            (urgent,) = put(copy, entry(gates=("source:a",), priority=5))
        copy_database(to, last, [], lambda *_: None)
        with closing(open_bare(last, clock=database.clock)) as copy:
            assert [task.id for task in claim(copy, 1)] == [urgent]
    finally:
        drop_schema(last)


@pytest.mark.promise(1)
def test_a_target_that_is_not_empty_is_refused_by_name_and_left_alone(database, store: Store, to: str):
    put(store, entry())
    copied(database, to)
    with pytest.raises(DatabaseProblem, match=r"is not empty: it has the tables .*admins.* and \d+ more"):
        copied(database, to)
    with pytest.raises(DatabaseProblem, match="is not empty"):
        copied(database, url_of(database))  # onto itself
    with closing(open_bare(to)) as copy:
        assert len(rows(copy, "select id from tasks")) == 1


@pytest.mark.promise(1)
def test_a_copy_that_is_killed_leaves_an_empty_target_and_the_next_one_succeeds(
    database, store: Store, to: str
):
    put(store, *(entry(key=f"k{n}") for n in range(20)))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, url_of(database), to], check=False, capture_output=True, timeout=120
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not has_tables(to)
    assert next(each.rows for each in copied(database, to).tables if each.table == "tasks") == 20


def test_a_copy_that_fails_leaves_no_new_file(database, store: Store, tmp_path: Path):
    put(store, entry())

    def told(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copied(database, f"sqlite:///{tmp_path / 'new.db'}", told=told)
    assert [path.name for path in tmp_path.glob("new.db*")] == []


ORCHARD = """
create table fruit (
    tree bigint not null references trees (id),
    label text not null primary key
);
"""
TREES = """
create table trees (
    id      {identity},
    parent  bigint references trees (id),
    grafted {kind_of_truth} not null,
    height  double precision,
    data    {kind_of_json},
    doubled bigint generated always as (id * 2) stored
);
"""
ROWS = """insert into trees (id, parent, grafted, height, data) values
    (7, 9, {true}, 0.1, '{{"b": 1,  "a": "\N{PEAR}"}}'), (9, null, {false}, -1e-300, null)"""


def orchard(folder: Path, *texts: str) -> App:
    """An app whose tables use what the databases offer: references to themselves, JSON, truth values."""
    place = folder / "orchard"
    place.mkdir(exist_ok=True)
    for number, text in enumerate(texts, start=1):
        lines = "".join(
            f"{{{store}}}{line}\n"
            for store, words in (
                ("postgres", {"kind_of_truth": "boolean", "kind_of_json": "jsonb", "code": "character(6)"}),
                ("sqlite", {"kind_of_truth": "integer", "kind_of_json": "text", "code": "text"}),
            )
            for line in _filled(text, words).splitlines()
        )
        (place / f"{number:04}_step{number}.sql").write_text(lines)
    app_migrations._texts.cache_clear()
    return App("orchard", migrations=place)


def _filled(text: str, words: dict[str, str]) -> str:
    for word, meaning in words.items():
        text = text.replace("{" + word + "}", meaning)
    return text


def planted(store: Store, app: App) -> None:
    migrate_apps(store.backend, app_schemas([app], store.backend.dialect))


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_tables_of_any_app_are_copied_with_references_json_truth_and_what_the_database_computes(
    database, store: Store, to: str, tmp_path: Path
):
    app = orchard(tmp_path, TREES, ORCHARD)
    planted(store, app)
    words = {"true": "true", "false": "false"} if database.name == "postgres" else {"true": "1", "false": "0"}
    with store.write() as session:
        if database.name == "sqlite-file":
            session.run("pragma defer_foreign_keys = on")
        session.run(ROWS.format(**words))
        session.run("insert into fruit (tree, label) values (7, 'it''s a \\ pear')")
    copied(database, to, app)
    with closing(open_bare(to)) as copy:
        found = rows(
            copy, "select id, parent, grafted, height, cast(data as text), doubled from trees order by id"
        )
        assert [(row[:4], row[4] and json.loads(row[4]), row[5]) for row in found] == [
            ((7, 9, True, 0.1), {"a": "\N{PEAR}", "b": 1}, 14),
            ((9, None, False, -1e-300), None, 18),
        ]
        assert rows(copy, "select * from fruit") == [(7, "it's a \\ pear")]
        with pytest.raises(Exception, match=r"(?i)foreign key"), copy.write() as session:
            session.run("insert into fruit (tree, label) values (8, 'of no tree')")


def test_an_app_that_is_not_here_is_named_before_anything_is_copied(
    database, store: Store, to: str, tmp_path: Path
):
    planted(store, orchard(tmp_path, TREES))
    with pytest.raises(DatabaseProblem, match=r"apps that cannot be loaded here: orchard\. Install them"):
        copied(database, to)
    assert not has_tables(to)


def test_an_app_that_is_older_than_its_tables_is_refused(database, store: Store, to: str, tmp_path: Path):
    planted(store, orchard(tmp_path, TREES, ORCHARD))
    (tmp_path / "orchard" / "0002_step2.sql").unlink()
    app_migrations._texts.cache_clear()
    with pytest.raises(NewerSchema, match="orchard"):
        copied(database, to, App("orchard", migrations=tmp_path / "orchard"))
    assert not has_tables(to)


@only_files
def test_values_that_the_target_holds_in_another_way_undo_the_copy(
    database, store: Store, tmp_path: Path, postgres_url: str
):
    app = orchard(tmp_path, "create table tags (code {code} not null);")
    planted(store, app)
    change(store, "insert into tags (code) values ('pear')")  # PostgreSQL fills it up with blanks
    to = f"{postgres_url}?schema=copy_{secrets.token_hex(6)}"
    try:
        with pytest.raises(DatabaseProblem, match=r"differs from the source in tags \(1 rows became 1\)"):
            copied(database, to, app)
        assert not has_tables(to)
    finally:
        drop_schema(to)


def test_tables_that_no_migration_made_are_named_and_left_out(database, store: Store, to: str):
    change(store, "create table notes_of_a_stranger (id integer)")
    assert copied(database, to).left_out == ("notes_of_a_stranger",)


def test_a_source_that_is_not_up_to_date_is_told_to_migrate(database, to: str):
    with closing(database.backend()) as backend:
        backend.migrate(to=20)
    with pytest.raises(DatabaseProblem, match="thresher migrate"):
        copied(database, to)


def test_a_database_in_memory_is_no_target(database, store: Store):
    with pytest.raises(ConfigError, match="needs a file"):
        copied(database, "sqlite://")


def test_bodies_pass_by_in_bounded_memory(database, store: Store, to: str):
    with store.write() as session:
        for n in range(60):
            body = os.urandom(1_000_000)
            session.run(
                "insert into blobs (hash, size, body, created_at) values (:hash, 1000000, :body, 1)",
                {"hash": f"{n:064}", "body": body},
            )
    tracemalloc.start()
    try:
        copied(database, to)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.promise(2)
def test_a_backup_is_taken_while_a_worker_works_and_is_restored_by_copying_it_back(
    database, store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "app.py").write_text(
        "from thresher import *\n\nasync def work(ctx):\n    return Done(children=(NewTask('work', {'n': ctx.task.payload.get('n', 0) + 1}),))\n\n"
        "app = App('test', pipelines=(Pipeline('work', Stage(work)),))\n"
    )
    (tmp_path / "thresher.yaml").write_text(
        "apps: [app.py]\nfetch: {contact: me@example.com}\nsettings: {lineage.max_depth: 1000}\n"
    )
    words = ["--project", str(tmp_path), "--database", url_of(database)]
    assert main([*words, "add", "work"]) == 0
    worker = subprocess.Popen(
        [sys.executable, "-m", "thresher", *words, "worker"], stderr=subprocess.PIPE, text=True
    )
    backup = f"sqlite:///{tmp_path / 'backup.db'}"
    try:
        assert worker.stderr is not None
        worker.stderr.readline()  # it is at work
        capsys.readouterr()
        assert main([*words, "copy", "--to", backup, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
    finally:
        worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            worker.communicate(timeout=60)
    assert {each["table"] for each in told["tables"]} >= {"tasks", "blobs", "settings"}
    saved = [word if word != url_of(database) else backup for word in words]
    assert main([*saved, "copy", "--to", f"sqlite:///{tmp_path / 'restored.db'}"]) == 0
    assert "copied" in capsys.readouterr().out
    assert (
        main([*words[:2], "--database", f"sqlite:///{tmp_path / 'restored.db'}", "migrate", "--check"]) == 0
    )


@pytest.mark.promise(2)
@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_a_dump_of_the_schema_by_the_tools_of_postgresql_is_a_backup(database, store: Store, tmp_path: Path):
    put(store, entry(url="https://a.example/1"))
    server, _, schema = database.url.partition("?schema=")
    dump, tools = str(tmp_path / "thresher.dump"), binaries()
    subprocess.run(
        [str(tools / "pg_dump"), "--format", "custom", "--schema", schema, "--file", dump, server], check=True
    )
    store.close()
    drop_schema(database.url)
    subprocess.run([str(tools / "pg_restore"), "--dbname", server, "--exit-on-error", dump], check=True)
    restored = database.open()
    (task,) = claim(restored)
    assert task.url == "https://a.example/1"
    assert put(restored, entry()) == [task.id + 1]
