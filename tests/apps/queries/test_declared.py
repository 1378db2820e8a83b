"""The key `queries` of the project file: what it declares, what it refuses, and what becomes of a search that
is no longer there."""

from datetime import date
from pathlib import Path

import pytest

from tests.apps.queries.harbour import DEFINITION, START
from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.declared import declare
from thresher.apps.queries.service.queries import add_query, list_views, retire
from thresher.config.project import read_project
from thresher.core.clock import SECOND
from thresher.core.errors import ConfigError, UsageError
from thresher.testing.world import World

NOW = int(START.timestamp()) * SECOND
FILE = """apps: [queries]
queries:
  searches:
    docks:
      client: harbour
      text: dock
      start: 2026-03-01
    cranes:
      client: harbour
      text: crane
      max_pages: 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "harbour.yaml").write_text(DEFINITION)
    return tmp_path


def declared(world: World, folder: Path, text: str) -> None:
    (folder / "thresher.yaml").write_text(text)
    declare(world.store, read_project(folder).declaration(queries))


def told(world: World, *, retired: bool = True) -> dict[str, bool]:
    return {each.name: bool(each.retired_at) for each in list_views(world.store, retired=retired)}


def test_what_the_file_declares_is_in_the_database(folder):
    with World(hiring, queries, now=NOW) as world:
        declared(world, folder, FILE)
        cranes, docks = list_views(world.store)
        assert (docks.name, docks.client, docks.text, docks.start_date) == (
            "docks",
            "harbour",
            "dock",
            date(2026, 3, 1),
        )
        assert (cranes.max_pages, cranes.declared_in, cranes.status) == (3, "file", "IDLE")


def test_a_search_that_is_gone_is_retired_and_one_that_returns_has_its_history(folder):
    with World(hiring, queries, now=NOW) as world:
        declared(world, folder, FILE)
        (key,) = [each.query_key for each in list_views(world.store) if each.name == "docks"]
        declared(
            world, folder, FILE.partition("    docks")[0] + "    cranes: {client: harbour, text: crane}\n"
        )
        assert told(world) == {"cranes": False, "docks": True}
        assert told(world, retired=False) == {"cranes": False}
        (event,) = world.events("query_retired")
        assert event["detail"]["name"] == "docks"
        declared(world, folder, FILE.replace("docks:", "all docks:").replace("text: dock", "text:  DOCK "))
        assert told(world) == {"cranes": False, "all docks": False}
        assert key in {each.query_key for each in list_views(world.store)}
        declared(world, folder, "apps: [queries]\n")
        assert told(world) == {"cranes": True, "all docks": True}


def test_the_same_file_again_changes_nothing(folder):
    with World(hiring, queries, now=NOW) as world:
        declared(world, folder, FILE)
        with world.store.read() as session:
            before = session.rows("select * from query_options") + session.rows("select * from query_state")
        world.advance(days=1)
        declared(world, folder, FILE)
        with world.store.read() as session:
            assert before == session.rows("select * from query_options") + session.rows(
                "select * from query_state"
            )


def test_what_a_person_added_is_not_the_files_to_retire(folder):
    with World(hiring, queries, now=NOW) as world:
        declared(world, folder, FILE)
        add_query(world.store, "locks", {"client": "harbour", "text": "lock"})
        declared(world, folder, "apps: [queries]\n")
        assert told(world, retired=False) == {"locks": False}
        declared(world, folder, FILE)
        with pytest.raises(UsageError, match="the project file declares this query as 'docks'"):
            add_query(world.store, "mine", {"client": "harbour", "text": "dock"})
        with pytest.raises(UsageError, match="start is 2199-01-01, which has not come yet"):
            add_query(world.store, "mine", {"client": "harbour", "text": "x", "start": "2199-01-01"})
        with pytest.raises(UsageError, match="remove it there"):
            retire(world.store, "docks")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("queries: 3", "queries must be a mapping with the keys searches, sheet"),
        ("queries:\n  searchs: {}", "queries must be a mapping"),
        ("queries:\n  searches: [a]", "queries.searches must map names to searches"),
        (
            "queries:\n  searches:\n    a: {client: harbor}",
            ":4: queries.searches.a.client is 'harbor'; write one of adzuna",
        ),
        (
            "queries:\n  searches:\n    a: {client: harbour, texts: x}",
            "must be a mapping with the keys client, text",
        ),
        ("queries:\n  searches:\n    a: {client: harbour, parameters: {town: x}}", "has no parameter 'town'"),
        (
            "queries:\n  searches:\n    a: {client: harbour, start: soon}",
            "must be a day such as 2026-10-01, got 'soon'",
        ),
        (
            "queries:\n  searches:\n    a: {client: harbour, start: 2199-01-01}",
            "is 2199-01-01, which has not come yet",
        ),
        ("queries:\n  searches:\n    a: {client: harbour, max_pages: 0}", "must be a whole number from 1"),
        ("queries:\n  searches:\n    a: {client: feed}", "feed needs the parameter url"),
        (
            "queries:\n  searches:\n    a: {client: harbour, text: x}\n    b: {client: harbour, text: X}",
            "searches for the same as 'a'",
        ),
        ("queries:\n  sheet: {tabs: x}", "queries.sheet.tabs is not a known key"),
    ],
)
def test_a_mistake_is_named_with_its_key_and_nothing_is_changed(folder, wrong, says):
    with World(hiring, queries, now=NOW) as world:
        declared(world, folder, FILE)
        with pytest.raises(ConfigError) as caught:
            declared(world, folder, f"apps: [queries]\n{wrong}\n")
        assert says in str(caught.value)
        assert str(caught.value).startswith(f"{folder / 'thresher.yaml'}:")
        assert told(world) == {"docks": False, "cranes": False}


def test_a_client_that_is_described_wrongly_is_named_with_its_file_and_line(folder):
    with World(hiring, queries, now=NOW) as world:
        (folder / "clients" / "harbour.yaml").write_text(DEFINITION.replace("rows: jobs", "rowz: jobs"))
        with pytest.raises(ConfigError, match=r"clients/harbour.yaml, line \d+: answer.rowz"):
            declared(world, folder, FILE)
