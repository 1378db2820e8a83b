"""Apps that come as installed packages, through the entry-point group."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.harness.forks import Command

PATIENCE = 60.0
APP = """
from thresher import App, Command, Done, NewTask, Pipeline, Record, Stage


async def brew(ctx):
    return Done(records=(Record("tea", ctx.task.payload["leaf"]),))


app = App(
    "teahouse",
    pipelines=(Pipeline("brew", Stage(brew)),),
    start=(NewTask("brew", {"leaf": "assam"}, key="assam"),),
    commands=(
        Command("menu", "See what is brewed.", "teahouse_menu:app"),
        Command("add leaves", "Add leaves.", "teahouse_menu:add_leaves"),
    ),
    checks="teahouse_menu:CHECKS",
    exports="teahouse_menu:EXPORTS",
    explain="teahouse_menu:EXPLAIN",
)
"""
MENU = """
import typer

from thresher import Check, Export
from thresher.admin.explain import Explanation
from thresher.cli.call import call_of

app = typer.Typer()


@app.command()
def show():
    print("assam")


@app.command()
def wash():
    pass


def add_leaves(ctx: typer.Context, name: str):
    print(name, "as JSON" if call_of(ctx).json else "")


def water(store):
    yield Check.ok("kettle", "it is on")
    yield Check.warn("water", "there is little left", "fetch some")


def broken(store):
    raise KeyError("spoon")


def explain(store, what):
    if what == "assam":
        return Explanation("tea", what, "Assam", "brewed", ["Somebody was thirsty."], None, [])


