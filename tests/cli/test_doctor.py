import re
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import PROJECT, Result, Thresher, added


def verdicts(result: Result) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in result.json["checks"]}


def test_a_healthy_project_is_well(queue: Thresher):
    result = queue("doctor", "--json")
    assert result.code == 0
    # As root it has no sandbox, and the machine of a test need not have a network.
    assert {verdict for name, verdict in verdicts(result).items() if name not in ("browser", "network")} == {
        "ok"
    }
    names = {
        "python",
        "sqlite",
        "project",
        "apps",
        "database",
        "schema",
        "write",
        "clock",
        "workers",
        "gates",
        "sources",
        "disk",
    }
    assert set(verdicts(result)) >= names
    assert "test (work, free)" in queue("doctor").out


def test_an_app_without_tasks_is_named_without_brackets(project: Path, thresher: Thresher):
    (project / "app.py").write_text('from thresher import App\n\napp = App("tables")\n')
    (found,) = [each for each in thresher("doctor", "--json").json["checks"] if each["name"] == "apps"]
    assert (found["verdict"], found["found"]) == ("ok", "tables")


def test_what_is_missing_fails_with_advice_and_the_rest_is_still_checked(project: Path, thresher: Thresher):
    (project / "thresher.yaml").write_text(PROJECT.replace("app.py", "nowhere.py"))
    result = thresher("doctor", "--json")
    assert result.code == 1
    found = verdicts(result)
    assert (found["python"], found["project"], found["apps"], found["database"]) == (
        "ok",
        "ok",
        "fail",
        "fail",
    )
    assert "thresher migrate" in thresher("doctor").out


def test_a_malformed_project_or_an_old_schema_fails(project: Path, thresher: Thresher):
    (project / "thresher.db").touch()
    assert verdicts(thresher("doctor", "--json"))["schema"] == "fail"
    assert "thresher migrate" in thresher("doctor").out
    (project / "thresher.yaml").write_text("apps: [")
    assert verdicts(thresher("doctor", "--json"))["project"] == "fail"


@pytest.mark.promise(20)
def test_what_holds_work_up_is_a_warning(queue: Thresher, project: Path):
    added(queue, "work")
    queue("sources", "disable", "doors", "--reason", "captcha")
    with apsw.Connection(str(project / "thresher.db")) as database:
        database.execute(
            "insert into workers (name, host, pid, lease_us, lease_until, started_at) values ('gone', 'h', 1, 1, 1, 1)"
        )
        database.execute("update gates set max_in_flight = 5, in_flight = 3 where name = 'source:good'")
        database.execute("update tasks set kind = 'stranger' where kind = 'free'")
        database.execute("insert into scopes (kind, stage) values ('stranger', 'x')")
        database.execute(
            "insert into tasks (kind, stage, state, lane_id, due, run_at, rank, priority, payload, created_at)"
            " select 'stranger', 'x', 'pending', id, 0, 9e15, 0, 0, '{}', 0 from lanes limit 1"
        )
        database.execute(
            "insert into schedules (name, app, entry, every_us, timezone, missed, next_at)"
            """ values ('weekly', 'gone', '{"kind": "x", "stage": "x", "gates": [], "payload": "{}"}', 60000000, 'UTC', 'one', 1)"""
        )
    result = queue("doctor", "--json")
    assert result.code == 0
    found = verdicts(result)
    assert found["schedules"] == "warn"
    assert (found["sources"], found["workers"], found["gates"], found["kinds"]) == (
        "warn",
        "warn",
        "warn",
        "warn",
    )
    out = queue("doctor").out
    for word in (
        "captcha",
        "gone",
        "source:good: counts 3, but 0 are running",
        "'stranger'",
        "weekly (app gone)",
    ):
        assert word in out


