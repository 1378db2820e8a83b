"""Databases that releases wrote, opened with today's code: nothing is lost, and the work goes on.

`tests/fixtures/releases` has a folder for each, and the script that records them.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.harness.databases import drop_schema
from tests.web.conftest import Api, served
from thresher.admin.sources import enable
from thresher.cli import main
from thresher.config.apps import load_apps, with_installed
from thresher.config.project import Project, read_project
from thresher.core.clock import DAY, HOUR, SystemClock
from thresher.core.keys import content_hash
from thresher.core.zstd import zstd
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.practice.web import PracticeWeb
from thresher.runtime import (
    Runtime,
    copy_database,
    install,
    make_fetcher,
    open_backend,
    open_bare,
    open_store,
    project_registry,
)
from thresher.store.migrate import migrations
from thresher.store.owners import disown_bodies, own_bodies
from thresher.store.store import Store

FOLDER = Path(__file__).parents[1] / "fixtures" / "releases"
RELEASES = sorted(path.name for path in FOLDER.glob("schema-*"))
ENDINGS = {"sqlite": "sqlite.db.zst", "postgres": "postgres.sql.zst"}
SCHEMA = "schema_of_the_release"
PATIENCE = 60.0
PROJECT = """
apps: [jobs, roles]
fetch:
  contact: https://example.com/about-this-bot
  resolve: {{"*": "{web}"}}
settings:
  host.interval: 0
  jobs.company.ask: 0
  jobs.judge: 0
  jobs.score.needed: 99
  roles.match.store: 99
