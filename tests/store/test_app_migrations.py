"""Tables that an app brings: its own numbers, one transaction each, by any number of processes."""

import re
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.databases import drop_schema, only_files, with_processes
from tests.harness.tasks import change, rows
from thresher import App, Pipeline, Stage
from thresher.apps.roles.app import app as roles
from thresher.core.errors import ConfigError, DatabaseProblem, NewerSchema
from thresher.store import app_migrations
from thresher.store.app_migrations import (
    app_schemas,
    kinds_by_app,
    migrate_apps,
    pending_of_apps,
    record_kinds,
    versions,
)
from thresher.store.migrate import machine_names, migrations, statements
from thresher.store.repair import check_schema
from thresher.store.session import POSTGRES, SQLITE
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

TREES = "create table trees (id {identity}, name text not null);"
FRUIT = "create table fruit (tree bigint not null, kind text not null, primary key (tree, kind)){compact};"
KILLED = """
import os, signal, sys
from pathlib import Path
from thresher import App
from thresher.runtime import open_backend
from thresher.store import app_migrations

run, calls = app_migrations._run, []

def doomed(*args):
    run(*args)
    calls.append(args)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

app_migrations._run = doomed
backend = open_backend(sys.argv[1])
app_migrations.migrate_apps(backend, app_migrations.app_schemas([App("orchard", migrations=Path(sys.argv[2]))], backend.dialect))
"""


def orchard(folder: Path, *texts: str, name: str = "orchard") -> App:
    place = folder / name
    place.mkdir(exist_ok=True)
    for number, text in enumerate(texts, start=1):
        (place / f"{number:04}_step{number}.sql").write_text(text)
    return App(name, migrations=place)


def migrated(store, *apps: App) -> list[str]:
    app_migrations._texts.cache_clear()  # a test writes more files into the same folder
    return migrate_apps(store.backend, app_schemas(apps, store.backend.dialect))


@pytest.mark.promise(19)
def test_the_migrations_of_an_app_are_applied_once_in_order_and_recorded_by_its_name(store, tmp_path):
    assert migrated(store, orchard(tmp_path, TREES)) == ["orchard step1"]
    app = orchard(tmp_path, TREES, FRUIT + "insert into trees (name) values ('pear; or apple');")
    other = orchard(tmp_path, "create table vines (id {identity});", name="vineyard")
    assert migrated(store, app, other) == ["orchard step2", "vineyard step1"]
    assert migrated(store, app, other) == []
    assert rows(store, "select name from trees") == [("pear; or apple",)]
    with store.read() as session:
        assert versions(session) == {"orchard": 2, "vineyard": 1}


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_a_step_that_fails_is_undone_whole_and_says_so(store, tmp_path):
    wrong = orchard(tmp_path, TREES, FRUIT + "insert into fruit (tree) values (1);")
    with pytest.raises(DatabaseProblem) as caught:
        migrated(store, wrong)
    assert "migration 0002_step2 of app 'orchard' failed and was rolled back" in str(caught.value)
    assert "remove 'orchard' from apps:" in str(caught.value)
    with store.read() as session:
        assert versions(session) == {"orchard": 1}
    assert migrated(store, orchard(tmp_path, "create table vines (id {identity});", name="vineyard")) == [
        "vineyard step1"
    ]
    assert migrated(store, orchard(tmp_path, TREES, FRUIT)) == ["orchard step2"]


@pytest.mark.promise(1)
@with_processes
def test_a_process_that_is_killed_in_the_middle_of_a_step_leaves_nothing_of_it(database, tmp_path):
    store = database.open()
    app = orchard(tmp_path, f"{TREES}{FRUIT}insert into trees (name) values ('pear');")
    url = database.url if database.name == "postgres" else f"sqlite:///{database.url}"
    done = subprocess.run([sys.executable, "-c", KILLED, url, str(app.migrations)], check=False)
    assert done.returncode == -9
    with store.read() as session:
        assert versions(session) == {}
    assert migrated(store, app) == ["orchard step1"]
    assert rows(store, "select count(*) from trees") == [(1,)]