@pytest.mark.promise(20)
def test_tasks_without_a_worker_are_a_warning_with_the_command_that_starts_one(queue: Thresher):
    queue("migrate")
    (before,) = (each for each in queue("doctor", "--json").json["checks"] if each["name"] == "workers")
    told = "none is running (none has ever run), and no task is due"
    assert (before["verdict"], before["found"]) == ("ok", told)
    assert "No worker is running" in queue("status").out
    added(queue, "work")
    (after,) = (each for each in queue("doctor", "--json").json["checks"] if each["name"] == "workers")
    assert (after["verdict"], after["advice"]) == ("warn", "start one: thresher worker")
    assert after["found"] == "none is running (none has ever run), and 1 task is due"
    assert queue("run", "--only", "test").code == 0
    added(queue, "free", "--delay", "1h")
    (ended,) = (each for each in queue("doctor", "--json").json["checks"] if each["name"] == "workers")
    assert re.fullmatch(
        r"none is running \(\S+ was seen \S+ ago\), and no task is due, 1 later", ended["found"]
    ), ended


@pytest.mark.promise(20)
def test_refused_spawns_are_counted_by_rule_with_the_command_that_lists_them(queue: Thresher):
    added(queue, "work", "--payload", '{"how": "loop"}', "--url", "https://a.example/")
    queue("run", "--only", "test")
    (found,) = (each for each in queue("doctor", "--json").json["checks"] if each["name"] == "spawns")
    assert found["verdict"] == "warn"
    assert re.fullmatch(r"refused: \d+ in the last 24 hours \(.*in_ancestry \d+.*\)", found["found"]), found
    assert found["advice"] == "thresher events --kind spawn_refused shows them"
    assert "https://a.example/" in queue("events", "--kind", "spawn_refused").out


@pytest.mark.promise(20)
def test_a_site_that_cannot_be_reached_is_named_with_what_to_check(queue: Thresher, project: Path):
    text = (project / "thresher.yaml").read_text()
    mapped = "fetch: {contact: me@example.com, resolve: {a.example: 'http://127.0.0.1:1'}}"
    (project / "thresher.yaml").write_text(text.replace("fetch: {contact: me@example.com}", mapped))
    queue("sources", "pause", "host:b.example", "--for", "1h")
    with apsw.Connection(str(project / "thresher.db")) as database:
        for name in ("host:a.example", "host:b.example", "host:10.0.0.7"):
            database.execute("insert into gates (name) values (?) on conflict do nothing", (name,))
        database.execute("update gates set open_after = 9e15 where name = 'host:b.example'")
    (found,) = (each for each in queue("doctor", "--json").json["checks"] if each["name"] == "network")
    assert found["verdict"] == "warn"
    assert "a.example: no connection to 127.0.0.1:1: Connection refused" in found["found"]
    assert "b.example" not in found["found"]  # paused: nobody knocks there
    assert "10.0.0.7" not in found["found"]
    assert "firewall" in found["advice"]


def test_bench_prints_one_object(queue: Thresher, tmp_path: Path):
    result = queue(
        "bench",
        "queue",
        "--tasks",
        "200",
        "--lanes",
        "10",
        "--json",
        "--database",
        f"sqlite:///{tmp_path}/bench.db",
    )
    assert result.code == 0
    assert {"store", "tasks", "gates", "drain_per_s", "claim_p99_us"} <= set(result.json)
    assert queue("bench", "queue", "--store", "mysql").code == 2


@pytest.mark.promise(16)
def test_a_project_that_nobody_can_be_reached_about_is_told_so(queue: Thresher, project: Path):
    text = (project / "thresher.yaml").read_text()
    (project / "thresher.yaml").write_text(text.replace("fetch: {contact: me@example.com}\n", ""))
    found = {check["name"]: check for check in queue("doctor", "--json").json["checks"]}["user agent"]
    assert found["verdict"] == "warn"
    assert "contact" in found["advice"]


def test_a_proxy_that_only_other_programs_use_is_pointed_out(
    queue: Thresher, project: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HTTPS_PROXY", "http://anna:hidden@proxy.corp.example:3128")
    found = {check["name"]: check for check in queue("doctor", "--json").json["checks"]}
    assert found["proxy"]["verdict"] == "warn"
    assert 'proxy: "${HTTPS_PROXY}"' in found["proxy"]["advice"]
    text = (project / "thresher.yaml").read_text()
    (project / "thresher.yaml").write_text(
        text.replace("fetch: {contact", 'fetch: {proxy: "${HTTPS_PROXY}", contact')
    )
    said = queue("doctor", "--json")
    found = {check["name"]: check for check in said.json["checks"]}
    assert "proxy" not in found
    assert "all else through the proxy http://proxy.corp.example:3128" in str(found["fetch"])
    assert "hidden" not in said.out
