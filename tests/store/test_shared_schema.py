"""A schema or a file that is not Thresher's alone: what others have there stays, or migrating is refused
before it changes anything."""

import secrets
import sqlite3

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from tests.harness.tasks import claim_one, done, entry, put, settle
from thresher.core.errors import DatabaseProblem
from thresher.core.settlement import Settlement
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

_THEIRS = """
    create table orders (id int primary key, total int);
    create function total_of(o orders) returns int language sql return o.total;
    create function noted() returns trigger language plpgsql as $$ begin return new; end $$;
    create trigger note before insert on orders for each row execute function noted();
    create view large_orders as select * from orders where total_of(orders) > 100;
    create sequence bills;
    insert into orders values (1, 200)
"""
_LOOK = """select concat(relname, ' ', relkind) as what from pg_class where relnamespace = %(schema)s::regnamespace
    union all select oid::regprocedure::text from pg_proc where pronamespace = %(schema)s::regnamespace
    union all select tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = %(schema)s::regnamespace
    order by what"""


class Shared:
    """A schema in which somebody else has things, and a connection of theirs."""

    def __init__(self, server, name):
        self.url, self.name = f"{server}?schema={name}", name
        self.theirs = psycopg.connect(server, autocommit=True)
        self.run(f"create schema {self.quoted}; set search_path = {self.quoted}")

    @property
    def quoted(self):
        return Identifier(self.name).as_string()

    def run(self, text):
        return self.theirs.execute(SQL(text))

    def look(self):
        return {what for (what,) in self.theirs.execute(_LOOK, {"schema": self.quoted})}

    def migrate(self):
        backend = PostgresBackend(self.url, connections=2)
        try:
            return backend.migrate()
        finally:
            backend.close()

    def works(self):
        store = Store(PostgresBackend(self.url, connections=2))
        try:
            put(store, entry())
            settle(store, done(claim_one(store), children=(entry(key="a"),)))
            return claim_one(store).parent_id is not None
        finally:
            store.close()


@pytest.fixture
def shared(postgres_url):
    made = []

    def make(name=None):
        made.append(Shared(postgres_url, name or f"s_{secrets.token_hex(5)}"))
        return made[-1]

    yield make
    for each in made:
        each.run(f"drop schema if exists {each.quoted} cascade")
        each.theirs.close()


@pytest.mark.promise(1)
def test_functions_triggers_and_views_of_others_survive_every_migration(shared):
    schema = shared()
    schema.run(_THEIRS)
    before = schema.look()
    schema.migrate()
    assert before < schema.look()
    schema.run("update functions set hash = 'of an older version'")
    assert (schema.migrate(), schema.works()) == ([], True)
    assert before < schema.look()
    assert schema.run("select id from large_orders").fetchall() == [(1,)]


@pytest.mark.promise(1)
def test_functions_from_before_they_were_marked_are_replaced_and_those_of_older_versions_go(shared):
    schema = shared()
    schema.migrate()
    schema.run("create function claim_tasks() returns int language sql return 1")
    for name in [what for what in schema.look() if what.endswith(")")]:
        schema.run(f"comment on function {name} is null")
    schema.run("comment on view stranded is null; update functions set hash = 'of an older version'")
    schema.migrate()
    assert "claim_tasks()" not in schema.look()
    assert schema.works()


@pytest.mark.promise(1)
@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ("create table tasks (id int)", "the table tasks"),
        ("create view events as select 1 as a", "the view events"),
        ("create sequence lanes", "the sequence lanes"),
        ("create type gates as enum ('open', 'closed')", "the type gates"),
        ("create table t (id int); create index links_target on t (id)", "the index links_target"),
        ("create table t (id int, constraint tasks_check check (id > 0))", "the constraint tasks_check"),
        ("create table functions (id int)", "the table functions"),
        (
            "create table migrations (id serial, migration text, batch int)",
            "a table migrations that is not Thresher's",
        ),
        ("create function turn(angle int) returns int language sql return angle", "turn\\(integer\\)"),
        ("create view stranded as select 1 as a", "stranded"),
    ],
    ids=lambda value: value.split("(")[0] if value.startswith("create") else "",
)
def test_a_name_that_is_taken_is_refused_before_anything_is_changed(shared, theirs, says):
    schema = shared()
    schema.run(theirs)
    before = schema.look()
    with pytest.raises(DatabaseProblem, match=f"(?s){says}.*its own schema"):
        schema.migrate()
    assert schema.look() == before