@pytest.mark.promise(2)
@with_processes
def test_processes_that_migrate_at_the_same_time_apply_each_step_once(database, tmp_path):
    database.open()
    schemas = [orchard(tmp_path, TREES, FRUIT, "insert into trees (name) values ('pear');")]
    stores, start, applied = [database.open() for _ in range(3)], threading.Barrier(3), []

    def run(store):
        found = app_schemas(schemas, store.backend.dialect)
        start.wait(10)
        applied.extend(migrate_apps(store.backend, found))

    threads = [threading.Thread(target=run, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(applied) == ["orchard step1", "orchard step2", "orchard step3"]
    assert rows(stores[0], "select count(*) from trees") == [(1,)]


def test_tables_of_a_newer_version_of_an_app_are_refused_for_that_app_alone(store, tmp_path):
    app, other = orchard(tmp_path, TREES), orchard(tmp_path, FRUIT, name="vineyard")
    migrated(store, app, other)
    change(
        store, "insert into app_migrations (app, number, name, applied_at) values ('orchard', 7, 'future', 0)"
    )
    with pytest.raises(
        NewerSchema, match=r"app 'orchard' are at migration 7, the installed app knows 1.*Upgrade the app"
    ):
        migrated(store, app)
    assert migrated(store, other) == []
    store.app_schemas = app_schemas([other], store.backend.dialect)
    check_schema(store)
    store.app_schemas = app_schemas([app], store.backend.dialect)
    with pytest.raises(NewerSchema):  # as a running worker finds out
        check_schema(store)


def test_what_is_missing_can_be_told_without_changing_anything(store, tmp_path):
    schemas = app_schemas([orchard(tmp_path, TREES, FRUIT)], store.backend.dialect)
    with store.read() as session:
        assert pending_of_apps(session, schemas) == ["orchard step1", "orchard step2"]
    assert pending_of_apps(None, schemas) == ["orchard step1", "orchard step2"]


# --- which SQL


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("create function f() returns int as $$ select 1 $$ language sql", "dollar quote"),
        ("insert into trees (name) values ('pear)", "unterminated string"),
        ("insert into trees (name) values (E'it\\'s')", "backslashes"),
        ("create trigger t after insert on trees begin select 1; end", "not allowed: 'create trigger"),
        ("pragma foreign_keys = on", "not allowed: 'pragma"),
        ("commit", "not allowed: 'commit'"),
        ("vacuum", "not allowed: 'vacuum'"),
        ("select 1", "not allowed: 'select 1'"),
        ("create temp table x (id bigint)", "not allowed"),
        ("create table other.trees (id bigint)", "not allowed"),
        ("drop table trees, fruit", "not allowed"),
        ("drop table trees cascade", "not allowed"),
        ("alter table trees drop column name cascade", "uses 'cascade'"),
        ("create index concurrently trees_name on trees (name)", "not allowed"),
        ("drop table tasks", "changes 'tasks', which belongs to Thresher itself"),
        ("DELETE  FROM\nTasks", "changes 'tasks'"),
        ("update settings set value = '1'", "changes 'settings'"),
        ("create index x on records (kind)", "changes 'records'"),
        ("create table if not exists lanes (id bigint)", "changes 'lanes'"),
        ("insert into app_migrations (app) values ('roles')", "changes 'app_migrations'"),
        ("create table trees (task bigint references tasks (id))", "references 'tasks'"),
    ],
)
def test_sql_that_an_app_may_not_use_is_refused_by_name_before_anything_is_done(tmp_path, sql, says):
    with pytest.raises(ConfigError) as caught:
        app_schemas([orchard(tmp_path, sql)], SQLITE)
    assert str(caught.value).startswith("migration 0001_step1 of app 'orchard' ")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "create table trees (id {identity}, note text default 'drop table tasks; --', on_delete text) {compact}",
        "create unique index if not exists trees_name on trees (name) where name <> 'cascade'",
        "alter table trees add column height bigint references fruit (tree) on delete cascade",
        "create view tall as select * from trees where height > 10 /* ; */",
        "drop index if exists trees_name; drop view tall; delete from trees where name = 'a''b;c'",
        "update trees set name = upper(name) -- ; drop table tasks\n where id > 3",
        "insert into trees (name) select key from records where kind = 'tree'",
    ],
)
def test_sql_that_changes_an_apps_own_tables_is_allowed(tmp_path, sql):
    (schema,) = app_schemas([orchard(tmp_path, sql)], POSTGRES)
    assert schema.newest == 1


