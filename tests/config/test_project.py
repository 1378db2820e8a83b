from pathlib import Path

import pytest

from thresher.config.project import DATABASE_VARIABLE, Project, database_url, read_project
from thresher.config.settings import MACHINE
from thresher.core.app import App
from thresher.core.errors import ConfigError


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "thresher.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def test_a_project_says_its_apps_database_and_settings(write):
    project = read_project(
        write(
            "apps: [orchard.py, package.module:app]\ndatabase: sqlite:///mine.db\nsettings:\n  queue.quantum: 7\n"
        )
    )
    assert project.apps == ("orchard.py", "package.module:app")
    assert (project.database, dict(project.settings)) == ("sqlite:///mine.db", {"queue.quantum": 7})


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "apps:\nsettings:\n"])
def test_an_empty_file_is_an_empty_project(write, text):
    project = read_project(write(text))
    assert (project.apps, project.database, dict(project.settings)) == ((), None, {})


def test_a_folder_without_a_file_is_a_project_with_the_apps_that_come_with_us(tmp_path):
    assert read_project(tmp_path) == Project(
        tmp_path, ("extractions", "hiring", "jobs", "prices", "queries", "roles")
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "apps: []\n\ndatabse: x\n",
            ":3: databse is not a known key; the keys are apps, database, fetch, models, notify, retry, settings",
        ),
        ("apps: orchard.py\n", ":1: apps must be a list of names such as"),
        ("apps: [1]\n", ":1: apps must be a list of names such as"),
        (
            "apps: []\ndatabase: 5\n",
            ":2: database must be text: a URL such as sqlite:///thresher.db",
        ),
        ("settings: 5\n", ":1: settings must map names to numbers, got 5"),
        (
            "settings:\n  retry.base: 1\n  queue.quantum: many\n",
            ":3: settings.queue.quantum is wrong: queue.quantum must be a whole number",
        ),
        (
            "settings:\n  queue.quantm: 1\n",
            ":2: settings.queue.quantm is wrong: there is no setting 'queue.quantm'",
        ),
        ("settings:\n  5: 1\n", ":2: settings.5 is wrong: there is no setting '5'"),
        ("apps: [a\nb: c: d\n", ":2 is not YAML"),
        (
            "- a\n- b\n",
            ":1 must be a mapping with the keys apps, database, fetch, models, notify, retry, settings, got list",
        ),
        (b"apps: [\xff]\n", " is not UTF-8 text"),
    ],
    ids=[
        "unknown key",
        "apps",
        "app",
        "database",
        "settings",
        "value",
        "name",
        "number as name",
        "yaml",
        "list",
        "bytes",
    ],
)
def test_a_mistake_is_found_by_file_line_and_key(write, text, says):
    folder = write(text)
    with pytest.raises(ConfigError) as caught:
        _read_whole(folder)
    assert str(caught.value).startswith(f"{folder / 'thresher.yaml'}{says}")


def _read_whole(folder):
    project = read_project(folder)
    project.check_sections(())
    project.checked_settings(MACHINE)


def test_the_key_of_an_app_belongs_to_the_app_that_has_a_use_for_it(write):
    folder = write("apps: [tea]\ntea:\n  cups:\n    blue: 3\n")
    project = read_project(folder)
    tea = App("tea", declare=lambda *_: None)
    project.check_sections((tea,))
    said = project.declaration(tea)
    assert (said.folder, said.said) == (folder, {"cups": {"blue": 3}})
    assert (
        str(said.error("tea.cups.blue", "is wrong"))
        == f"{folder / 'thresher.yaml'}:4: tea.cups.blue is wrong"
    )
    assert f"{folder / 'thresher.yaml'}:3: " in str(said.error("tea.cups.red.rim", "is missing"))
    for others in ((), (App("tea"),), (App("milk", declare=lambda *_: None),)):
        with pytest.raises(
            ConfigError, match=r"thresher.yaml:2: tea is not a known key; the keys are apps, "
        ):
            project.check_sections(others)
    assert read_project(write("apps: [tea]\n")).declaration(tea).said is None


def test_secrets_come_from_the_environment(write, monkeypatch):
    monkeypatch.setenv("ORCHARD_PASSWORD", "pears")
    folder = write("database: postgresql://anna:${ORCHARD_PASSWORD}@${ORCHARD_HOST:-localhost}/orchard\n")
    assert read_project(folder).database == "postgresql://anna:pears@localhost/orchard"


def test_a_secret_that_is_not_set_is_named(write, monkeypatch):
    monkeypatch.delenv("ORCHARD_PASSWORD", raising=False)
    folder = write("apps: []\ndatabase: postgresql://anna:${ORCHARD_PASSWORD}@localhost/orchard\n")
    with pytest.raises(
        ConfigError, match=r":2: database names the environment variable ORCHARD_PASSWORD, which is not set"
    ):
        read_project(folder)


@pytest.mark.parametrize(
    ("flag", "variable", "file", "expected"),
    [
        ("sqlite:////flag.db", "sqlite:////env.db", "sqlite:////file.db", "sqlite:////flag.db"),
        (None, "sqlite:////env.db", "sqlite:////file.db", "sqlite:////env.db"),
        (None, "", "sqlite:////file.db", "sqlite:////file.db"),
        (None, None, "postgresql://localhost/x", "postgresql://localhost/x"),
        (None, None, None, "sqlite:////srv/orchard/thresher.db"),
    ],
    ids=["flag", "environment", "empty environment", "file", "default"],
)
def test_the_database_is_named_by_flag_then_environment_then_file(flag, variable, file, expected):
    environ = {} if variable is None else {DATABASE_VARIABLE: variable}
    assert database_url(flag, Project(Path("/srv/orchard"), database=file), environ) == expected