@pytest.mark.promise(1)
def test_a_function_of_others_with_a_name_of_ours_is_not_replaced_by_a_later_version(shared):
    schema = shared()
    schema.migrate()
    schema.run(
        "create function wake(who text) returns text language sql return who; update functions set hash = 'of an older version'"
    )
    with pytest.raises(DatabaseProblem, match=r"wake\(text\) of its own.*nothing was changed"):
        schema.migrate()
    assert schema.run("select wake('them')").fetchall() == [("them",)]


@pytest.mark.promise(1)
def test_a_view_of_others_that_uses_a_function_of_ours_stays(shared):
    schema = shared()
    schema.migrate()
    schema.run(
        "create view clock as select now_us() as now; update functions set hash = 'of an older version'"
    )
    schema.migrate()
    assert schema.run("select now > 0 from clock").fetchall() == [(True,)]
    assert schema.works()


@pytest.mark.parametrize("name", ["MixedCase", "select", "1st", "straße", "a" * 63, "Ä" * 31])
def test_a_schema_may_have_any_name_that_postgresql_takes(shared, name):
    schema = shared(name)
    assert schema.migrate()
    assert (schema.migrate(), schema.works()) == ([], True)


@pytest.mark.parametrize("name", ["a" * 64, "Ä" * 32, "pg_temp", "a-b", 'a"b'])
def test_a_name_that_postgresql_would_cut_or_refuse_is_refused_by_us(postgres_url, name):
    with pytest.raises(DatabaseProblem, match="the schema name"):
        PostgresBackend(f"{postgres_url}?schema={name}")


def test_two_long_names_that_begin_alike_are_woken_apart(postgres_url):
    channels = set()
    for end in "ab":
        backend = PostgresBackend(f"{postgres_url}?schema={'x' * 62}{end}", connections=1)
        channels.add(backend._channel)
        backend.close()
    assert len(channels) == 2
    assert all(len(channel) <= 65 for channel in channels)


@pytest.mark.promise(1)
def test_a_worker_whose_role_may_make_nothing_starts_and_works(shared, postgres_url):
    schema, role = shared(), f"worker_{secrets.token_hex(4)}"
    schema.migrate()
    schema.run(f"create role {role} login; grant usage on schema {schema.quoted} to {role}")
    schema.run(f"grant select, insert, update, delete on all tables in schema {schema.quoted} to {role}")
    schema.run(f"grant usage on all sequences in schema {schema.quoted} to {role}")
    schema.url = schema.url.replace("//postgres@", f"//{role}@")
    assert f"//{role}@" in schema.url
    try:
        assert (schema.migrate(), schema.works()) == ([], True)
        schema.run("update functions set hash = 'of an older version'")
        with pytest.raises(DatabaseProblem, match=r"grant the privilege, or use another role"):
            schema.migrate()
    finally:
        schema.run(f"drop owned by {role}; drop role {role}")


@pytest.mark.promise(1)
def test_locks_that_others_hold_by_number_hold_up_no_lineage(shared):
    schema = shared()
    schema.migrate()
    store = Store(PostgresBackend(schema.url, connections=2))
    try:
        put(store, entry())
        task = claim_one(store)
        schema.run(f"select pg_advisory_lock({task.id}), pg_advisory_lock(7236455)")
        with store.write() as session:
            session.run("set local lock_timeout = '5s'")
            store.backend.lock_lineages(session, [task.id])
        assert store.settle([Settlement.done(task, children=(entry(key="a"),))]) == []
    finally:
        store.close()


@pytest.mark.promise(1)
@pytest.mark.parametrize(
    "theirs",
    ["create table tasks (id)", "create table migrations (id, batch)", "create view events as select 1"],
)
def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path, theirs):
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute(theirs)
    connection.close()
    backend = SqliteBackend(str(path))
    try:
        with pytest.raises(DatabaseProblem, match=r"Thresher.*Choose another file with --database"):
            backend.migrate()
        with backend.read() as session:
            assert session.rows("select count(*) from sqlite_master") == [(1,)]
    finally:
        backend.close()