"""

# Tables that say how far the schema is, and those that a migration may arrange anew. That the work goes on
# holds the latter.
VERSIONS = {"migrations", "app_migrations", "functions"}
ARRANGED = {
    "chore_rounds",
    "gates",
    "host_lanes",
    "lanes",
    "loose_blobs",
    "loose_lanes",
    "permits",
    "scopes",
    "worker_scopes",
}
# The place of a task in the queue, which moves with the lanes.
PLACES = {"tasks": {"lane_id", "rank"}, "task_groups": {"follow_up", "then_lane"}}
TABLES = {
    "sqlite": "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    "postgres": "select tablename from pg_tables where schemaname = current_schema()",
}
COLUMNS = {
    "sqlite": "select name from pragma_table_info('{table}')",
    "postgres": """select column_name from information_schema.columns
        where table_schema = current_schema() and table_name = '{table}'""",
}

TYPES = {
    "sqlite": "select name, lower(type) from pragma_table_info('{table}')",
    "postgres": """select column_name, data_type from information_schema.columns
        where table_schema = current_schema() and table_name = '{table}'""",
}
CREATED = re.compile(r"^create table (?:if not exists )?(\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
CHOICE = re.compile(r"check \((\w+) in \('([^']+)'")

Rows = list[dict[str, Any]]


class Later:
    """A clock that runs on from some time after the recording, whatever the time is here."""

    def __init__(self, start: int) -> None:
        self._machine = SystemClock()
        self._ahead = start - self._machine.now()

    def now(self) -> int:
        return self._machine.now() + self._ahead

    def advance(self, microseconds: int) -> None:
        self._ahead += microseconds


@dataclass(frozen=True)
class Old:
    """A database as a release left it, and what the release said about it."""

    url: str
    said: Mapping[str, Any]

    def rows(self) -> dict[str, Rows]:
        """Every row of every table, whatever the schema."""
        with closing(open_bare(self.url)) as store, store.read() as session:
            name = store.backend.dialect.name
            found: dict[str, Rows] = {}
            for (table,) in session.rows(TABLES[name]):
                columns = [column for (column,) in session.rows(COLUMNS[name].format(table=table))]
                values = session.rows(f"select {', '.join(map(_quoted, columns))} from {table}")
                found[table] = [dict(zip(columns, row, strict=True)) for row in values]
            return found

    def migrate(self) -> None:
        open_store(self.url).close()


def _quoted(column: str) -> str:
    return f'"{column}"'


@cache
def unpacked(path: Path) -> bytes:
    return zstd.decompress(path.read_bytes())


@pytest.fixture(params=[(release, make) for release in RELEASES for make in ENDINGS], ids="-".join)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Old]:
    """A copy of each database that a release wrote; gone after the test."""
    release, make = request.param
    said = json.loads(unpacked(FOLDER / release / f"{make}.json.zst"))
    body = unpacked(FOLDER / release / ENDINGS[make])
    if make == "sqlite":
        (tmp_path / "old.db").write_bytes(body)
        yield Old(f"sqlite:///{tmp_path / 'old.db'}?durability=process", said)
        return
    server = request.getfixturevalue("postgres_url")
    schema = f"old_{content_hash(str(tmp_path).encode())[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(body.replace(SCHEMA.encode(), schema.encode()))
    try:
        yield Old(f"{server}?schema={schema}", said)
    finally:
        drop_schema(f"{server}?schema={schema}")


@pytest.fixture(scope="module")
def web() -> Iterator[PracticeWeb]:
    with PracticeWeb(seed=7) as found:
        yield found


@pytest.fixture
def project(tmp_path: Path, web: PracticeWeb) -> Project:
    (tmp_path / "thresher.yaml").write_text(PROJECT.format(web=web.url), "utf-8")
    return read_project(tmp_path)


def as_set(rows: Rows, columns: set[str]) -> list[str]:
    """Rows to compare, in an order of their own; bytes are the same whatever a driver hands out."""
    plain = [
        {
            name: bytes(value).hex() if isinstance(value, bytes | memoryview) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    return sorted(json.dumps({name: row[name] for name in sorted(columns)}, default=str) for row in plain)


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_a_database_of_an_earlier_release_keeps_every_row_of_every_table(old: Old):
    before = old.rows()
    old.migrate()
    after = old.rows()
    assert before.keys() <= after.keys(), "a table went: say where its rows are now"
    for table in before.keys() - VERSIONS - ARRANGED:
        if not before[table]:
            continue
        columns = set(before[table][0]) - PLACES.get(table, set())
        assert as_set(after[table], columns) == as_set(before[table], columns), table
    for table in ARRANGED & before.keys():
        assert len(after[table]) >= len(before[table]), table


@pytest.mark.promise(1)
def test_the_recording_has_something_of_everything(old: Old):
    """Else the test above says little."""
    rows = old.rows()
    states = {(task["kind"], task["state"]) for task in rows["tasks"]}
    assert {
        ("company", "pending"),
        ("company", "retryable"),
        ("company", "failed"),
        ("company", "cancelled"),
        ("company", "succeeded"),
        ("scrape_source", "running"),
        ("job", "filtered"),
        ("job", "skipped"),
        ("match_postings", "pending"),
        ("reset_roles", "pending"),
    } <= states
    assert {session["status"] for session in rows["scrape_sessions"]} == {
        "completed",
        "failed",
        "in_progress",
        "timeout",
    }
    full = {table for table, found in rows.items() if found}
    assert {
        "admins",
        "answers",
        "api_keys",
        "blob_owners",
        "blobs",
        "budgets",
        "examples",
        "extractors",
        "group_counts",
        "late_posts",
        "links",
        "logins",
        "marks",
        "matches",
        "other_attempts",
        "pages",
        "platforms",
        "records",
        "role_names",
        "role_turns",
        "roles",
        "schedules",
        "scrape_posts",
        "setting_changes",
        "settings",
        "sources",
        "spendings",
        "task_groups",
        "vectors",
        "workers",
    } <= full


@pytest.mark.promise(12)
def test_settings_that_a_person_changed_in_an_earlier_release_still_hold(old: Old, project: Project):
    with closing(open_store(old.url, project, load_apps(project.apps, project.folder))) as store:
        found = {name: float(store.settings[name]) for name in old.said["settings"]}
    assert found == {name: float(value) for name, value in old.said["settings"].items()}


@pytest.mark.promise(1)
def test_an_app_may_own_the_bodies_of_an_earlier_release(old: Old, project: Project):
    with closing(open_store(old.url, project, load_apps(project.apps, project.folder))) as store:
        with store.read() as session:
            before = session.rows("select hash, kind, owner from blob_owners order by hash, kind, owner")
        names = sorted({row[0] for row in before})
        with store.write() as session:
            own_bodies(session, "orchard", 7, names)
        with store.write() as session:
            assert disown_bodies(session, "orchard", [7], store.backend.now(session)) == len(names) > 0
            assert (
                session.rows("select hash, kind, owner from blob_owners order by hash, kind, owner") == before
            )


@pytest.mark.promise(1)
@pytest.mark.promise(9)
def test_exports_have_the_rows_that_the_earlier_release_exported(old: Old, project: Project, tmp_path: Path):
    """Each with at least the values that it had."""
    old.migrate()
    for what, rows in old.said["exports"].items():
        assert rows, what
        found = exported(old.url, what, tmp_path)
        assert [
            {name: row.get(name) for name in was} for was, row in zip(rows, found, strict=True)
        ] == rows, what


def exported(url: str, what: str, folder: Path) -> list[dict[str, Any]]:
    file = folder / f"{what}.jsonl"
    assert main(["--database", url, "--project", str(folder), "export", what, "--output", str(file)]) == 0
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_work_of_an_earlier_release_goes_on_to_its_end(old: Old, project: Project, tmp_path: Path):
    """What waited, what was to be tried again, and what its worker lost; then what a wall had closed, once a
    person opens it. The run that was open ends, and what a person had decided stays."""
    with opened(old, project) as (shop, clock):
        waiting = unfinished(shop.store)
        assert {"company", "match_postings", "reset_roles", "scrape_source"} == set(waiting.values())
        drain(shop, old.url, clock)
        assert unfinished(shop.store).keys() == behind_walls(shop.store)
        enable(shop.store, "host:www.marlin.example")
        drain(shop, old.url, clock)
        assert unfinished(shop.store) == {}
        with shop.store.read() as session:
            states = session.rows("select kind, state from tasks where id in (:ids*)", {"ids": list(waiting)})
            groups = session.rows("select name from task_groups where ended_at is null")
        assert (len(states), {state for _, state in states}, groups) == (len(waiting), {"succeeded"}, [])
    for what, rows in old.said["exports"].items():
        assert keys(rows) <= keys(exported(old.url, what, tmp_path)), what
    assert ("applied", "sent the letter") in decided(old.url, "matches", tmp_path)
    assert ("shortlisted", "call her") in decided(old.url, "candidate-matches", tmp_path)


@contextmanager
def elsewhere(url: str, folder: Path, server: str, name: str) -> Iterator[str]:
    """An empty database of the other kind; gone after the block."""
    if not url.startswith("sqlite"):
        yield f"sqlite:///{folder / name}.db?durability=process"
        return
    made = f"{server}?schema={name}_{content_hash(str(folder).encode())[:12]}"
    try:
        yield made
    finally:
        drop_schema(made)


def copied(url: str, to: str, project: Project) -> dict[str, tuple[int, str]]:
    apps = with_installed(load_apps(project.apps, project.folder), project.folder)
    done = copy_database(url, to, apps, lambda *_: None)
    assert (done.left_out, done.workers) == ((), 0)
    return {each.table: (each.rows, each.hash) for each in done.tables}


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_a_database_of_all_apps_comes_back_the_same_through_the_other_store(
    old: Old, project: Project, tmp_path: Path, postgres_url: str
):
    apps = with_installed(load_apps(project.apps, project.folder), project.folder)
    with closing(open_store(old.url, None, apps)) as store:
        fill_empty_tables(store)
    before = old.rows()
    assert [table for table, rows in before.items() if not rows and table != "functions"] == []
    with (
        elsewhere(old.url, tmp_path, postgres_url, "there") as there,
        elsewhere(there, tmp_path, postgres_url, "back") as back,
    ):
        assert copied(old.url, there, project) == copied(there, back, project)
        after, between = Old(back, {}).rows(), Old(there, {}).rows()
    for table in before.keys() - VERSIONS:
        columns = set(before[table][0]) - ({"floor"} if table == "lanes" else set())
        assert as_set(after[table], columns) == as_set(before[table], columns), table
        assert as_set(between[table], columns - {"gates"}) == as_set(before[table], columns - {"gates"}), (
            table
        )


def fill_empty_tables(store: Store) -> None:
    """A row of difficult values in every table that the recording left empty; columns that take only some
    values get the first of them."""
    steps = migrations(store.backend.dialect.words)
    for schema in store.app_schemas:
        steps += schema.steps
    choices = {
        (table, column): value
        for step in steps
        for table, body in CREATED.findall(step.sql)
        for column, value in CHOICE.findall(body)
    }
    with store.write() as session:
        dialect = session.dialect.name
        for (table,) in session.rows(TABLES[dialect]):
            if session.rows(f"select 1 from {table} limit 1"):
                continue
            values = {
                column: choices.get((table, column), difficult(kind))
                for column, kind in session.rows(TYPES[dialect].format(table=table))
            }
            names, places = ", ".join(map(_quoted, values)), ", ".join(f":{name}" for name in values)
            session.run(f"insert into {table} ({names}) values ({places})", values)


def difficult(kind: str) -> Any:
    if "int" in kind:
        return 1_763_531_999_123_457 if "big" in kind else 1
    if "double" in kind:
        return 0.1 + 0.2
    return (
        b"\x00\xff bytes" if kind in ("blob", "bytea") else "it's %s :x \N{PILE OF POO}\n\t\u202e \\ \x1b[31m"
    )


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_work_of_an_earlier_release_goes_on_in_a_copy_on_the_other_store(
    old: Old, project: Project, tmp_path: Path, postgres_url: str
):
    """What waited and what a worker held; new tasks get new numbers; the source stays as it was."""
    old.migrate()
    before = old.rows()
    with elsewhere(old.url, tmp_path, postgres_url, "there") as there:
        copied(old.url, there, project)
        with opened(Old(there, old.said), project) as (shop, clock):
            waiting = unfinished(shop.store)
            assert "scrape_source" in waiting.values()
            drain(shop, there, clock)
            enable(shop.store, "host:www.marlin.example")
            drain(shop, there, clock)
            assert unfinished(shop.store) == {}
            with shop.store.read() as session:
                numbers = [number for (number,) in session.rows("select id from tasks")]
        assert max(numbers) > max(task["id"] for task in before["tasks"])
        for what, rows in old.said["exports"].items():
            assert keys(rows) <= keys(exported(there, what, tmp_path)), what
    assert old.rows() == before


@contextmanager
def opened(old: Old, project: Project) -> Iterator[tuple[Runtime, Later]]:
    """The database in today's hands, two days after the recording."""
    clock = Later(old.said["at"] + 2 * DAY)
    registry = project_registry(project)
    with closing(open_store(old.url, project, registry.apps, clock=clock)) as store:
        install(store, registry)
        yield Runtime(store, registry, project.fetch), clock


