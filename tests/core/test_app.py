"""What an app says of itself, and what is refused of it."""

import pytest

from thresher import App
from thresher.apps.jobs.app import app as jobs
from thresher.apps.roles.app import app as roles
from thresher.core.errors import DuplicateKind, UsageError
from thresher.core.pipeline import find_near_by_kind, load_named


@pytest.mark.parametrize("make", ["mark", "no module:mark", "module:", "a:b:c"])
def test_an_effect_that_names_nothing_is_refused_where_it_is_written(make):
    with pytest.raises(UsageError, match=r"write package\.module:name"):
        App("threshing", (), effects={"mark": make})


@pytest.mark.parametrize("app", [jobs, roles], ids=lambda app: app.name)
def test_every_name_in_our_own_apps_leads_somewhere(app):
    named = [*app.effects.values(), *app.near.values()]
    assert [name for name in named if isinstance(name, str) and not callable(load_named(name))] == []


@pytest.mark.parametrize(
    ("name", "why"),
    [("thresher.core.pipeline:nothing", "has no 'nothing'"), ("thresher.nowhere:x", "No module named")],
)
def test_a_name_that_leads_nowhere_says_so(name, why):
    with pytest.raises(UsageError, match=why):
        load_named(name)


def test_two_apps_that_find_the_same_kind_near_a_text_are_refused():
    apps = [App(name, (), near={"coin": "thresher.core.pipeline:loaded"}) for name in ("mint", "shop")]
    with pytest.raises(DuplicateKind, match="'shop' finds 'coin'"):
        find_near_by_kind(apps)
