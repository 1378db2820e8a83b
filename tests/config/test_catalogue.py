"""Settings by app: one catalogue of the machine's and the apps', with one owner for every name."""

import pickle

import pytest

from thresher import App, guarded, tunable
from thresher.config.project import read_project
from thresher.config.settings import MACHINE, Catalogue, Settings, catalogue_of
from thresher.core.errors import ConfigError, UnknownName


def ripe(app: str, name: str = "ripe", default: int = 3):
    return tunable(f"{app}.{name}", default, "days", 0, 30, "Pick a fruit after this many days.")


def app(name: str, *settings) -> App:
    return App(name, pipelines=(), settings=settings)


@pytest.mark.promise(12)
def test_the_settings_of_an_app_lie_beside_those_of_the_machine():
    catalogue = catalogue_of([app("orchard", ripe("orchard")), app("vineyard", ripe("vineyard", default=9))])
    settings = Settings({"orchard.ripe": "7"}, catalogue)
    assert (settings["orchard.ripe"], settings["vineyard.ripe"], settings["queue.quantum"]) == (7, 9, 4)
    assert len(settings) == len(MACHINE) + 2
    assert (catalogue.app_of("orchard.ripe"), catalogue.app_of("queue.quantum")) == ("orchard", None)


@pytest.mark.promise(12)
@pytest.mark.parametrize("name", ["ripe", "orchards.ripe", "vineyard.ripe", "orchard."])
def test_a_setting_that_does_not_start_with_its_apps_name_is_refused(name):
    with pytest.raises(ConfigError, match=f"app 'orchard' has a setting '{name}'.*orchard.NAME"):
        catalogue_of([app("orchard", tunable(name, 3, "days", 0, 30, "Pick a fruit after this many days."))])


@pytest.mark.promise(12)
def test_two_apps_with_one_name_of_setting_are_refused_by_name():
    with pytest.raises(ConfigError, match=r"'orchard.ripe' is defined by app 'orchard' and by app 'orchard'"):
        catalogue_of([app("orchard", ripe("orchard")), app("orchard", ripe("orchard"))])
    with pytest.raises(ConfigError, match=r"'a.b.ripe' is defined by app 'a' and by app 'a.b'"):
        catalogue_of([app("a", ripe("a", "b.ripe")), app("a.b", ripe("a.b"))])


@pytest.mark.promise(12)
@pytest.mark.parametrize("name", ["queue.quantum", "queue.ripe"])
def test_an_app_may_not_bring_a_setting_of_the_machine(name):
    new = guarded(name, 3, "days", 0, 30, "Pick a fruit after this many days.")
    with pytest.raises(
        ConfigError, match=f"app 'queue' has the setting '{name}', but queue.* are settings of Thresher"
    ):
        catalogue_of([app("queue", new)])


def test_a_name_of_an_app_that_is_not_here_is_answered_with_how_to_enable_it():
    with pytest.raises(
        UnknownName, match=r"app 'orchard', enable that app.*the apps with settings here are: vineyard"
    ):
        Settings(catalogue=Catalogue({"vineyard": [ripe("vineyard")]}))["orchard.ripe"]
    with pytest.raises(UnknownName, match=r"did you mean one of: vineyard.ripe"):
        Settings(catalogue=Catalogue({"vineyard": [ripe("vineyard")]}))["vineyard.rpe"]


def test_settings_go_to_another_process_whole():
    settings = Settings({"orchard.ripe": 7}, Catalogue({"orchard": [ripe("orchard")]}))
    there = pickle.loads(pickle.dumps(settings))
    assert there == settings
    assert there["orchard.ripe"] == 7
    with pytest.raises(UnknownName, match=r"did you mean one of: orchard.ripe"):
        there["orchard.rpe"]


@pytest.mark.promise(12)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "settings:\n  orchard.ripe: 31\n",
            ":2: settings.orchard.ripe is wrong: orchard.ripe must be a whole number from 0 to 30",
        ),
        (
            "apps: []\nsettings:\n  vineyard.ripe: 3\n",
            ":3: settings.vineyard.ripe is wrong: there is no setting 'vineyard.ripe'. If it belongs to an app 'vineyard', enable that app",
        ),
    ],
    ids=["value", "app that is not enabled"],
)
def test_a_setting_of_an_app_in_the_project_file_is_checked_with_its_line(tmp_path, text, says):
    (tmp_path / "thresher.yaml").write_text(text)
    project, catalogue = read_project(tmp_path), catalogue_of([app("orchard", ripe("orchard"))])
    with pytest.raises(ConfigError) as caught:
        project.checked_settings(catalogue)
    assert str(caught.value).startswith(f"{tmp_path / 'thresher.yaml'}{says}")


def test_whoever_works_without_apps_leaves_their_settings_alone(tmp_path):
    (tmp_path / "thresher.yaml").write_text("settings:\n  orchard.ripe: 31\n  queue.quantum: 9\n")
    settings = read_project(tmp_path).machine_settings()
    assert (settings["queue.quantum"], "orchard.ripe" in settings) == (9, False)