def drain(shop: Runtime, url: str, clock: Later) -> None:
    """Work until nothing is left but what a closed gate holds. Waiting is done by moving the clock."""
    for _ in range(12):
        asyncio.run(asyncio.wait_for(until_idle(shop, url, clock), PATIENCE))
        if unfinished(shop.store).keys() <= behind_walls(shop.store):
            return
        clock.advance(HOUR)


async def until_idle(shop: Runtime, url: str, clock: Later) -> None:
    fetcher = make_fetcher(shop.outward, lambda: shop.store.settings, shop.store)
    with closing(Store(open_backend(url, clock=clock), settings=shop.store.settings)) as beat:
        await Worker(
            shop.store,
            shop.registry,
            heartbeat_store=beat,
            until_idle=True,
            services=Services(fetcher),
            clock=clock,
        ).run()


def unfinished(store: Store) -> dict[int, str]:
    """The kinds of the tasks that have not ended."""
    with store.read() as session:
        return dict(session.rows("select id, kind from tasks where finished_at is null"))


def behind_walls(store: Store) -> set[int]:
    """The tasks that wait until a person opens the host whose page was a wall."""
    with store.read() as session:
        return {
            task_id
            for (task_id,) in session.rows(
                """select t.id from tasks t join lanes l on l.id = t.lane_id join gates g on g.id = l.parked_on
                    where g.closed_tag is not null"""
            )
        }


