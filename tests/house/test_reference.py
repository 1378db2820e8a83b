"""The reference is what the code says, and leaves nothing out."""

import inspect
import re

import pytest

import thresher
from tests.harness.ours import OURS
from tests.house.generate import PAGES, REFERENCE, main
from tests.house.pages import cli, errors, python
from tests.house.pages.states import MEANINGS
from tests.house.paper import ROOT, blocks, pages, prose
from thresher.config.apps import load_apps, own_apps
from thresher.config.project import KEYS
from thresher.config.settings import catalogue_of
from thresher.core.errors import ThresherError
from thresher.core.event import SUBSCRIBABLE, EventKind
from thresher.core.lineage import RefusalRule
from thresher.core.log_context import FIELDS
from thresher.core.task import State

GLOSSARY = REFERENCE / "glossary.md"
WORDS = [
    "Task",
    "Claim",
    "Stage",
    "Pipeline",
    "Outcome",
    "Settlement",
    "Record",
    "Link",
    "Source",
    "Gate",
    "Lane",
    "Lineage",
    "Tracking id",
    "Turn",
    "Fence",
    "Baton",
    "Rank",
    "Position",
    "Worker",
    "Lease",
    "Chore",
    "Checkpoint",
    "Run",
]


def text(page: str) -> str:
    return (REFERENCE / page).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_a_printed_page_equals_the_code(page: str):
    assert text(page) == PAGES[page](), (
        f"docs/reference/{page} is out of date; run: python -m tests.house.generate"
    )


def test_checking_says_so_without_writing(capsys: pytest.CaptureFixture[str]):
    assert (main(["--check"]), capsys.readouterr().out) == (0, "")


@pytest.mark.promise(12)
def test_every_setting_is_in_the_reference_with_its_sentence():
    page = text("settings.md")
    assert [
        setting.name
        for setting in catalogue_of(load_apps(own_apps(), ROOT)).values()
        if f"`{setting.name}`" not in page or setting.sentence not in page
    ] == []


def test_every_state_is_in_the_reference_and_is_explained():
    assert set(MEANINGS) == set(State)
    assert [state for state in State if f"| `{state}` |" not in text("states.md")] == []


def test_every_event_is_in_the_reference_with_its_sentence():
    page = text("events.md")
    assert [kind for kind in EventKind if f"| `{kind}` | {kind.sentence} |" not in page] == []
    assert [kind for kind in EventKind if not kind.sentence] == []


def test_every_error_is_in_the_reference_and_in_the_tree():
    page, drawn = text("errors.md"), errors.tree()
    names = [each.__name__ for each in errors.classes(ThresherError)]
    assert [name for name in names[1:] if f"`{name}`" not in page] == []
    assert names == re.findall(r"^[│├└─\s]*([A-Z]\w+)", drawn, re.MULTILINE), (
        "the tree in core/errors.py differs"
    )


def test_the_tree_of_errors_is_drawn_as_it_is():
    parents: list[str] = []
    wrong = []
    by_name = {each.__name__: each for each in errors.classes(ThresherError)}
    for line in errors.tree().splitlines():
        depth = len(re.match(r"[│├└─\s]*", line)[0]) // 4  # type: ignore[index]
        found = by_name[line.split()[-1] if " " not in line.strip() else re.search(r"[A-Z]\w+", line)[0]]  # type: ignore[index]
        parents = [*parents[:depth], found.__name__]
        if depth and by_name[parents[depth - 1]] not in found.__mro__:
            wrong.append(found.__name__)
    assert wrong == []


def test_every_error_has_a_sentence_of_its_own():
    assert [
        each.__name__
        for each in errors.classes(ThresherError)
        if not (each.__dict__.get("__doc__") or "").strip()
    ] == []


def test_every_command_and_option_is_in_the_reference():
    page = text("cli.md")
    missing = []
    for path, command in cli.walk(cli.root()):
        section = page.partition(f"## {' '.join(path)}\n")[2].partition("\n## ")[0]
        names = [name for each in command.params for name in each.opts if name.startswith("-")]
        missing += [(path, name) for name in names if name not in section] + ([] if section else [(path, "")])
    assert missing == []


def test_every_command_has_a_sentence():
    assert [path for path, command in cli.walk(cli.root()) if not (command.help or "").strip()] == []


def test_every_key_of_the_project_file_is_in_the_reference():
    assert [key for key in KEYS if f"| `{key}` |" not in text("project-file.md")] == []


def test_the_public_names_are_sorted_documented_and_exactly_those_of_the_reference():
    assert thresher.__all__ == sorted(thresher.__all__)
    names = sorted([*thresher.__all__, *thresher._WEB])
    assert sorted(name for group in python.GROUPS.values() for name in group) == names
    assert sorted(re.findall(r"^### (\w+)$", text("python.md"), re.MULTILINE)) == names
    types = [getattr(thresher, name) for name in names if isinstance(getattr(thresher, name), type)]
    assert [each.__name__ for each in types if not inspect.cleandoc(each.__dict__.get("__doc__") or "")] == []


def test_nothing_but_the_public_names_comes_through_the_door():
    found = {
        name
        for name in vars(thresher)
        if not name.startswith("_") and not inspect.ismodule(getattr(thresher, name))
    }
    assert found <= {*thresher.__all__, *thresher._WEB}
    assert sorted(thresher._HOMES) == thresher.__all__


def test_documented_imports_are_public():
    """What a page imports from thresher is one of the public names."""
    found = (
        match
        for block in blocks("python")
        for match in re.findall(r"^from thresher import (?:\(([^)]*)\)|(.*))$", block.text, re.MULTILINE)
    )
    names = {name.strip() for several, one in found for name in (several or one).split(",") if name.strip()}
    assert names <= {*thresher.__all__, *thresher._WEB}


def test_the_glossary_has_the_words_of_the_house_in_order():
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    assert words == sorted(words, key=str.lower)
    assert [word for word in WORDS if word not in words] == []


def test_settings_that_pages_name_exist():
    rooms = "|".join(sorted({name.partition(".")[0] for name in OURS}))
    wrong = [
        (page.name, name)
        for page in pages()
        for name in re.findall(rf"`((?:{rooms})\.[a-z_]+)`", prose(page))
        if name not in OURS and not name.endswith((".md", ".py", ".yaml"))
    ]
    assert wrong == []


def test_events_and_rules_that_pages_name_exist():
    apps = load_apps(own_apps(), ROOT)
    known = {*SUBSCRIBABLE, *RefusalRule, *State, *FIELDS, *(kind for app in apps for kind in app.events)}
    found = {word for page in pages() for word in re.findall(r"`((?:gate|worker|task)_[a-z]+)`", prose(page))}
    assert found <= known


def test_the_doctor_page_names_every_check():
    page = (ROOT / "docs" / "how-to" / "when-things-go-wrong.md").read_text("utf-8")
    source = "".join(
        (ROOT / "src" / "thresher" / path).read_text("utf-8") for path in ("admin/health.py", "cli/doctor.py")
    )
    checks = set(re.findall(r'(?:Check|attempt)\(\s*"(\w+)"', source))
    listed = {
        word for row in re.findall(r"^\| ([a-z, ]+) \|", page, re.MULTILINE) for word in row.split(", ")
    }
    assert checks
    assert checks <= listed
