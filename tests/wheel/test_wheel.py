"""The wheel is the product: it has all its files, needs nothing but what it says, and does its work without
the source tree."""

import json
import re
import zipfile
from email import message_from_bytes
from pathlib import Path
from urllib.request import urlopen

import pytest

import thresher
from tests.house.hashes import PYTHONS
from tests.house.paper import ROOT, tracked
from tests.wheel.environment import Environment, make_environment

# Every module, each with what it loads when it is imported.
IMPORT_ALL = """
import importlib, pkgutil, thresher
names = [each.name for each in pkgutil.walk_packages(thresher.__path__, "thresher.") if not each.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(len(names), thresher.__file__)
"""
# Every command and every group below it, as --help lists them.
HELP_ALL = """
import contextlib, io, json, re
from thresher.cli import main

def helped(path):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main([*path, "--help"])
    told = out.getvalue()
    yield [" ".join(path), code, "Usage: thresher" in told]
    listed = told.partition("Commands:")[2]
    for name in re.findall(r"^  ([a-z][\\w-]*(?: [a-z][\\w-]*)?)(?:  |$)", listed, re.MULTILINE):
        yield from helped((*path, *name.split()))

print(json.dumps(list(helped(()))))
"""
PROJECT = """
apps: [jobs, roles]
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}}}
settings:
  host.interval: 0
  run.patience: 0
  jobs.filter.age_limit: 36500
  jobs.score.needed: 1
  jobs.score.needed_in_city: 1
"""
# What the demo counts of every app, and finds some of.
COUNTED = {
    "extractions": ("extractions", "pages", "items"),
    "jobs": ("companies", "boards", "postings", "decisions", "matches"),
    "prices": ("items", "points", "valuations"),
    "queries": ("queries", "runs", "offers", "companies"),
    "roles": ("candidates", "roles", "postings", "matches"),
}
PEOPLE = "name,title,skills\nAda Okafor,Sr. Python Developer,Python;SQL\nBruno Keller,python dev,Python\n"


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path):
    package = ROOT / "src"
    wanted = {path.relative_to(package).as_posix() for path in tracked() if path.is_relative_to(package)}
    with zipfile.ZipFile(wheel) as built:
        assert sorted(wanted - set(built.namelist())) == []


def test_the_wheel_says_what_it_is_and_where_it_runs(wheel: Path):
    with zipfile.ZipFile(wheel) as built:
        (name,) = [each for each in built.namelist() if each.endswith(".dist-info/METADATA")]
        said = message_from_bytes(built.read(name))
    classifiers = said.get_all("Classifier", [])
    pythons = [each.rpartition(" ")[2] for each in classifiers if re.search(r"Python :: 3\.\d+$", each)]
    assert tuple(pythons) == PYTHONS, "those whose wheels are hashed"
    assert said["Requires-Python"] == f">={PYTHONS[0]}"
    systems = {each.rpartition(" ")[2] for each in classifiers if each.startswith("Operating System")}
    assert systems <= {"Linux", "MacOS", "Windows"}
    assert (said["License-Expression"], said.get_all("License-File")) == ("MIT", ["LICENSE", "NOTICE"])
    assert said["Description-Content-Type"] == "text/markdown"
    assert said["Keywords"]
    assert said.get_all("Project-URL", []) == [], "there is none yet; do not invent one"


def test_every_module_loads_with_what_the_wheel_says_it_needs(installed: Environment, tmp_path: Path):
    number, _, place = installed.run("python", "-c", IMPORT_ALL, cwd=tmp_path).strip().partition(" ")
    assert int(number) > 100
    assert Path(place).is_relative_to(installed.folder)


def test_every_command_explains_itself(installed: Environment, tmp_path: Path):
    assert installed.run("thresher", "--version", cwd=tmp_path) == f"thresher {thresher.__version__}\n"
    told = json.loads(installed.run("python", "-c", HELP_ALL, cwd=tmp_path))
    assert [path for path, code, is_help in told if code != 0 or not is_help] == []
    assert {"init", "tasks list", "add company", "jobs profile set", "roles resolve"} <= {
        path for path, _, _ in told
    }


