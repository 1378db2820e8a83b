from getpass import getuser
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Thresher
from thresher.config.settings import SETTINGS


@pytest.mark.promise(12)
def test_every_setting_is_listed_with_value_unit_origin_and_sentence(queue: Thresher):
    listed = {each["name"]: each for each in queue("config", "list", "--json").json}
    assert set(listed) == {setting.name for setting in SETTINGS}
    assert (
        listed["retry.base"]["value"],
        listed["retry.base"]["origin"],
        listed["retry.base"]["default"],
    ) == (3600, "project", 60)
    out = queue("config", "list").out
    for setting in SETTINGS:
        assert setting.name in out
        assert setting.sentence in out


@pytest.mark.promise(12)
def test_a_change_is_in_force_written_down_and_taken_back(queue: Thresher):
    assert queue("config", "set", "retry.base", "5").code == 0
    assert queue("config", "get", "retry.base", "--json").json["value"] == 5
    assert queue("config", "get", "retry.base", "--json").json["origin"] == "database"
    assert queue("config", "unset", "retry.base").code == 0
    assert queue("config", "get", "retry.base", "--json").json["value"] == 3600
    changes = queue("config", "history", "--json").json
    assert [(each["name"], each["old"], each["new"], each["changed_by"]) for each in changes] == [
        ("retry.base", "5.0", None, getuser()),
        ("retry.base", None, "5.0", getuser()),
    ]
    assert changes[0]["changed_at"].endswith("Z")
    assert getuser() in queue("config", "history").out


@pytest.mark.promise(12)
def test_the_next_run_obeys_a_changed_setting(queue: Thresher, project: Path):
    queue("config", "set", "queue.payload_limit", "256")
    refused = queue("add", "free", "--payload", '{"x": "' + "y" * 300 + '"}')
    assert refused.code == 2
    assert "256" in refused.err


def test_the_database_is_the_flag_else_the_environment_else_the_file_else_a_file_here(
    folder: Path, thresher: Thresher, monkeypatch
):
    def where(*argv: str) -> str:
        assert thresher("migrate", *argv).code == 0
        return thresher("status", *argv, "--json").json["database"]

    assert where() == "sqlite:///thresher.db"
    (folder / "sub").mkdir()
    (folder / "sub/thresher.yaml").write_text("database: sqlite:///mine.db\n")
    assert where("--project", "sub") == "sqlite:///sub/mine.db"
    monkeypatch.setenv("THRESHER_DATABASE_URL", "sqlite:///env.db")
    assert where("--project", "sub") == "sqlite:///env.db"
    assert where("--project", "sub", "--database", "sqlite:///flag.db") == "sqlite:///flag.db"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.db")} == {
        "thresher.db",
        "sub/mine.db",
        "env.db",
        "flag.db",
    }


def test_migrate_says_what_is_missing_and_does_it_once(project: Path, thresher: Thresher):
    behind = thresher("migrate", "--check", "--json")
    assert behind.code == 1
    assert not (project / "thresher.db").exists()
    assert thresher("migrate", "--json").json["applied"] == behind.json["pending"]
    assert thresher("migrate", "--json").json["applied"] == []
    assert thresher("migrate", "--check").code == 0


def test_a_schedule_shows_the_result_of_its_last_task(folder: Path, thresher: Thresher):
    (folder / "thresher.yaml").write_text(
        "apps: [roles]\nsettings:\n  worker.poll: 0.05\n  run.patience: 0\n"
    )
    thresher("run")
    assert {each["result"] for each in thresher("schedules", "list", "--json").json} == {None}
    thresher("add", "reset_roles")
    thresher("run")
    with apsw.Connection(str(folder / "thresher.db")) as database:
        database.execute("update schedules set last_at = 1 where name = 'roles.reset'")
    found = {each["name"]: each["result"] for each in thresher("schedules", "list", "--json").json}
    assert found["roles.reset"] == {"roles_reset_to_pending": 0}
    assert "roles_reset_to_pending" in thresher("schedules", "list").out


def test_schedules_are_seen_paused_and_resumed(queue: Thresher):
    assert "No schedules" in queue("schedules", "list").out
    queue("run")
    (nightly,) = queue("schedules", "list", "--json").json
    assert (nightly["name"], nightly["cron"], nightly["timezone"], nightly["paused"]) == (
        "nightly",
        "0 3 * * *",
        "Europe/Berlin",
        False,
    )
    assert "Europe/Berlin" in queue("schedules", "list").out
    assert queue("schedules", "pause", "nightly").code == 0
    assert queue("schedules", "list", "--json").json[0]["paused"] is True
    assert queue("schedules", "resume", "nightly").code == 0
    assert queue("schedules", "list", "--json").json[0]["paused"] is False
    fired = queue("schedules", "fire", "nightly", "--json").json
    assert queue("tasks", "show", fired["task"], "--json").json["task"]["kind"] == "free"
    assert "added task" in queue("schedules", "fire", "nightly").out
    assert "schedules fire" in queue("audit").out
    assert queue("schedules", "fire", "hourly").code == 4
    unknown = queue("schedules", "pause", "hourly")
    assert unknown.code == 4
    assert "hourly" in unknown.err


def test_a_switch_is_told_without_what_else_it_might_be(queue: Thresher):
    assert "fetch.replay = 1. Running workers" in queue("config", "set", "fetch.replay", "1").out
    assert "retry.base = 7 seconds. Running workers" in queue("config", "set", "retry.base", "7").out