def test_numbers_with_a_gap_no_files_and_two_apps_with_one_table_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"app 'empty' has migrations=.*no files such as 0001_first.sql"):
        app_schemas([orchard(tmp_path, name="empty")], SQLITE)
    with pytest.raises(ConfigError, match=r"no files"):
        app_schemas([App("lost", migrations="thresher.apps.roles:nowhere")], SQLITE)
    gap = orchard(tmp_path, TREES, name="gap")
    (tmp_path / "gap" / "0003_later.sql").write_text(FRUIT)
    with pytest.raises(ConfigError, match=r"0003_later of app 'gap' is out of order"):
        app_schemas([gap], SQLITE)
    with pytest.raises(ConfigError, match=r"'trees' is created by the migrations of app 'a' and of app 'b'"):
        app_schemas([orchard(tmp_path, TREES, name="a"), orchard(tmp_path, TREES, name="b")], SQLITE)


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=["sqlite", "postgres"])
def test_our_released_steps_fall_into_the_statements_that_they_always_did(dialect):
    for step in migrations(dialect.words):
        plain = re.sub(r"--[^\n]*", "", step.sql).split(";")
        assert [" ".join(each.split()) for each in statements(step.sql)] == [
            " ".join(each.split()) for each in plain if each.strip()
        ]


# --- the roles app adopts what the machine once made

SHAPE = {
    "sqlite": "select type, name, tbl_name, sql from sqlite_master where name not like 'sqlite_%' order by 1, 2",
    "postgres": """select 'column', table_name || '.' || column_name, data_type || is_nullable || coalesce(column_default, '')
            from information_schema.columns where table_schema = current_schema()
        union all select 'index', indexname, replace(indexdef, current_schema(), '') from pg_indexes where schemaname = current_schema()
        union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) from pg_constraint
            where connamespace = current_schema()::regnamespace
        order by 1, 2""",
}
ADOPTED = (
    "matches",
    "late_posts",
    "scrape_posts",
    "scrape_sessions",
    "role_turns",
    "platforms",
    "role_names",
    "roles",
)


def shape(store) -> list[tuple]:
    found = rows(store, SHAPE[store.backend.dialect.name])
    return [tuple(str(each).replace("  ", " ") for each in row) for row in found]


def test_the_machine_names_no_table_of_the_roles_app():
    assert machine_names().isdisjoint(ADOPTED)


@pytest.mark.promise(1)
@pytest.mark.promise(19)
@with_processes
@pytest.mark.parametrize("start", [1, 5, 6, 12, 18])
def test_a_new_database_is_the_same_as_an_old_one_that_was_migrated(database, start, tmp_path):
    backend = database.backend()
    backend.migrate(to=start)
    old = _shape_after(backend)
    if database.name == "postgres":
        drop_schema(database.url)
        new = _shape_after(database.backend())
    else:
        new = _shape_after(SqliteBackend(str(tmp_path / "new.db")))
    assert old == new


def _shape_after(backend) -> list[tuple]:
    with closing(Store(backend)) as store:
        backend.migrate()
        assert migrated(store, roles) == ["roles adopt"]
        return shape(store)


@pytest.mark.promise(19)
def test_a_database_without_the_tables_of_roles_gets_the_same_ones_from_the_app(store):
    migrated(store, roles)
    before = shape(store)
    for table in ADOPTED:
        change(store, f"drop table {table}")
    change(store, "delete from app_migrations")
    assert migrated(store, roles) == ["roles adopt"]
    assert shape(store) == before


@pytest.mark.promise(1)
def test_what_roles_had_before_it_owned_its_tables_stays(store):
    change(
        store,
        """insert into roles (name, status, method, waiting_since, rank, created_at, updated_at)
            values ('cook', 'pending', 'manual', 0, 0, 0, 0)""",
    )
    assert migrated(store, roles) == ["roles adopt"]
    assert rows(store, "select name, status from roles") == [("cook", "pending")]


# --- whose tasks wait


@only_files
def test_whose_kinds_these_are_is_remembered_and_follows_a_move(store):
    def grow(ctx):
        return None

    record_kinds(
        store.backend,
        [App("orchard", pipelines=(Pipeline("grow", Stage(grow)), Pipeline("pick", Stage(grow))))],
    )
    record_kinds(store.backend, [App("barn", pipelines=(Pipeline("pick", Stage(grow)),))])
    with store.read() as session:
        assert kinds_by_app(session) == {"grow": "orchard", "pick": "barn"}