@pytest.mark.promise(1)
def test_a_new_project_is_made_and_runs_to_its_end(installed: Environment, tmp_path: Path):
    installed.run("thresher", "init", cwd=tmp_path)
    installed.run("thresher", "run", cwd=tmp_path)
    greetings = json.loads(installed.run("thresher", "records", "--json", cwd=tmp_path))
    assert sorted(each["key"] for each in greetings) == ["Ada", "Grace", "Katherine"]


def test_the_demo_of_the_core_alone_prints_what_every_app_counts(wheel: Path, tmp_path: Path):
    """As `make run ONCE=1` does it: without a single extra, and without a browser."""
    core = make_environment(tmp_path / "environment", wheel, extras=("",))
    counted = json.loads(core.run("thresher", "demo", "--once", "--json", cwd=tmp_path))
    assert [
        (app, name) for app, names in COUNTED.items() for name in names if not counted[app][name] > 0
    ] == []
    assert counted.keys() == COUNTED.keys()


@pytest.mark.promise(13)
def test_the_jobs_app_follows_a_company_and_scores_its_postings(installed: Environment, tmp_path: Path):
    with installed.start("python", "-m", "thresher.practice.web", cwd=tmp_path) as web:
        assert web.stdout is not None
        (tmp_path / "thresher.yaml").write_text(PROJECT.format(web=json.loads(web.stdout.readline())["url"]))
        (tmp_path / "me.yaml").write_text(
            installed.run("thresher", "jobs", "profile", "example", cwd=tmp_path)
        )
        installed.run("thresher", "jobs", "profile", "set", "me.yaml", cwd=tmp_path)
        installed.run("thresher", "add", "company", "https://www.acme.example/", cwd=tmp_path)
        installed.run("thresher", "run", cwd=tmp_path)
        web.terminate()
    (board,) = json.loads(installed.run("thresher", "boards", "list", "--json", cwd=tmp_path))
    postings = json.loads(installed.run("thresher", "postings", "list", "--json", cwd=tmp_path))
    assert (board["key"], board["verdict"]) == ("greenhouse:acme", "found")
    explained = json.loads(installed.run("thresher", "explain", postings[0]["key"], "--json", cwd=tmp_path))
    assert explained["sentences"]


def test_the_roles_app_makes_roles_of_what_candidates_want(installed: Environment, tmp_path: Path):
    (tmp_path / "thresher.yaml").write_text(PROJECT.format(web="http://127.0.0.1:9"))
    (tmp_path / "people.csv").write_text(PEOPLE)
    installed.run("thresher", "add", "candidates", "people.csv", cwd=tmp_path)
    installed.run("thresher", "run", cwd=tmp_path)
    (role,) = json.loads(installed.run("thresher", "roles", "list", "--json", cwd=tmp_path))
    assert (role["name"], role["candidates"]) == ("Python Developer", 2)
    told = installed.run("thresher", "roles", "resolve", "Senior Python Developer", cwd=tmp_path)
    assert "Python Developer" in told


@pytest.mark.promise(17)
def test_the_dashboard_has_its_pages(installed: Environment, tmp_path: Path):
    (tmp_path / "thresher.yaml").write_text(PROJECT.format(web="http://127.0.0.1:9"))
    installed.run("thresher", "migrate", cwd=tmp_path)
    installed.run("thresher", "admin", "create", "ada", "--generate", cwd=tmp_path)
    with installed.start("thresher", "serve", "--port", "0", cwd=tmp_path) as server:
        assert server.stdout is not None
        try:
            told = re.search(r"http://[\d.:]+", server.stdout.readline())
            assert told
            with urlopen(f"{told[0]}/login", timeout=60) as got:
                page = got.read().decode()
            for name in (*re.findall(r'(?:href|src)="(/[^"]+\.(?:css|svg)[^"]*)"', page), "/live.js"):
                with urlopen(told[0] + name, timeout=60) as got:
                    assert got.read()
        finally:
            server.terminate()
    assert "password" in page