CHECKS = (water, broken)
EXPLAIN = (explain,)
EXPORTS = {
    "teas": Export(
        lambda store, status: [{"leaf": "assam", "from": {"place": "Jorhat"}, "status": status, "kinds": ["a", "b"]}],
        ("leaf", "origin=nowhere|from.place", "status", "kinds"),
        statuses=("fresh",),
        separator="/",
    )
}
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of installed packages, as pip would leave it."""
    packages = tmp_path / "packages"
    about = packages / "teahouse-1.0.dist-info"
    about.mkdir(parents=True)
    (packages / "teahouse.py").write_text(APP)
    (packages / "teahouse_menu.py").write_text(MENU)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: teahouse\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[thresher.apps]\nteahouse = teahouse:app\n")
    return packages


def call(
    packages: Path, folder: Path, *words: str, environ: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[str]:
    made = Command(*words, folder=folder, PYTHONPATH=str(packages), **environ)
    said, wrong = made.communicate(PATIENCE)
    made.close()
    return subprocess.CompletedProcess(words, made.wait(), said, wrong)


def enable(folder: Path, *apps: str) -> None:
    (folder / "thresher.yaml").write_text(f"apps: [{', '.join(apps)}]\n")


def test_an_app_that_is_installed_as_a_package_does_nothing_until_it_is_enabled(
    installed: Path, tmp_path: Path
):
    assert call(installed, tmp_path, "run", "--json").returncode == 0
    assert call(installed, tmp_path, "records", "--json").stdout == "[]\n"
    enable(tmp_path, "teahouse")
    done = call(installed, tmp_path, "run", "--json")
    assert done.returncode == 0, done.stderr
    assert '"assam"' in call(installed, tmp_path, "records", "--json").stdout


def test_a_kind_that_a_package_and_the_project_both_claim_is_refused_by_name(installed: Path, tmp_path: Path):
    (tmp_path / "mine.py").write_text(APP.replace('"teahouse"', '"mine"'))
    enable(tmp_path, "mine.py", "teahouse")
    refused = call(installed, tmp_path, "run")
    assert refused.returncode == 2
    assert "'brew' is defined by app 'mine' and by app 'teahouse'" in refused.stderr


def test_a_command_of_an_installed_app_says_how_to_enable_it(installed: Path, tmp_path: Path):
    enable(tmp_path, "jobs")
    refused = call(installed, tmp_path, "menu", "show")
    assert (refused.returncode, refused.stdout) == (4, "")
    assert "belongs to the app 'teahouse'" in refused.stderr
    assert "add it to thresher.yaml: apps: [teahouse]" in refused.stderr
    told = " ".join(call(installed, tmp_path, "--help").stdout.split())
    assert "Installed but not enabled in this project: extractions, prices, queries, roles, teahouse." in told
    assert "App jobs:" in told
    assert "candidates" not in told


def test_the_help_lists_the_commands_of_an_enabled_app_without_importing_them(
    installed: Path, tmp_path: Path
):
    enable(tmp_path, "teahouse")
    (installed / "teahouse_menu.py").write_text("raise RuntimeError('imported')\n")
    told = call(installed, tmp_path, "--help")
    assert told.returncode == 0, told.stderr
    assert "App teahouse:\n  menu        See what is brewed.\n  add leaves  Add leaves." in told.stdout


def test_an_app_brings_commands_and_words_of_add(installed: Path, tmp_path: Path):
    enable(tmp_path, "teahouse")
    assert call(installed, tmp_path, "menu", "show").stdout == "assam\n"
    assert "See what is brewed." in call(installed, tmp_path, "menu", "--help").stdout
    assert call(installed, tmp_path, "add", "leaves", "sencha", "--json").stdout == "sencha as JSON\n"
    plain = call(installed, tmp_path, "add", "brew", "--payload", '{"leaf": "pu-erh"}')
    assert plain.stdout == "Task 1 (brew) added.\n", plain.stderr
    words = {"_THRESHER_COMPLETE": "complete_bash", "COMP_WORDS": "thresher me", "COMP_CWORD": "1"}
    assert call(installed, tmp_path, environ=words).stdout.split() == ["menu"]


@pytest.mark.parametrize(("name", "owner"), [("menu", "the app 'teahouse'"), ("run", "Thresher itself")])
def test_a_command_that_two_bring_is_refused_with_both_names(
    installed: Path, tmp_path: Path, name: str, owner: str
):
    (tmp_path / "mine.py").write_text(
        f"from thresher import App, Command\napp = App('mine', commands=(Command('{name}', 'Mine.', 'x:y'),))\n"
    )
    enable(tmp_path, "teahouse", "mine.py")
    refused = call(installed, tmp_path, "--help")
    assert refused.returncode == 3
    assert f"the command '{name}' is defined by the app 'mine' and by {owner}" in refused.stderr


def test_an_app_that_cannot_be_imported_hides_no_other_command(installed: Path, tmp_path: Path):
    (installed / "teahouse.py").write_text("raise RuntimeError('no water')\n")
    told = call(installed, tmp_path, "--help")
    assert told.returncode == 0
    assert "App roles:" in told.stdout
    assert "no water" in " ".join(told.stdout.split())


def test_an_unknown_app_is_told_what_is_available(installed: Path, tmp_path: Path):
    enable(tmp_path, "teahosue")
    refused = call(installed, tmp_path, "run")
    assert refused.returncode == 4
    assert "available are: extractions, hiring, jobs, prices, queries, roles, teahouse" in refused.stderr


def test_an_app_is_enabled_with_those_it_needs(installed: Path, tmp_path: Path):
    (tmp_path / "mine.py").write_text("from thresher import App\napp = App('mine', needs=('teahouse',))\n")
    enable(tmp_path, "mine.py")
    assert call(installed, tmp_path, "menu", "show").stdout == "assam\n"
    (tmp_path / "mine.py").write_text("from thresher import App\napp = App('mine', needs=('bakery',))\n")
    refused = call(installed, tmp_path, "run")
    assert (refused.returncode, "app 'mine' needs 'bakery'" in refused.stderr) == (4, True)


def test_what_an_app_checks_is_told_by_the_doctor_and_what_needs_a_person_by_the_status(
    installed: Path, tmp_path: Path
):
    enable(tmp_path, "teahouse")
    assert call(installed, tmp_path, "run").returncode == 0
    done = json.loads(call(installed, tmp_path, "doctor", "--json").stdout)
    told = {each["name"]: (each["verdict"], each["found"]) for each in done["checks"]}
    assert (told["kettle"], told["water"]) == (("ok", "it is on"), ("warn", "there is little left"))
    assert told["teahouse"] == ("fail", "a check of the app 'teahouse' failed: KeyError: 'spoon'")
    status = call(installed, tmp_path, "status").stdout
    assert "there is little left: fetch some" in status
    assert "it is on" not in status


def test_an_app_brings_exports(installed: Path, tmp_path: Path):
    enable(tmp_path, "teahouse")
    assert call(installed, tmp_path, "run").returncode == 0
    said = call(installed, tmp_path, "export", "teas", "--status", "fresh")
    assert said.stdout.splitlines() == ["\ufeffleaf,origin,status,kinds", "assam,Jorhat,fresh,a/b"], (
        said.stderr
    )
    assert '"place": "Jorhat"' in call(installed, tmp_path, "export", "teas", "-f", "jsonl").stdout
    refused = call(installed, tmp_path, "export", "postings")
    assert (refused.returncode, "the exports are teas" in refused.stderr) == (2, True)


def test_an_export_that_two_apps_bring_is_refused_with_both_names(installed: Path, tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "from thresher import App\napp = App('mine', exports='teahouse_menu:EXPORTS')\n"
    )
    enable(tmp_path, "teahouse", "mine.py")
    assert call(installed, tmp_path, "migrate").returncode == 0
    refused = call(installed, tmp_path, "export", "teas")
    assert "is defined by the app 'mine' and by the app 'teahouse'" in refused.stderr


def test_an_app_explains_what_it_knows_and_the_queue_its_tasks(installed: Path, tmp_path: Path):
    enable(tmp_path, "teahouse")
    assert call(installed, tmp_path, "run").returncode == 0
    assert "Somebody was thirsty." in call(installed, tmp_path, "explain", "assam").stdout
    assert "The task succeeded." in call(installed, tmp_path, "explain", "1").stdout
    refused = call(installed, tmp_path, "explain", "sencha")
    assert (
        refused.returncode,
        "'sencha' is not a task, and no app of this project knows it" in refused.stderr,
    ) == (4, True)
