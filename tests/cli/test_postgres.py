"""The same commands on PostgreSQL."""

import secrets
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Thresher, added
from tests.harness.databases import drop_schema


@pytest.fixture
def far_queue(
    project, thresher: Thresher, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Thresher]:
    """The command line on a database of its own on the server."""
    url = f"{postgres_url}?schema=cli_{secrets.token_hex(6)}"
    monkeypatch.setenv("THRESHER_DATABASE_URL", url)
    yield thresher
    drop_schema(url)


@pytest.mark.promise(19)
def test_a_whole_day_on_postgresql(far_queue: Thresher, project):
    empty = far_queue("status")
    assert empty.code == 6
    assert "thresher migrate" in empty.err
    assert far_queue("migrate", "--check").code == 1
    assert far_queue("migrate").code == 0

    task = added(far_queue, "work", "--payload", '{"how": "fail"}')
    added(far_queue, "work", "--delay", "1h")
    assert far_queue("run").code == 1
    assert not (project / "thresher.db").exists()
    assert far_queue("status", "--json").json["counts"] == {"work": {"failed": 1, "pending": 1}}
    assert [group["source"] for group in far_queue("failures", "list", "--json").json] == ["source:doors"]
    assert far_queue("failures", "retry", "--source", "doors", "--apply", "--json").json["result"][
        "retried"
    ] == [task]
    assert far_queue("sources", "pause", "doors", "--for", "1h", "--reason", "tea").code == 0
    assert "tea" in far_queue("tasks", "show", task).out
    assert far_queue("tasks", "tree", task).code == 0
    assert far_queue("config", "set", "retry.base", "5").code == 0
    assert [event["kind"] for event in far_queue("events", "--json").json] == ["gate_paused"]

    health = far_queue("doctor", "--json")
    assert health.code == 0
    found = {check["name"]: check["verdict"] for check in health.json["checks"]}
    assert (found["postgres"], found["clock"], found["write"], found["sources"]) == ("ok", "ok", "ok", "warn")
    assert "horizon" in found


def test_a_wrong_database_name_is_told_in_the_servers_words(project, thresher: Thresher, postgres_url: str):
    address = postgres_url.rsplit("/", 1)[0]
    result = thresher("status", "--database", f"{address}/no_such_database")
    assert result.code == 6
    assert "no_such_database" in result.err
    assert len(result.err.splitlines()) == 1
