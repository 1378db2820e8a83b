"""Each template of `thresher init`, walked as the first ten minutes tell it: on the practice web, to a useful
result.
"""

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Thresher
from tests.cli.test_up import address, up
from tests.house.paper import blocks
from thresher.apps.jobs.person.profile import read_profile
from thresher.cli.init import OWN, project_file, templates
from thresher.config.project import read_project
from thresher.core.errors import ThresherError
from thresher.core.template import MAX_ANSWER, ProjectQuestion, checked
from thresher.practice.web import practice_process

PAGE = "docs/tutorial/first-ten-minutes.md"
KEY = re.compile(r"thr_[\w-]+")


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with practice_process(7) as found:
        yield found.url


def walks() -> dict[str, list[list[str]]]:
    """The commands of each block of the page that begins a project, by its template."""
    found = {}
    for block in (each for each in blocks("console") if each.page == PAGE):
        lines = [
            shlex.split(line.removeprefix("$ ")) for line in block.text.splitlines() if line.startswith("$ ")
        ]
        if lines[0][:2] == ["thresher", "init"]:
            found[lines[0][lines[0].index("--template") + 1]] = lines
    return found


def walk(
    lines: list[list[str]], web: str, thresher: Thresher, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Do what a block of the page says; what each command said."""
    said = {}
    for line in lines:
        if line[0] == "cd":
            monkeypatch.chdir(line[1])
            for file in (Path("thresher.yaml"), Path("practice_scraper.py")):
                if file.exists():
                    file.write_text(file.read_text().replace("http://127.0.0.1:8123", web))
            # Nobody has to be spared here, nor waited for.
            project = Path("thresher.yaml").read_text().replace("host.interval: 0.1", "host.interval: 0.001")
            Path("thresher.yaml").write_text(f"{project}  worker.poll: 0.05\n  host.in_flight: 4\n")
        elif line[1] != "up":
            done = thresher(*line[1:])
            assert done.code in (0, 1), (line, done.err)  # 1: a page of the site is broken, as pages are
            said[" ".join(line[1:])] = done.out
    return said


RESULTS = {
    "jobs": (("jobs", "matches"), 3),
    "extractions": (("datasets", "show", "courses"), 20),
    "queries": (("signals", "list"), 5),
    "prices": (("prices", "list"), 1),
}


def test_the_page_walks_every_template():
    assert set(walks()) | {OWN} == set(templates())
    assert set(RESULTS) | {"roles"} == set(walks())


@pytest.mark.parametrize("name", RESULTS)
def test_a_project_of_a_template_brings_something_useful(
    folder: Path, web: str, thresher: Thresher, monkeypatch: pytest.MonkeyPatch, name: str
):
    said = walk(walks()[name], web, thresher, monkeypatch)
    words, least = RESULTS[name]
    found = thresher(*words, "--json").json
    rows = found["items"] if isinstance(found, dict) else found
    assert len(rows) >= least, found
    if name == "prices":
        assert rows[0]["value"]["median"] is not None, rows
    begun = next(iter(said.values()))
    promised = re.findall(r"^  thresher (.+?)(?:   |$)", begun.partition("Next:")[2], re.MULTILINE)
    assert [each for each in promised if thresher(*shlex.split(each)[:1], "--help").code] == []


def test_a_project_for_candidates_brings_matches(
    folder: Path, web: str, thresher: Thresher, monkeypatch: pytest.MonkeyPatch
):
    said = walk(walks()["roles"], web, thresher, monkeypatch)
    key = KEY.search(said["keys create scraper --scope scrape"])
    assert key
    with up() as (_, line):
        surroundings = {**os.environ, "THRESHER_KEY": key[0], "THRESHER_URL": address(line)}
        scraped = subprocess.run(
            [sys.executable, "practice_scraper.py"],
            env=surroundings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert re.search(r"Python Developer: 200, [1-9]\d* new", scraped.stdout), scraped.stderr
        assert thresher("run", "--json").code == 0  # ends when nothing is left, here or in the other process
    (ada,) = thresher("candidates", "list", "--json").json
    assert ada["matches"] > 5


def test_on_a_terminal_it_asks_and_asks_again_where_an_answer_is_wrong(folder: Path):
    wrong = ("7", "Berlin, Germany", "no site")
    answers = (
        wrong[0],
        "jobs",
        "data engineer",
        "python",
        wrong[1],
        "Berlin, DE",
        wrong[2],
        "acme.example",
        "",
    )
    near, far = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", "init", "mine"], stdin=far, stdout=far, stderr=far, cwd=folder
    )
    os.close(far)
    os.write(near, "".join(f"{answer}\n" for answer in answers).encode())  # typed ahead
    shown = b""
    try:
        while part := os.read(near, 4_096):
            shown += part
    except OSError:  # it has ended
        pass
    os.close(near)
    told = shown.decode()
    assert process.wait(60) == 0, told
    assert "Write a number from 1 to 6" in told
    assert "'no site' is no site" in told
    profile = yaml.safe_load((folder / "mine" / "profile.yaml").read_text())
    assert (profile["titles"], profile["city"], profile["country"]) == (["data engineer"], "Berlin", "DE")
    assert profile["skills"] == {"python": "required"}


def test_without_a_terminal_it_writes_an_app_of_ones_own(folder: Path, thresher: Thresher):
    assert thresher("init", "mine", "--json").json["template"] == "app"
    assert (folder / "mine" / "app.py").exists()


@pytest.mark.parametrize("words", [("--app", "jobs"), ("--template", "jobs")])
def test_an_app_names_its_template(folder: Path, thresher: Thresher, words: tuple[str, ...]):
    assert thresher("init", *words, "--json").json["template"] == "jobs"
    assert read_project(folder).apps == ("jobs",)
    again = thresher("init", *words)
    assert again.code == 2
    assert "thresher.yaml already there" in again.err


def test_a_name_that_is_no_template_is_refused_with_those_there_are(folder: Path, thresher: Thresher):
    refused = thresher("init", "--app", "gardening")
    assert refused.code == 2
    assert (
        "there is no template 'gardening'; there are extractions, jobs, prices, queries, roles, app"
        in refused.err
    )
    assert thresher("init", "--app", "jobs", "--template", "roles").code == 2
    assert list(folder.iterdir()) == []


HOSTILE = (
    '"',
    "it's: #1",
    "}} {x}",
    "- a\\n",
    "*alias",
    "!!python/object",
    "${HOME}",
    "<b>",
    "Zoë & Söhne",
    "%",
)


@pytest.mark.promise(17)
@pytest.mark.parametrize("name", [name for name in templates() if name != OWN])
@pytest.mark.parametrize("practice", [False, True])
def test_whatever_is_answered_stays_a_text(tmp_path: Path, name: str, practice: bool):
    """In each place, one after the other: the files can be read, and have the usual keys."""
    template = templates()[name]
    usual = {each.name: each.practice or each.default for each in template.questions}
    keys = structure(
        yaml.safe_load(project_file(name, usual, template.write(usual, practice), practice=practice))
    )
    for question in template.questions:
        for evil in HOSTILE:
            try:
                said = usual | {question.name: checked(question, evil)}
            except ThresherError:
                continue
            draft = template.write(said, practice)
            text = project_file(name, {**said, "contact": evil}, draft, practice=practice)
            assert structure(yaml.safe_load(text)) == keys | {"fetch.contact"}, (question.name, evil)
            for file, body in draft.files.items():
                if file == "profile.yaml":
                    read_profile(body, file)
                elif file.endswith(".yaml"):
                    assert isinstance(yaml.safe_load(body), dict)


def structure(data: Any, path: str = "") -> set[str]:
    """The names of what is there, but for those that a person chooses."""
    if not isinstance(data, dict):
        return {path}
    free = path.endswith((".recipes", ".searches", ".items"))
    inner = (structure(value, f"{path}.{'*' if free else key}".strip(".")) for key, value in data.items())
    return set().union(*inner)


def test_an_answer_is_one_line_of_text():
    plain = ProjectQuestion("name", "Your name")
    assert checked(plain, " Ada ") == "Ada"
    for bad in ("a\nb", "\x1b[31m", "x" * (MAX_ANSWER + 1)):
        with pytest.raises(ThresherError, match="visible characters"):
            checked(plain, bad)
    assert checked(plain, "") == ""