def keys(rows: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    """What each row is about: a record, or a candidate and a posting."""
    return {tuple(str(row[name]) for name in ("key", "candidate", "posting") if name in row) for row in rows}


def decided(url: str, what: str, folder: Path) -> set[tuple[str, str]]:
    return {(row["status"], row.get("note")) for row in exported(url, what, folder)}


@pytest.mark.promise(1)
@pytest.mark.promise(17)
def test_a_scraper_of_an_earlier_release_takes_the_next_role_and_posts_with_its_key(
    old: Old, project: Project
):
    """Its lease on another role has run out meanwhile; whoever has no key is still refused."""
    with opened(old, project) as (shop, _), served(shop) as url:
        assert Api(url).ask("GET", "/api/scraper/queue/next-role").status == 401
        scraper = Api(url, old.said["key"])
        offer = scraper.get("/api/scraper/queue/next-role")
        job = {
            "platform": "search",
            "external_job_id": "after-the-upgrade",
            "title": offer["role"]["name"],
            "company": "Acme",
            "job_url": "https://acme.example/jobs/after-the-upgrade",
        }
        told = scraper.post("/api/scraper/queue/jobs", {"session_id": offer["session_id"], "jobs": [job]})
        assert (told["jobs_imported"], told["session_status"]) == (1, "completed")
        with shop.store.read() as session:
            sessions = session.rows("select status, count(*) from scrape_sessions group by status")
        assert dict(sessions) == {"completed": 3, "failed": 1, "timeout": 2}


@pytest.mark.promise(17)
def test_an_administrator_of_an_earlier_release_logs_in_with_the_same_password(old: Old, project: Project):
    with opened(old, project) as (shop, _), served(shop) as url:

        def tried(password: str) -> int:
            form = {"name": "ada", "password": password}
            return Api(url).ask("POST", "/login", data=form, headers={"Origin": url}).status

        assert (tried("another"), tried(old.said["password"])) == (401, 303)
