"""What an app says of itself, and what is refused of it."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from thresher import App, Command, Retry
from thresher.config.apps import load_app, own_apps
from thresher.core.app import find_near_by_kind
from thresher.core.errors import DuplicateKind, UsageError
from thresher.core.named import load_named


@pytest.mark.parametrize("make", ["mark", "no module:mark", "module:", "a:b:c"])
def test_an_effect_that_names_nothing_is_refused_where_it_is_written(make):
    with pytest.raises(UsageError, match=r"write package\.module:name"):
        App("threshing", (), effects={"mark": make})


@pytest.mark.parametrize("name", own_apps())
def test_every_name_in_our_own_apps_leads_somewhere(name):
    """mypy does not see strings."""
    app = load_app(name, Path())
    for each in fields(app):
        getattr(app, each.name)  # imports what is given by its name
    named = [*app.effects.values(), *app.near.values(), *(each.target for each in app.commands)]
    assert [each for each in named if isinstance(each, str) and not callable(load_named(each))] == []


@pytest.mark.parametrize("name", own_apps())
def test_the_list_of_an_app_imports_neither_the_app_nor_the_machine(name):
    code = f"import sys; from pathlib import Path; from thresher.config.apps import load_app; load_app({name!r}, Path()); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = ("apps", "config", "core")
    assert {
        each for each in loaded.split() if each.startswith("thresher.") and each.split(".")[1] not in rooms
    } == set()
    ours = {f"thresher.apps.{name}", f"thresher.apps.{name}.app", "thresher.apps"}
    assert {each for each in loaded.split() if each.startswith("thresher.apps")} == ours


def test_what_is_given_by_its_name_is_imported_when_it_is_read():
    app = App("late", pipelines="thresher.nowhere:PIPELINES", schemas="thresher.apps.roles.pipelines:SCHEMAS")
    assert app.schemas[0].name
    with pytest.raises(UsageError, match="cannot be loaded"):
        _ = app.pipelines
    assert app.with_retry(Retry(base=3.0)).retry == Retry(base=3.0)


@pytest.mark.parametrize("name", ["Menu", "two words", "", "menu-"])
def test_a_command_has_a_name_that_can_be_typed(name):
    with pytest.raises(UsageError, match="is not a command name"):
        Command(name, "Nothing.", "a:b")


@pytest.mark.parametrize(
    ("name", "why"),
    [("thresher.core.pipeline:nothing", "has no 'nothing'"), ("thresher.nowhere:x", "No module named")],
)
def test_a_name_that_leads_nowhere_says_so(name, why):
    with pytest.raises(UsageError, match=why):
        load_named(name)


def test_two_apps_that_find_the_same_kind_near_a_text_are_refused():
    apps = [App(name, (), near={"coin": "thresher.core.pipeline:loaded"}) for name in ("mint", "shop")]
    with pytest.raises(DuplicateKind, match=r"'shop' defines ctx\.near for 'coin'"):
        find_near_by_kind(apps)
