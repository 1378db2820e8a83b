"""Nothing outside an app's package knows the app: what it is called by is read from its App value."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.paper import ROOT
from thresher.config.apps import load_apps, own_apps
from thresher.core.app import App
from thresher.core.extension import Demo
from thresher.core.named import load_folder, loaded
from thresher.store.app_migrations import app_schemas, made_by
from thresher.store.session import SQLITE

PACKAGE = ROOT / "src" / "thresher"
# What apps are made of, the words they share, and the world they practise in.
NOT_THE_MACHINE = {"apps", "hiring", "practice", "reading"}
TEXTS = (".css", ".html", ".md", ".sql", ".svg", ".yaml")
# The machine's own word for telling people, what a page or a field may mean, and what models cost.
OWN_WORDS = {
    "notify": {"admin/health.py", "cli/commands.py", "cli/notify.py", "config", "notify", "store/postgres"},
    "company": {"cli/inspect.py", "learning/meaning.py"},
    "prices": {"config/models.py"},
}
# The tables of roles were the machine's before there were apps; a released migration is never changed.
RELEASED = "store/migrations/0006_roles.sql"


@cache
def apps() -> tuple[App, ...]:
    return tuple(load_apps(own_apps(), ROOT))


def words(app: App) -> set[str]:
    """What only the app may name: kinds of tasks, schedules, settings, effects, events, scopes."""
    return {
        *(each.kind for each in app.pipelines),
        *(each.name for each in (*app.schedules, *app.settings)),
        *app.effects,
        *app.events,
        *app.scopes,
    }


def paths(app: App) -> set[str]:
    """The first words of its routes, and its pages."""
    return {"/".join(route.path.split("/")[:3]) for route in app.routes} | {page.path for page in app.pages}


def tables(app: App) -> set[str]:
    return {made for schema in app_schemas([app], SQLITE) for made in made_by(schema)}


def patterns(app: App) -> Iterator[re.Pattern[str]]:
    """How a text would name something of the app."""
    for names, form in (
        (words(app), r"(?<![\w.])({})(?![\w.]*\w)"),
        (set(app.exports), r"^({})$"),
        (set(app.key_headers), r"(?i)({})"),
        (paths(app), r"({})(?![\w-])"),
        (tables(app), r"\b(?:from|into|update|join) ({})\b"),
        ({each.name for each in app.commands}, r"thresher ({})\b"),
        ({app.name}, r"(?<![\w.])({})\.[a-z_]+"),
    ):
        if names:
            yield re.compile(form.format("|".join(map(re.escape, sorted(names)))))


def literals(path: Path) -> Iterator[str]:
    """The texts of a file that do something: in Python every string but docstrings."""
    if path.suffix != ".py":
        yield path.read_text("utf-8")
        return
    tree = ast.parse(path.read_text("utf-8"))
    said = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    yield from (
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said
    )


def machine() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix in (".py", *TEXTS) and name.split("/")[0] not in NOT_THE_MACHINE and name != RELEASED:
            yield name, path


def is_own(word: str, file: str) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in OWN_WORDS.get(word, ()))


@pytest.mark.parametrize("name", own_apps())
def test_the_machine_names_nothing_that_an_app_brings(name: str):
    (app,) = (each for each in apps() if each.name == name)
    known = list(patterns(app))
    found = [
        f"{file}: {word!r} in {text[:100]!r}"
        for file, path in machine()
        for text in literals(path)
        for pattern in known
        for word in pattern.findall(text)
        if not is_own(word, file)
    ]
    assert found == []


@pytest.mark.parametrize("name", own_apps())
def test_every_name_in_an_app_value_leads_somewhere(name: str):
    """Type checkers and import contracts do not see names in strings."""
    (app,) = (each for each in apps() if each.name == name)
    for folder in (app.migrations, app.templates, app.prompts):
        assert folder is None or load_folder(folder, name).is_dir()
    for field in fields(app):
        getattr(app, field.name)  # a tuple by its name is imported here
    for target in (*app.effects.values(), *app.near.values(), *(each.target for each in app.commands)):
        assert callable(loaded(target))


@pytest.mark.parametrize("name", [each.name for each in apps() if each.pipelines])
def test_an_app_with_pipelines_has_a_part_in_the_demo(name: str):
    (app,) = (each for each in apps() if each.name == name)
    assert isinstance(app.demo, Demo)
    assert all(setting.startswith(f"{name}.") for setting in app.demo.settings)


GUIDE = ROOT / "docs" / "how-to" / "write-an-app.md"
TIDES = ROOT / "tests" / "wheel" / "tides" / "src"


def open_modules() -> set[str]:
    """The modules that the guide lists as open to apps."""
    (table,) = re.findall(
        r"## What an app may import\n.*?\n\n(\|.*?)\n\n", GUIDE.read_text("utf-8"), re.DOTALL
    )
    return {
        name for row in table.splitlines() for name in re.findall(r"`(thresher[\w.]+)`", row.split("|")[1])
    }


def imported(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file of a folder with what it imports of Thresher, down to the module."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "thresher":
                for each in node.names:
                    inner = f"{node.module}.{each.name}"
                    is_module = PACKAGE.parent.joinpath(*inner.split(".")).with_suffix(".py").exists()
                    yield path.name, inner if is_module else str(node.module)


def test_an_app_imports_the_public_door_and_the_modules_that_the_guide_lists():
    allowed = {"thresher", "thresher.apps", *open_modules()}
    found = {*imported(PACKAGE / "apps"), *imported(TIDES)}
    assert len(found) > 100
    wrong = [
        (file, module)
        for file, module in sorted(found)
        if module not in allowed and not any(module.startswith(f"{each}.") for each in allowed - {"thresher"})
    ]
    assert wrong == []


def test_every_module_that_the_guide_lists_is_there_and_is_used():
    used = {module for folder in (PACKAGE / "apps", TIDES) for _, module in imported(folder)} | {
        "thresher.testing"
    }
    assert [name for name in open_modules() if find_spec(name) is None] == []
    assert [
        name for name in sorted(open_modules()) if not any(f"{each}.".startswith(f"{name}.") for each in used)
    ] == []
